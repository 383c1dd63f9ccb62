/** The meaning of each mode of asking, in words. @module */

import type { ApproveMode } from "../permissions/settings.ts";

/** What runs unasked in each mode; behind a semicolon comes what else there is to know. */
export const MODE_MEANINGS: Readonly<Record<ApproveMode, string>> = {
  plan: "nothing is written; commands only where a sandbox holds them",
  never: "what would be asked about is refused",
  ask: "what only reads; edits and commands are asked about",
  edits: "edits in the folder, and commands in the sandbox",
  auto: "edits in the folder, and commands in the sandbox; default",
};

/** The mode and what runs unasked in it, in one row. */
export function modeText(mode: ApproveMode): string {
  const [unasked] = MODE_MEANINGS[mode].split(";");
  const verb = mode === "plan" || mode === "never" ? ":" : " runs unasked:";
  return `mode ${mode}${verb} ${unasked}`;
}
