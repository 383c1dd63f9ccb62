/** The jobs of a session: commands that run in the background until they or the session end. @module */

import { shortened } from "../../text/one_line.ts";
import type { Job, Jobs } from "../../types/tool.ts";
import { atProgramEnd } from "./program_end.ts";

/** The maximum number of running jobs: a model forgets those that it started. */
const MAX_RUNNING_JOBS = 8;
/** The maximum number of listed jobs, because each has output in memory. */
const MAX_LISTED_JOBS = 20;

/** Creates the jobs of a session. Dispose of it at the end of the session, which ends running jobs. */
export function jobStore(): Jobs {
  return new JobStore();
}

class JobStore implements Jobs {
  readonly list: Job[] = [];
  onEnd?: (job: Job) => void;
  #lastNumber = 0;
  readonly #moves = new Set<() => void>();
  #isOver = false;
  readonly #release = atProgramEnd(() => this.#running().forEach((job) => job.kill()));

  checkRoom(): void {
    if (this.#isOver) throw new RangeError("Cannot start a job as the session is over");
    const running = this.#running();
    if (running.length < MAX_RUNNING_JOBS) return;
    const next = `stop one first, as in job_output {"job": ${running[0]!.number}, "stop": true}`;
    throw new RangeError(
      `Cannot start a job as at most ${MAX_RUNNING_JOBS} may run: ${next}. There are ${
        namesOf(this.list)
      }`,
    );
  }

  add(job: Job): void {
    job.number = ++this.#lastNumber;
    this.list.push(job);
    if (this.#isOver) job.kill();
    const oldest = this.list.findIndex(({ outcome }) => outcome !== undefined);
    if (this.list.length > MAX_LISTED_JOBS && oldest >= 0) this.list.splice(oldest, 1);
  }

  remove(job: Job): void {
    this.list.splice(this.list.indexOf(job), 1);
    if (job.number === this.#lastNumber) this.#lastNumber--;
  }

  onMove(move: () => void): Disposable {
    this.#moves.add(move);
    return { [Symbol.dispose]: () => void this.#moves.delete(move) };
  }

  moveRunning(): number | undefined {
    if (this.#moves.size === 0) return undefined;
    const moves = [...this.#moves].slice(0, MAX_RUNNING_JOBS - this.#running().length);
    for (const move of moves) move();
    return moves.length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#running().map((job) => job.stop("stopped")));
    this.#release();
  }

  #running(): Job[] {
    return this.list.filter(({ outcome }) => outcome === undefined);
  }
}

/** `1 (npm test, running), 2 (make, exit code 2)` */
export function namesOf(jobs: readonly Job[]): string {
  return jobs.map((job) => `${job.number} (${shortCommand(job)}, ${job.outcome ?? "running"})`)
    .join(", ") || "none";
}

export function jobEndNote(job: Job): string {
  const command = shortCommand(job);
  return `[Job ${job.number} is over (${command}): ${job.outcome}. job_output shows what it printed.]`;
}

export function shortCommand({ command }: Job): string {
  return shortened(command.slice(0, 1000).replace(/\s+/g, " ").trim(), 60).toWellFormed();
}
