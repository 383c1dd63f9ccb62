/** The line that says what a turn is doing: how long, how many tokens, what. @module */

import { count } from "../../text/count.ts";
import { oneLine, shortened } from "../../text/one_line.ts";
import { BOLD, DIM, type Painter } from "../../terminal/style.ts";
import { type Called, runningText } from "../call_text.ts";

/** A command that runs for longer, in milliseconds, shows its newest line. */
const LONG_TOOL_MS = 2000;
/** A look at a loading server is overdue after this time, in milliseconds. */
const LOOK_MS = 2000;
/** The most characters of a call beside the newest line of its output. */
const MAX_TOOL_CHARS = 30;
const SPINNER_FRAME_MS = 120;
/** The number of tokens that are enough to show a speed. */
const MIN_TOKENS_FOR_SPEED = 20;
/** The number of newest deltas of reasoning that are shown. */
const SHOWN_DELTAS = 30;

/** The state of the line; times are of `performance.now()`. */
export class Activity {
  #isActive = false;
  readonly #frames: readonly string[];
  #startedAt = 0;
  #doing = "";
  #tokens = 0;
  #firstTokenAt = 0;
  /** The call that runs, since when, and the newest line of its output. */
  #tool = { text: "", startedAt: 0 };
  #newest: (() => string) | undefined;
  /** The text to show while the server loads its model, and the time until which it is known to load. */
  #loading = { text: "", until: 0 };
  #reasoning: readonly string[] = [];

  constructor(private readonly paint: Painter, unicode: boolean) {
    this.#frames = [...unicode ? "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏" : "|/-\\"];
  }

  begin(doing: string): void {
    this.#isActive = true;
    this.#startedAt = performance.now();
    this.#tokens = 0;
    this.#newest = undefined;
    this.#loading.until = 0;
    this.#tool.startedAt = this.#startedAt;
    this.#doing = oneLine(doing);
  }

  end(): void {
    this.#isActive = false;
  }

  /** A request goes out: its tokens count from 0. */
  request(): void {
    this.#tokens = 0;
  }

  /** The model wrote about a token of its answer. */
  token(doing: string): void {
    this.#loading.until = 0;
    if (this.#tokens++ === 0) this.#firstTokenAt = performance.now();
    this.#doing = doing;
  }

  /** The model wrote about a token of reasoning; `deltas` are all of it so far. */
  thought(deltas: readonly string[]): void {
    this.token("thinking");
    this.#reasoning = deltas;
  }

  /** The server loads `model`, and is looked at again in `nextLookMs`, where that is known. */
  load(model: string, nextLookMs = Infinity): void {
    const until = performance.now() + nextLookMs + LOOK_MS;
    this.#loading = { text: `loading ${oneLine(model)}`, until };
  }

  toolStarts(call: Called): void {
    this.#doing = runningText(call);
    this.#tool = { text: this.#doing, startedAt: performance.now() };
  }

  /** `newest` looks up the newest line that the running tool printed. */
  toolPrints(newest: () => string): void {
    this.#newest = newest;
  }

  toolEnds(): void {
    this.#doing = "waiting";
    this.#newest = undefined;
  }

  /** The line; undefined between turns. */
  line(): string | undefined {
    if (!this.#isActive) return undefined;
    const now = performance.now();
    const frame = this.#frames[Math.floor(now / SPINNER_FRAME_MS) % this.#frames.length]!;
    const time = `${Math.floor((now - this.#startedAt) / 1000)} s`;
    const text = `${time}${this.#counted(now)} · Esc stops · ${this.#what(now)}`;
    return `${this.paint(frame, BOLD)} ${this.paint(text, DIM)}`;
  }

  #counted(now: number): string {
    if (this.#tokens === 0) return "";
    const seconds = (now - this.#firstTokenAt) / 1000;
    const isTelling = this.#tokens > MIN_TOKENS_FOR_SPEED && seconds > 1;
    const speed = isTelling ? ` · ${Math.round(this.#tokens / seconds)}/s` : "";
    return ` · ${count(this.#tokens, "token")}${speed}`;
  }

  #what(now: number): string {
    if (now < this.#loading.until) return this.#loading.text;
    const isLong = now - this.#tool.startedAt > LONG_TOOL_MS;
    const printed = this.#newest && isLong ? oneLine(this.#newest()) : "";
    if (printed !== "") return `${shortened(this.#tool.text, MAX_TOOL_CHARS)}: ${printed}`;
    if (this.#doing !== "thinking") return this.#doing;
    return `thinking: ${oneLine(this.#reasoning.slice(-SHOWN_DELTAS).join(""))}`;
  }
}
