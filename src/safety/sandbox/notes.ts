/** Files in the state folder in which runs note what sandboxed programs write. @module */

import { attempt } from "../../attempt.ts";
import { dirname } from "../../text/std_path.ts";
import { entryAt } from "../places.ts";

/** A file or folder, which may be moved: another one at the path is not meant. */
export interface EntryAt {
  path: string;
  dev: number | undefined;
  ino: number | null | undefined;
  /** The time of its birth: the number of a removed file may be that of a new one. */
  birth: number | undefined;
}
export const identified = (path: string): EntryAt => {
  const { dev, ino, birthtime } = entryAt(path) ?? {};
  return { path, dev, ino, birth: birthtime?.getTime() };
};
/** True if an entry is `now` at a path. */
export const isSameEntry = (
  { dev, ino, birth }: EntryAt,
  path: string,
  now = identified(path),
): boolean => now.dev !== undefined && now.dev === dev && now.ino === ino && now.birth === birth;

export const NEW = ".new";

/** Replaces a file as a whole, also on a full disk. `lock` is called before it has its name. */
export function replaceWhole(
  path: string,
  value: string,
  lock?: (file: Deno.FsFile) => void,
): Deno.FsFile {
  Deno.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const how = { write: true, create: true, truncate: true, mode: 0o600 };
  const file = Deno.openSync(path + NEW, how);
  try {
    lock?.(file);
    const bytes = new TextEncoder().encode(value);
    if (file.writeSync(bytes) < bytes.length) {
      throw Object.assign(new Error("the disk is full"), { code: "ENOSPC" });
    }
    Deno.renameSync(path + NEW, path);
    return file;
  } catch (error) {
    file.close();
    attempt(() => Deno.removeSync(path + NEW));
    throw error;
  }
}
