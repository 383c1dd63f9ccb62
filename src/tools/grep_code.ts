import { bareNames } from "../text/tool_aliases.ts";
import type { Tool, ToolContext, ToolOutcome } from "../types/tool.ts";
import { callable, objectSchema, searchSubject, textSchema } from "./definition.ts";
import type { ToolArgs } from "./schema.ts";
import { FOLDER_SYNONYMS, isWhole, rename, type RestArgs, type Slips } from "./slips.ts";
import { count } from "../text/count.ts";
import { isWithin } from "../text/paths.ts";
import { fitLines, gapNotes, leftOut } from "./search/outcome.ts";
import { runSearch, type SearchLimits, type SearchResult } from "./search/run_search.ts";
import { findTarget } from "./search/target.ts";
import type { Tally } from "./search/walk.ts";

const GREP_SYNONYMS: Slips["synonyms"] = {
  pattern: bareNames(
    "regex regexp query search searchpattern text searchterm term searchstring string q keyword needle regexpattern searchquery expression",
  ),
  path: FOLDER_SYNONYMS,
  glob: bareNames(
    "include filepattern fileglob includes includepattern files globpattern filefilter",
  ),
  context_lines: bareNames("context c linesofcontext contextline numcontextlines surroundinglines"),
};

export const grepTool: Tool = callable({
  name: "grep_code",
  description:
    "Search file contents with a regular expression, line by line. Ignored, hidden and binary files are left out.",
  parameters: objectSchema({
    pattern: textSchema("Regular expression"),
    path: { type: "string", default: ".", description: "Folder or file to search" },
    glob: { type: "string", default: "", description: "Only files that match, such as *.ts" },
    context_lines: { type: "integer", minimum: 0, maximum: 100, default: 0 },
  }, ["pattern"]),
  access: "read",
  subject: searchSubject("search"),
  slips: {
    synonyms: GREP_SYNONYMS,
    readings: [takeCase],
    path: ["path", "read"],
    isLikely: ({ pattern }) => !/^\*|\*\*|^[\w/.-]*\*\.\w+$/.test(String(pattern)),
  },
  run: (args, context) => grepCode(args, context),
});

function takeCase(args: ToolArgs, rest: RestArgs): string | undefined {
  const ignores = rest.take("i", "ignorecase", "caseinsensitive", "insensitive") === true;
  const heeds = rest.take("casesensitive", "matchcase");
  // Plain text: `is_regex: false`, `fixed_strings: true`.
  const isPattern = typeof rest.given.regex === "boolean"
    ? rest.take("regex")
    : rest.take("isregex", "useregex", "isregexp");
  const isLiteral = isPattern === false ||
    rest.take("fixedstrings", "fixedstring", "literal", "f") === true;
  // Arguments for the output of other search tools change nothing here.
  const idle = "n linenumbers showlinenumbers outputmode headlimit maxresults limit";
  for (const name of bareNames(idle)) rest.take(name);
  const around = ["c", "a", "b"].map((key) => rest.given[`-${key.toUpperCase()}`]).filter(isWhole);
  if (around.length > 0 && args.context_lines === undefined) {
    args.context_lines = Math.max(...around.map(Number));
    for (const key of ["-A", "-B", "-C"]) delete rest.given[key];
  }
  const isCaseless = ignores || heeds === false;
  if (!isCaseless && !isLiteral) return undefined;
  rename(["pattern"], GREP_SYNONYMS, args, rest, []);
  let { pattern } = args;
  if (typeof pattern !== "string") return undefined;
  if (isLiteral) pattern = pattern.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  if (isCaseless && !String(pattern).startsWith("(?i")) pattern = `(?i)${pattern}`;
  args.pattern = pattern;
  return `the search as the pattern ${pattern}`;
}

/**
 * Finds the lines of files that match a regular expression, with other `limits` than the defaults.
 * @throws {SyntaxError} if the pattern is invalid.
 * @throws {Error} if there is no such file or folder, or the glob or a link leads outside.
 */
