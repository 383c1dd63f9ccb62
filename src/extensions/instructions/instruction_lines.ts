/** Describes the instructions of a folder, and asks about them. @module */

import { count } from "../../text/count.ts";
import { oneLine } from "../../text/one_line.ts";
import type { UiKind } from "../../session/hint_text.ts";
import type { TrustDoubt } from "../../safety/folder_trust.ts";
import type { InstructionFile, LoadedInstructions } from "../../session/data.ts";
import type { Confirmation } from "../../session/frontend.ts";

const TRUST_TEXTS = {
  first: "This folder has instructions for the model:",
  content: "This folder's instructions for the model have changed since you trusted them:",
  folder:
    "This is not the folder that you trusted at this path. It has instructions for the model:",
};

/** Asks whether to load a folder's instructions. `doubt` is set if they were trusted before. */
export function instructionQuestion(
  { doubt, files }: { doubt?: TrustDoubt; files: readonly InstructionFile[] },
): Confirmation {
  const text = `${TRUST_TEXTS[doubt ?? "first"]} ${fileNames(files)}.`;
  return { kind: "instructions", text, title: "Use these instructions?", files };
}

export function instructionLines(
  { files, own, refused, isLoaded: isLoaded, doubt, unsaved }: LoadedInstructions,
  ui: UiKind,
): string[] {
  const lines = refused.map(({ name, reason }) => {
    const where = reason === "secret" ? "to a secret file" : "out of the folder";
    return `· ${oneLine(name)} is not used: it links ${where}`;
  });
  if (own) lines.push(`· using ${fileNames([own])}`);
  if (unsaved !== undefined) lines.push(`· your answer cannot be saved: ${oneLine(unsaved)}`);
  if (isLoaded === false) return lines;
  const loaded = files.filter((file) => file.isLoaded);
  const others = files.filter((file) => !file.isLoaded);
  if (loaded.length > 0) lines.push(`· using ${fileNames(loaded)}`);
  if (others.length > 0) {
    const why = doubt === "folder" ? ", because this is not the folder that you trusted" : "";
    const how = ui === "flags" ? "--trust" : "/trust";
    lines.push(`· not used${why}: ${fileNames(others)} (${how} uses it)`);
  }
  return lines;
}

function fileNames(files: readonly InstructionFile[]): string {
  return files.map(({ name, lines, total, imports, change }) => {
    const since = change && (change.type === "added" ? ", new" : ", changed since you trusted it");
    // The last line says that it was cut.
    const many = total === undefined ? count(lines, "line") : `${lines - 1} of ${total} lines fit`;
    const more = imports ? `, with ${imports.map(oneLine).join(", ")}` : "";
    return `${oneLine(name)} (${many}${more}${since ?? ""})`;
  }).join(", ");
}
