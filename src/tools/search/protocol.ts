/**
 * The messages between the main thread and the workers of a search. A worker without tasks reports
 * it; the number of those that wait stands in shared memory, where a busy worker reads it between
 * two tasks; it then hands over half of its tasks. @module
 */

import type { Found, SearchJob, Task } from "./searcher.ts";

/** The index of the number of waiting workers in the shared memory. */
export const HUNGRY = 0;
/** The index of the flag in the shared memory that is 1 once all are to stop. */
export const STOP = 1;

/** A message to a worker. */
export type Order =
  | { type: "start"; job: SearchJob; shared: Int32Array; tasks: Task[] }
  | { type: "tasks"; tasks: Task[] }
  | { type: "finish" };

/** A message from a worker. */
export type WorkerReport =
  | { type: "idle" }
  | { type: "share"; tasks: Task[] }
  | { type: "found"; found: Found }
  | { type: "failed"; message: string };
