/** A question about a call in the terminal, and its typed answer. @module */

import type { Approval, ApprovalAnswer } from "../../../safety/approval.ts";
import type { Frontend, SessionEvent } from "../../../session/frontend.ts";
import { ALL_EDITS } from "../../../safety/call_policy.ts";
import type { Screen } from "../screen/screen.ts";
import { BOLD, DIM, type Painter, REMOVED } from "../style.ts";
import { lineCounts } from "./call_rows.ts";
import { count } from "../../../text/count.ts";
import { oneLine, shortened } from "../../../text/one_line.ts";
import { escapedBeyondAscii, sanitize } from "../../../text/sanitize.ts";
import { rowsOf } from "../../../text/width.ts";
import { wrapped } from "../../../text/wrap.ts";
import { WRITTEN_ARGUMENTS } from "../../../tools/definition.ts";
import { BACKGROUND_ARGUMENT } from "../../../tools/run_bash.ts";
import type { Subject } from "../../../types/tool.ts";
import {
  allowedBy,
  allowedInSession,
  answerRows,
  isInRow,
  questionNotes,
  refusalReason,
} from "../../answers.ts";
import { askedText, changedLines } from "../../call_text.ts";
import { changeRows, paintedRows } from "../../change.ts";

type AskLine = (text: string, ...question: Parameters<Screen["ask"]>) => Promise<string | null>;

type Choice = Approval["choices"][number];

/** The word for each choice. Its first letter is the key. */
const WORDS: Readonly<Record<Exclude<Choice, "refuse">, string>> = {
  once: "yes",
  session: "always",
  folder: "save",
  edit: "edit",
};

export const approvalKey = (choice: Choice): string =>
  choice === "refuse" ? "n" : WORDS[choice][0]!;

function wishOf({ call, subject, isFromUser }: Approval): string {
  if (isFromUser) return `Attach ${oneLine(subject.path ?? "")}`;
  if (subject.action === "run") return "Run this command";
  if (subject.action === "start") return "Start this command in the background";
  return askedText({ toolName: call.name, arguments: call.arguments, subject });
}

export function questionTitle(approval: Approval): string {
  const { preview } = approval;
  const [added, removed] = [changedLines(preview, "+"), changedLines(preview, "-")];
  const counts = added + removed > 0 ? ` (+${added} -${removed})` : "";
  return `${shortened(wishOf(approval), MAX_WISH_CHARS)}${counts}?`;
}

const MAX_WISH_CHARS = 100;

function wishRows(approval: Approval, columns: number, paint: Painter): string {
  const { preview, subAgent } = approval;
  const title = paintedRows(wishOf(approval), columns, BOLD, paint);
  const counts = lineCounts(changedLines(preview, "+"), changedLines(preview, "-"), paint);
  const who = `for the sub-agent ${oneLine(subAgent ?? "")}`;
  return `${title}${counts && `  ${counts}`}` +
    (subAgent === undefined ? "" : `\n${paintedRows(who, columns, DIM, paint)}`);
}

/** The question without UTF-8: other characters of a call are code points, which nothing can replace. */
export const asciiApproval = (approval: Approval): Approval => {
  const { call, subject, preview, networked, programs } = approval;
  // The ellipsis after a rule is ours, unless the rule has one.
  const rules = approval.rules?.map((one) =>
    one.rule.includes("…") ? one : { ...one, words: one.words.replace(/…$/, "...") }
  );
  const json = JSON.stringify({ call, subject, preview, rules, networked, programs });
  const escaped = (_: string, value: unknown) =>
    typeof value === "string" ? escapedBeyondAscii(value) : value;
  return { ...approval, ...JSON.parse(json, escaped) };
};

export function askUser(
  ask: AskLine,
  columns: () => number,
  paint: Painter = (text) => text,
  unicode = true,
): NonNullable<Frontend["approve"]> {
  return async (asked, signal) => {
    const approval = unicode ? asked : asciiApproval(asked);
    const keys = approval.choices.map(approvalKey);
    const objection = (line: string) => {
      if (answerOf(line, approval)) return undefined;
      if (/^\s*(\?|help)\s*$/i.test(line)) {
        return wrapped(answersHelp(approval, columns()), columns());
      }
      return wrapped(`  ${keys.join(", ")} or ? for help`, columns());
    };
    const shown = columns() < 30 ? "y/n" : keys.join("/");
    const prompt = `${questionTitle(approval)} [${shown}/?] `;
    const line = await ask(questionText(approval, columns(), paint), prompt, objection, signal);
    const answer = line === null ? undefined : answerOf(line, asked);
    if (answer?.choice !== "edit") return answer ?? { choice: "refuse", reason: "" };
    const how = { text: answer.command };
    const typed = await ask("", "command: ", () => undefined, signal, how);
    return typed?.trim() ? { choice: "edit", command: typed } : answer;
  };
}

/** Says what is not asked about again, and where that is saved. */
export function ruleAdded(
  { rule, words, path, error }: Extract<SessionEvent, { type: "rule_added" }>,
): string {
  const calls = rule === ALL_EDITS.rule ? words : `\`${oneLine(words)}\``;
  const where = path === undefined ? "in this session" : "in this folder";
  const saved = path === undefined ? "" : ` (saved in ${oneLine(path)})`;
  const why = error === undefined ? "" : `; it cannot be saved: ${oneLine(error)}`;
  return `· Won't ask again for ${calls} ${where}${saved}${why}`;
}

