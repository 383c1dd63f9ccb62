/** Removes the remaining marks of templates and calls from displayed text. @module */

import { foldMarker, MarkerReader } from "./markers.ts";
import { SeamJoiner } from "./seams.ts";

/** Special tokens with any words: `<|im_end|>`, `<｜DSML｜parameter name="x">`, `<tool_call|>`. */
const BARS = "[|｜‖]";
const TOKENS = [
  `<\\|channel\\|>commentary\\s+to=[\\w.-]*`,
  `</? {0,2}${BARS}{1,2} {0,2}DSML[^<>\\n]{0,160}(?=\\n)`,
  "</? ?(?:\\w{1,12}_)?calls>",
  `</? {0,2}${BARS}{1,2} {0,2}(?:DSML[^<>\\n]{0,160}|[A-Za-z_/\\\\"][\\w▁./:\\\\"-]{0,40} {0,2}${BARS}{0,2})>`,
  `<[\\w/▁]{1,30}${BARS}>`,
  "</?DSML [^<>\\n]{0,160}>",
  "</(?:mm:)?think(?:ing)?>(?=[^\\S\\n]*\\n)",
  "</?(?:tool_?calls?|toolcall|tool_(?:use|results?|exchange|output)|function_(?:calls?|results?|invocation)|param|arg_key|arg_value|(?:minimax|seed|tml|antml|longcat)[:_][\\w:]+|(?:start|end)_function_\\w+|(?:start|end)_of_turn|escape|tool_response|TOOLCALL)(?:[ :][^<>\\n]{0,120})?>",
  "</?(?:function|parameter|invoke)(?:=[^<>\\n]{1,120}| name=[^<>\\n]{1,120}| \\w+)?>",
];
/** Their starts at the end of a text. */
const BEGUN =
  `<(?:/? {0,2}${BARS}{0,2} {0,2}[^<>\\n]{0,160}|[\\w/▁:]{1,30}${BARS}?|/(?:mm:)?think(?:ing)?>[^\\S\\n]*)`;
/** Marks of other forms. */
const LITERALS = (
  "[tool_calls],[/tool_calls],[args],[call_id],[inst],[/inst],[tool_request],[tool_call],[/tool_call],[tool_call:,[calling tool:,[previous assistant tool use],]<]minimax[>[,<parameter>,</parameter>,<tool_code>," +
  "</tool_code>,</answer>,<answer>,</response>,<response>,[end_tool_request],[available_tools],]~b],[e~[,</s>,<s>,<eos>"
).split(",");
/** Marks of calls. If one is removed, the model tried to make a call. */
const OF_CALL =
  /tool_?call|dsml|function|invoke|parameter|arg_|minimax[:[]|seed:|args|tool_request|to=|\|call\|>|constrain|tool_sep|action|python_|toolcall|tool use|calling|tool_code/;
/** Marks that documents contain too. They are removed only beside others, or at the end of a line. */
const WEAK = /^<\/?(?:function|parameter|invoke|s|eos|escape)\b/;
/** Half of a mark without bars, at the end of an answer. */
const HALVED =
  /^<\/?(?:tool(?:_c(?:a(?:ll?s?)?)?)?|think(?:ing?)?|func(?:t(?:i(?:on?)?)?)?|end_of_\w*)$/i;
/** The text before a mark that a sentence mentions. */
const UNFINISHED = /[^\s.!?…。！？][^\S\n]+$/;

export class MarkCutter {
  readonly #marks = new MarkerReader(LITERALS, { tokens: TOKENS, begun: BEGUN });
  readonly #joiner = new SeamJoiner();
  /** The end of the line before the newest mark. */
  #line = "";
  /** A possibly mentioned mark. The next text decides. */
  #open: string | undefined;
  /** True on a line that mentions a mark, and so mentions all its others. */
  #isMentionLine = false;
  /** True right after a removed mark. */
  #isBehindCut = false;
  /** The removed marks that end a call. */
  #ends = 0;
  callMark: string | undefined;

  push(piece: string, final = false): string {
    this.#marks.push(piece);
    let text = "";
    for (;;) {
      const { text: read, marker, isQuoted = false } = this.#marks.next(final);
      text += this.#take(read, final && marker === undefined);
      if (marker === undefined) return final ? text + this.#joiner.end() : text;
      const mark = foldMarker(marker);
      // A mark right after an undecided one is treated the same way.
      if (this.#open !== undefined && WEAK.test(foldMarker(this.#open))) this.#resolve(false);
      if (isQuoted || this.#isMentionLine || this.#open !== undefined) {
        text += this.#resolve(true) + this.#take(marker, false);
        this.#marks.keep(marker);
      } else if (UNFINISHED.test(this.#line) || WEAK.test(mark) && !this.#isBehindCut) {
        this.#open = marker;
      } else this.#cut(mark);
    }
  }

  #cut(mark: string): void {
    // One end of a call after an answer is noise. Several are the remains of a call.
    if (OF_CALL.test(mark) && (!mark.startsWith("</") || this.#ends++ > 0)) this.callMark ??= mark;
    this.#isBehindCut = true;
    this.#joiner.cut();
  }

  /** Decides about the open mark: text, or removed. */
  #resolve(isText: boolean): string {
    const marker = this.#open;
    this.#open = undefined;
    if (marker === undefined) return "";
    if (isText) {
      this.#marks.keep(marker);
      this.#isMentionLine = true;
    } else this.#cut(foldMarker(marker));
    return isText ? this.#joiner.push(marker) : "";
  }

  #take(text: string, final: boolean): string {
    // Half a mark at the end of the text.
    if (final && text !== "") {
      const end = new RegExp(`<[|｜][\\w▁|｜\\\\/]{0,40}$|<\\|$|</?[a-z_]{3,16}$`, "i").exec(text);
      if (end && (/^<[|｜]/.test(end[0]) || HALVED.test(end[0]))) {
        text = text.slice(0, end.index);
        this.#cut(foldMarker(end[0]));
      }
    }
    let lead = "";
    // More text on the line makes the mark a mention.
    if (this.#open !== undefined && (text !== "" || final)) {
      const isUnfinished = !WEAK.test(this.#open) || UNFINISHED.test(this.#line);
      lead = this.#resolve(isUnfinished && /^[^\S\n]*[^\s<]/.test(text));
    }
    if (text === "") return lead;
    if (text.trim() !== "") this.#isBehindCut = false;
    if (text.includes("\n")) this.#isMentionLine = false;
    const line = this.#line + lead + text;
    this.#line = line.slice(line.lastIndexOf("\n") + 1).slice(-200);
    return lead + this.#joiner.push(text);
  }
}
