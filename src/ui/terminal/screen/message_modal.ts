/** The input line of a session, where messages are queued during a turn, and questions of one line. @module */

import { sanitizeProse } from "../../../text/sanitize.ts";
import type { TextPart } from "../../../types/message.ts";
import type { Key } from "../line/keys.ts";
import { LineModal, type LineModalOptions } from "../line/line_modal.ts";
import { isEscapable } from "../line/press.ts";
import { cleared, lineState, lineText, viStart, withHistory } from "../line/state.ts";
import { ACCENT, DIM, type Sgr, USER_BAND } from "../style.ts";
import { brokenRow, cellsOf, rowsText, styledRow } from "../styled.ts";
import type { TerminalSize } from "../tty.ts";
import {
  entryText,
  entryUnits,
  type HistoryEntry,
  textPartOf,
  type Unit,
  unitsText,
} from "../units.ts";
import { type CellRow, type Frame, widthOf } from "./frame.ts";
import type { Outcome } from "./modal.ts";

interface SessionLineOptions extends LineModalOptions {
  append: (lines: string) => void;
  columns: () => number;
}

export interface MessageModalOptions extends SessionLineOptions {
  history: () => readonly HistoryEntry[];
  isActive: () => boolean;
  onStop: () => void;
  /** Saves a message that was not sent: it waits, Ctrl-C dropped it, or the session ends. */
  onUnsent?: ((message: TextPart) => void) | undefined;
  /** True for a line that may be sent before queued messages, such as a command. */
  overtakes?: ((line: string) => boolean) | undefined;
  /** Runs a line while the model works; false for a line that waits. */
  runsNow?: ((line: string) => boolean) | undefined;
  /** True for a line that the running turn can have with its next request. */
  steers?: ((line: string) => boolean) | undefined;
  /** Rows, with SGR, below a line that is `?`. */
  help?: (() => readonly string[]) | undefined;
  /** What the empty line offers; empty for nothing. Parts that do not fit are dropped, the second one first. */
  placeholder?: (() => string) | undefined;
  /** The message that Escape, pressed twice at an empty line, sends without printing it. */
  rewind?: TextPart | undefined;
}

const MAX_QUEUED_CHARS = 4096;
const COMMAND_NOTE = " · runs after the answer; Esc and Enter run it now";
const HELD_HINT = "Enter sends · Up edits · Ctrl-C discards";

export class MessageModal extends LineModal<never, MessageModalOptions> {
  readonly queued: (readonly Unit[])[] = [];
  /** Queued messages that are sent after the turn, not during it. */
  readonly #later = new WeakSet<readonly Unit[]>();
  /** True if the queue waits for Enter because the turn was stopped. */
  isHeld = false;
  isLeaving = false;
  wasSearching = false;
  /** True after the first Escape at an empty line. */
  isRewinding = false;
  #isStopping = false;
  /** The line with a message that was put there, until it changes. */
  #put: readonly Unit[] | undefined;
  #reader: ((message: TextPart | null) => void) | undefined;
  #hasLeft = false;

  constructor(options: MessageModalOptions) {
    super(lineState(), options);
    this.#reset();
  }