/** Parses a typed answer; undefined if it is invalid. An `edit` still has the original command. */
function answerOf(line: string, { choices, subject }: Approval): ApprovalAnswer | undefined {
  const given = line.trim().toLowerCase();
  // A line that starts with "no" is a no; the rest is its reason.
  if (given.startsWith("n")) {
    return { choice: "refuse", reason: refusalReason(line) };
  }
  const choice = choices.filter((one) => one !== "refuse")
    .find((one) => given === approvalKey(one) || given === WORDS[one]);
  if (choice === "edit") return { choice, command: subject.command ?? "" };
  return choice && { choice };
}

/** Returns the meaning of each answer, in the order of a list. */
export function answersHelp(approval: Approval, columns: number): string {
  const rules = oneLine((approval.rules ?? []).map(({ rule }) => rule).join(", "));
  const help: Readonly<Record<Choice, string>> = {
    once: approval.isFromUser
      ? "attach it"
      : approval.networked
      ? "yes, with network access, also for its later calls in this session"
      : "yes, this once",
    refuse: approval.isFromUser
      ? "do not attach it: the model only sees the name"
      : "no; the model reads what you write after it",
    session: `always: yes, and allow ${allowedInSession(approval)} in this session`,
    folder: `save: yes, and allow in this folder from now on: ${rules}`,
    edit: "edit the command first",
  };
  const listed: Choice[] = answerRows(approval, columns).map(({ choice }) => choice);
  if (approval.choices.includes("edit")) listed.push("edit");
  return wrapped(
    listed.map((choice) => `  ${approvalKey(choice)}  ${help[choice]}`).join("\n"),
    columns,
  );
}

/**
 * Returns the text above the answers: the call, why it is asked about, and what they allow unless their rows say
 * it.
 */
export function questionText(
  approval: Approval,
  columns: number,
  paint: Painter,
  isListed = false,
): string {
  const notes = questionNotes(approval).map(({ text, isCalm, isDanger }) =>
    isDanger
      ? paintedRows(`  ⚠ ${text}`, columns, REMOVED, paint)
      : paintedRows(`  ${text}`, columns, isCalm ? DIM : 0, paint)
  );
  const text = [requestText(approval, columns, paint), ...notes];
  if (approval.rules && !(isListed && isInRow(approval, columns))) {
    const [now, later] = [allowedInSession(approval), allowedBy(approval)];
    const saved = now === later ? "" : `${later} `;
    const allows = `  a allows ${now} in this session, s ${saved}in this folder from now on`;
    text.push(paintedRows(allows, columns, DIM, paint));
  }
  return text.join("\n");
}

/** Returns everything that would run: nothing is omitted, and control characters are made visible. */
export function requestText(
  approval: Approval,
  columns: number,
  paint: Painter = (text) => text,
): string {
  const { call, subject, preview, isFromUser } = approval;
  const title = wishRows(approval, columns, paint);
  if (isFromUser) return title;
  const isShown = preview?.lines !== undefined;
  const { action, path, query, url, task } = subject;
  const named = action === undefined ? [] : [path, query, url, task];
  const rows = Object.entries(call.arguments)
    .filter(([name, value]) =>
      !(isShown && WRITTEN_ARGUMENTS.includes(name)) &&
      !(typeof value === "string" && named.includes(value) && oneLine(value) === value)
    )
    .map(([name, value]) => fieldText(name, value, subject, columns));
  const isReplaced = action === "write" && !preview?.isNew && preview?.lines?.length !== 0;
  if (isShown && isReplaced) rows.push("  changes to the file:");
  if (isShown) rows.push(...changeRows(preview, columns, paint, true));
  if (preview?.replacedBytes !== undefined) {
    const size = count(preview.replacedBytes, "byte");
    rows.push(wrapped(`  this replaces a file of ${size}`, columns));
  }
  if (Object.values(call.arguments).some(hides)) {
    const careful = "  ⚠ Careful: it contains characters that hide or reorder text";
    rows.push(paintedRows(careful, columns, REMOVED, paint));
  }
  return [title, ...rows.length > 0 ? ["", ...rows] : []].join("\n");
}

function fieldText(name: string, value: unknown, subject: Subject, columns: number): string {
  if (name === BACKGROUND_ARGUMENT && value === true) return "  in the background (/jobs stops it)";
  const clean = sanitize(typeof value === "string" ? value : JSON.stringify(value));
  const isCommand = value === subject.command;
  const text = isCommand ? withBlanks(clean) : clean;
  const label = subject.action === undefined ? name : name.replaceAll("_", " ");
  const [row, more] = rowsOf(text, rowWidth(columns) - label.length);
  if (!isCommand && !text.includes("\n") && more === undefined) return `  ${label}: ${row}`;
  const lines = text.replace(/\n$/, "").split("\n");
  const size = `${count(lines.length, "line")}, ${count(clean.length, "character")}`;
  return `${isCommand ? "" : `  ${label} (${size}):\n`}${boxed(lines, columns)}`;
}

const rowWidth = (columns: number): number => Math.max(10, columns - 6);

/** Puts a bar before each row, so that no row looks like a question. Continuation rows have another bar. */
function boxed(lines: readonly string[], columns: number): string {
  return lines.flatMap((line) =>
    rowsOf(line, rowWidth(columns), true).map((row, n) => `  ${n === 0 ? "│" : "┆"} ${row}`)
  ).join("\n");
}

/** True if some characters of a value are shown as code points. */
function hides(value: unknown): boolean {
  const text = String(value).replaceAll("\r\n", "\n");
  return sanitize(text) !== text;
}

/** Shows white space that matters to a shell: tabs, and spaces between a backslash and the end of its line. */
function withBlanks(command: string): string {
  return command.replace(/(?<! ) +$/gm, (blanks) => "␠".repeat(blanks.length))
    .replaceAll("\t", "␉   ");
}
