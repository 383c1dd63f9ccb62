/**
 * The screen of a session: ordinary scrollback, and below it a few rows that change in place: what
 * is being written, what goes on, the input, the status.
 *
 * @module
 */

import { type Completer, completeWith } from "../line/completion.ts";
import type { Frame, Row } from "./frame.ts";
import { asPressed, type Key } from "../line/keys.ts";
import { layoutLine } from "./layout.ts";
import {
  cleared,
  finished,
  type LineState,
  lineState,
  lineText,
  withHistory,
} from "../line/state.ts";
import { type LiveOutput, liveOutput } from "./live_output.ts";
import type { Size } from "./live_region.ts";
import { press } from "../line/press.ts";
import type { Screen } from "./screen.ts";
import { show, stdinKeys } from "../stdin.ts";
import { brokenRow, rowsText, styledRow, styledRows } from "../styled.ts";
import { type RawTerminal, rawTerminal, terminalSize } from "../tty.ts";
import { sanitizeProse } from "../../text/sanitize.ts";

/** What a screen shows and does, beside what it is told to print. */
export interface LiveScreenOptions {
  /** An SGR sequence for the prompt, or empty: no colours at all then. */
  color: string;
  /** What Up and Ctrl-R find, oldest first; asked for before each message. */
  history: () => readonly string[];
  completer?: Completer | undefined;
  /** What goes on, in one line with SGR; undefined while nothing does. */
  activity: () => string | undefined;
  /** The status line. */
  footer: () => string;
  /** Ctrl-C or Escape while something goes on. */
  onStop: () => void;
  /** Ctrl-O: shows what was folded. */
  onUnfold: () => void;
  /** A signal, or the terminal is gone; the terminal is restored already. */
  onEnd: (signal: Deno.Signal) => void;
}

/** What goes on is shown anew every so many milliseconds. */
const TICK_MS = 120;
/** A question appears only when no key was pressed for so long: none is answered by accident. */
const QUIET_MS = 200;
/** Of an unfinished line so many characters are shown. */
const MAX_TAIL = 4096;

interface Question {
  /** What was printed before it. */
  about: string;
  prompt: string;
  line: LineState;
  objection(line: string): string | undefined;
  answer(text: string | null): void;
}

/** Takes the terminal until it is disposed of. */
export function liveScreen(options: LiveScreenOptions): Screen {
  return new LiveScreen(options);
}

class LiveScreen implements Screen {
  readonly #options: LiveScreenOptions;
  readonly #keys = stdinKeys();
  readonly #terminal: RawTerminal;
  readonly #output: LiveOutput;
  readonly #over = new AbortController();
  readonly #began = performance.now();
  readonly #queued: string[] = [];
  #kills: LineState["kills"] = [];
  #line: LineState;
  #question: Question | undefined;
  #reader: ((text: string | null) => void) | undefined;
  /** The first row of the input that is seen. */
  #top = 0;
  /** What was printed last. */
  #printed = "";
  #lastKey = 0;
  #focused = true;
  #suspended = false;
  /** The turn was stopped: what was queued for after it waits for Enter. */
  #held = false;
  /** Ctrl-C was the last key: one more leaves. */
  #leaving = false;
  #tick: ReturnType<typeof setInterval> | undefined;

