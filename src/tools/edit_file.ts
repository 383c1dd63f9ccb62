/** The tool `edit_file`. @module */

import { isObject } from "../text/json.ts";
import { bareNames } from "../text/tool_aliases.ts";
import type { Tool } from "../types/tool.ts";
import { callable, fileSubject, objectSchema, textSchema } from "./definition.ts";
import { SlipError } from "./repair/slip_error.ts";
import type { ToolArgs } from "./schema.ts";
import { FILE_SYNONYMS, type Rest, shownValue, takeView } from "./slips.ts";
import { ENTITIES_REPAIR, unfenced, withLineFeeds, withoutCodeEntities } from "./repair/content.ts";
import { editFile, prepareEdit } from "./files/edit_file.ts";

export const editTool: Tool = callable({
  name: "edit_file",
  description:
    "Replace text in a file. old_string must match the file exactly (without line numbers) and only once, unless replace_all.",
  parameters: objectSchema({
    file_path: textSchema("File to edit"),
    old_string: textSchema("Text to replace"),
    new_string: textSchema("Text to put there"),
    replace_all: { type: "boolean", default: false, description: "Replace every match" },
  }, ["file_path", "old_string", "new_string"]),
  access: "write",
  subject: fileSubject("edit"),
  slips: {
    synonyms: {
      file_path: FILE_SYNONYMS,
      old_string: bareNames(
        "old oldstr oldtext search find original before from oldcode oldcontent searchstring searchtext target targetcontent originaltext toreplace oldvalue",
      ),
      new_string: bareNames(
        "new newstr newtext replace replacement after to replacewith newcode newcontent replacestring replacementtext updated replacementcontent newvalue replacetext",
      ),
      replace_all: bareNames(
        "all global multiple allowmultiple replaceallmatches every replaceeverywhere",
      ),
    },
    readings: [takeView, takeEdit, takeContent],
    editorCommand: "str_replace",
    // Creates a file if there is no text to replace.
    path: ["file_path", ({ old_string: before }) => before === "" ? "write" : "edit"],
    readTexts,
  },
  prepare: prepareEdit,
  run: editFile,
});

/** The only edit of a list, or the only block of a SEARCH/REPLACE diff. */
function takeEdit(args: ToolArgs, rest: Rest): string | undefined {
  const diff = rest.given.diff ?? rest.given.patch;
  const block = typeof diff === "string" &&
    /^\s*[<-]{5,} ?SEARCH\n([^]*?)\n?={5,}\n([^]*?)\n?[>+]{5,} ?REPLACE\s*$/.exec(diff);
  if (block && !/^[<-]{5,} ?SEARCH$/m.test(`${block[1]}\n${block[2]}`)) {
    rest.take("diff", "patch");
    // Removed lines include their line feed.
    const end = block[2] === "" ? "\n" : "";
    Object.assign(args, { old_string: block[1] + end, new_string: block[2] });
    return "SEARCH and REPLACE as old_string and new_string";
  }
  const edits = rest.given.edits ?? rest.given.replacements ?? rest.given.changes;
  if (!Array.isArray(edits)) return undefined;
  if (edits.length !== 1 || !isObject(edits[0])) {
    throw new SlipError(
      "Cannot run edit_file as it makes one change: call it once for each, with file_path, old_string and new_string",
    );
  }
  rest.take("edits", "replacements", "changes");
  for (const [key, value] of Object.entries(edits[0])) {
    if (/^(old_string|new_string|replace_all)$/.test(key)) args[key] = value;
    else rest.given[key] ??= value;
  }
  return "the one edit of a list as the edit";
}

function takeContent(args: ToolArgs, rest: Rest): undefined {
  if (args.old_string !== undefined || args.new_string !== undefined) return;
  const key = ["content", "contents", "file_content", "file_text"].find((key) => key in rest.given);
  if (
    key === undefined || Object.keys(rest.given).some((other) => /^(old|search|find)/i.test(other))
  ) return;
  throw new SlipError(
    `Cannot run edit_file as it has no argument "${key}". To replace the whole file: write_file {"file_path": ${
      shownValue(args.file_path ?? rest.given.path ?? "...")
    }, "content": "..."}. To change a part of it: edit_file with old_string and new_string`,
  );
}

/** Decodes the new text of an edit. The old text is decoded later, when the text of the file is known. */
function readTexts(args: ToolArgs, repairs: string[]): void {
  const { old_string: before, new_string: after, file_path } = args;
  if (typeof before !== "string" || typeof after !== "string") return;
  const path = String(file_path);
  const forms = [
    [/^\s*(?:`{3}|~{3})/, unfenced, "new_string without the code fence around it"],
    [/\\n/, withLineFeeds, "\\n between statements in new_string as line feeds"],
    [/&/, withoutCodeEntities, `in new_string, ${ENTITIES_REPAIR}`],
  ] as const;
  for (const [form, read, repair] of forms) {
    const text = form.test(before) ? undefined : read(after, path);
    if (text === undefined) continue;
    const body = read === unfenced ? text.replace(/\n$/, "") : text;
    args.new_string = read === unfenced && before.endsWith("\n") && body ? `${body}\n` : body;
    repairs.push(repair);
  }
}
