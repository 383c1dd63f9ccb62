/** Waits, with a limit, for changes that cause no event. */

/** The maximum milliseconds that a test waits, even on a busy machine. */
export const MAX_WAIT_MS = 60_000;

/** Checks every 5 ms until `is` returns true. @throws {Error} after a minute */
export async function waitUntil(is: () => boolean | Promise<boolean>): Promise<void> {
  for (const start = performance.now(); !await is();) {
    if (performance.now() - start > MAX_WAIT_MS) throw new Error(`Never came true: ${is}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
