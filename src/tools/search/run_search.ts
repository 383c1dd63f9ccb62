/** Runs a search in slices, between which keys, signals and the screen get their turn. A worker is no faster. @module */

import { isStill } from "../files/regular_file.ts";
import { type FoundFiles, Searcher, type SearchJob, sortFound, type Task } from "./searcher.ts";

export interface SearchLimits {
  sliceMs: number; // the time without a turn of others, in milliseconds
  timeoutMs: number; // the time limit of the search, without the turns of others, in milliseconds
}

/** A file that takes longer to search, or a folder's rules to read, in ms, is skipped: nothing interrupts them. */
const MAX_STEP_MS = 2000;

/** The results of a search, and how it ended: `"timeout"` if it did not reach all of the tree. */
export type SearchResult = FoundFiles & { end: "done" | "timeout" };

/**
 * Searches `tasks` for `job`.
 * @param onSlice called with the results so far, which it may take
 * @throws {SyntaxError} if the pattern is invalid; the reason of `signal` when it is aborted.
 */
export async function runSearch(
  job: SearchJob,
  tasks: readonly Task[],
  signal: AbortSignal,
  { sliceMs = 15, timeoutMs = 20_000 }: Partial<SearchLimits> = {},
  onSlice?: (found: FoundFiles) => void,
): Promise<SearchResult> {
  signal.throwIfAborted();
  const since = Date.now();
  let [spent, latest] = [0, 0];
  const searcher = new Searcher(job, () => performance.now() > latest, tasks);
  const { tasks: rest, found } = searcher;
  let end: SearchResult["end"] = "done";
  for (let limit = sliceMs; rest.length > 0;) {
    const begun = performance.now();
    const until = begun + sliceMs;
    do {
      latest = Math.max(until, performance.now() + limit);
      // A step without a result is repeated with more time.
      limit = searcher.step() ? sliceMs : 2 * limit;
      if (limit <= MAX_STEP_MS) continue;
      searcher.skip();
      end = "timeout";
      limit = sliceMs;
    } while (rest.length > 0 && performance.now() < until);
    onSlice?.(found);
    if (rest.length === 0) break;
    // Each of several parallel calls has its full time limit.
    spent += performance.now() - begun;
    if (spent > timeoutMs) {
      end = "timeout";
      break;
    }
    await turnOfOthers();
    signal.throwIfAborted();
  }
  sortFound(found, job);
  const { walk: { root, withheld }, prefix } = job;
  if (withheld) {
    // Drops files that are no longer where they were read: a link may have replaced a folder meanwhile.
    const still = found.matches.filter(({ path, dev = 0, ino = null }) =>
      isStill(`${root}/${path.slice(prefix.length)}`, { dev, ino }, withheld.folder, since)
    );
    found.tally.unreadable += found.matches.length - still.length;
    found.matches = still;
  }
  return { ...found, end };
}

export const turnOfOthers = () => new Promise<void>((resolve) => setTimeout(resolve));
