/**
 * What the model knows of files: an edit made from an older state would undo what somebody else did.
 *
 * @module
 */

import type { ToolContext } from "../../types/tool.ts";

/** What differs when a file was written meanwhile. */
export function stampOf({ dev, ino, size, mtime }: Deno.FileInfo): string {
  return [dev, ino, size, mtime?.getTime()].join(":");
}

/** The model saw the file that `info` tells of, or wrote it. */
export function noteSeen(context: ToolContext, realPath: string, info: Deno.FileInfo): void {
  context.seenFiles?.set(realPath, stampOf(info));
}
