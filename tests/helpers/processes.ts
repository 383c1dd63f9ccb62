import { run } from "../tools/workspace.ts";
import { MAX_WAIT_MS } from "./wait_until.ts";

/** A number of seconds that no other process sleeps: it marks a command's own processes. */
export function marker(): string {
  return `1000.${crypto.getRandomValues(new Uint32Array(2)).join("")}`;
}

/**
 * Returns the live processes whose command line has `mark`, as rows of `ps`. With `are`, waits up to a minute
 * until there are that many.
 */
export async function living(
  mark: string,
  are: (count: number) => boolean = () => true,
): Promise<string[]> {
  for (const start = performance.now();;) {
    const rows = (await run("ps", "-A", "-o", "pid=", "-o", "stat=", "-o", "args=")).split("\n");
    // A zombie is not live.
    const alive = rows.filter((row) => row.includes(mark) && !/^\s*\d+\s+Z/.test(row));
    if (are(alive.length) || performance.now() - start > MAX_WAIT_MS) return alive;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** The processes that did not end. */
export function left(mark: string): Promise<string[]> {
  return living(mark, (count) => count === 0);
}
