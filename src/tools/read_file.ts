/** The tool `read_file`. @module */

import { isImageName } from "../text/extname.ts";
import { bareNames } from "../text/tool_aliases.ts";
import type { Tool } from "../types/tool.ts";
import { callable, fileSubject, objectSchema, textSchema } from "./definition.ts";
import type { ToolArgs } from "./schema.ts";
import { FILE_SYNONYMS, isWhole, type Rest, takeView } from "./slips.ts";
import { readImage } from "./files/image.ts";
import { readFile } from "./files/read_file.ts";

export const fileTool: Tool = callable({
  name: "read_file",
  description: "Read a text file. Lines are numbered; use offset and limit for more.",
  parameters: objectSchema({
    file_path: textSchema("File to read"),
    offset: { type: "integer", minimum: 1, default: 1, description: "First line" },
    limit: { type: "integer", minimum: 1, default: 2000, description: "Number of lines" },
  }, ["file_path"]),
  access: "read",
  subject: fileSubject("read"),
  slips: {
    synonyms: {
      file_path: FILE_SYNONYMS,
      offset: bareNames(
        "start startline linestart fromline from firstline begin beginline startlineoneindexed linenumber line",
      ),
      limit: bareNames(
        "maxlines numlines linecount nlines count numberoflines numlinestoread length",
      ),
    },
    readings: [takeView, takeLines],
    editorCommand: "view",
    path: ["file_path", "read"],
  },
  run: async (args, context) => {
    const isMeant = context.imageLimits !== undefined || context.isOfPerson;
    if (isMeant && isImageName(String(args.file_path))) {
      const image = readImage(String(args.file_path), context);
      const found = await image;
      if (found) return found;
    }
    return readFile(args, context);
  },
});

/** Reads `[2, 5]` or "2-5" as a first and a last line. */
function lineRange(value: unknown): [number, number] | undefined {
  const pair = typeof value === "string"
    ? /^\s*\[?\s*(\d+)\s*(?:-|,|:|\.\.)\s*(-?\d+)\s*\]?\s*$/.exec(value)?.slice(1)
    : value;
  if (!Array.isArray(pair) || pair.length !== 2 || !pair.every(isWhole)) return undefined;
  return [Number(pair[0]), Number(pair[1])];
}

function takeLines(args: ToolArgs, rest: Rest): string | undefined {
  const range = lineRange(rest.take("viewrange", "linerange", "range", "lines", "linenumbers"));
  const end = rest.take(
    ...bareNames(
      "endline end to toline lineend lastline stopline endlineoneindexed endlineoneindexedinclusive",
    ),
  );
  rest.take("shouldreadentirefile", "readentirefile");
  if (range) {
    args.offset = Math.max(1, range[0]);
    if (range[1] >= range[0]) args.limit = range[1] - range[0] + 1;
    return "a range of lines as offset and limit";
  }
  if (!isWhole(end)) return undefined;
  const first = rest.take(
    ...bareNames(
      "start startline linestart fromline from firstline begin beginline startlineoneindexed startlineoneindexedinclusive",
    ),
  ) ?? args.offset ?? 1;
  if (!isWhole(first) || args.limit !== undefined) return undefined;
  args.offset = Math.max(1, Number(first));
  if (Number(end) >= Number(first)) args.limit = Number(end) - Number(first) + 1;
  return "the last line as a limit";
}
