/** What is done when the program ends, also where that crashes. @module */

const ENDS = ["unload", "error", "unhandledrejection"];

/**
 * Calls `action` when the program ends, maybe more than once; there is no time left then for anything
 * that has to be waited for. Returns what takes this back.
 */
export function atProgramEnd(action: () => void): () => void {
  for (const event of ENDS) addEventListener(event, action);
  return () => ENDS.forEach((event) => removeEventListener(event, action));
}
