/** The time limits of one attempt, with a single timer. @module */

import type { ConnectionSettings } from "../config.ts";
import { onceAfter } from "./wait.ts";

/** A timer later than this shows that the machine slept or the process was stopped. */
const LATE_MS = 5_000;
/** The extra time after a limit, for bytes that arrived while the process was stopped. */
const LAST_READ_MS = 100;

export type Limit = "first token" | "idle" | "progress" | "done";

/** The time of a watchdog in milliseconds. */
interface Clock {
  now(): number;
  /** Calls `callback` after `ms`. Returns a function that cancels it. */
  once(ms: number, callback: () => void): () => void;
}

const SYSTEM_CLOCK: Clock = { now: () => performance.now(), once: onceAfter };

export class Watchdog {
  #cancel: (() => void) | undefined;
  /** The time that the timer is set to. */
  #due!: number;
  #hasProgress = false;
  #progressAt: number;
  #bytesAt: number | undefined;
  /** The end of the grace period of a complete answer. */
  #graceEnd: number | undefined;
  #isPaused = false;
  #isLastRead = false;

  /** @param expire Called at most once. */
  constructor(
    private readonly limits: Pick<ConnectionSettings, "firstTokenTimeoutMs" | "idleTimeoutMs">,
    private readonly expire: (limit: Limit) => void,
    private readonly clock: Clock = SYSTEM_CLOCK,
  ) {
    this.#progressAt = clock.now();
    this.#arm();
  }

  bytes(): void {
    const isFirst = this.#bytesAt === undefined;
    this.#bytesAt = this.clock.now();
    if (!isFirst) return;
    // The timer runs for a longer limit. It is re-armed when it fires.
    this.#isLastRead = false;
    this.#arm();
  }

  /** Call this when part of the answer arrived. */
  progress(): void {
    this.#hasProgress = true;
    this.#progressAt = this.clock.now();
  }

  /** The answer is complete. Its body must end within `graceMs`. */
  done(graceMs: number): void {
    this.#graceEnd = this.clock.now() + graceMs;
    this.#arm();
  }

  /** Pauses reading until `until` resolves. Then all limits restart. */
  pause(until: Promise<void>): void {
    this.#isPaused = true;
    const resume = () => {
      this.#isPaused = false;
      this.#restart(this.clock.now());
    };
    until.then(resume, resume);
  }

  /** Ends the watch. Call it on every way out. */
  stop(): void {
    this.#cancel?.();
  }

  #next(): [at: number, limit: Limit] {
    if (this.#graceEnd !== undefined) return [this.#graceEnd, "done"];
    const progress = this.#progressAt + this.limits.firstTokenTimeoutMs;
    const idle = (this.#bytesAt ?? Infinity) + this.limits.idleTimeoutMs;
    if (idle < progress) return [idle, "idle"];
    return [progress, this.#hasProgress ? "progress" : "first token"];
  }

  #arm(at = this.#next()[0]): void {
    this.#due = at;
    this.#cancel?.();
    this.#cancel = this.clock.once(Math.max(0, at - this.clock.now()), () => this.#check());
  }

  #restart(now: number): void {
    this.#progressAt = now;
    if (this.#bytesAt !== undefined) this.#bytesAt = now;
  }

  #check(): void {
    const now = this.clock.now();
    // Bytes that arrived during a pause or a sleep have not been read yet.
    if (this.#isPaused || now - this.#due > LATE_MS) this.#restart(now);
    const [at, limit] = this.#next();
    const isOver = now >= at;
    if (isOver && (this.#isLastRead || limit === "done")) return this.expire(limit);
    this.#isLastRead = isOver;
    this.#arm(isOver ? now + LAST_READ_MS : at);
  }
}
