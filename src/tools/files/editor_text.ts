/** Files through the user's editor, which may have unsaved text. @module */

import { equalBytes, utf8Text } from "../../text/utf8.ts";
import type { ToolContext } from "../../types/tool.ts";
import { realPathOr } from "../paths.ts";
import { movedError } from "./regular_file.ts";

/** Returns the bytes that the editor has for a file; undefined if there is no editor, or if it does not have the file. */
export async function editorBytes(
  context: Pick<ToolContext, "editor" | "grant" | "signal">,
  path: string,
): Promise<Uint8Array | undefined> {
  const { editor, grant, signal } = context;
  if (editor?.read === undefined) return undefined;
  const text = await editor.read(grant?.realPath ?? realPathOr(path), signal);
  return text === undefined ? undefined : new TextEncoder().encode(text);
}

/**
 * Writes a file through the editor and returns the real path; undefined if the caller must write to the disk, because
 * there is no such editor. `seen` is the content from which the bytes were made, if known.
 *
 * @throws {Error} if the file has changed, or the editor cannot write it.
 */
export async function writeThroughEditor(
  context: Pick<ToolContext, "editor" | "grant" | "signal">,
  path: string,
  shown: string,
  bytes: Uint8Array,
  seen: Uint8Array | undefined,
): Promise<string | undefined> {
  const { editor, grant, signal } = context;
  if (editor?.write === undefined) return undefined;
  const realPath = realPathOr(path);
  if (grant !== undefined && realPath !== grant.realPath) throw movedError("write", shown);
  const now = seen && await editorBytes(context, path);
  if (now !== undefined && !equalBytes(now, seen!)) {
    throw new Error(
      `Cannot write ${shown} as it was changed in the editor meanwhile: read it again`,
    );
  }
  signal.throwIfAborted();
  await editor.write(realPath, utf8Text(bytes), signal);
  return realPath;
}
