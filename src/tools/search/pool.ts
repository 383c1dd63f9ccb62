/**
 * Runs a search. It starts in this thread, because most end before a worker would have started, and continues in
 * workers, which share the tasks. Workers end with their search: a waiting worker would keep the process alive. @module
 */

import { isStill } from "../files/regular_file.ts";
import type { Found, Order, SearchJob, Task, WorkerReport } from "./searcher.ts";
import { addFound, HUNGRY, Searcher, sortFound, STOP } from "./searcher.ts";

export interface SearchLimits {
  hereMs: number; // the time limit of the search in this thread, in milliseconds
  workers: number; // the number of workers for the rest
  timeoutMs: number; // the time limit of the workers, in milliseconds
}

/** A worker is ready after 10 to 20 ms, and more than a few slow each other down, as measured. */
const DEFAULTS: SearchLimits = {
  hereMs: 15,
  workers: Math.min(navigator.hardwareConcurrency, 6),
  timeoutMs: 20_000,
};

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
  const { hereMs, workers: count, timeoutMs } = { ...DEFAULTS, ...limits };
  const since = Date.now();
  const until = performance.now() + hereMs;
  const here = new Searcher(job, () => performance.now() > until);
  for (const task of tasks) here.tasks.push(task);
  while (here.tasks.length > 0 && performance.now() <= until) here.step();
  let end: SearchEnd = "done";
  if (here.tasks.length > 0) {
    end = await new WorkerPool(count, here.found).run(job, here.tasks, signal, timeoutMs);
  }
  sortFound(here.found, job);
  if (job.walk.withheld) dropMoved(here.found, job, job.walk.withheld.folder, since);
  return { ...here.found, end };
}

/** Drops files that are no longer where they were read: a link may have replaced a folder meanwhile. */
function dropMoved(found: Found, { walk, prefix }: SearchJob, folder: string, since: number): void {
  const isThere = ({ path, dev = 0, ino = null }: Found["matches"][number]) =>
    isStill(`${walk.root}/${path.slice(prefix.length)}`, { dev, ino }, folder, since);
  const still = found.matches.filter(isThere);
  found.tally.unreadable += found.matches.length - still.length;
  found.matches = still;
}

/** A search in workers, which share its tasks. */
class WorkerPool {
  readonly #workers: readonly Worker[];
  readonly #shared = new Int32Array(new SharedArrayBuffer(8));
  readonly #idle: Worker[] = [];
  readonly #queue: Task[][] = [];
  readonly #ended = Promise.withResolvers<SearchEnd>();
  #finished = 0;
  #end: SearchEnd = "done";

  constructor(count: number, private readonly found: Found) {
    // Bundlers find the worker by exactly this expression.
    const start = () => new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    this.#workers = Array.from({ length: count }, start);
  }

  /** Searches `tasks` to the end, which ends all workers. */
  async run(job: SearchJob, tasks: readonly Task[], signal: AbortSignal, timeoutMs: number) {
    const abort = () => this.#ended.reject(signal.reason);
    signal.addEventListener("abort", abort);
    const timer = setTimeout(() => {
      this.#end = "timeout";
      Atomics.store(this.#shared, STOP, 1);
    }, timeoutMs);
    try {
      this.#workers.forEach((worker, i) =>
        this.#start(worker, job, tasks.filter((_, k) => k % this.#workers.length === i))
      );
      return await this.#ended.promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
      // A busy worker stops immediately by the flag, and late by `terminate` alone.
      Atomics.store(this.#shared, STOP, 1);
      for (const worker of this.#workers) worker.terminate();
    }
  }

  #start(worker: Worker, job: SearchJob, tasks: Task[]): void {
    worker.onmessage = ({ data }: MessageEvent<WorkerReport>) => this.#receive(worker, data);
    worker.onerror = (event) => {
      event.preventDefault(); // otherwise it would end the process
      this.#ended.reject(new Error(`Cannot search as a worker failed: ${event.message}`));
    };
    post(worker, { type: "start", job, shared: this.#shared, tasks });
  }

  #receive(worker: Worker, report: WorkerReport): void {
    if (report.type === "failed") return this.#ended.reject(new Error(report.message));
    if (report.type === "found") {
      addFound(this.found, report.found);
      if (++this.#finished === this.#workers.length) this.#ended.resolve(this.#end);
      return;
    }
    if (report.type === "share") this.#queue.push(report.tasks);
    else {
      this.#idle.push(worker);
      if (this.#queue.length === 0) Atomics.add(this.#shared, HUNGRY, 1);
    }
    this.#handOut();
  }

  #handOut(): void {
    while (this.#queue.length > 0 && this.#idle.length > 0 && this.#end === "done") {
      post(this.#idle.pop()!, { type: "tasks", tasks: this.#queue.pop()! });
    }
    if (this.#idle.length === this.#workers.length) {
      for (const worker of this.#workers) post(worker, { type: "finish" });
    }
  }
}

const post = (worker: Worker, order: Order) => worker.postMessage(order);
