/** Separates calls from calls that a sentence mentions. @module */

import type { ScannedPart } from "./scan.ts";

/** The text before a call: empty, the end of a sentence, or a word right before it. */
const BEFORE_CALL = /(?:^\s*|[.!?…。！？]["')*_]*\s*|[^\s=:,;+*|/-])$/;
/** The text after a call that ends its line. Marks of formats count as its end. */
const BEHIND_CALL = /^(?:\r?\n|<[|｜/]|\[\/)/;
/** The starts of {@linkcode BEHIND_CALL}, which need more text. */
const MAYBE_BEHIND_CALL = /^(?:\r|<|\[)?$/;
const LINE_TAIL = 256;

/**
 * Turns calls in the middle of a sentence into text, except in the basic formats: those after an unfinished
 * sentence and before more text. Many models write a call right after their text, but only after a complete
 * sentence.
 */
export class SentenceFilter {
  #line = "";
  #pending: ScannedPart[] = [];
  /** The first two characters after the last of them. */
  #behind = "";

  push(scanned: readonly ScannedPart[], final: boolean): ScannedPart[] {
    const parts = scanned.flatMap((part) => this.#take(part));
    return final ? parts.concat(this.#release(true)) : parts;
  }

  #take(part: ScannedPart): ScannedPart[] {
    const isPending = this.#pending.length > 0;
    if (part.kind === "calls") {
      if (!isPending && (part.isBasic || BEFORE_CALL.test(this.#line))) return [part];
      this.#pending.push(part);
      this.#behind = "";
      return [];
    }
    if (part.kind === "retraction" || !isPending) {
      const parts = this.#release(false);
      this.#addText(part.text);
      return [...parts, part];
    }
    this.#pending.push(part);
    this.#behind = (this.#behind + part.text).replace(/^[ \t]+/, "").slice(0, 2);
    if (MAYBE_BEHIND_CALL.test(this.#behind)) return [];
    return this.#release(BEHIND_CALL.test(this.#behind));
  }

  #release(areCalls: boolean): ScannedPart[] {
    const text = this.#pending.map((part) => part.text).join("");
    const parts: ScannedPart[] = areCalls || text === "" ? this.#pending : [{ kind: "text", text }];
    this.#pending = [];
    this.#behind = "";
    this.#addText(text);
    return parts;
  }

  #addText(text: string): void {
    const line = (this.#line + text.slice(-LINE_TAIL)).slice(-LINE_TAIL);
    this.#line = line.slice(line.lastIndexOf("\n") + 1);
  }
}
