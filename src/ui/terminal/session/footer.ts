/** The status line below the input. @module */

import type { Status } from "../../../session/frontend.ts";
import { count, dollars, thousands } from "../../../text/count.ts";
import { oneLine, shortened } from "../../../text/one_line.ts";
import { displayWidth } from "../../../text/width.ts";

/** Formats the line, such as `qwen3:8b · context 3.1k · ~/project`. `lineMode`: vim's mode, if it is on. */
export function footerText(
  status: Status,
  columns: number,
  home = Deno.env.get("HOME"),
  lineMode?: string,
): string {
  const { model, tasks, runningJobs, tokens, cost, approvesAll, mode } = status;
  const parts = {
    lineMode: lineMode ?? "",
    model: model === undefined ? "" : modelText(model),
    tasks: tasks.length === 0
      ? ""
      : `${tasks.filter(({ isDone }) => isDone).length}/${tasks.length} tasks`,
    jobs: runningJobs === 0 ? "" : count(runningJobs, "job"),
    tokens: tokenShare(tokens),
    cost: cost === undefined ? "" : dollars(cost),
  };
  const modes = [
    approvesAll && mode?.approve !== "plan" ? "--yes" : mode?.approve,
    mode?.isSandboxed === false && "NO SANDBOX",
    mode?.isSandboxed && (mode.isReadOnly ? "read-only" : "sandboxed"),
    mode?.hasNetwork && "network",
  ];
  const joined = (folder = "") =>
    [...Object.values(parts), folder, ...modes].filter(Boolean).join(" · ");
  const missing = () => displayWidth(joined()) - columns;
  const most = Math.min(-missing() - 3, Math.max(MIN_FOLDER, columns >> 1));
  if (most >= MIN_FOLDER) return joined(oneLine(shortFolder(status.folder, most, home)));
  // The mode is always shown, because it decides what runs without asking. The least useful parts are dropped
  // first.
  const shorter = [
    ...[{ tokens: tokenShare(tokens, true) }, { cost: "" }, { tokens: "" }],
    ...[{ jobs: "" }, { tasks: "" }],
  ];
  for (const change of shorter) if (missing() > 0) Object.assign(parts, change);
  if (missing() > 0) {
    parts.model = shortened(parts.model, Math.max(MIN_NAME, parts.model.length - missing()));
  }
  return joined();
}

const MIN_FOLDER = 12;
const MIN_NAME = 8;

/** Returns a model's name. For a file, as llama.cpp names models, it is the last part of the path. */
export function modelText(model: string): string {
  return oneLine(model.replace(/^.*[/\\](?=[^/\\]+\.gguf$)/i, ""));
}

/** Formats the tokens of the context. `isShort`: only the used share, if the window is known. */
function tokenShare({ used, isCounted, window }: Status["tokens"], isShort = false): string {
  if (used === 0) return "";
  const percent = window && `${Math.round(100 * used / window)}%`;
  const counted = `${isCounted ? "" : "~"}${thousands(used)}`;
  if (isShort) return `ctx ${percent || counted}`;
  return `context ${counted}${percent ? ` (${percent} of ${thousands(window!)})` : ""}`;
}

/** Returns the end of `folder` that fits into `width`, with `~` for the home folder. */
export function shortFolder(
  folder: string,
  width: number,
  home = Deno.env.get("HOME"),
): string {
  const isBelow = home && `${folder}/`.startsWith(`${home}/`);
  const short = isBelow ? `~${folder.slice(home.length)}` : folder;
  return short.length > width ? `…${short.slice(1 - width).toWellFormed()}` : short;
}
