/** What folders hold, as far as a view asks: kept from one look at them to the next. @module */

import { join } from "../text/std_path.ts";
import { wait } from "../wire/wait.ts";
import type { PathTable } from "./path_table.ts";

/** `own`: commands write there what stands on none of the machine's disks under that name, as in `/tmp`. */
export type PathAccess = "none" | "read" | "write" | "own";

/** A file, folder or link in a folder. */
interface FolderEntry {
  name: string;
  path: string;
  isDirectory: boolean;
  /** The access that its name leaves to it, wherever it is; left out for that to its folder. */
  access?: "none" | "read";
}

/** One look at a folder. */
interface FolderLook {
  /** Its folders, and what its name leaves less access to than others; with `isWhole` all else as well. */
  entries: readonly FolderEntry[];
  isWhole: boolean;
  /** True for a folder that git takes for a repository. */
  isRepository: boolean;
}

/** The entries of a folder by which git takes it for a repository: `commondir` leads to the others. */
const GIT_ENTRIES = ["HEAD", "objects", "refs", "config", "commondir"];
/** True if a folder with such entries is a repository to git, or may become one. */
export const isRepositoryWith = (has: (name: string) => boolean): boolean =>
  has("HEAD") && (has("commondir") || has("objects") && (has("refs") || has("config")));
/** True for the name by which git finds a repository, on all file systems. */
export const isGitName = (name: string): boolean => name.toLowerCase() === ".git";
/** The most entries that are kept. */
const MAX_KEPT = 500_000;

/** Longer than any file system's clock stands between two ticks, in milliseconds: Deno shows whole seconds of `ctime`. */
const CLOCK_TICK_MS = 2000;

/** The cost of a folder that is looked at ahead. */
const LARGE_COST = 10_000;
/** The time that a folder takes to be looked at, for one that did not change, a new one and each entry of that, in units of some 4 us. */
const COSTS = { kept: 3, folder: 20, entry: 1 };

/** True for a path with bytes that are not UTF-8, in the place of which Deno has this sign. */
export const hasOtherBytes = (path: string): boolean => path.includes("\ufffd");

/**
 * All that changes with a folder's entries; undefined where another change may leave it as it is. The system
 * notes the time of each change of a folder's entries and rights (`ctime`), which no program can set.
 */
export function folderState({ dev, ino, ctime, mtime, mode }: Deno.FileInfo): string | undefined {
  if (ctime === null || ino === null) return undefined;
  // Clocks of file systems tick, and a change in the same instant as this look would not be told from it.
  return Date.now() - ctime.getTime() > CLOCK_TICK_MS
    ? [dev, ino, ctime.getTime(), mtime?.getTime(), mode].join(" ")
    : undefined;
}

/** Looks into folders. One that did not change since is not listed again. */
export class FolderLooks {
  /** The cost of all looks so far. */
  cost = 0;
  /** True once a folder was found to take long to look at. */
  isLarge = false;
  readonly #kept = new Map<string, { state: string; look: FolderLook }>();
  #size = 0;
  #walking = false;

  constructor(private readonly paths: PathTable) {}

  /**
   * The entries of a folder: none of what is no folder; undefined where this user may not list or enter it,
   * which a command may have seen to, to be let in again after the look.
   */
  at(folder: string, isWhole = false): FolderLook | undefined {
    try {
      const state = folderState(Deno.statSync(`${folder}/.`));
      const kept = this.#kept.get(folder);
      this.cost += COSTS.kept;
      const isKept = kept !== undefined && kept.state === state;
      if (isKept && (kept.look.isWhole || !isWhole)) return kept.look;
      const look = this.#lookInto(folder, isWhole);
      this.#keep(folder, state, look);
      return look;
    } catch (error) {
      if (error instanceof Deno.errors.PermissionDenied) return undefined;
      return { entries: [], isWhole, isRepository: false };
    }
  }

  /** Looks through all of a folder, bit by bit, so that the next view of it takes no time. */
  async walk(root: string): Promise<void> {
    if (this.#walking) return;
    this.#walking = true;
    // What changed just now would not be kept.
    await wait(CLOCK_TICK_MS + 100, undefined);
    const folders = [root];
    let begun = performance.now();
    for (const at of folders) {
      for (const { name, path, isDirectory, access } of this.at(at)?.entries ?? []) {
        if (isDirectory && access !== "none" && !isGitName(name)) folders.push(path);
      }
      if (performance.now() - begun < 10) continue;
      await new Promise((resolve) => setTimeout(resolve));
      begun = performance.now();
    }
    this.#walking = false;
  }

  #lookInto(folder: string, isWhole: boolean): FolderLook {
    const entries: FolderEntry[] = [];
    const found = new Set<string>();
    const before = this.cost;
    this.cost += COSTS.folder;
    for (const { name, isDirectory } of Deno.readDirSync(folder)) {
      this.cost += COSTS.entry;
      if (GIT_ENTRIES.includes(name)) found.add(name);
      // Nothing in it can be looked at.
      const isClosed = isDirectory && hasOtherBytes(name);
      const mayMatch = isClosed || this.paths.mayMatch(name);
      if (!mayMatch && !isDirectory && !isWhole) continue;
      const path = join(folder, name);
      const access = isClosed ? "none" : mayMatch ? this.#accessTo(path) : undefined;
      if (access === undefined && !isDirectory && !isWhole && !isGitName(name)) continue;
      entries.push({ name, path, isDirectory, ...access && { access } });
    }
    this.isLarge ||= this.cost - before > LARGE_COST;
    return { entries, isWhole, isRepository: isRepositoryWith((one) => found.has(one)) };
  }

  #accessTo(path: string): FolderEntry["access"] {
    if (this.paths.secretKind(path) !== undefined) return "none";
    return this.paths.protectedKind(path) !== undefined ? "read" : undefined;
  }

  #keep(folder: string, state: string | undefined, look: FolderLook): void {
    this.#size -= this.#kept.get(folder)?.look.entries.length ?? 0;
    this.#kept.delete(folder);
    if (state === undefined || look.entries.length > MAX_KEPT) return;
    if (this.#size + look.entries.length > MAX_KEPT) {
      this.#kept.clear();
      this.#size = 0;
    }
    this.#size += look.entries.length;
    this.#kept.set(folder, { state, look });
  }
}
