/**
 * The tools as functions that return the text for the model alone.
 *
 * @module
 */
import { editFile as edit } from "../../src/tools/edit_file.ts";
import { listDirectory as list } from "../../src/tools/list_directory.ts";
import { readFile as read } from "../../src/tools/read_file.ts";
import { writeFile as write } from "../../src/tools/write_file.ts";
import { globFiles as glob } from "../../src/tools/glob_files.ts";
import { grepCode as grep } from "../../src/tools/grep_code.ts";
import { runInBackground as background } from "../../src/tools/shell/background.ts";
import { runBash as bash } from "../../src/tools/shell/run_command.ts";
import type { ToolOutcome } from "../../src/types/tool.ts";

/** What the model reads of a result. */
export const contentOf = (result: ToolOutcome | string): string =>
  typeof result === "string" ? result : result.content;

const textOf =
  <A extends unknown[]>(run: (...args: A) => Promise<ToolOutcome>) =>
  async (...args: A): Promise<string> => contentOf(await run(...args));

export const editFile = textOf(edit);
export const listDirectory = textOf(list);
export const readFile = textOf(read);
export const writeFile = textOf(write);
export const globFiles = textOf(glob);
export const grepCode = textOf(grep);
export const runInBackground = textOf(background);
export const runBash = textOf(bash);
