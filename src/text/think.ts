/**
 * Reasoning that models write into their text.
 *
 * `<think>` ... `</think>` is reasoning wherever it stands; `<thinking>`, `<thought>`, `<reasoning>`
 * and `<seed:think>` only where the text begins with them, as they are also words of other markup.
 * Upper and lower case are the same, tags with attributes are none. A block ends at its first end
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
 *
 * @module
 */

import { type MarkedText, type MarkerReader, markerReader } from "./markers.ts";
import { seamJoiner } from "./seams.ts";

const NAMES = ["think", "thinking", "thought", "reasoning", "seed:think"];
const CLOSERS = NAMES.map((name) => `</${name}>`);
const TAGS: ReadonlySet<string> = new Set([...NAMES.map((name) => `<${name}>`), ...CLOSERS]);

/** What {@linkcode ThinkReader.next} read. */
export type ThinkToken =
  /** `marker`, one of the caller's own, stands behind `text`. */
  | ({ kind: "text" } & MarkedText)
  /** A tag that begins reasoning. */
  | { kind: "begin"; text: string }
  /** A tag that ends it, or stands for nothing. */
  | { kind: "end"; text: string }
  /** An end tag that makes all before it reasoning. */
  | { kind: "retraction"; text: string }
  | { kind: "thought"; text: string };

/** Finds reasoning, and the caller's own markers outside of it: see {@linkcode thinkReader}. */
export interface ThinkReader
  extends Pick<MarkerReader, "push" | "keep" | "drop" | "take" | "unread"> {
  /** Reads on: undefined where more text is needed. */
  next(final: boolean): ThinkToken | undefined;
  /** From here on, tags are text. */
  ignoreTags(): void;
}

/**
 * Finds reasoning in text that streams. Held back is what may be part of a tag, and what follows a
 * tag that begins reasoning only if it is closed.
 *
 * @param literals,fences The caller's own markers, as of {@linkcode markerReader}.
 */
export function thinkReader(
  literals: readonly string[] = [],
  fences: readonly string[] = [],
): ThinkReader {
  const outside = markerReader([...TAGS, ...literals], { fences });
  const inside = blockReader();
  let mode: "text" | "thought" | "held" = "text";
  /** In mode `held`: what begins reasoning if it is closed, and what follows. */
  let opener = "";
  let held: string[] = [];
  const tokens: ThinkToken[] = [];
  let ignored = false;
  /** Whether there is no text yet, and whether any tag was one of reasoning. */
  let isBlank = true;
  let isTagged = false;
  /** Names whose opening tag was text: so is the end tag. */
  const mentioned = new Set<string>();

  function begin(): void {
    isTagged = true;
    mode = "thought";
    tokens.push({ kind: "begin", text: opener });
  }

  function readBlock(final: boolean): boolean {
    const { text, end } = inside.next(final);
    if (mode === "held") {
      if (text !== "") held.push(text);
      const isAlone = opener.length > "<think>".length && /^\r?\n/.test(held.slice(0, 2).join(""));
      if (end !== undefined || isAlone) {
        begin();
        tokens.push({ kind: "thought", text: held.join("") });
      }
    } else if (text !== "") tokens.push({ kind: "thought", text });
    if (end !== undefined) {
      tokens.push({ kind: "end", text: end });
      outside.unread(inside.take());
      outside.drop();
      mode = "text";
      return true;
    }
    if (!final || mode !== "held") return false;
    // A mention. There is no end tag in what follows, so nothing in it is held again.
    tokens.push({ kind: "text", text: opener });
    outside.keep(opener);
    outside.unread(held.join(""));
    ignored = true;
    mode = "text";
    return true;
  }

  /** Whether an end tag counts; undefined where more text is needed to tell. */
  function isEnd(tag: string, isFirst: boolean, final: boolean): boolean | undefined {
    if (mentioned.has(tag)) return false;
    if (tag === "</think>") return true;
    if (!isFirst) return false;
    const rest = outside.take();
    outside.unread(rest);
    if (!final && /^[ \t]{0,16}\r?$/.test(rest)) return undefined;
    return /^[ \t]{0,16}\r?(?:\n|$)/.test(rest);
  }

  function readText(final: boolean): boolean {
    const read = outside.next(final);
    const { text, marker, isFirst = false } = read;
    const tag = marker?.toLowerCase() ?? "";
    isBlank &&= text.trim() === "";
    if (!TAGS.has(tag)) {
      if (text !== "" || marker !== undefined) tokens.push({ kind: "text", ...read });
      return marker !== undefined;
    }
    if (text !== "") tokens.push({ kind: "text", text });
    const isThink = tag === "<think>";
    if (!ignored && (isThink || tag[1] !== "/" && isBlank)) {
      opener = marker!;
      held = [];
      inside.begin(opener, outside.take());
      if (isThink && isFirst) begin();
      else mode = "held";
      return true;
    }
    const counts = !ignored && tag[1] === "/" && isEnd(tag, isFirst, final);
    if (counts === undefined) {
      outside.unread(marker!);
      return false;
    }
    if (counts) {
      tokens.push({ kind: isTagged ? "end" : "retraction", text: marker! });
      outside.drop();
      isBlank ||= !isTagged;
      isTagged = true;
    } else {
      if (tag[1] !== "/") mentioned.add(`</${tag.slice(1)}`);
      tokens.push({ kind: "text", text: marker! });
      keep(marker!);
    }
    return true;
  }

  function keep(marker: string): void {
    isBlank = false;
    outside.keep(marker);
  }

  return {
    keep,
    drop: outside.drop,
    take: outside.take,
    unread: outside.unread,
    push: (text) => mode === "text" ? outside.push(text) : inside.push(text),
    next(final) {
      while (tokens.length === 0) {
        if (!(mode === "text" ? readText(final) : readBlock(final))) break;
      }
      return tokens.shift();
    },
    ignoreTags() {
      ignored = true;
    },
  };
}

