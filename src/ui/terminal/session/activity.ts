/** The activity line of a running turn: time, tokens and current step. @module */

import { aboutSeconds, count, thousands } from "../../../text/count.ts";
import { oneLine } from "../../../text/one_line.ts";
import { BOLD, DIM, type Painter } from "../style.ts";
import type { PromptProgress, RetryNotice } from "../../../types/event.ts";
import type { NewestOutput, Subject } from "../../../types/tool.ts";
import { sanitize } from "../../../text/sanitize.ts";
import { brokenRow, styledRows } from "../styled.ts";
import { rowsOf } from "../../../text/width.ts";
import { type Called, runningText } from "../../call_text.ts";
import { newestText, retryText } from "../../progress.ts";
import { WrittenCall } from "./written_call.ts";

/** A command's newest lines are shown after this time, in milliseconds. */
const LONG_TOOL_MS = 500;
/** A check of a loading server is overdue after this time, in milliseconds. */
const LOOK_MS = 2000;
/** Narrower terminals get two rows. */
const MIN_ONE_ROW_COLUMNS = 60;
const SPINNER_FRAME_MS = 120;
/** After this silence within an answer, in milliseconds, the model is writing a call that arrives as a whole. */
const SILENT_MS = 3000;
const MIN_TOKENS_FOR_SPEED = 20;
const GHOST_ROWS = 4;

const MAX_ROW_CHARS = 4096;

/** Returns the object of a call whose arguments may be incomplete. */
export type SubjectOf = (name: string, args: Record<string, unknown>) => Subject | undefined;

export class Activity {
  #isActive = false;
  readonly #frames: readonly string[];
  #startedAt = 0;
  /** The current step; a function if it depends on the time and the columns. */
  #doing: string | ((now: number, columns: number) => string) = "";
  #tokens = 0;
  #firstTokenAt = 0;
  #tokenAt: number | undefined;
  /** The start time of the running call, and the newest lines of its output. */
  #tool = { startedAt: 0 };
  #newest: NewestOutput | undefined;
  /** The text while the server loads its model, and until when it is known to load. */
  #loading = { text: "", until: 0 };
  #thought = "";
  #written: WrittenCall | undefined;
  #retry: { notice: RetryNotice; at: number } | undefined;

  constructor(
    private readonly paint: Painter,
    unicode: boolean,
    private readonly subjectOf: SubjectOf = () => undefined,
  ) {
    this.#frames = [...unicode ? "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏" : "|/-\\"];
  }

  begin(doing: string): void {
    this.#isActive = true;
    this.#startedAt = performance.now();
    this.#tokens = 0;
    this.#newest = undefined;
    this.#written = this.#retry = this.#tokenAt = undefined;
    this.#loading.until = 0;
    this.#tool.startedAt = this.#startedAt;
    this.#doing = oneLine(doing);
  }

  end(): void {
    this.#isActive = false;
  }

  leaveOut(ms: number): void {
    this.#startedAt += ms;
  }

  request(): void {
    this.#tokens = 0;
    this.#written = this.#tokenAt = undefined;
  }

