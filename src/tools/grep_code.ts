/** The tool `grep_code`. @module */

import { bareNames } from "../text/tool_aliases.ts";
import type { Tool } from "../types/tool.ts";
import { callable, objectSchema, searchSubject, textSchema } from "./definition.ts";
import type { ToolArgs } from "./schema.ts";
import { FOLDER_SYNONYMS, isWhole, rename, type Rest, type Slips } from "./slips.ts";
import { grepCode } from "./search/grep_code.ts";

const GREP_SYNONYMS: Slips["synonyms"] = {
  pattern: bareNames(
    "regex regexp query search searchpattern text searchterm term searchstring string q keyword needle regexpattern searchquery expression",
  ),
  path: FOLDER_SYNONYMS,
  glob: bareNames(
    "include filepattern fileglob includes includepattern files globpattern filefilter",
  ),
  context_lines: bareNames(
    "context c linesofcontext contextline numcontextlines surroundinglines",
  ),
};

/** Arguments for the output of other search tools. They change nothing here. */
const IDLE_OF_SEARCH: readonly string[] = bareNames(
  "n linenumbers showlinenumbers outputmode headlimit maxresults limit",
);
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

function takeCase(args: ToolArgs, rest: Rest): string | undefined {
  const ignores = rest.take("i", "ignorecase", "caseinsensitive", "insensitive") === true;
  const heeds = rest.take("casesensitive", "matchcase");
  const isLiteral = takeLiteral(args, rest);
  for (const name of IDLE_OF_SEARCH) rest.take(name);
  const around = ["c", "a", "b"].map((key) => rest.given[`-${key.toUpperCase()}`]).filter(isWhole);
  if (around.length > 0 && args.context_lines === undefined) {
    args.context_lines = Math.max(...around.map(Number));
    for (const key of ["-A", "-B", "-C"]) delete rest.given[key];
  }
  const isCaseless = ignores || heeds === false;
  if (!isCaseless && !isLiteral) return undefined;
  // The pattern may have another name.
  rename(["pattern"], GREP_SYNONYMS, args, rest, []);
  let { pattern } = args;
  if (typeof pattern !== "string") return undefined;
  if (isLiteral) pattern = pattern.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  if (isCaseless && !String(pattern).startsWith("(?i")) pattern = `(?i)${pattern}`;
  args.pattern = pattern;
  return `the search as the pattern ${pattern}`;
}

/** True if the pattern is plain text: `is_regex: false`, `fixed_strings: true`. */
function takeLiteral(_args: ToolArgs, rest: Rest): boolean {
  const isPattern = typeof rest.given.regex === "boolean"
    ? rest.take("regex")
    : rest.take("isregex", "useregex", "isregexp");
  return isPattern === false || rest.take("fixedstrings", "fixedstring", "literal", "f") === true;
}
