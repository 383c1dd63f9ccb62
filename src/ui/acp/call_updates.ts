/** Tool calls in the shapes of the Agent Client Protocol. @module */

import type { Approval } from "../../safety/approval.ts";
import { join, resolve } from "../../text/std_path.ts";
import type { ToolExecution } from "../../types/event.ts";
import type { Change, ChangeLine, Subject } from "../../types/tool.ts";
import {
  askedText,
  type CallFacts,
  type CallKind,
  callText,
  kindOf,
  runningText,
  wholeText,
} from "../call_text.ts";
import { limitOfCall } from "../progress.ts";
import { shortened } from "../../text/one_line.ts";
import { sanitize } from "../../text/sanitize.ts";
import type { ContentBlock } from "./content.ts";

/** The maximum length of the title of a question. */
const MAX_QUESTION_CHARS = 300;

type CallContent =
  | { type: "content"; content: ContentBlock }
  | { type: "diff"; path: string; oldText: string | null; newText: string };

export interface CallUpdate {
  toolCallId: string;
  title?: string;
  kind?: CallKind;
  status?: "pending" | "in_progress" | "completed" | "failed";
  content?: CallContent[];
  locations?: { path: string; line?: number }[];
  rawInput?: unknown;
  rawOutput?: unknown;
}

export function begunCall(
  call: CallFacts & { id: string },
  folder: string,
  status: "pending" | "in_progress",
): CallUpdate {
  return {
    toolCallId: call.id,
    title: runningText(call),
    kind: kindOf(call.subject),
    status,
    locations: locationsOf(call.subject, folder),
    rawInput: call.arguments,
  };
}

export function askedCall(approval: Approval, folder: string): CallUpdate {
  const { call, subject, preview, previews = preview ? [preview] : [] } = approval;
  // Rows that are no lines of files name all files, also those without a line to show.
  const files = approval.previews &&
    preview?.lines?.filter(({ kind, line }) => kind === " " && !line);
  const called = { id: call.id, toolName: call.name, arguments: call.arguments, subject };
  const whole = wholeText(called);
  const title = shortened(askedText(called), MAX_QUESTION_CHARS);
  // A title is one line, and editors may show nothing else of a call.
  const isInTitle = whole === "" || title.endsWith(` ${whole}`);
  return {
    ...begunCall(called, folder, "pending"),
    title,
    content: [
      ...files ? [printedText(files.map(({ text }) => text).join("\n"))] : [],
      ...previews.flatMap((one) => diffsOf(one, folder)),
      ...isInTitle ? [] : [printedText(sanitize(whole))],
    ],
  };
}

export function endedCall(exec: ToolExecution, folder: string): CallUpdate {
  const { toolCallId, outcome, details, subject, result } = exec;
  const { verb, object, counts, ending } = callText(exec);
  const done = `${verb} ${object}`.trimEnd();
  const diffs = details?.change ? diffsOf(details.change, folder) : [];
  const text = details?.output === undefined
    ? result
    : [details.output.stdout, details.output.stderr].filter(Boolean).join("\n");
  const isShown = diffs.length === 0 || outcome !== "done";
  const content: CallContent = details?.output !== undefined && !exec.isError
    ? printedText(text)
    : textContent(exec.isError ? result : text);
  const limit = limitOfCall(exec);
  const changed = details?.change?.lines?.find(({ kind, line }) => kind !== " " && line);
  return {
    toolCallId,
    title: [done, counts, ending].filter((part) => part !== "").join(" · "),
    kind: kindOf(subject),
    status: outcome === "done" ? "completed" : "failed",
    content: [
      ...diffs,
      ...isShown ? [content] : [],
      ...limit === undefined ? [] : [textContent(limit)],
    ],
    locations: locationsOf(subject, folder, details?.range?.first ?? changed?.line),
    rawOutput: {
      outcome,
      // Harnesses read the call's text from this name.
      output: result,
      ...details?.exitCode !== undefined && { exitCode: details.exitCode },
    },
  };
}

const textContent = (text: string): CallContent => ({
  type: "content",
  content: { type: "text", text },
});

/** Puts a program's output into a Markdown fence longer than any fence in it. */
export function printedText(text: string): CallContent {
  if (text === "") return textContent(text);
  const ticks = (text.match(/^ *`{3,}/gm) ?? []).map((fence) => fence.trim().length);
  const fence = "`".repeat(Math.max(2, ...ticks) + 1);
  return textContent(`${fence}\n${text}\n${fence}`);
}

function locationsOf(subject: Subject | undefined, folder: string, line?: number) {
  if (subject?.path === undefined) return [];
  return [{ path: resolve(folder, subject.path), ...line !== undefined && { line } }];
}

/** One block for each run of adjacent lines; empty if the lines are not shown. */
function diffsOf({ path, isNew, lines = [] }: Change, folder: string): CallContent[] {
  const at = sanitize(join(resolve(folder, path)));
  return hunksOf(lines).map((hunk) => ({
    type: "diff",
    path: at,
    oldText: isNew ? null : diffText(hunk, "-"),
    newText: diffText(hunk, "+"),
  }));
}

function hunksOf(lines: readonly ChangeLine[]): ChangeLine[][] {
  const found: ChangeLine[][] = [];
  let last: number | undefined;
  for (const line of lines) {
    const number = line.kind === "-" ? undefined : line.line;
    const isApart = number !== undefined && last !== undefined && number > last + 1;
    if (found.length === 0 || isApart) found.push([]);
    found.at(-1)!.push(line);
    last = number ?? last;
  }
  return found;
}

const diffText = (lines: readonly ChangeLine[], kind: "+" | "-"): string =>
  lines.filter((line) => line.kind === " " || line.kind === kind).map(({ text }) => `${text}\n`)
    .join("");
