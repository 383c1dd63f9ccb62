/**
 * Converts the reasoning channels that models write into their text to `<think>` tags. Reads gpt-oss's Harmony
 * (`<|channel|>analysis<|message|>...<|end|>`, or without tokens, `analysis...assistantfinal...`), Gemma's
 * (`<|channel>thought ... <channel|>`), and the tags of Magistral, Cohere, Apertus and Kimi. A recipient
 * (`to=functions.N`) makes any channel a call.
 * @module
 */

import { foldMarker, MarkerReader } from "./markers.ts";

const THINK_PAIRS = [
  ...["[think] [/think]", "<|start_thinking|> <|end_thinking|>", "◁think▷ ◁/think▷"],
  ...["<|inner_prefix|> <|inner_suffix|>", "<|open|>think<|sep|> <|close|>think<|sep|>"],
  ...["mm:think", "longcat_think", "reasoning_scratchpad"].map((name) => `<${name}> </${name}>`),
];
const TAGS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(THINK_PAIRS.flatMap((pair) => {
    const [open, close] = pair.split(" ");
    return [[open, "<think>"], [close, "</think>"]];
  })),
  "<channel|>": "</think>",
};
/** Template marks that open a message and are followed by a role. */
const SPEAKERS = ["<|im_start|>", "<|start_header_id|>", "]~b]"];
/** Marks after which someone other than the model speaks. */
const OTHER_SPEAKERS = ["<|user|>", "<|observation|>"];
const HEADS = ["<|channel|>", "<|start|>", "<|channel>", ...SPEAKERS];
const MESSAGE_ENDS = ["<|end|>", "<|return|>", "<|call|>"];
/** Channel names that lost their tokens. */
const BARE = ["assistantfinal", "assistantcommentary to=", "to=functions."];
const HEADER_ENDS = ["<|message|>", "<|end_header_id|>"];
const CHANNEL_MARKS = Object.keys(TAGS)
  .concat(HEADS, OTHER_SPEAKERS, MESSAGE_ENDS, HEADER_ENDS, BARE);
const MAX_HEADER = 160;
/** The characters that are kept of a line: to look at a whole one for each piece takes quadratic time. */
const LINE_CHARS = 1000;
/** The words of a header before a bare recipient. */
const BARE_HEADER = /(?:^|\n)[ \t]*(?:assistant|commentary|analysis)?[ \t]*$/;

const HEADER_WORDS = ["assistant", "commentary", "analysis"];

/** True for the start of a line that may become {@linkcode BARE_HEADER}. */
function mayBeHeader(line: string): boolean {
  const text = line.trimStart();
  return text !== "" &&
    HEADER_WORDS.some((word) =>
      word.startsWith(text) || text.startsWith(word) && text.slice(word.length).trim() === ""
    );
}

/** Rewrites streamed text. Marks in Markdown code or mentioned in a sentence stay text. */
export class ChannelReader {
  readonly #marks = new MarkerReader(CHANNEL_MARKS);
  /** The text after the mark that opened a header; undefined outside a header. */
  #header: string | undefined;
  #mark = "";
  #isInThought = false;
  /** True in the message of a call. The reader of calls gets its text. */
  #isInCall = false;
  /** True after the model started to play a tool: the rest is made up. */
  #isOver = false;
  /** The text of the current line, and of a line that may become a header. */
  #line = "";
  #pending = "";
  #isStart = true;

