/**
 * The screen of a session: ordinary scrollback, and below it a few rows that change in place: what
 * is being written, what goes on, the input, the status.
 *
 * @module
 */

import { type Completer, completeWith } from "./completion.ts";
import type { Frame, Row } from "./frame.ts";
import type { Key } from "./keys.ts";
import { layoutLine } from "./layout.ts";
import {
  cleared,
  finished,
  type LineState,
  lineState,
  lineText,
  withHistory,
} from "./line_state.ts";
import { liveRegion, type Size } from "./live_region.ts";
import { press } from "./press.ts";
import type { Screen } from "./screen.ts";
import { show, stdinKeys } from "./stdin.ts";
import { brokenRow, rowsText, styledRow, styledRows } from "./styled.ts";
import { rawTerminal, terminalSize } from "./tty.ts";
import { sanitizeProse } from "../text/sanitize.ts";

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

/** A frame of streamed text every so many milliseconds at most. */
const FRAME_MS = 33;
/** What goes on is shown anew every so many milliseconds. */
const TICK_MS = 120;
/** A question appears only when no key was pressed for so long: none is answered by accident. */
const QUIET_MS = 200;
/** Enter pressed before raw mode, which the terminal made a line feed, is there by then. */
const EARLY_MS = 300;
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
  const { color } = options;
  const keys = stdinKeys();
  const dim = color && "\x1b[2m";
  const region = liveRegion();
  const over = new AbortController();
  const queued: string[] = [];
  let kills: LineState["kills"] = [];
  let line = newLine();
  let question: Question | undefined;
  let reader: ((text: string | null) => void) | undefined;
  let top = 0;
  /** Whole lines to print, and a line that is not finished. */
  let lines = "";
  let tail = "";
  let printed = "";
  let lastFrame = 0;
  let lastKey = 0;
  const began = performance.now();
  let focused = true;
  let suspended = false;
  /** The turn was stopped: what was queued for after it waits for Enter. */
  let held = false;
  /** Ctrl-C was the last key: one more leaves. */
  let leaving = false;
  let frame: ReturnType<typeof setTimeout> | undefined;
  let tick: ReturnType<typeof setInterval> | undefined;

  function newLine(text = ""): LineState {
    // A copy: who keeps the history adds to it while the line is edited.
    return lineState({ history: [...options.history()], kills, text });
  }

  function layout({ columns, rows }: Size): Frame {
    const activity = question ? undefined : options.activity();
    const edited = question?.line ?? line;
    const above: Row[] = tail === "" ? [] : styledRows(tail.slice(-MAX_TAIL), columns);
    if (activity !== undefined) above.push([], styledRow(activity, columns));
    for (const text of queued) {
      const start = sanitizeProse(text.slice(0, MAX_TAIL).replace(/\s+/g, " "));
      above.push(styledRow(`${dim}${held ? "held" : "queued"}: ${start}`, columns));
    }
    const status = leaving
      ? "Ctrl-C again leaves"
      : held && !question && activity === undefined && line.units.length === 0
      ? "Enter sends what is held, Up edits it, Ctrl-C drops it"
      : options.footer();
    const footer = rows > 3 ? [styledRow(`${dim}${status}`, columns)] : [];
    const prompt = question?.prompt ?? "> ";
    const input = layoutLine(edited, {
      prompt,
      color,
      columns,
      maxRows: Math.max(1, rows - footer.length - Math.min(above.length, rows >> 1)),
      top,
    });
    top = input.top;
    const room = Math.max(0, rows - footer.length - input.rows.length);
    const kept = room === 0 ? [] : above.slice(-room);
    return {
      rows: [...kept, ...input.rows, ...footer],
      cursor: { ...input.cursor, row: kept.length + input.cursor.row },
    };
  }

  function draw(): void {
    clearTimeout(frame);
    frame = undefined;
    // What comes while somebody else has the terminal is shown when it is ours again.
    if (over.signal.aborted || suspended) return;
    const text = lines;
    lines = "";
    if (text === "") region.paint(layout);
    else region.print(text, layout);
    lastFrame = performance.now();
  }

  /** Many pieces make one frame; the first after a pause is shown at once. */
  function drawSoon(): void {
    if (frame !== undefined) return;
    const wait = lastFrame + FRAME_MS - performance.now();
    if (wait <= 0) draw();
    else frame = setTimeout(() => guarded(draw), wait);
  }

  /** A terminal that is gone fails when it is written to. */
  function guarded(work: () => void): void {
    try {
      work();
    } catch {
      gone();
    }
  }

  function gone(): void {
    if (over.signal.aborted) return;
    over.abort();
    options.onEnd("SIGHUP");
    question?.answer(null);
    reader?.(null);
  }

  function answer(text: string | null): void {
    const asked = question!;
    lines += rowsText(layoutWhole(asked.line, asked.prompt));
    const wrong = text === null ? undefined : asked.objection(text);
    if (wrong !== undefined) {
      lines += `${wrong}\n`;
      asked.line = lineState({ kills, multiline: false });
      return;
    }
    question = undefined;
    asked.answer(text);
  }

  function layoutWhole(state: LineState, prompt: string): readonly Row[] {
    const { columns } = terminalSize();
    const whole = { prompt, color, columns: Infinity, maxRows: Infinity };
    return layoutLine(finished(state), whole).rows.flatMap((row) => brokenRow(row, columns));
  }

  function submit(text: string): void {
    if (text.trim() === "") {
      held = false;
      return sendQueued();
    }
    const whole = layoutWhole(line, "> ");
    line = newLine();
    if (options.activity() !== undefined || reader === undefined) queued.push(text);
    else send(text, whole);
  }

  function send(text: string, shown: readonly Row[]): void {
    lines += rowsText(shown);
    const give = reader!;
    reader = undefined;
    give(text);
  }

  /** The oldest message that waits, if any does and somebody reads. */
  function sendQueued(): void {
    if (held || reader === undefined || queued.length === 0) return;
    const text = queued.shift()!;
    send(text, layoutWhole(lineState({ text }), "> "));
  }

  function cancel(): void {
    const isBusy = question !== undefined || options.activity() !== undefined;
    if (isBusy) {
      held = queued.length > 0;
      return question ? answer(null) : options.onStop();
    }
    if (line.units.length > 0) line = cleared(line);
    else if (held) {
      queued.length = 0;
      held = false;
      return;
    } else if (leaving) return leave();
    leaving = true;
  }

  function leave(): void {
    const give = reader;
    reader = undefined;
    give?.(null);
  }

  async function pressed(key: Key): Promise<void> {
    if (key.type !== "key" || !/^(ctrl-c|focus-.*)$/.test(key.name)) leaving = false;
    if (key.type === "key") {
      const idle = line.search === undefined && line.menu === undefined;
      if (key.name.startsWith("focus-")) return void (focused = key.name === "focus-in");
      if (key.name === "ctrl-o") return options.onUnfold();
      if (key.name === "escape" && idle && (question || options.activity() !== undefined)) {
        return cancel();
      }
      if (key.name === "up" && !question && line.units.length === 0 && queued.length > 0) {
        line = newLine(queued.pop());
        held &&= queued.length > 0;
        return;
      }
    }
    const before = question?.line ?? line;
    const { state, effect } = press(before, key);
    ({ kills } = state);
    if (question) question.line = state;
    else line = state;
    switch (effect) {
      case "submit":
        return question ? answer(lineText(state)) : submit(lineText(state));
      case "cancel":
        return cancel();
      case "end":
        if (question) return answer(null);
        return options.activity() === undefined ? leave() : show("\x07");
      case "clear":
        return region.clearScreen();
      case "suspend":
        suspended = true;
        return await terminal.suspend();
      case "complete":
        return await completed(state);
      case "bell":
        return show("\x07");
    }
  }

  async function completed(state: LineState): Promise<void> {
    const next = question ? undefined : await completeWith(options.completer, state);
    if (next === undefined) show("\x07");
    else line = next;
  }

  const terminal = rawTerminal({
    focus: true,
    onRedraw(resumed) {
      if (resumed) {
        suspended = false;
        region.reset();
        if (question) lines = `${question.about}\n${lines}`;
      }
      guarded(draw);
    },
    onLeave: () => region.below(),
    onSignal(signal) {
      over.abort();
      options.onEnd(signal);
      question?.answer(null);
      reader?.(null);
    },
  });

  async function readKeys(): Promise<void> {
    for (;;) {
      if (!keys.ready) draw();
      const key = await keys.next(over.signal);
      if (over.signal.aborted) return;
      if (key === null) return gone();
      lastKey = performance.now();
      const early = lastKey - began < EARLY_MS && key.type === "key" && key.name === "ctrl-j";
      await pressed(early ? { ...key, name: "enter" } : key);
    }
  }
  // Not at once: what the options refer to may be made after the screen.
  Promise.resolve().then(readKeys).catch(gone);

  return {
    print(text) {
      lines += `${tail}${tail && "\n"}${text}\n`;
      tail = "";
      printed = text;
      guarded(drawSoon);
    },
    stream(text) {
      const end = text.lastIndexOf("\n") + 1;
      if (end > 0) {
        lines += tail + text.slice(0, end);
        tail = "";
      }
      tail += text.slice(end);
      guarded(drawSoon);
    },
    update() {
      const active = options.activity() !== undefined;
      if (active) tick ??= setInterval(() => guarded(draw), TICK_MS);
      else {
        clearInterval(tick);
        tick = undefined;
      }
      guarded(drawSoon);
    },
    read() {
      if (over.signal.aborted) return Promise.resolve(null);
      // The line was begun before the message ahead of it became a part of the history.
      line = withHistory(line, [...options.history()]);
      return new Promise((resolve) => {
        reader = resolve;
        sendQueued();
        guarded(drawSoon);
      });
    },
    async ask(prompt, objection, signal, text = "") {
      const about = printed;
      do await pause(QUIET_MS, signal); while (
        !signal.aborted && performance.now() - lastKey < QUIET_MS
      );
      if (signal.aborted || over.signal.aborted) return null;
      return await new Promise((resolve) => {
        const onAbort = () => {
          question = undefined;
          resolve(null);
        };
        signal.addEventListener("abort", onAbort, { once: true });
        question = {
          about,
          prompt,
          objection,
          line: lineState({ kills, multiline: false, text }),
          answer(text) {
            signal.removeEventListener("abort", onAbort);
            resolve(text);
          },
        };
        guarded(drawSoon);
      });
    },
    notify: (text) => focused ? undefined : show(`\x1b]9;${text}\x07`),
    [Symbol.dispose]() {
      clearInterval(tick);
      over.abort();
      guarded(() => {
        region.clear();
        show((lines + tail + (tail && "\n")).replaceAll("\n", "\r\n"));
      });
      clearTimeout(frame);
      terminal[Symbol.dispose]();
    },
  };
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
