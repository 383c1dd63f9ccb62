/** The checks before any tool opens a file, and their errors. @module */

import { attempt } from "../../attempt.ts";
import { basename, dirname, join, relative, resolve, SEPARATOR } from "../../text/std_path.ts";
import { isWithin } from "../../text/paths.ts";
import { nearest } from "../../text/nearest.ts";
import { sanitize } from "../../text/sanitize.ts";
import { reasonOf } from "../../text/reason.ts";
import type { Grant } from "../../types/tool.ts";
import { within } from "../../wire/wait.ts";
import { entryNames, MovedError } from "./in_folder.ts";

export class FileError extends Error {}

interface RegularFile extends Disposable {
  file: Deno.FsFile;
  info: Deno.FileInfo;
  realPath: string;
}

/**
 * Opens `path` for reading. Checks it before opening, because opening a FIFO waits for a writer.
 * @param shown the path as the model knows it, for errors, as is `action`, such as `read`
 * @param grant opened instead of `path`, which must lead there throughout
 * @throws {Error} if it is not a regular file; the message suggests the next step to the model.
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

/** Returns the grant of a path without links in a folder. */
export const grantIn = (folder: string, realPath: string): Grant => ({
  realPath,
  withheld: { folder, paths: [] },
});

/** Returns the grant of a file that the user names. Its folder is resolved now, and it must not be a link. */
export function grantOfNamed(path: string): Grant {
  const folder = Deno.realPathSync(dirname(resolve(path)));
  return grantIn(folder, join(folder, basename(path)));
}

/** A file that does not open within this time, in ms, is a FIFO that replaced it: opening one waits for a writer. */
const MAX_OPEN_MS = 5000;

export async function openToRead(path: string): Promise<Deno.FsFile> {
  const opening = Deno.open(path);
  const file = await within(MAX_OPEN_MS, opening);
  if (file !== undefined) return file;
  opening.then((late) => late.close(), () => {});
  throw new Error(`it did not open within ${MAX_OPEN_MS / 1000} s`);
}

export async function readBytes(file: Deno.FsFile, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  let done = 0;
  for (let read; done < length && (read = await file.read(bytes.subarray(done)));) done += read;
  return bytes.subarray(0, done);
}

/** Returns a path of an open file that leads to it under any name; without `/proc`, the path `known`. */
export function pathOfOpen({ dev, ino }: Deno.FileInfo, known: string): string {
  const open = attempt(() => [...Deno.readDirSync("/proc/self/fd")]);
  if (open === undefined) return known;
  for (const { name } of open) {
    const path = `/proc/${Deno.pid}/fd/${name}`;
    const info = attempt(() => Deno.statSync(path));
    if (info?.ino === ino && info.dev === dev) return path;
  }
  throw new Error("it is not open");
}

/** The number of checks of {@linkcode isStill} if a folder changed recently, and the longest pause in ms. */
const LOOKS = 16;
const BREAK_MS = 0.03;
/** A folder unchanged for this time, in ms, is quiet: clocks are coarse, and those of servers differ. */
const QUIET_FOLDER_MS = 2000;

/**
 * True if a granted path has had no links since a time, and leads to the open file.
 *
 * Without `openat` this takes two checks, between which a folder can be replaced by a link and back. A swap changes the
 * parent folder: if no folder changed recently, one check is enough. Otherwise, LOOKS checks run at random intervals, so
 * that one swap cannot evade them all.
 * @param folder the working directory; changes above it are ignored
 * @param since the time of opening, or earlier, in milliseconds since 1970
 */
export function isStill(
  path: string,
  { dev, ino }: Pick<Deno.FileInfo, "dev" | "ino">,
  folder: string,
  since: number,
): boolean {
  try {
    const top = isWithin(folder, path) ? folder : undefined;
    let checks = hasChanged(path, top, since - QUIET_FOLDER_MS) ? LOOKS : 1;
    for (; checks > 0; checks--) {
      const real = Deno.realPathSync(path);
      if (real !== path && (SEPARATOR === "/" || relative(real, path) !== "")) return false;
      const info = Deno.lstatSync(path);
      if (info.ino !== ino || info.dev !== dev) return false;
      const end = performance.now() + (checks > 1 ? Math.random() * BREAK_MS : 0);
      while (performance.now() < end);
    }
    return true;
  } catch {
    return false;
  }
}

/** True if a folder above `path`, up to `top` or the root, has changed since a time. */
function hasChanged(path: string, top: string | undefined, since: number): boolean {
  for (let at = path; at !== top && at !== dirname(at);) {
    at = dirname(at);
    const { ctime, isDirectory } = Deno.lstatSync(at);
    if (!isDirectory || ctime === null || ctime.getTime() >= since) return true;
  }
  return false;
}

/** The error if the links have changed since the decision on the call. */
export function movedError(action: string, shown: string): Error {
  const reason = "a file, folder or link in its path was replaced meanwhile: look at it again";
  return new FileError(`Cannot ${action} ${shown} as ${reason}`);
}

/** Makes the checks of {@linkcode openRegular} without opening. `realPath` has no links. */
export async function statRegular(
  path: string,
  shown: string,
  action: string,
  grant?: Grant,
): Promise<Pick<RegularFile, "info" | "realPath">> {
  try {
    const realPath = grant?.realPath ?? await Deno.realPath(path);
    // Reading these runs code in the kernel and may reveal secrets.
    if (/^\/(proc|sys)\//.test(realPath) && Deno.build.os === "linux") {
      throw notRegular(action, shown);
    }
    const info = grant ? Deno.lstatSync(realPath) : await Deno.stat(realPath);
    if (info.isSymlink) throw movedError(action, shown);
    if (!info.isFile) throw notRegular(action, shown, info);
    return { info, realPath };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw await missingError(path, shown, action, grant);
    throw fileError(action, shown, error);
  }
}

/** Converts a system error to our words. Other errors are returned unchanged. */
export function fileError(action: string, shown: string, error: unknown, more = ""): Error {
  if (!(error instanceof Error) || error instanceof FileError) return error as Error;
  return new FileError(`Cannot ${action} ${shown}: ${reasonOf(error)}${more}`, { cause: error });
}

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

/** Returns the error of a missing file, with the missing folder or the most similar name. */
export async function missingError(
  path: string,
  shown: string,
  action: string,
  grant?: Grant,
): Promise<Error> {
  // Names outside the working directory are not shown.
  if (shown === ".") {
    return new FileError(`Cannot ${action} the folder as it was removed or renamed`);
  }
  const names: string[] = [];
  try {
    // Comparing a name takes microseconds.
    for await (const name of entryNames(dirname(grant?.realPath ?? path), grant)) {
      if (names.push(name) >= 2000) break;
    }
  } catch (error) {
    if (!(error instanceof MovedError)) {
      return new FileError(`Cannot ${action} ${shown} as there is no folder ${dirname(shown)}`);
    }
  }
  // A model may also write a name as list_directory shows it.
  const form = nearest(basename(path), names.map(sanitize));
  const near = nearest(basename(path), names) ?? names.find((name) => sanitize(name) === form);
  const hint = near === undefined
    ? "list_directory or glob_files show what there is"
    : `did you mean ${join(dirname(shown), near)}?`;
  return new FileError(`Cannot ${action} ${shown} as it does not exist: ${hint}`);
}
