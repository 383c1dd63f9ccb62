/** The tool `glob_files`. @module */

import type { ToolContext, ToolOutcome } from "../../types/tool.ts";
import type { ToolArgs } from "../schema.ts";
import { fitLines, gaps, leftOut } from "./outcome.ts";
import { runSearch } from "./run_search.ts";
import { escapedPath } from "./searcher.ts";
import { findTarget } from "./target.ts";

const MAX_GLOB_FILES = 500;

/**
 * Lists the files below a folder that match a glob pattern, the last modified first.
 * @throws {Error} if there is no such folder, or the pattern or a link leads outside.
 */
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
    return [...(shown < total ? [rest] : []), ...gaps(tally, end)];
  });
  return { content, counts };
}
