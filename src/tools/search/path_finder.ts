/**
 * Finds files by a word while the user types it. The walk runs in short slices, so that no key waits for it. @module
 */

import { attempt } from "../../attempt.ts";
import { fuzzyRank, NO_FIT } from "../../text/fuzzy.ts";
import { Stopped } from "./regex/dfa.ts";
import type { SearchJob } from "./searcher.ts";
import { emptyTally, Walk } from "./walk.ts";

/** The files and folders that fit a word best so far. A folder ends in `/`. */
export interface FittingPaths {
  paths: string[];
  /** Resolves when others fit better, and with undefined if none will. Missing if all files are known. */
  more?: () => Promise<FittingPaths | undefined>;
}

/** The maximum number of listed files: the name of a folder narrows them down. */
const MAX_PATHS = 1_000_000;
/** The number of files whose times are read, so that the newest come first. The others follow in the order found. */
const MAX_TIMED = 20_000;
/** Files modified within the same span, in milliseconds, count as equally new. */
const TOGETHER_MS = 60_000;
/** The time in milliseconds after which keys and the screen get their turn. */
const SLICE_MS = 5;
/** The wait for the first files, in milliseconds, so that a small folder is shown at once. */
const FIRST_MS = 16;
/** A new word is matched against all files found so far, for at most this time in milliseconds. */
const RANKING_MS = 100;
/** The time between lists, in milliseconds. */
const GROWTH_MS = 60;
/** A folder whose ignore rules take longer, in milliseconds, is skipped. */
const MAX_RULES_MS = 200;
/** A folder of more bytes in its own entry may have thousands of entries, which are read in pieces. */
const LARGE_FOLDER_BYTES = 64 * 1024;
/** The number of entries of such a piece, and of files that are ranked between two checks of the clock. */
const ENTRIES_AT_ONCE = 200;

const turnOfOthers = () => new Promise<void>((resolve) => setTimeout(resolve));

/** The files below a folder. The walk starts at once. */
export class PathFinder implements Disposable {
  readonly #walk: Walk;
  /** The remaining folders, those nearest to the root first. */
  readonly #folders: string[];
  readonly #paths: string[] = [];
  /** The times of modification of the first files, in milliseconds, as far as they are known. */
  readonly #times: number[] = [];
  #newest: BestPaths | undefined;
  #isDone = false;
  /** The time at which the rules of the current folder have taken too long. */
  #latest = Infinity;

  /**
   * @param limit the maximum number of files that fit
   * @param largeBytes larger folders are read in pieces
   */
  constructor(
    private readonly place: Pick<SearchJob, "walk" | "prefix">,
    private readonly limit: number,
    private readonly largeBytes = LARGE_FOLDER_BYTES,
  ) {
    this.#walk = new Walk(place.walk, emptyTally(), () => performance.now() > this.#latest);
    this.#folders = [place.walk.root];
    void this.#run();
  }

  /** Returns the files that fit `word` best so far. The previous word is dropped. */
  async find(word: string): Promise<FittingPaths> {
    const best = this.#newest = new BestPaths(word, this.limit);
    return await this.#look(best, 0, FIRST_MS) ?? { paths: [] };
  }

  /** Ends the walk. */
  [Symbol.dispose](): void {
    this.#isDone = true;
    this.#newest = undefined;
  }

  /** Returns the best files after `ms` if they differ from those of `version`; undefined if they never will. */
  async #look(best: BestPaths, version: number, ms: number): Promise<FittingPaths | undefined> {
    const from = performance.now();
    const least = this.#paths.length;
    while (this.#newest === best) {
      const isAll = this.#isDone;
      const ranked = best.rank(this.#paths, (at) => this.#timeOf(at), SLICE_MS);
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

  #timeOf(at: number): number {
    if (at >= MAX_TIMED) return 0;
    const { prefix, walk } = this.place;
    const file = () => `${walk.root}/${this.#paths[at]!.slice(prefix.length)}`;
    return this.#times[at] ??= attempt(() => Deno.lstatSync(file()).mtime?.getTime()) ?? 0;
  }

  async #run(): Promise<void> {
    let until = performance.now() + SLICE_MS;
    for (let at = 0; at < this.#folders.length && !this.#isDone; at++) {
      const folder = this.#folders[at]!;
      const bytes = attempt(() => Deno.statSync(folder).size) ?? 0;
      if (bytes > this.largeBytes) await this.#listInPieces(folder);
      else this.#take(() => this.#walk.list(folder));
      if (performance.now() < until) continue;
      await turnOfOthers();
      until = performance.now() + SLICE_MS;
    }
    this.#isDone = true;
  }

