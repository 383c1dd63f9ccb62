/** Describes the instructions of a folder. @module */

import { count } from "../text/count.ts";
import { oneLine } from "../text/one_line.ts";
import type { Way } from "./hint_text.ts";
import type { HeededInstructions, InstructionFile } from "./data.ts";

/** Returns the lines that say which of a folder's instructions are loaded. */
export function instructionLines(
  { files, refused, isHeeded, doubt, unsaved }: HeededInstructions,
  way: Way,
): string[] {
  const lines = refused.map(({ name, reason }) => {
    const where = reason === "secret" ? "to a secret file" : "out of the folder";
    return `· ${oneLine(name)} is not used: it links ${where}`;
  });
  if (unsaved !== undefined) lines.push(`· your answer cannot be saved: ${oneLine(unsaved)}`);
  if (isHeeded === false) return lines;
  const heeded = files.filter((file) => file.isHeeded);
  const others = files.filter((file) => !file.isHeeded);
  if (heeded.length > 0) lines.push(`· using ${fileNames(heeded)}`);
  if (others.length > 0) {
    const why = doubt === "folder" ? ", because this is not the folder that you trusted" : "";
    const how = way === "flags" ? "--trust" : "/trust";
    lines.push(`· not used${why}: ${fileNames(others)} (${how} uses it)`);
  }
  return lines;
}

/** The maximum number of skills, of commands and of sub-agents that a question names. */
const MAX_NAMED_PROMPTS = 8;

export function fileNames(files: readonly InstructionFile[]): string {
  const named = (list: readonly InstructionFile[]) =>
    list.map(({ name, lines, change }) => {
      const since = change &&
        (change.type === "added" ? ", new" : ", changed since you trusted it");
      return `${oneLine(name)} (${count(lines, "line")}${since ?? ""})`;
    });
  const groups = (["skill", "command", "agent"] as const).flatMap((kind) => {
    const some = files.filter((file) => file.kind === kind);
    if (some.length <= MAX_NAMED_PROMPTS) return named(some);
    const rest = some.length - MAX_NAMED_PROMPTS;
    return [...named(some.slice(0, MAX_NAMED_PROMPTS)), `and ${count(rest, `more ${kind}`)}`];
  });
  return [...named(files.filter(({ kind }) => kind === undefined)), ...groups].join(", ");
}
