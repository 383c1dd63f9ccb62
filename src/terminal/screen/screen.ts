/** The screen of a session: a terminal that can repaint, or one that cannot. @module */

import { PROMPT, readInput, readLineRaw } from "../line/input.ts";
import { sanitizeProse } from "../../text/sanitize.ts";
import type { Copied } from "../clipboard.ts";
import { withSigns } from "../../text/signs.ts";
import { writeStdout } from "../stdio.ts";
import type { ListOptions } from "./list_modal.ts";
import type { TextPart } from "../../types/message.ts";

/** A list without its look, which is the screen's. */
export type ChoiceList<T> = Omit<
  ListOptions<T>,
  "hasStyles" | "accent" | "unicode" | "context" | "onCancel"
>;

/** How a question begins. */
export interface AskingWay {
  /** True where keys count only once none came for a while. */
  waits?: boolean;
  /** True where a message that was typed meanwhile is as good as an answer. */
  yields?: boolean;
  /** True where the steps of long work stay above it, if they are shown. */
  hasPanel?: boolean;
}

/** The screen of a session. All texts must be safe for a terminal. */
export interface Screen extends Disposable {
  /** True where the progress is shown, and changes in place. */
  readonly isLive: boolean;
  /** Writes `text` as lines of their own. */
  print(text: string): void;
  /** Writes text that may go on in the same line. */
  stream(text: string): void;
  /** Shows `message` as if it had been typed. */
  echo(message: TextPart): void;
  /** Shows the progress and the status again: they have changed. */
  update(): void;
  /** The next message, which says what of it was pasted; null when the session is over. */
  read(): Promise<TextPart | null>;
  /**
   * Asks a question of one line, which begins with `text`; null without an answer, or once `signal`
   * is aborted. A sentence that `objection` gives of a line is printed, and the question stays. `how`:
   * whether keys count only once none came for a while, which is the default.
   */
  ask(
    prompt: string,
    objection: (line: string) => string | undefined,
    signal: AbortSignal,
    text?: string,
    how?: AskingWay,
  ): Promise<string | null>;
  /** The same without showing the answer, of which nothing is kept; null where keys cannot be hidden. */
  askHidden(
    prompt: string,
    objection: (line: string) => string | undefined,
    signal: AbortSignal,
  ): Promise<string | null>;
  /** Has a person pick a row of `list`, which they asked for; null for none, or where nothing is repainted. */
  choose<T>(list: ChoiceList<T>, signal: AbortSignal, how?: AskingWay): Promise<T | null>;
  /** Notifies a person who looks elsewhere; `text` is one line. */
  notify(text: string): void;
  /** Puts `text` into the terminal's clipboard, where it has one. */
  copy(text: string): Copied;
}

/**
 * A screen that cannot repaint (`TERM=dumb`, stdout that is no terminal): lines, one after the
 * other. What is pasted comes like what is typed. Once `signal` is aborted, no further message is read.
 */
export class PlainScreen implements Screen {
  readonly isLive = false;
  #isMidLine = false;
  /** True while a message is read: the prompt stands at the end of what was written. */
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
    const options = { interrupt: "clear", signal: this.signal } as const;
    this.#isReading = true;
    const text = await readInput({ history: this.history() }, options);
    this.#isReading = false;
    return text === null ? null : { type: "text", text };
  }

  async ask(...[prompt, objection, signal]: Parameters<Screen["ask"]>): Promise<string | null> {
    for (;;) {
      const line = await readLineRaw(prompt, "", [], { signal, dropTypeAhead: true });
      const wrong = line === null ? undefined : objection(line);
      if (wrong === undefined) return line;
      this.print(wrong);
    }
  }

  askHidden(): Promise<null> {
    return Promise.resolve(null);
  }

  choose(): Promise<null> {
    return Promise.resolve(null);
  }

  copy(): Copied {
    return "unsupported";
  }

  update(): void {}
  notify(): void {}
  [Symbol.dispose](): void {}
}
