import { SeamJoiner } from "../text/seams.ts";
import type { ToolCall } from "../types/message.ts";
import { BEFORE_CALL_CHARS, isForbidden, isProposal, mayBeProposal } from "./proposal.ts";
import { type CallScanner, callScanner, type ScannedPart, type ToolCallOptions } from "./scan.ts";
import { SentenceScanner } from "./sentences.ts";

/**
 * Takes tool calls out of text as it streams: in all, as {@linkcode extractToolCallsFromText} does. Held
 * back is what may be part of a call, white space until text follows, and all that follows a call: if a
 * native call comes, the written one is text after all.
 */
export class ToolCallFilter {
  readonly #scanner: CallScanner;
  #rest = new SeamJoiner();
  #calls: ToolCall[] = [];
  /** What came since the first call, and the text without the calls. */
  #held: ScannedPart[] = [];
  #cleaned = "";
  #isReleased = false;
  /** The end of the text before the first call. */
  #lead = "";
  /** True where every call stands in a code block, which may only show it. */
  #areFenced = true;
  readonly #mayBeShown: boolean;

  constructor(options: ToolCallOptions = {}) {
    // Without the offered names, every such block is a call (spec 4.6).
    this.#mayBeShown = options.tools !== undefined;
    this.#scanner = new SentenceScanner(callScanner(options));
  }

  /** Takes the next piece; returns what can be shown now. */
  push(piece: string): string {
    return this.#scan(piece, false);
  }

  /**
   * A native call came: those in the text are none. Marked ones are dropped from here on, and code blocks are
   * text. Returns the text that was held back.
   */
  release(): string {
    if (this.#isReleased) return "";
    this.#isReleased = true;
    if (this.#calls.length === 0) return "";
    this.#calls = [];
    this.#rest = new SeamJoiner();
    // What came before the first call is shown: the joiner goes on behind it.
    if (this.#lead.trim() !== "") this.#rest.push("x");
    return this.#held.map((part) => this.#take(part)).join("");
  }

  /** From here on, think tags are text. */
  ignoreTags(): void {
    this.#scanner.ignoreTags();
  }

  /** The text is over; returns the rest that can be shown, and the calls. */
  end(): { text: string; calls: ToolCall[] } {
    const text = this.#scan("", true);
    if (this.#isReleased) return { text: text + this.#rest.end(), calls: [] };
    const behind = this.#cleaned + this.#rest.end();
    // An end tag too many is no text, and a result before the call ran is made up.
    const isStray = this.#calls.length > 0 &&
      /^\s*(?:(?:<\/tool_?call>\s*)+$|Observation:|<(?:function|tool)_(?:results?|output)>)/.test(
        behind,
      );
    const rest = isStray ? "" : behind;
    const isFenced = this.#mayBeShown && this.#calls.length > 0 && this.#areFenced;
    if (isFenced && isProposal(this.#lead, rest)) return { text: text + this.#written, calls: [] };
    let calls = this.#calls;
    if (isFenced && mayBeProposal(this.#lead, rest)) {
      calls = calls.map((call) => ({ ...call, mayBeShown: true }));
    } else if (this.#mayBeShown && isForbidden(this.#lead)) {
      calls = calls.map((call) => ({
        ...call,
        invalid: { text: JSON.stringify(call.arguments), reason: FORBIDDEN_REASON },
      }));
    }
    return { text: text + rest, calls };
  }

  /** The text since the first call, as the model wrote it. */
  get #written(): string {
    return this.#held.map(({ text }) => text).join("");
  }

  #scan(piece: string, final: boolean): string {
    let text = "";
    for (const part of this.#scanner.push(piece, final)) text += this.#take(part);
    return text;
  }

  #take(part: ScannedPart): string {
    if (this.#isReleased) {
      if (part.kind !== "calls" || part.isFenced) return this.#rest.push(part.text);
      this.#rest.cut();
      return "";
    }
    const isFirst = this.#calls.length === 0;
    if (part.kind === "calls") {
      if (isFirst) this.#held = [{ kind: "text", text: this.#rest.end() }];
      this.#areFenced &&= part.isFenced;
      for (const call of part.calls) this.#calls.push(call);
      this.#rest.cut();
    } else if (part.kind === "retraction" && !isFirst) {
      const text = this.#written;
      this.#rest = new SeamJoiner();
      this.#calls = [];
      this.#held = [];
      this.#cleaned = this.#lead = "";
      this.#areFenced = true;
      return text + this.#rest.push(part.text);
    } else if (isFirst) {
      this.#lead = (this.#lead + part.text.slice(-BEFORE_CALL_CHARS)).slice(-BEFORE_CALL_CHARS);
      return this.#rest.push(part.text);
    } else this.#cleaned += this.#rest.push(part.text);
    this.#held.push(part);
    return "";
  }
}

const FORBIDDEN_REASON =
  "the sentence before it refuses it; if you mean the call, write it without such words";

/**
 * Finds the tool calls that a model wrote into its text (spec 4.6) instead of calling tools as the
 * server would have it: in `<toolcall>` tags, and in code blocks labelled json.
 * Calls are marked `recovered`. A call that was cut off, or whose JSON is broken, is marked `invalid`
 * and is not to be run; the reason is for the model. Nothing quoted is a call: in other code, a block
 * quote, `<pre>` or `<code>`, behind a quotation mark. Nor is anything in reasoning, but for calls in
 * tags at the end of a block that never ends. Give it text as the model wrote it, before reasoning is
 * removed, so that arguments keep the think tags they hold.
 *
 * @returns The text without the calls, and the calls; `content` itself and `null` when there are none.
 */
export function extractToolCallsFromText(
  content: string,
  options: ToolCallOptions = {},
): [cleanedContent: string, toolCalls: ToolCall[] | null] {
  const filter = new ToolCallFilter(options);
  const shown = filter.push(content);
  const { text, calls } = filter.end();
  return calls.length > 0 ? [shown + text, calls] : [content, null];
}
