/** What the benches share, and scripts/bundle.ts: pairs of runs, and the scripted server. */
import { fromFileUrl } from "@std/path/from-file-url";

/** The project's folder, with a slash at its end. */
export const root = fromFileUrl(new URL("..", import.meta.url));

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Runs both in turn `runs` times, each first every other time, after a run of each that does not count. */
export async function inPairs<T>(
  runs: number,
  ours: () => Promise<T>,
  reference: () => Promise<T>,
): Promise<[ours: T, reference: T][]> {
  await reference(), await ours();
  const rows: [T, T][] = [];
  for (let i = 0; i < runs; i++) {
    const first = i % 2 ? await ours() : undefined;
    const other = await reference();
    rows.push([first ?? await ours(), other]);
  }
  return rows;
}

/** Returns the medians of pairs, and the median of their ratios: `12 ms against 10 (1.20x)`. */
export function compared(
  rows: readonly (readonly [ours: number, reference: number])[],
  unit: string,
  digits = 0,
): string {
  const [ours, reference] = [0, 1].map((i) => median(rows.map((row) => row[i]!)).toFixed(digits));
  const ratio = median(rows.map(([a, b]) => a / b)).toFixed(2);
  return `${ours} ${unit} against ${reference} (${ratio}x)`;
}

/** Returns the milliseconds that `run` takes. */
export async function timeOf(run: () => unknown): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

/** Returns the memory of a process in MB: now (`VmRSS`) or at most so far (`VmHWM`); 0 if it has ended. */
export function memoryOf(pid: number, which: "VmRSS" | "VmHWM"): number {
  try {
    const status = Deno.readTextFileSync(`/proc/${pid}/status`);
    return Number(new RegExp(`${which}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0; // also on systems other than Linux
  }
}

/** Returns the flags for V8 with which scripts/copilot and the binary of the project at `folder` start. */
export async function launchFlags(folder = root): Promise<string> {
  const args = ["-c", '. scripts/permissions; printf %s "$V8"'];
  const { stdout } = await new Deno.Command("sh", { args, cwd: folder }).output();
  return new TextDecoder().decode(stdout);
}

/** Starts scripts/bench_server.ts. */
export async function startServer(): Promise<{ url: string } & AsyncDisposable> {
  const server = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-config", "--no-lock", `${root}scripts/bench_server.ts`],
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const { value } = await server.stdout.getReader().read();
  return {
    url: new TextDecoder().decode(value).trim(),
    async [Symbol.asyncDispose]() {
      server.kill();
      await server.status;
    },
  };
}
