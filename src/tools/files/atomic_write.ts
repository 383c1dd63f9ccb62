/** Replaces a file's content such that nobody, at no time, sees a part of the new one. @module */

import { basename, dirname, isAbsolute, join } from "../../text/std_path.ts";
import type { Grant, ToolContext, ToolOutcome, WriteFacts } from "../../types/tool.ts";
import { wait } from "../../wire/wait.ts";
import { copyAttributes } from "./copy_attributes.ts";
import { hasShell, MovedError, runInFolder } from "./in_folder.ts";
import {
  FileError,
  fileError,
  isStill,
  movedError,
  readBytes,
  statRegular,
} from "./regular_file.ts";
import { stampOf } from "./seen_files.ts";

/** The file that {@linkcode writeAtomically} wrote. */
export interface Written {
  realPath: string; // the file that has the content now: where the path's links lead
  created: boolean; // true when there was no file before
  linked: boolean; // true when the path is a link to `realPath`
  /** Why the file was written in place, where it could be seen in part; undefined where it was replaced. */
  inPlace?: string;
}

/** The state of a file that new content was made from. */
export interface Seen {
  head: Uint8Array; // its first bytes; all of them where it is edited
  size: number; // its size in bytes; 0 where there was no file
  stamp?: string; // its state, where `head` is not all of it
}

/** The parts of a call of {@linkcode writeAtomically} that all its steps need. */
interface WriteOrder extends Partial<Pick<ToolContext, "signal" | "grant">> {
  shown: string;
  bytes: Uint8Array;
  seen: Seen | undefined;
}

/**
 * Writes `bytes` to a temporary file beside the target, and renames that to it. Missing parent
 * folders are made. Links are followed and stay links; mode bits (set-user-id too), owner, access
 * list and extended attributes stay (but for a program's capabilities, which every write clears); a
 * new file gets `0666 & ~umask`.
 *
 * A file with several hard links, whose owner or attributes a new file cannot get, or that cannot be
 * replaced, is written in place: a rename would break the links or change these. The old bytes are
 * put back when that fails.
 * @param shown the path as the model knows it, for errors
 * @param seen the state that the new content was made from; undefined when the file cannot be read
 * @throws {Error} when the target is no longer so, no regular file, read-only, or the system
 * refuses.
 */
export async function writeAtomically(
  path: string,
  shown: string,
  bytes: Uint8Array,
  seen: Seen | undefined,
  context: Pick<WriteOrder, "signal" | "grant"> = {},
): Promise<Written> {
  const { signal, grant } = context;
  const order = { shown, bytes, seen, ...context };
  try {
    const linked = (await Deno.lstat(path).catch(ifMissing))?.isSymlink === true;
    const target = grant?.realPath ?? (linked ? await linkTarget(path) : path);
    if (await Deno.lstat(target).catch(ifMissing) === undefined) {
      if (seen?.size) throw new ChangedError();
      const folder = dirname(target);
      if (grant && hasShell) await makeFolder(folder, grant);
      else await Deno.mkdir(folder, { recursive: true });
      const realPath = join(await Deno.realPath(folder), basename(target));
      if (grant && realPath !== target) throw new MovedError();
      await createFile(realPath, order);
      return { realPath, created: true, linked };
    }
    const { realPath, info } = await statRegular(target, shown, "write", grant);
    const inPlace = await replaceTarget(realPath, info, order);
    return { realPath, created: false, linked, ...inPlace && { inPlace } };
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (error instanceof MovedError) {
      if (error.temporary !== undefined) await removeAnyhow(error.temporary);
      throw movedError("write", shown);
    }
    if (error instanceof ChangedError) {
      const reason = "it changed on disk since it was read: read it again";
      throw new FileError(`Cannot write ${shown} as ${reason}`);
    }
    throw fileError("write", shown, error);
  }
}

/** The file is not what the new content was made from. */
class ChangedError extends Error {}

/** The result of a write: `text` with `facts` and how it was written, for the model and as data. */
export function writeReport(
  text: string,
  { linked, realPath, inPlace }: Written,
  facts: WriteFacts = {},
): Pick<ToolOutcome, "content" | "written"> {
  const all = { ...facts, ...linked && { linkedTo: realPath }, ...inPlace && { inPlace } };
  const { keeps = [], isReindented } = all;
  const notes = [
    ...isReindented
      ? ["old_string differed in indentation, and new_string was indented as the file is"]
      : [],
    ...keeps.map((one) => one === "BOM" ? "its BOM was kept" : `its ${one} line endings were kept`),
    ...linked ? [`the link leads to ${realPath}`] : [],
    ...inPlace ? [`written in place as ${inPlace}`] : [],
  ];
  const content = [text, ...notes].join("; ");
  return { content, ...Object.keys(all).length > 0 && { written: all } };
}

/** The target of a path with its links followed; it may not exist. */
async function linkTarget(path: string): Promise<string> {
  let target = path;
  // The kernel follows 40 links at most.
  for (let hops = 0; hops <= 40; hops++) {
    const info = await Deno.lstat(target).catch(ifMissing);
    if (!info?.isSymlink) return target;
    const link = await Deno.readLink(target);
    // Not `join()`: it would fold `..` after a linked folder.
    target = isAbsolute(link) ? link : `${dirname(target)}/${link}`;
  }
  throw new Deno.errors.FilesystemLoop("Too many levels of symbolic links");
}

