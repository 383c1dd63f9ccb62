/** Questions about trust, MCP servers and hooks, and the end of a session, as lines of text. @module */

import type { HooksQuestion, ServerQuestion, TrustQuestion } from "../session/frontend.ts";
import { hookText } from "../session/hooks/hook_text.ts";
import { fileNames } from "../session/instruction_lines.ts";
import type { RecordFile } from "../session/record.ts";
import type { Painter } from "./terminal/style.ts";
import { count } from "../text/count.ts";
import { diffLines } from "../text/diff.ts";
import { oneLine } from "../text/one_line.ts";
import { sanitize } from "../text/sanitize.ts";
import { rowsOf } from "../text/width.ts";
import { changeRows } from "./change.ts";

const TRUST_TEXTS = {
  first: "This folder has instructions for the model:",
  content: "This folder's instructions for the model have changed since you trusted them:",
  folder:
    "This is not the folder that you trusted at this path. It has instructions for the model:",
};

/** Returns everything that an approval of an MCP server covers: a row of JSON per part, or its changed tools. */
export function serverLines(
  { name, file, definition, variables, network, changes }: ServerQuestion,
): string[] {
  if (changes) return [`Tools of the MCP server ${sanitize(name)}:`, ...changes.flatMap(toolLines)];
  const parts = Object.entries(definition)
    .map(([key, value]) => `  ${key}: ${sanitize(JSON.stringify(value))}`);
  const where = file === undefined ? "" : ` of ${sanitize(file)}`;
  return [
    `The MCP server ${sanitize(name)}${where}:`,
    ...parts,
    ...variables.length === 0
      ? []
      : [`  It gets the values of ${variables.map(sanitize).join(", ")}.`],
    ...network === undefined
      ? []
      : [`  It runs ${network ? "with the network" : "without a network"}.`],
  ];
}

/** A tool that differs from the approved one, with the changed lines. */
function toolLines({ before, now }: NonNullable<ServerQuestion["changes"]>[number]): string[] {
  const text = (tool: unknown) => tool === undefined ? "" : `${JSON.stringify(tool, null, 2)}\n`;
  const lines = diffLines(text(before), text(now));
  return [
    `${before ? "Changed" : "New"}: ${sanitize(now.name)}`,
    ...lines.map(({ kind, text }) => `  ${kind} ${sanitize(text)}`),
  ];
}

/** Returns everything that an approval of a folder's hooks covers, one row each. */
export function hookLines({ file, hooks }: HooksQuestion): string[] {
  return [
    `Hooks in ${sanitize(file)}: programs that run without asking, in the sandbox:`,
    ...hooks.map((hook) => `  ${hookText(hook)} (at most ${hook.timeoutMs / 1000} s)`),
  ];
}

/** Asks whether to load a folder's instructions: the text, and the prompt below it. */
export function trustQuestion({ doubt, files }: TrustQuestion): { text: string; title: string } {
  const text = `${TRUST_TEXTS[doubt ?? "first"]} ${fileNames(files)}.`;
  return { text, title: "Use these instructions?" };
}

/** Returns the first lines of the files in a question about trust, as rows of at most `columns`. */
export function trustStartRows({ files }: Pick<TrustQuestion, "files">, columns: number): string[] {
  const shown = files.filter(({ text }) => text !== undefined);
  return shown.slice(0, MAX_STARTS).flatMap(({ name, text = "", lines }) => {
    const start = text.trim().split("\n", START_LINES);
    const rows = start.map((line) => {
      const [row = "", more] = rowsOf(sanitize(line), Math.max(10, columns - 6));
      return `  │ ${row}${more === undefined ? "" : "…"}`;
    });
    const rest = lines - start.length;
    return [
      `  ${oneLine(name)}:`,
      ...rows,
      ...rest > 0 ? [`  … ${count(rest, "more line")}`] : [],
    ];
  });
}

/** Returns the full text and the changes of the files in a question about trust, as rows of at most `columns`. */
export function trustWholeRows(question: TrustQuestion, columns: number, paint: Painter): string[] {
  return [
    ...trustChangeRows(question, columns, paint, true),
    ...question.files.flatMap(({ name, text }) => {
      if (text === undefined) return [];
      const rows = text.trimEnd().split("\n")
        .flatMap((line) => rowsOf(sanitize(line), Math.max(10, columns - 4), true));
      return [`  ${oneLine(name)}:`, ...rows.map((row) => `  │ ${row}`)];
    }),
  ];
}

/** The maximum number of files that a question shows, and of their first lines. */
const MAX_STARTS = 3;
const START_LINES = 8;

/** Returns the changed lines of the files in a question about trust, as rows of at most `columns`. */
export function trustChangeRows(
  { files }: TrustQuestion,
  columns: number,
  paint: Painter,
  isWhole = false,
): string[] {
  return files.flatMap(({ name, change }) => {
    // If only the final newline changed, no line did.
    if (!change?.lines?.length) return [];
    const { type, lines } = change;
    const drawn = { path: name, isNew: type === "added", lines, morePlaces: 0 };
    return [`  ${oneLine(name)}`, ...changeRows(drawn, columns, paint, isWhole)];
  });
}

/** Returns how to resume an exited session: the command, and the path of its file. */
export function farewellLines(
  command: string,
  { path, isBehind }: Pick<RecordFile, "path" | "isBehind">,
  home = Deno.env.get("HOME"),
): string[] {
  const what = isBehind
    ? "Recorded without the newest messages, which could not be saved"
    : "Recorded";
  const isBelow = home && path.startsWith(`${home}/`);
  return [
    `To continue: ${oneLine(command)}`,
    `${what}: ${oneLine(isBelow ? `~${path.slice(home.length)}` : path)}`,
  ];
}
