/** The result of `get`; undefined where it throws, as for a file that is not there. */
export function attempt<T>(get: () => T): T | undefined {
  try {
    return get();
  } catch {
    return undefined;
  }
}
