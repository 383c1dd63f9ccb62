/** The screen of a session: scrollback, and below it rows that change: progress, the top modal, the status. @module */

import { attempt } from "../../../attempt.ts";
import { asciiSign, withSigns } from "../../../text/signs.ts";
import type { TextPart } from "../../../types/message.ts";
import { clipboardSequence, type Copied } from "../clipboard.ts";
import { ClipboardImages, droppedImages } from "../dropped_images.ts";
import { canMoveCommand, DEFAULT_KEYMAP } from "../line/actions.ts";
import { BACKGROUND_KEY, type Key, KITTY_KEY } from "../line/keys.ts";
import type { KillRing } from "../line/state.ts";
import { type Background, DIM } from "../style.ts";
import { cellsOf, styledRow, styledRows } from "../styled.ts";
import { entryUnits } from "../units.ts";
import { processTerminal, type Terminal, type TerminalSize } from "../tty.ts";
import { type CellRow, type Frame, widthOf } from "./frame.ts";
import { LiveOutput } from "./live_output.ts";
import { MessageModal, type MessageModalOptions, QuestionModal } from "./message_modal.ts";
import { type Modal, ModalDriver, ModalStack } from "./modal.ts";
import { ListModal } from "./list_modal.ts";
import type { ChoiceList, QuestionTiming, Screen } from "./screen.ts";
import { editInProgram } from "../external_editor.ts";

type OwnLineOptions = "prompt" | "ring" | "append" | "columns" | "edit" | "dropped" | "pasteImage";

type Caption = { text: string; time: string };

interface LiveScreenOptions
  extends Omit<MessageModalOptions, OwnLineOptions | "isActive" | "onChange"> {
  activity: () => readonly string[] | undefined;
  /** The status line, with SGR; `lineMode` is the mode of vim. */
  footer: (lineMode?: string) => string;
  caption?: () => Caption | undefined;
  unicode: boolean;
  /** The session's folder; undefined before it is known. */
  folder?: () => string | undefined;
  onShiftTab?: () => void;
  /** Called with the terminal's background; without it, the terminal is not asked. */
  onBackground?: ((background: Background) => void) | undefined;
  /** The steps of long work, in rows with SGR. */
  panel?: () => readonly string[];
  /** Ctrl-B at an empty line: moves the running command to the background; false if no command runs. */
  moveToBackground?: () => boolean;
  onTasks?: () => boolean;
  title?: ((state: "asks" | "works" | "waits") => string | undefined) | undefined;
  transcript?: () => Modal<void> | undefined;
  /** Called after a signal, or once the terminal is gone. The terminal is already restored. */
  onEnd: (signal: Deno.Signal) => void;
}

const TICK_MS = 120;
/** Asks for the flags of kitty's keyboard protocol; only terminals that know it answer. */
const ASK_KEYBOARD = "\x1b[?u";
/** OSC 11. */
const ASK_BACKGROUND = "\x1b]11;?\x1b\\";
const MIN_RULE_ROWS = 8;
const MAX_TAIL = 4096;
/** No question is answered by accident: it accepts keys after so many milliseconds without one. */
const QUESTION_QUIET_MS = 300;
/** The same for a user who is in the middle of a line: the Enter that sends it must not answer. */
const DRAFT_QUIET_MS = 1000;
/** The rows below such a question: the rule, the input line, the status, and a spare one. */
const COMING_MARGIN = 4;
/** Shown in place of the row above the answers until then. */
const QUESTION_COMES = "Stop typing to answer:";

/** Uses the terminal until it is disposed of. */
export class LiveScreen implements Screen {
  readonly isLive = true;
  readonly #output: LiveOutput;
  readonly #modals = new ModalStack();
  readonly #message: MessageModal;
  readonly #driver: ModalDriver;
  readonly #closed = new AbortController();
  readonly #ring: { kills: KillRing } = { kills: [] };
  /** The time of the last key. */
  #keyTime = 0;
  /** True while a list is open that the user asked for. */
  #isPicker = false;
  /** The question that is drawn, but accepts no keys yet. */
  #coming: Modal | undefined;
  #hasAskedKeyboard = false;
  #hasAskedBackground = false;
  #isFocused = true;
  #head: (() => string) | undefined;
  #images: ClipboardImages | undefined;
  #tick: ReturnType<typeof setInterval> | undefined;

