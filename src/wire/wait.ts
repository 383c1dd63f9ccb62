/** Waits that a signal or a time limit ends. @module */

/**
 * Resolves after `ms`, or once `signal` is aborted. Does without `setTimeout`, of which the first use
 * loads 5 ms of code (Deno 2.9.6).
 */
export async function moment(ms: number, signal: AbortSignal): Promise<void> {
  const over = Promise.withResolvers<void>();
  const stop = onceAfter(ms, over.resolve);
  await Promise.race([aborted(signal), over.promise]);
  stop();
}

/**
 * Calls `callback` after `ms`, without `setTimeout` (see {@linkcode moment}); returns a function that
 * calls it off. A listener that stayed would keep the program from ending, and what it refers to in memory.
 */
export function onceAfter(ms: number, callback: () => void): () => void {
  const timer = AbortSignal.timeout(ms);
  timer.addEventListener("abort", callback);
  return () => timer.removeEventListener("abort", callback);
}

/**
 * A controller that is aborted with `signal`, for its reason, until it is disposed of; one that was aborted
 * before is for the caller to look at. Not `AbortSignal.any`, of which the first use loads half a
 * millisecond of code (Deno 2.9.6).
 */
export function endingWith(signal: AbortSignal | undefined): AbortController & Disposable {
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  signal?.addEventListener("abort", abort);
  return Object.assign(controller, {
    [Symbol.dispose]: () => signal?.removeEventListener("abort", abort),
  });
}

/** Resolves once `signal` is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve());
  });
}

/**
 * Waits `ms` milliseconds, which may be over already. @throws the signal's reason, at once when it is aborted.
 */
export function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    // Of a negative time Deno warns on stderr, in two lines that a live screen knows nothing of.
    const timer = setTimeout(finish, Math.max(0, ms));
    signal?.addEventListener("abort", finish);
    function finish(): void {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      if (signal?.aborted) reject(signal.reason);
      else resolve();
    }
  });
}

/** The value of `promise`; undefined where it takes longer than `ms` milliseconds. */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const cancel = onceAfter(ms, () => late.resolve(undefined));
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    cancel();
  }
}