/** Makes a folder and those above it, none of them where a link leads that was made since the decision. */
async function makeFolder(folder: string, grant: Grant): Promise<void> {
  const missing: string[] = [];
  let at = folder;
  for (; await Deno.lstat(at).catch(ifMissing) === undefined; at = dirname(at)) {
    // Where it was renamed, the file would be missed in the place where the others are now.
    if (at === grant.withheld.folder) throw new Error(`the working directory ${at} does not exist`);
    missing.unshift(basename(at));
  }
  if (missing.length === 0) return;
  const { code, error } = await runInFolder(at, MAKE_FOLDERS, missing, grant);
  if (code !== 0) throw new Error(error);
}

/** The exit code of {@linkcode LINK_FILE} where there is a file of that name. */
const EXISTS = 4;
/** Makes folders, each in the one before, which the shell knows by its very path. */
const MAKE_FOLDERS = `for name; do
  mkdir -- "$name" || [ -d "$name" ] || exit 1
  at=\${at%/}/$name
  cd -P -- "$name" && [ "$(pwd -P)" = "$at" ] || exit $MOVED
done`;
/** Unlike a rename, a link never takes the place of a file that another program made meanwhile. */
const LINK_FILE = `ln -- "$1" "$2" && exit
if [ -e "$2" ] || [ -L "$2" ]; then exit ${EXISTS}; fi
# This file system has no links.
mv -f -- "$1" "$2"`;

function ifMissing(error: unknown): undefined {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}

async function createFile(target: string, { bytes, signal, grant }: WriteOrder): Promise<void> {
  const temporary = temporaryBeside(target);
  try {
    await fill(await openNew(temporary, 0o666, grant), bytes);
    signal?.throwIfAborted();
    if (grant && hasShell) {
      const names = [temporary, target].map((path) => basename(path));
      const { code, error } = await runInFolder(dirname(target), LINK_FILE, names, grant);
      if (code === EXISTS) throw new ChangedError();
      if (code !== 0) throw new Error(error);
      return;
    }
    await Deno.link(temporary, target).catch((error) => {
      if (error instanceof Deno.errors.AlreadyExists) throw new ChangedError();
      // This file system has no links.
      return Deno.rename(temporary, target);
    });
  } finally {
    await Deno.remove(temporary).catch(() => {});
  }
}

/** Replaces a file that is still as `seen`; returns the reason where that was done in place. */
async function replaceTarget(
  target: string,
  old: Deno.FileInfo,
  order: WriteOrder,
): Promise<string | undefined> {
  const { shown, bytes, seen, signal, grant } = order;
  // Root may write anything, so the bits are looked at too.
  if (old.mode !== null && (old.mode & 0o222) === 0) {
    const reason = `it is read-only (mode ${octal(old.mode)}): ask the user before you change that`;
    throw new FileError(`Cannot write ${shown} as ${reason}`);
  }
  // Opened for writing, which a rename over it would not ask for.
  const since = Date.now();
  using file = await Deno.open(target, { read: seen !== undefined, write: true });
  const temporary = temporaryBeside(target);
  let isLeft = true;
  try {
    let inPlace = (old.nlink ?? 1) > 1
      ? `it has ${old.nlink} hard links`
      : await prepare(temporary, { ...old, path: target }, order);
    signal?.throwIfAborted();
    await lock(file, signal);
    if (seen && !await isAsSeen(target, seen).catch(ifMissing)) throw new ChangedError();
    if (inPlace === undefined) {
      // Windows lets nobody rename over an open file.
      if (Deno.build.os === "windows") file.close();
      // Where its folder was swapped for a link, the temporary file is not found. A swap between
      // the two paths that this one system call resolves goes unnoticed.
      await Deno.rename(temporary, target).catch((error) => {
        if (grant && error instanceof Deno.errors.NotFound) throw new MovedError(temporary);
        if (Deno.build.os === "windows") throw error;
        // A file that is mounted by itself, as in a container, is one.
        inPlace = "it cannot be replaced";
      });
      isLeft = inPlace !== undefined;
    }
    if (inPlace === undefined) return undefined;
    const now = await file.stat();
    if (grant && !isStill(target, now, grant.withheld.folder, since)) throw new MovedError();
    // A link to a file elsewhere, made since the decision, would have that one written.
    if (grant && !grant.isShared && (now.nlink ?? 1) > 1) throw new ChangedError();
    await overwrite(file, shown, bytes);
    return inPlace + await restoreMode(file, target, old.mode);
  } finally {
    // Removed last: it has the whole content if the process is killed while it writes in place.
    if (isLeft) await Deno.remove(temporary).catch(() => {});
  }
}

/** An unpredictable name, so that nothing is written through a link. */
const temporaryBeside = (target: string) =>
  join(dirname(target), `.copilot-${crypto.randomUUID()}.tmp`);

