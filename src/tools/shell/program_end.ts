/** Actions at the end of the program, also where it crashes. @module */

const ENDS = ["unload", "error", "unhandledrejection"];

/**
 * Calls `action` when the program ends, maybe more than once; it must not wait for anything.
 * Returns the function that takes this back.
 */
export function atProgramEnd(action: () => void): () => void {
  for (const event of ENDS) addEventListener(event, action);
  return () => ENDS.forEach((event) => removeEventListener(event, action));
}
