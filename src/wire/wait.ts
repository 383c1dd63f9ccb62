/** Waits that a signal or a time limit ends. @module */

/**
 * Resolves after `ms`, or once `signal` is aborted. Does without `setTimeout`, of which the first use
 * loads 5 ms of code (Deno 2.9.6).
 */
export function moment(ms: number, signal: AbortSignal): Promise<void> {
  return Promise.race([aborted(signal), aborted(AbortSignal.timeout(ms))]);
}

/** Resolves once `signal` is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve());
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

/** The value of `promise`; undefined where it takes longer than `ms` milliseconds. */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), ms);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
