/** The tool `glob_files`. @module */

import { bareNames } from "../text/tool_aliases.ts";
import type { Tool } from "../types/tool.ts";
import { callable, namesSubject, objectSchema, textSchema } from "./definition.ts";
import type { ToolArgs } from "./schema.ts";
import { type CalledAs, FOLDER_SYNONYMS, type Rest } from "./slips.ts";
import { globFiles } from "./search/glob_files.ts";

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
function takeName(args: ToolArgs, rest: Rest, { name }: CalledAs): string | undefined {
  if (!/^(?:find|findfiles?|filesearch|findbyname|searchfilenames)$/.test(name)) return undefined;
  const given = args.pattern ?? rest.given.query ?? rest.given.name;
  if (typeof given !== "string" || !/^(?!\*\*)[\w.*?-]+$/.test(given)) return undefined;
  rest.take("query", "name");
  args.pattern = `**/${/[*?]/.test(given) ? given : `*${given}*`}`;
  return `${given} as the pattern ${args.pattern}`;
}
