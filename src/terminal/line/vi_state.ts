/** The state of vim mode beside the line itself. @module */

import type { Unit } from "../units.ts";

/** The mode of vim that a line is in. */
export type ViMode = "insert" | "command" | "replace";

/** A command's memory, which `.`, `;` and `,` look up: it lasts longer than a line. */
export interface ViMemory {
  /** The last change, such as `x` or `d` with its motion `w`. */
  readonly command: string;
  readonly motion: string;
  readonly count: number;
  /** The text typed in the last insertion. */
  readonly inserted: readonly Unit[];
  /** The character of the last `r`. */
  readonly replacement: string;
  /** The last `f`, `F`, `t` or `T`, and its character; empty before the first. */
  readonly find: string;
  readonly target: string;
}

/** The vim state of a line. */
export interface ViState {
  readonly mode: ViMode;
  /** The keys of a command that is not finished, such as `2d`. */
  readonly typed: string;
  /** The command that began the insertion, and the place in the undo list where it begins. */
  readonly session: { readonly key: string; readonly from: number; readonly entry: number };
  /** True once command mode was entered: what was typed before is not undone, as POSIX has it. */
  readonly isBegun: boolean;
  /** The number of characters replaced by `R` so far. */
  readonly replaced: number;
  readonly memory: ViMemory;
}

const NO_MEMORY: ViMemory = {
  command: "i",
  motion: "",
  count: 1,
  inserted: [],
  replacement: "",
  find: "",
  target: "",
};

/** The state of a new line whose history has `entry` entries. */
export function viStart(entry: number, memory: ViMemory = NO_MEMORY): ViState {
  const session = { key: "i", from: 0, entry };
  return { mode: "insert", typed: "", session, isBegun: false, replaced: 0, memory };
}
