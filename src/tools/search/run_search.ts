/**
 * Runs a search. It starts in this thread, because most end before a worker would have started, and continues in a
 * worker, so that the user can interrupt it. The worker ends with its search: a waiting one would keep the process
 * alive. One is enough: measured, several are at most 1.5 times as fast on 2 processors. @module
 */

import { isStill } from "../files/regular_file.ts";
import {
  type Found,
  type Order,
  Searcher,
  type SearchJob,
  sortFound,
  type Task,
} from "./searcher.ts";

export interface SearchLimits {
  hereMs: number; // the time limit of the search in this thread, in milliseconds
  timeoutMs: number; // the time limit of the worker, in milliseconds
}

/** A worker is ready after 10 to 20 ms, as measured. */
const DEFAULTS: SearchLimits = { hereMs: 15, timeoutMs: 20_000 };

/** The end of a search: `"timeout"` if a part of the tree remains. */
export type SearchEnd = "done" | "timeout";
export type SearchResult = Found & { end: SearchEnd };

/**
 * Searches `tasks` for `job`.
 * @throws {SyntaxError} if the pattern is invalid; the reason of `signal` immediately when it is aborted.
 */
export async function runSearch(
  job: SearchJob,
  tasks: readonly Task[],
  signal: AbortSignal,
  limits: Partial<SearchLimits> = {},
): Promise<SearchResult> {
  signal.throwIfAborted();
  const { hereMs, timeoutMs } = { ...DEFAULTS, ...limits };
  const since = Date.now();
  const until = performance.now() + hereMs;
  const here = new Searcher(job, () => performance.now() > until);
  for (const task of tasks) here.tasks.push(task);
  while (here.tasks.length > 0 && performance.now() <= until) here.step();
  const { tasks: rest, found } = here;
  const result: SearchResult = rest.length > 0
    ? await searchInWorker({ job, tasks: rest, found }, signal, timeoutMs)
    : { ...found, end: "done" };
  sortFound(result, job);
  if (job.walk.withheld) dropMoved(result, job, job.walk.withheld.folder, since);
  return result;
}

/** Drops files that are no longer where they were read: a link may have replaced a folder meanwhile. */
function dropMoved(found: Found, { walk, prefix }: SearchJob, folder: string, since: number): void {
  const isThere = ({ path, dev = 0, ino = null }: Found["matches"][number]) =>
    isStill(`${walk.root}/${path.slice(prefix.length)}`, { dev, ino }, folder, since);
  const still = found.matches.filter(isThere);
  found.tally.unreadable += found.matches.length - still.length;
  found.matches = still;
}

async function searchInWorker(
  order: Omit<Order, "stop">,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<SearchResult> {
  const { promise, resolve, reject } = Promise.withResolvers<Found>();
  // Bundlers find the worker by exactly this expression.
  const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  const stop = new Int32Array(new SharedArrayBuffer(4));
  const fail = (reason: string) =>
    reject(new Error(`Cannot search as the worker failed: ${reason}`));
  worker.onmessage = ({ data }: MessageEvent<Found | string>) =>
    typeof data === "string" ? fail(data) : resolve(data);
  worker.onerror = (event) => {
    event.preventDefault(); // otherwise it would end the process
    fail(event.message);
  };
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort);
  let end: SearchEnd = "done";
  const timer = setTimeout(() => {
    end = "timeout";
    Atomics.store(stop, 0, 1);
  }, timeoutMs);
  try {
    worker.postMessage({ ...order, stop });
    return { ...await promise, end };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
    // A busy worker stops immediately by the flag, and late by `terminate` alone.
    Atomics.store(stop, 0, 1);
    worker.terminate();
  }
}
