/**
 * Tells calls from calls that a sentence talks about.
 *
 * @module
 */

import type { CallScanner, ScannedPart } from "./scan.ts";

/** The text before a call: nothing, the end of a sentence, or a word right before it. */
const BEFORE_CALL = /(?:^\s*|[.!?…。！？]["')*_]*\s*|[^\s=:,;+*|/-])$/;
/** The text behind a call that ends its line; marks of formats count as its end. */
const BEHIND_CALL = /^(?:\r?\n|<[|｜/]|\[\/)/;
/** Text that may become that. */
const MAYBE_BEHIND_CALL = /^(?:\r|<|\[)?$/;
/** The characters of a line that are kept. */
const LINE_TAIL = 256;

/**
 * Makes calls amid a sentence text: a call with an unfinished sentence before it and text behind it
 * in its line is one that the sentence talks about. Many models write a call right behind their
 * text, but behind a whole sentence. Calls in the basic formats are calls wherever they stand.
 */
export function outOfSentences(scans: CallScanner): CallScanner {
  let line = "";
  /** Calls behind an unfinished sentence, and the text between them. */
  let held: ScannedPart[] = [];
  /** The first two characters behind the last of them. */
  let behind = "";
  function addText(text: string): void {
    line = (line + text.slice(-LINE_TAIL)).slice(-LINE_TAIL);
    line = line.slice(line.lastIndexOf("\n") + 1);
  }
  function release(areCalls: boolean): ScannedPart[] {
    const text = held.map((part) => part.text).join("");
    const parts: ScannedPart[] = areCalls || text === "" ? held : [{ kind: "text", text }];
    held = [];
    behind = "";
    addText(text);
    return parts;
  }
  function take(part: ScannedPart): ScannedPart[] {
    if (part.kind === "calls") {
      if (held.length === 0 && (part.isBasic || BEFORE_CALL.test(line))) return [part];
      held.push(part);
      behind = "";
      return [];
    }
    if (part.kind === "retraction" || held.length === 0) {
      const parts = release(false);
      addText(part.text);
      return [...parts, part];
    }
    held.push(part);
    behind = (behind + part.text).replace(/^[ \t]+/, "").slice(0, 2);
    return MAYBE_BEHIND_CALL.test(behind) ? [] : release(BEHIND_CALL.test(behind));
  }
  return {
    ignoreTags: () => scans.ignoreTags(),
    push(piece, final) {
      const parts: ScannedPart[] = [];
      for (const part of scans.push(piece, final)) for (const one of take(part)) parts.push(one);
      if (final) { for (const one of release(true)) parts.push(one); }
      return parts;
    },
  };
}
