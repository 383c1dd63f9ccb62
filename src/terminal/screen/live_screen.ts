/**
 * The screen of a session: ordinary scrollback, and below it a few rows that change in place: the
 * unfinished line, the progress, the modal on top of the stack, the status. @module
 */

import { clipboardSequence, type Copied } from "../clipboard.ts";
import type { ClipboardImages } from "../clipboard_image.ts";
import { droppedImages } from "../dropped_images.ts";
import { processTerminal, type Terminal } from "../terminal.ts";
import { DEFAULT_KEYMAP } from "../line/actions.ts";
import { BACKGROUND_KEY, type Key, KITTY_KEY } from "../line/keys.ts";
import type { Background } from "../style.ts";
import type { KillRing } from "../line/state.ts";
import { styledRow, styledRows } from "../styled.ts";
import { type TerminalSize, unlessGone } from "../tty.ts";
import { asciiSign, withSigns } from "../../text/signs.ts";
import type { TextPart } from "../../types/message.ts";
import { ScreenQuestions } from "./screen_questions.ts";
import type { CellRow, Frame } from "./frame.ts";
import { LiveOutput } from "./live_output.ts";
import { MessageModal, type MessageModalOptions } from "./message_modal.ts";
import { type Modal, ModalDriver, ModalStack } from "./modal.ts";
import type { AskingWay, ChoiceList, Screen } from "./screen.ts";

/** The parts of a screen beside the text printed on it, and the callbacks of its keys. */
interface LiveScreenOptions extends
  Pick<
    MessageModalOptions,
    | "color"
    | "accent"
    | "history"
    | "pasted"
    | "completer"
    | "band"
    | "onStop"
    | "rewind"
    | "overtakes"
    | "queuedNote"
    | "help"
    | "keymap"
  > {
  /** The progress of the turn, in rows with SGR; undefined while there is none. */
  activity: () => readonly string[] | undefined;
  /** The status line; with the mode of vim, where that is used. */
  footer: (lineMode?: string) => string;
  /** The style of the rule above the input line, as SGR; without it there is no rule. */
  rule?: (() => string) | undefined;
  /** False where the terminal shows ASCII alone. */
  unicode: boolean;
  /** Shift-Tab, where no list or question is open. */
  onShiftTab?: () => void;
  /** Called with the terminal's background, if it tells it in time; left out, it is not asked. */
  onBackground?: ((background: Background) => void) | undefined;
  /** Rows with SGR between the progress and the messages that wait. */
  panel?: () => readonly string[];
  /** Shows or hides these rows; false where there are none. */
  onTasks?: () => boolean;
  /** The title of the window, by what goes on: a question is open, a turn, or neither. */
  title?: ((state: "asks" | "works" | "waits") => string | undefined) | undefined;
  /** Ctrl-O: makes a modal that shows all of the conversation; left out, there is none. */
  transcript?: () => Promise<Modal<void> | undefined>;
  /** A signal, or the terminal is gone; the terminal is restored already. */
  onEnd: (signal: Deno.Signal) => void;
}

/** The progress is drawn again after this many milliseconds. */
const TICK_MS = 120;
/** Asks for the flags of kitty's keyboard protocol; only terminals that know it answer. */
const ASK_KEYBOARD = "\x1b[?u";
/** OSC 11 with `?`; a later answer, in milliseconds, is dropped: colours do not change amid a session. */
const ASK_BACKGROUND = "\x1b]11;?\x1b\\";
const BACKGROUND_MS = 50;
/** A terminal of fewer rows has no rule above the input line. */
const MIN_RULE_ROWS = 8;
/** The last characters of an unfinished line that are shown. */
const MAX_TAIL = 4096;
const HELD_HINT = "Enter sends what is held, Up edits it, Ctrl-C drops it";

