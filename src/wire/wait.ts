/** Waits that end with a signal or a time limit. @module */

/** Resolves after `ms`, or when `signal` is aborted. `setTimeout` would load 5 ms of code (Deno 2.9.6). */
export async function delay(ms: number, signal: AbortSignal): Promise<void> {
  const over = Promise.withResolvers<void>();
  const stop = onceAfter(ms, over.resolve);
  await Promise.race([aborted(signal), over.promise]);
  stop();
}

/**
 * Calls `callback` after `ms`, without `setTimeout` (see {@linkcode delay}). Returns a function that cancels it.
 * A remaining listener would prevent the program from ending, and use memory.
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
export function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    // For a negative time, Deno prints a warning on stderr, which would garble a live screen.
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
  const stop = aborted(signal).then(() => {
    throw signal.reason;
  });
  stop.catch(() => {});
  return await Promise.race([promise, stop]);
}