  read(): Promise<TextPart | null> {
    if (this.#hasLeft) return Promise.resolve(null);
    this.#isStopping = false;
    this.#remember([...this.options.history()]);
    return new Promise((resolve) => {
      this.#reader = resolve;
      this.#sendQueued();
    });
  }

  give(message: TextPart | null): void {
    const reader = this.#reader;
    this.#reader = undefined;
    if (message === null && !this.#hasLeft) this.#drop(this.state.units);
    this.#hasLeft ||= message === null;
    reader?.(message);
  }

  get queuedRows(): string[] {
    return this.queued.map((units) => {
      const text = unitsText(units);
      const isCommand = !this.isHeld && this.options.overtakes?.(text);
      const when = this.isHeld ? "held" : this.#steers(units) ? "waits" : "queued";
      return `${when}: ${draftStart(units)}${isCommand ? COMMAND_NOTE : ""}`;
    });
  }

  /** When the model reads a queued message, and the keys for it; empty for nothing. */
  get queuedHint(): string {
    const isFree = this.queued.length > 0 && this.state.units.length === 0;
    const isSoon = this.queued.some((units) => this.#steers(units));
    const keys = isFree ? [this.isHeld ? HELD_HINT : "Up edits"] : [];
    return [...isSoon ? ["sent with the next request"] : [], ...keys].join(" · ");
  }

  /** The text of the line, shown while a question has the keys. */
  get draftRows(): string[] {
    return this.state.units.length > 0 ? [`draft: ${draftStart(this.state.units)}`] : [];
  }

  #steers(units: readonly Unit[]): boolean {
    return this.options.isActive() && !this.#later.has(units) &&
      this.options.steers?.(unitsText(units)) === true;
  }

  takeSteering(): TextPart[] {
    const { next = [], later = [] } = Object.groupBy(
      this.isHeld ? [] : this.queued,
      (units) => this.#steers(units) ? "next" : "later",
    );
    if (next.length > 0) this.queued.splice(0, Infinity, ...later);
    return next.map(textPartOf);
  }

  /** Puts a message into the line, unless the user has typed another. */
  put(message: TextPart): boolean {
    const isFree = this.state.units.length === 0 && this.queued.length === 0;
    if (!isFree) return false;
    this.#reset(this.#unitsOf(message));
    this.#put = this.state.units;
    return true;
  }

  /** Returns queued messages to the line because the turn was stopped. Commands wait for the next Enter. */
  hold(): void {
    const { units } = this.state;
    const { message = [], command = [] } = Object.groupBy(
      this.queued,
      (one) => this.options.steers?.(unitsText(one)) ? "message" : "command",
    );
    this.queued.splice(0, Infinity, ...command);
    const texts = [...message, ...units.length > 0 ? [units] : []];
    if (texts.length > 1 || units.length === 0) {
      this.#reset(texts.flatMap((one, i) => i === 0 ? one : ["\n", ...one]));
    }
    this.isHeld = this.queued.length > 0;
  }

  protected override pressLine(key: Key): Outcome<never> {
    const isActive = this.options.isActive();
    if (!isActive) this.#isStopping = false;
    const { units, cursor } = this.state;
    // A command instead of the message that was put there, which the history has.
    const isCommand = key.type === "text" && key.text.startsWith("/");
    if (isCommand && units === this.#put && cursor === units.length) this.#reset();
    if (this.hasMenu) return super.pressLine(key);
    const isEscape = key.name === "escape";
    const isEmpty = this.state.units.length === 0;
    if (this.isHelp && (isEscape || key.type === "text" && key.text === "?")) this.#reset();
    else if (isEscape && isEscapable(this.state)) return super.pressLine(key);
    else if (isEscape && isActive) this.#stop();
    else if (isEscape && this.options.rewind && isEmpty && this.#reader !== undefined) {
      if (this.isRewinding) this.give(this.options.rewind);
      this.isRewinding = !this.isRewinding;
    } else if (/^(up|ctrl-p)$/.test(key.name ?? "") && isEmpty && this.queued.length > 0) {
      this.#reset(this.queued.pop());
      this.isHeld &&= this.queued.length > 0;
    } else if (key.name === "alt-enter" && isActive && !isEmpty) this.#submit(true);
    else return super.pressLine(key);
    return "none";
  }

  protected override layoutLine(size: TerminalSize): Frame {
    const frame = super.layoutLine(size);
    const { placeholder, isActive, sgr } = this.options;
    const [row] = frame.rows;
    if (row === undefined || this.state.units.length > 0 || isActive() || this.isHeld) return frame;
    const parts = placeholder?.().split(" · ") ?? [];
    const room = size.columns - widthOf(row);
    while (parts.join(" · ").length > room && parts.length > 0) parts.splice(1 % parts.length, 1);
    const text = cellsOf(parts.join(" · "), sgr(DIM));
    return { ...frame, rows: [[...row, ...text], ...frame.rows.slice(1)] };
  }

  protected override rowsBelow(size: TerminalSize): CellRow[] {
    if (!this.isHelp) return super.rowsBelow(size);
    return this.options.help!().slice(0, Math.max(0, size.rows - 1)).map((row) =>
      styledRow(row, size.columns)
    );
  }

  protected override leave(how: "submit" | "cancel" | "end"): Outcome<never> {
    if (how === "cancel") this.#cancel();
    else if (how === "submit") this.#submit();
    else if (this.options.isActive()) return "bell";
    else this.give(null);
    return "none";
  }

  get isHelp(): boolean {
    const { units } = this.state;
    return this.options.help !== undefined && units.length === 1 && unitsText(units) === "?";
  }

  #reset(text: readonly Unit[] = []): void {
    const { history, keymap } = this.options;
    // A copy: the history may grow while the line is edited.
    const entries = [...history()];
    const vi = keymap?.isVim ? viStart(entries.length, this.state.vi?.memory) : undefined;
    this.state = lineState({ history: entries, text, vi });
  }

  /** @param isLater sends the message after the running turn, not during it */
  #submit(isLater = false): void {
    const { units } = this.state;
    if (isLater) this.#later.add(units);
    if (unitsText(units).trim() === "") {
      this.isHeld = false;
      return this.#sendQueued();
    }
    this.#reset();
    this.submit(units);
  }

  submit(units: readonly Unit[]): void {
    if (this.options.isActive() && this.options.runsNow?.(unitsText(units))) return;
    this.enqueue(units);
  }

  enqueue(units: readonly Unit[]): void {
    const isActive = this.options.isActive();
    const isFirst = this.queued.length === 0 || this.options.overtakes?.(unitsText(units));
    if (isFirst && !isActive && this.#reader !== undefined) return this.#send(units);
    this.queued.push(units);
    this.options.onUnsent?.(textPartOf(units));
    // Held messages are sent before the new one.
    if (!isActive) this.isHeld = false;
    this.#sendQueued();
  }

  #sendQueued(): void {
    if (this.isHeld || this.#reader === undefined) return;
    const units = this.queued.shift();
    if (units !== undefined) this.#send(units);
  }

  echo(message: TextPart): void {
    this.#print(this.#unitsOf(message));
  }

  /** The units of a message, with the pasted ranges that the history has. */
  #unitsOf(message: TextPart): readonly Unit[] {
    const isIt = (entry: HistoryEntry) => entryText(entry) === message.text;
    return entryUnits(this.options.history().findLast(isIt) ?? message);
  }

  #print(text: readonly Unit[]): void {
    const { append, sgr, columns } = this.options;
    append(
      bandText(text, columns(), sgr) ?? this.wholeText(columns(), lineState({ text })),
    );
  }

