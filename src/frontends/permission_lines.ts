/** Permissions and instructions as lines of text: what a session says about them. @module */

import type { Confirmation } from "../session/frontend.ts";
import type { HeededInstructions, PermissionReport } from "../session/report.ts";
import { count } from "../text/count.ts";
import { oneLine } from "../text/one_line.ts";

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

function fileNames(files: Confirmation["files"]): string {
  return files.map(({ name, lines }) => `${oneLine(name)} (${count(lines, "line")})`).join(", ");
}
