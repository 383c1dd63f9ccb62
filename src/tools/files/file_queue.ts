/** Queues calls that change the same file. @module */

/** The last call in each file's queue. */
const queues = new Map<string, Promise<void>>();

/**
 * Runs `action` once all calls before it for the same file are done: what they read and what they
 * write belongs together.
 */
export async function oneAtATime<T>(path: string, action: () => Promise<T>): Promise<T> {
  const key = queueKey(path);
  const { promise, resolve } = Promise.withResolvers<void>();
  const before = queues.get(key);
  queues.set(key, promise);
  try {
    await before;
    return await action();
  } finally {
    resolve();
    if (queues.get(key) === promise) queues.delete(key);
  }
}

/** The real path. Synchronous, as the queue is in the order of the calls. */
function queueKey(path: string): string {
  try {
    return Deno.realPathSync(path);
  } catch {
    // Not there yet.
    return path;
  }
}
