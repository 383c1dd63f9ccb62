/** The paths below the working directory, for completions. @module */

import type { CopilotAgent } from "../agent/agent.ts";
import { bestFits } from "../text/fuzzy.ts";
import { attempt } from "../attempt.ts";
import { resolve } from "../text/std_path.ts";
import { type FittingPaths, PathFinder } from "../tools/search/path_finder.ts";
import { findTarget } from "../tools/search/target.ts";

const MAX_FITS = 50;
/** An unused list is dropped after this time, in milliseconds, so that the next one has new files. */
const IDLE_MS = 3000;

/** Lists the files that are neither hidden nor ignored, relative to the folder, newest first. */
export class FolderPaths implements Disposable {
  #listed: { folder: string; finder: Promise<PathFinder> } | undefined;
  #idle: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly agent: CopilotAgent,
    private readonly others: () => readonly string[],
  ) {}

  /** Returns the best matches of `word`. If it names a folder, only its files are listed. */
  async find(word: string): Promise<FittingPaths> {
    const path = word.replace(/^(?:\.\/+)+/, "");
    const found = await this.#inUse(async () => (await this.#finderFor(path)).find(path));
    return this.#withOthers(path, found);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#idle);
    this.#listed?.finder.then((finder) => finder[Symbol.dispose](), () => {});
    this.#listed = undefined;
  }

  #withOthers(word: string, { paths, more }: FittingPaths): FittingPaths {
    const names = this.others();
    const all = names.length === 0
      ? paths
      : bestFits(word, [...paths, ...names], (path) => path, MAX_FITS);
    if (more === undefined) return { paths: all };
    return {
      paths: all,
      more: async () => {
        const next = await this.#inUse(more);
        return next && this.#withOthers(word, next);
      },
    };
  }

  async #inUse<T>(get: () => Promise<T>): Promise<T> {
    try {
      return await get();
    } finally {
      clearTimeout(this.#idle);
      this.#idle = setTimeout(() => this[Symbol.dispose](), IDLE_MS);
      Deno.unrefTimer(this.#idle);
    }
  }

  #finderFor(word: string): Promise<PathFinder> {
    const { workingDir } = this.agent.state;
    const named = namedFolder(workingDir, word);
    const folder = resolve(workingDir, named);
    if (this.#listed?.folder !== folder) {
      this[Symbol.dispose]();
      this.#listed = { folder, finder: this.#open(named) };
    }
    return this.#listed!.finder;
  }

  async #open(named: string): Promise<PathFinder> {
    const context = this.agent.toolContext(new AbortController().signal);
    return new PathFinder(await findTarget(context, named || ".", "", true), MAX_FITS);
  }
}

function namedFolder(workingDir: string, word: string): string {
  if (/^[/~]|(?:^|\/)\.\.(?:\/|$)/.test(word)) return "";
  for (let end = word.lastIndexOf("/"); end > 0; end = word.lastIndexOf("/", end - 1)) {
    const folder = word.slice(0, end);
    if (attempt(() => Deno.lstatSync(resolve(workingDir, folder)).isDirectory)) return folder;
  }
  return "";
}
