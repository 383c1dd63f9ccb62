/** The frontmatter of Markdown: the part of YAML that files use, read leniently (they have unquoted colons). @module */

import { attempt } from "../../attempt.ts";

type FrontmatterValue = string | readonly string[];

export interface FrontmatterFile {
  fields: Readonly<Record<string, FrontmatterValue>>;
  body: string;
}

/** Splits a file into its fields and the text below. */
export function readFrontmatter(text: string): FrontmatterFile {
  const whole = text.replace(/^\ufeff/, "").replaceAll("\r\n", "\n");
  const begin = /^---[ \t]*\n/.exec(whole);
  if (begin === null) return { fields: {}, body: whole };
  const head = whole.slice(begin[0].length);
  const end = /^(?:---|\.\.\.)[ \t]*(?:\n|$)/m.exec(head);
  if (end === null) return { fields: {}, body: whole };
  const body = whole.slice(begin[0].length + end.index + end[0].length);
  return { fields: headFields(head.slice(0, end.index).split("\n")), body };
}

const FIELD = /^([A-Za-z_][\w.-]*)[ \t]*:(?:[ \t]+(.*))?$/;

function headFields(lines: readonly string[]): Record<string, FrontmatterValue> {
  // Without a prototype, no key has a special meaning.
  const fields: Record<string, FrontmatterValue> = Object.create(null);
  for (let i = 0; i < lines.length;) {
    const [, key, first = ""] = FIELD.exec(lines[i++]!) ?? [];
    if (key === undefined) continue;
    const start = i;
    // A list may have the same indentation as its key.
    while (i < lines.length && /^(?:[ \t]|- |-$|\s*$|#)/.test(lines[i]!)) i++;
    fields[key] = valueOf(first.trim(), lines.slice(start, i));
  }
  return fields;
}

/** Returns the value of a field: the rest of its line, and the lines below that belong to it. */
function valueOf(first: string, below: readonly string[]): FrontmatterValue {
  // Each use makes one line of a text, so `|` and `>` mean the same.
  if (/^[|>][-+\d]*(?:\s+#.*)?$/.test(first)) {
    return below.map((line) => line.trim()).join("\n").trim();
  }
  const lines = below.map((line) => line.trim()).filter((line) => line !== "" && line[0] !== "#");
  if (withoutComment(first) !== "") return scalar([first, ...lines].join(" "));
  const isList = lines.length > 0 && lines.every((line) => /^-(?: |$)/.test(line));
  return isList ? lines.map((line) => unquoted(line.slice(1).trim())) : lines.join(" ");
}

function scalar(text: string): string | string[] {
  const list = /^\[(.*)\]\s*(?:#.*)?$/.exec(text);
  if (!list) return unquoted(text);
  const items = list[1]!.match(/\s*(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^,]+)/g) ?? [];
  return items.map((item) => unquoted(item.trim())).filter((item) => item !== "");
}

function unquoted(text: string): string {
  const double = /^"((?:[^"\\]|\\.)*)"\s*(?:#.*)?$/.exec(text);
  // Its escapes are those of JSON. A text with others, such as a pattern, stays as it is.
  if (double) return attempt(() => JSON.parse(`"${double[1]}"`)) ?? double[1]!;
  const single = /^'((?:[^']|'')*)'\s*(?:#.*)?$/.exec(text);
  return single ? single[1]!.replaceAll("''", "'") : withoutComment(text);
}

const withoutComment = (text: string) => text.replace(/(?:^|\s)#.*$/, "").trim();

export function textField(value: FrontmatterValue | undefined): string | undefined {
  return typeof value === "string" ? value : value?.join(" ");
}

export function booleanField(value: FrontmatterValue | undefined): boolean | undefined {
  if (typeof value !== "string") return undefined;
  if (/^(?:true|yes|on)$/i.test(value)) return true;
  return /^(?:false|no|off)$/i.test(value) ? false : undefined;
}
