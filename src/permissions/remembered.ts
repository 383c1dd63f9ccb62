/** Results of looks at folders and links, kept while none of these changed. @module */

import { attempt } from "../attempt.ts";
import { dirname } from "../text/std_path.ts";

/** Longer than any file system's clock stands between two ticks, in milliseconds. */
const CLOCK_TICK_MS = 2000;

/**
 * All that changes with a folder's entries; undefined where another change may leave it as it is. The system
 * notes the time of each change of a folder's entries and rights (`ctime`), which no program can set.
 */
export function folderState({ dev, ino, ctime, mtime, mode }: Deno.FileInfo): string | undefined {
  // Clocks of file systems tick, and a change in the same instant as this look would not be told from it.
  const isSettled = ctime !== null && Date.now() - ctime.getTime() > CLOCK_TICK_MS;
  return isSettled && ino !== null
    ? [dev, ino, ctime.getTime(), mtime?.getTime(), mode].join(" ")
    : undefined;
}

/** The folders and links that a result was made from, as they were then. */
export class Lookups {
  readonly #folders = new Map<string, string | undefined>();
  readonly #links = new Map<string, string | undefined>();

  /** Notes, before a look at an absolute path, that a result depends on it. */
  note(path: string): void {
    for (let at = dirname(path); !this.#folders.has(at); at = dirname(at)) {
      this.#folders.set(at, stateAt(at));
    }
  }

  /** Notes what a path was found to lead to: the folders above tell of a change unless it is a link. */
  noteReal(path: string, real: string | undefined): void {
    if (real !== path && (real ?? attempt(() => Deno.lstatSync(path))) !== undefined) {
      this.#links.set(path, real ?? realPathAt(path));
    }
  }

  /** True where the same looks would find the same. */
  get isSame(): boolean {
    return [...this.#folders].every(([at, was]) => was !== undefined && stateAt(at) === was) &&
      [...this.#links].every(([path, real]) => realPathAt(path) === real);
  }
}

const MISSING = "missing";
const stateAt = (folder: string): string | undefined => {
  try {
    return folderState(Deno.statSync(`${folder}/.`));
  } catch {
    return MISSING;
  }
};
const realPathAt = (path: string) => attempt(() => Deno.realPathSync(path));

/** A result that is made anew where a look behind it would find something else by now. */
export class Remembered<T> {
  #made: { value: T; key: string; from: Lookups } | undefined;

  /** @param key all else that the result depends on */
  get(key: string, make: (from: Lookups) => T): T {
    if (this.#made?.key !== key || !this.#made.from.isSame) {
      const from = new Lookups();
      this.#made = { value: make(from), key, from };
    }
    return this.#made.value;
  }
}