  #send(text: readonly Unit[]): void {
    const message = textPartOf(text);
    // A command is shown once it did something.
    if (!this.options.overtakes?.(message.text)) this.#print(text);
    this.give(message);
    // The caller adds it to the history later; Up finds it at once.
    const { history } = this.options;
    const others = history().filter((entry) => entryText(entry) !== message.text);
    this.#remember([...others, message]);
  }

  #remember(history: readonly HistoryEntry[]): void {
    if (this.search === undefined) this.state = withHistory(this.state, history);
  }

  #stop(): void {
    this.#isStopping = true;
    this.hold();
    this.options.onStop();
  }

  #cancel(): void {
    if (this.options.isActive() && !this.#isStopping) this.#stop();
    else if (this.state.units.length > 0) {
      const { units } = this.state;
      this.state = cleared(this.state);
      this.#drop(units);
    } else if (this.isHeld) {
      this.isHeld = false;
      this.queued.length = 0;
      this.#remember([...this.options.history()]);
    } else if (this.isLeaving) this.give(null);
    else this.isLeaving = !this.wasSearching;
  }

  #drop(units: readonly Unit[]): void {
    if (units !== this.#put) this.options.onUnsent?.(textPartOf(units));
    this.#remember([...this.options.history()]);
  }
}

const draftStart = (units: readonly Unit[]): string =>
  sanitizeProse(unitsText(units).slice(0, MAX_QUEUED_CHARS).replace(/\s+/g, " "));

/** A sent message on its band; undefined without colours. */
export function bandText(units: readonly Unit[], columns: number, sgr: Sgr): string | undefined {
  const band = sgr(USER_BAND);
  if (sgr(ACCENT) === "") return undefined;
  const [mark] = cellsOf("▎", band + sgr(ACCENT));
  const [space] = cellsOf(" ", band);
  const room = Math.max(1, columns - 2);
  const text = units.map((unit) => typeof unit === "string" ? unit : unit.label).join("");
  const lines = text.split("\n").map((line) => cellsOf(line, band));
  const rows = lines.flatMap((line) => brokenRow(line, room)).map((row) => {
    const rest = band === "" ? 0 : Math.max(0, room - widthOf(row));
    return [mark!, space!, ...row, ...Array.from({ length: rest }, () => space!)];
  });
  return rowsText(rows);
}

interface QuestionModalOptions extends SessionLineOptions {
  text: string;
  /** Why a line is not an answer; printed before the question is asked again. */
  objection: (line: string) => string | undefined;
  onCancel: () => void;
  isHidden?: boolean;
}

/** The most dots: they show that keys arrive without showing the length of the answer. */
const MAX_DOTS = 12;

export class QuestionModal extends LineModal<string, QuestionModalOptions> {
  constructor(options: QuestionModalOptions) {
    super(lineState({ multiline: false, text: options.text }), options);
  }

  protected override layoutLine(size: TerminalSize): Frame {
    return this.options.isHidden ? this.whole(size.columns) : super.layoutLine(size);
  }

  override whole(columns: number, state = this.state): Frame {
    if (!this.options.isHidden) return super.whole(columns, state);
    const dots = "•".repeat(Math.min(MAX_DOTS, unitsText(state.units).length));
    return super.whole(columns, lineState({ text: dots }));
  }

  protected override pressLine(key: Key): Outcome<string> {
    return key.name === "escape" ? this.leave("cancel") : super.pressLine(key);
  }

  protected override leave(how: "submit" | "cancel" | "end"): Outcome<string> {
    const { append, columns, objection, onCancel } = this.options;
    append(this.wholeText(columns()));
    if (how === "cancel") onCancel();
    if (how !== "submit") return { done: null };
    const text = lineText(this.state);
    const wrong = objection(text);
    if (wrong === undefined) return { done: text };
    append(`${wrong}\n`);
    this.state = lineState({ multiline: false });
    return "none";
  }
}
