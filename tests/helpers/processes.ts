import { run } from "../tools/workspace.ts";
import { MAX_WAIT_MS } from "./wait_until.ts";

/** A number of seconds that no other process sleeps for: it marks a command's own processes. */
export function marker(): string {
  return `1000.${crypto.getRandomValues(new Uint32Array(2)).join("")}`;
}

/**
 * The live processes whose command line has `mark`, a row of `ps` each: now, or once `are` says that
 * they are so many, which starting and ending take a while to get to; after a minute anyway.
 */
export async function living(
  mark: string,
  are: (count: number) => boolean = () => true,
): Promise<string[]> {
  for (const start = performance.now();;) {
    const rows = (await run("ps", "-A", "-o", "pid=", "-o", "stat=", "-o", "args=")).split("\n");
    // A zombie is only a number that waits to be read.
    const alive = rows.filter((row) => row.includes(mark) && !/^\s*\d+\s+Z/.test(row));
    if (are(alive.length) || performance.now() - start > MAX_WAIT_MS) return alive;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Those that did not end. */
export function left(mark: string): Promise<string[]> {
  return living(mark, (count) => count === 0);
}
