/** Actions at the end of the program, also after a crash. @module */

import { attempt } from "../../attempt.ts";

const ENDS = ["unload", "error", "unhandledrejection"];
const actions = new Set<() => void>();
const runAll = () => [...actions].reverse().forEach((action) => attempt(action));

/** Calls `action`, which must not wait, at the program's end, maybe twice, the newest first. Returns the undo. */
export function atProgramEnd(action: () => void): () => void {
  for (const event of ENDS) addEventListener(event, runAll);
  actions.add(action);
  return () => actions.delete(action);
}
