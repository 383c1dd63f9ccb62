/** Permissions, instructions and earlier sessions as lines of text. @module */

import type { ModelUsed } from "../records/format.ts";
import type { Confirmation } from "../session/frontend.ts";
import type { Resumed, SessionTitle } from "../session/record.ts";
import type { HeededInstructions, PermissionReport } from "../session/report.ts";
import { count } from "../text/count.ts";
import { oneLine, shortened } from "../text/one_line.ts";

/** The rows of `/permissions`, each with its label. */
export function permissionReportLines(report: PermissionReport): string[] {
  const { approve, yes, env, rules, file, trust } = report;
  return [
    `approve  ${yes ? "--yes: nothing is asked" : approve}`,
    `sandbox  ${sandboxText(report)}`,
    ...env.length > 0 ? [`env      ${env.join(", ")}`] : [],
    ...rules.map(({ effect, text }) => `${effect.padEnd(8)} ${oneLine(text)}`),
    ...file === undefined ? [] : [`yours in ${oneLine(file)}`],
    ...trust === undefined
      ? []
      : [`${trust ? "heeded " : "ignored"}  what this folder instructs the model (/trust)`],
  ];
}

function sandboxText({ mode, by, why, network }: PermissionReport): string {
  if (mode === "off") return "off: a command can do what you can";
  if (by === undefined) return `${mode}, but ${why}: commands are refused`;
  return `${mode}, by ${by}, ${network ? "with" : "without"} network`;
}

/** The lines that say which of a folder's instructions are heeded. */
export function instructionLines(
  { files, refused, isHeeded, unsaved }: HeededInstructions,
): string[] {
  const names = fileNames(files);
  const lines = refused.map(({ name, reason }) => {
    const where = reason === "secret" ? "to what is secret" : "out of the folder";
    return `· ${oneLine(name)} leads ${where}, and is not heeded`;
  });
  if (unsaved !== undefined) lines.push(`· that cannot be kept: ${oneLine(unsaved)}`);
  if (files.length === 0 || isHeeded === false) return lines;
  return [
    ...lines,
    isHeeded ? `· heeds ${names}` : `· not heeded: ${names} (/trust or --trust does)`,
  ];
}

/** The question whether the instructions of a folder are heeded: its text, and the prompt below. */
export function trustQuestion({ files }: Confirmation): { text: string; prompt: string } {
  const text = "This folder brings instructions for the model, in the words of whoever wrote them:";
  return { text: `${text} ${fileNames(files)}.`, prompt: "Heed them? [y/n] " };
}

const fileNames = (files: Confirmation["files"]) =>
  files.map(({ name, lines }) => `${oneLine(name)} (${count(lines, "line")})`).join(", ");

/** The most characters shown of a title, of the last prompt, of its answer. */
const SHOWN_TITLE_CHARS = 60;
const SHOWN_TYPED_CHARS = 200;
const SHOWN_ANSWER_CHARS = 300;

/** The lines about the session that goes on, if there is one; `dim` styles its last exchange. */
export function resumedLines(
  resumed: Resumed | undefined,
  dim: (text: string) => string = (text) => text,
): string[] {
  if (!resumed) return ["There is no earlier session of this folder."];
  const { started, messages, lostLines, lastTyped, lastAnswer, openCalls, model } = resumed;
  const unread = lostLines > 0 ? `; ${count(lostLines, "line")} could not be read` : "";
  const said = [
    ...lastTyped === undefined ? [] : [`> ${excerptLine(lastTyped, SHOWN_TYPED_CHARS)}`],
    ...lastAnswer === undefined ? [] : [excerptLine(lastAnswer, SHOWN_ANSWER_CHARS)],
  ];
  return [
    `Goes on from ${minuteOf(started)}: ${count(messages, "message")}${unread}`,
    ...said.map((text) => `  ${dim(text)}`),
    ...openCalls === undefined ? [] : [`The last turn was cut off: ${openCallsText(openCalls)}.`],
    ...model ? [modelLine(model)] : [],
  ];
}

function openCallsText(openCalls: number): string {
  if (openCalls === 0) return "before the answer";
  return `its open ${openCalls === 1 ? "call is" : "calls are"} answered as interrupted`;
}

function modelLine({ before, now, isTakenUp }: NonNullable<Resumed["model"]>): string {
  if (isTakenUp) return `With ${oneLine(before.model)}, as before (/model).`;
  const at = ({ model, server }: ModelUsed) => `${oneLine(model)} at ${oneLine(server)}`;
  return `It was with ${at(before)}, and is with ${at(now)} now.`;
}

/** A session in one line: when it began, and with what. */
export function sessionLine({ started, title }: SessionTitle): string {
  return `${minuteOf(started)}  ${excerptLine(title, SHOWN_TITLE_CHARS)}`;
}

const excerptLine = (text: string, maxChars: number) => shortened(oneLine(text), maxChars);
const minuteOf = (started: string) => oneLine(started.slice(0, 16).replace("T", " "));
