/** Returns `get()`; undefined if it throws, for example for a missing file. */
export function attempt<T>(get: () => T): T | undefined {
  try {
    return get();
  } catch {
    return undefined;
  }
}
