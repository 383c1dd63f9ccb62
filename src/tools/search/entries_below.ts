/** The files of a folder and of those in it. @module */

import { attempt } from "../../attempt.ts";
import { slashed } from "../../text/std_path.ts";
import { emptyTally, Walk } from "./walk.ts";

/** Returns a text that changes with a file: its inode, size, times and mode. A program can set `mtime`. */
export const stampOfInfo = ({ ino, size, mtime, ctime, mode }: Deno.FileInfo): string =>
  [ino, size, mtime?.getTime(), ctime?.getTime(), mode].join(":");

/** Yields each file and link below `folder` that no rule of `top` or below ignores. `hidden`: names with a dot. `always`: files. */
export function* entriesBelow(
  folder: string,
  top: string,
  hidden: readonly RegExp[],
  always?: (name: string) => boolean,
): Generator<{ path: string; info: Deno.FileInfo }> {
  const root = slashed(folder);
  const options = { root, top: slashed(top), maxDepth: Infinity, hidden, ...always && { always } };
  const walk = new Walk(options, emptyTally());
  const waiting = [root];
  for (let at; (at = waiting.pop()) !== undefined;) {
    const { files, folders, links } = walk.list(at);
    waiting.push(...folders);
    for (const path of [...files, ...links]) {
      const info = attempt(() => Deno.lstatSync(path));
      if (info) yield { path, info };
    }
  }
}
