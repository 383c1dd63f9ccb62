import type { ApproveMode } from "../safety/settings.ts";

/** The descriptions. `more` is what does not fit into a single row. */
const MODE_TEXTS: Readonly<Record<ApproveMode, { text: string; more?: string }>> = {
  plan: { text: "nothing is written", more: "commands run only in a sandbox" },
  never: { text: "calls that need approval are refused" },
  ask: { text: "asks before edits and commands", more: "reading needs no approval" },
  auto: { text: "edits in this folder and sandboxed commands run without asking" },
};

export function modeMeaning(mode: ApproveMode): string {
  const { text, more } = MODE_TEXTS[mode];
  return more === undefined ? text : `${text}; ${more}`;
}

export const modeName = (mode: ApproveMode): string => mode[0]!.toUpperCase() + mode.slice(1);

export const modeText = (mode: ApproveMode): string =>
  `${modeName(mode)} mode: ${MODE_TEXTS[mode].text}`;

export const keptMode = (mode: ApproveMode): string =>
  `${modeName(mode)} mode stays on: this folder's settings require it.`;
