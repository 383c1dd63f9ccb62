/** The writes of `edit_file` and `write_file`: prepared, then done one by one for a file. @module */

import type { Change, Prepared, ToolContext, ToolOutcome } from "../../types/tool.ts";
import { newFilePath, realPathOr } from "../paths.ts";
import type { ToolArgs } from "../schema.ts";
import { type Seen, writeAtomically, type Written } from "./atomic_write.ts";
import { checkSeen } from "./check_seen.ts";
import { writeThroughEditor } from "./editor_text.ts";
import { stampOf } from "./seen_files.ts";

/** A file to write, and the state that its bytes were made from. */
interface WritePlan {
  path: string;
  args: ToolArgs;
  seen: Seen | undefined; // the file as it was; undefined where it cannot be read
  bytes: Uint8Array;
  change: Change;
  /** True where the whole file is replaced, which the model must have seen then. */
  replacesAll: boolean;
  report(written: Written): Pick<ToolOutcome, "content" | "written" | "repairs">;
}

/** Files over this size, in bytes, are reported without the bytes that they had. */
const MAX_SAVED_BYTES = 16 * 1024 * 1024;

export class PreparedWrite implements Prepared {
  readonly change: Change;

  constructor(readonly plan: WritePlan) {
    this.change = plan.change;
  }

  /** True where it was made from the same arguments. */
  isFor(path: string, args: ToolArgs): boolean {
    const mine = this.plan.args;
    const keys = Object.keys(mine);
    return path === this.plan.path && keys.length === Object.keys(args).length &&
      keys.every((key) => mine[key] === args[key]);
  }

  /**
   * Writes its bytes, remembers that the model knows the file, and calls `onWritten`.
   * @throws {Error} when the file is not what they were made from, or cannot be written.
   */
  async write(context: ToolContext): Promise<ToolOutcome> {
    const { path, args, bytes, seen, change, report } = this.plan;
    const shown = String(args.file_path);
    const before = context.onWritten && await versionOf(context.grant?.realPath ?? path, seen);
    const whole = seen?.head.length === seen?.size ? seen?.head : undefined;
    const realPath = await writeThroughEditor(context, path, shown, bytes, whole);
    const written = realPath === undefined
      ? await writeAtomically(path, shown, bytes, seen, context)
      : { realPath, created: change.isNew, linked: realPath !== path };
    const stamp = await stampOf(written.realPath, bytes);
    context.seenFiles?.set(written.realPath, stamp);
    context.onWritten?.({
      path: written.realPath,
      stamp,
      ...!written.created && { before: before ?? { stamp: "" } },
    });
    return { ...report(written), change, counts: { bytes: bytes.length } };
  }
}

/** The file at `path`, which begins with `seen`; without bytes where it cannot be read. */
async function versionOf(path: string, seen: Seen | undefined) {
  const stamp = await stampOf(path).catch(() => undefined);
  if (stamp === undefined) return undefined;
  if (seen === undefined || seen.size > MAX_SAVED_BYTES) return { stamp };
  return { stamp, bytes: seen.head.length === seen.size ? seen.head : await Deno.readFile(path) };
}

type PrepareWrite = (args: ToolArgs, context: ToolContext) => Promise<PreparedWrite>;

/** A tool that writes what was prepared for its arguments; where nothing was, it prepares it first. */
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

/** The last call in each file's queue, by its real path. */
const queues = new Map<string, Promise<void>>();

/** Runs `action` once all calls before it for the same file are done: each reads, then writes. */
async function oneAtATime<T>(path: string, action: () => Promise<T>): Promise<T> {
  // Synchronous, as the queue is in the order of the calls; a new file has only its path.
  const key = realPathOr(path);
  const { promise, resolve } = Promise.withResolvers<void>();
  const before = queues.get(key);
  queues.set(key, promise);
  try {
    await before;
    return await action();
  } finally {
    resolve();
    if (queues.get(key) === promise) queues.delete(key);
  }
}
