/** Totals of a turn: its time without questions, its tokens and their speed. @module */

import { count, thousands } from "../../../text/count.ts";
import type { TurnEvent } from "../../../types/event.ts";
import type { Change } from "../../../types/tool.ts";
import { changedLines } from "../../call_text.ts";
import { lineCounts } from "./call_rows.ts";

const MIN_TURN_MS = 5000;
const MIN_TURN_WITH_CALLS_MS = 1000;
const MIN_SHOWN_TOKENS = 1000;

/** The totals of one turn. Times are of `performance.now()`. */
export class TurnTally {
  #startedAt = 0;
  #calls = 0;
  /** Tokens counted by servers, and an estimate for the current answer. */
  #tokens = 0;
  #subAgentTokens = 0;
  #changes: Change[] = [];
  /** The current answer. */
  readonly open = { tokens: 0, firstAt: 0, lastAt: 0 };

  begin(): void {
    this.#startedAt = performance.now();
    this.#changes = [];
    this.#calls = this.#tokens = 0;
    this.#subAgentTokens = 0;
    this.open.tokens = 0;
  }

  onEvent(event: TurnEvent): void {
    switch (event.type) {
      case "tool_done":
        this.#calls++;
        if (event.exec.details?.change) this.#changes.push(event.exec.details.change);
        this.#subAgentTokens += event.exec.details?.usage?.outputTokens ?? 0;
        break;
      case "usage":
        return this.#endAnswer(event.usage.outputTokens);
      case "thinking":
        return this.#endAnswer(0);
    }
  }

  /** Counts about `tokens` of the current answer, such as one for each piece of it. */
  written(tokens = this.open.tokens + 1): void {
    this.open.lastAt = performance.now();
    if (this.open.tokens === 0) this.open.firstAt = this.open.lastAt;
    this.open.tokens = tokens;
  }

  get elapsedMs(): number {
    return performance.now() - this.#startedAt;
  }

  exclude(ms: number): void {
    this.#startedAt += ms;
  }

  /** Such as `Worked 34 s · 2.8k tokens · 1 file edited +3 −1`; undefined for a turn too short to report. */
  text(): string | undefined {
    this.#endAnswer(0);
    const ms = this.elapsedMs;
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
    this.#tokens += Math.max(counted, this.open.tokens);
    this.open.tokens = 0;
  }
}

function timeText(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
