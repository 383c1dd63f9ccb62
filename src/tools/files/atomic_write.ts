import { basename, dirname, isAbsolute, join } from "../../text/std_path.ts";
import type { Grant, ToolContext, ToolOutcome, WriteFacts } from "../../types/tool.ts";
import { wait } from "../../wire/wait.ts";
import { copyAttributes } from "./copy_attributes.ts";
import { AS_NAME, hasShell, MovedError, runInFolder } from "./in_folder.ts";
import {
  FileError,
  fileError,
  isStill,
  movedError,
  readBytes,
  statRegular,
} from "./regular_file.ts";
import { type SeenState, stampOf } from "./seen_files.ts";

export interface WrittenFile {
  realPath: string; // the file that now has the content: the target of the path's links
  created: boolean;
  linked: boolean; // true if the path is a link to `realPath`
  /** The reason why the file was written in place, not atomically; undefined if it was replaced. */
  inPlace?: string;
}

interface WriteOrder extends Partial<Pick<ToolContext, "signal" | "grant">> {
  shown: string;
  bytes: Uint8Array;
  seen: SeenState | undefined;
}

/**
 * Writes `bytes` to a temporary file beside the target and renames it to the target. Creates missing parent folders.
 * Follows links, which stay links. Mode bits (also set-user-id), owner, access list and extended attributes stay
 * (except a program's capabilities, which every write clears). A new file gets `0666 & ~umask`.
 *
 * Writes in place if the file has several hard links, if a new file cannot get its owner or attributes, if it cannot be
 * replaced, or if commands that run could change a new one. Restores the old bytes if that fails.
 * @param shown the path as the model knows it, for errors
 * @param seen the state from which the new content was made; undefined if the file cannot be read
 * @throws {Error} if the target has changed, is not a regular file or is read-only, or if the system refuses.
 */
