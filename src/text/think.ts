/**
 * Reasoning that models write into their text.
 *
 * `<think>` ... `</think>` is reasoning anywhere; `<thinking>`, `<thought>`, `<reasoning>` and `<seed:think>`
 * only at the start of the text, because other markup uses them too. Tags have any case and no attributes. A
 * block ends at its first end tag, regardless of its content: code in reasoning is often unfinished. Only
 * an end tag in backticks does not end it.
 *
 * Without an end tag, the rest is reasoning if the tag is the first of its line (other names: alone on its line).
 * Otherwise the tag is a mention, and everything is text.
 *
 * A `</think>` without an opening tag (some templates write it themselves) makes all the text before it reasoning
 * if it is the first tag of the text. Later ones are removed, and so are other names alone on their line.
 *
 * Outside reasoning, tags in Markdown code and tables are text.
 * @module
 */

import { foldMarker, type MarkedText, MarkerReader } from "./markers.ts";
import { SeamJoiner } from "./seams.ts";

const THINK_TAGS = ["think", "thinking", "thought", "reasoning", "seed:think"];
const CLOSERS = THINK_TAGS.map((name) => `</${name}>`);
const OPENERS_AND_CLOSERS: ReadonlySet<string> = new Set([
  ...THINK_TAGS.map((name) => `<${name}>`),
  ...CLOSERS,
]);

const NONE: readonly string[] = [];

/** A part of the text that {@linkcode ThinkReader.next} returns. */
type ThinkToken =
  /** One of the caller's markers follows `text`. */
  | ({ kind: "text" } & MarkedText)
  /** `end`: a tag that ends reasoning or is removed. `retraction`: everything before it was reasoning. */
  | { kind: "begin" | "thought" | "end" | "retraction"; text: string };

/**
 * Finds reasoning, and the caller's markers outside it, in streamed text. Holds back a possible part of a tag,
 * and the text after a tag that starts reasoning only if it is closed.
 */
export class ThinkReader {
  /** Finds the markers outside reasoning. Markers that stay go to {@linkcode keep}. */
  readonly markers: MarkerReader;
  readonly #inside = new ThoughtReader();
  #mode: "text" | "thought" | "held" = "text";
  /** In mode `held`: a tag that starts reasoning if it is closed, and the text after it. */
  #opener = "";
  #pending: string[] = [];
  readonly #tokens: ThinkToken[] = [];
  #ignoresTags = false;
  #isBlank = true;
  #isTagged = false;
  /** End tags whose opening tag was text. They are text as well. */
  readonly #mentioned = new Set<string>();

  /** @param literals,fences The caller's markers, for {@linkcode MarkerReader}. */
  constructor(literals: readonly string[] = NONE, fences: readonly string[] = NONE) {
    this.markers = new MarkerReader([...OPENERS_AND_CLOSERS, ...literals], { fences });
  }

