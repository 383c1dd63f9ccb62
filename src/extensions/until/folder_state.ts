/** The state of a folder's files, to see what a turn changed. @module */

import { digestOf } from "../../text/digest.ts";
import { repositoryOf } from "../../safety/repositories.ts";
import { entriesBelow } from "../../tools/search/entries_below.ts";
import { readBoundedText } from "../bounded_text.ts";
import { decidesCheck, decidingPart, isConfiguration, pathsNamedIn } from "./own_files.ts";

/** The maximum number of files that are looked at, of bytes of a file that decides a check, and of all of these. */
const MAX_COMPARED_FILES = 200_000;
const MAX_BYTES = 1024 * 1024;
const MAX_DECIDING_BYTES = 64 * 1024 * 1024;

export interface FolderState {
  /** The identity, size and times of each file that is not ignored, by path. */
  stamps: ReadonlyMap<string, string>;
  /** A digest of each file that decides the check. */
  deciding: ReadonlyMap<string, string>;
  /** False if there are more files. */
  isWhole: boolean;
}

/** Returns the state of the files in `folder` that a search includes. */
export async function folderStateOf(
  folder: string,
  command: string,
  signal?: AbortSignal,
): Promise<FolderState> {
  let room = MAX_DECIDING_BYTES;
  const stamps = new Map<string, string>();
  const deciding = new Map<string, string>();
  const named = pathsNamedIn(command, folder);
  const hidden = [/^\.\w+rc\b/, /^\.rspec$/];
  // An ignored Makefile is often generated, and has no precedence over others.
  const always = (name: string) => isConfiguration(name) && name !== "Makefile";
  for (const { path: file, info } of entriesBelow(folder, repositoryOf(folder), hidden, always)) {
    if (stamps.size > MAX_COMPARED_FILES) break;
    if (!info.isFile) continue;
    const stamp = [info.ino, info.size, info.mtime?.getTime(), info.ctime?.getTime()].join(":");
    const path = file.slice(folder.length + 1);
    stamps.set(path, stamp);
    if (!decidesCheck(path, named)) continue;
    signal?.throwIfAborted();
    const isRead = info.size <= Math.min(MAX_BYTES, room);
    if (isRead) room -= info.size;
    deciding.set(path, isRead && await digest(file, path) || stamp);
  }
  return { stamps, deciding, isWhole: stamps.size <= MAX_COMPARED_FILES };
}

async function digest(file: string, path: string): Promise<string | undefined> {
  const text = await readBoundedText(file, MAX_BYTES);
  return text === undefined ? undefined : await digestOf(decidingPart(path, text));
}

/** True if a file differs, or may differ. */
export function differs(before: FolderState, now: FolderState): boolean {
  return !before.isWhole || !now.isWhole || before.stamps.size !== now.stamps.size ||
    [...now.stamps].some(([path, stamp]) => before.stamps.get(path) !== stamp);
}

/** Returns the files that decide a check and that differ from `accepted`. */
export function changedDeciding(accepted: FolderState["deciding"], now: FolderState): string[] {
  const gone = [...accepted.keys()].filter((path) => !now.deciding.has(path));
  const changed = [...now.deciding].filter(([path, digest]) =>
    accepted.has(path) ? accepted.get(path) !== digest : isConfiguration(path)
  );
  return [...gone, ...changed.map(([path]) => path)];
}
