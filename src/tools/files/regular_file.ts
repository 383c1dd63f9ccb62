/** The checks of every tool before it opens a file, and their errors. @module */

import { basename, dirname, join, relative, SEPARATOR } from "../../text/std_path.ts";
import { isWithin } from "../../text/paths.ts";
import { nearest } from "../../text/nearest.ts";
import { sanitize } from "../../text/sanitize.ts";
import { reasonOf } from "../../text/reason.ts";
import type { Grant } from "../../types/tool.ts";
import { within } from "../../wire/wait.ts";

/** A refusal in our own words, for the model. */
export class FileError extends Error {}

/** An open file that is known to be a regular one. */
export interface RegularFile extends Disposable {
  file: Deno.FsFile;
  info: Deno.FileInfo;
  /** With every link followed. */
  realPath: string;
}

/**
 * Opens `path` for reading. Looks before it opens, as opening a FIFO waits for a writer.
 * @param shown the path as the model knows it, for errors, as is `action`, such as `read`
 * @param grant what is opened instead of `path`, which must lead there all the while
 * @throws {Error} when it is no regular file; the message tells the model its next move.
 */
export async function openRegular(
  path: string,
  shown: string,
  action: string,
  grant?: Grant,
): Promise<RegularFile> {
  const { realPath } = await statRegular(path, shown, action, grant);
  const since = Date.now();
  const file = await openToRead(realPath).catch((error) => {
    throw fileError(action, shown, error);
  });
  const info = file.statSync();
  if (!info.isFile || grant && !isStill(realPath, info, grant.withheld.folder, since)) {
    file.close();
    throw info.isFile ? movedError(action, shown) : notRegular(action, shown, info);
  }
  return { file, info, realPath, [Symbol.dispose]: () => file.close() };
}

/** A file that opens no sooner, in ms, is a FIFO that took its place: to open one waits for a writer. */
const MAX_OPEN_MS = 5000;

async function openToRead(path: string): Promise<Deno.FsFile> {
  const opening = Deno.open(path);
  const file = await within(MAX_OPEN_MS, opening);
  if (file !== undefined) return file;
  opening.then((late) => late.close(), () => {});
  throw new Error(`it did not open within ${MAX_OPEN_MS / 1000} s`);
}

/** The next `length` bytes of a file, or fewer where it ends before. */
export async function readBytes(file: Deno.FsFile, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  let done = 0;
  for (let read; done < length && (read = await file.read(bytes.subarray(done)));) done += read;
  return bytes.subarray(0, done);
}

/** The checks that {@linkcode isStill} makes where a folder changed lately, and the longest pause, in ms. */
const LOOKS = 16;
const BREAK_MS = 0.03;
/** A folder unchanged for this time, in ms, is quiet: clocks are coarse, and those of servers differ. */
const QUIET_FOLDER_MS = 2000;

/**
 * True where a granted path has had no links since a time, and leads to the file opened by it.
 *
 * Without `openat` this takes two looks, between which a folder can be swapped for a link and back.
 * A swap changes the parent folder: where none changed lately, one check is enough. Else LOOKS
 * checks run at random intervals, so that one swap cannot evade all.
 * @param folder the working directory; changes above it are not looked for
 * @param since the time of opening, or before, in milliseconds since 1970
 */
export function isStill(
  path: string,
  { dev, ino }: Pick<Deno.FileInfo, "dev" | "ino">,
  folder: string,
  since: number,
): boolean {
  try {
    const top = isWithin(folder, path) ? folder : undefined;
    let looks = hasChanged(path, top, since - QUIET_FOLDER_MS) ? LOOKS : 1;
    for (; looks > 0; looks--) {
      const real = Deno.realPathSync(path);
      if (real !== path && (SEPARATOR === "/" || relative(real, path) !== "")) return false;
      const info = Deno.lstatSync(path);
      if (info.ino !== ino || info.dev !== dev) return false;
      const end = performance.now() + (looks > 1 ? Math.random() * BREAK_MS : 0);
      while (performance.now() < end);
    }
    return true;
  } catch {
    return false;
  }
}

