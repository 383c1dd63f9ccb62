/** `/diff`: what tools changed in files during the session, and which files others changed. @module */

import { branchOf } from "../../safety/repositories.ts";
import { count } from "../../text/count.ts";
import { oneLine } from "../../text/one_line.ts";
import { resolve } from "../../text/std_path.ts";
import { runSearch } from "../../tools/search/run_search.ts";
import { findTarget } from "../../tools/search/target.ts";
import type { Command, SessionState } from "../extension.ts";

const MAX_FOUND_FILES = 1000;
const MAX_LISTED_CHANGES = 10;

export const diffCommand: Command = {
  name: "diff",
  isView: true,
  group: "Work",
  help: "show the changes of this session",
  async run(session, _argument, signal) {
    const changes = await session.undo?.changes(session.agent.state.workingDir) ?? [];
    const others = await changedByOthers(session, signal ?? new AbortController().signal);
    if (changes.length === 0) {
      return ["No tool has changed a file in this session.", ...others].join(" ");
    }
    const text = [...changes.map(({ path }) => oneLine(path)), ...others].join("\n");
    return { type: "changes", changes, others, text };
  },
};

/** Returns a sentence on the files that changed since the session's start, but not by tools. */
async function changedByOthers({ undo, agent }: SessionState, signal: AbortSignal) {
  const { workingDir } = agent.state;
  const { walk, prefix } = await findTarget(agent.toolContext(signal), ".", "", true);
  const { files } = await runSearch({ walk, prefix, limit: MAX_FOUND_FILES }, [walk.root], signal);
  const isOther = ({ path, mtime }: typeof files[number]) =>
    undo && mtime >= undo.startedAt && !undo.written.has(resolve(workingDir, path));
  const paths = files.filter(isOther).map(({ path }) => oneLine(path));
  if (paths.length === 0) return [];
  const more = paths.length > MAX_LISTED_CHANGES
    ? [`${paths.length - MAX_LISTED_CHANGES} more`]
    : [];
  const names = [...paths.slice(0, MAX_LISTED_CHANGES), ...more].join(", ");
  const how = branchOf(workingDir) ? " (git status and git diff show how)" : "";
  return [`Commands or other programs changed ${count(paths.length, "file")}${how}: ${names}.`];
}
