/** The status line below the input. @module */

import type { Status } from "../../../session/frontend.ts";
import { count, dollars, thousands } from "../../../text/count.ts";
import { oneLine, shortened } from "../../../text/one_line.ts";
import { displayWidth } from "../../../text/width.ts";
import { ADDED, ASKED, DIM, type Painter, REMOVED } from "../style.ts";

const LEFT_PARTS = ["model", "mode", "folder"] as const;
const RIGHT_PARTS = ["until", "tasks", "jobs", "cost", "context", "speed", "branch"] as const;
/** What `"status"` in config.json may name. */
export const STATUS_PARTS = [...LEFT_PARTS, ...RIGHT_PARTS] as const;
export type StatusPart = typeof STATUS_PARTS[number];
const DEFAULT_PARTS: readonly StatusPart[] = STATUS_PARTS.filter((part) => part !== "folder");

interface FooterLook {
  paint?: Painter;
  parts?: readonly StatusPart[] | undefined;
  lineMode?: string | undefined;
  home?: string | undefined;
}

/** Formats the line, such as `qwen3:8b · auto · sandboxed        ctx ▮▮▯▯▯ 38 % · 45 tok/s · main`. */
export function footerText(
  status: Status,
  columns: number,
  { paint = (text) => text, parts = DEFAULT_PARTS, lineMode, home }: FooterLook = {},
): string {
  const { model, tasks, runningJobs, tokens, cost, speed, branch, check } = status;
  const done = tasks.filter(({ isDone }) => isDone).length;
  const all: Record<StatusPart, string> = {
    model: model === undefined ? "" : modelText(model),
    mode: modeWords(status),
    folder: "",
    until: check === undefined ? "" : untilText(check),
    tasks: tasks.length === 0 ? "" : `${done} of ${tasks.length} done`,
    jobs: runningJobs === 0 ? "" : count(runningJobs, "job"),
    cost: cost === undefined ? "" : dollars(cost),
    context: fullText(tokens),
    speed: speed === undefined ? "" : `${Math.round(speed)} tok/s`,
    // The first rows of a session show it.
    branch: tokens.used > 0 && branch || "",
  };
  // The mode is always shown, because it decides what runs without asking.
  for (const part of STATUS_PARTS) if (part !== "mode" && !parts.includes(part)) all[part] = "";
  const left = () => [lineMode, ...LEFT_PARTS.map((part) => all[part])].filter(Boolean).join(DOT);
  const right = () => RIGHT_PARTS.filter((part) => all[part] !== "");
  const rightText = () => right().map((part) => all[part]).join(DOT);
  const room = () => {
    const end = displayWidth(rightText());
    return columns - displayWidth(left()) - (end && end + MIN_GAP);
  };
  const until = check && all.until ? `until ${check.round}/${check.rounds}` : "";
  // Beside the rounds of a check, a percentage alone would read as its progress.
  const short = parts.includes("context") ? fullText(tokens, check ? "ctx " : "") : "";
  const most = Math.min(room() - DOT.length, Math.max(MIN_FOLDER, columns >> 1));
  if (parts.includes("folder") && most >= MIN_FOLDER) {
    all.folder = shortFolder(status.folder, most, home);
  }
  // The least useful parts are dropped first.
  const shorter: Partial<Record<StatusPart, string>>[] = [
    ...[{ cost: "" }, { speed: "" }, { branch: "" }, { context: short }],
    ...[{ until }, { jobs: "" }, { tasks: all.tasks.replace(" of ", "/") }, { tasks: "" }, {
      context: "",
    }, { until: "" }],
  ];
  for (const change of shorter) if (room() < 0) Object.assign(all, change);
  if (room() < 0) all.model = shortened(all.model, Math.max(MIN_NAME, all.model.length + room()));
  const end = right().map((part) => paint(all[part], part === "context" ? filled(tokens) : DIM));
  const gap = end.length === 0 ? "" : " ".repeat(room() + MIN_GAP);
  return paint(left() + gap, DIM) + end.join(paint(DOT, DIM));
}

const DOT = " · ";
const MIN_GAP = 2;
export const MIN_FOLDER = 12;
const MIN_NAME = 8;
const MAX_CHECK = 24;
const BAR_CELLS = 5;
const NEAR_FULL = 0.6;
const FULL = 0.85;

function modeWords({ approvesAll, mode }: Status): string {
  return [
    approvesAll && mode?.approve !== "plan" ? "--yes" : mode?.approve,
    mode?.isSandboxed === false && "NO SANDBOX",
    mode?.isSandboxed && (mode.isReadOnly ? "read-only" : "sandboxed"),
    mode?.hasNetwork && "network",
  ].filter(Boolean).join(DOT);
}

/** Formats a check, such as `until npm test · round 2/5`. */
function untilText({ command, round, rounds }: NonNullable<Status["check"]>): string {
  const name = `until ${shortened(oneLine(command), MAX_CHECK)}`;
  return round === 0 ? name : `${name}${DOT}round ${round}/${rounds}`;
}

function filled({ used, window }: Status["tokens"]) {
  if (!window) return DIM;
  return used > FULL * window ? REMOVED : used > NEAR_FULL * window ? ASKED : ADDED;
}

/**
 * Formats the tokens of the context, such as `ctx ▮▮▯▯▯ 38 %`, or with a `name` without the bar; without a known window,
 * their number.
 */
function fullText({ used, isCounted, window }: Status["tokens"], name?: string): string {
  if (used === 0) return "";
  const about = isCounted ? "" : "~";
  if (!window) return `ctx ${about}${thousands(used)}`;
  const percent = `${about}${Math.round(100 * used / window)} %`;
  if (name !== undefined) return `${name}${percent}`;
  const full = Math.min(BAR_CELLS, Math.ceil(BAR_CELLS * used / window));
  return `ctx ${"▮".repeat(full)}${"▯".repeat(BAR_CELLS - full)} ${percent}`;
}

/** Returns a model's name. For a file, as llama.cpp names models, it is the last part of the path. */
export function modelText(model: string): string {
  return oneLine(model.replace(/^.*[/\\](?=[^/\\]+\.gguf$)/i, ""));
}

/** Returns the end of `folder` that fits into `width`, with `~` for the home folder. */
export function shortFolder(folder: string, width: number, home = Deno.env.get("HOME")): string {
  const isBelow = home && `${folder}/`.startsWith(`${home}/`);
  const short = oneLine(isBelow ? `~${folder.slice(home.length)}` : folder);
  return short.length > width ? `…${short.slice(1 - width).toWellFormed()}` : short;
}
