/** The states of files that the model knows: to edit an older one undoes others' work. @module */

import type { ToolContext } from "../../types/tool.ts";

/** The state of a file in a short text, which changes when the file is written. */
export function stampOf({ dev, ino, size, mtime }: Deno.FileInfo): string {
  return [dev, ino, size, mtime?.getTime()].join(":");
}

/** Remembers that the model has seen, or written, the file in the state `info`. */
export function noteSeen(context: ToolContext, realPath: string, info: Deno.FileInfo): void {
  context.seenFiles?.set(realPath, stampOf(info));
}
