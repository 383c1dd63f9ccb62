/** The state of vim mode beside the line itself. @module */

import type { Key } from "./keys.ts";

/** What `.`, `;` and `,` look up: it lasts longer than a line. */
interface ViMemory {
  /** The last change with its count, such as `2dw`; empty before the first. */
  readonly command: string;
  /** The keys of the insertion that it began, without Escape. */
  readonly keys: readonly Key[];
  /** The last search for a character, such as `fx`; empty before the first. */
  readonly find: string;
}

/** The vim state of a line. */
export interface ViState {
  readonly mode: "insert" | "command";
  /** The keys of a command that is not finished, such as `2d`. */
  readonly typed: string;
  /** Where the undo list of which entry was as the insertion began; a line's own first one is not repeated. */
  readonly session: { readonly from: number; readonly entry: number; readonly isRepeated: boolean };
  readonly memory: ViMemory;
}

/** The state of a new line whose history has `entry` entries. */
export function viStart(
  entry: number,
  memory: ViMemory = { command: "", keys: [], find: "" },
): ViState {
  return { mode: "insert", typed: "", session: { from: 0, entry, isRepeated: false }, memory };
}
