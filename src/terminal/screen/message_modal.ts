/** The input line: messages, of which those typed while a turn goes on wait for its end. @module */

import { LineModal } from "../line/line_modal.ts";
import type { Key } from "../line/keys.ts";
import { isEscapable } from "../line/press.ts";
import { cleared, lineState, viStart, withHistory } from "../line/state.ts";

import type { TextPart } from "../../types/message.ts";
import { entryUnits, type PastedRanges, textPartOf, type Unit, unitsText } from "../units.ts";
import { sanitizeProse } from "../../text/sanitize.ts";
import { styledRow } from "../styled.ts";
import type { TerminalSize } from "../tty.ts";
import type { CellRow } from "./frame.ts";
import type { Outcome } from "./modal.ts";
import { type BandLook, bandText } from "./person_band.ts";
import type { SessionLineOptions } from "./question_modal.ts";

export interface MessageModalOptions extends SessionLineOptions {
  /** The texts that Up and Ctrl-R find, oldest first; asked for before each message. */
  history: () => readonly string[];
  /** The ranges of those texts that were pasted. */
  pasted: () => PastedRanges;
  /** True while a turn goes on. */
  isActive: () => boolean;
  /** The band of messages that were sent; undefined shows them as they were typed. */
  band?: (() => BandLook | undefined) | undefined;
  /** Ctrl-C or Escape while a turn goes on. */
  onStop: () => void;
  /** True for a line that does not wait behind messages that are held, such as a command. */
  overtakes?: ((line: string) => boolean) | undefined;
  /** Such as "leaves after the answer", of a line that waits; undefined where the line says all. */
  queuedNote?: ((line: string) => string | undefined) | undefined;
  /** Rows, with SGR, that explain the line while it is `?` alone. */
  help?: (() => readonly string[]) | undefined;
  /** The message that Escape, pressed twice at an empty line, sends; nobody typed it, so that it is not shown. */
  rewind?: TextPart | undefined;
}

/** The first characters of a queued message that are shown. */
const MAX_QUEUED_CHARS = 4096;

/** The input line; it stays open. */
export class MessageModal extends LineModal<never, MessageModalOptions> {
  /** Messages that wait, oldest first. */
  readonly queued: (readonly Unit[])[] = [];
  /** The turn was stopped: the queue, meant for after it, waits for Enter. */
  isHeld = false;
  /** Ctrl-C was the last key, and there was nothing to stop or to clear: one more leaves. */
  isLeaving = false;
  /** A search was open as the last key came. */
  wasSearching = false;
  /** Escape was the last key, at an empty line: one more goes back. */
  isRewinding = false;
  /** The turn was stopped, and is about to end. */
  #isStopping = false;
  #reader: ((message: TextPart | null) => void) | undefined;
  /** The person has left, perhaps while nobody read: there is no next message. */
  #hasLeft = false;

  constructor(options: MessageModalOptions) {
    super(lineState(), options);
    this.#begin();
  }

