/** The writes of `edit_file` and `write_file`: prepared first, then run one by one for each file. @module */

import { attempt } from "../../attempt.ts";
import { dirname } from "../../text/std_path.ts";
import type { Change, Prepared, ToolContext, ToolOutcome } from "../../types/tool.ts";
import { newFilePath, realPathOr } from "../paths.ts";
import type { ToolArgs } from "../schema.ts";
import { writeAtomically, type WrittenFile } from "./atomic_write.ts";
import { checkSeen } from "./check_seen.ts";
import { writeThroughEditor } from "./editor_text.ts";
import { type SeenState, stampOf } from "./seen_files.ts";

/** A file to write, and the state from which its bytes were made. */
interface WritePlan {
  path: string;
  args: ToolArgs;
  seen: SeenState | undefined; // the file before the write; undefined if it cannot be read
  bytes: Uint8Array;
  change: Change;
  /** True if the whole file is replaced: then the model must have seen it. */
  replacesAll: boolean;
  report(written: WrittenFile): Pick<ToolOutcome, "content" | "written" | "repairs">;
}

export class PreparedWrite implements Prepared {
  constructor(readonly plan: WritePlan) {}

  get change(): Change {
    return this.plan.change;
  }

  isFor(path: string, args: ToolArgs): boolean {
    const mine = this.plan.args;
    const keys = Object.keys(mine);
    return path === this.plan.path && keys.length === Object.keys(args).length &&
      keys.every((key) => mine[key] === args[key]);
  }

  /** Writes its bytes, stores the file's new state, and calls `onWritten`. @throws {Error} if the file changed. */
  async write(context: ToolContext): Promise<ToolOutcome> {
    const { path, args, bytes, seen, change, report } = this.plan;
    const shown = String(args.file_path);
    const newFolders = change.isNew ? missingFolders(dirname(path)) : 0;
    const realPath = await writeThroughEditor(context, path, shown, bytes, seen?.bytes);
    const written = realPath === undefined
      ? await writeAtomically(path, shown, bytes, seen, context)
      : { realPath, created: change.isNew, linked: realPath !== path };
    const stamp = await stampOf(written.realPath, bytes);
    context.seenFiles?.set(written.realPath, stamp);
    context.onWritten?.({
      path: written.realPath,
      stamp,
      newFolders,
      ...!written.created && { before: seen?.bytes ? { bytes: seen.bytes } : {} },
    });
    return { ...report(written), change, counts: { bytes: bytes.length } };
  }
}

const missingFolders = (folder: string): number =>
  attempt(() => Deno.lstatSync(folder)) ? 0 : 1 + missingFolders(dirname(folder));

type PrepareWrite = (args: ToolArgs, context: ToolContext) => Promise<PreparedWrite>;

export const writerOf =
  (prepare: PrepareWrite) =>
  async (args: ToolArgs, context: ToolContext, prepared?: Prepared): Promise<ToolOutcome> => {
    const path = newFilePath(context, String(args.file_path));
    return await oneAtATime(path, async () => {
      context.signal.throwIfAborted();
      if (!(prepared instanceof PreparedWrite && prepared.isFor(path, args))) {
        return await (await prepare(args, context)).write(context);
      }
      await checkSeen(context, path, String(args.file_path), prepared.plan.replacesAll);
      return await prepared.write(context);
    });
  };

/** The last call in each file's queue, by real path. */
const queues = new Map<string, Promise<unknown>>();

/** Runs `action` after all earlier calls for the same file: each reads, then writes. */
async function oneAtATime<T>(path: string, action: () => Promise<T>): Promise<T> {
  // Synchronous, because the queue has the order of the calls. A new file has only its path.
  const key = realPathOr(path);
  const call = Promise.resolve(queues.get(key)).then(action, action);
  queues.set(key, call);
  try {
    return await call;
  } finally {
    if (queues.get(key) === call) queues.delete(key);
  }
}
