/** Files of an editor, through `fs/read_text_file` and `fs/write_text_file`. @module */

import { whileStopped } from "../../program_stop.ts";
import { RpcError, type RpcParams } from "../../rpc/message.ts";
import { placeOf } from "../../safety/places.ts";
import { attempt } from "../../attempt.ts";
import { isObject, objectOr } from "../../text/json.ts";
import { oneLine } from "../../text/one_line.ts";
import { movedError } from "../../tools/files/regular_file.ts";
import type { EditorFiles } from "../../types/tool.ts";
import type { Editor } from "./editor.ts";

/** The timeout for an editor's answer about a file, in ms. */
const READ_MS = 5000;

/** Returns the file operations that `editor` offers. `sessionId` is called for each request. */
export function editorFiles(
  editor: Editor,
  { readTextFile, writeTextFile }: { readTextFile: boolean; writeTextFile: boolean },
  sessionId: () => string,
): EditorFiles | undefined {
  if (!readTextFile && !writeTextFile) return undefined;
  const known = new Set<string>();
  // The editor resolves the path again, in which a job may put a link.
  const request = (method: string, path: string, more: RpcParams, signal: AbortSignal) =>
    whileStopped(() => {
      if (placeOf("/", path).real !== path) throw movedError("open", path);
      return editor.request(method, { sessionId: sessionId(), path, ...more }, signal);
    });
  return {
    known,
    ...readTextFile && {
      async read(path: string, signal: AbortSignal): Promise<string | undefined> {
        // The editor's answer is only used for text files.
        const file = attempt(() => Deno.statSync(path));
        if (file?.isFile === false) return undefined;
        const waiting = AbortSignal.any([signal, AbortSignal.timeout(READ_MS)]);
        try {
          const answer = await request("fs/read_text_file", path, {}, waiting);
          if (!isObject(answer) || typeof answer.content !== "string") return undefined;
          const { content } = answer;
          // CodeCompanion and Toad answer for a missing file as for an empty one.
          if (content === "" && file === undefined) return undefined;
          known.delete(path);
          known.add(path);
          // Avante leaves out the newline at the end.
          const isCut = content !== "" && !content.endsWith("\n") &&
            attempt(() => Deno.readTextFileSync(path))?.endsWith("\n");
          return isCut ? `${content}\n` : content;
        } catch {
          signal.throwIfAborted();
          return undefined;
        }
      },
    },
    ...writeTextFile && {
      async write(path: string, content: string, signal: AbortSignal): Promise<void> {
        try {
          await request("fs/write_text_file", path, { content }, signal);
        } catch (error) {
          if (!(error instanceof RpcError)) throw error;
          // The protocol's TypeScript library sends "Internal error", and the reason as its details.
          const { details } = objectOr(error.data);
          const why = typeof details === "string" ? details : error.message;
          throw new Error(`Cannot write ${path}: the editor says: ${oneLine(why)}`);
        }
      },
    },
  };
}