  constructor(options: LiveScreenOptions) {
    this.#options = options;
    this.#line = this.#newLine();
    this.#output = liveOutput(
      (size) => this.#layout(size),
      // What comes while somebody else has the terminal is shown when it is ours again.
      () => !this.#over.signal.aborted && !this.#suspended,
      () => this.#gone(),
    );
    this.#terminal = rawTerminal({
      focus: true,
      onRedraw: (resumed) => {
        if (resumed) {
          this.#suspended = false;
          this.#output.reset();
          if (this.#question) this.#output.prepend(`${this.#question.about}\n`);
        }
        this.#output.draw();
      },
      onLeave: () => this.#output.below(),
      onSignal: (signal) => this.#end(signal),
    });
    // Not at once: what the options refer to may be made after the screen.
    Promise.resolve().then(() => this.#readKeys()).catch(() => this.#gone());
  }

  print(text: string): void {
    this.#printed = text;
    this.#output.print(text);
    this.#output.drawSoon();
  }

  stream(text: string): void {
    this.#output.stream(text);
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

  read(): Promise<string | null> {
    if (this.#over.signal.aborted) return Promise.resolve(null);
    // The line was begun before the message ahead of it became a part of the history.
    this.#line = withHistory(this.#line, [...this.#options.history()]);
    return new Promise((resolve) => {
      this.#reader = resolve;
      this.#sendQueued();
      this.#output.drawSoon();
    });
  }

  async ask(
    prompt: string,
    objection: (line: string) => string | undefined,
    signal: AbortSignal,
    text = "",
  ): Promise<string | null> {
    const about = this.#printed;
    do await pause(QUIET_MS, signal); while (
      !signal.aborted && performance.now() - this.#lastKey < QUIET_MS
    );
    if (signal.aborted || this.#over.signal.aborted) return null;
    return await new Promise((resolve) => {
      const onAbort = () => {
        this.#question = undefined;
        resolve(null);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#question = {
        about,
        prompt,
        objection,
        line: lineState({ kills: this.#kills, multiline: false, text }),
        answer(text) {
          signal.removeEventListener("abort", onAbort);
          resolve(text);
        },
      };
      this.#output.drawSoon();
    });
  }

  notify(text: string): void {
    if (!this.#focused) show(`\x1b]9;${text}\x07`);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#tick);
    this.#over.abort();
    try {
      show(this.#output.end().replaceAll("\n", "\r\n"));
    } catch {
      // The terminal is gone.
    }
    this.#terminal[Symbol.dispose]();
  }

  #isActive(): boolean {
    return this.#options.activity() !== undefined;
  }

  #newLine(text = ""): LineState {
    // A copy: who keeps the history adds to it while the line is edited.
    return lineState({ history: [...this.#options.history()], kills: this.#kills, text });
  }

  #layout({ columns, rows }: Size): Frame {
    const { color } = this.#options;
    const dim = color && "\x1b[2m";
    const activity = this.#question ? undefined : this.#options.activity();
    const { tail } = this.#output;
    const above: Row[] = tail === "" ? [] : styledRows(tail.slice(-MAX_TAIL), columns);
    if (activity !== undefined) above.push([], styledRow(activity, columns));
    for (const text of this.#queued) {
      const start = sanitizeProse(text.slice(0, MAX_TAIL).replace(/\s+/g, " "));
      above.push(styledRow(`${dim}${this.#held ? "held" : "queued"}: ${start}`, columns));
    }
    const footer = rows > 3 ? [styledRow(`${dim}${this.#status(activity)}`, columns)] : [];
    const input = layoutLine(this.#question?.line ?? this.#line, {
      prompt: this.#question?.prompt ?? "> ",
      color,
      columns,
      maxRows: Math.max(1, rows - footer.length - Math.min(above.length, rows >> 1)),
      top: this.#top,
    });
    this.#top = input.top;
    const room = Math.max(0, rows - footer.length - input.rows.length);
    const kept = room === 0 ? [] : above.slice(-room);
    return {
      rows: [...kept, ...input.rows, ...footer],
      cursor: { ...input.cursor, row: kept.length + input.cursor.row },
    };
  }

  #status(activity: string | undefined): string {
    if (this.#leaving) return "Ctrl-C again leaves";
    const isIdle = !this.#question && activity === undefined && this.#line.units.length === 0;
    return this.#held && isIdle
      ? "Enter sends what is held, Up edits it, Ctrl-C drops it"
      : this.#options.footer();
  }

  /** A line that was typed, whole, as it stays on the screen. */
  #whole(state: LineState, prompt: string): string {
    const { columns } = terminalSize();
    const whole = { prompt, color: this.#options.color, columns: Infinity, maxRows: Infinity };
    const { rows } = layoutLine(finished(state), whole);
    return rowsText(rows.flatMap((row) => brokenRow(row, columns)));
  }

  async #readKeys(): Promise<void> {
    for (;;) {
      if (!this.#keys.ready) this.#output.draw();
      const key = await this.#keys.next(this.#over.signal);
      if (this.#over.signal.aborted) return;
      if (key === null) return this.#gone();
      this.#lastKey = performance.now();
      await this.#pressed(asPressed(key, this.#lastKey - this.#began));
    }
  }

  async #pressed(key: Key): Promise<void> {
    if (key.type !== "key" || !/^(ctrl-c|focus-.*)$/.test(key.name)) this.#leaving = false;
    if (key.type === "key" && this.#handled(key.name)) return;
    const { state, effect } = press(this.#question?.line ?? this.#line, key);
    this.#kills = state.kills;
    if (this.#question) this.#question.line = state;
    else this.#line = state;
    switch (effect) {
      case "submit":
        return this.#question ? this.#answer(lineText(state)) : this.#submit(lineText(state));
      case "cancel":
        return this.#cancel();
      case "end":
        if (this.#question) return this.#answer(null);
        return this.#isActive() ? show("\x07") : this.#give(null);
      case "clear":
        return this.#output.clearScreen();
      case "suspend":
        this.#suspended = true;
        return await this.#terminal.suspend();
      case "complete":
        return await this.#complete(state);
      case "bell":
        return show("\x07");
    }
  }

  /** Does what a key means whatever is edited; whether it means anything then. */
  #handled(name: string): boolean {
    const isPlain = this.#line.search === undefined && this.#line.menu === undefined;
    const isBusy = this.#question !== undefined || this.#isActive();
    if (name.startsWith("focus-")) this.#focused = name === "focus-in";
    else if (name === "ctrl-o") this.#options.onUnfold();
    else if (name === "escape" && isPlain && isBusy) this.#cancel();
    else if (
      name === "up" && !this.#question && this.#line.units.length === 0 && this.#queued.length > 0
    ) {
      this.#line = this.#newLine(this.#queued.pop());
      this.#held &&= this.#queued.length > 0;
    } else return false;
    return true;
  }

  async #complete(state: LineState): Promise<void> {
    const next = this.#question ? undefined : await completeWith(this.#options.completer, state);
    if (next === undefined) show("\x07");
    else this.#line = next;
  }

  #answer(text: string | null): void {
    const asked = this.#question!;
    this.#output.append(this.#whole(asked.line, asked.prompt));
    const wrong = text === null ? undefined : asked.objection(text);
    if (wrong !== undefined) {
      this.#output.append(`${wrong}\n`);
      asked.line = lineState({ kills: this.#kills, multiline: false });
      return;
    }
    this.#question = undefined;
    asked.answer(text);
  }

  #submit(text: string): void {
    if (text.trim() === "") {
      this.#held = false;
      return this.#sendQueued();
    }
    const whole = this.#whole(this.#line, "> ");
    this.#line = this.#newLine();
    if (this.#isActive() || this.#reader === undefined) this.#queued.push(text);
    else this.#send(text, whole);
  }

  /** The oldest message that waits, if any does and somebody reads. */
  #sendQueued(): void {
    if (this.#held || this.#reader === undefined) return;
    const text = this.#queued.shift();
    if (text !== undefined) this.#send(text, this.#whole(lineState({ text }), "> "));
  }

  #send(text: string, shown: string): void {
    this.#output.append(shown);
    this.#give(text);
  }

  /** To whoever reads; null: there is no next message. */
  #give(text: string | null): void {
    const reader = this.#reader;
    this.#reader = undefined;
    reader?.(text);
  }

  #cancel(): void {
    if (this.#question !== undefined || this.#isActive()) {
      this.#held = this.#queued.length > 0;
      return this.#question ? this.#answer(null) : this.#options.onStop();
    }
    if (this.#line.units.length > 0) this.#line = cleared(this.#line);
    else if (this.#held) {
      this.#queued.length = 0;
      this.#held = false;
      return;
    } else if (this.#leaving) return this.#give(null);
    this.#leaving = true;
  }

  /** A terminal that is gone fails when it is written to, or ends what is read. */
  #gone(): void {
    if (!this.#over.signal.aborted) this.#end("SIGHUP");
  }

  #end(signal: Deno.Signal): void {
    this.#over.abort();
    this.#options.onEnd(signal);
    this.#question?.answer(null);
    this.#reader?.(null);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done, { once: true });
  });
}
