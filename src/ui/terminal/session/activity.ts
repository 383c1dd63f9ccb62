/** The activity line of a running turn: time, tokens and current step; and at its end, its totals. @module */

import { aboutSeconds, count, thousands } from "../../../text/count.ts";
import { oneLine, shortened } from "../../../text/one_line.ts";
import { BOLD, DIM, ITALIC, type Painter, REMOVED } from "../style.ts";
import type { PromptProgress, RetryNotice, TurnEvent } from "../../../types/event.ts";
import type { Change, NewestOutput, Subject } from "../../../types/tool.ts";
import { sanitize } from "../../../text/sanitize.ts";
import { rowsOf } from "../../../text/width.ts";
import { type CallFacts, changedLines, runningParts, runningText } from "../../call_text.ts";
import { newestText, retryParts } from "../../progress.ts";
import { hangingRows, lineCounts, type RowOptions, rowsBelow, titleRows } from "./call_rows.ts";
import { writtenArguments, writtenText } from "./written_call.ts";

const LONG_TOOL_MS = 500;
/** A check of a loading server is overdue after this time, in milliseconds. */
const LOOK_MS = 2000;
/** Narrower terminals get two rows. */
const MIN_ONE_ROW_COLUMNS = 60;
const SPINNER_FRAME_MS = 120;
const SPINNER_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
/** After this silence within an answer, in milliseconds, the model is writing a call that arrives as a whole. */
const SILENT_MS = 3000;
const MIN_TOKENS_FOR_SPEED = 20;
const MAX_NEWEST_ROWS = 5;
/** The newest output of a call has at most 1000 bytes: in a longer text, earlier lines may be missing. */
const MAX_COUNTED_CHARS = 900;
const MAX_THOUGHT_ROWS = 4;

const MAX_ROW_CHARS = 4096;
const MIN_TURN_MS = 5000;
const MIN_TURN_WITH_CALLS_MS = 1000;
const MIN_SHOWN_TOKENS = 1000;

export type SubjectOf = (name: string, args: Record<string, unknown>) => Subject | undefined;

export class Activity {
  #isActive = false;
  #startedAt = 0;
  #calls = 0;
  /** Tokens counted by servers, and an estimate for the current answer. */
  #tokens = 0;
  #subAgentTokens = 0;
  #changes: Change[] = [];
  /** The tokens of the current answer. */
  #open = { tokens: 0, firstAt: 0, lastAt: 0 };
  /** The current step; a function if it depends on the time and the columns. */
  #doing: string | ((now: number, columns: number) => string) = "";
  #call: { called: CallFacts; startedAt: number } | undefined;
  #newest: NewestOutput | undefined;
  /** The text while the server loads its model, and until when it is known to load. */
  #loading = { text: "", until: 0 };
  #thought = "";
  #isThoughtCut = false;
  /** The call that is written, with its arguments so far as JSON. */
  #written: { name: string; json: string } | undefined;
  #retry: { notice: RetryNotice; at: number } | undefined;

  constructor(
    private readonly paint: Painter,
    private readonly subjectOf: SubjectOf = () => undefined,
    private readonly canMove = true,
  ) {}

  begin(doing: string): void {
    this.#isActive = true;
    this.#startedAt = performance.now();
    this.#changes = [];
    this.#calls =
      this.#tokens =
      this.#subAgentTokens =
      this.#open.tokens =
        0;
    this.#newest =
      this.#written =
      this.#retry =
      this.#call =
        undefined;
    this.#loading.until = 0;
    this.#doing = oneLine(doing);
  }

  end(): void {
    this.#isActive = false;
  }

  /** Why the last request failed, while it waits to be repeated. */
  get failure(): string | undefined {
    return this.#retry?.notice.reason;
  }

  /** The time of the turn so far; 0 between turns. */
  get elapsedMs(): number {
    return this.#isActive ? performance.now() - this.#startedAt : 0;
  }

