/** Actions at the end of the program, also where it crashes. @module */

const ENDS = ["unload", "error", "unhandledrejection"];

/** Calls `action`, which must not wait, at the program's end, maybe twice; returns the undo. */
export function atProgramEnd(action: () => void): () => void {
  for (const event of ENDS) addEventListener(event, action);
  return () => ENDS.forEach((event) => removeEventListener(event, action));
}
