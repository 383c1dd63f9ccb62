/**
 * Time: the limits of one attempt, kept by a single timer, and the wait between two.
 *
 * @module
 */

import type { ConnectionSettings } from "../config.ts";

/** A timer later than this means that the machine slept or the process was stopped. */
const LATE_MS = 5_000;

/** What came while the process was kept waiting is read within this time after a limit is reached. */
const LOOK_MS = 100;

/**
 * How long an attempt does without `setTimeout` and `clearTimeout`, of which the first use loads 5 ms
 * of code (Deno 2.9.6), a tenth of what a short answer takes in all.
 */
const QUICK_MS = 1_000;

/** Which limit was reached. */
export type Limit = "first token" | "idle" | "progress" | "done";

/** Watches an attempt until it is stopped. */
export interface Watchdog {
  /** Bytes came. */
  bytes(): void;
  /** They carried something. */
  progress(): void;
  /** The answer is complete, though its body has not ended: it has this long to, from now on. */
  done(graceMs: number): void;
  /** Nothing is read until `until` resolves: then all limits start anew. */
  pause(until: Promise<void>): void;
  /** Ends the watch; call it on every way out. */
  stop(): void;
}

/** Starts the watch; `expire` is called once at most. */
export function watchdog(
  limits: Pick<ConnectionSettings, "firstTokenTimeoutMs" | "idleTimeoutMs">,
  expire: (limit: Limit) => void,
): Watchdog {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let due = 0;
  let progressed = false;
  let progressAt = performance.now();
  let bytesAt: number | undefined;
  let doneAt: number | undefined;
  let paused = false;
  let looksAgain = false;
  let state: "quick" | "timed" | "stopped" = "quick";

  function next(): [at: number, limit: Limit] {
    if (doneAt !== undefined) return [doneAt, "done"];
    const progress = progressAt + limits.firstTokenTimeoutMs;
    const idle = (bytesAt ?? Infinity) + limits.idleTimeoutMs;
    return idle < progress ? [idle, "idle"] : [progress, progressed ? "progress" : "first token"];
  }
  function arm(at = next()[0]): void {
    due = at;
    if (state !== "timed") return;
    clearTimeout(timer);
    timer = setTimeout(check, Math.max(0, due - performance.now()));
  }
  function startAnew(now: number): void {
    progressAt = now;
    if (bytesAt !== undefined) bytesAt = now;
  }
  function check(): void {
    const now = performance.now();
    // What arrived in the meantime has not been read yet.
    if (paused || now - due > LATE_MS) startAnew(now);
    const [at, limit] = next();
    const isOver = now >= at;
    if (isOver && (looksAgain || limit === "done")) return expire(limit);
    looksAgain = isOver;
    arm(isOver ? now + LOOK_MS : at);
  }

  function quickFor(ms: number): void {
    AbortSignal.timeout(ms).addEventListener("abort", () => {
      if (state !== "quick") return;
      state = "timed";
      check();
    });
  }

  arm();
  quickFor(Math.min(QUICK_MS, limits.firstTokenTimeoutMs, limits.idleTimeoutMs));
  return {
    bytes() {
      const first = bytesAt === undefined;
      bytesAt = performance.now();
      if (!first) return;
      // The timer runs for a longer limit; from here on it is re-armed when it fires.
      looksAgain = false;
      arm();
    },
    progress() {
      progressed = true;
      progressAt = performance.now();
    },
    done(graceMs) {
      doneAt = performance.now() + graceMs;
      if (state === "quick") quickFor(graceMs);
      arm();
    },
    pause(until) {
      paused = true;
      const resume = () => {
        paused = false;
        startAnew(performance.now());
      };
      until.then(resume, resume);
    },
    stop() {
      state = "stopped";
      if (timer !== undefined) clearTimeout(timer);
    },
  };
}

/** Resolves after `ms`, or once `signal` is aborted, and without `setTimeout`: see above. */
export function moment(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    for (const end of [signal, AbortSignal.timeout(ms)]) {
      end.addEventListener("abort", () => resolve(), { once: true });
    }
  });
}

/** Waits `ms` milliseconds. @throws the signal's reason, at once when it is aborted. */
export function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const timer = setTimeout(finish, ms);
    signal?.addEventListener("abort", finish);
    function finish(): void {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      if (signal?.aborted) reject(signal.reason);
      else resolve();
    }
  });
}
