/**
 * Reasoning that models write into their text.
 *
 * `<think>` ... `</think>` is reasoning wherever it stands; `<thinking>`, `<thought>`, `<reasoning>`
 * and `<seed:think>` only where the text begins with them, as they are also words of other markup.
 * Tags are read in upper and lower case, and only without attributes. A block ends at its first end
 * tag, whatever it holds: code in reasoning is often left unfinished. Only `` `</think>` `` between
 * backticks does not end it.
 *
 * Without an end tag, all that follows is reasoning if the tag is the first of its line (of the
 * other names: if nothing else is on its line), else the tag is merely mentioned, and all is text.
 *
 * A `</think>` without a beginning (some templates begin the answer with `<think>` themselves) makes
 * all the text before it reasoning, if it is the first tag of the text; any later one is removed. So
 * are those of the other names where they stand alone on their line.
 *
 * Outside, tags in Markdown code and tables are text.
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
/** Lists of the callers' own markers, each with the tags before it: few lists are used by many readers. */
const withTags = new WeakMap<readonly string[], readonly string[]>();

/** A part of the text, as {@linkcode ThinkReader.next} reads it. */
type ThinkToken =
  /** `marker`, one of the caller's own, stands behind `text`. */
  | ({ kind: "text" } & MarkedText)
  /** `end`: a tag that ends reasoning, or is removed; `retraction`: all before it was reasoning. */
  | { kind: "begin" | "thought" | "end" | "retraction"; text: string };

/**
 * Finds reasoning, and the caller's own markers outside of it, in text that streams. Held back is
 * what may be part of a tag, and what follows a tag that begins reasoning only if it is closed.
 */
export class ThinkReader {
  /** Finds the markers outside of reasoning; those that are kept go to {@linkcode keep}. */
  readonly markers: MarkerReader;
  readonly #inside = new ThoughtReader();
  #mode: "text" | "thought" | "held" = "text";
  /** In mode `held`: a tag that begins reasoning if it is closed, and the text behind it. */
  #opener = "";
  #held: string[] = [];
  readonly #tokens: ThinkToken[] = [];
  #ignoresTags = false;
  /** True while there is no text but white space. */
  #isBlank = true;
  /** True once a tag of reasoning was read. */
  #isTagged = false;
  /** End tags whose opening tag was text: they are text as well. */
  readonly #mentioned = new Set<string>();

  /** @param literals,fences The caller's own markers, as {@linkcode MarkerReader} takes them. */
  constructor(literals: readonly string[] = NONE, fences: readonly string[] = NONE) {
    let all = withTags.get(literals);
    if (!all) withTags.set(literals, all = [...OPENERS_AND_CLOSERS, ...literals]);
    this.markers = new MarkerReader(all, { fences });
  }

  push(text: string): void {
    (this.#mode === "text" ? this.markers : this.#inside.markers).push(text);
  }

  /** Reads on; undefined where more text is needed. */
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

  /** The marker that `next` returned is text. */
  keep(marker: string): void {
    this.#isBlank = false;
    this.markers.keep(marker);
  }

  /** Reads up to the next marker; false: more text is needed. */
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
    this.#held = [];
    this.#inside.begin(marker, this.markers.take());
    if (isThink && isFirst) this.#begin();
    else this.#mode = "held";
    return true;
  }

  /** @param mayBeMention whether a sentence or a quotation leads up to the tag */
  #readCloser(
    marker: string,
    tag: string,
    isFirst: boolean,
    final: boolean,
    mayBeMention: boolean,
  ): boolean {
    const isMention = mayBeMention && this.#isTagged &&
      /^(?:$|[ \t]?[^\s])/.test(this.markers.rest);
    const isEnd = !this.#ignoresTags && !isMention && this.#isEnd(tag, isFirst, final);
    if (isEnd === undefined) {
      this.markers.unread(marker);
      return false;
    }
    if (isEnd) {
      // The end of a thought in which another one began: what came since is thought as well.
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

  /** True for an end tag that is no text; undefined where more text is needed to tell. */
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

  /** Reads on behind an opening tag; false: more text is needed. */
  #readThought(final: boolean): boolean {
    const { text, end } = this.#inside.next(final);
    if (this.#mode === "held") {
      if (text !== "") this.#held.push(text);
      const isAlone = this.#opener.length > "<think>".length &&
        /^\r?\n/.test(this.#held.slice(0, 2).join(""));
      if (end !== undefined || isAlone) {
        this.#begin();
        this.#tokens.push({ kind: "thought", text: this.#held.join("") });
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
    // A mention. There is no end tag in what follows, so nothing in it is held again.
    this.#tokens.push({ kind: "text", text: this.#opener });
    this.markers.keep(this.#opener);
    this.markers.unread(this.#held.join(""));
    this.#ignoresTags = true;
    this.#mode = "text";
    return true;
  }
}

/** Reads one block of reasoning after the other, each from behind its opening tag. */
class ThoughtReader {
  readonly markers = new MarkerReader([...CLOSERS, "<think>"], { inCode: true });
  /** The tags that began another thought in the block. */
  nested = 0;
  #closer = "";
  /** The last characters read, three at most. */
  #last = "";

  /** Begins a block: `opener` was read, and `text` follows it. */
  begin(opener: string, text: string): void {
    this.#closer = `</${opener.slice(1).toLowerCase()}`;
    this.#last = "";
    this.nested = 0;
    this.markers.push(text);
  }

  /** Reads on; `end` is the end tag where it was reached. */
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
  /** True when a lone `</think>` made all text before `reasoning`; `text` begins anew. */
  retracted: boolean;
}

/**
 * Splits an answer as it streams: in all, as {@linkcode splitThinking} splits the whole. Held back is
 * only what {@linkcode ThinkReader} holds, and white space until text follows.
 */
export class ThinkFilter {
  readonly #reader = new ThinkReader();
  #text = new SeamJoiner();
  /** All text given out since the last retraction. */
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
      // The next thought begins a new paragraph.
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
 * Removes `<think>...</think>` blocks from a model's output (spec 4.5), and the white space that they
 * leave doubled. Text without such blocks is returned unchanged. An unfinished block that begins a
 * line reaches to the end, and a lone `</think>` ends one that began before the text. The rest may be
 * blank.
 */
export function stripThinkTags(text: string): string {
  return splitThinking(text)[0];
}

/** True for a text without anything to be seen: it is no answer. */
export function isBlank(text: string): boolean {
  // Nearly every text is decided so; the sets below take the engine milliseconds to compile.
  if (text.trim() === "") return true;
  if (/[!-~]/.test(text)) return false;
  return /^[\s\p{Cf}\p{Default_Ignorable_Code_Point}]*$/u.test(text);
}
