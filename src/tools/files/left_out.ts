/** Detects text in which a mark replaces omitted code. @module */

const MAX_LOOKED_AT = 4 * 1024 * 1024;
const MARK_LEAD = String.raw`(?:\/\/+|\/\*+|#+|--+|<!--|;+|%+|\{\/\*|"""|'''|\*)`;
const MARK_DOTS = String.raw`(?:\.{3,}|…)`;
const MARK_WORDS =
  "rest|remaining|remainder|existing|unchanged|previous|omitted|same|original|other|earlier|above|code|etc";
/** A certain mark: dots, and words for the omitted part. */
const SURE = new RegExp(
  [
    String.raw`^\s*${MARK_LEAD}\s*${MARK_DOTS}.{0,40}\b(?:${MARK_WORDS})\b.{0,60}$`,
    String
      .raw`^\s*${MARK_LEAD}\s*(?:the\s+)?(?:${MARK_WORDS})\b.{0,60}${MARK_DOTS}\s*(?:(?:\*\/|-->|\*\/\})\s*)?$`,
    // Without a comment sign, dots before a name are a spread.
    String.raw`^\s*[[({<]?\s*${MARK_DOTS}\s+.{0,40}\b(?:${MARK_WORDS})\b.{0,60}$`,
    String
      .raw`^\s*[[({<]?\s*(?:the\s+)?(?:rest|remaining|remainder|existing)\b.{0,60}${MARK_DOTS}\s*(?:[\])}>]\s*)?$`,
    // Like the results of tools.
    String.raw`^\s*[[(]\s*(?:${MARK_DOTS}\s*)?\d+ (?:more )?lines?\b[^\])]{0,40}[\])]\s*$`,
  ].join("|"),
  "i",
);
/** A comment of words or dots alone: a mark if lines are lost. */
const LIKELY = new RegExp(
  String
    .raw`^\s*(?:\/\/+|\/\*+|#+|--+|<!--|;+|\{\/\*|[[(])\s*(?:${MARK_DOTS}|(?:the\s+)?(?:rest|remaining|remainder|existing|other|previous|everything else)\b.{0,60}\b(?:unchanged|same|here|before|omitted|stays?|remains?|code|file|untouched)\b.{0,30})\s*(?:(?:\*\/|-->|\*\/\}|[\])])\s*)?$`,
  "i",
);

/** Returns why to reject a replacement with a mark for omitted lines; undefined if nothing would be lost. */
export function leftOutBy(before: string, after: string): string | undefined {
  if (before.length + after.length > MAX_LOOKED_AT) return undefined;
  if (!/\.{3}|…|rest|remain|existing|other|previous|unchanged|\d (?:more )?line/i.test(after)) {
    return undefined;
  }
  const old = new Set(nonBlankLines(before));
  const now = nonBlankLines(after);
  const has = new Set(now);
  const isLost = [...old].some((line) => !has.has(line));
  const isFewer = now.length < nonBlankLines(before).length;
  const mark = now.find((line) =>
    !old.has(line) && (isLost && SURE.test(line) || isFewer && isLost && LIKELY.test(line))
  );
  return mark === undefined ? undefined : mark.slice(0, 80);
}

/** A text of only words in brackets: a placeholder. */
const STAND_IN =
  /^(?:(?:the )?(?:full |whole |file )?contents? of \S+|\[[^[\]"\n]{2,120}\]|<!--[^\n]{2,160}-->|<[^<>"=\n]{2,120}>|\{[^{}":\n]{2,120}\}|\([^()"\n]{2,120}\)|\{\{[\w ]+\}\}|your \w+ here|\.{3}[^\n]*|…[^\n]*)$/i;
/** The omitted part that a mark in a new file names. Comments may mention other things. */
const OF_CODE =
  /\b(?:code|file|implementation|functions?|methods?|class(?:es)?|content|imports?|logic|unchanged|existing)\b/i;
const STAND_IN_WORDS =
  /^(?:\.{3}|…)$|content|code|text|file|original|existing|unchanged|remaining|rest|omitted|offloaded|placeholder|truncated|same as|写入|内容/i;

/** Returns the mark for omitted text in a new file; otherwise undefined. */
export function placeholderIn(content: string): string | undefined {
  if (content.length > MAX_LOOKED_AT) return undefined;
  const text = content.trim();
  if (text.length < 200 && STAND_IN.test(text) && STAND_IN_WORDS.test(text)) {
    return text.slice(0, 80);
  }
  if (!/\.{3}|…/.test(content)) return undefined;
  return nonBlankLines(content).find((line) => SURE.test(line) && OF_CODE.test(line))?.slice(0, 80);
}

/** True if `after` is the whole file and `before` only a part of it: the rest would be there twice. */
export function holdsWholeFile(text: string, before: string, after: string): boolean {
  // A text much shorter than the file is not the whole file, and a model does not type a very long one.
  if (after.length < (text.length - before.length) / 2 || text.length > MAX_LOOKED_AT) return false;
  const lines = nonBlankLines(text);
  const [given, now] = [nonBlankLines(before), nonBlankLines(after)];
  if (lines.length < 5 || now[0] !== lines[0] || now.at(-1) !== lines.at(-1)) return false;
  if (given[0] === lines[0] && given.at(-1) === lines.at(-1)) return false;
  const replaced = new Set(given);
  const others = lines.filter((line) => !replaced.has(line));
  const has = new Set(now);
  const kept = others.filter((line) => has.has(line)).length;
  return others.length >= 3 && kept >= 0.8 * others.length;
}

function nonBlankLines(text: string): string[] {
  return text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
}