  async #listInPieces(folder: string): Promise<void> {
    const piece: Deno.DirEntry[] = [];
    const take = () => this.#take(() => this.#walk.take(folder, piece.splice(0)));
    const entries = Deno.readDir(folder)[Symbol.asyncIterator]();
    // A folder that is unreadable or gone has no more files.
    const next = () => entries.next().catch(() => ({ done: true, value: undefined } as const));
    for (let entry = await next(); !entry.done && !this.#isDone; entry = await next()) {
      piece.push(entry.value);
      if (piece.length < ENTRIES_AT_ONCE) continue;
      take();
      await turnOfOthers();
    }
    take();
  }

  #take(list: () => ReturnType<Walk["list"]>): void {
    const { walk, prefix } = this.place;
    this.#latest = performance.now() + MAX_RULES_MS;
    try {
      const { files, folders } = list();
      for (const file of files) this.#paths.push(prefix + file.slice(walk.root.length + 1));
      for (const folder of folders) {
        this.#folders.push(folder);
        this.#paths.push(`${prefix}${folder.slice(walk.root.length + 1)}/`);
      }
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
    }
    if (this.#paths.length >= MAX_PATHS) this.#isDone = true;
  }
}

/** Files that no model reads come after others that fit as well. */
const BINARY_FILE =
  /\.(?:py[cod]|class|jar|war|o|a|so|obj|lib|dll|dylib|exe|bin|wasm|zip|gz|tgz|xz|bz2|zst|7z|rar|tar|pdf|woff2?|ttf|otf|eot|mp[34]|m4a|wav|ogg|mov|avi|mkv|webm|sqlite3?|db|gguf|safetensors|onnx|npy|npz|pkl|parquet)$/;

/**
 * Returns how well `word` fits a path, both in lower case. A folder fits by its own name, so that its subfolders are
 * not listed with it. If the word is only the path of a folder, that folder's entries fit.
 */
function rankOf(word: string, path: string): number {
  if (!path.endsWith("/")) return fuzzyRank(word, path);
  const [wanted, own] = [word.lastIndexOf("/") + 1, path.lastIndexOf("/", path.length - 2) + 1];
  if (!path.startsWith(word.slice(0, wanted))) return NO_FIT;
  if (wanted === word.length) return own === wanted ? 0 : NO_FIT;
  return fuzzyRank(word.slice(wanted), path.slice(own, -1));
}

/** The files and folders that fit a word best, as they are found. */
class BestPaths {
  readonly #word: string;
  /** Best first. */
  readonly #best: { path: string; rank: number; time: number }[] = [];
  #ranked = 0;
  /** Increases when the best ones change. */
  version = 0;

  constructor(word: string, private readonly limit: number) {
    this.#word = word.toLowerCase();
  }

  get paths(): string[] {
    return this.#best.map(({ path }) => path);
  }

  /** Ranks newly found `paths` for at most `ms`. Returns the number of all ranked ones. */
  rank(paths: readonly string[], timeOf: (at: number) => number, ms: number): number {
    const until = performance.now() + ms;
    for (; this.#ranked < paths.length; this.#ranked++) {
      if (this.#ranked % ENTRIES_AT_ONCE === 0 && performance.now() > until) break;
      this.#add(paths[this.#ranked]!, timeOf);
    }
    return this.#ranked;
  }

  #add(path: string, timeOf: (at: number) => number): void {
    const best = this.#best;
    const lower = path.toLowerCase();
    const fit = rankOf(this.#word, lower);
    if (fit === NO_FIT) return;
    // A folder that the word names comes before its files, which fit as well; other folders come after files.
    const isNamed = !/(?:^|\/)$/.test(this.#word);
    const ofFolder = isNamed ? -0.5 : 0.25;
    const rank = fit + (path.endsWith("/") ? ofFolder : BINARY_FILE.test(lower) ? 0.5 : 0);
    // Files that were created together, as by a clone, are listed by name.
    const time = Math.floor(timeOf(this.#ranked) / TOGETHER_MS);
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
