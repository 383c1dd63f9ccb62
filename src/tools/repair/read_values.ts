/** The values of a call whose arguments fit: a path, a command or a text with a slip in it. @module */

import type { Tool, ToolContext } from "../../types/tool.ts";
import type { ToolArgs } from "../schema.ts";
import { readCommand } from "./command.ts";
import {
  contentAsMeant,
  ENTITIES_REPAIR,
  unfenced,
  withLineFeeds,
  withoutCodeEntities,
} from "./content.ts";
import { type PathUse, repairPath } from "./paths.ts";

/** Our tools that take a path: its argument, and what is done with it. */
const PATHS: Readonly<Record<string, readonly [key: string, use: PathUse]>> = {
  read_file: ["file_path", "read"],
  write_file: ["file_path", "write"],
  edit_file: ["file_path", "edit"],
  list_directory: ["path", "read"],
  glob_files: ["path", "read"],
  grep_code: ["path", "read"],
};

/**
 * The arguments as they are meant, and a line for each repair.
 * @throws {SlipError} where there are several readings, or one would write what is not meant.
 */
export async function readValues(
  tool: Tool,
  given: ToolArgs,
  { workingDir: folder }: Pick<ToolContext, "workingDir">,
): Promise<{ args: ToolArgs; repairs: string[] }> {
  const args = { ...given };
  const repairs: string[] = [];
  const [key, usual] = PATHS[tool.name] ?? [];
  const path = key && args[key];
  if (key === "path" && typeof path === "string" && path.trim() === "") {
    args.path = ".";
    repairs.push("the empty path as .");
  } else if (key && usual && typeof path === "string") {
    const use = tool.name === "edit_file" && args.old_string === "" ? "write" : usual;
    const meant = await repairPath(path, { folder, use, isFile: key === "file_path" });
    if (meant !== undefined) {
      args[key] = meant;
      repairs.push(`the path ${JSON.stringify(path)} as ${meant}`);
    }
  }
  readTexts(tool.name, args, repairs);
  return { args, repairs };
}

function readTexts(name: string, args: ToolArgs, repairs: string[]): void {
  const { content, command, old_string, new_string } = args;
  const path = String(args.file_path);
  if (name === "run_bash" && typeof command === "string") {
    const read = readCommand(command);
    args.command = read.command;
    repairs.push(...read.repairs);
  }
  if (name === "write_file" && typeof content === "string") {
    const read = contentAsMeant(content, path);
    if (!read) return;
    args.content = read.text;
    repairs.push(read.repair);
  }
  if (name === "edit_file" && typeof old_string === "string" && typeof new_string === "string") {
    readEditTexts(args, { before: old_string, after: new_string, path }, repairs);
  }
}

/** The new text of an edit; what the old one has in the same form is read where the file's text is known. */
function readEditTexts(
  args: ToolArgs,
  { before, after, path }: { before: string; after: string; path: string },
  repairs: string[],
): void {
  const body = /^\s*(`{3}|~{3})/.test(before) ? undefined : unfenced(after, path);
  if (body !== undefined) {
    args.new_string = before.endsWith("\n") && body !== ""
      ? `${body.replace(/\n$/, "")}\n`
      : body.replace(/\n$/, "");
    repairs.push("new_string without the code fence around it");
  }
  const lines = before.includes("\\n") ? undefined : withLineFeeds(after, path);
  if (lines !== undefined) {
    args.new_string = lines;
    repairs.push("\\n between statements in new_string as line feeds");
  }
  const signs = before.includes("&") ? undefined : withoutCodeEntities(after, path);
  if (signs !== undefined) {
    args.new_string = signs;
    repairs.push(`in new_string, ${ENTITIES_REPAIR}`);
  }
}
