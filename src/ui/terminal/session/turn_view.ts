/** A turn on the screen: the answer as Markdown, each tool call in one line, long texts folded. @module */

import { MarkdownRenderer } from "../markdown/renderer.ts";
import { canMoveCommand, DEFAULT_KEYMAP, type Keymap, screenKey } from "../line/actions.ts";
import type { Screen } from "../screen/screen.ts";
import { type Appearance, ASKED, BOLD, DIM, type Painter, painter, REMOVED } from "../style.ts";
import { terminalSize } from "../tty.ts";
import { clockTime, duration } from "../../../text/count.ts";
import { oneLine } from "../../../text/one_line.ts";
import { sanitize } from "../../../text/sanitize.ts";
import type { ToolExecution, TurnEvent } from "../../../types/event.ts";
import type { TextPart } from "../../../types/message.ts";
import type { TaskItem } from "../../../types/tool.ts";
import { type CallText, callText, noteBehind } from "../../call_text.ts";
import { changeRows, paintedRows } from "../../change.ts";
import { progressLine } from "../../progress.ts";
import { Activity, type SubjectOf } from "./activity.ts";
import { callRows, hangingRows, titleRows } from "./call_rows.ts";
import { taskRows } from "./task_rows.ts";

const MAX_HELD_CALLS = 12;
const MAX_NOTE_LINES = 8;
/** Turns of more seconds have their message and their time in the rule above the line. */
const MIN_CAPTION_SECONDS = 15;

export class TurnView {
  readonly activity: Activity;
  readonly #paint: Painter;
  readonly #markdown: MarkdownRenderer;
  #reasoning: string[] = [];
  #reasoningStart = 0;
  /** True after the first report of a recovered call: some models write all calls as text. */
  #hasReportedRecovery = false;
  /** The calls whose change a printed question has shown. */
  readonly #shownChanges = new Set<string>();
  readonly #decided = new Map<string, string>();
  /** Calls that only read, by verb. Each verb gets one row when something else follows. */
  readonly #readCalls = new Map<string, CallText[]>();
  #tasks = "";
  /** The number of turns that ended since the newest list of steps. */
  turnsSinceTasks = 0;
  /** The kind of the newest output: blank lines surround text, and calls of several rows. */
  #last: "nothing" | "text" | "line" | "body" = "nothing";
  #message = "";

  constructor(
    private readonly screen: Screen,
    private readonly appearance: Appearance,
    subjectOf?: SubjectOf,
    private readonly keymap: Keymap = DEFAULT_KEYMAP,
  ) {
    const paint = this.#paint = painter(appearance);
    this.#markdown = new MarkdownRenderer(appearance, terminalSize().columns, paint);
    this.activity = new Activity(paint, subjectOf, canMoveCommand(keymap));
  }

  begin(doing: string, message = ""): void {
    this.activity.begin(doing);
    this.#message = message;
    this.#last = "nothing";
    this.screen.print("");
    this.screen.update();
  }