  onEvent(event: TurnEvent): void {
    const now = performance.now();
    switch (event.type) {
      case "usage":
        return this.#endAnswer(event.usage.outputTokens);
      case "thinking":
        this.#written = undefined;
        return this.#endAnswer(0);
      case "reasoning_delta":
        if (this.#doing !== "thinking") [this.#thought, this.#isThoughtCut] = ["", false];
        this.token("thinking");
        this.#thought += event.text;
        return;
      case "call_delta": {
        // An empty piece starts the call.
        const json = event.text === "" ? "" : this.#written?.json ?? "";
        this.token("waiting");
        this.#written = { name: event.name, json: json + event.text };
        return;
      }
      case "prompt_progress":
        this.#loading.until = 0;
        this.#retry = undefined;
        this.#doing = (later, columns) => readingText(event, later - now, columns);
        return;
      case "queued":
        this.#doing = "queued behind another request";
        return;
      case "retry":
        this.#retry = { notice: event, at: now };
        return;
      case "loading": {
        const until = now + (event.nextLookMs ?? Infinity) + LOOK_MS;
        this.#loading = { text: `loading ${oneLine(event.model)}`, until };
        return;
      }
      case "tool_start": {
        const called = { ...event, toolName: event.name, arguments: event.args };
        this.#written = undefined;
        this.#doing = runningText(called);
        this.#call = { called, startedAt: now };
        return;
      }
      case "tool_done": {
        const { change, usage } = event.exec.details ?? {};
        this.#calls++;
        if (change) this.#changes.push(change);
        this.#subAgentTokens += usage?.outputTokens ?? 0;
        this.#doing = "waiting";
        this.#newest = this.#call = undefined;
      }
    }
  }

  /** Sets about how many tokens the current answer has; by default one more, for a piece of it. */
  countTokens(tokens = this.#open.tokens + 1): void {
    this.#open.lastAt = performance.now();
    if (this.#open.tokens === 0) this.#open.firstAt = this.#open.lastAt;
    this.#open.tokens = tokens;
  }

  /** Leaves the time of a question out of the turn's. */
  exclude(ms: number): void {
    this.#startedAt += ms;
  }

  /** Such as `Worked 34 s · 2.8k tokens · 1 file edited +3 −1`; undefined for a turn too short to report. */
  summary(): string | undefined {
    this.#endAnswer(0);
    const ms = performance.now() - this.#startedAt;
    if (ms < (this.#calls > 0 ? MIN_TURN_WITH_CALLS_MS : MIN_TURN_MS)) return undefined;
    const all = this.#tokens + this.#subAgentTokens;
    const files = new Set(this.#changes.map(({ path }) => path)).size;
    const lines = this.#changes.flatMap((change) => change.lines ?? []);
    const counts = lineCounts(changedLines({ lines }, "+"), changedLines({ lines }, "-"), String);
    return [
      `Worked ${timeText(Math.round(ms / 1000))}`,
      ...all >= MIN_SHOWN_TOKENS ? [`${thousands(all)} tokens`] : [],
      ...files > 0 ? [`${count(files, "file")} edited ${counts}`.trimEnd()] : [],
    ].join(" · ");
  }

  /** Ends an answer. `counted` is the server's number of tokens: 0 if unknown, low if it leaves out calls. */
  #endAnswer(counted: number): void {
    this.#tokens += Math.max(counted, this.#open.tokens);
    this.#open.tokens = 0;
  }

  /** Counts about one token of an answer. */
  token(doing: string): void {
    this.#loading.until = 0;
    this.#written = this.#retry = undefined;
    this.countTokens();
    this.#doing = doing;
  }

  toolPrints(newest: NewestOutput): void {
    this.#newest = newest;
  }

  /** The call that is written or runs, as it will look, above its newest lines; without one, the newest thoughts. */
  callRows(options: RowOptions): string[] {
    if (!this.#isActive) return [];
    const now = performance.now();
    const shown = this.#shownCall(now);
    if (shown === undefined) return this.#thoughtRows(options, now);
    const { called, ms } = shown;
    const file = this.#written && writtenText(writtenArguments(this.#written.json));
    const lineCount = file === "" ? 0 : file?.split("\n").length;
    const call = {
      ...runningParts(called),
      counts: lineCount === undefined ? "" : count(lineCount, "line"),
      added: 0,
      removed: 0,
      reason: "",
      mood: "good" as const,
      ending: ms < 1000 ? "" : `${Math.floor(ms / 1000)} s`,
    };
    const tail = file?.slice(-MAX_ROW_CHARS) ??
      (this.#newest && ms > LONG_TOOL_MS ? newestText(this.#newest) : "");
    const all = tail.trim() === "" ? [] : tail.split("\n");
    const hidden = file === undefined ? Math.max(0, all.length - MAX_NEWEST_ROWS) : 0;
    const isWhole = tail.length < MAX_COUNTED_CHARS;
    const earlier = isWhole ? count(hidden, "earlier line") : "earlier lines";
    const lines = [...hidden > 0 ? [`… ${earlier}`] : [], ...all.slice(-MAX_NEWEST_ROWS)];
    const room = Math.max(8, options.columns - 4);
    const rows = lines.map((line) => this.paint(rowsOf(sanitize(line), room)[0]!, DIM));
    return [
      ...titleRows(call.verb, [call], { ...options, mark: "◐" }),
      ...rowsBelow(rows, options),
    ];
  }

  /** The call that has a row of its own, and its time. One that only reads has it once it takes long. */
  #shownCall(now: number): { called: CallFacts; ms: number } | undefined {
    const called = this.#writtenCall() ?? this.#call?.called;
    const ms = now - (this.#call?.startedAt ?? now);
    const isShown = called && (ms > LONG_TOOL_MS || !runningParts(called).isRead);
    return isShown ? { called, ms } : undefined;
  }

  #writtenCall(): CallFacts | undefined {
    if (this.#written === undefined) return undefined;
    const { name: toolName, json } = this.#written;
    const args = writtenArguments(json);
    const subject = this.subjectOf(toolName, args);
    return { toolName, arguments: args, ...subject && { subject } };
  }

  /** Formats the line, in two rows if one would cut off the current step; undefined between turns. */
  rows(columns: number): string[] | undefined {
    if (!this.#isActive) return undefined;
    const now = performance.now();
    const frame = SPINNER_FRAMES[Math.floor(now / SPINNER_FRAME_MS) % SPINNER_FRAMES.length]!;
    const row = (text: string) => `${this.paint(frame, BOLD)} ${this.paint(text, DIM)}`;
    if (this.#retry !== undefined) {
      const { notice, at } = this.#retry;
      const delayMs = Math.max(0, at + notice.delayMs - now);
      const [why, next] = retryParts({ ...notice, delayMs });
      const failed = this.paint(shortened(why, 2 * columns), REMOVED);
      const ways = this.paint(`${next} · Esc stops`, DIM);
      return [...hangingRows(row(""), failed, columns), ...hangingRows("  ", ways, columns)];
    }
    const shown = this.#shownCall(now);
    // The row of a longer call has its own time.
    const time = (shown?.ms ?? 0) < 1000 && `${Math.floor(this.elapsedMs / 1000)} s`;
    const numbers = [time, ...this.#counted(now), "Esc stops"].filter(Boolean).join(" · ");
    if (shown) {
      const doing = this.#written === undefined ? `running · ${numbers}` : numbers;
      const mayMove = this.canMove && columns >= MIN_ONE_ROW_COLUMNS &&
        shown.called.subject?.action === "run" &&
        shown.ms > LONG_TOOL_MS;
      return [row(mayMove ? `${doing} · Ctrl-B moves it to the background` : doing)];
    }
    const after = columns >= MIN_ONE_ROW_COLUMNS ? ` · ${numbers}` : "";
    const room = columns - 2 - after.length;
    const what = shortened(this.#what(now, room), room);
    return after ? [row(what + after)] : [row(what), `  ${this.paint(numbers, DIM)}`];
  }

  #counted(now: number): string[] {
    const { tokens, firstAt } = this.#open;
    if (tokens === 0 || this.#call) return [];
    const seconds = (now - firstAt) / 1000;
    const isTelling = tokens > MIN_TOKENS_FOR_SPEED && seconds > 1;
    const speed = isTelling ? [`${Math.round(tokens / seconds)} tok/s`] : [];
    return [count(tokens, "token"), ...speed];
  }

  #what(now: number, columns: number): string {
    const written = this.#writtenCall();
    if (written !== undefined) return runningText(written);
    if (now < this.#loading.until) return this.#loading.text;
    if (this.#isSilent(now)) return "writing a call";
    return typeof this.#doing === "function" ? this.#doing(now, columns) : this.#doing;
  }

  #isSilent(now: number): boolean {
    const { tokens, lastAt } = this.#open;
    return tokens > 0 && this.#doing !== "waiting" && now - lastAt > SILENT_MS;
  }

  /** Whole words of the newest reasoning, which fill the rows before they move up. */
  #thoughtRows({ columns }: RowOptions, now: number): string[] {
    if (this.#doing !== "thinking" || this.#isSilent(now)) return [];
    const text = this.#thought.slice(-MAX_ROW_CHARS).replace(/\s+/g, " ").trimStart();
    const all = hangingRows("", sanitize(text.trimEnd()), columns - 2);
    const rows = all.slice(-MAX_THOUGHT_ROWS);
    this.#isThoughtCut ||= rows.length < all.length;
    const mark = this.#isThoughtCut ? "…" : " ";
    const isWhole = text.endsWith(" ");
    this.#thought = `${rows.map((row) => row.trimEnd()).join(" ")}${isWhole ? " " : ""}`;
    // The last word may be a part of one; scripts without spaces have no words to wait for.
    const last = rows.pop() ?? "";
    const whole = isWhole ? last : last.replace(/(?<= )[\x21-\x7e]+$/, "");
    return [...rows, whole].filter((row) => row !== "").map((row, at) =>
      this.paint(`${at === 0 ? mark : " "} ${row.trimEnd()}`, DIM | ITALIC)
    );
  }
}

/**
 * Formats the progress of a prompt, reported `ageMs` ago: `reading 50 % · 10.1k of 20.0k (2.0k cached) · 450
 * tok/s · 22 s left`. Few `columns` drop the cached tokens first, then the counts, the speed and the time.
 */
function readingText(
  { processed, total, cached, ms }: PromptProgress,
  ageMs: number,
  columns: number,
): string {
  const share = `reading ${Math.floor(100 * processed / Math.max(processed, total, 1))} %`;
  const size = `${thousands(processed)} of ${thousands(total)}`;
  const known = cached > 0 ? `${size} (${thousands(cached)} cached)` : size;
  const speed = 1000 * (processed - cached) / (ms ?? Infinity);
  const seconds = Math.ceil((total - processed) / speed - ageMs / 1000);
  const rate = speed > 0 ? [`${speed.toFixed(speed < 10 ? 1 : 0)} tok/s`] : [];
  const left = speed > 0 && seconds > 0 ? [`${aboutSeconds(seconds)} left`] : [];
  const ways = [[known, ...rate, ...left], [size, ...rate, ...left], [...rate, ...left], left];
  const rows = ways.map((parts) => [share, ...parts].join(" · "));
  return rows.find((row) => row.length <= columns) ?? share;
}

function timeText(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
