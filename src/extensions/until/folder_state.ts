/** The state of a folder's files, to see what a turn changed. @module */

import { digestOf } from "../../text/digest.ts";
import { repositoryOf } from "../../safety/repositories.ts";
import { entriesBelow, stampOfInfo } from "../../tools/search/entries_below.ts";
import { readBoundedText } from "../bounded_text.ts";
import { decidesCheck, decidingPart, isConfiguration, pathsNamedIn } from "./own_files.ts";

/** The maximum number of files that are looked at, of bytes of a file that decides a check, and of all of these. */
const MAX_COMPARED_FILES = 200_000;
const MAX_BYTES = 1024 * 1024;
const MAX_DECIDING_BYTES = 64 * 1024 * 1024;

export interface FolderState {
  stamps: ReadonlyMap<string, string>;
  deciding: ReadonlyMap<string, string>;
}

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
    if (!info.isFile) continue;
    if (stamps.size === MAX_COMPARED_FILES) {
      // More files differ each time, as they may.
      stamps.set("", crypto.randomUUID());
      break;
    }
    const stamp = stampOfInfo(info);
    const path = file.slice(folder.length + 1);
    stamps.set(path, stamp);
    if (!decidesCheck(path, named)) continue;
    signal?.throwIfAborted();
    const isRead = info.size <= Math.min(MAX_BYTES, room);
    if (isRead) room -= info.size;
    const text = isRead ? await readBoundedText(file, MAX_BYTES) : undefined;
    deciding.set(path, text === undefined ? stamp : await digestOf(decidingPart(path, text)));
  }
  return { stamps, deciding };
}

export const differs = ({ stamps }: FolderState, now: FolderState): boolean =>
  stamps.size !== now.stamps.size ||
  [...now.stamps].some(([path, stamp]) => stamps.get(path) !== stamp);

/** Returns the files that decide a check and that differ from `accepted`. */
export function changedDeciding(accepted: FolderState["deciding"], now: FolderState): string[] {
  const gone = [...accepted.keys()].filter((path) => !now.deciding.has(path));
  const changed = [...now.deciding].filter(([path, digest]) =>
    accepted.has(path) ? accepted.get(path) !== digest : isConfiguration(path)
  );
  return [...gone, ...changed.map(([path]) => path)];
}
