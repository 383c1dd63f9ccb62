/** The contents of folders that a view needs, cached between views. @module */

import { join } from "../text/std_path.ts";
import { wait } from "../wire/wait.ts";
import type { PathTable } from "./path_table.ts";

/** `own`: commands write to a private folder under that name, as in `/tmp`. */
export type PathAccess = "hidden" | "read" | "write" | "own";

export interface Finding {
  path: string;
  access: "hidden" | "read";
  isGitFolder?: true;
  /**
   * The kind of path that a setting names here. If it is missing, commands may not create it. They may write the target
   * of a `link`, but not replace the links that lead there.
   */
  named?: "hooks" | "file" | "link";
  isSettings?: true;
}

interface FolderEntry {
  name: string;
  path: string;
  isDirectory: boolean;
  isLink: boolean;
  target?: string;
  /** The access that its name allows in any folder; missing for the access of its folder. */
  access?: "hidden" | "read";
}

interface FolderLook {
  /** Its folders and links, and the entries whose name restricts access; with `isWhole` all other entries too. */
  entries: readonly FolderEntry[];
  isWhole: boolean;
  isRepository: boolean;
}

/** The entries by which git recognizes a repository. `commondir` leads to the others. */
const GIT_ENTRIES = ["HEAD", "objects", "refs", "config", "commondir"];
/** True if git considers a folder with such entries a repository, or may after more are created. */
export const isRepositoryWith = (has: (name: string) => boolean): boolean =>
  has("HEAD") && (has("commondir") || has("objects") && (has("refs") || has("config")));
/** True for the name by which git finds a repository on any file system. */
export const isGitName = (name: string): boolean => name.toLowerCase() === ".git";
const MAX_KEPT = 500_000;

/** More than the time resolution of any file system, in milliseconds. Deno shows whole seconds of `ctime`. */
export const CLOCK_TICK_MS = 2000;

/** A folder whose listing costs more is listed in advance. */
const LARGE_COST = 10_000;
/** The cost of an unchanged folder, of a new one, and of each entry of a new one, in units of about 4 us. */
const COSTS = { kept: 3, folder: 20, entry: 1 };

/** True for a path with bytes that are not UTF-8, which Deno replaces with this character. */
export const hasOtherBytes = (path: string): boolean => path.includes("\ufffd");

/** git enters folders relatively, and this program by whole paths, which have a maximum of 4096 bytes. */
const MAX_FOLDER_BYTES = 3000;

/** True for a folder of which this program cannot see all that git sees: it is hidden from commands. */
export const isUnseen = ({ name, path }: { name: string; path: string }): boolean =>
  hasOtherBytes(name) ||
  path.length * 3 > MAX_FOLDER_BYTES && new TextEncoder().encode(path).length > MAX_FOLDER_BYTES;

/** Returns a text that changes with the folder (no program can set `ctime`); undefined if it might not. */
function folderState({ dev, ino, ctime, mtime, mode }: Deno.FileInfo): string | undefined {
  // File systems have coarse clocks: a change right after this would have the same time.
  return ctime !== null && ino !== null && Date.now() - ctime.getTime() > CLOCK_TICK_MS
    ? [dev, ino, ctime.getTime(), mtime?.getTime(), mode].join(" ")
    : undefined;
}

interface KeptLook {
  state: string;
  /** The programs that ran, and may have swapped the folder for another one between its state and its listing. */
  during: ReadonlySet<string>;
  look: FolderLook;
}

/** The sandboxed programs that run now, of all runs. */
export const swappers = { now: new Set<string>() };

/** Lists folders. An unchanged folder is not listed again. */
export class FolderLooks {
  cost = 0;
  isLarge = false;
  readonly findings = new Map<string, readonly Finding[]>();
  systemSecrets: readonly string[] | undefined;
  readonly #kept = new Map<string, KeptLook>();
  #size = 0;
  #walking = false;

  constructor(readonly paths: PathTable) {}

  /** Returns the contents of a folder; empty for other paths, undefined if this user may not list or enter it. */
  at(folder: string, isWhole = false): FolderLook | undefined {
    try {
      const state = folderState(Deno.statSync(`${folder}/.`));
      const kept = this.#kept.get(folder);
      this.cost += COSTS.kept;
      const isKept = kept !== undefined && kept.state === state &&
        kept.during.isSubsetOf(swappers.now);
      if (isKept && (kept.look.isWhole || !isWhole)) return kept.look;
      const look = this.#lookInto(folder, isWhole);
      this.#keep(folder, state === undefined ? undefined : { state, during: swappers.now, look });
      return look;
    } catch (error) {
      if (error instanceof Deno.errors.PermissionDenied) return undefined;
      return { entries: [], isWhole, isRepository: false };
    }
  }

  /** Lists all folders below `roots` step by step, so that the next view of them is fast. */
  async walk(roots: readonly string[]): Promise<void> {
    if (this.#walking) return;
    this.#walking = true;
    // Recent changes are not cached.
    await wait(CLOCK_TICK_MS + 100);
    const folders = [...roots];
    let begun = performance.now();
    for (const at of folders) {
      for (const { name, path, isDirectory, access } of this.at(at)?.entries ?? []) {
        if (isDirectory && access !== "hidden" && !isGitName(name)) folders.push(path);
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
    for (const { name, isDirectory, isSymlink: isLink } of Deno.readDirSync(folder)) {
      this.cost += COSTS.entry;
      if (GIT_ENTRIES.includes(name)) found.add(name);
      const mayMatch = this.paths.mayMatch(name);
      if (!mayMatch && !isDirectory && !isLink && !isWhole) continue;
      const path = join(folder, name);
      const isClosed = isDirectory && isUnseen({ name, path });
      const access = isClosed ? "hidden" : mayMatch ? this.#accessTo(path) : undefined;
      const isKept = isDirectory || isLink || isWhole || access !== undefined || isGitName(name);
      if (!isKept) continue;
      entries.push({ name, path, isDirectory, isLink, ...access && { access } });
    }
    this.isLarge ||= this.cost - before > LARGE_COST;
    return { entries, isWhole, isRepository: isRepositoryWith((one) => found.has(one)) };
  }

  #accessTo(path: string): FolderEntry["access"] {
    if (this.paths.secretKind(path) !== undefined) return "hidden";
    return this.paths.protectedKind(path) !== undefined ? "read" : undefined;
  }

  #keep(folder: string, kept: KeptLook | undefined): void {
    this.#size -= this.#kept.get(folder)?.look.entries.length ?? 0;
    this.#kept.delete(folder);
    const { length = 0 } = kept?.look.entries ?? [];
    if (kept === undefined || length > MAX_KEPT) return;
    if (this.#size + length > MAX_KEPT) {
      this.#kept.clear();
      this.#size = 0;
    }
    this.#size += length;
    this.#kept.set(folder, kept);
  }
}
