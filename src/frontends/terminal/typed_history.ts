/**
 * The file that keeps the lines typed into sessions.
 *
 * @module
 */

import { join } from "../../text/std_path.ts";
import { type History, openHistory } from "../../terminal/line/history.ts";
import { oneLine } from "../../text/one_line.ts";
import { stateFolder } from "../../user_files.ts";

/** The lines typed into a session, and into those before it. */
export interface SessionHistory {
  /** All entries, oldest first; those of the session's folder come last. */
  entries(): string[];
  add(text: string): void;
}

/**
 * The history's file, opened anew when the folder changes; without one the session's own. `warn` is
 * told why it cannot be read or kept.
 */
export function sessionHistory(
  folder: () => string,
  warn: (message: string) => void,
): SessionHistory {
  const path = historyPath();
  let opened: { folder: string; history: History } | undefined;
  const own: string[] = [];
  function open(): History {
    if (opened?.folder === folder()) return opened.history;
    let history: History = { entries: own, add: (text) => void own.push(text) };
    try {
      if (path !== undefined) history = openHistory(path, folder());
    } catch (error) {
      warn(`· the history cannot be read: ${oneLine((error as Error).message)}`);
    }
    opened = { folder: folder(), history };
    return history;
  }
  let warned = false;
  return {
    entries: () => open().entries,
    add(text) {
      try {
        open().add(text);
      } catch (error) {
        if (!warned) warn(`· the history cannot be kept: ${oneLine((error as Error).message)}`);
        warned = true;
      }
    },
  };
}

function historyPath(): string | undefined {
  const folder = stateFolder();
  return folder && join(folder, "history.jsonl");
}
