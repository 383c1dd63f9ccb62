import type { CallScanner, Part } from "./scan.ts";

/** Before a call: nothing, the end of a sentence, or a word that it follows without a space. */
const BEFORE = /(?:^\s*|[.!?…。！？]["')*_]*\s*|[^\s=:,;+*|/-])$/;
/** Behind a call that ends its line: marks are not text. */
const BEHIND = /^(?:\r?\n|<[|｜/]|\[\/)/;
const MAYBE_BEHIND = /^(?:\r|<|\[)?$/;
const MAX_LINE = 256;

/**
 * A call amid a sentence, with text behind it in its line as well, is one that is talked about. Many
 * models write a call right behind their text, but that is complete. Calls in the basic formats are
 * calls wherever they stand.
 */
export function outOfSentences(scans: CallScanner): CallScanner {
  let line = "";
  /** Calls behind text, with what stands between them, and what follows in their line. */
  let held: Part[] = [];
  let behind = "";
  function addText(text: string): void {
    line = (line + text.slice(-MAX_LINE)).slice(-MAX_LINE);
    line = line.slice(line.lastIndexOf("\n") + 1);
  }
  function release(areCalls: boolean): Part[] {
    const text = held.map((part) => part.text).join("");
    const parts: Part[] = areCalls || text === "" ? held : [{ kind: "text", text }];
    held = [];
    behind = "";
    addText(text);
    return parts;
  }
  function take(part: Part): Part[] {
    if (part.kind === "calls") {
      if (held.length === 0 && (part.isBasic || BEFORE.test(line))) return [part];
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
    return MAYBE_BEHIND.test(behind) ? [] : release(BEHIND.test(behind));
  }
  return {
    ignoreTags: scans.ignoreTags,
    push(piece, final) {
      const parts: Part[] = [];
      for (const part of scans.push(piece, final)) for (const one of take(part)) parts.push(one);
      if (final) { for (const one of release(true)) parts.push(one); }
      return parts;
    },
  };
}