  push(piece: string, final = false): string {
    this.#marks.push(piece);
    let text = "";
    for (;;) {
      const read = this.#marks.next(final);
      const { marker, isQuoted = false } = read;
      text += this.#take(read.text);
      if (marker === undefined) break;
      const mark = foldMarker(marker);
      // A word such as `analysis` right before a mark belongs to it.
      const isMention = isQuoted || this.#isMentioned(mark);
      text += isMention ? this.#take(marker) : this.#takeMark(mark, marker);
      if (isMention) this.#marks.keep(marker);
    }
    if (!final) return text;
    if (this.#header !== undefined) text += this.#endHeader();
    return text + this.#release();
  }

  #isMentioned(mark: string): boolean {
    if (this.#header !== undefined) return false;
    const line = this.#line + this.#pending;
    if (mark === "assistantfinal") return !/\S$/.test(line) && line.trim() !== "";
    if (mark === "to=functions.") return !BARE_HEADER.test(`\n${line}`);
    return /[\p{L}\p{N},;:] +$/u.test(line) && !MESSAGE_ENDS.includes(mark) && !this.#isInThought;
  }

  /** Reads text outside marks. Returns the part that is certain to be text. */
  #take(text: string): string {
    if (this.#isOver || text === "") return "";
    if (this.#header !== undefined) {
      this.#header += text;
      const isOver = SPEAKERS.includes(this.#mark) && this.#header.includes("\n");
      return isOver || this.#header.length > MAX_HEADER ? this.#endHeader() : "";
    }
    let all = this.#pending + text;
    this.#pending = "";
    if (this.#isStart) {
      // If the prompt ended with the mark, the channel's name starts the text. Markup there is never indented code.
      const isName = "thought\n".startsWith(all.trimStart());
      if (isName || /^\s+<.{0,11}$/.test(all)) {
        this.#pending = all;
        return "";
      }
      all = all.replace(/^\s*thought\n|^\s+(?=<(?:[|｜]|tool_call|function|invoke|\w+:))/, "");
      this.#isStart = all.trim() === "";
    }
    const at = all.lastIndexOf("\n") + 1;
    const line = at > 0 ? all.slice(at) : this.#line + all;
    // The line may be the header of a bare recipient.
    const isPending = !this.#isInCall && this.#line.trim() === "" && mayBeHeader(all.slice(at));
    this.#line = line.slice(-LINE_CHARS, isPending ? line.length - all.length + at : line.length);
    if (!isPending) return all;
    this.#pending = all.slice(at);
    return all.slice(0, at);
  }

  #release(): string {
    const pending = this.#pending;
    this.#pending = "";
    return pending;
  }

  #takeMark(mark: string, marker: string): string {
    if (this.#isOver) return "";
    this.#isStart = false;
    const before = this.#header === undefined ? "" : this.#endHeader(mark);
    if (HEADS.includes(mark) || mark.endsWith("to=") || mark === "to=functions.") {
      const closing = this.#close();
      if (!HEADS.includes(mark)) this.#pending = "";
      const lead = this.#release();
      this.#mark = mark;
      const to = mark.indexOf("to=");
      this.#header = to < 0 ? "" : ` ${mark.slice(to)}`;
      return before + lead + closing;
    }
    if (HEADER_ENDS.includes(mark)) return before;
    const lead = this.#release();
    this.#isOver = OTHER_SPEAKERS.includes(mark);
    if (this.#isOver) return before + lead + this.#close();
    this.#line = "";
    if (MESSAGE_ENDS.includes(mark)) {
      const isCall = this.#isInCall;
      this.#isInCall = false;
      return before + lead + (isCall || mark === "<|call|>" ? "<|call|>" : this.#close());
    }
    const tag = mark === "assistantfinal" ? "</think>" : TAGS[mark]!;
    this.#isInThought = tag === "<think>";
    return before + lead + (tag ?? marker);
  }

  #close(): string {
    const isOpen = this.#isInThought;
    this.#isInThought = this.#isInCall = false;
    return isOpen ? "</think>" : "";
  }

  #endHeader(mark = ""): string {
    const header = this.#header!;
    this.#header = undefined;
    if (this.#mark === "<|channel>") {
      const [thought] = /^\s*thought[ \t]*\n?/.exec(header) ?? [];
      this.#isInThought = thought !== undefined;
      return thought === undefined ? header : `<think>${header.slice(thought.length)}`;
    }
    if (/\bto=(?!assistant\b)/.test(header)) {
      this.#isInCall = true;
      return `<|channel|>commentary${header}${mark === "<|message|>" ? mark : ""}`;
    }
    if (SPEAKERS.includes(this.#mark)) {
      const [lead, who] =
        /^\s*(assistant|ai|user|system|tool|ipython)?[ \t]*(?:\n|$)/.exec(header) ??
          [];
      const isAlone = mark === "<|end_header_id|>" || /(?:^|\|>)\s*$/.test(this.#line);
      this.#isOver = who !== undefined && !/^a/.test(who) && isAlone;
      return this.#isOver ? "" : header.slice(lead?.length ?? 0);
    }
    if (this.#mark === "<|start|>") {
      // Another speaker: a made-up tool result, or the user.
      this.#isOver = /^\s*(?:functions\b|user\b|tool\b)/.test(header);
      if (this.#isOver) return "";
      const rest = header.replace(/^\s*assistant/, "");
      return mark === "" ? rest : "";
    }
    if (mark !== "<|message|>") return mark === "" ? header.replace(/^\w+/, "") : "";
    this.#isInThought = /^\s*(?:analysis|$)/.test(header);
    return this.#isInThought ? "<think>" : "";
  }
}