export async function grepCode(
  args: Record<string, unknown>,
  context: ToolContext,
  limits: Partial<SearchLimits> = {},
): Promise<ToolOutcome> {
  const [path, glob, pattern] = [args.path, args.glob, args.pattern] as [string, string, string];
  if (pattern === "") {
    throw new RangeError(
      "Cannot search for an empty pattern as it is in every line: use read_file",
    );
  }
  const { walk, prefix, file } = await findTarget(context, path, glob, true);
  const limit = context.maxOutputChars;
  const contextLines = args.context_lines as number;
  const unsaved = await unsavedBelow(file ?? walk.root, context);
  const job = { walk, prefix, limit, grep: { pattern, contextLines, ...unsaved && { unsaved } } };
  const tasks = [file === undefined ? walk.root : [file]];
  const found = await runSearch(job, tasks, context.signal, limits);
  if (file !== undefined) checkSearched(path, found.tally);
  const { matches, more, tally, end } = found;
  const total = matches.reduce((sum, { count }) => sum + count, more);
  const content = matches.length === 0 && end === "done"
    ? nothing(tally, pattern).slice(0, limit)
    : shownMatches(found, total, contextLines, limit);
  // An incompletely searched file counts as one match.
  return { content, counts: { matches: total, files: matches.length + more } };
}

/** The maximum number of files that a search requests from an editor. */
const MAX_UNSAVED_FILES = 50;

/** Returns the editor's texts of files at or below a path, of those for which it had text before. */
async function unsavedBelow(
  path: string,
  { editor, signal }: ToolContext,
): Promise<Record<string, string> | undefined> {
  if (editor?.read === undefined) return undefined;
  const files = [...editor.known].filter((one) => isWithin(path, one)).slice(-MAX_UNSAVED_FILES);
  const texts = await Promise.all(files.map((one) => editor.read!(one, signal)));
  return Object.fromEntries(
    files.flatMap((one, i) => texts[i] === undefined ? [] : [[one, texts[i]]]),
  );
}

/** A named file that was not searched must not be reported as one without matches. */
function checkSearched(path: string, { binary, large, unreadable }: Tally): void {
  if (binary > 0) {
    throw new Error(`Cannot search ${path} as it is binary: try run_bash with grep -a`);
  }
  if (large > 0) {
    throw new Error(`Cannot search ${path} as it is over 64 MiB: use run_bash with grep`);
  }
  if (unreadable > 0) throw new Error(`Cannot search ${path} as it cannot be read`);
}

function nothing(tally: Tally, pattern: string): string {
  const searched = count(tally.files, "file");
  const where = tally.files === 0 ? "No files to search" : `No matches in ${searched}`;
  // Characters that are operators in grep without -E.
  const [sign] = /\\(?:[|+?]|\((?=.+\\\))|\{(?=\d))/.exec(pattern) ?? [];
  const hint = sign === undefined ? "" : ` ${sign} is a literal ${sign[1]}, without \\ it is not.`;
  return `${where}.${hint}${leftOut(tally)}`;
}

function shownMatches(found: SearchResult, total: number, contextLines: number, maxChars: number) {
  const { matches, more, tally, end } = found;
  const lines: string[] = [];
  /** For each line, the number of matching lines and of files that are shown before it. */
  const before: [lines: number, files: number][] = [];
  let shownLines = 0;
  matches.forEach((file, i) => {
    if (i > 0 && contextLines > 0) {
      before.push([shownLines, i - 1]);
      lines.push("--");
    }
    for (const line of file.lines) {
      before.push([shownLines, i]);
      lines.push(line.text);
      if (line.match) shownLines++;
    }
  });
  return fitLines(lines, maxChars, (shown) => {
    const [lineCount] = before[shown] ?? [shownLines];
    // Incompletely searched files count once, so the total is a lower bound.
    const left = total - lineCount;
    const files = more + matches.length - (before[shown - 1]?.[1] ?? -1) - 1;
    const rest = `${count(lineCount, "matching line")} shown, at least ${left} more` +
      (files > 0 ? `, ${count(files, "file")} of them not shown at all` : "") +
      `: narrow it down with path, glob or a longer pattern`;
    return [...(left > 0 ? [rest] : []), ...gapNotes(tally, end)];
  });
}
