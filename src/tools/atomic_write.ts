/**
 * Replaces the content of a file such that whoever looks, and whatever kills the process, sees the
 * old content or the new, never a part.
 *
 * @module
 */

import { basename } from "@std/path/basename";
import { dirname } from "@std/path/dirname";
import { isAbsolute } from "@std/path/is-absolute";
import { join } from "@std/path/join";
import { fileError, statRegular } from "./regular_file.ts";

/** What {@linkcode writeAtomically} did. */
export interface Written {
  /** The file that has the content now: where the path's links lead. */
  realPath: string;
  /** True when there was no file before. */
  created: boolean;
  /** True when the path is a link to `realPath`. */
  linked: boolean;
  /** Why the file was written in place and so without the promise above; undefined else. */
  inPlace?: string;
}

/**
 * Writes `bytes` to a temporary file beside the target, and renames that to it. Missing parent
 * folders are made. Links are followed and stay links; mode bits and owner stay; a new file gets
 * `0666 & ~umask`. Extended attributes and access lists do not stay: Deno cannot read them.
 *
 * A file with several hard links, of an owner that cannot be given to the new file, or in a folder
 * that takes no new file, is written in place, as a rename would break the links or change the
 * owner. When that fails, for want of space say, the old bytes are put back.
 *
 * @param shown the path as the model knows it, for errors
 * @throws {Error} when the target is no regular file, is read-only, or the system refuses.
 */
export async function writeAtomically(
  path: string,
  shown: string,
  bytes: Uint8Array,
  signal?: AbortSignal,
): Promise<Written> {
  try {
    const target = await linkTarget(path);
    const linked = target !== path;
    const old = await Deno.lstat(target).catch(ifMissing);
    if (old === undefined) {
      await Deno.mkdir(dirname(target), { recursive: true });
      const realPath = join(await Deno.realPath(dirname(target)), basename(target));
      await replace(realPath, bytes, undefined, signal);
      return { realPath, created: true, linked };
    }
    const { realPath, info } = await statRegular(target, shown, "write");
    await checkWritable(realPath, shown, info);
    const inPlace = (info.nlink ?? 1) > 1
      ? `it has ${info.nlink} hard links`
      : await replace(realPath, bytes, info, signal);
    if (inPlace === undefined) return { realPath, created: false, linked };
    await overwrite(realPath, bytes, info.size);
    return { realPath, created: false, linked, inPlace };
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    throw fileError("write", shown, error);
  }
}

/** What a result says of how a file was written, beside the usual. */
export function writeNotes(written: Written): string[] {
  const notes: string[] = [];
  if (written.linked) notes.push(`the link leads to ${written.realPath}`);
  if (written.inPlace) notes.push(`written in place as ${written.inPlace}`);
  return notes;
}

/** Where a path leads once its links are followed, though there may be nothing there. */
async function linkTarget(path: string): Promise<string> {
  let target = path;
  // As many links as the kernel itself follows.
  for (let hops = 0; hops < 40; hops++) {
    const info = await Deno.lstat(target).catch(ifMissing);
    if (!info?.isSymlink) return target;
    const link = await Deno.readLink(target);
    // Joined as text: `..` after a linked folder means another place than it seems to.
    target = isAbsolute(link) ? link : `${dirname(target)}/${link}`;
  }
  throw new Deno.errors.FilesystemLoop("Too many levels of symbolic links");
}

function ifMissing(error: unknown): undefined {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}

/** Throws unless this user may write the file: renaming over it would not ask. */
async function checkWritable(path: string, shown: string, info: Deno.FileInfo): Promise<void> {
  // Root may write anything, so the bits are looked at too.
  if (info.mode !== null && (info.mode & 0o222) === 0) {
    const mode = (info.mode & 0o7777).toString(8).padStart(4, "0");
    throw new Error(
      `Cannot write ${shown} as it is read-only (mode ${mode}): ask the user before you change that`,
    );
  }
  (await Deno.open(path, { write: true })).close();
}

/** Writes a temporary file and renames it to `target`; or says why that would not do. */
async function replace(
  target: string,
  bytes: Uint8Array,
  old: Deno.FileInfo | undefined,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  // A name that nobody can foresee, and `createNew`, so that nothing is written through a link.
  const temporary = join(dirname(target), `.copilot-${crypto.randomUUID()}.tmp`);
  let file: Deno.FsFile;
  try {
    // Others get to read the content only once its final mode is set.
    file = await Deno.open(temporary, { write: true, createNew: true, mode: old ? 0o600 : 0o666 });
  } catch (error) {
    if (old && error instanceof Deno.errors.PermissionDenied) {
      return "its folder takes no new files";
    }
    throw error;
  }
  try {
    try {
      await writeAll(file, bytes);
      if (old && Deno.build.os !== "windows" && !await matchOwner(temporary, file, old)) {
        return "its owner could not be kept otherwise";
      }
      await file.sync();
    } finally {
      file.close();
    }
    signal?.throwIfAborted();
    await Deno.rename(temporary, target);
    return undefined;
  } finally {
    // After the rename there is nothing left to remove.
    await Deno.remove(temporary).catch(() => {});
  }
}

/** Gives the new file the old one's owner and mode; false when this user may not. */
async function matchOwner(
  path: string,
  file: Deno.FsFile,
  old: Deno.FileInfo,
): Promise<boolean> {
  const { uid, gid } = await file.stat();
  if (uid !== old.uid || gid !== old.gid) {
    try {
      await Deno.chown(path, old.uid, old.gid);
    } catch {
      return false;
    }
  }
  // After chown, which clears the set-user-id bit.
  await Deno.chmod(path, old.mode! & 0o7777);
  return true;
}

/** Writes over the file itself. What may be lost is read first, and put back on failure. */
async function overwrite(path: string, bytes: Uint8Array, oldSize: number): Promise<void> {
  using file = await Deno.open(path, { read: true, write: true });
  const saved = new Uint8Array(Math.min(bytes.length, oldSize));
  let length = 0;
  while (length < saved.length) {
    const read = await file.read(saved.subarray(length));
    if (read === null) break;
    length += read;
  }
  try {
    await file.seek(0, Deno.SeekMode.Start);
    await writeAll(file, bytes);
    await file.truncate(bytes.length);
    await file.sync();
  } catch (error) {
    await file.seek(0, Deno.SeekMode.Start);
    await writeAll(file, saved.subarray(0, length));
    await file.truncate(oldSize);
    throw error;
  }
}

async function writeAll(file: Deno.FsFile, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length;) done += await file.write(bytes.subarray(done));
}
