/**
 * Waits for what nothing else tells of, with a limit.
 *
 * @module
 */

/** More than a machine with much else to do takes for anything that a test waits for, in milliseconds. */
export const MAX_WAIT_MS = 60_000;

/** Looks every 5 ms until `is` is true. @throws {Error} after a minute */
export async function waitUntil(is: () => boolean | Promise<boolean>): Promise<void> {
  for (const start = performance.now(); !await is();) {
    if (performance.now() - start > MAX_WAIT_MS) throw new Error(`Never came true: ${is}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
