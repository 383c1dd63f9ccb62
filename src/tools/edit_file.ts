import { isObject } from "../text/json.ts";
import { bareNames } from "../text/tool_aliases.ts";
import type { Tool, ToolContext } from "../types/tool.ts";
import { callable, fileSubject, objectSchema, textSchema } from "./definition.ts";
import { SlipError } from "./repair/slip_error.ts";
import type { ToolArgs } from "./schema.ts";
import { valueText } from "./schema_check.ts";
import { FILE_SYNONYMS, type RestArgs, takeView } from "./slips.ts";
import { ENTITIES_REPAIR, unfenced, withLineFeeds, withoutCodeEntities } from "./repair/content.ts";
import { count } from "../text/count.ts";
import { wholeUpTo } from "../text/truncate.ts";
import { newFilePath } from "./paths.ts";
import { writeReport, type WrittenFile } from "./files/atomic_write.ts";
import { comparedEdit, decodedBytes } from "./files/change.ts";
import { checkSeen } from "./files/check_seen.ts";
import { BOM } from "./files/line_endings.ts";
import { holdsWholeFile, leftOutBy } from "./files/left_out.ts";
import { PreparedWrite, writerOf } from "./files/prepared_write.ts";
import { missingError } from "./files/regular_file.ts";
import { MAX_DIGESTED_BYTES } from "./files/seen_files.ts";
import { editText, type TextEdit } from "./files/text_edit.ts";
import { oldFile, prepareWrite } from "./write_file.ts";

/**
 * Replaces `old_string`, which must occur exactly once unless `replace_all`, with `new_string`, and shows the lines
 * around the change. Line endings match each other. Only bytes that differ between the two change. Inserted lines end
 * like most lines of the file; a CR that only `new_string` has stays in a file with LF endings. An empty `old_string`
 * creates a file.
 * @throws {Error} if the text is missing or ambiguous, or if the file is not UTF-8, has changed since it was read, or
 * cannot be written; the file is then unchanged.
 */
export const editFile = writerOf(prepareEdit);

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
    path: ["file_path", ({ old_string: before }) => before === "" ? "write" : "edit"],
    readTexts,
  },
  prepare: prepareEdit,
  run: editFile,
});

