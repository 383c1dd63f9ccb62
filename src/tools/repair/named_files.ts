/** The files of the working directory that have a name which stands elsewhere in a path. @module */

import { basename, dirname } from "../../text/std_path.ts";
import { runSearch } from "../search/pool.ts";
import { findTarget } from "../search/target.ts";

/** The most files that are named. */
const MAX_ELSEWHERE = 3;
/** The most files of one folder that are compared. */
const MAX_SIBLINGS = 1000;
/** The longest search, in milliseconds, in a large tree. */
const SEARCH_MS = 1000;

/** The paths of files named like the end of `path`, at most MAX_ELSEWHERE; none where there are more, or it is no plain name. */
export async function filesNamed(path: string, workingDir: string): Promise<string[]> {
  const name = basename(path);
  return /^[\w@+-][\w.@+-]*$/.test(name) ? await filesOf(name, workingDir, MAX_ELSEWHERE) : [];
}

/** The one folder below the working directory that contains all files of `pattern`, if there are several. */
export async function folderOfAll(
  pattern: string,
  workingDir: string,
): Promise<string | undefined> {
  const files = await filesOf(pattern, workingDir, MAX_SIBLINGS);
  const [place, ...others] = new Set(files.map((file) => dirname(file)));
  return files.length > 1 && others.length === 0 && place !== "." ? place : undefined;
}

/** The paths of the files whose name matches; none where there are more than `most`. */
async function filesOf(pattern: string, workingDir: string, most: number): Promise<string[]> {
  const { walk, prefix } = await findTarget({ workingDir }, ".", `**/${pattern}`, false);
  const job = { walk, prefix, limit: most + 1 };
  const { signal } = new AbortController();
  const { files, end } = await runSearch(job, [walk.root], signal, { timeoutMs: SEARCH_MS });
  return end === "done" && files.length <= most ? files.map((file) => file.path).sort() : [];
}
