/**
 * Runs a search: the beginning of it here, as most searches are done before a worker would have
 * started, and the rest in workers, which share the tasks and can be ended.
 *
 * Workers are not kept: one that waits keeps the whole process from ending.
 *
 * @module
 */

import { isStill } from "../files/regular_file.ts";
import { HUNGRY, type Order, type Report, STOP } from "./protocol.ts";
import {
  addFound,
  createSearcher,
  type Found,
  type Job,
  sortFound,
  type Task,
} from "./searcher.ts";

/** Limits of a search. */
export interface SearchLimits {
  /** How long the search may go on here, in milliseconds. */
  hereMs: number;
  /** How many workers at most. */
  workers: number;
  /** When what is left is given up, in milliseconds. */
  timeoutMs: number;
}

/** Measured: a worker is ready after 10 to 20 ms, and more than a few get in each other's way. */
const DEFAULTS: SearchLimits = {
  hereMs: 15,
  workers: Math.min(navigator.hardwareConcurrency, 6),
  timeoutMs: 20_000,
};

/** How a search ended: `"timeout"` with a part of the tree left. */
export type SearchEnd = "done" | "timeout";

/**
 * Searches `tasks` for `job`.
 *
 * @throws {SyntaxError} when the pattern is none.
 * @throws the reason of `signal` at once when it is aborted.
 */
export async function runSearch(
  job: Job,
  tasks: readonly Task[],
  signal: AbortSignal,
  limits: Partial<SearchLimits> = {},
): Promise<Found & { end: SearchEnd }> {
  signal.throwIfAborted();
  const { hereMs, workers: count, timeoutMs } = { ...DEFAULTS, ...limits };
  const since = Date.now();
  const until = performance.now() + hereMs;
  const here = createSearcher(job, () => performance.now() > until);
  for (const task of tasks) here.tasks.push(task);
  while (here.tasks.length > 0 && performance.now() <= until) here.step();
  let end: SearchEnd = "done";
  if (here.tasks.length > 0) {
    const workers = Array.from({ length: count }, startWorker);
    try {
      end = await inWorkers(workers, job, here.tasks, here.found, signal, timeoutMs);
    } finally {
      for (const worker of workers) worker.terminate();
    }
  }
  sortFound(here.found, job);
  if (job.walk.withheld) dropMoved(here.found, job, job.walk.withheld.folder, since);
  return { ...here.found, end };
}

/** Leaves out what was read where no link leads now: a folder was one while it was read. */
function dropMoved(found: Found, { walk, prefix }: Job, folder: string, since: number): void {
  const isThere = ({ path, dev = 0, ino = null }: Found["matches"][number]) =>
    isStill(`${walk.root}/${path.slice(prefix.length)}`, { dev, ino }, folder, since);
  const still = found.matches.filter(isThere);
  found.tally.unreadable += found.matches.length - still.length;
  found.matches = still;
}

/** Bundlers find the worker by this very expression. */
function startWorker(): Worker {
  return new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
}

function inWorkers(
  workers: readonly Worker[],
  job: Job,
  tasks: readonly Task[],
  found: Found,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<SearchEnd> {
  const shared = new Int32Array(new SharedArrayBuffer(8));
  const send = (worker: Worker, order: Order) => worker.postMessage(order);
  const idle: Worker[] = [];
  const queue: Task[][] = [];
  let finished = 0;
  let end: SearchEnd = "done";
  const done = Promise.withResolvers<SearchEnd>();
  const abort = () => done.reject(signal.reason);
  signal.addEventListener("abort", abort);
  const timer = setTimeout(() => {
    end = "timeout";
    Atomics.store(shared, STOP, 1);
  }, timeoutMs);

  function handOut(): void {
    while (queue.length > 0 && idle.length > 0 && end === "done") {
      send(idle.pop()!, { type: "tasks", tasks: queue.pop()! });
    }
    if (idle.length === workers.length) {
      for (const worker of workers) send(worker, { type: "finish" });
    }
  }

  function receive(worker: Worker, report: Report): void {
    if (report.type === "failed") return done.reject(new Error(report.message));
    if (report.type === "found") {
      addFound(found, report.found);
      if (++finished === workers.length) done.resolve(end);
      return;
    }
    if (report.type === "share") queue.push(report.tasks);
    else {
      idle.push(worker);
      if (queue.length === 0) Atomics.add(shared, HUNGRY, 1);
    }
    handOut();
  }

  workers.forEach((worker, i) => {
    worker.onmessage = ({ data }: MessageEvent<Report>) => receive(worker, data);
    worker.onerror = (event) => {
      event.preventDefault(); // or it ends the process
      done.reject(new Error(`Cannot search as a worker failed: ${event.message}`));
    };
    const share = tasks.filter((_, k) => k % workers.length === i);
    send(worker, { type: "start", job, shared, tasks: share });
  });
  return done.promise.finally(() => {
    clearTimeout(timer);
    Atomics.store(shared, STOP, 1);
    signal.removeEventListener("abort", abort);
  });
}