  /** The next message; null when the session is over. */
  read(): Promise<TextPart | null> {
    if (this.#hasLeft) return Promise.resolve(null);
    this.#isStopping = false;
    const { history, pasted } = this.options;
    this.#remember([...history()], pasted());
    return new Promise((resolve) => {
      this.#reader = resolve;
      this.#sendQueued();
    });
  }

  /** Gives `message` to the reader; null: there is no next one. */
  give(message: TextPart | null): void {
    const reader = this.#reader;
    this.#reader = undefined;
    this.#hasLeft ||= message === null;
    reader?.(message);
  }

  /** The messages that wait, a row each. */
  get queuedRows(): string[] {
    return this.queued.map((units) => {
      const text = unitsText(units);
      const start = sanitizeProse(text.slice(0, MAX_QUEUED_CHARS).replace(/\s+/g, " "));
      const note = this.isHeld ? undefined : this.options.queuedNote?.(text);
      return [`${this.isHeld ? "held" : "queued"}: ${start}`, ...note ? [note] : []].join(" · ");
    });
  }

  /** What was typed and not sent: the queue, and the line. */
  get unsent(): TextPart[] {
    return [...this.queued, this.state.units].map(textPartOf);
  }

  /** The turn is stopped: keeps the queue back. */
  hold(): void {
    this.isHeld = this.queued.length > 0;
  }

  override press(key: Key): Outcome<never> {
    if (!this.options.isActive()) this.#isStopping = false;
    const wasRewinding = this.isRewinding;
    this.isRewinding = false;
    if (this.hasMenu) return super.press(key);
    if (this.#isHelp && (key.name === "escape" || key.type === "text" && key.text === "?")) {
      this.#begin();
      return "none";
    }
    if (key.name === "escape" && isEscapable(this.state)) return super.press(key);
    if (key.name === "escape" && this.options.isActive()) {
      this.#stop();
      return "none";
    }
    if (key.name === "escape" && this.#canRewind) {
      if (wasRewinding) this.give(this.options.rewind!);
      else this.isRewinding = true;
      return "none";
    }
    const isUp = key.name === "up" || key.name === "ctrl-p";
    if (isUp && this.state.units.length === 0 && this.queued.length > 0) {
      this.#begin(this.queued.pop());
      this.isHeld &&= this.queued.length > 0;
      return "none";
    }
    return super.press(key);
  }

  protected override rowsBelow(size: TerminalSize): CellRow[] {
    if (!this.#isHelp) return super.rowsBelow(size);
    return this.options.help!().slice(0, Math.max(0, size.rows - 1)).map((row) =>
      styledRow(row, size.columns)
    );
  }

  protected override leave(how: "submit" | "cancel" | "end"): Outcome<never> {
    if (how === "cancel") return this.#cancel();
    if (how === "submit") this.#submit();
    else if (this.options.isActive()) return "bell";
    else this.give(null);
    return "none";
  }

  /** True while help stands below the line: Escape, or one more `?`, takes it away. */
  get #isHelp(): boolean {
    const { units } = this.state;
    return this.options.help !== undefined && units.length === 1 && unitsText(units) === "?";
  }

  get #canRewind(): boolean {
    return this.options.rewind !== undefined && this.state.units.length === 0 &&
      this.#reader !== undefined;
  }

  #begin(text: readonly Unit[] = []): void {
    const { history, pasted, keymap } = this.options;
    // A copy: the keeper of the history adds to it while the line is edited.
    const entries = [...history()];
    const vi = keymap?.isVim ? viStart(entries.length, this.state.vi?.memory) : undefined;
    this.state = lineState({ history: entries, pasted: pasted(), text, vi });
  }

  #submit(): void {
    const { units } = this.state;
    if (unitsText(units).trim() === "") {
      this.isHeld = false;
      return this.#sendQueued();
    }
    this.#begin();
    const isFirst = this.queued.length === 0 || this.options.overtakes?.(unitsText(units));
    if (isFirst && !this.options.isActive() && this.#reader !== undefined) {
      return this.#send(units);
    }
    this.queued.push(units);
    // What is held is sent first: a new message never overtakes it.
    if (!this.options.isActive()) this.isHeld = false;
    this.#sendQueued();
  }

  /** Sends the oldest message of the queue, if there is one and a reader for it. */
  #sendQueued(): void {
    if (this.isHeld || this.#reader === undefined) return;
    const units = this.queued.shift();
    if (units !== undefined) this.#send(units);
  }

  /** Prints a message as it goes into the scrollback when it is sent. */
  echo({ text, pasted }: TextPart): void {
    this.#print(entryUnits(text, pasted));
  }

  #print(text: readonly Unit[]): void {
    const { append, band, columns } = this.options;
    const look = band?.();
    append(
      look === undefined
        ? this.wholeText(columns(), lineState({ text }))
        : bandText(text, columns(), look),
    );
  }

  #send(text: readonly Unit[]): void {
    this.#print(text);
    const message = textPartOf(text);
    this.give(message);
    // The keeper of the history adds it later; Up has it at once.
    const { history, pasted } = this.options;
    const others = history().filter((entry) => entry !== message.text);
    const ranges = new Map(pasted()).set(message.text, message.pasted ?? []);
    this.#remember([...others, message.text], ranges);
  }

  /** Gives Up and Ctrl-R a history that has grown since the line was begun. */
  #remember(history: readonly string[], pasted: PastedRanges): void {
    if (this.search === undefined) this.state = withHistory(this.state, history, pasted);
  }

  #stop(): void {
    this.#isStopping = true;
    this.hold();
    this.options.onStop();
  }

  #cancel(): Outcome<never> {
    if (this.options.isActive() && !this.#isStopping) this.#stop();
    else if (this.state.units.length > 0) this.state = cleared(this.state);
    else if (this.isHeld) {
      this.queued.length = 0;
      this.isHeld = false;
    } else if (this.isLeaving) this.give(null);
    else this.isLeaving = !this.wasSearching;
    return "none";
  }
}
