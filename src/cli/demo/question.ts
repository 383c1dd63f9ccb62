/** The demo's answer to a question: what the folder, its most telling file and a search say. @module */

import { count } from "../../text/count.ts";
import { escapeRegex } from "../../text/glob.ts";
import { shortened } from "../../text/one_line.ts";
import {
  DISCLAIMER,
  entries,
  failureLines,
  fileText,
  firstLine,
  inlineCode,
  PROJECT_FILES,
  type Use,
} from "./results.ts";

const SOURCES = /^(?:src|lib|app|source|cmd|pkg|packages|crates|internal)\/$/i;

/** The answer to `ask`; `piped`: text came along as context, which it only mentions. */
export function answerQuestion(ask: string, piped: boolean, use: Use): string[] {
  const listing = use("list_directory", { path: "." });
  if (listing === "") return [];
  const names = entries(listing) ?? [];
  const named = /(?:[\w.-]+\/)*[\w.-]+\.\w{1,5}\b/.exec(ask.slice(0, MAX_ASK))?.[0];
  const isHere = named && names.includes(named.replace(/(?<=\/).*/, ""));
  const key = isHere
    ? named
    : PROJECT_FILES.flatMap(([name]) => names.filter((n) => name.test(n)))[0];
  const read = key === undefined ? "" : use("read_file", { file_path: key, limit: 80 });
  const asked = tellingWords(ask);
  // Words of its own are searched for where the code is: pictures and data may be full of them.
  const folder = names.find((name) => SOURCES.test(name));
  const words = [...new Set([...asked, "TODO", "main"])];
  let tried = 0;
  let found: string;
  do {
    const isOwn = tried >= asked.length && folder !== undefined;
    found = use("grep_code", {
      pattern: escapeRegex(words[tried]!),
      ...isOwn && { path: folder },
    });
    tried++;
  } while (tried < words.length && hits(found)?.length === 0);
  return [
    `${DISCLAIMER} Here is what its tools found for your question:`,
    "",
    ...aboutProject(key, read),
    ...aboutFolder(listing),
    ...aboutMatches(words.slice(0, tried), found),
    ...(piped ? ["- It cannot make sense of the text you piped in; a model would."] : []),
    "",
    "A language model would read on from here and answer: start a model server, then `/setup`, or leave out `--demo`.",
  ];
}

/** The most characters of a question: behind them comes data. */
const MAX_ASK = 2000;
const STOP_WORDS = new Set(
  ("about again all also and any are can code could describe did does doesn each every explain file files find " +
    "for from get give gets had has have here how into isn its know like list look made main make makes mean need " +
    "not now one our out over please program project projects repo repository see shall should show some summarise " +
    "summarize summary tell that the their them then there these they thing things this those use used uses using " +
    "very want was way were what when where which while who whose why will with work works would you your")
    .split(" "),
);

/** The words to search for: a quoted text, else up to two words, names first, then the longest. */
function tellingWords(ask: string): string[] {
  const head = ask.slice(0, MAX_ASK);
  const phrase = /[`"]([^`"\n]{2,60})[`"]/.exec(head)?.[1];
  if (phrase?.trim()) return [phrase];
  const isName = (word: string) => /\p{Ll}\p{Lu}|\w_\w/u.test(word);
  return (head.match(/[\p{L}\p{N}_$]+/gu) ?? [])
    .filter((word) => word.length > 2 && word.length <= 60 && !STOP_WORDS.has(word.toLowerCase()))
    .sort((a, b) => Number(isName(b)) - Number(isName(a)) || b.length - a.length)
    .slice(0, 2);
}