/** True where a folder above `path`, up to `top` or the root, has changed since a time. */
function hasChanged(path: string, top: string | undefined, since: number): boolean {
  for (let at = path; at !== top && at !== dirname(at);) {
    at = dirname(at);
    const { ctime, isDirectory } = Deno.lstatSync(at);
    if (!isDirectory || ctime === null || ctime.getTime() >= since) return true;
  }
  return false;
}

/** The error where links lead elsewhere than when the call was decided on. */
export function movedError(action: string, shown: string): Error {
  const reason = "a file, folder or link in its path was replaced meanwhile: look at it again";
  return new FileError(`Cannot ${action} ${shown} as ${reason}`);
}

/** Checks what {@linkcode openRegular} does, without opening; `realPath` has every link followed. */
export async function statRegular(
  path: string,
  shown: string,
  action: string,
  grant?: Grant,
): Promise<Pick<RegularFile, "info" | "realPath">> {
  try {
    const realPath = grant?.realPath ?? await Deno.realPath(path);
    // Reading one of these runs code in the kernel and may tell secrets.
    if (/^\/(proc|sys)\//.test(realPath) && Deno.build.os === "linux") {
      throw notRegular(action, shown);
    }
    const info = grant ? Deno.lstatSync(realPath) : await Deno.stat(realPath);
    if (info.isSymlink) throw movedError(action, shown);
    if (!info.isFile) throw notRegular(action, shown, info);
    return { info, realPath };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw await missingError(path, shown, action);
    throw fileError(action, shown, error);
  }
}

/** An error of the system in our words; one that is already in our words stays as it is. */
export function fileError(action: string, shown: string, error: unknown, more = ""): Error {
  if (!(error instanceof Error) || error instanceof FileError) return error as Error;
  return new FileError(`Cannot ${action} ${shown}: ${reasonOf(error)}${more}`, { cause: error });
}

/** The kind of what is no file, folder or link. */
export function specialKind(info: Deno.FileInfo): string {
  if (info.isFifo) return "FIFO";
  if (info.isSocket) return "socket";
  return info.isCharDevice || info.isBlockDevice ? "device" : "special file";
}

function notRegular(action: string, shown: string, info?: Deno.FileInfo): Error {
  let kind = info === undefined ? "part of the system's state" : `a ${specialKind(info)}`;
  if (info?.isDirectory) kind = "a folder: use list_directory to see inside";
  return new FileError(`Cannot ${action} ${shown} as it is not a regular file but ${kind}`);
}

/** The error of a missing file: names the folder that is missing, or the names most like it. */
export async function missingError(path: string, shown: string, action: string): Promise<Error> {
  // The names beside the folder that is worked in are nobody's business.
  if (shown === ".") {
    return new FileError(`Cannot ${action} the folder as it was removed or renamed`);
  }
  // Each name by the forms in which a model may give it: as it is, and as list_directory shows it.
  const names = new Map<string, string>();
  try {
    // Comparing a name takes microseconds.
    for await (const { name } of Deno.readDir(dirname(path))) {
      names.set(sanitize(name), name).set(name, name);
      if (names.size >= 2000) break;
    }
  } catch {
    return new FileError(`Cannot ${action} ${shown} as there is no folder ${dirname(shown)}`);
  }
  const alike: string[] = [];
  for (let form; alike.length < 3 && (form = nearest(basename(path), [...names.keys()]));) {
    const name = names.get(form)!;
    names.delete(name);
    names.delete(sanitize(name));
    alike.push(name);
  }
  const hint = alike.length === 0
    ? "list_directory or glob_files show what there is"
    : `did you mean ${alike.map((name) => join(dirname(shown), name)).join(" or ")}?`;
  return new FileError(`Cannot ${action} ${shown} as it does not exist: ${hint}`);
}
