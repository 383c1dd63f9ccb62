/** Light colours for source code: comments, strings, numbers and keywords, line by line. @module */

import { languageOf, type Lexicon } from "./highlight_languages.ts";
import {
  ADDED,
  COMMENT,
  DIM,
  KEYWORD,
  NUMBER,
  type Painter,
  REMOVED,
  STRING,
  type Style,
} from "../style.ts";

/** Colours the next line of a text, without its line feed. */
export type Highlighter = (line: string) => string;

/** A highlighter for a language by its name on a fence; of unknown ones, nothing is coloured. */
export function highlighter(name: string, paint: Painter): Highlighter {
  if (/^(diff|patch)$/i.test(name)) return (line) => paint(line, diffStyle(line));
  const language = languageOf(name);
  if (!language) return (line) => line;
  /** The comment or string that goes on from the line before: the pattern of its end, and its style. */
  let span: { end: RegExp; style: Style } | undefined;
  return (line) => {
    let out = "";
    for (let at = 0; at < line.length;) {
      let text: string;
      if (span) {
        span.end.lastIndex = at;
        const { style } = span;
        text = span.end.exec(line)?.[0] ?? "";
        if (text === "") text = line.slice(at);
        else span = undefined;
        out += paint(text, style);
      } else {
        language.tokens.lastIndex = at;
        const match = language.tokens.exec(line);
        if (!match) return out + line.slice(at);
        out += line.slice(at, match.index);
        at = match.index;
        text = match[0];
        const style = tokenStyle(match.groups!, language);
        const opened = language.spans.find(([open]) => open === match.groups!.opener);
        if (opened) span = { end: opened[1], style };
        out += paint(text, style);
      }
      at += text.length;
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
