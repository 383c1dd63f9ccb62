/**
 * What a person sees of a turn in the session: the answer as Markdown, each tool call in one line,
 * what is long folded away.
 *
 * @module
 */

import { count } from "../../text/count.ts";
import { sanitizeProse } from "../../text/sanitize.ts";
import { markdownRenderer } from "../../terminal/markdown/renderer.ts";
import type { Screen } from "../../terminal/screen/screen.ts";
import { type Appearance, BOLD, DIM, painter, REMOVED } from "../../terminal/style.ts";
import { terminalSize } from "../../terminal/tty.ts";
import type { ToolExecution, TurnEvent } from "../../types/event.ts";
import { changeLines, changeNotes, changeRows } from "./change.ts";
import { describeCall, failureRows, progressLine } from "../progress.ts";
import { duration } from "../../text/count.ts";
import { oneLine } from "../../text/one_line.ts";
import { wrapped } from "../../text/wrap.ts";

/** Shows one turn after the other. */
export interface TurnView {
  /** A turn begins; `what` goes on at first. */
  begin(what: string): void;
  onEvent(event: TurnEvent): void;
  /** A command runs, whose newest line of output `newest` looks up. */
  onOutput(newest: () => string): void;
  /** A person is asked about the call that comes next, and sees all of it: its change is not shown again. */
  onAsked(): void;
  /** Prints `text` as lines of their own, below what was said so far. */
  print(text: string): void;
  /** It is over; `text` says how, where that needs saying. */
  end(text?: string): void;
  /** What goes on now, in one line; undefined between turns. */
  activity(): string | undefined;
  /** Prints the newest text that was folded and not shown yet; the next time the one before it. */
  unfold(): void;
}

/** A command that takes longer, in milliseconds, shows what it prints. */
const LONG_TOOL_MS = 2000;
/** What a look at a server that is loading may take, in milliseconds, until it is seen to be done. */
const LOOK_MS = 2000;
/** So many folded texts can be shown, of so many characters each. */
const MAX_FOLDED = 50;
const MAX_FOLDED_CHARS = 200_000;

