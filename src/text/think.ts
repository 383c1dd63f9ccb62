/**
 * Reasoning that models write into their text.
 *
 * `<think>` ... `</think>` is reasoning wherever it stands; `<thinking>`, `<thought>`, `<reasoning>`
 * and `<seed:think>` only where the text begins with them, as they are also words of other markup.
 * Upper and lower case are the same, tags with attributes are none. A block ends at its first end
 * tag, whatever it holds: code in reasoning is often left unfinished. Only `` `</think>` `` between
 * backticks does not end it. Without an end tag, all that follows is reasoning.
 *
 * Outside, tags in Markdown code are text. A `</think>` without a beginning (some templates begin
 * the answer with `<think>` themselves) makes all the text before it reasoning.
 *
 * @module
 */

import { markerReader } from "./markers.ts";
import { type SeamJoiner, seamJoiner } from "./seams.ts";

const NAMES = ["think", "thinking", "thought", "reasoning", "seed:think"];

/** The tags that mean something outside of reasoning. */
export const THINK_MARKERS: readonly string[] = [...NAMES.map((name) => `<${name}>`), "</think>"];

/** Whether a marker of {@linkcode THINK_MARKERS} begins reasoning, and is not merely text. */
export function beginsThinking(marker: string, isFirst: boolean): boolean {
  return marker.toLowerCase() === "<think>" || isFirst && marker[1] !== "/";
}

/** Finds the end of reasoning in text that streams: see {@linkcode thinkingReader}. */
export interface ThinkingReader {
  /** `opener` was read; `text` follows it. */
  begin(opener: string, text: string): void;
  /** Adds text. */
  push(text: string): void;
  /** Reads on; `end` is the end tag where it was reached. */
  next(final: boolean): { text: string; end?: string };
  /** Takes all that is unread. */
  take(): string;
}

/** Reads one block of reasoning after the other, each from behind its opener. */
export function thinkingReader(): ThinkingReader {
  const reader = markerReader(NAMES.map((name) => `</${name}>`), { inCode: true });
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
export interface ThinkFilter {
  /** Takes the next piece of the answer. */
  push(piece: string): ThinkSplit;
  /** The answer is over. */
  end(): ThinkSplit;
}

/**
 * Splits an answer as it streams. However it is cut into pieces, what comes out adds up to what
 * {@linkcode splitThinking} makes of the whole. Held back is only what may be part of a tag, and
 * white space until text follows.
 */
export function thinkFilter(): ThinkFilter {
  const outside = markerReader(THINK_MARKERS);
  const inside = thinkingReader();
  let thinking = false;
  let text = seamJoiner();
  let all = "";
  const thoughts: SeamJoiner = seamJoiner();
  let split: ThinkSplit;

  function addText(piece: string): void {
    const more = text.push(piece);
    split.text += more;
    all += more;
  }

  /** Begins a new paragraph of reasoning. */
  function addThought(piece: string): void {
    thoughts.cut();
    split.reasoning += thoughts.push("\n\n") + thoughts.push(piece);
  }

  function retract(): void {
    addThought(all);
    split.text = all = "";
    split.retracted = true;
    text = seamJoiner();
    text.cut();
    outside.drop();
  }

  function read(final: boolean): ThinkSplit {
    for (;;) {
      if (thinking) {
        const { text: thought, end } = inside.next(final);
        split.reasoning += thoughts.push(thought);
        if (end === undefined) return split;
        outside.unread(inside.take());
        outside.drop();
        thinking = false;
      } else {
        const { text: piece, marker } = outside.next(final);
        addText(piece);
        if (marker === undefined) return split;
        if (marker.toLowerCase() === "</think>") retract();
        else if (beginsThinking(marker, all === "")) {
          text.cut();
          addThought("");
          thinking = true;
          inside.begin(marker, outside.take());
        } else {
          outside.keep(marker);
          addText(marker);
        }
      }
    }
  }

  return {
    push(piece) {
      split = { text: "", reasoning: "", retracted: false };
      (thinking ? inside : outside).push(piece);
      return read(false);
    },
    end() {
      split = { text: "", reasoning: "", retracted: false };
      read(true);
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
 * An unfinished block reaches to the end, and a lone `</think>` ends one that began before the text.
 * What is left may be blank: see {@linkcode isBlank}.
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
