import { join } from "../../../text/std_path.ts";
import { History } from "../line/history.ts";
import type { HistoryEntry } from "../units.ts";
import { oneLine } from "../../../text/one_line.ts";
import { reasonOf } from "../../../text/reason.ts";
import type { TextPart } from "../../../types/message.ts";
import { stateFolder } from "../../../user_files.ts";

/** The lines typed into this session and, if they can be stored, into earlier ones. */
export class SessionHistory {
  readonly #state = stateFolder();
  readonly #own = new History(undefined, "");
  #opened: { folder: string; history: History } | undefined;
  #hasWarned = false;

  constructor(
    private readonly folder: () => string,
    private readonly warn: (message: string) => void,
  ) {}

  entries(): readonly HistoryEntry[] {
    return this.#open().entries;
  }

  add(text: string, pasted?: TextPart["pasted"]): void {
    try {
      this.#open().add(text, pasted);
    } catch (error) {
      if (this.#hasWarned) return;
      this.warn(`· the history cannot be saved: ${oneLine(reasonOf(error))}`);
      this.#hasWarned = true;
    }
  }

  #open(): History {
    const folder = this.folder();
    if (this.#opened?.folder === folder) return this.#opened.history;
    let history = this.#own;
    try {
      if (this.#state) history = new History(join(this.#state, "history.jsonl"), folder);
    } catch (error) {
      this.warn(`· the history cannot be read: ${oneLine(reasonOf(error))}`);
    }
    this.#opened = { folder, history };
    return history;
  }
}
