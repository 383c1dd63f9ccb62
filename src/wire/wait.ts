/** Waits that end with a signal or a time limit. @module */

/**
 * Calls `callback` after `ms`, without `setTimeout`, which would load 5 ms of code (Deno 2.9.6). Returns a function
 * that cancels it. A remaining listener would prevent the program from ending, and use memory.
 */
export function onceAfter(ms: number, callback: () => void): () => void {
  const timer = AbortSignal.timeout(ms);
  timer.addEventListener("abort", callback);
  return () => timer.removeEventListener("abort", callback);
}

/**
 * Returns a controller that is aborted with `signal`, for the same reason, until it is disposed. The caller
 * checks for an earlier abort. Avoids `AbortSignal.any`, whose first use loads 0.5 ms of code (Deno 2.9.6).
 */
export function endingWith(signal: AbortSignal | undefined): AbortController & Disposable {
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  signal?.addEventListener("abort", abort);
  return Object.assign(controller, {
    [Symbol.dispose]: () => signal?.removeEventListener("abort", abort),
  });
}

export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve());
  });
}

/** Waits `ms` milliseconds, which may be negative. @throws the signal's reason, at once if it is already aborted. */
export async function wait(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  using waiting = endingWith(signal);
  await within(Math.max(0, ms), aborted(waiting.signal));
  signal?.throwIfAborted();
}

/** Returns the value of `promise`; undefined if it takes longer than `ms` milliseconds. */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const cancel = onceAfter(ms, () => late.resolve(undefined));
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    cancel();
  }
}

/** Returns the value of `promise`, or throws the reason of `signal` if that is aborted first. */
export async function orAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (!signal) return await promise;
  const stop = aborted(signal).then((): never => {
    throw signal.reason;
  });
  return await Promise.race([promise, stop]);
}
