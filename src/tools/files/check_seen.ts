/** Checks that a file is still as the model has seen it. @module */

import type { ToolContext } from "../../types/tool.ts";
import { editorBytes } from "./editor_text.ts";
import { realPathOr } from "../paths.ts";
import { readFile } from "../read_file.ts";
import { stampOf } from "./seen_files.ts";

/** The maximum number of lines of a changed file that the error quotes. */
const SHOWN_LINES = 200;

/**
 * Checks that the file is as the model last saw it, if it did.
 * @param whole true if all of it will be replaced: then the model must have seen it
 * @throws {Error} if not; the message quotes the current content, which then counts as seen.
 */
export async function checkSeen(
  context: ToolContext,
  path: string,
  shown: string,
  whole: boolean,
): Promise<void> {
  const { seenFiles } = context;
  if (seenFiles === undefined) return;
  const refuse = (reason: string) =>
    new Error(`Cannot ${whole ? "write" : "edit"} ${shown} as ${reason}`);
  const real = realPathOr(path);
  // The write reports an error.
  const info = await Deno.stat(real).catch(() => undefined);
  const stamp = seenFiles.get(real);
  const unsaved = await editorBytes(context, path);
  if (info === undefined && unsaved === undefined) {
    if (!seenFiles.delete(real) || !whole) return;
    throw refuse("it was removed since you read it: if it should be there again, create it again");
  }
  if (info?.isFile === false && unsaved === undefined) return;
  if (stamp !== undefined && stamp === await stampOf(real, unsaved)) return;
  if (stamp === undefined) {
    if (!whole || (unsaved?.length ?? info?.size) === 0) return;
    throw refuse("it exists and you have not read it: read it first, or use edit_file");
  }
  if (context.grant?.isSecret) throw refuse("it changed since you read it: read it again");
  const now = { ...context, maxOutputChars: context.maxOutputChars >> 1 };
  const { content } = await readFile({ file_path: shown, offset: 1, limit: SHOWN_LINES }, now);
  throw refuse(`it changed since you read it. It now contains:\n${content}`);
}