  constructor(
    private readonly options: LiveScreenOptions,
    private readonly terminal: Terminal = processTerminal(),
  ) {
    const { signal } = this.#closed;
    const modals = this.#modals;
    // A terminal that is gone rejects a write or ends the keys.
    const onGone = () => {
      if (!signal.aborted) this.#end("SIGHUP");
    };
    const output = new LiveOutput(terminal, (size) => this.#layout(size), onGone, signal);
    this.#output = output;
    const message = new MessageModal({
      ...options,
      ...this.#lineOptions("> "),
      isActive: () => this.#isActive(),
      // More keys are drawn together.
      onChange: () => terminal.keys.ready || output.draw(),
      append: (lines) => output.appendApart(withSigns(lines, options.unicode)),
      edit: (text) => this.#edit(text),
      dropped: droppedImages,
      pasteImage: async () => {
        const images = this.#images ??= new ClipboardImages();
        return await images.paste((line) => this.print(line), options.folder?.());
      },
    });
    this.#message = message;
    modals.open(message);
    this.#driver = new ModalDriver({
      terminal,
      modals,
      output,
      focus: true,
      onKey: (key) => this.#onKey(key),
      onReport: (name) => this.#onReport(name),
      onSignal: (signal) => this.#end(signal),
    });
    // Deferred: the options may refer to objects that the caller creates after the screen.
    Promise.resolve().then(() => this.#driver.run(signal)).catch(() => {}).then(onGone);
  }

  print(text: string): void {
    this.#output.print(withSigns(text, this.options.unicode));
    this.#output.drawSoon();
  }

  stream(text: string): void {
    this.#output.stream(withSigns(text, this.options.unicode));
    this.#output.drawSoon();
  }

  /** Shows text that may still change above the line, until other text is printed. */
  showHead(text: () => string): void {
    this.#head = text;
    // A question may come before the first line.
    this.#askBackground();
    this.#output.head = () => withSigns(text(), this.options.unicode);
    this.#output.drawSoon();
  }

  get hasHead(): boolean {
    return this.#output.head !== undefined;
  }

  echo(message: TextPart): void {
    this.#message.echo(message);
    this.#output.drawSoon();
  }