  token(doing: string): void {
    this.#loading.until = 0;
    this.#written = this.#retry = undefined;
    this.#tokenAt = performance.now();
    if (this.#tokens++ === 0) this.#firstTokenAt = this.#tokenAt;
    this.#doing = doing;
  }

  written(tokens: number): void {
    if (this.#tokens === 0) this.#firstTokenAt = performance.now();
    this.#tokens = tokens;
  }

  /** Counts about one token of reasoning. `isFirst` is true for its start. */
  thought(delta: string, isFirst = false): void {
    this.token("thinking");
    this.#thought = (isFirst ? "" : this.#thought) + delta;
  }

  /** Adds a piece of the arguments of a call of `name`. An empty one starts the call. */
  writesCall(name: string, text: string): void {
    const written = text === "" ? undefined : this.#written;
    this.token("waiting");
    this.#written = written ?? new WrittenCall(name);
    this.#written.push(text);
  }

  /** The newest rows, in `columns`, of the file being written or the tool's output. */
  ghostRows(columns: number): string[] {
    const isLong = performance.now() - this.#tool.startedAt > LONG_TOOL_MS;
    const printed = this.#newest && isLong ? newestText(this.#newest) : "";
    const tail = this.#written?.file?.tail ?? printed;
    if (!this.#isActive || tail.trim() === "") return [];
    return tail.split("\n").slice(-GHOST_ROWS)
      .map((line) => this.paint(`    ${rowsOf(sanitize(line), Math.max(8, columns - 4))[0]}`, DIM));
  }

  readsPrompt(progress: PromptProgress): void {
    const at = performance.now();
    this.#loading.until = 0;
    this.#retry = undefined;
    this.#doing = (now, columns) => readingText(progress, now - at, columns);
  }

  queued(): void {
    this.#doing = "queued behind another request";
  }

  retry(notice: RetryNotice): void {
    this.#retry = { notice, at: performance.now() };
  }

  /** The server is loading `model`, and is checked again in `nextLookMs` if that is known. */
  load(model: string, nextLookMs = Infinity): void {
    const until = performance.now() + nextLookMs + LOOK_MS;
    this.#loading = { text: `loading ${oneLine(model)}`, until };
  }

  toolStarts(call: Called): void {
    this.#written = this.#tokenAt = undefined;
    this.#doing = runningText(call);
    this.#tool = { startedAt: performance.now() };
  }

  /** A tool is running. `newest` returns the last lines of its output. */
  toolPrints(newest: NewestOutput): void {
    this.#newest = newest;
  }

  toolEnds(): void {
    this.#doing = "waiting";
    this.#newest = undefined;
  }

  /** Formats the line, in two rows if one would cut off the current step; undefined between turns. */
  rows(columns: number): string[] | undefined {
    if (!this.#isActive) return undefined;
    const now = performance.now();
    const frame = this.#frames[Math.floor(now / SPINNER_FRAME_MS) % this.#frames.length]!;
    const time = `${Math.floor((now - this.#startedAt) / 1000)} s`;
    const numbers = `${time}${this.#counted(now)} · Esc stops`;
    const row = (text: string) => `${this.paint(frame, BOLD)} ${this.paint(text, DIM)}`;
    const before = columns >= MIN_ONE_ROW_COLUMNS ? `${numbers} · ` : "";
    const what = this.#what(now, columns - 2 - before.length);
    return before ? [row(before + what)] : [row(what), `  ${this.paint(numbers, DIM)}`];
  }

  #counted(now: number): string {
    if (this.#tokens === 0) return "";
    const seconds = (now - this.#firstTokenAt) / 1000;
    const isTelling = this.#tokens > MIN_TOKENS_FOR_SPEED && seconds > 1;
    const speed = isTelling ? ` · ${Math.round(this.#tokens / seconds)}/s` : "";
    return ` · ${count(this.#tokens, "token")}${speed}`;
  }

  #what(now: number, columns: number): string {
    if (this.#written !== undefined) return this.#writtenText(this.#written);
    if (this.#retry !== undefined) {
      const { notice, at } = this.#retry;
      return retryText({ ...notice, delayMs: Math.max(0, at + notice.delayMs - now) });
    }
    if (now < this.#loading.until) return this.#loading.text;
    if (now - (this.#tokenAt ?? now) > SILENT_MS) return "writing a call";
    if (typeof this.#doing === "function") return this.#doing(now, columns);
    if (this.#doing !== "thinking") return this.#doing;
    return `thinking: ${this.#thoughtRow(columns - "thinking: ".length)}`;
  }

  /** Reasoning fills one row before it starts a new one, so that it can be read. */
  #thoughtRow(columns: number): string {
    const text = this.#thought.slice(-MAX_ROW_CHARS).replace(/\s+/g, " ").trimStart();
    const [row] = styledRows(sanitize(text), Infinity);
    const last = brokenRow(row!, Math.max(8, columns)).at(-1)!;
    const shown = last.map(({ text }) => text).join("");
    this.#thought = /\s$/.test(text) ? `${shown.trimEnd()} ` : shown;
    return shown.trimEnd();
  }

  #writtenText({ name, args, file }: WrittenCall): string {
    const subject = this.subjectOf(name, args);
    const text = runningText({ toolName: name, arguments: args, ...subject && { subject } });
    return file === undefined ? text : `${text} · ${count(file.lines, "line")}`;
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
