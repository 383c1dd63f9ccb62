/** Colours the comments, strings, numbers and keywords of source code, line by line. @module */

import { languageOf, type Lexicon } from "./highlight_languages.ts";
import type { Painter, Style } from "../style.ts";
import { ADDED, COMMENT, DIM, KEYWORD, NUMBER, REMOVED, STRING } from "../style.ts";

export type Highlighter = (line: string) => string;

export interface Span {
  text: string;
  style: Style;
}

/** A highlighter for a language, by its name on a fence; unknown languages have no colours. */
export function highlighter(name: string, paint: Painter): Highlighter {
  const spansOf = lineStyler(name);
  return (line) => spansOf(line).map(({ text, style }) => paint(text, style)).join("");
}

/** Splits the next line of a text; `name` is a language or the extension of its files. */
export function lineStyler(name: string): (line: string) => Span[] {
  if (/^(diff|patch)$/i.test(name)) return (text) => [{ text, style: diffStyle(text) }];
  const language = languageOf(name);
  if (!language) return (text) => [{ text, style: 0 }];
  /** The open comment or string: the pattern of its end, and its style. */
  let span: { end: RegExp; style: Style } | undefined;
  return (line) => {
    const out: Span[] = [];
    for (let at = 0; at < line.length;) {
      const pattern = span?.end ?? language.pattern;
      pattern.lastIndex = at;
      const match = pattern.exec(line);
      if (span) {
        const text = match?.[0] || line.slice(at);
        out.push({ text, style: span.style });
        if (match?.[0]) span = undefined;
        at += text.length;
      } else {
        if (!match) return [...out, { text: line.slice(at), style: 0 }];
        const style = tokenStyle(match.groups!, language);
        const opened = language.spans.find(([open]) => open === match.groups!.opener);
        if (opened) span = { end: opened[1], style };
        out.push({ text: line.slice(at, match.index), style: 0 }, { text: match[0], style });
        at = match.index + match[0].length;
      }
    }
    return out;
  };
}

function tokenStyle(token: Record<string, string | undefined>, language: Lexicon): Style {
  const { opener, comment, string, number, word } = token;
  if (opener !== undefined) return /^["'`]/.test(opener) ? STRING : COMMENT;
  if (comment !== undefined) return COMMENT;
  if (string !== undefined) return STRING;
  if (number !== undefined) return NUMBER;
  return language.keywords.has(language.anyCase ? word!.toLowerCase() : word!) ? KEYWORD : 0;
}

function diffStyle(line: string): Style {
  if (/^(\+\+\+|---|diff |index )/.test(line)) return DIM;
  if (line.startsWith("+")) return ADDED;
  if (line.startsWith("-")) return REMOVED;
  return line.startsWith("@@") ? NUMBER : 0;
}
