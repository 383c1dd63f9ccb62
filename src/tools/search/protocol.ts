/**
 * What the main thread and the workers of a search say to each other.
 *
 * A worker that runs out of tasks reports so; the number of those waiting stands in shared memory,
 * where a busy worker sees it between two tasks, and hands over half of what it has.
 *
 * @module
 */

import type { Found, Job, Task } from "./searcher.ts";

/** Where in the shared memory the number of waiting workers is. */
export const HUNGRY = 0;
/** Where in the shared memory it says 1 once all are to stop. */
export const STOP = 1;

/** To a worker. */
export type Order =
  | { type: "start"; job: Job; shared: Int32Array; tasks: Task[] }
  | { type: "tasks"; tasks: Task[] }
  | { type: "finish" };

/** From a worker. */
export type Report =
  | { type: "idle" }
  | { type: "share"; tasks: Task[] }
  | { type: "found"; found: Found }
  | { type: "failed"; message: string };
