/** Finds files of the working directory with the same name in another folder. @module */

import { basename } from "../../text/std_path.ts";
import { runSearch } from "../search/run_search.ts";
import { findTarget } from "../search/target.ts";

const MAX_NAMED_FILES = 3;
/** The maximum duration of a search in a large tree, in milliseconds. */
const SEARCH_MS = 1000;

/** Returns the paths of files named like the end of `path`; empty if there are too many, or it is not a plain name. */
export async function filesNamed(path: string, workingDir: string): Promise<string[]> {
  const name = basename(path);
  if (!/^[\w@+-][\w.@+-]*$/.test(name)) return [];
  const { walk, prefix } = await findTarget({ workingDir }, ".", `**/${name}`, false);
  const job = { walk, prefix, limit: MAX_NAMED_FILES + 1 };
  const { signal } = new AbortController();
  const { files, end } = await runSearch(job, [walk.root], signal, { timeoutMs: SEARCH_MS });
  return end === "done" && files.length <= MAX_NAMED_FILES
    ? files.map((file) => file.path).sort()
    : [];
}
