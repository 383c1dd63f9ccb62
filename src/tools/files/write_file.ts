/** The tool `write_file`. @module */

import type { Grant, ToolContext } from "../../types/tool.ts";
import { type Seen, writeNotes } from "./atomic_write.ts";
import { oneAtATime } from "./file_queue.ts";
import { checkSeen } from "./check_seen.ts";
import { dominantEnding, LINE_ENDING_NAMES } from "./line_endings.ts";
import { openRegular } from "./regular_file.ts";
import { newFilePath } from "../paths.ts";
import { writeSeen } from "./write_seen.ts";

/** How much of an old file is looked at to learn its line endings. */
const SAMPLE_BYTES = 1024 * 1024;
const BOM = "\ufeff";

/**
 * Creates a file, or replaces all of it, and says how many bytes it wrote. A file that had CRLF (or
 * CR) line endings or a BOM keeps them unless `content` has some of its own, and the result says so; all
 * else is written as given.
 *
 * @throws {Error} when the file is UTF-16, changed meanwhile, or cannot be written; the old one is
 * then as it was.
 */
export async function writeFile(
  args: Record<string, unknown>,
  context: ToolContext,
): Promise<string> {
  const path = newFilePath(context, args.file_path as string);
  return await oneAtATime(path, () => write(path, args, context));
}

/**
 * Looks whether {@linkcode writeFile} can write.
 *
 * @throws {Error} when it cannot; see there.
 */
export async function checkWrite(
  { file_path }: Record<string, unknown>,
  context: ToolContext,
): Promise<void> {
  await lookAt(newFilePath(context, file_path as string), file_path as string, context);
}

async function lookAt(
  path: string,
  shown: string,
  context: ToolContext,
): Promise<Seen | undefined> {
  context.signal.throwIfAborted();
  await checkSeen(context, path, shown, true);
  const seen = await sample(path, shown, context.grant);
  if (seen && /^(\xff\xfe|\xfe\xff)/.test(String.fromCharCode(...seen.head.subarray(0, 2)))) {
    throw new Error(
      `Cannot write ${shown} as it is UTF-16 text and would become UTF-8: write another file and ` +
        "convert it with iconv -t UTF-16 in run_bash, or remove this one first",
    );
  }
  return seen;
}

async function write(
  path: string,
  args: Record<string, unknown>,
  context: ToolContext,
): Promise<string> {
  const { file_path: shown, content } = args as { file_path: string; content: string };
  const seen = await lookAt(path, shown, context);
  const old = new TextDecoder("utf-8", { ignoreBOM: true }).decode(seen?.head);
  const ending = dominantEnding(old);
  const notes: string[] = [];
  let text = content;
  if (
    ending !== undefined && ending !== "\n" && content.includes("\n") && !content.includes("\r")
  ) {
    text = content.replaceAll("\n", ending);
    notes.push(`its ${LINE_ENDING_NAMES[ending]} line endings were kept`);
  }
  if (old.startsWith(BOM) && !content.startsWith(BOM)) {
    text = BOM + text;
    notes.push("its BOM was kept");
  }
  const bytes = new TextEncoder().encode(text);
  const written = await writeSeen(context, path, shown, bytes, seen);
  const rest = [...notes, ...writeNotes(written)].map((note) => `; ${note}`).join("");
  const verb = written.created ? "Created" : "Replaced";
  const size = bytes.length === 1 ? "1 byte" : `${bytes.length} bytes`;
  return `${verb} ${shown}: wrote ${size}${rest}`;
}

/** What there is of the file; undefined when it may be written though not read. */
async function sample(path: string, shown: string, grant?: Grant): Promise<Seen | undefined> {
  try {
    await Deno.stat(path);
  } catch (error) {
    // What else is wrong, writing will tell.
    if (error instanceof Deno.errors.NotFound) return { head: new Uint8Array(), size: 0 };
  }
  try {
    using opened = await openRegular(path, shown, "write", grant);
    const { size } = opened.info;
    const head = new Uint8Array(Math.min(size, SAMPLE_BYTES));
    const read = await opened.file.read(head) ?? 0;
    return { head: head.subarray(0, read), size };
  } catch (error) {
    if (error instanceof Error && error.cause instanceof Deno.errors.PermissionDenied) return;
    throw error;
  }
}
