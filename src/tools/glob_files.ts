import { bareNames } from "../text/tool_aliases.ts";
import type { Tool, ToolContext, ToolOutcome } from "../types/tool.ts";
import { callable, namesSubject, objectSchema, textSchema } from "./definition.ts";
import type { ToolArgs } from "./schema.ts";
import { FOLDER_SYNONYMS, type GivenName, type RestArgs } from "./slips.ts";
import { fitLines, gapNotes, leftOut } from "./search/outcome.ts";
import { runSearch } from "./search/run_search.ts";
import { escapedPath } from "./search/searcher.ts";
import { findTarget } from "./search/target.ts";

export const globTool: Tool = callable({
  name: "glob_files",
  description: "Find files by name, newest first. Ignored and hidden files are left out.",
  parameters: objectSchema({
    pattern: textSchema("Such as **/*.ts"),
    path: { type: "string", default: ".", description: "Folder to search" },
  }, ["pattern"]),
  access: "read",
  subject: namesSubject("find"),
  slips: {
    synonyms: {
      pattern: bareNames(
        "glob globpattern query filepattern name filename search namepattern include",
      ),
      path: FOLDER_SYNONYMS,
    },
    readings: [takeName],
    path: ["path", "read"],
    isLikely: ({ pattern }) => !/^\w+$|[|()^$+\\]/.test(String(pattern)),
  },
  run: globFiles,
});

/** Reads the pattern of a tool that finds files by a part of their name, in all folders. */
function takeName(args: ToolArgs, rest: RestArgs, { name }: GivenName): string | undefined {
  if (!/^(?:find|findfiles?|filesearch|findbyname|searchfilenames)$/.test(name)) return undefined;
  const given = args.pattern ?? rest.given.query ?? rest.given.name;
  if (typeof given !== "string" || !/^(?!\*\*)[\w.*?-]+$/.test(given)) return undefined;
  rest.take("query", "name");
  args.pattern = `**/${/[*?]/.test(given) ? given : `*${given}*`}`;
  return `${given} as the pattern ${args.pattern}`;
}

const MAX_GLOB_FILES = 500;

/** Lists the files below a folder that match a glob pattern, the newest first. @throws {Error} */
export async function globFiles(args: ToolArgs, context: ToolContext): Promise<ToolOutcome> {
  const [pattern, path] = [args.pattern, args.path] as [string, string];
  if (pattern === "") throw new RangeError("Cannot find files by an empty pattern: **/* finds all");
  const { walk, prefix, file } = await findTarget(context, path, pattern, false);
  if (file !== undefined) throw new Error(`Cannot list ${path} as it is a file: use read_file`);
  const job = { walk, prefix, limit: MAX_GLOB_FILES };
  const { files, more, tally, end } = await runSearch(job, [walk.root], context.signal);
  const total = files.length + more;
  const counts = { files: total };
  if (files.length === 0 && end === "done") {
    const below = /\/|\*\*/.test(pattern) ? "" : ` **/${pattern} searches folders below, too.`;
    const content = `No files match ${pattern}.${below}${leftOut(tally)}`;
    return { content: content.slice(0, context.maxOutputChars), counts };
  }
  const names = files.map((file) => escapedPath(file.path));
  const content = fitLines(names, context.maxOutputChars, (shown) => {
    const rest = `the ${shown} newest of ${total} files: narrow it down with pattern or path`;
    return [...(shown < total ? [rest] : []), ...gapNotes(tally, end)];
  });
  return { content, counts };
}
