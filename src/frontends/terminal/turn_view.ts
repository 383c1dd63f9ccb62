/** A turn on the screen: the answer as Markdown, each tool call in one line, long texts folded. @module */

import { MarkdownRenderer } from "../../terminal/markdown/renderer.ts";
import type { Screen } from "../../terminal/screen/screen.ts";
import { type Appearance, DIM, type Painter, painter, REMOVED } from "../../terminal/style.ts";
import { terminalSize } from "../../terminal/tty.ts";
import { duration } from "../../text/count.ts";
import { sanitizeProse } from "../../text/sanitize.ts";
import { wrapped } from "../../text/wrap.ts";
import type { ToolExecution, TurnEvent } from "../../types/event.ts";
import { changeLines, changeNotes, changeRows, paintedRows, writeNotes } from "../change.ts";
import { describeCall, failureRows, progressLine } from "../progress.ts";
import { Activity } from "./activity.ts";

/** Shows one turn after the other on a screen. */
export class TurnView {
  readonly activity: Activity;
  readonly #paint: Painter;
  readonly #markdown: MarkdownRenderer;
  readonly #folded = new FoldedTexts();
  #reasoning: string[] = [];
  #reasoningStart = 0;
  /** True once a recovered call was reported: with some models each call is. */
  #toldRecovery = false;
  /** The calls that a person was asked about, and has seen whole. */
  readonly #asked = new Set<string>();
  /** The kind of the newest output: a blank line stands between text and lines of ours. */
  #last: "nothing" | "text" | "line" = "nothing";

  constructor(private readonly screen: Screen, look: Appearance) {
    this.#paint = painter(look.colors);
    this.#markdown = new MarkdownRenderer({ ...look, columns: terminalSize().columns });
    this.activity = new Activity(this.#paint, look.unicode);
  }

  /** A turn begins; `doing` is what it does first. */
  begin(doing: string): void {
    this.activity.begin(doing);
    this.#last = "nothing";
    this.screen.print("");
    this.screen.update();
  }

  onEvent(event: TurnEvent): void {
    switch (event.type) {
      case "text_delta":
        return this.#text(event.text);
      case "reasoning_delta":
        if (this.#reasoning.length === 0) this.#reasoningStart = performance.now();
        this.#reasoning.push(event.text);
        return this.activity.thought(this.#reasoning);
      case "thinking":
        this.#endText();
        return this.activity.request();
      case "loading":
        this.activity.load(event.model, event.nextLookMs);
        return this.screen.update();
      case "tool_start":
        this.#endReasoning();
        this.activity.toolStarts(event.name, event.args);
        return this.screen.update();
      case "tool_done":
        this.#endReasoning();
        this.activity.toolEnds();
        return this.#toolDone(event.exec);
      case "tool_call_recovered":
        if (this.#toldRecovery) return;
        this.#toldRecovery = true;
    }
    const text = progressLine(event);
    if (text !== undefined) this.note(text);
  }

  /** A person is asked about the call `id`, and sees all of what it changes. */
  onAsked(id: string): void {
    this.#asked.add(id);
  }

  /** Prints `text` as lines of their own, below what was said so far. */
  print(text: string): void {
    this.#endReasoning();
    this.#line(text);
  }

  /** Prints `text` dimmed, with its long lines broken. */
  note(text: string): void {
    this.print(this.#dimmed(text));
  }

  /** The turn is over; `text` says how, where that needs saying. */
  end(text?: string): void {
    this.#endReasoning();
    this.#endText();
    this.activity.end();
    this.#asked.clear();
    if (text !== undefined) this.#line(this.#dimmed(text, 0));
    this.screen.print("");
    this.screen.update();
  }

  /** Prints the newest text that is still folded; the next time the one before it. */
  unfold(): void {
    const found = this.#folded.next();
    const dim = (text: string) => this.#paint(text, DIM);
    if (found === undefined) return this.screen.print(dim("· nothing is folded"));
    this.#endText();
    const whole = sanitizeProse(found.text.replaceAll("\r\n", "\n"));
    const shown = wrapped(whole, terminalSize().columns);
    this.screen.print(`${dim(`── ${found.title} ──`)}\n${shown}\n${dim("──")}`);
    this.#last = "line";
  }

  #text(delta: string): void {
    this.#endReasoning();
    this.#markdown.resize(terminalSize().columns);
    const text = this.#markdown.push(delta);
    this.activity.token(this.#markdown.holdsTable ? "writing a table" : "answering");
    this.#stream(text);
  }

  #stream(text: string): void {
    if (text === "") return;
    if (this.#last === "line") this.screen.print("");
    this.#last = "text";
    this.screen.stream(text);
  }

  #toolDone(exec: ToolExecution): void {
    const text = progressLine({ type: "tool_done", exec })!;
    this.#line(this.#dimmed(text, exec.isError ? REMOVED : DIM));
    const change = exec.details?.change;
    const title = describeCall(exec.toolName, exec.arguments);
    const { columns } = terminalSize();
    if (change?.lines === undefined) {
      this.#folded.add(title, exec.result);
      for (const row of failureRows(exec, columns)) this.screen.print(this.#paint(row, DIM));
      return;
    }
    const notes = [...changeNotes(change), ...writeNotes(exec.details?.written)];
    this.#folded.add(title, [...changeLines(change).map(([row]) => row), ...notes].join("\n"));
    if (!this.#asked.has(exec.toolCallId)) {
      this.screen.print(changeRows(change, columns, this.#paint).join("\n"));
    }
  }

  #line(text: string): void {
    this.#endText();
    this.screen.print(`${this.#last === "text" ? "\n" : ""}${text}`);
    this.#last = "line";
  }

  #endText(): void {
    this.#stream(this.#markdown.end());
  }

  #endReasoning(): void {
    const text = this.#reasoning.join("").trim();
    this.#reasoning = [];
    if (text === "") return;
    const time = duration(performance.now() - this.#reasoningStart);
    this.#folded.add("reasoning", text);
    this.#line(this.#dimmed(`· thought for ${time} (Ctrl-O shows it)`));
  }

  #dimmed(text: string, style = DIM): string {
    return paintedRows(text, terminalSize().columns, style, this.#paint);
  }
}

/** The most texts, and the most characters of each. */
const MAX_FOLDED_TEXTS = 50;
const MAX_FOLDED_CHARS = 200_000;

/** The folded texts of a session. */
class FoldedTexts {
  readonly #texts: { title: string; text: string }[] = [];
  /** Texts before this index were not shown yet. */
  #next = 0;

  add(title: string, text: string): void {
    this.#texts.push({ title, text: text.slice(0, MAX_FOLDED_CHARS) });
    if (this.#texts.length > MAX_FOLDED_TEXTS) this.#texts.shift();
    this.#next = this.#texts.length;
  }

  /** The newest text, and each time after that the one before it; undefined where there is none. */
  next(): { title: string; text: string } | undefined {
    const found = this.#texts[this.#next - 1];
    if (found !== undefined) this.#next--;
    return found;
  }
}
