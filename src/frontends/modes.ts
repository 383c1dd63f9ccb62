/** The meaning of each mode of asking, in words. @module */

import type { ApproveMode } from "../permissions/settings.ts";

export const MODE_MEANINGS: Readonly<Record<ApproveMode, string>> = {
  plan: "nothing is written; commands only where a sandbox holds them",
  never: "what would be asked about is refused",
  ask: "what only reads; edits and commands are asked about",
  edits: "edits in the folder, and commands in the sandbox",
  auto: "as edits; the default where a sandbox works",
};