  push(text: string): void {
    (this.#mode === "text" ? this.markers : this.#inside.markers).push(text);
  }

  /** Reads the next part; undefined if it needs more text. */
  next(final: boolean): ThinkToken | undefined {
    while (this.#tokens.length === 0) {
      if (!(this.#mode === "text" ? this.#readText(final) : this.#readThought(final))) break;
    }
    return this.#tokens.shift();
  }

  /** From here on, tags are text. */
  ignoreTags(): void {
    this.#ignoresTags = true;
  }

  /** Makes the marker that `next` returned text. */
  keep(marker: string): void {
    this.#isBlank = false;
    this.markers.keep(marker);
  }

  /** Reads up to the next marker. Returns false if it needs more text. */
  #readText(final: boolean): boolean {
    const read = this.markers.next(final);
    const { text, marker, isFirst = false, isQuoted = false } = read;
    const tag = foldMarker(marker ?? "");
    this.#isBlank &&= text.trim() === "";
    if (!OPENERS_AND_CLOSERS.has(tag)) {
      if (text !== "" || marker !== undefined) this.#tokens.push({ kind: "text", ...read });
      return marker !== undefined;
    }
    if (text !== "") this.#tokens.push({ kind: "text", text });
    return tag[1] === "/"
      ? this.#readCloser(marker!, tag, isFirst, final, isQuoted || /\w[ \t]+$/.test(text))
      : this.#readOpener(marker!, tag, isFirst);
  }

  #readOpener(marker: string, tag: string, isFirst: boolean): true {
    const isThink = tag === "<think>";
    if (this.#ignoresTags || !isThink && !this.#isBlank) {
      this.#mentioned.add(`</${tag.slice(1)}`);
      this.#addTagAsText(marker);
      return true;
    }
    this.#opener = marker;
    this.#pending = [];
    this.#inside.begin(marker, this.markers.take());
    if (isThink && isFirst) this.#begin();
    else this.#mode = "held";
    return true;
  }

  /** @param mayBeMention true if a sentence or a quotation leads up to the tag */
  #readCloser(
    marker: string,
    tag: string,
    isFirst: boolean,
    final: boolean,
    mayBeMention: boolean,
  ): boolean {
    const isMention = mayBeMention && this.#isTagged && /^(?:$|[\t]?[^\s])/.test(this.markers.rest);
    const isEnd = !this.#ignoresTags && !isMention && this.#isEnd(tag, isFirst, final);
    if (isEnd === undefined) {
      this.markers.unread(marker);
      return false;
    }
    if (isEnd) {
      // The end of a nested thought. The text since then is reasoning as well.
      const isNested = tag === "</think>" && this.#inside.nested > 0;
      if (isNested) this.#inside.nested--;
      const kind = this.#isTagged && !isNested ? "end" : "retraction";
      this.#tokens.push({ kind, text: marker });
      this.markers.drop();
      this.#isBlank ||= !this.#isTagged;
      this.#isTagged = true;
    } else this.#addTagAsText(marker);
    return true;
  }

  /** True for an end tag that is not text; undefined if it needs more text. */
  #isEnd(tag: string, isFirst: boolean, final: boolean): boolean | undefined {
    if (this.#mentioned.has(tag)) return false;
    if (tag === "</think>") return true;
    if (!isFirst) return false;
    const rest = this.markers.rest;
    if (!final && /^[ \t]{0,16}\r?$/.test(rest)) return undefined;
    return /^[ \t]{0,16}\r?(?:\n|$)/.test(rest);
  }