/** The only edit of a list, or the only block of a SEARCH/REPLACE diff. */
function takeEdit(args: ToolArgs, rest: RestArgs): string | undefined {
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

function takeContent(args: ToolArgs, rest: RestArgs): undefined {
  if (args.old_string !== undefined || args.new_string !== undefined) return;
  const key = ["content", "contents", "file_content", "file_text"].find((key) => key in rest.given);
  if (
    key === undefined || Object.keys(rest.given).some((other) => /^(old|search|find)/i.test(other))
  ) return;
  throw new SlipError(
    `Cannot run edit_file as it has no argument "${key}". To replace the whole file: write_file {"file_path": ${
      valueText(args.file_path ?? rest.given.path ?? "...")
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

type EditArguments =
  & Record<"file_path" | "old_string" | "new_string", string>
  & Record<"replace_all", boolean>;

/** The lines around a change in the result, the maximum number of lines, and of characters of each. */
const EXCERPT_CONTEXT_LINES = 3;
const MAX_EXCERPT_LINES = 40;
const MAX_EXCERPT_LINE_CHARS = 300;

/** Prepares the write of {@linkcode editFile}. @throws {Error} as it does. */
export async function prepareEdit(args: ToolArgs, context: ToolContext): Promise<PreparedWrite> {
  const { file_path: shown, old_string, new_string, replace_all } = args as EditArguments;
  const path = newFilePath(context, shown);
  const refuse = (reason: string) => new Error(`Cannot edit ${shown} as ${reason}`);
  context.signal.throwIfAborted();
  if (old_string === new_string) throw refuse("old_string and new_string are the same");
  // A lone surrogate would match half a character and damage the rest.
  if (!old_string.isWellFormed()) throw refuse("old_string has half of a character");
  await checkSeen(context, path, shown, false);
  const { seen, size } = await oldFile(path, shown, "edit", context);
  if (size === undefined && old_string !== "") {
    throw await missingError(path, shown, "edit", context.grant);
  }
  const bytes = seen?.bytes;
  if (!bytes) {
    throw refuse(`it must have at most ${MAX_DIGESTED_BYTES} bytes: it has ${size}. Use run_bash`);
  }
  const text = decodedBytes(bytes);
  if (text === undefined) {
    const reason = "it is not valid UTF-8, and the rest of it would be damaged";
    throw refuse(`${reason}: use run_bash with a program that works on bytes, such as sed or perl`);
  }
  if (old_string === "") {
    if (text !== "" && text !== BOM) {
      throw refuse(
        "old_string is empty and the file is not: give the text to replace. To add text, give the lines that it goes beside, and in new_string the same lines with it; to replace the whole file, use write_file",
      );
    }
    const { plan } = await prepareWrite({ file_path: shown, content: new_string }, context);
    return new PreparedWrite({ ...plan, args });
  }
  checkKept(text, old_string, new_string, refuse);
  const isSecret = context.grant?.isSecret === true;
  const edit = editText(text, {
    oldText: old_string,
    newText: new_string.toWellFormed(),
    all: replace_all,
    mayQuote: !isSecret,
  }, refuse);
  return new PreparedWrite({
    path,
    args,
    seen,
    replacesAll: false,
    bytes: edit.bytes,
    change: { path: shown, isNew: false, ...comparedEdit(bytes, edit, isSecret) },
    report: (written) => editReport(edit, shown, written, isSecret),
  });
}

/** Rejects an edit that replaces lines with a mark for omitted text, or that repeats the lines around it. */
function checkKept(
  text: string,
  before: string,
  after: string,
  refuse: (reason: string) => Error,
): void {
  const mark = leftOutBy(before, after);
  if (mark !== undefined && !text.includes(mark)) {
    throw refuse(
      `new_string has ${
        JSON.stringify(mark)
      } as a placeholder for lines that old_string has, which would be left out of the file: write them out, or choose a smaller old_string`,
    );
  }
  if (holdsWholeFile(text, before, after)) {
    throw refuse(
      "new_string looks like the whole file and old_string is a part of it, so that the rest would be there twice: give only what takes the place of old_string, or use write_file",
    );
  }
}

function editReport(edit: TextEdit, shown: string, written: WrittenFile, isSecret: boolean) {
  const what = `Replaced ${count(edit.count, "match", "matches")} in ${shown} (${edit.where})`;
  const { isReindented, how } = edit;
  const report = writeReport(what, written, isReindented ? { isReindented } : {});
  const result = { ...report, ...how !== undefined && { repairs: [how] } };
  // The user approved the change, not that the model reads the lines around it.
  return isSecret ? result : { ...result, content: `${result.content}\n${excerptOf(edit)}` };
}

/** Returns the changed lines with some around them, numbered as in `read_file`. */
function excerptOf({ edited, firstLine, after, ending }: TextEdit): string {
  const lines = edited.split(ending.at(-1)!);
  if (lines.at(-1) === "") lines.pop();
  const from = Math.max(0, firstLine - 1 - EXCERPT_CONTEXT_LINES);
  const to = firstLine + after.split("\n").length - 1 + EXCERPT_CONTEXT_LINES;
  const shown = lines.slice(from, Math.min(to, from + MAX_EXCERPT_LINES))
    .map((line, i) => `${from + i + 1}\t${cutExcerptLine(line.replace(/^\n|\r$/g, ""))}`);
  return [...shown, ...shown.length < lines.slice(from, to).length ? ["..."] : []].join("\n");
}

function cutExcerptLine(line: string): string {
  if (line.length <= MAX_EXCERPT_LINE_CHARS) return line;
  return `${line.slice(0, wholeUpTo(line, MAX_EXCERPT_LINE_CHARS))}...`;
}
