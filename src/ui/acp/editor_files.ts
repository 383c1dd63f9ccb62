/** Files of an editor, through `fs/read_text_file` and `fs/write_text_file`. @module */

import { RpcError } from "../../rpc/message.ts";
import { attempt } from "../../attempt.ts";
import { isObject } from "../../text/json.ts";
import { oneLine } from "../../text/one_line.ts";
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
  return {
    known,
    ...readTextFile && {
      async read(path: string, signal: AbortSignal): Promise<string | undefined> {
        // The editor's answer is only used for text files.
        const file = attempt(() => Deno.statSync(path));
        if (file?.isFile === false) return undefined;
        const params = { sessionId: sessionId(), path };
        const waiting = AbortSignal.any([signal, AbortSignal.timeout(READ_MS)]);
        try {
          const answer = await editor.request("fs/read_text_file", params, waiting);
          if (!isObject(answer) || typeof answer.content !== "string") return undefined;
          // CodeCompanion answers for a missing file as for an empty one.
          if (answer.content === "" && file === undefined) return undefined;
          known.delete(path);
          known.add(path);
          return answer.content;
        } catch {
          signal.throwIfAborted();
          return undefined;
        }
      },
    },
    ...writeTextFile && {
      async write(path: string, content: string, signal: AbortSignal): Promise<void> {
        try {
          const params = { sessionId: sessionId(), path, content };
          await editor.request("fs/write_text_file", params, signal);
        } catch (error) {
          if (!(error instanceof RpcError)) throw error;
          // The protocol's TypeScript library sends "Internal error", and the reason as its details.
          const { details } = isObject(error.data) ? error.data : {};
          const why = typeof details === "string" ? details : error.message;
          throw new Error(`Cannot write ${path}: the editor says: ${oneLine(why)}`);
        }
      },
    },
  };
}
