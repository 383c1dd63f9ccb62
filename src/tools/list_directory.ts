import type { Tool, ToolContext, ToolOutcome } from "../types/tool.ts";
import { callable, namesSubject, objectSchema } from "./definition.ts";
import { FOLDER_SYNONYMS } from "./slips.ts";
import { count } from "../text/count.ts";
import { join } from "../text/std_path.ts";
import { sanitize } from "../text/sanitize.ts";
import { fileError, missingError, movedError, specialKind } from "./files/regular_file.ts";
import { entryNames, MovedError } from "./files/in_folder.ts";
import { toolPath } from "./paths.ts";
import type { ToolArgs } from "./schema.ts";

export const folderTool: Tool = callable({
  name: "list_directory",
  description: "List a folder: folders end in /.",
  parameters: objectSchema({ path: { type: "string", default: ".", description: "Folder" } }, []),
  access: "read",
  subject: namesSubject("list"),
  slips: { synonyms: { path: [...FOLDER_SYNONYMS, "dirname"] }, path: ["path", "read"] },
  run: listDirectory,
});

/** The maximum number of entries shown. */
const MAX_ENTRIES = 1000;
/** The maximum length of the last line of a result, in characters. */
const LIST_FOOTER_CHARS = 150;

/**
 * Lists a folder, sorted by name: `name/` for a folder, `name size` for a file, `name -> target` for a link, the type
 * for anything else; then one line with the count.
 * @throws {Error} if it is not a folder or cannot be read.
 */
export async function listDirectory(args: ToolArgs, context: ToolContext): Promise<ToolOutcome> {
  const shown = args.path as string;
  const { grant, signal } = context;
  const path = grant?.realPath ?? toolPath(context, shown);
  const names: string[] = [];
  try {
    for await (const name of entryNames(path, grant)) {
      names.push(name);
      signal.throwIfAborted();
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof MovedError) throw movedError("list", shown);
    if (error instanceof Deno.errors.NotADirectory) {
      throw new Error(`Cannot list ${shown} as it is no folder: use read_file`, { cause: error });
    }
    if (error instanceof Deno.errors.NotFound) throw await missingError(path, shown, "list", grant);
    throw fileError("list", shown, error);
  }
  const total = names.length;
  const counts = { entries: total };
  if (total === 0) return { content: "[the folder is empty]", counts };
  names.sort();
  const lines: string[] = [];
  let room = context.maxOutputChars - LIST_FOOTER_CHARS;
  for (const name of names.slice(0, MAX_ENTRIES)) {
    const line = await describeEntry(path, name);
    room -= line.length + 1;
    if (room < 0 && lines.length > 0) break;
    lines.push(line);
  }
  const left = total - lines.length;
  const more = left === 0 ? "" : `; ${left} more are not shown: find them with ls -A in run_bash`;
  lines.push(`[${count(total, "entry", "entries")}${more}]`);
  return { content: lines.join("\n"), counts };
}

async function describeEntry(folder: string, name: string): Promise<string> {
  const path = join(folder, name);
  const shown = nameInLine(name);
  try {
    const info = await Deno.lstat(path);
    if (info.isSymlink) {
      const target = nameInLine(await Deno.readLink(path));
      const end = await Deno.stat(path).catch(() => undefined);
      if (end === undefined) return `${shown} -> ${target}  [broken link]`;
      return `${shown} -> ${target}${end.isDirectory ? "/" : ""}`;
    }
    if (info.isDirectory) return `${shown}/`;
    return info.isFile ? `${shown}  ${sizeText(info.size)}` : `${shown}  [${specialKind(info)}]`;
  } catch {
    // It is gone, or its name is not valid UTF-8 and Deno cannot spell it.
    return `${shown}  [unreadable]`;
  }
}

function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const unit = Math.floor(Math.log2(bytes) / 10);
  return `${(bytes / 1024 ** unit).toFixed(1)} ${"KMGTPE"[unit - 1]}B`;
}

function nameInLine(name: string): string {
  return sanitize(name).replace(/[\n\t]/g, (c) => c === "\n" ? "\u240a" : "\u2409");
}