export async function writeAtomically(
  path: string,
  shown: string,
  bytes: Uint8Array,
  seen: SeenState | undefined,
  context: Pick<WriteOrder, "signal" | "grant"> = {},
): Promise<WrittenFile> {
  const { signal, grant } = context;
  const order = { shown, bytes, seen, ...context };
  try {
    const linked = (await Deno.lstat(path).catch(ifMissing))?.isSymlink === true;
    const target = grant?.realPath ?? (linked ? await linkTarget(path) : path);
    if (await Deno.lstat(target).catch(ifMissing) === undefined) {
      if (seen?.stamp) throw changedError(shown);
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
    throw fileError("write", shown, error);
  }
}

const changedError = (shown: string): FileError =>
  new FileError(`Cannot write ${shown} as it changed on disk since it was read: read it again`);

/** Returns the result of a write, for the model and as data: `text` with `facts` and how the file was written. */
export function writeReport(
  text: string,
  { linked, realPath, inPlace }: WrittenFile,
  facts: WriteFacts,
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

async function linkTarget(path: string): Promise<string> {
  let target = path;
  // The kernel follows at most 40 links.
  for (let hops = 0; hops <= 40; hops++) {
    const info = await Deno.lstat(target).catch(ifMissing);
    if (!info?.isSymlink) return target;
    const link = await Deno.readLink(target);
    // Not `join()`: it would fold `..` after a linked folder.
    target = isAbsolute(link) ? link : `${dirname(target)}/${link}`;
  }
  throw new Deno.errors.FilesystemLoop("Too many levels of symbolic links");
}

/** Creates a folder and its parents, and follows no link that was created after the decision. */
async function makeFolder(folder: string, grant: Grant): Promise<void> {
  const missing: string[] = [];
  let at = folder;
  for (; await Deno.lstat(at).catch(ifMissing) === undefined; at = dirname(at)) {
    // After a rename of the folder, a new one at its path would separate this file from the others.
    if (at === grant.withheld.folder) throw new Error(`the working directory ${at} does not exist`);
    missing.unshift(basename(at));
  }
  if (missing.length === 0) return;
  const { code, error } = await runInFolder(at, MAKE_FOLDERS, missing);
  if (code !== 0) throw new Error(error);
}

/** The exit code of {@linkcode LINK_FILE} if the file exists. */
const EXISTS = 4;
/** Creates folders, each within the one before, whose path the shell compares. */
const MAKE_FOLDERS = `for name; do
  mkdir -- "$name" || [ -d "$name" ] || exit 1
  at=\${at%/}/$name
  cd -P -- "$name" && [ "$(pwd -P)" = "$at" ] || exit $MOVED
done`;
/** Unlike a rename, a link never replaces a file that another program has created meanwhile. */
const LINK_FILE = `ln -${AS_NAME} -- "$1" "$2" && exit
if [ -e "$2" ] || [ -L "$2" ]; then exit ${EXISTS}; fi
# This file system has no links.
mv -f${AS_NAME} -- "$1" "$2"`;

function ifMissing(error: unknown): undefined {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}

async function createFile(target: string, order: WriteOrder): Promise<void> {
  const { shown, bytes, signal, grant } = order;
  const temporary = temporaryBeside(target);
  try {
    await fill(await openNew(temporary, 0o666, grant), bytes);
    signal?.throwIfAborted();
    if (grant && hasShell) {
      const names = [temporary, target].map((path) => basename(path));
      const { code, error } = await runInFolder(dirname(target), LINK_FILE, names);
      if (code === EXISTS) throw changedError(shown);
      if (code !== 0) throw new Error(error);
      return;
    }
    await Deno.link(temporary, target).catch((error) => {
      if (error instanceof Deno.errors.AlreadyExists) throw changedError(shown);
      // This file system has no links.
      return Deno.rename(temporary, target);
    });
  } finally {
    await Deno.remove(temporary).catch(() => {});
  }
}

/** Replaces a file that is still as `seen`. Returns the reason if it was written in place. */
async function replaceTarget(
  target: string,
  old: Deno.FileInfo,
  order: WriteOrder,
): Promise<string | undefined> {
  const { shown, bytes, seen, signal, grant } = order;
  // Root may write anything, so the bits are checked too.
  if (old.mode !== null && (old.mode & 0o222) === 0) {
    const reason = `it is read-only (mode ${octal(old.mode)}): ask the user before you change that`;
    throw new FileError(`Cannot write ${shown} as ${reason}`);
  }
  // Opened for writing: a rename would not require the permission.
  const since = Date.now();
  using file = await Deno.open(target, { read: seen !== undefined, write: true });
  const temporary = temporaryBeside(target);
  let isLeft = true;
  try {
    let inPlace = (old.nlink ?? 1) > 1
      ? `it has ${old.nlink} hard links`
      : grant?.isHeld
      ? "commands that run could change a new one"
      : await prepare(temporary, { ...old, path: target }, order);
    signal?.throwIfAborted();
    // Times are too coarse, and inode numbers are reused.
    if (seen && await stampOf(target).catch(ifMissing) !== seen.stamp) throw changedError(shown);
    if (inPlace === undefined) {
      // Windows does not rename over an open file.
      if (Deno.build.os === "windows") file.close();
      // If the folder was replaced by a link, the temporary file is not found. A swap while this one system call
      // resolves its two paths goes unnoticed.
      await Deno.rename(temporary, target).catch((error) => {
        if (grant && error instanceof Deno.errors.NotFound) throw new MovedError(temporary);
        if (Deno.build.os === "windows") throw error;
        // A file that is a mount point, as in a container, fails like this.
        inPlace = "it cannot be replaced";
      });
      isLeft = inPlace !== undefined;
    }
    if (inPlace === undefined) return undefined;
    const now = await file.stat();
    if (grant && !isStill(target, now, grant.withheld.folder, since)) throw new MovedError();
    // If a link to another file has replaced it since the decision, that file would be written.
    if (grant && !grant.isShared && (now.nlink ?? 1) > 1) {
      throw new FileError(
        `Cannot write ${shown} as it has ${now.nlink} hard links: look at them`,
      );
    }
    await overwrite(file, shown, bytes);
    return inPlace + lostMode(file, old.mode);
  } finally {
    // Removed last: if the process is killed while it writes in place, this file has the whole content.
    if (isLeft) await Deno.remove(temporary).catch(() => {});
  }
}

/** An unpredictable name prevents a write through a planted link. */
export const temporaryBeside = (target: string) =>
  join(dirname(target), `.copilot-${crypto.randomUUID()}.tmp`);

/** Writes the file that will replace `old`. Returns the reason if it cannot. */
async function prepare(
  temporary: string,
  old: Deno.FileInfo & { path: string },
  { bytes, signal, grant }: WriteOrder,
): Promise<string | undefined> {
  // Others can read the content only after its final rights are set.
  const file = await openNew(temporary, 0o600, grant).catch((error) => {
    if (error instanceof MovedError) throw error;
  });
  if (!file) return "its folder takes no new files";
  let inPlace: string | undefined;
  if (Deno.build.os !== "windows") {
    const now = { ...file.statSync(), path: temporary };
    inPlace = await copyAttributes(old, now, signal);
  }
  await fill(file, bytes);
  // The write clears these bits. No sandboxed program can make a file with them.
  if (!inPlace && old.mode! & 0o6000) await Deno.chmod(temporary, old.mode! & 0o7777);
  return inPlace;
}

/** Removes a file even if its folder is replaced by a link for a moment. */
async function removeAnyhow(path: string): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    if (await Deno.remove(path).then(() => true, () => false)) return;
    await wait(1);
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

/** Overwrites the file itself. Restores the bytes that may be lost on failure. */
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
      const damage = ". Its content could not be restored: it may be damaged, tell the user";
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

/** Writing clears set-id bits. To set them again by name could change a file that a link now leads to. */
function lostMode(file: Deno.FsFile, mode: number | null): string {
  const now = file.statSync().mode;
  return mode === now ? "" : `; its mode ${octal(mode!)} became ${octal(now!)}`;
}

const octal = (mode: number) => (mode & 0o7777).toString(8).padStart(4, "0");
