/** Describes a call in words: verb, object, counts and outcome. @module */

import { ownResult } from "../agent/run_tools.ts";
import { count, thousands } from "../text/count.ts";
import { oneLine, shortened } from "../text/one_line.ts";
import { sanitize } from "../text/sanitize.ts";
import { WRITTEN_ARGUMENTS } from "../tools/definition.ts";
import type { ToolExecution } from "../types/event.ts";
import type { CallAction, Change, ChangeLine, Subject, ToolOutcome } from "../types/tool.ts";

/** The kinds of calls in the Agent Client Protocol (`ToolKind`). */
export type CallKind = "read" | "edit" | "search" | "execute" | "fetch" | "think" | "other";

interface ActionWords {
  /** The verbs of a call that did not run, that ran, and that is running. */
  verbs: readonly [string, string, string];
  kind: CallKind;
}

const ACTION_WORDS: Readonly<Record<CallAction | "call", ActionWords>> = {
  read: { verbs: ["Read", "Read", "Reading"], kind: "read" },
  list: { verbs: ["List", "Listed", "Listing"], kind: "search" },
  find: { verbs: ["Find", "Found", "Finding"], kind: "search" },
  search: { verbs: ["Search", "Found", "Searching"], kind: "search" },
  run: { verbs: ["Run", "Ran", "Running"], kind: "execute" },
  start: { verbs: ["Start", "Started", "Starting"], kind: "execute" },
  check: { verbs: ["Check", "Checked", "Checking"], kind: "execute" },
  edit: { verbs: ["Edit", "Edited", "Editing"], kind: "edit" },
  write: { verbs: ["Write", "Wrote", "Writing"], kind: "edit" },
  explore: { verbs: ["Explore", "Explored", "Exploring"], kind: "search" },
  plan: { verbs: ["Plan", "Plan", "Planning"], kind: "think" },
  fetch: { verbs: ["Fetch", "Fetched", "Fetching"], kind: "fetch" },
  call: { verbs: ["Call", "Called", "Calling"], kind: "other" },
};

const MAX_CALL_CHARS = 100;
const MAX_OBJECT_CHARS = 200;
const MAX_REASON_CHARS = 300;
const LONG_CALL_MS = 1000;

/** A finished call, in words that are safe to print. */
export interface CallText {
  verb: string;
  object: string;
  /** The amount that the call found or did, such as `26 lines`; empty if unknown. */
  counts: string;
  added: number;
  removed: number;
  /** The outcome, such as `failed · exit 1 · 0.2 s`; empty for a quick success. */
  ending: string;
  /** Why it was refused or failed, in one line; empty if `ending` says everything. */
  reason: string;
  mood: "good" | "bad" | "refused";
  isRead: boolean;
}

export type CallFacts = Pick<ToolExecution, "toolName" | "arguments" | "subject">;

export function runningText(call: CallFacts): string {
  const { verb, object } = runningParts(call);
  return `${verb} ${object}`.trimEnd();
}

export function runningParts(call: CallFacts): Pick<CallText, "verb" | "object" | "isRead"> {
  const { verbs } = actionWords(call.subject);
  return { verb: verbs[2], object: objectText(call), isRead: isReadCall(call.subject) };
}

/** Describes a call that the user is asked about, such as `Read src/a.ts`, in one line. */
export function askedText({ toolName, subject }: CallFacts): string {
  const object = subject?.action === undefined ? toolName : subjectText(subject);
  return `${actionWords(subject).verbs[0]} ${oneLine(object)}`;
}

/** Returns all of what a call does: a command with its lines, or the arguments of another program's tool. */
export function wholeText({ arguments: args, subject }: CallFacts): string {
  if (subject?.action !== undefined) return subjectText(subject);
  return Object.keys(args).length > 0 ? JSON.stringify(args, null, 2) : "";
}

