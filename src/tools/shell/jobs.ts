/**
 * The jobs of a session: commands that run in the background until they end or it does.
 *
 * @module
 */

import type { Job, Jobs } from "../../types/tool.ts";
import { atProgramEnd } from "./program_end.ts";

/** So many run at a time: each is a program with children, and a model forgets what it started. */
const MAX_RUNNING = 8;
/** So many are kept, as each holds output. */
const MAX_KEPT = 20;

/** Keeps jobs; to be disposed of when the session ends, which ends those that still run. */
export function jobStore(): Jobs {
  const list: Job[] = [];
  let last = 0;
  let isOver = false;
  const running = () => list.filter(({ outcome }) => outcome === undefined);
  const release = atProgramEnd(() => running().forEach((job) => job.kill()));
  return {
    list,
    checkRoom() {
      if (isOver) throw new RangeError("Cannot start a job as the session is over");
      if (running().length < MAX_RUNNING) return;
      throw new RangeError(
        `Cannot start a job as at most ${MAX_RUNNING} may run: stop one first, as in job_output {"job": ${
          running()[0]!.number
        }, "stop": true}. There are ${namesOf(list)}`,
      );
    },
    add(job) {
      job.number = ++last;
      list.push(job);
      if (isOver) job.kill();
      const oldest = list.findIndex(({ outcome }) => outcome !== undefined);
      if (list.length > MAX_KEPT && oldest >= 0) list.splice(oldest, 1);
    },
    remove(job) {
      list.splice(list.indexOf(job), 1);
      if (job.number === last) last--;
    },
    async [Symbol.asyncDispose]() {
      isOver = true;
      await Promise.all(running().map((job) => job.stop("stopped")));
      release();
    },
  };
}

/** `1 (npm test, running), 2 (make, exit code 2)` */
export function namesOf(jobs: readonly Job[]): string {
  return jobs.map((job) => `${job.number} (${shortCommand(job)}, ${job.outcome ?? "running"})`)
    .join(", ") || "none";
}

/** The command of a job in one short line. */
export function shortCommand({ command }: Job): string {
  const line = command.slice(0, 1000).replace(/\s+/g, " ").trim();
  return (line.length > 60 ? `${line.slice(0, 59)}…` : line).toWellFormed();
}