/** Writes the file that is to take the place of `old`; returns the reason where it cannot. */
async function prepare(
  temporary: string,
  old: Deno.FileInfo & { path: string },
  { bytes, signal, grant }: WriteOrder,
): Promise<string | undefined> {
  let file: Deno.FsFile;
  try {
    // Others get to read the content only once its final rights are set.
    file = await openNew(temporary, 0o600, grant);
  } catch (error) {
    if (error instanceof MovedError) throw error;
    return "its folder takes no new files";
  }
  let inPlace: string | undefined;
  if (Deno.build.os !== "windows") {
    const { uid, gid } = file.statSync();
    try {
      if (uid !== old.uid || gid !== old.gid) await Deno.chown(temporary, old.uid, old.gid);
      if (!await copyAttributes(old.path, temporary, { folder: grant?.withheld.folder, signal })) {
        inPlace = "its access list and attributes could not be kept otherwise";
        // With a list, the bits for the group are the most that the list gives, not the group's.
        await Deno.chmod(temporary, 0o600);
      }
    } catch {
      inPlace ??= "its owner could not be kept otherwise";
    }
  }
  await fill(file, bytes);
  // After chown and the content, which clear the set-user-id bit.
  if (!inPlace && old.mode !== null) await Deno.chmod(temporary, old.mode & 0o7777);
  return inPlace;
}

/** Removes a file though its folder may be swapped for a link now, and not the next moment. */
async function removeAnyhow(path: string): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    if (await Deno.remove(path).then(() => true, () => false)) return;
    await wait(1, undefined);
  }
}

async function openNew(path: string, mode: number, grant?: Grant): Promise<Deno.FsFile> {
  const since = Date.now();
  const file = await Deno.open(path, { write: true, createNew: true, mode });
  if (!grant || isStill(path, await file.stat(), grant.withheld.folder, since)) return file;
  file.close();
  throw new MovedError(path);
}

async function fill(opened: Deno.FsFile, bytes: Uint8Array): Promise<void> {
  using file = opened;
  await rewrite(file, bytes, bytes.length);
  await file.sync();
}

/**
 * Waits until no other process of this program writes the file, and keeps them out until `file` is
 * closed: from the last look at the file to the writing. A lock that stays for seconds is another
 * program's (scripts lock themselves while they run), and then ignored, as one that cannot be had.
 */
export async function lock(file: Deno.FsFile, signal?: AbortSignal): Promise<void> {
  // Windows locks also block readers, so none is taken.
  if (Deno.build.os === "windows") return;
  for (let tries = 0; tries < 400 && !await file.tryLock(true).catch(() => true); tries++) {
    await wait(5, signal);
  }
}

/** True where the content is as seen. Times are too coarse, and the numbers of files are reused. */
async function isAsSeen(path: string, { head, size, stamp }: Seen): Promise<boolean> {
  // Opened anew, as another file may have taken the place of the one that is locked; for writing, too,
  // as to open a FIFO for reading alone waits for a writer.
  using file = await Deno.open(path, { read: true, write: true });
  if (!file.statSync().isFile) return false;
  const buffer = new Uint8Array(64 * 1024);
  for (let at = 0; at < head.length;) {
    const read = await file.read(buffer.subarray(0, head.length - at)) ?? 0;
    if (read === 0) return false;
    for (let i = 0; i < read; i++) if (buffer[i] !== head[at + i]) return false;
    at += read;
  }
  if ((await file.stat()).size !== size) return false;
  return stamp === undefined || stamp === await stampOf(path);
}

/** Writes over the file itself. The bytes that may be lost are put back on failure. */
async function overwrite(file: Deno.FsFile, shown: string, bytes: Uint8Array): Promise<void> {
  const { size } = await file.stat();
  await file.seek(0, Deno.SeekMode.Start);
  const saved = await readBytes(file, Math.min(bytes.length, size));
  try {
    await rewrite(file, bytes, bytes.length);
    await file.sync();
  } catch (error) {
    try {
      await rewrite(file, saved, size);
    } catch {
      const damage = ". What it held could not be put back: it may be damaged, tell the user";
      throw fileError("write", shown, error, damage);
    }
    throw error;
  }
}

async function rewrite(file: Deno.FsFile, bytes: Uint8Array, size: number): Promise<void> {
  await file.seek(0, Deno.SeekMode.Start);
  for (let done = 0; done < bytes.length;) done += await file.write(bytes.subarray(done));
  await file.truncate(size);
}

/** Writing clears set-id bits, which only the owner may set again, one of the group as a member of it. */
async function restoreMode(file: Deno.FsFile, path: string, mode: number | null): Promise<string> {
  if (mode === null || file.statSync().mode === mode) return "";
  await Deno.chmod(path, mode & 0o7777).catch(() => {});
  // The system drops the bit of a group without an error, unless the owner is a member of it.
  const now = file.statSync().mode!;
  return now === mode ? "" : `; its mode ${octal(mode)} became ${octal(now)}`;
}

const octal = (mode: number) => (mode & 0o7777).toString(8).padStart(4, "0");