export function callText(exec: ToolExecution): CallText {
  const { outcome, refusal, details = {}, subject } = exec;
  const hasRun = outcome === "done" || outcome === "stopped";
  const isBad = outcome === "failed" || failedExitCode(exec) !== undefined;
  const reason = outcome === "failed" ? failureOf(exec) : refusal ?? "";
  return {
    verb: actionWords(subject).verbs[hasRun ? 1 : 0],
    // A list of steps has no object of its own: show the current step.
    object: objectText(exec) || oneLine(details.tasks?.find(({ isDone }) => !isDone)?.text ?? ""),
    counts: outcome === "done" ? countsText(details) : "",
    added: changedLines(details.change, "+"),
    removed: changedLines(details.change, "-"),
    ending: endingText(exec),
    reason: shortened(oneLine(reason), MAX_REASON_CHARS),
    mood: isBad ? "bad" : outcome === "done" ? "good" : "refused",
    isRead: outcome === "done" && isReadCall(subject),
  };
}

/** True for a call that only reads. Consecutive ones share one row. */
const isReadCall = (subject: Subject | undefined) =>
  /^(?:read|list|find|search)$/.test(subject?.action ?? "");

function actionWords(subject: Subject | undefined): ActionWords {
  const { action = "call" } = subject ?? {};
  // The session file may have been edited by hand.
  return Object.hasOwn(ACTION_WORDS, action) ? ACTION_WORDS[action] : ACTION_WORDS.call;
}

/** Returns the kind of a call. It is unknown for tools of other programs, except those that take an address. */
export function kindOf(subject: Subject | undefined): CallKind {
  const { kind } = actionWords(subject);
  return kind === "other" && subject?.url !== undefined ? "fetch" : kind;
}

function objectText({ toolName, arguments: args, subject }: CallFacts): string {
  if (subject?.action === undefined) return describeCall(toolName, args);
  // A line of a command must not look like an argument of the previous one.
  const text = subjectText(subject).trim().replace(/\s*\n\s*/g, " ↵ ");
  return shortened(oneLine(text), MAX_OBJECT_CHARS);
}

function subjectText({ action, command, query, path, url, job, task, agent }: Subject): string {
  if (task !== undefined) return agent === undefined ? task : `${agent}: ${task}`;
  if (query !== undefined) {
    return path === undefined || path === "." ? query : `${query} in ${path}`;
  }
  if (job !== undefined) return `job ${job}`;
  return command ?? path ?? url ?? (action === "list" ? "." : "");
}

/** Describes a call in one line that is safe to print, such as `read_file src/a.ts limit=80`. */
function describeCall(name: string, args: Record<string, unknown>): string {
  const named = Object.entries(args).filter(([key]) => !WRITTEN_ARGUMENTS.includes(key));
  const values = named.map(([key, value], at) =>
    typeof value !== "string"
      ? `${key}=${JSON.stringify(value)}`
      : at === 0
      ? value
      : `${key}=${/\s/.test(value) ? JSON.stringify(value) : value}`
  );
  return shortened(oneLine(`${name} ${values.join(" ")}`), MAX_CALL_CHARS);
}

const NOUNS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  files: ["file", "files"],
  matches: ["match", "matches"],
  entries: ["entry", "entries"],
  characters: ["character", "characters"],
};

function countsText({ range, counts = {}, job, about }: Omit<ToolOutcome, "content">): string {
  if (about !== undefined) return oneLine(about);
  if (job !== undefined) return `job ${job}`;
  if (counts.calls !== undefined) {
    return `${count(counts.calls, "call")}, ${thousands(counts.tokens ?? 0)} tokens`;
  }
  if (counts.tasks !== undefined) return `${counts.done} of ${counts.tasks} done`;
  if (range !== undefined) {
    const { first, last, total, isExact } = range;
    if (first === 1 && last === total && isExact) return count(total, "line");
    return `lines ${first}–${last} of ${total}${isExact ? "" : "+"}`;
  }
  return Object.entries(counts).filter(([name]) => name in NOUNS).map(([name, n]) =>
    n === 0 ? `no ${NOUNS[name]![1]}` : count(n, ...NOUNS[name]!)
  ).slice(0, counts.matches === 0 ? 1 : undefined).join(" in ");
}

