/** The interface of a session's screen, and the screen of a terminal that cannot repaint. @module */

import { PROMPT, readInput, readLineRaw } from "../line/input.ts";
import { sanitizeProse } from "../../../text/sanitize.ts";
import type { Copied } from "../clipboard.ts";
import { withSigns } from "../../../text/signs.ts";
import { writeStdout } from "../stdio.ts";
import type { ListOptions } from "./list_modal.ts";
import type { TextPart } from "../../../types/message.ts";

export type ChoiceList<T> = Omit<ListOptions<T>, "sgr">;

export interface QuestionTiming {
  /** True if the question accepts keys only after a quiet moment. */
  waits?: boolean;
  /** True if a message that was typed meanwhile replaces the answer. */
  yields?: boolean;
}

export interface LineQuestion extends QuestionTiming {
  /** The text that the line starts with. */
  text?: string;
  /** True if the answer is neither shown nor saved; it is null if keys cannot be hidden. */
  isHidden?: boolean;
}

/** The screen of a session. All texts must be safe for a terminal. */
export interface Screen extends Disposable {
  readonly isLive: boolean;
  print(text: string): void;
  stream(text: string): void;
  echo(message: TextPart): void;
  /** Takes the messages for the next request of the running turn. */
  takeSteering(): TextPart[];
  update(): void;
  /** Puts a message into the line, to edit or send it. Returns false if the line is in use. */
  put(message: TextPart): boolean;
  /** Sends a message after the running turn, as if the user had queued it. */
  queue(message: TextPart): void;
  /** The next message, with its pasted ranges; null when the session is over. */
  read(): Promise<TextPart | null>;
  /** Asks for a line; null without an answer. `objection` rejects one with a sentence. */
  ask(
    prompt: string,
    objection: (line: string) => string | undefined,
    signal: AbortSignal,
    how?: LineQuestion,
  ): Promise<string | null>;
  /** Asks for a row of `list`; null if the user cancels or the screen cannot repaint. */
  choose<T>(list: ChoiceList<T>, signal: AbortSignal, how?: QuestionTiming): Promise<T | null>;
  /** Notifies a user who uses another window; `text` is one line. */
  notify(text: string): void;
  copy(text: string): Copied;
}

/** A screen that cannot repaint (`TERM=dumb`, stdout that is not a terminal) and prints lines. */
export class PlainScreen implements Screen {
  readonly isLive = false;
  #isMidLine = false;
  #isReading = false;
  constructor(
    private readonly history: () => string[],
    private readonly signal: AbortSignal,
    private readonly unicode: boolean,
  ) {}

  print(text: string): void {
    const isAtPrompt = this.#isReading && Deno.stdin.isTerminal() && Deno.stdout.isTerminal();
    this.stream(`${this.#isMidLine || isAtPrompt ? "\n" : ""}${text}\n`);
    if (isAtPrompt) writeStdout(PROMPT);
  }

  stream(text: string): void {
    if (text === "") return;
    writeStdout(withSigns(text, this.unicode));
    this.#isMidLine = !text.endsWith("\n");
  }

  echo({ text }: TextPart): void {
    this.print(sanitizeProse(`> ${text}`));
  }

  async read(): Promise<TextPart | null> {
    this.#isReading = true;
    const text = await readInput({ history: this.history() }, { signal: this.signal });
    this.#isReading = false;
    return text === null ? null : { type: "text", text };
  }

  readonly ask: Screen["ask"] = async (prompt, objection, signal, how) => {
    for (; !how?.isHidden;) {
      const line = await readLineRaw(prompt, "", [], { signal });
      const wrong = line === null ? undefined : objection(line);
      if (wrong === undefined) return line;
      this.print(wrong);
    }
    return null;
  };

  readonly choose = () => Promise.resolve(null);
  readonly takeSteering = () => [];
  readonly put = () => false;
  readonly copy = () => "unsupported" as const;
  queue(): void {}
  update(): void {}
  notify(): void {}
  [Symbol.dispose](): void {}
}