/** Finds the end of a block of reasoning in text that streams. */
interface BlockReader extends Pick<MarkerReader, "push" | "take"> {
  /** `opener` was read; `text` follows it. */
  begin(opener: string, text: string): void;
  /** Reads on; `end` is the end tag where it was reached. */
  next(final: boolean): { text: string; end?: string };
}

/** Reads one block of reasoning after the other, each from behind its opener. */
function blockReader(): BlockReader {
  const reader = markerReader(CLOSERS, { inCode: true });
  let closer = "";
  let last = "";
  return {
    begin(opener, text) {
      closer = `</${opener.slice(1).toLowerCase()}`;
      last = "";
      reader.push(text);
    },
    push: reader.push,
    take: reader.take,
    next(final) {
      let all = "";
      for (;;) {
        const { text, marker } = reader.next(final);
        all += text;
        last = (last + text.slice(-3)).slice(-3);
        if (marker === undefined) return { text: all };
        if (marker.toLowerCase() === closer) {
          if (!last.endsWith("`") || last === "```") return { text: all, end: marker };
          const rest = reader.take();
          reader.unread(rest);
          if (rest === "" && !final) {
            reader.unread(marker);
            return { text: all };
          }
          if (rest[0] !== "`") return { text: all, end: marker };
        }
        all += marker;
        last = ">";
      }
    },
  };
}

/** What {@linkcode ThinkFilter} makes of a piece of text. */
export interface ThinkSplit {
  /** What the piece adds to the answer. */
  text: string;
  /** What it adds to the reasoning. */
  reasoning: string;
  /**
   * True when a lone `</think>` came: all text given out before this piece was reasoning. It is
   * part of `reasoning` now; the answer begins anew with this piece's `text`.
   */
  retracted: boolean;
}

/** Splits an answer that streams into text and reasoning. */
export interface ThinkFilter extends Pick<ThinkReader, "ignoreTags"> {
  /** Takes the next piece of the answer. */
  push(piece: string): ThinkSplit;
  /** The answer is over. */
  end(): ThinkSplit;
}

/**
 * Splits an answer as it streams. However it is cut into pieces, what comes out adds up to what
 * {@linkcode splitThinking} makes of the whole. Held back is only what {@linkcode thinkReader} holds,
 * and white space until text follows.
 */
export function thinkFilter(): ThinkFilter {
  const reader = thinkReader();
  let text = seamJoiner();
  let all = "";
  const thoughts = seamJoiner();

  function read(final: boolean): ThinkSplit {
    const split = { text: "", reasoning: "", retracted: false };
    for (let token = reader.next(final); token; token = reader.next(final)) {
      if (token.kind === "text") {
        const more = text.push(token.text);
        split.text += more;
        all += more;
        continue;
      }
      if (token.kind === "thought") {
        split.reasoning += thoughts.push(token.text);
        continue;
      }
      // The next thought begins a new paragraph.
      thoughts.cut();
      thoughts.push("\n\n");
      if (token.kind === "retraction") {
        split.reasoning += thoughts.push(all);
        split.text = all = "";
        split.retracted = true;
        text = seamJoiner();
      }
      text.cut();
    }
    return split;
  }

  return {
    ignoreTags: reader.ignoreTags,
    push(piece) {
      reader.push(piece);
      return read(false);
    },
    end() {
      const split = read(true);
      split.text += text.end();
      return split;
    },
  };
}

/** Splits a complete answer into its text and its reasoning, both without the tags. */
export function splitThinking(answer: string): [text: string, reasoning: string] {
  const filter = thinkFilter();
  const first = filter.push(answer);
  const last = filter.end();
  const text = last.retracted ? last.text : first.text + last.text;
  return [text, first.reasoning + last.reasoning];
}

/**
 * Removes `<think>...</think>` blocks from a model's output (spec 4.5), with what white space they
 * leave doubled. Text without such blocks is returned unchanged.
 *
 * An unfinished block that begins a line reaches to the end, and a lone `</think>` ends one that began
 * before the text. What is left may be blank: see {@linkcode isBlank}.
 */
export function stripThinkTags(text: string): string {
  return splitThinking(text)[0];
}

/** Whether there is nothing in `text` to be seen: no answer. */
export function isBlank(text: string): boolean {
  // Nearly always; the sets of characters take milliseconds to put together.
  if (/[!-~]/.test(text)) return false;
  return /^[\s\p{Cf}\p{Default_Ignorable_Code_Point}]*$/u.test(text);
}
