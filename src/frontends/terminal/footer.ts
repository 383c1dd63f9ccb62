/** The status line below the input. @module */

import type { Status } from "../../session/frontend.ts";
import { count, dollars, thousands } from "../../text/count.ts";
import { oneLine } from "../../text/one_line.ts";
import { displayWidth } from "../../text/width.ts";

/**
 * The line for a terminal of `columns`, such as `qwen3:8b · context 3.1k · ~/project`. `lineMode`: the
 * mode of vim, where that is used.
 */
export function footerText(
  status: Status,
  columns: number,
  home = Deno.env.get("HOME"),
  lineMode?: string,
): string {
  const { model, tasks, runningJobs, tokens, cost, approvesAll, mode } = status;
  const parts = [
    ...(lineMode === undefined ? [] : [lineMode]),
    ...(model === undefined ? [] : [modelText(model)]),
    ...(tasks.length > 0
      ? [`${tasks.filter(({ isDone }) => isDone).length}/${tasks.length} tasks`]
      : []),
    ...(runningJobs > 0 ? [count(runningJobs, "job")] : []),
    ...(tokens.used > 0 ? [tokenShare(tokens)] : []),
    ...(cost === undefined ? [] : [dollars(cost)]),
  ];
  const modes = [
    ...(approvesAll && mode?.approve !== "plan" ? ["--yes"] : mode ? [mode.approve] : []),
    ...(mode?.isConfined ? ["sandboxed"] : []),
  ];
  // The mode is always shown, as it decides what runs unasked: the folder gives way first, then the tokens.
  const widthOf = (some: readonly string[]) => displayWidth(some.join(" · "));
  const room = columns - widthOf([...parts, "", ...modes]);
  const most = Math.min(room, Math.max(MIN_FOLDER, columns >> 1));
  const folder = oneLine(shortFolder(status.folder, most, home));
  if (most >= MIN_FOLDER) return [...parts, folder, ...modes].join(" · ");
  while (parts.length > 1 && widthOf([...parts, ...modes]) > columns) parts.pop();
  return [...parts, ...modes].join(" · ");
}

/** The least columns in which a folder's end says something. */
const MIN_FOLDER = 12;

/** A model's name; of a file, as llama.cpp names models, the last part of its path. */
export function modelText(model: string): string {
  return oneLine(model.replace(/^.*[/\\](?=[^/\\]+\.gguf$)/i, ""));
}

function tokenShare({ used, isCounted, window }: Status["tokens"]): string {
  const share = window ? ` (${Math.round(100 * used / window)}% of ${thousands(window)})` : "";
  return `context ${isCounted ? "" : "~"}${thousands(used)}${share}`;
}

/** The end of `folder` that fits into `width`, with `~` for the home folder. */
function shortFolder(folder: string, width: number, home: string | undefined): string {
  const isBelow = home && `${folder}/`.startsWith(`${home}/`);
  const short = isBelow ? `~${folder.slice(home.length)}` : folder;
  return short.length > width ? `…${short.slice(1 - width).toWellFormed()}` : short;
}
