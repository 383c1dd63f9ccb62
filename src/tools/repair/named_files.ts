/** The files of the working directory that have a name which stands elsewhere in a path. @module */

import { basename } from "../../text/std_path.ts";
import { runSearch } from "../search/pool.ts";
import { findTarget } from "../search/target.ts";

/** The most files that are named. */
const MAX_ELSEWHERE = 3;
/** The longest search, in milliseconds, in a large tree. */
const SEARCH_MS = 1000;

/** The paths of files named like the end of `path`, at most MAX_ELSEWHERE; none where there are more, or it is no plain name. */
export async function filesNamed(path: string, workingDir: string): Promise<string[]> {
  const name = basename(path);
  if (!/^[\w@+-][\w.@+-]*$/.test(name)) return [];
  const { walk, prefix } = await findTarget({ workingDir }, ".", `**/${name}`, false);
  const job = { walk, prefix, limit: MAX_ELSEWHERE + 1 };
  const { signal } = new AbortController();
  const { files, end } = await runSearch(job, [walk.root], signal, { timeoutMs: SEARCH_MS });
  return end === "done" && files.length <= MAX_ELSEWHERE
    ? files.map((file) => file.path).sort()
    : [];
}