/** Takes the terminal until it is disposed of. */
export class LiveScreen implements Screen {
  readonly isLive = true;
  readonly #output: LiveOutput;
  readonly #modals = new ModalStack();
  readonly #message: MessageModal;
  readonly #driver: ModalDriver;
  readonly #over = new AbortController();
  readonly #ring: { kills: KillRing } = { kills: [] };
  readonly #questions: ScreenQuestions;
  #hasAskedKeyboard = false;
  /** When the terminal was asked for its background. */
  #askedAt: number | undefined;
  #isFocused = true;
  #images: ClipboardImages | undefined;
  #tick: ReturnType<typeof setInterval> | undefined;

  constructor(
    private readonly options: LiveScreenOptions,
    private readonly terminal: Terminal = processTerminal(),
  ) {
    const { signal } = this.#over;
    // A terminal that is gone fails when it is written to, or ends the keys.
    const onGone = () => {
      if (!signal.aborted) this.#end("SIGHUP");
    };
    this.#output = new LiveOutput(terminal, (size) => this.#layout(size), onGone, signal);
    const { completer, history, pasted, band, onStop } = options;
    const { rewind, overtakes, queuedNote, help } = options;
    const isActive = () => this.#isActive();
    // A list that was waited for is there at once; keys that follow are shown with theirs.
    const onChange = () => terminal.keys.ready || this.#output.draw();
    this.#message = new MessageModal({
      ...this.#lineOptions("> "),
      ...{ completer, history, pasted, band, isActive, onStop, onChange },
      ...{ rewind, overtakes, queuedNote },
      ...help && { help },
      append: (lines) => this.#output.appendApart(withSigns(lines, options.unicode)),
      edit: (text) => this.#edit(text),
      dropped: droppedImages,
      pasteImage: () => this.#pasteImage(),
      // It stays open, whatever the colours become.
      get color() {
        return options.color;
      },
      get accent() {
        return options.accent;
      },
    });
    this.#modals.open(this.#message);
    this.#questions = new ScreenQuestions({
      ...{ terminal, modals: this.#modals, output: this.#output, message: this.#message, signal },
      lineOptions: (prompt) => this.#lineOptions(prompt),
    });
    const onKey = (key: Key) => this.#onKey(key);
    const onReport = (name: string) => this.#onReport(name);
    const onSignal = (signal: Deno.Signal) => this.#end(signal);
    const output = this.#output;
    const modals = this.#modals;
    const on = { onKey, onReport, onSignal };
    this.#driver = new ModalDriver({ terminal, modals, output, ...on, focus: true });
    // Deferred: the options may refer to objects that the caller makes after the screen.
    Promise.resolve().then(() => this.#driver.run(signal)).catch(() => {}).then(onGone);
  }

  async #pasteImage(): Promise<string | undefined> {
    const { ClipboardImages } = await import("../clipboard_image.ts");
    return await (this.#images ??= new ClipboardImages()).paste((line) => this.print(line));
  }

  print(text: string): void {
    const shown = withSigns(text, this.options.unicode);
    this.#questions.context = shown;
    this.#output.print(shown);
    this.#output.drawSoon();
  }

  stream(text: string): void {
    this.#output.stream(withSigns(text, this.options.unicode));
    this.#output.drawSoon();
  }

  #append(lines: string): void {
    this.#output.append(withSigns(lines, this.options.unicode));
  }

  echo(message: TextPart): void {
    this.#message.echo(message);
    this.#output.drawSoon();
  }

  update(): void {
    if (this.#isActive()) this.#tick ??= setInterval(() => this.#output.draw(), TICK_MS);
    else {
      clearInterval(this.#tick);
      this.#tick = undefined;
    }
    this.#output.drawSoon();
  }

  /** What was typed and not sent, oldest first. */
  get unsent(): readonly TextPart[] {
    return this.#message.unsent;
  }

  read(): Promise<TextPart | null> {
    if (this.#over.signal.aborted) return Promise.resolve(null);
    const message = this.#message.read();
    this.#output.drawSoon();
    this.#askKeyboard();
    this.#askBackground();
    return message;
  }

  ask(...question: Parameters<Screen["ask"]>) {
    return this.#questions.ask(...question);
  }

  /** The parts of a modal that its caller makes. */
  get modalParts() {
    return this.#questions.modalParts;
  }

  askHidden(...question: Parameters<Screen["askHidden"]>) {
    return this.#questions.askHidden(...question);
  }

  choose<T>(
    ...[list, signal, how]: [list: ChoiceList<T>, signal: AbortSignal, how?: AskingWay]
  ): Promise<T | null> {
    return this.#questions.choose(list, signal, how);
  }

  /** Opens a modal that its caller made; its result, as for {@linkcode ScreenQuestions.open}. */
  push<T>(modal: Modal<T>, signal: AbortSignal): Promise<T | null> {
    return this.#questions.open(modal, signal);
  }

  notify(text: string): void {
    // Terminals that show no notification ring, or mark the window.
    if (!this.#isFocused) this.terminal.write(`\x1b]9;${text}\x07\x07`);
  }

  copy(text: string): Copied {
    const { copied, sequence } = clipboardSequence(text);
    if (sequence !== "") this.terminal.write(sequence);
    return copied;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#tick);
    this.#over.abort();
    unlessGone(() => this.terminal.write(this.#output.end().replaceAll("\n", "\r\n")));
    this.#driver[Symbol.dispose]();
    this.#images?.[Symbol.dispose]();
  }

  /** Asks once, when the first prompt is there: nobody waits for the answer. */
  #askKeyboard(): void {
    if (this.#hasAskedKeyboard) return;
    this.#hasAskedKeyboard = true;
    this.terminal.write(ASK_KEYBOARD);
  }

  /** Asks for the background once, when the first prompt is there: nobody waits for the answer. */
  #askBackground(): void {
    if (this.options.onBackground === undefined || this.#askedAt !== undefined) return;
    this.#askedAt = this.terminal.now();
    this.terminal.write(ASK_BACKGROUND);
  }

  #takeBackground(background: Background): void {
    const { onBackground } = this.options;
    const isInTime = this.terminal.now() - (this.#askedAt ?? -Infinity) <= BACKGROUND_MS;
    if (!isInTime || onBackground === undefined) return;
    onBackground(background);
    this.update();
  }

  #isActive(): boolean {
    return this.options.activity() !== undefined;
  }

  /** The options that the input line and questions have in common. */
  #lineOptions(prompt: string) {
    return {
      prompt,
      color: this.options.color,
      accent: this.options.accent,
      unicode: this.options.unicode,
      ring: this.#ring,
      keymap: this.options.keymap,
      append: (lines: string) => this.#append(lines),
      columns: () => this.terminal.size().columns,
    };
  }

  #layout(size: TerminalSize): Frame {
    const { title, unicode } = this.options;
    const { isFullScreen } = this.#modals;
    const frame = isFullScreen ? this.#modals.layout(size) : this.#layoutEnd(size);
    const isAsking = (this.#isAsking() || this.#questions.isComing) && !isFullScreen;
    return {
      ...frame,
      rows: unicode ? frame.rows : frame.rows.map(asciiRow),
      title: title?.(isAsking ? "asks" : this.#isActive() ? "works" : "waits"),
    };
  }

  #layoutEnd({ columns, rows }: TerminalSize): Frame {
    const { color } = this.options;
    const dim = color && "\x1b[2m";
    const isAsking = this.#isAsking() || this.#questions.isComing;
    const activity = isAsking ? undefined : this.options.activity();
    const { tail } = this.#output;
    const above: CellRow[] = tail === "" ? [] : styledRows(tail.slice(-MAX_TAIL), columns);
    for (const row of activity ?? []) above.push(styledRow(row, columns));
    if (!isAsking || this.#questions.hasPanel) {
      for (const row of this.options.panel?.() ?? []) above.push(styledRow(row, columns));
    }
    for (const row of this.#message.queuedRows) above.push(styledRow(dim + row, columns));
    if (!this.#isAsking()) above.push(...this.#questions.comingRows({ columns, rows }, dim));
    if (this.#message.isHeld && this.#isIdle(activity)) {
      above.push(styledRow(`${dim}${HELD_HINT}`, columns));
    }
    if (rows >= MIN_RULE_ROWS && !isAsking) above.push(...this.#rule(columns));
    const footer = rows > 3 ? [styledRow(`${dim}${this.#status()}`, columns)] : [];
    const most = rows - footer.length - Math.min(above.length, rows >> 1);
    const input = this.#modals.layout({ columns, rows: most });
    const room = Math.max(0, rows - footer.length - input.rows.length);
    const shown = room === 0 ? [] : above.slice(-room);
    return {
      rows: [...shown, ...input.rows, ...footer],
      cursor: { ...input.cursor, row: shown.length + input.cursor.row },
    };
  }

  /** Has `text` edited in the person's editor; says why where that fails. */
  async #edit(text: string): Promise<string | undefined> {
    const { editInProgram } = await import("../external_editor.ts");
    const edited = await editInProgram(text, (run) => this.#driver.lend(run));
    if (edited.failure !== undefined) this.print(`· ${edited.failure}`);
    return edited.text;
  }

  #rule(columns: number): CellRow[] {
    const { rule, unicode } = this.options;
    return rule
      ? [Array(columns).fill({ text: unicode ? "─" : "-", width: 1, style: rule() })]
      : [];
  }

  #status(): string {
    const { isLeaving, isRewinding, state } = this.#message;
    if (isLeaving) return "Ctrl-C again leaves";
    if (isRewinding) return "Esc again lists messages to go back to";
    return this.options.footer(this.#isAsking() ? undefined : state.vi?.mode);
  }

  /** True at an empty line, amid nothing. */
  #isIdle(activity: readonly string[] | undefined): boolean {
    return !this.#isAsking() && activity === undefined && this.#message.state.units.length === 0;
  }

  #isAsking(): boolean {
    return this.#modals.depth > 1;
  }

  #onReport(name: string): void {
    if (name === KITTY_KEY) return this.#driver.useKitty();
    if (name.startsWith(BACKGROUND_KEY)) {
      return this.#takeBackground(name.slice(BACKGROUND_KEY.length) as Background);
    }
    // Who comes back to the window may type at once.
    this.#questions.keyTime = this.terminal.now();
    this.#isFocused = name === "focus-in";
  }

  /** Keys that mean the same whatever modal is open. */
  #onKey(key: Key): boolean | Promise<boolean> {
    this.#questions.keyTime = this.terminal.now();
    if (key.name !== "ctrl-c") this.#message.isLeaving = false;
    this.#message.wasSearching = this.#message.search !== undefined;
    const { onShiftTab, keymap = DEFAULT_KEYMAP } = this.options;
    const action = keymap.bindings.get(key.name ?? "");
    if (action === "next-mode" && onShiftTab && !this.#isAsking() && !this.#message.hasMenu) {
      onShiftTab();
      return true;
    }
    const { onTasks } = this.options;
    if (action === "tasks" && onTasks && !this.#modals.isFullScreen) {
      if (!onTasks()) this.terminal.write("\x07");
      return true;
    }
    if (action !== "transcript" || this.#modals.isFullScreen) return false;
    return this.#openTranscript();
  }

  async #openTranscript(): Promise<boolean> {
    const modal = await this.options.transcript?.();
    if (modal === undefined || this.#over.signal.aborted) return false;
    void this.#modals.open(modal);
    return true;
  }

  #end(signal: Deno.Signal): void {
    this.#over.abort();
    this.options.onEnd(signal);
    this.#modals.closeAll();
    this.#message.give(null);
  }
}

const asciiRow = (row: CellRow): CellRow =>
  row.map((cell) => cell.text <= "\x7f" ? cell : { ...cell, text: asciiSign(cell.text) });
