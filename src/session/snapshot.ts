/** The files of a folder at a time, from which `/undo` knows what a command changed. @module */

import { attempt } from "../attempt.ts";
import { gitIndexed, indexReader } from "../safety/git_queries.ts";
import { swappers } from "../safety/folder_looks.ts";
import { waitTime } from "../safety/in_place.ts";
import { repositoryAround, repositoryOf } from "../safety/repositories.ts";
import { expectSwaps } from "../safety/sandbox/writers.ts";
import { slashed } from "../text/std_path.ts";
import { grantIn, openRegular, readBytes } from "../tools/files/regular_file.ts";
import { MAX_DIGESTED_BYTES, stampOfInfo, TOO_LARGE } from "../tools/files/seen_files.ts";
import { turnOfOthers } from "../tools/search/run_search.ts";
import { emptyTally, Walk } from "../tools/search/walk.ts";
import { stateFolder } from "../user_files.ts";

/** The maximum number of files in a folder outside of repositories, and in any. */
const MAX_PLAIN = 2000;
const MAX_TREE_FILES = 200_000;
/** The maximum number of bytes in memory. Files that match git's index are not held: git has their content. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;
/** With more new files than this, git is asked for its index. */
const MANY_FILES = 50;
/** The longest time without a pause, in ms, and the coarseness of the clock of file systems. */
const SNAPSHOT_SLICE_MS = 30;
const CLOCK_MS = 20;

/** The content of a file, or why it is unknown; undefined if there is no file. */
export type KnownContent = Uint8Array | string | undefined;
export type FileContent = KnownContent | (() => Promise<KnownContent>);

interface HeldFile {
  stamp: string;
  mode: number | null;
  content: FileContent;
}

/** A file as it was at the first of two looks, and its content and stamp at the second. */
export interface FolderChange {
  path: string;
  bytes: FileContent;
  mode?: number | null;
  now: FileContent;
  stamp: string | undefined;
}

export interface FolderSnapshot {
  folder: string;
  /** In ms since 1970. */
  begun: number;
  files?: Map<string, HeldFile>;
}

const UNKNOWN_CONTENT = "its old content is unknown";

const inodeOf = ({ stamp }: HeldFile) => stamp.split(":", 1)[0];

const gitIn = (folder: string) => {
  const programs = (Deno.env.get("PATH") ?? "").split(":");
  return { folder, root: folder, programs, home: Deno.env.get("HOME"), time: waitTime() };
};

/** Yields each file and link below `folder` that no rule of its repository or below ignores. */
export function* entriesBelow(folder: string, always?: (name: string) => boolean) {
  const [root, top] = [folder, repositoryOf(folder)].map(slashed) as [string, string];
  const options = { root, top, maxDepth: Infinity, hidden: [/^/], ...always && { always } };
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

/**
 * Looks at a folder. The unchanged files of `before`, an earlier snapshot, are not read again.
 * @param always the names of files that no rule ignores; with it, any folder may have many files
 */
export async function snapshotOf(
  folder: string,
  before?: FolderSnapshot,
  always?: (name: string) => boolean,
): Promise<FolderSnapshot> {
  const last = before?.folder === folder ? before : undefined;
  if (last && !last.files) return last;
  const begun = Date.now();
  const isGit = repositoryAround(folder, [Deno.env.get("HOME") ?? folder]).length > 0;
  const max = isGit || last || always ? MAX_TREE_FILES : MAX_PLAIN;
  const files = new Map<string, HeldFile>();
  const fresh: [path: string, file: HeldFile, info: Deno.FileInfo][] = [];
  let bytes = 0;
  let end = performance.now() + SNAPSHOT_SLICE_MS;
  const pause = async () => {
    await turnOfOthers();
    end = performance.now() + SNAPSHOT_SLICE_MS;
  };
  for (const { path, info } of entriesBelow(folder, always)) {
    if (performance.now() > end) await pause();
    if (files.size === max) return { folder, begun };
    const [known, stamp] = [last?.files?.get(path), stampOfInfo(info)];
    const file = known?.stamp === stamp ? known : { stamp, mode: info.mode, content: undefined };
    files.set(path, file);
    if (file !== known) fresh.push([path, file, info]);
    else if (file.content instanceof Uint8Array) bytes += file.content.length;
  }
  const indexed = isGit && fresh.length > MANY_FILES ? gitIndexed(gitIn(folder)) : undefined;
  const contentOf = indexReader(gitIn(folder));
  await expectSwaps(stateFolder());
  for (const [path, file, { isFile, size }] of fresh) {
    if (performance.now() > end) await pause();
    const known = indexed?.get(path.slice(slashed(folder).length + 1));
    const isHeld = size <= MAX_DIGESTED_BYTES && bytes + size <= MAX_HELD_BYTES;
    if (!isFile) file.content = "it was a link";
    else if (known && file.stamp.startsWith(`${known.seen}:`)) {
      file.content = async () => await contentOf(known) ?? UNKNOWN_CONTENT;
    } else if (!isHeld) file.content = TOO_LARGE;
    else {
      bytes += size;
      // No program that runs can replace it by a link or a pipe.
      file.content = swappers.now.size === 0
        ? attempt(() => Deno.readFileSync(path)) ?? UNKNOWN_CONTENT
        : await readNow(path, folder).catch(() => UNKNOWN_CONTENT);
    }
  }
  return { folder, begun, files };
}

export async function readNow(path: string, folder: string): Promise<Uint8Array> {
  using opened = await openRegular(path, path, "read", grantIn(folder, path));
  return await readBytes(opened.file, opened.info.size);
}

/** Returns the files that differ between two looks, as they were at the first. */
export function changesSince(
  before: FolderSnapshot,
  now: FolderSnapshot,
): FolderChange[] {
  const [old, files] = [before.files, now.files];
  if (!old || !files || before.folder !== now.folder) return [];
  const inodes = new Set([...old.values()].map(inodeOf));
  return [
    ...[...old].map(([path, { content, ...was }]) => {
      // A missing file may only be ignored now.
      const now = files.get(path);
      const stamp = now?.stamp ?? attempt(() => stampOfInfo(Deno.lstatSync(path)));
      const isSame = stamp === was.stamp;
      return { path, bytes: content, mode: was.mode, now: now?.content, stamp, isSame };
    }).filter(({ isSame }) => !isSame),
    ...[...files].filter(([path]) => !old.has(path)).map(([path, file]) => {
      const born = attempt(() => Deno.lstatSync(path).birthtime?.getTime()) ?? Infinity;
      // A rule may have ignored an older file until now, or it was moved here.
      const isNew = inodes.has(inodeOf(file)) || born >= before.begun - CLOCK_MS;
      const bytes = isNew ? undefined : "it is older";
      return { path, bytes, now: file.content, stamp: file.stamp };
    }),
  ];
}