/** Shows turns on `screen`. */
export function turnView(screen: Screen, look: Appearance): TurnView {
  const paint = painter(look.colors);
  const markdown = markdownRenderer({ ...look, columns: terminalSize().columns });
  const spinner = look.unicode ? [..."⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"] : [..."|/-\\"];
  const folded: { title: string; text: string }[] = [];
  let unfolded = 0;
  let active = false;
  let started = 0;
  /** What the model or a tool is doing, since when; pieces of the answer so far, since when. */
  let doing = "";
  /** What a running command printed last, shown once it takes long. */
  let newest: (() => string) | undefined;
  let toolStart = 0;
  /** Whether a person was asked about the running tool. */
  let isAsked = false;
  let pieces = 0;
  let firstPiece = 0;
  /** What is said while the model loads; and until when it is known to, unless it answers before. */
  let loading = "";
  let loadingUntil = 0;
  let toldRecovery = false;
  let reasoning: string[] = [];
  let reasoningStart = 0;
  /** What was printed last: text and lines of ours keep a blank line between them. */
  let last: "nothing" | "text" | "line" = "nothing";

  const dim = (text: string) => paint(text, DIM);
  const note = (text: string, style = DIM) =>
    wrapped(text, terminalSize().columns).split("\n").map((row) => paint(row, style)).join("\n");

  function line(text: string): void {
    endText();
    screen.print(`${last === "text" ? "\n" : ""}${text}`);
    last = "line";
  }

  function endText(): void {
    screen.stream(markdown.end());
  }

  function fold(title: string, text: string): void {
    folded.push({ title, text: text.slice(0, MAX_FOLDED_CHARS) });
    if (folded.length > MAX_FOLDED) folded.shift();
    unfolded = folded.length;
  }

  function endReasoning(): void {
    const text = reasoning.join("").trim();
    reasoning = [];
    if (text === "") return;
    const time = duration(performance.now() - reasoningStart);
    fold("reasoning", text);
    line(note(`· thought for ${time} (Ctrl-O shows it)`));
  }

  function piece(): void {
    loadingUntil = 0;
    if (pieces++ === 0) firstPiece = performance.now();
  }

  function toolDone(exec: ToolExecution): void {
    const text = progressLine({ type: "tool_done", exec })!;
    line(exec.isError ? note(text, REMOVED) : note(text));
    const change = exec.details?.change;
    const title = describeCall(exec.toolName, exec.arguments);
    const { columns } = terminalSize();
    if (change?.lines === undefined) {
      fold(title, exec.result);
      for (const row of failureRows(exec, columns)) screen.print(dim(row));
    } else {
      const lines = [...changeLines(change).map(([row]) => row), ...changeNotes(change)];
      // Its first line says what else was done, the others what is in the change.
      fold(title, [exec.result.split("\n", 1)[0], ...lines].join("\n"));
      if (!isAsked) screen.print(changeRows(change, columns, paint).join("\n"));
    }
    isAsked = false;
  }

  return {
    begin(what) {
      pieces = 0;
      active = true;
      started = toolStart = performance.now();
      newest = undefined;
      last = "nothing";
      loadingUntil = 0;
      doing = oneLine(what);
      screen.print("");
      screen.update();
    },
    onEvent(event) {
      switch (event.type) {
        case "text_delta": {
          piece();
          endReasoning();
          markdown.resize(terminalSize().columns);
          const text = markdown.push(event.text);
          doing = markdown.holdsTable ? "writing a table" : "answering";
          if (text === "") return;
          if (last === "line") screen.print("");
          last = "text";
          return screen.stream(text);
        }
        case "reasoning_delta":
          piece();
          if (reasoning.length === 0) reasoningStart = performance.now();
          reasoning.push(event.text);
          doing = "thinking";
          return;
        case "thinking":
          endText();
          pieces = 0;
          return;
        case "loading":
          loading = `loading ${oneLine(event.model)}`;
          loadingUntil = performance.now() + (event.nextLookMs ?? Infinity) + LOOK_MS;
          return screen.update();
        case "tool_start":
          endReasoning();
          doing = describeCall(event.name, event.args);
          toolStart = performance.now();
          return screen.update();
        case "tool_done":
          endReasoning();
          doing = "waiting";
          newest = undefined;
          return toolDone(event.exec);
        default: {
          // Once is enough: with some models each call is.
          if (event.type === "tool_call_recovered") {
            if (toldRecovery) return;
            toldRecovery = true;
          }
          const text = progressLine(event);
          if (text === undefined) return;
          endReasoning();
          line(note(text));
        }
      }
    },
    onOutput(look) {
      newest = look;
    },
    onAsked() {
      isAsked = true;
    },
    print(text) {
      endReasoning();
      line(text);
    },
    end(text) {
      endReasoning();
      endText();
      active = false;
      if (text !== undefined) line(note(text, 0));
      screen.print("");
      screen.update();
    },
    activity() {
      if (!active) return undefined;
      const now = performance.now();
      const frame = spinner[Math.floor(now / 120) % spinner.length]!;
      const seconds = (now - firstPiece) / 1000;
      const speed = pieces > 20 && seconds > 1 ? ` · ${Math.round(pieces / seconds)}/s` : "";
      const tokens = pieces > 0 ? ` · ${count(pieces, "token")}${speed}` : "";
      const thought = doing === "thinking" ? `: ${oneLine(reasoning.slice(-30).join(""))}` : "";
      const line = newest && now - toolStart > LONG_TOOL_MS ? oneLine(newest()) : "";
      const what = line === "" ? doing : `${doing.split(" ", 1)}: ${line}`;
      const time = `${Math.floor((now - started) / 1000)} s`;
      const shown = now < loadingUntil ? loading : what + thought;
      return `${paint(frame, BOLD)} ${dim(`${time}${tokens} · Esc stops · ${shown}`)}`;
    },
    unfold() {
      const { title, text } = folded[unfolded - 1] ?? {};
      if (text === undefined) return screen.print(dim("· nothing is folded"));
      unfolded--;
      endText();
      const shown = wrapped(sanitizeProse(text.replaceAll("\r\n", "\n")), terminalSize().columns);
      screen.print(`${dim(`── ${title} ──`)}\n${shown}\n${dim("──")}`);
      last = "line";
    },
  };
}