  #addTagAsText(marker: string): void {
    this.#tokens.push({ kind: "text", text: marker });
    this.keep(marker);
  }

  #begin(): void {
    this.#isTagged = true;
    this.#mode = "thought";
    this.#tokens.push({ kind: "begin", text: this.#opener });
  }

  /** Reads on after an opening tag. Returns false if it needs more text. */
  #readThought(final: boolean): boolean {
    const { text, end } = this.#inside.next(final);
    if (this.#mode === "held") {
      if (text !== "") this.#pending.push(text);
      const isAlone = this.#opener.length > "<think>".length &&
        /^\r?\n/.test(this.#pending.slice(0, 2).join(""));
      if (end !== undefined || isAlone) {
        this.#begin();
        this.#tokens.push({ kind: "thought", text: this.#pending.join("") });
      }
    } else if (text !== "") this.#tokens.push({ kind: "thought", text });
    if (end !== undefined) {
      this.#tokens.push({ kind: "end", text: end });
      this.markers.unread(this.#inside.markers.take());
      this.markers.drop();
      this.#mode = "text";
      return true;
    }
    if (!final || this.#mode !== "held") return false;
    // A mention. The rest has no end tag, so it is not held back again.
    this.#tokens.push({ kind: "text", text: this.#opener });
    this.markers.keep(this.#opener);
    this.markers.unread(this.#pending.join(""));
    this.#ignoresTags = true;
    this.#mode = "text";
    return true;
  }
}

/** Reads blocks of reasoning, each from after its opening tag. */
class ThoughtReader {
  readonly markers = new MarkerReader([...CLOSERS, "<think>"], { inCode: true });
  /** The opening tags of nested thoughts in the block. */
  nested = 0;
  #closer = "";
  /** The last characters, at most three. */
  #last = "";

  /** Starts a block with the opening tag `opener` and the `text` after it. */
  begin(opener: string, text: string): void {
    this.#closer = `</${opener.slice(1).toLowerCase()}`;
    this.#last = "";
    this.nested = 0;
    this.markers.push(text);
  }

  /** Reads on. `end` is the end tag once it is reached. */
  next(final: boolean): { text: string; end?: string } {
    let all = "";
    for (;;) {
      const { text, marker } = this.markers.next(final);
      all += text;
      this.#last = (this.#last + text.slice(-3)).slice(-3);
      if (marker === undefined) return { text: all };
      if (marker.toLowerCase() === this.#closer) {
        if (!this.#last.endsWith("`") || this.#last === "```") return { text: all, end: marker };
        const { rest } = this.markers;
        if (rest === "" && !final) {
          this.markers.unread(marker);
          return { text: all };
        }
        if (rest[0] !== "`") return { text: all, end: marker };
      }
      if (marker.toLowerCase() === "<think>") this.nested++;
      all += marker;
      this.#last = ">";
    }
  }
}

/** The text and the reasoning that a piece of an answer adds. */
export interface ThinkSplit {
  text: string;
  reasoning: string;
  /** True if a lone `</think>` turned all earlier text into `reasoning`. `text` restarts. */
  retracted: boolean;
}

/** Splits a streamed answer like {@linkcode splitThinking}. Also holds back white space until text follows. */
export class ThinkFilter {
  readonly #reader = new ThinkReader();
  #text = new SeamJoiner();
  /** All text since the last retraction. */
  #shown = "";
  readonly #thoughts = new SeamJoiner();

  /** From here on, tags are text. */
  ignoreTags(): void {
    this.#reader.ignoreTags();
  }

  push(piece: string): ThinkSplit {
    this.#reader.push(piece);
    return this.#read(false);
  }

  end(): ThinkSplit {
    const split = this.#read(true);
    split.text += this.#text.end();
    return split;
  }

  #read(final: boolean): ThinkSplit {
    const split = { text: "", reasoning: "", retracted: false };
    for (let token = this.#reader.next(final); token; token = this.#reader.next(final)) {
      if (token.kind === "text") {
        const more = this.#text.push(token.text);
        split.text += more;
        this.#shown += more;
      }
      if (token.kind === "thought") split.reasoning += this.#thoughts.push(token.text);
      if (token.kind === "text" || token.kind === "thought") continue;
      // The next thought starts a new paragraph.
      this.#thoughts.cut();
      this.#thoughts.push("\n\n");
      if (token.kind === "retraction") {
        split.reasoning += this.#thoughts.push(this.#shown);
        split.text = this.#shown = "";
        split.retracted = true;
        this.#text = new SeamJoiner();
      }
      this.#text.cut();
    }
    return split;
  }
}

/** Splits a complete answer into its text and its reasoning, both without the tags. */
export function splitThinking(answer: string): [text: string, reasoning: string] {
  const filter = new ThinkFilter();
  const first = filter.push(answer);
  const last = filter.end();
  const text = last.retracted ? last.text : first.text + last.text;
  return [text, first.reasoning + last.reasoning];
}

/**
 * Removes `<think>...</think>` blocks from a model's output (spec 4.5), and the doubled white space around them.
 * Text without such blocks stays unchanged. An unfinished block at the start of a line reaches to the end, and a
 * lone `</think>` ends one that started before the text. The result may be blank.
 */
export function stripThinkTags(text: string): string {
  return splitThinking(text)[0];
}

/** True for a text without visible characters, which is not an answer. */
export function isBlank(text: string): boolean {
  // This decides for most texts. The engine takes milliseconds to compile the sets below.
  if (text.trim() === "") return true;
  if (/[!-~]/.test(text)) return false;
  return /^[\s\p{Cf}\p{Default_Ignorable_Code_Point}]*$/u.test(text);
}
