/** Text to write that is wrapped or escaped, if that cannot be part of the file. @module */

import { extname } from "../../text/extname.ts";
import { decodeEntities } from "../../text/html/entities.ts";
import { basename } from "../../text/std_path.ts";
import { SlipError } from "./slip_error.ts";

/** Files that may contain a code fence, or escapes, as such. */
const PROSE = /^(?:md|markdown|mdx|txt|text|rst|adoc|org|tex|log|snap|qmd|rmd)?$/;
/** Files that may contain a table of numbers. */
const DATA = /^(?:csv|tsv|jsonl?|ya?ml|toml|xml|svg|lst|out)$/;

const FENCED =
  /^\s*(?<mark>`{3,}|~{3,})(?<info>[\w+#.-]*)[^\n`]*\n(?<body>[^]*?)(?:\n)?\k<mark>\s*$/;

interface ReadText {
  text: string;
  repair: string;
}

/** Files without an extension that are not prose. */
const CODE_NAME =
  /(?:^|[/\\])(?:\.[^/\\]*|(?:docker|make|container|just|rake|gem|proc|vagrant|jenkins)file)$/i;
export const ENTITIES_REPAIR = "HTML entities as signs";
/** Files that may contain HTML entities as such. */
const MARKUP = /^(?:[sx]?html?|xml|svg|vue|svelte|astro|[jt]sx|php|erb|ejs|hbs|xsl|plist|rss)$/;
const SIGN_ENTITY = /&(?:lt|gt|amp|quot|apos|#39|#34|#x27);/g;
const ESCAPED_SIGNS: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r" };

export const withoutEntities = (text: string): string => text.replace(SIGN_ENTITY, decodeEntities);

/** Returns the text with the escapes that most languages have in strings decoded. Other backslashes stay. */
export const withoutEscapes = (text: string): string =>
  text.replace(/\\([ntr"'`\\])/g, (_, sign: string) => ESCAPED_SIGNS[sign] ?? sign);

export const fencedBody = (text: string): string | undefined => FENCED.exec(text)?.groups?.body;

/** Decodes a text in which every `<`, `>` and `&` is an entity, if it is clearly code; undefined for others. */
export function withoutCodeEntities(text: string, path: string): string | undefined {
  const extension = extname(path);
  if (MARKUP.test(extension) || mayBeFenced(path)) return undefined;
  const bare = text.replaceAll(SIGN_ENTITY, "");
  if (bare === text || /[<>&]/.test(bare)) return undefined;
  const outside = text.replace(/"[^"\n]*"|'[^'\n]*'/g, '""');
  // Prose has no two of them between words, even in quotes.
  const isCode = /[\w)\]] &[lg]t;=? [\w(]|&amp;&amp;|[-=]&gt;|#include &lt;/.test(outside) ||
    /\w &amp;&amp; \w/.test(text);
  if (!isCode) return undefined;
  return withoutEntities(text);
}

/** Decodes a line of code for a file in which line feeds between statements are written as `\n`. */
export function withLineFeeds(text: string, path: string): string | undefined {
  if (mayBeFenced(path) || BACKSLASHES.has(extname(path))) return undefined;
  if (text.includes("\n") || /^\s*(?:\/\/|#|\*)/.test(text)) return undefined;
  const { outside, inside, isOpen } = lineFeedsIn(text);
  const isBetween = text.split("\\n").every((part, i, all) =>
    (i === all.length - 1 || /[;{})\]:,]\s*$/.test(part)) &&
    (i === 0 || /^\s*(?:[\w})\]@#/]|$)/.test(part))
  );
  if (outside === 0 || inside > 0 || isOpen || !isBetween) return undefined;
  return text.replaceAll("\\n", "\n").replaceAll("\\t", "\t");
}

/** Files in which a backslash before an `n` may be part of a path. */
const BACKSLASHES = new Set(["", "ps1", "bat", "cmd", "reg", "ini", "inf", "regex", "re", "vbs"]);

const mayBeFenced = (path: string): boolean => PROSE.test(extname(path)) && !CODE_NAME.test(path);

/** Returns the body of a text that is one code fence, if the file cannot contain that; otherwise undefined. */
export function unfenced(text: string, path: string): string | undefined {
  const { mark, info = "", body = "" } = FENCED.exec(text)?.groups ?? {};
  if (mark === undefined) return undefined;
  // Another fence within ends it: text between fences.
  const isMarkdown = /^(?:md|markdown)$/i.test(info) && /^(?:md|markdown|mdx)$/.test(extname(path));
  if (mayBeFenced(path) && !isMarkdown) return undefined;
  if (!isMarkdown && new RegExp(`^${mark[0]}{${mark.length}}`, "m").test(body)) return undefined;
  return body;
}

/** Returns the repaired content of a file; undefined if it is right. @throws {SlipError} without one reading. */
export function contentAsMeant(content: string, path: string): ReadText | undefined {
  const body = unfenced(content, path);
  if (body !== undefined) {
    const text = body === "" || body.endsWith("\n") ? body : `${body}\n`;
    return { text, repair: "the content without the code fence around it" };
  }
  const refuse = (reason: string): never => {
    throw new SlipError(`Cannot write ${path} as ${reason}`);
  };
  if (!DATA.test(extname(path)) && isListing(content)) {
    refuse("its content has the line numbers of read_file: send it without them");
  }
  if (isDiffOf(content, path)) {
    refuse("its content is a difference, not the file: change a part of it with edit_file");
  }
  if (mayBeFenced(path)) return undefined;
  if (/^\s*(?:`{3}|~{3})[\w+#.-]*[ \t]*\n/.test(content)) {
    refuse("its content starts with a code fence: send the file's text alone, without fences");
  }
  const signs = withoutCodeEntities(content, path);
  if (signs !== undefined) return { text: signs, repair: ENTITIES_REPAIR };
  return BACKSLASHES.has(extname(path)) ? undefined : unescaped(content, refuse);
}

function isListing(text: string): boolean {
  const lines = text.replace(/\n$/, "").split("\n");
  const first = parseInt(lines[0]!);
  return lines.length > 1 && lines.every((line, i) => line.startsWith(`${first + i}\t`));
}

function isDiffOf(text: string, path: string): boolean {
  const [, file] = /^(?:diff --git .*\n(?:.*\n){0,4}?)?--- \S.*\n\+\+\+ (\S+).*\n@@ /.exec(text) ??
    /^\*\*\* Begin Patch\n\*\*\* \w+ File: (.+)\n/.exec(text) ?? [];
  return file !== undefined && basename(file) === basename(path);
}

/** Decodes a text of one line in which line feeds are written as `\n`. */
function unescaped(content: string, refuse: (reason: string) => never): ReadText | undefined {
  const line = content.replace(/\n$/, "");
  if (line.includes("\n") || !line.includes("\\n")) return undefined;
  const { outside, inside, isEscaped, isOpen } = lineFeedsIn(line);
  // A Windows path, or another escape, shows that the backslashes are intended.
  if (outside === 0 && !isOpen || /(?:^|[\s="'(])[A-Za-z]:\\|\\[^ntr"'`\\/]/.test(line)) {
    return undefined;
  }
  const isText = line.split("\\n").every((part) =>
    part.trim() === "" || /\w|[{}()[\];]/.test(part)
  );
  const isPlain = outside > 1 && inside === 0 && !isOpen && isText && !line.startsWith("\\n");
  if (!isPlain) {
    if (outside === 1 && !/\\n\s*\S/.test(line.slice(line.indexOf("\\n")))) return undefined;
    refuse(
      "its content is one line in which some \\n stand between statements, and some may be part of strings: send real line feeds",
    );
  }
  const text = isEscaped
    ? withoutEscapes(line)
    : line.replaceAll("\\n", "\n").replaceAll("\\t", "\t");
  return { text, repair: "\\n in the content as line feeds" };
}

/** Counts `\n` in a line outside and inside quotes. `isEscaped` is true if quotes have backslashes. */
function lineFeedsIn(line: string) {
  const isEscaped = /\\["']/.test(line) && !/(?<!\\)["']/.test(line);
  let [outside, inside] = [0, 0];
  let quote = "";
  for (let i = 0; i < line.length; i++) {
    const sign = line[i]!;
    if (sign === "\\") {
      if (line[i + 1] === "n") quote === "" ? outside++ : inside++;
      i++;
    } else if (quote === "" && /["'`/]/.test(sign) && !isEscaped) {
      // A slash may start a pattern if another one follows.
      if (sign !== "/" || /^\/[^/*\s][^/]*\/[dgimsuvy]*/.test(line.slice(i))) quote = sign;
    } else if (sign === quote) quote = "";
  }
  return { outside, inside, isEscaped, isOpen: quote !== "" && quote !== "/" && inside > 0 };
}
