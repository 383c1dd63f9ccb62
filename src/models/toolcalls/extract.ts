import { SeamJoiner } from "../../text/seams.ts";
import type { ToolCall } from "../../types/message.ts";
import { BEFORE_CALL_CHARS, isForbidden, isProposal, mayBeProposal } from "./proposal.ts";
import { callScanner, type FormatScanner, type ScannedPart, type ToolCallOptions } from "./scan.ts";
import { SentenceFilter } from "./sentences.ts";

/**
 * Extracts tool calls from streamed text, with the same result as {@linkcode extractToolCallsFromText}. Holds
 * back possible parts of a call, white space until text follows, and everything after a call: after a native
 * call, the written one is text.
 */
export class ToolCallFilter {
  readonly #scanner: FormatScanner;
  readonly #sentences = new SentenceFilter();
  #rest = new SeamJoiner();
  #calls: ToolCall[] = [];
  #pending: ScannedPart[] = [];
  #behind = "";
  #hasNativeCall = false;
  /** The end of the text before the first call. */
  #lead = "";
  /** True if every call is in a code block, which may be an example. */
  #areFenced = true;
  readonly #knowsTools: boolean;

  constructor(options: ToolCallOptions = {}) {
    // Without the offered names, each call in a code block counts (spec 4.6).
    this.#knowsTools = options.tools !== undefined;
    this.#scanner = callScanner(options);
  }

  push(piece: string): string {
    return this.#scan(piece, false);
  }

  onNativeCall(): string {
    if (this.#hasNativeCall) return "";
    this.#hasNativeCall = true;
    if (this.#calls.length === 0) return "";
    this.#calls = [];
    this.#rest = new SeamJoiner();
    // The text before the first call is already shown. The joiner continues after it.
    if (this.#lead.trim() !== "") this.#rest.push("x");
    return this.#pending.map((part) => this.#take(part)).join("");
  }

  /** From here on, think tags are text. */
  ignoreTags(): void {
    this.#scanner.ignoreTags();
  }

  end(): { text: string; calls: ToolCall[] } {
    const text = this.#scan("", true);
    if (this.#hasNativeCall) return { text: text + this.#rest.end(), calls: [] };
    const behind = this.#behind + this.#rest.end();
    // An extra end tag is not text, and a result before the call ran is made up.
    const isStray = this.#calls.length > 0 &&
      /^\s*(?:(?:<\/tool_?call>\s*)+$|Observation:|<(?:function|tool)_(?:results?|output)>)/.test(
        behind,
      );
    const rest = isStray ? "" : behind;
    const isFenced = this.#knowsTools && this.#calls.length > 0 && this.#areFenced;
    if (isFenced && isProposal(this.#lead, rest)) return { text: text + this.#written, calls: [] };
    let calls = this.#calls;
    if (isFenced && mayBeProposal(this.#lead, rest)) {
      calls = calls.map((call) => ({ ...call, mayBeShown: true }));
    } else if (calls.length > 0 && this.#knowsTools && isForbidden(this.#lead)) {
      calls = calls.map((call) => ({
        ...call,
        invalid: { text: JSON.stringify(call.arguments), reason: FORBIDDEN_REASON },
      }));
    }
    return { text: text + rest, calls };
  }

  /** The text since the first call, as the model wrote it. */
  get #written(): string {
    return this.#pending.map(({ text }) => text).join("");
  }

  #scan(piece: string, final: boolean): string {
    let text = "";
    const parts = this.#sentences.push(this.#scanner.push(piece, final), final);
    for (const part of parts) text += this.#take(part);
    return text;
  }

  #take(part: ScannedPart): string {
    if (this.#hasNativeCall) {
      if (part.kind !== "calls" || part.isFenced) return this.#rest.push(part.text);
      this.#rest.cut();
      return "";
    }
    const isFirst = this.#calls.length === 0;
    if (part.kind === "calls") {
      if (isFirst) this.#pending = [{ kind: "text", text: this.#rest.end() }];
      this.#areFenced &&= part.isFenced;
      for (const call of part.calls) this.#calls.push(call);
      this.#rest.cut();
    } else if (part.kind === "retraction" && !isFirst) {
      const text = this.#written;
      this.#rest = new SeamJoiner();
      this.#calls = [];
      this.#pending = [];
      this.#behind = this.#lead = "";
      this.#areFenced = true;
      return text + this.#rest.push(part.text);
    } else if (isFirst) {
      this.#lead = (this.#lead + part.text.slice(-BEFORE_CALL_CHARS)).slice(-BEFORE_CALL_CHARS);
      return this.#rest.push(part.text);
    } else this.#behind += this.#rest.push(part.text);
    this.#pending.push(part);
    return "";
  }
}

const FORBIDDEN_REASON =
  "the sentence before it refuses it; if you mean the call, write it without such words";

/**
 * Finds the tool calls that a model wrote into its text (spec 4.6) instead of using the server's format: in
 * `<toolcall>` tags, and in code blocks labelled json. Calls are marked `recovered`. An incomplete call, or one
 * with broken JSON, is marked `invalid` with a reason for the model, and must not run. Quoted text is not a call:
 * other code, a block quote, `<pre>` or `<code>`, text after a quotation mark. Neither is reasoning, except calls
 * in tags at the end of a block that never ends. Pass the text as the model wrote it, including reasoning, so
 * that arguments keep their think tags.
 *
 * @returns The text without the calls, and the calls; `content` itself and `null` if it has no calls.
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
