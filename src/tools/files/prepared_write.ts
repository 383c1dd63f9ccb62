/**
 * A file that is about to be written: its bytes, and the change that they make.
 *
 * @module
 */

import type { Change, Prepared, ToolContext, ToolOutcome } from "../../types/tool.ts";
import { newFilePath } from "../paths.ts";
import type { Seen, Written } from "./atomic_write.ts";
import { checkSeen } from "./check_seen.ts";
import { oneAtATime } from "./file_queue.ts";
import { writeSeen } from "./write_seen.ts";

/** A file to write, and the state that its bytes were made from. */
interface WritePlan {
  /** The absolute path. */
  path: string;
  /** The arguments of the call. */
  args: Record<string, unknown>;
  /** The file as it was; undefined where it cannot be read. */
  seen: Seen | undefined;
  bytes: Uint8Array;
  change: Change;
  /** True where the whole file is replaced, which the model must have seen then. */
  replacesAll: boolean;
  /** The result for the model. */
  report(written: Written): string;
}

/** A write that the tools `edit_file` and `write_file` prepared. */
export class PreparedWrite implements Prepared {
  readonly #plan: WritePlan;

  constructor(plan: WritePlan) {
    this.#plan = plan;
  }

  /** The change that it makes. */
  get change(): Change {
    return this.#plan.change;
  }

  /** Whether it was made from the same arguments. */
  isFor(path: string, args: Record<string, unknown>): boolean {
    const mine = this.#plan.args;
    const keys = Object.keys(mine);
    return path === this.#plan.path && keys.length === Object.keys(args).length &&
      keys.every((key) => mine[key] === args[key]);
  }

  /**
   * Checks that the file is as the model saw it last.
   *
   * @throws {Error} when it is not.
   */
  async check(context: ToolContext): Promise<void> {
    const { path, args, replacesAll } = this.#plan;
    await checkSeen(context, path, String(args.file_path), replacesAll);
  }

  /**
   * Writes its bytes.
   *
   * @throws {Error} when the file is not what they were made from, or cannot be written.
   */
  async write(context: ToolContext): Promise<ToolOutcome> {
    const { path, args, bytes, seen, change, report } = this.#plan;
    const written = await writeSeen(context, path, String(args.file_path), bytes, seen);
    return { content: report(written), change, counts: { bytes: bytes.length } };
  }
}

/** Makes the {@linkcode PreparedWrite} of a call. */
type PrepareWrite = (
  args: Record<string, unknown>,
  context: ToolContext,
) => Promise<PreparedWrite>;

/** Writes what was prepared for these arguments; where nothing was, prepares it first. */
export async function runWrite(
  prepare: PrepareWrite,
  args: Record<string, unknown>,
  context: ToolContext,
  prepared?: Prepared,
): Promise<ToolOutcome> {
  const path = newFilePath(context, String(args.file_path));
  return await oneAtATime(path, async () => {
    context.signal.throwIfAborted();
    if (!(prepared instanceof PreparedWrite && prepared.isFor(path, args))) {
      return await (await prepare(args, context)).write(context);
    }
    await prepared.check(context);
    return await prepared.write(context);
  });
}