  clear(): void {
    this.#output.discardScreen();
    if (this.#head) this.showHead(this.#head);
  }

  takeSteering(): TextPart[] {
    return this.#message.takeSteering();
  }

  put(message: TextPart): boolean {
    const isPut = this.#message.put(message);
    this.#output.drawSoon();
    return isPut;
  }

  queue(message: TextPart): void {
    this.#message.enqueue(entryUnits(message));
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

  read(): Promise<TextPart | null> {
    if (this.#closed.signal.aborted) return Promise.resolve(null);
    const message = this.#message.read();
    this.#output.drawSoon();
    this.#askTerminal();
    return message;
  }

  readonly ask: Screen["ask"] = (prompt, objection, signal, how = {}) => {
    const { text = "", isHidden = false } = how;
    const options = this.#lineOptions(prompt);
    const modal = new QuestionModal({
      ...options,
      // Text cut from a hidden line cannot be pasted into another one.
      ring: isHidden ? { kills: [] } : options.ring,
      ...{ text, objection, isHidden, onCancel: () => this.#message.hold() },
    });
    return this.open(modal, signal, how);
  };

  readonly choose = <T>(
    list: ChoiceList<T>,
    signal: AbortSignal,
    // A user who asked for a list expects that it accepts the next key.
    how: QuestionTiming = { waits: false },
  ): Promise<T | null> => {
    const modal = new ListModal<T>({ ...list, sgr: this.options.sgr });
    this.#isPicker = how.waits === false;
    return this.open(modal, signal, how).finally(() => this.#isPicker = false);
  };

  /** The parts of a modal that edits lines. */
  get modalParts() {
    const { sgr, ring, keymap } = this.#lineOptions("");
    return { sgr, ring, keymap, onCancel: () => this.#message.hold() };
  }

  /** Opens `modal`, by default after a quiet moment; null once `signal` is aborted, or with `yields` if a message waits. */
  async open<T>(
    modal: Modal<T>,
    signal: AbortSignal,
    { waits = true, yields = false }: QuestionTiming = {},
  ): Promise<T | null> {
    const [modals, output, message] = [this.#modals, this.#output, this.#message];
    if (waits) {
      // A modal on the whole screen hides the question.
      if (modals.isFullScreen) await this.#awaitQuiet(signal);
      if (!signal.aborted) modals.closeFullScreen();
      if (message.state.units.length > 0) modal.unselect?.();
      this.#coming = modal;
      output.draw();
      await this.#awaitQuiet(signal);
      if (message.state.units.length > 0) modal.unselect?.();
      // No frame is drawn without the question.
      this.#coming = undefined;
    }
    const isNeedless = yields && message.queued.length > 0;
    if (isNeedless || signal.aborted || this.#closed.signal.aborted) {
      output.drawSoon();
      return null;
    }
    const onAbort = () => modals.close(modal);
    signal.addEventListener("abort", onAbort);
    try {
      const result = modals.open(modal);
      output.draw();
      return await result;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  notify(text: string): void {
    // Terminals without notifications ring.
    if (!this.#isFocused) this.terminal.write(`\x1b]9;${text}\x07\x07`);
  }

  copy(text: string): Copied {
    const { copied, sequence } = clipboardSequence(text);
    if (sequence !== "") this.terminal.write(sequence);
    return copied;
  }

  [Symbol.dispose](): void {
    this.#message.give(null);
    clearInterval(this.#tick);
    this.#closed.abort();
    attempt(() => this.terminal.write(this.#output.end().replaceAll("\n", "\r\n")));
    this.#driver[Symbol.dispose]();
    this.#images?.[Symbol.dispose]();
  }

  /** Asks for the keyboard and the background once, without waiting for the answers. */
  #askTerminal(): void {
    if (!this.#hasAskedKeyboard) this.terminal.write(ASK_KEYBOARD);
    this.#hasAskedKeyboard = true;
    this.#askBackground();
  }

  #askBackground(): void {
    if (this.options.onBackground === undefined || this.#hasAskedBackground) return;
    this.#hasAskedBackground = true;
    this.terminal.write(ASK_BACKGROUND);
  }

  #isActive(): boolean {
    return this.options.activity() !== undefined;
  }

  #lineOptions(prompt: string) {
    const { sgr, unicode, keymap } = this.options;
    return {
      prompt,
      sgr,
      keymap,
      ring: this.#ring,
      append: (lines: string) => this.#output.append(withSigns(lines, unicode)),
      columns: () => this.terminal.size().columns,
    };
  }

  #layout(size: TerminalSize): Frame {
    const { title, unicode } = this.options;
    const { isFullScreen } = this.#modals;
    const frame = isFullScreen ? this.#modals.layout(size) : this.#layoutEnd(size);
    const isAsking = (this.#isAsking() || this.#coming) && !isFullScreen;
    const name = title?.(isAsking ? "asks" : this.#isActive() ? "works" : "waits");
    return {
      ...frame,
      rows: unicode ? frame.rows : frame.rows.map(asciiRow),
      title: name && withSigns(name, unicode),
    };
  }

  #layoutEnd({ columns, rows }: TerminalSize): Frame {
    const { sgr, panel } = this.options;
    const dim = sgr(DIM);
    const isAsking = this.#isAsking() || this.#coming !== undefined;
    const activity = isAsking ? undefined : this.options.activity();
    const { head, tail } = this.#output;
    const above: CellRow[] = tail === "" ? [] : styledRows(tail.slice(-MAX_TAIL), columns);
    const add = (texts: readonly string[]) =>
      above.push(...texts.map((text) => styledRow(text, columns)));
    if (head) add([...head().split("\n"), ""]);
    else if (this.#isPicker && !this.#output.endsBlank) add([""]);
    add(activity ?? []);
    add(panel?.() ?? []);
    add(this.#message.queuedRows);
    const hint = isAsking ? "" : this.#message.queuedHint;
    if (hint !== "") add([dim + hint]);
    if (this.#isAsking()) add(this.#message.draftRows.map((row) => dim + row));
    else above.push(...this.#comingRows({ columns, rows }, dim));
    if (rows >= MIN_RULE_ROWS && !isAsking) {
      above.push(ruleRow(columns, dim, this.options.caption?.()));
    }
    const footer = rows > 3 ? [styledRow(this.#status(dim), columns)] : [];
    const most = rows - footer.length -
      Math.min(above.length, this.#message.isHelp ? 1 : rows >> 1);
    const input = this.#modals.layout({ columns, rows: most });
    const room = Math.max(0, rows - footer.length - input.rows.length);
    const shown = room === 0 ? [] : above.slice(-room);
    return {
      rows: [...shown, ...input.rows, ...footer],
      cursor: { ...input.cursor, row: shown.length + input.cursor.row },
    };
  }

  #status(dim: string): string {
    const { isLeaving, isRewinding, state } = this.#message;
    if (isLeaving) return `${dim}Press Ctrl-C again to exit`;
    if (isRewinding) return `${dim}Press Esc again to rewind to a message`;
    return this.options.footer(this.#isAsking() ? undefined : state.vi?.mode);
  }

  #comingRows({ columns, rows }: TerminalSize, dim: string): CellRow[] {
    if (this.#coming === undefined) return [];
    const room = Math.max(rows >> 1, rows - COMING_MARGIN);
    const { rows: coming, cursor } = this.#coming.layout({ columns, rows: room });
    const title = Math.max(0, cursor.row - 1);
    return coming.map((row, at) =>
      at === title
        ? styledRow(`${dim}${QUESTION_COMES}`, columns)
        : row.map((cell) => ({ ...cell, style: dim }))
    );
  }

  async #awaitQuiet(signal: AbortSignal): Promise<void> {
    const { terminal } = this;
    const start = terminal.now();
    const quiet = () => this.#message.state.units.length > 0 ? DRAFT_QUIET_MS : QUESTION_QUIET_MS;
    const left = () => quiet() - (terminal.now() - Math.max(start, this.#keyTime));
    for (let isQuiet = false; !signal.aborted && !isQuiet;) {
      // Keys are not read while an outcome is pending: a full pause follows it.
      const wasWaiting = this.#modals.isWaiting;
      await terminal.pause(wasWaiting ? quiet() : left(), signal);
      isQuiet = !wasWaiting && !this.#modals.isWaiting && left() <= 0;
    }
  }

  async #edit(text: string): Promise<string | undefined> {
    const lend = (run: () => Promise<Deno.CommandStatus>) => this.#driver.lend(run);
    const edited = await editInProgram(text, lend, this.options.folder?.());
    if (edited.failure !== undefined) this.print(`· ${edited.failure}`);
    return edited.text;
  }

  #isAsking(): boolean {
    return this.#modals.depth > 1;
  }

  #onReport(name: string): void {
    const { onBackground } = this.options;
    const now = this.terminal.now();
    if (name === KITTY_KEY) this.#driver.useKitty();
    else if (name.startsWith(BACKGROUND_KEY)) {
      if (!this.#hasAskedBackground) return;
      onBackground?.(name.slice(BACKGROUND_KEY.length) as Background);
      this.update();
    } else {
      // A user who returns to the window may type at once.
      this.#keyTime = now;
      this.#isFocused = name === "focus-in";
    }
  }

  /** Handles the keys that do the same whichever modal is open. */
  #onKey(key: Key): boolean {
    this.#keyTime = this.terminal.now();
    if (key.name !== "ctrl-c") this.#message.isLeaving = false;
    if (key.name !== "escape") this.#message.isRewinding = false;
    this.#message.wasSearching = this.#message.search !== undefined;
    const { onShiftTab, onTasks, keymap = DEFAULT_KEYMAP } = this.options;
    const action = keymap.bindings.get(key.name ?? "");
    if (action === "next-mode" && onShiftTab && !this.#isAsking() && !this.#message.hasMenu) {
      onShiftTab();
      return true;
    }
    if (this.#modals.isFullScreen) return false;
    const isFree = this.#message.state.units.length === 0 && !this.#isAsking();
    const mayMove = key.name === "ctrl-b" && canMoveCommand(keymap);
    if (mayMove && isFree && this.options.moveToBackground?.()) return true;
    const command = keymap.commands.get(key.name ?? "");
    if (command !== undefined && isFree) {
      this.#message.submit(entryUnits({ text: command }));
      return true;
    }
    if (action === "tasks" && onTasks) {
      if (!onTasks()) this.terminal.write("\x07");
      return true;
    }
    return action === "transcript" && this.#openTranscript();
  }

  #openTranscript(): boolean {
    const modal = this.options.transcript?.();
    if (modal === undefined || this.#closed.signal.aborted) return false;
    void this.#modals.open(modal);
    return true;
  }

  #end(signal: Deno.Signal): void {
    this.#closed.abort();
    this.options.onEnd(signal);
    this.#modals.closeAll();
    this.#message.give(null);
  }
}

/** The rule above the line: `── Fix the tests ───── 2:14 ──`. */
function ruleRow(columns: number, style: string, caption?: Caption): CellRow {
  const plain = (width: number) => cellsOf("─".repeat(Math.max(0, width)), style);
  if (caption === undefined) return plain(columns);
  const end = cellsOf(` ${caption.time} ──`, style);
  const text = styledRow(`${style}${caption.text}`, Math.max(1, columns - end.length - 5));
  const start = [...plain(2), ...cellsOf(" ", style), ...text, ...cellsOf(" ", style)];
  return [...start, ...plain(columns - widthOf(start) - end.length), ...end].slice(0, columns);
}

const asciiRow = (row: CellRow): CellRow =>
  row.map((cell) => cell.text <= "\x7f" ? cell : { ...cell, text: asciiSign(cell.text) });
