/** Finds files by a word while the user types it. No key waits for the walk, which runs in slices. @module */

import { fuzzyRank, NO_FIT } from "../../text/fuzzy.ts";
import { runSearch, turnOfOthers } from "./run_search.ts";
import type { SearchJob } from "./searcher.ts";

export interface FittingPaths {
  paths: string[];
  /** Resolves when others fit better, and with undefined if no others will. Missing if all files are known. */
  more?: () => Promise<FittingPaths | undefined>;
}

/** The maximum number of milliseconds of the walk, and of files: the name of a folder narrows them down. */
const MAX_WALK_MS = 60_000;
const MAX_PATHS = 1_000_000;
/** Files modified within the same span, in milliseconds, count as equally new. */
const TOGETHER_MS = 60_000;
/** The time in milliseconds after which keys and the screen get their turn. */
const SLICE_MS = 5;
/** The wait for the first files, in milliseconds, so that a small folder is shown at once. */
const FIRST_MS = 16;
/** A new word is matched against all files found so far, for at most this time in milliseconds. */
const RANKING_MS = 100;
const GROWTH_MS = 60;
/** The number of files that are ranked between two checks of the clock. */
const RANKED_AT_ONCE = 200;

/** A file, or a folder that ends in `/`, and its time of modification in milliseconds. */
interface FoundPath {
  path: string;
  mtime: number;
}

/** The files below a folder, and the folders that they are in. The walk starts at once. */
export class PathFinder implements Disposable {
  readonly #paths: FoundPath[] = [];
  readonly #folders = new Set<string>();
  #newest: BestPaths | undefined;
  readonly #ended = new AbortController();
  #isDone = false;

  /** @param limit the maximum number of files that fit */
  constructor(
    { walk, prefix }: Pick<SearchJob, "walk" | "prefix">,
    private readonly limit: number,
  ) {
    this.#folders.add(prefix);
    void this.#run({ walk, prefix, limit: MAX_PATHS });
  }

  /** Returns the files that fit `word` best so far. The previous word is dropped. */
  async find(word: string): Promise<FittingPaths> {
    const best = this.#newest = new BestPaths(word, this.limit);
    return await this.#look(best, 0, FIRST_MS) ?? { paths: [] };
  }

  [Symbol.dispose](): void {
    this.#ended.abort();
    this.#isDone = true;
    this.#newest = undefined;
  }

  /** Returns the best files after `ms` if they differ from those of `version`; undefined if they never will. */
  async #look(best: BestPaths, version: number, ms: number): Promise<FittingPaths | undefined> {
    const from = performance.now();
    const least = this.#paths.length;
    while (this.#newest === best) {
      const isAll = this.#isDone;
      const ranked = best.rank(this.#paths, SLICE_MS);
      const isOther = best.version !== version;
      if (isAll && ranked === this.#paths.length) {
        return isOther ? { paths: best.paths } : undefined;
      }
      const isRanked = ranked >= least || performance.now() - from >= RANKING_MS;
      if (isRanked && isOther && performance.now() - from >= ms) {
        const shown = best.version;
        return { paths: best.paths, more: () => this.#look(best, shown, GROWTH_MS) };
      }
      await turnOfOthers();
    }
  }

  async #run(job: SearchJob): Promise<void> {
    await turnOfOthers();
    const limits = { sliceMs: SLICE_MS, timeoutMs: MAX_WALK_MS };
    await runSearch(job, [job.walk.root], this.#ended.signal, limits, (found) => {
      for (const file of found.files.splice(0)) {
        this.#paths.push(file);
        this.#addFolder(file.path);
      }
      if (this.#paths.length >= MAX_PATHS) this.#ended.abort();
    }).catch(() => {});
    this.#isDone = true;
  }

  #addFolder(path: string): void {
    const folder = path.slice(0, path.lastIndexOf("/", path.length - 2) + 1);
    if (this.#folders.has(folder)) return;
    this.#folders.add(folder);
    this.#paths.push({ path: folder, mtime: 0 });
    this.#addFolder(folder);
  }
}

/** Files that no model reads come after others that fit as well. */
const BINARY_FILE =
  /\.(?:py[cod]|class|jar|war|o|a|so|obj|lib|dll|dylib|exe|bin|wasm|zip|gz|tgz|xz|bz2|zst|7z|rar|tar|pdf|woff2?|ttf|otf|eot|mp[34]|m4a|wav|ogg|mov|avi|mkv|webm|sqlite3?|db|gguf|safetensors|onnx|npy|npz|pkl|parquet)$/;

/** Returns how well `word` fits a path, in lower case. A folder fits by its own name; its path alone fits its entries. */
function rankOf(word: string, path: string): number {
  if (!path.endsWith("/")) return fuzzyRank(word, path);
  const [wanted, own] = [word.lastIndexOf("/") + 1, path.lastIndexOf("/", path.length - 2) + 1];
  if (!path.startsWith(word.slice(0, wanted))) return NO_FIT;
  if (wanted === word.length) return own === wanted ? 0 : NO_FIT;
  return fuzzyRank(word.slice(wanted), path.slice(own, -1));
}

class BestPaths {
  readonly #word: string;
  readonly #best: { path: string; rank: number; time: number }[] = [];
  #ranked = 0;
  version = 0;

  constructor(word: string, private readonly limit: number) {
    this.#word = word.toLowerCase();
  }

  get paths(): string[] {
    return this.#best.map(({ path }) => path);
  }

  /** Ranks newly found `paths` for at most `ms`. Returns the number of all ranked ones. */
  rank(paths: readonly FoundPath[], ms: number): number {
    const until = performance.now() + ms;
    for (; this.#ranked < paths.length; this.#ranked++) {
      if (this.#ranked % RANKED_AT_ONCE === 0 && performance.now() > until) break;
      this.#add(paths[this.#ranked]!);
    }
    return this.#ranked;
  }

  #add({ path, mtime }: FoundPath): void {
    const best = this.#best;
    const lower = path.toLowerCase();
    const fit = rankOf(this.#word, lower);
    if (fit === NO_FIT) return;
    // A folder that the word names comes before its files, which fit as well; other folders come after files.
    const isNamed = !/(?:^|\/)$/.test(this.#word);
    const ofFolder = isNamed ? -0.5 : 0.25;
    const rank = fit + (path.endsWith("/") ? ofFolder : BINARY_FILE.test(lower) ? 0.5 : 0);
    // Files that were created together, as by a clone, are listed by name.
    const time = Math.floor(mtime / TOGETHER_MS);
    const isBefore = (other: { path: string; rank: number; time: number }) =>
      rank !== other.rank
        ? rank < other.rank
        : time !== other.time
        ? time > other.time
        : path < other.path;
    let at = best.length;
    while (at > 0 && isBefore(best[at - 1]!)) at--;
    if (at >= this.limit) return;
    best.splice(at, 0, { path, rank, time });
    if (best.length > this.limit) best.pop();
    this.version++;
  }
}