  onEvent(event: TurnEvent): void {
    this.activity.onEvent(event);
    switch (event.type) {
      case "text_delta":
        return this.#text(event.text);
      case "reasoning_delta":
        if (this.#reasoning.length === 0) this.#reasoningStart = performance.now();
        this.#reasoning.push(event.text);
        return;
      case "call_delta":
      case "tool_start":
        this.#endReasoning();
        this.#endText();
        return event.type === "tool_start" ? this.screen.update() : undefined;
      case "thinking":
        return this.#endText();
      case "retry":
        if (!this.screen.isLive) break;
        return this.screen.update();
      case "prompt_progress":
      case "queued":
      case "loading":
        return this.screen.update();
      case "tool_done":
        this.#endReasoning();
        return this.#toolDone(event.exec);
      case "tool_call_recovered":
        if (this.#hasReportedRecovery) return;
        this.#hasReportedRecovery = true;
    }
    const text = progressLine(event);
    if (text !== undefined) this.note(text);
  }

  /** The user is asked about the call `id`. Time does not count until the result is disposed. */
  onAsked(id: string): Disposable {
    this.#endOpen();
    if (!this.screen.isLive) this.#shownChanges.add(id);
    const from = performance.now();
    return {
      [Symbol.dispose]: () => this.activity.exclude(performance.now() - from),
    };
  }

  onDecided(id: string, words: string): void {
    this.#decided.set(id, words);
  }

  /** True if the output ends with a blank line. */
  get endsBlank(): boolean {
    return this.#last === "nothing";
  }

  print(text: string): void {
    this.#endReasoning();
    this.#line(text);
  }

  onMessage(message: TextPart): void {
    this.#endOpen();
    this.screen.echo(message);
    this.screen.print("");
    this.#last = "nothing";
    this.#message = oneLine(message.text);
  }

  /** The message and the time of a turn that takes long; otherwise undefined. */
  get caption(): { text: string; time: string } | undefined {
    const seconds = Math.floor(this.activity.elapsedMs / 1000);
    if (this.#message === "" || seconds < MIN_CAPTION_SECONDS) return undefined;
    return { text: this.#message, time: clockTime(1000 * seconds) };
  }

  note(text: string): void {
    this.print(this.#dimmed(text));
  }

  /** The rows that change in place: calls that others may join, and the current step. */
  liveRows(): readonly string[] | undefined {
    const { columns } = terminalSize();
    const activity = this.activity.rows(columns);
    if (activity === undefined) return undefined;
    const readRows = this.#readRows();
    const isOpen = this.#last === "text" || this.#last === "body";
    const call = this.activity.callRows(this.#rowOptions());
    const needsGap = call.length > 1 || readRows.length === 0 && isOpen;
    const rows = [
      ...readRows.length > 0 && isOpen ? [""] : [],
      ...readRows,
      ...call.length > 0 && needsGap ? [""] : [],
      ...call,
      "",
      ...activity,
    ];
    // A blank line was printed at the start of the turn.
    return this.#last === "nothing" && rows[0] === "" ? rows.slice(1) : rows;
  }

  end(text?: string, style = text === undefined ? DIM : 0): void {
    const shown = text ?? this.activity.summary();
    this.#endWith(shown && this.#dimmed(shown, style));
  }

  /** Ends a turn that the user stopped. A failure that led to it is shown. */
  stop(): void {
    const { failure } = this.activity;
    if (failure !== undefined) this.fail(oneLine(failure), "Stopped by you");
    else this.end("· Stopped by you. Everything so far is kept; say what to do instead.", ASKED);
  }

  /** Ends a turn that failed: says why, and below that what to do. */
  fail(why: string, ways: string): void {
    const { columns, paint } = this.#rowOptions();
    const end = why.indexOf(": ");
    const [head, rest] = end < 0 ? [why, ""] : [why.slice(0, end), why.slice(end)];
    const said = `${paint(head, BOLD)}${rest}`;
    this.#endWith([
      ...hangingRows(`${paint("✗", REMOVED)} `, said, columns),
      ...hangingRows("  ", paint(ways, DIM), columns),
    ].join("\n"));
  }

  #endOpen(): void {
    this.#endReasoning();
    this.#endText();
    this.#endReads();
  }

  #endWith(text: string | undefined): void {
    this.#endOpen();
    this.activity.end();
    this.turnsSinceTasks++;
    this.#shownChanges.clear();
    this.#decided.clear();
    if (text !== undefined) this.#line(text);
    this.screen.print("");
    this.#last = "nothing";
    this.screen.update();
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
    this.#endReads();
    if (this.#last === "line" || this.#last === "body") this.screen.print("");
    this.#last = "text";
    this.screen.stream(text);
  }

  #toolDone(exec: ToolExecution): void {
    const decided = this.#decided.get(exec.toolCallId);
    const call = callText(exec);
    const change = exec.details?.change;
    if (call.isRead && decided === undefined) return this.#hold(call);
    const tasks = this.#newTasks(exec.details?.tasks ?? []);
    const { columns, paint, where } = this.#rowOptions();
    const hasChange = change?.lines !== undefined && !this.#shownChanges.has(exec.toolCallId);
    const { title, body } = callRows(exec, this.#rowOptions(), decided, tasks);
    if (hasChange) {
      const { rows: screenRows } = terminalSize();
      body.push(...changeRows(change, columns, paint, false, { where, screenRows }));
      // A live call ends before its note: only a resumed session has it here. Errors are at its end.
      const note = sanitize(noteBehind(exec)).split("\n").filter(Boolean).slice(-MAX_NOTE_LINES);
      body.push(...note.flatMap((line) => hangingRows("    ", paint(line, DIM), columns)));
    }
    this.#line([...title, ...body].join("\n"), body.length > 0 ? "body" : "line");
  }

  /** The rows of a new task list. The title of each call has the current step. */
  #newTasks(tasks: readonly TaskItem[]): string[] {
    if (tasks.length === 0) return [];
    this.turnsSinceTasks = 0;
    const list = tasks.map(({ text }) => text).join("\n");
    const isKnown = list === this.#tasks;
    this.#tasks = list;
    return isKnown ? [] : taskRows(tasks, { paint: this.#paint, margin: "" });
  }

  #hold(call: CallText): void {
    this.#endText();
    const earlier = this.#readCalls.get(call.verb);
    if (earlier === undefined) this.#readCalls.set(call.verb, [call]);
    else earlier.push(call);
    if ([...this.#readCalls.values()].flat().length >= MAX_HELD_CALLS) this.#endReads();
    this.screen.update();
  }

  #readRows(): string[] {
    return [...this.#readCalls].flatMap(([verb, calls]) =>
      titleRows(verb, calls, this.#rowOptions())
    );
  }

  #endReads(): void {
    if (this.#readCalls.size === 0) return;
    const rows = this.#readRows();
    this.#readCalls.clear();
    this.#printLine(rows.join("\n"));
  }

  #rowOptions() {
    const { columns } = terminalSize();
    return { columns, paint: this.#paint, where: this.#withKey(" · ") };
  }

  #line(text: string, kind: "line" | "body" = "line"): void {
    this.#endText();
    this.#endReads();
    this.#printLine(text, kind);
  }

  #printLine(text: string, kind: "line" | "body" = "line"): void {
    const needsNoGap = this.endsBlank || this.#last === "line" && kind === "line";
    this.screen.print(`${needsNoGap || text.startsWith("\n") ? "" : "\n"}${text}`);
    this.#last = kind;
  }

  #endText(): void {
    this.#stream(this.#markdown.end());
  }

  #endReasoning(): void {
    const text = this.#reasoning.join("").trim();
    this.#reasoning = [];
    if (text === "") return;
    const time = duration(performance.now() - this.#reasoningStart);
    this.#line(this.#dimmed(`· thought for ${time}${this.#withKey(" (", " shows it)")}`));
  }

  /** The key that shows folded text, between two texts; empty if there is no key. */
  #withKey(before: string, after = ""): string {
    const key = this.screen.isLive ? screenKey(this.keymap, "transcript") : undefined;
    return key === undefined ? "" : `${before}${key}${after}`;
  }

  #dimmed(text: string, style = DIM): string {
    return paintedRows(text, terminalSize().columns, style, this.#paint);
  }
}
