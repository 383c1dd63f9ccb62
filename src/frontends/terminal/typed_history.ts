/**
 * Where a session keeps what was typed.
 *
 * @module
 */

import { join } from "../../text/std_path.ts";
import { History } from "../../terminal/line/history.ts";
import { oneLine } from "../../text/one_line.ts";
import { stateFolder } from "../../user_files.ts";

/** What was typed into a session, and into those before it. */
export interface SessionHistory {
  /** Those of the session's folder last. */
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
  let opened: { folder: string; history: Pick<History, "entries" | "add"> } | undefined;
  const own: string[] = [];
  function open(): Pick<History, "entries" | "add"> {
    if (opened?.folder === folder()) return opened.history;
    let history: Pick<History, "entries" | "add"> = {
      entries: own,
      add: (text) => void own.push(text),
    };
    try {
      if (path !== undefined) history = new History(path, folder());
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
