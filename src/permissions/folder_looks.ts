/** What folders hold, as far as a view asks: kept from one look at them to the next. @module */

import { join } from "../text/std_path.ts";
import type { PathTable } from "./path_table.ts";

/** `own`: commands write there what stands on none of the machine's disks under that name, as in `/tmp`. */
export type PathAccess = "none" | "read" | "write" | "own";

/** A file, folder or link in a folder. */
interface FolderEntry {
  name: string;
  path: string;
  isDirectory: boolean;
  /** As {@linkcode FolderLooks.accessTo} says; undefined until it was asked. */
  access?: "none" | "read" | "usual";
}

/** One look at a folder. */
interface FolderLook {
  entries: readonly FolderEntry[];
  /** True for a folder that git takes for a repository. */
  isRepository: boolean;
}

/** The entries of a folder by which git takes it for a repository. */
export const GIT_ENTRIES = ["HEAD", "objects", "config"] as const;
/** The most entries that are kept. */
const MAX_KEPT = 20_000;

/** Longer than any file system's clock stands between two ticks, in milliseconds. */
const CLOCK_TICK_MS = 2000;

/**
 * All that changes with a folder's entries; undefined where another change may leave it as it is. The system
 * notes the time of each change of a folder's entries and rights (`ctime`), which no program can set.
 */
function folderState({ dev, ino, ctime, mtime, mode }: Deno.FileInfo): string | undefined {
  // Clocks of file systems tick, and a change in the same instant as this look would not be told from it.
  const isSettled = ctime !== null && Date.now() - ctime.getTime() > CLOCK_TICK_MS;
  return isSettled && ino !== null
    ? [dev, ino, ctime.getTime(), mtime?.getTime(), mode].join(" ")
    : undefined;
}

/** Looks into folders. One that did not change since is not listed again. */
export class FolderLooks {
  readonly #kept = new Map<string, { state: string; look: FolderLook }>();
  #size = 0;

  constructor(private readonly paths: PathTable) {}

  /**
   * The entries of a folder: none of what is no folder; undefined where this user may not list or enter it,
   * which a command may have seen to, to be let in again after the look.
   */
  at(folder: string): FolderLook | undefined {
    try {
      const state = folderState(Deno.statSync(`${folder}/.`));
      const kept = this.#kept.get(folder);
      if (kept !== undefined && kept.state === state) return kept.look;
      const look = this.#lookInto(folder);
      this.#keep(folder, state, look);
      return look;
    } catch (error) {
      if (error instanceof Deno.errors.PermissionDenied) return undefined;
      return { entries: [], isRepository: false };
    }
  }

  /** The access that its name leaves to an entry, wherever it is; undefined for that to its folder. */
  accessTo(entry: FolderEntry): "none" | "read" | undefined {
    entry.access ??= this.paths.secretKind(entry.path) !== undefined
      ? "none"
      : this.paths.protectedKind(entry.path) !== undefined
      ? "read"
      : "usual";
    return entry.access === "usual" ? undefined : entry.access;
  }

  #lookInto(folder: string): FolderLook {
    const entries = [...Deno.readDirSync(folder)]
      .map(({ name, isDirectory }) => ({ name, path: join(folder, name), isDirectory }));
    const names = new Set(entries.map(({ name }) => name));
    return { entries, isRepository: GIT_ENTRIES.every((one) => names.has(one)) };
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
