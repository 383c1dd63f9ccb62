/** The file that keeps the lines typed into sessions. @module */

import { join } from "../../text/std_path.ts";
import { History } from "../../terminal/line/history.ts";
import { oneLine } from "../../text/one_line.ts";
import { stateFolder } from "../../user_files.ts";

type TypedLines = Pick<History, "entries" | "add">;

/** The lines typed into a session, and into those before it; without a file the session's own are all. */
export class SessionHistory {
  readonly #state = stateFolder();
  readonly #own: string[] = [];
  #opened: { folder: string; history: TypedLines } | undefined;
  #hasWarned = false;

  /** @param warn called with the reason why the history cannot be read or kept */
  constructor(
    private readonly folder: () => string,
    private readonly warn: (message: string) => void,
  ) {}

  /** All entries, oldest first; those of the session's folder come last. */
  entries(): string[] {
    return this.#open().entries;
  }

  add(text: string): void {
    try {
      this.#open().add(text);
    } catch (error) {
      if (this.#hasWarned) return;
      this.warn(`· the history cannot be kept: ${oneLine((error as Error).message)}`);
      this.#hasWarned = true;
    }
  }

  #open(): TypedLines {
    const folder = this.folder();
    if (this.#opened?.folder === folder) return this.#opened.history;
    let history: TypedLines = { entries: this.#own, add: (text) => void this.#own.push(text) };
    try {
      if (this.#state) history = new History(join(this.#state, "history.jsonl"), folder);
    } catch (error) {
      this.warn(`· the history cannot be read: ${oneLine((error as Error).message)}`);
    }
    this.#opened = { folder, history };
    return history;
  }
}
