import { bareNames } from "../text/tool_aliases.ts";
import type { Tool, ToolContext, WriteFacts } from "../types/tool.ts";
import { callable, fileSubject, objectSchema, textSchema } from "./definition.ts";
import { FILE_SYNONYMS, takeView } from "./slips.ts";
import { contentAsMeant } from "./repair/content.ts";
import { utf8Text } from "../text/utf8.ts";
import { count } from "../text/count.ts";
import { newFilePath } from "./paths.ts";
import type { ToolArgs } from "./schema.ts";
import { writeReport } from "./files/atomic_write.ts";
import { comparedWhole, decodedBytes } from "./files/change.ts";
import { editorBytes } from "./files/editor_text.ts";
import { checkSeen } from "./files/check_seen.ts";
import { leftOutBy, placeholderIn } from "./files/left_out.ts";
import { BOM, dominantEnding, utf16Label } from "./files/line_endings.ts";
import { PreparedWrite, writerOf } from "./files/prepared_write.ts";
import { fileError, openRegular, readBytes } from "./files/regular_file.ts";
import { MAX_DIGESTED_BYTES, type SeenState, stampOf } from "./files/seen_files.ts";

/**
 * Creates a file, or replaces all of it, and reports the number of bytes. CRLF (or CR) line endings and a BOM of the
 * old file stay unless `content` has its own, and the result says so.
 * @throws {Error} if the file is UTF-16, has changed, or cannot be written; it is then unchanged.
 */
export const writeFile = writerOf(prepareWrite);

export const writeTool: Tool = callable({
  name: "write_file",
  description: "Create a file or replace all of it. Parent folders are created.",
  parameters: objectSchema({
    file_path: textSchema("File to write"),
    content: textSchema("The whole content"),
  }, ["file_path", "content"]),
  access: "write",
  subject: fileSubject("write"),
  slips: {
    synonyms: {
      file_path: FILE_SYNONYMS,
      content: bareNames(
        "text contents body data filetext filecontent filecontents code sourcecode newcontent value fullcontent",
      ),
    },
    readings: [takeView],
    editorCommand: "create",
    path: ["file_path", "write"],
    readTexts: (args, repairs) => {
      if (typeof args.content !== "string") return;
      const read = contentAsMeant(args.content, String(args.file_path));
      if (!read) return;
      args.content = read.text;
      repairs.push(read.repair);
    },
  },
  prepare: prepareWrite,
  run: writeFile,
});

/** Prepares the write of {@linkcode writeFile}. @throws {Error} as it does. */
export async function prepareWrite(args: ToolArgs, context: ToolContext): Promise<PreparedWrite> {
  const { file_path: shown, content } = args as { file_path: string; content: string };
  const path = newFilePath(context, shown);
  context.signal.throwIfAborted();
  // Documents may show code with omissions.
  const placeholder = /\.(?:mdx?|rst|adoc|txt)$/i.test(path) && content.length > 200
    ? undefined
    : placeholderIn(content);
  if (placeholder !== undefined) {
    throw new Error(
      `Cannot write ${shown} as ${
        JSON.stringify(placeholder)
      } is a placeholder, and content must be the whole text of the file: write it out, or change a part with edit_file`,
    );
  }
  await checkSeen(context, path, shown, true);
  const { seen, size } = await oldFile(path, shown, "write", context);
  const old = seen?.bytes;
  if (old && utf16Label(old) !== undefined) {
    throw new Error(
      `Cannot write ${shown} as it is UTF-16 text and would become UTF-8: write another file and ` +
        "convert it with iconv -t UTF-16 in run_bash, or remove this one first",
    );
  }
  if (old && content.includes("\ufffd") && decodedBytes(old) === undefined) {
    throw new Error(
      `Cannot write ${shown} as it is not valid UTF-8, and content has \ufffd in place of its bytes: ` +
        "use run_bash with a program that works on bytes, such as sed or perl",
    );
  }
  const mark = old && leftOutBy(utf8Text(old), content);
  if (mark !== undefined) {
    throw new Error(
      `Cannot write ${shown} as content has ${
        JSON.stringify(mark)
      } in place of lines that the file has, which would be left out: write all of the file, or change a part with edit_file`,
    );
  }
  const { text, facts } = asTheFileHasIt(content, utf8Text(old));
  const bytes = new TextEncoder().encode(text);
  const isNew = size === undefined;
  const isShown = isNew || !context.grant?.isSecret;
  const lines = old && isShown ? comparedWhole(old, bytes) : undefined;
  const rest = lines ?? (isNew ? {} : { replacedBytes: size });
  return new PreparedWrite({
    path,
    args,
    seen,
    bytes,
    replacesAll: true,
    change: { path: shown, isNew, morePlaces: 0, ...rest },
    report: (written) => {
      const verb = written.created ? "Created" : "Replaced";
      const what = `${verb} ${shown}: wrote ${count(bytes.length, "byte")}`;
      return writeReport(what, written, facts);
    },
  });
}

function asTheFileHasIt(content: string, old: string): { text: string; facts: WriteFacts } {
  const ending = dominantEnding(old);
  const keeps: NonNullable<WriteFacts["keeps"]>[number][] = [];
  let text = content;
  if (ending && ending !== "\n" && content.includes("\n") && !content.includes("\r")) {
    text = content.replaceAll("\n", ending);
    keeps.push(ending === "\r" ? "CR" : "CRLF");
  }
  if (old.startsWith(BOM) && !content.startsWith(BOM)) {
    text = BOM + text;
    keeps.push("BOM");
  }
  return { text, facts: keeps.length > 0 ? { keeps } : {} };
}

/**
 * Returns the old file and its size, undefined without a file. A large file has no bytes. To write a file that cannot
 * be read is allowed, to edit it throws.
 */
export async function oldFile(
  path: string,
  shown: string,
  action: "edit" | "write",
  context: ToolContext,
): Promise<{ seen: SeenState | undefined; size: number | undefined }> {
  let bytes = await editorBytes(context, path);
  let size = bytes?.length;
  try {
    if (bytes === undefined) {
      ({ size } = await Deno.stat(path));
      using opened = await openRegular(path, shown, action, context.grant);
      ({ size } = opened.info);
      if (size > MAX_DIGESTED_BYTES) {
        return { seen: { stamp: await stampOf(opened.realPath) }, size };
      }
      bytes = await readBytes(opened.file, size);
    }
    return { seen: { bytes, stamp: await stampOf(path, bytes) }, size };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) {
      return { seen: { bytes: new Uint8Array(), stamp: "" }, size };
    }
    const failure = fileError(action, shown, error);
    const isUnread = failure.cause instanceof Deno.errors.PermissionDenied;
    if (isUnread && action === "write") return { seen: undefined, size };
    throw failure;
  }
}
