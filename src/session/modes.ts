/** Describes the modes. @module */

import type { ApproveMode } from "../permissions/settings.ts";

const WITHIN_SANDBOX = "edits in the folder and sandboxed commands run unasked";
/** The descriptions. `more` is what does not fit into a single row. */
const MODE_TEXTS: Readonly<Record<ApproveMode, { text: string; more?: string }>> = {
  plan: { text: "nothing is written", more: "commands run only in a sandbox" },
  never: { text: "what the mode ask asks about is refused" },
  ask: { text: "edits and commands are asked about", more: "what only reads runs unasked" },
  edits: { text: WITHIN_SANDBOX },
  auto: { text: WITHIN_SANDBOX, more: "default" },
};

/** Returns the full description of a mode. */
export function modeMeaning(mode: ApproveMode): string {
  const { text, more } = MODE_TEXTS[mode];
  return more === undefined ? text : `${text}; ${more}`;
}

/** Returns the mode and its description in one row. */
export const modeText = (mode: ApproveMode): string => `mode ${mode}: ${MODE_TEXTS[mode].text}`;
