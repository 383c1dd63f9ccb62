/**
 * What is said of a message that was taken back or brought back. Pure.
 *
 * @module
 */

import type { UndoneFile, UndoReport } from "../session/undo.ts";
import { count } from "../text/count.ts";
import { oneLine } from "../text/one_line.ts";

/** A message is shown up to so many characters. */
const SHOWN_MESSAGE_CHARS = 60;

/** The lines for a report. */
export function undoLines(
  { way, text, files, hasConversation, commands }: UndoReport,
): string[] {
  const title = messageTitle(text);
  return [
    way === "undo" ? `Taken back: ${title}. /redo brings it back.` : `Brought back: ${title}.`,
    ...files.map((file) => `  ${fileLine(file, way)}`),
    ...hasConversation ? [] : ["The conversation, which is another by now, stays."],
    ...commands > 0 ? [`What ${count(commands, "command")} did stays.`] : [],
  ];
}

/** Said where there is no message to take back, or to bring back. */
export function nothingToUndo(way: UndoReport["way"]): string {
  return way === "undo" ? "There is nothing to take back." : "There is nothing to bring back.";
}

function fileLine({ path, result, reason = "" }: UndoneFile, way: UndoReport["way"]): string {
  const name = oneLine(path);
  switch (result) {
    case "failed":
      return `${name} stays as it is: ${oneLine(reason)}`;
    case "removed":
      return `${name}: removed`;
    case "recreated":
      return `${name}: there again`;
    case "restored":
      return `${name}: ${way === "undo" ? "as it was" : "as it became"}`;
  }
}

function messageTitle(text: string): string {
  const line = oneLine(text);
  return `"${
    line.length > SHOWN_MESSAGE_CHARS
      ? `${line.slice(0, SHOWN_MESSAGE_CHARS - 1).toWellFormed()}…`
      : line
  }"`;
}