function aboutProject(key: string | undefined, read: string): string[] {
  if (key === undefined) return [];
  const content = fileText(read);
  if (content === null) return [`- ${inlineCode(key)}: ${firstLine(read)}`];
  const field = (name: string) =>
    new RegExp(`^\\s*(?:"${name}"\\s*:|${name}\\s*=)\\s*"([^"\\n]+)"`, "m").exec(content)?.[1];
  const lines = content.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  const isReadme = /^readme/i.test(key);
  const heading = isReadme ? lines.find((line) => /^[#=]+ \S/.test(line)) : undefined;
  const title = heading?.replace(/^[#=]+ /, "") ?? field("name") ??
    /^module (\S+)/m.exec(content)?.[1];
  const about = isReadme ? firstSentences(content) : field("description");
  const parts = [title && `**${shortened(title, 80)}**`, about && shortened(about, 300)];
  const text = parts.filter(Boolean).join(": ") ||
    `begins with ${inlineCode(lines[0] ?? "nothing: it is empty")}`;
  return [`- ${text} (${inlineCode(key)})`];
}

/** The first paragraph of prose: headings, badges, HTML, tables and code are passed over. */
function firstSentences(readme: string): string {
  const prose = readme.replace(/^ *(```|~~~)[^]*?^ *\1.*$/gm, "")
    .replace(/^ *(?:[#<|=>]|\[?!\[|[-=*_]{3,}$|\.\. ).*$/gm, "");
  const paragraph = prose.trim().split(/\n\s*\n/, 1)[0]!.replaceAll("\n", " ");
  return /^.{20,280}?[.!?。](?= |$)(?:.{1,140}?[.!?。](?= |$))?/.exec(paragraph)?.[0] ?? paragraph;
}

const LANGUAGE_BY_ENDING = new Map(
  ("TypeScript ts tsx mts,JavaScript js jsx mjs cjs,Python py,Rust rs,Go go,C c h,C++ cc cpp hpp,Java java," +
    "Kotlin kt,C# cs,Ruby rb,PHP php,Swift swift,Julia jl,Lua lua,Haskell hs,Elixir ex exs,Zig zig,Shell sh," +
    "SQL sql,HTML html,CSS css,Vue vue,Markdown md").split(",").flatMap((row) => {
      const [language = "", ...endings] = row.split(" ");
      return endings.map((ending) => [ending, language] as const);
    }),
);

function aboutFolder(listing: string): string[] {
  const names = entries(listing);
  if (!names) return failureLines(listing).map((line) => `- ${line}`);
  const visible = names.filter((name) => !name.startsWith("."));
  const folders = visible.filter((name) => name.endsWith("/"));
  const shown = visible.slice(0, 12).map((name) => ` ${inlineCode(name)}`).join(",");
  const such = visible.length > 12 ? ", such as" : visible.length > 0 ? ":" : "";
  const files = count(visible.length - folders.length, "file");
  const byLanguage = Map.groupBy(
    names,
    (name) => LANGUAGE_BY_ENDING.get(/\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? ""),
  );
  byLanguage.delete(undefined);
  const languages = [...byLanguage].sort(([, a], [, b]) => b.length - a.length).slice(0, 6)
    .map(([language, { length }]) => `${language} (${length})`).join(", ");
  return [
    `- Here: ${files} and ${count(folders.length, "folder")}${such}${shown}`,
    ...languages === "" ? [] : [`- Languages, by the file endings here: ${languages}`],
  ];
}

/** The matches in a search result; null when it is none. */
function hits(found: string): { file: string; line: string; text: string }[] | null {
  const all = found.split("\n").flatMap((row) => {
    const match = /^(.+?):(\d+):(.*)$/.exec(row);
    if (!match) return [];
    const [, file = "", line = "", text = ""] = match;
    return [{ file, line, text }];
  });
  return all.length > 0 || /^No (?:matches|files)\b/.test(found) ? all : null;
}

/** `words` were searched for, one after the other; `found` is the result for the last. */
function aboutMatches(words: readonly string[], found: string): string[] {
  const all = hits(found);
  if (!all) return failureLines(found).map((line) => `- ${line}`);
  if (all.length === 0) {
    return [`- A search for ${words.map((word) => inlineCode(word)).join(", ")} found nothing.`];
  }
  const firsts = [...new Map(all.toReversed().map((hit) => [hit.file, hit])).values()].toReversed();
  const none = words.slice(0, -1).map((word) => inlineCode(word)).join(" and ");
  // A line in brackets at the end says what the search left out.
  const files = `${/\n\[.*\]$/.test(found) ? "at least " : ""}${count(firsts.length, "file")}`;
  const before = none && `${none} ${words.length > 2 ? "were" : "was"} not found; `;
  const such = firsts.length > 6 ? ", such as" : "";
  return [
    `- ${before}${inlineCode(words.at(-1)!)} is in ${files}${such}:`,
    ...firsts.slice(0, 6).map(({ file, line, text }) =>
      `  - ${inlineCode(`${file}:${line}`, 300)} ${inlineCode(text)}`
    ),
  ];
}
