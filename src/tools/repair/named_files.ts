/** Finds files of the working directory with the same name in another folder. @module */

import { basename, dirname } from "../../text/std_path.ts";
import { runSearch } from "../search/run_search.ts";
import { findTarget } from "../search/target.ts";

/** The maximum number of files named. */
const MAX_ELSEWHERE = 3;
/** The maximum number of files compared in one folder. */
const MAX_SIBLINGS = 1000;
/** The maximum duration of a search in a large tree, in milliseconds. */
const SEARCH_MS = 1000;

/**
 * Returns the paths of files named like the end of `path`, at most MAX_ELSEWHERE; empty if there are more, or it is not
 * a plain name.
 */
export async function filesNamed(path: string, workingDir: string): Promise<string[]> {
  const name = basename(path);
  return /^[\w@+-][\w.@+-]*$/.test(name) ? await filesOf(name, workingDir, MAX_ELSEWHERE) : [];
}

/** Returns the only folder below the working directory that contains all files of `pattern`, if there are several. */
export async function folderOfAll(
  pattern: string,
  workingDir: string,
): Promise<string | undefined> {
  const files = await filesOf(pattern, workingDir, MAX_SIBLINGS);
  const [place, ...others] = new Set(files.map((file) => dirname(file)));
  return files.length > 1 && others.length === 0 && place !== "." ? place : undefined;
}

/** Returns the paths of the files whose name matches; empty if there are more than `most`. */
async function filesOf(pattern: string, workingDir: string, most: number): Promise<string[]> {
  const { walk, prefix } = await findTarget({ workingDir }, ".", `**/${pattern}`, false);
  const job = { walk, prefix, limit: most + 1 };
  const { signal } = new AbortController();
  const { files, end } = await runSearch(job, [walk.root], signal, { timeoutMs: SEARCH_MS });
  return end === "done" && files.length <= most ? files.map((file) => file.path).sort() : [];
}