export const changedLines = (change: Partial<Change> = {}, kind: ChangeLine["kind"]): number =>
  change.lines?.filter((line) => line.kind === kind).length ?? 0;

function endingText(exec: ToolExecution): string {
  const { outcome, durationMs, details } = exec;
  const seconds = `${(durationMs / 1000).toFixed(1)} s`;
  const code = failedExitCode(exec);
  if (details?.isTimedOut) return `timed out · ${seconds}`;
  if (code !== undefined) return `failed · exit ${code} · ${seconds}`;
  return {
    done: durationMs > LONG_CALL_MS ? seconds : "",
    stopped: `stopped · ${seconds}`,
    refused: "refused",
    not_run: "not run",
    failed: "failed",
  }[outcome];
}

/** Returns why a call failed, without its first words, which its row has, and without the advice to the model. */
function failureOf(exec: ToolExecution): string {
  const line = ownResult(exec).split("\n", 1)[0]!;
  const [, reason = line] = /^Cannot .*? as (.+?)(?:[:.](?: .*)?)?$/.exec(line) ?? [];
  return reason.replace(/\b(old|new)_string\b/g, "the $1 text");
}

/** Returns what the model read behind the result of an edit, such as the errors that a check found. */
export const noteBehind = ({ result }: ToolExecution): string =>
  /(?<=\n\n)\[[^]*/.exec(result)?.[0] ?? "";

function failedExitCode({ outcome, details }: ToolExecution): number | undefined {
  return outcome === "done" && details?.exitCode !== 0 ? details?.exitCode : undefined;
}

/** The maximum number of output lines shown, and their maximum length in characters. */
const MAX_INFORMATIVE_LINES = 5;
const MAX_INFORMATIVE_CHARS = 2000;
const FAILURE =
  /\b(?:error|errors|fail|fails|failed|failure|failures|fatal|panic|panicked|exception|expected|undefined|denied|cannot|unable)\b|not found|(?:Error|Exception)\b/i;

/** Returns the most informative lines of a command's output, safe to print, and between them how many are missing. */
export function informativeLines(exec: ToolExecution): (string | number)[] {
  const { stdout = "", stderr = "" } = exec.details?.output ?? {};
  const printed = `${stdout}\n${stderr}`.split("\n").filter((line) => line.trim() !== "");
  // A row of dashes, or of one sign per test, has no information.
  const said = printed.filter((line) => /[\p{L}\p{N}]/u.test(line) && !/^[.FEsx]+$/.test(line));
  const all = said.length > 0 ? said : printed;
  const places = [...all.keys()];
  const isBad = failedExitCode(exec) !== undefined;
  const loud = isBad ? places.filter((at) => FAILURE.test(all[at]!)) : [];
  const kept = new Set(
    [...new Set([...places.slice(-1), ...fromBothEnds(loud), ...fromBothEnds(places)])]
      .slice(0, MAX_INFORMATIVE_LINES),
  );
  const lines: (string | number)[] = [];
  for (const [at, line] of all.entries()) {
    // A single line takes no more rows than its number.
    const isAlone = [at - 1, at + 1].every((one) => all[one] === undefined || kept.has(one));
    if (kept.has(at) || isAlone) lines.push(sanitize(line.slice(0, MAX_INFORMATIVE_CHARS)));
    else if (typeof lines.at(-1) === "number") lines.push(Number(lines.pop()) + 1);
    else lines.push(1);
  }
  return lines;
}

/** Yields the last index, the first, the second to last and so on. */
function fromBothEnds(places: readonly number[]): number[] {
  return places.slice(0, MAX_INFORMATIVE_LINES).flatMap((place, n) => [places.at(-1 - n)!, place]);
}
