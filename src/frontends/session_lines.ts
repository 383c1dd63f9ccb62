/** Permissions, instructions and earlier sessions as lines of text. @module */

import { changeRows } from "./change.ts";
import type { ModelUsed } from "../records/format.ts";
import type { HooksQuestion, ServerQuestion, TrustQuestion } from "../session/frontend.ts";
import type { RecordFile, Resumed, SessionTitle } from "../session/record.ts";
import type { HeededInstructions, McpState, PermissionReport } from "../session/report.ts";
import { aboutSeconds, ago, count, thousands } from "../text/count.ts";
import { diffLines } from "../text/diff.ts";
import type { Painter } from "../terminal/style.ts";
import { rowsOf } from "../text/width.ts";
import { oneLine, shortened } from "../text/one_line.ts";
import { sanitize } from "../text/sanitize.ts";
import { modelNaming, serverNaming, type Way } from "./hint_text.ts";

/** The rows of `/permissions`, each with its label. */
export function permissionReportLines(report: PermissionReport): string[] {
  const { approve, yes, env, networked, rules, hooks = [], file, trust } = report;
  return [
    `approve  ${yes ? "--yes: nothing is asked" : approve}`,
    `sandbox  ${sandboxText(report)}`,
    ...env.length > 0 ? [`env      ${env.join(", ")}`] : [],
    ...networked.length > 0
      ? [`network  in this session for ${oneLine(networked.join(", "))}`]
      : [],
    ...rules.map(({ effect, text, isOfSession, isConfined }) =>
      `${effect.padEnd(8)} ${oneLine(text)} · ${isOfSession ? "this session" : "saved"}${
        isConfined ? ", for the sandbox" : ""
      }`
    ),
    ...hooks.map((hook) => `hook     ${hookText(hook)}`),
    ...file === undefined ? [] : [`file     ${oneLine(file)}`],
    ...trust === undefined
      ? []
      : [`folder   its instructions are ${trust ? "used" : "not used"} (/trust)`],
  ];
}

function sandboxText({ mode, by, why, network }: PermissionReport): string {
  if (mode === "off") return "off: a command can do what you can";
  if (by === undefined) return `${mode}, but ${why}: commands are refused`;
  return `${mode}, by ${by}, ${network ? "with" : "without"} network`;
}

/** The lines that say which of a folder's instructions are heeded. */
export function instructionLines(
  { files, refused, isHeeded, doubt, unsaved }: HeededInstructions,
  way: Way,
): string[] {
  const lines = refused.map(({ name, reason }) => {
    const where = reason === "secret" ? "to a secret file" : "out of the folder";
    return `· ${oneLine(name)} is not used: it leads ${where}`;
  });
  if (unsaved !== undefined) lines.push(`· your answer cannot be saved: ${oneLine(unsaved)}`);
  if (isHeeded === false) return lines;
  const heeded = files.filter((file) => file.isHeeded);
  const others = files.filter((file) => !file.isHeeded);
  if (heeded.length > 0) lines.push(`· using ${fileNames(heeded)}`);
  if (others.length > 0) {
    const why = doubt === "folder" ? ", as this is not the folder that you trusted" : "";
    const how = way === "flags" ? "--trust" : "/trust";
    lines.push(`· not used${why}: ${fileNames(others)} (${how} uses it)`);
  }
  return lines;
}

const TRUST_TEXTS = {
  first: "This folder has instructions for the model:",
  content: "This folder's instructions for the model have changed since you trusted them:",
  folder:
    "This is not the folder that you trusted at this path. It has instructions for the model:",
};

/** All that an approval of an MCP server is about: a row of JSON for each part, or its tools that changed. */
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

/** A tool that is not as it was approved, with the lines that changed. */
function toolLines({ before, now }: NonNullable<ServerQuestion["changes"]>[number]): string[] {
  const text = (tool: unknown) => tool === undefined ? "" : `${JSON.stringify(tool, null, 2)}\n`;
  const lines = diffLines(text(before), text(now));
  return [
    `${before ? "Changed" : "New"}: ${sanitize(now.name)}`,
    ...lines.map(({ kind, text }) => `  ${kind} ${sanitize(text)}`),
  ];
}

/**
 * An MCP server in one line: `github: 12 tools, about 3400 tokens if all were shown · running`. `command`
 * is the one that approves.
 */
export function mcpRow(server: McpState, command: "/mcp" | "copilot mcp"): string {
  const { name, standing, isRunning, problem, tools, tokens, changed } = server;
  const approve = `${command} approve ${oneLine(name)}`;
  const states: Readonly<Record<typeof standing, string>> = {
    ready: tools === undefined
      ? "its tools are not known yet"
      : `${count(tools, "tool")}, about ${tokens} tokens if all were shown`,
    pending: `not approved: ${approve}`,
    declined: `not approved: ${approve}`,
    disabled: "turned off",
    broken: "cannot be used",
  };
  const names = changed.slice(0, 10).map(oneLine).join(", ");
  const waits = names && ` · changed, and not offered: ${names} (${approve})`;
  const why = problem === undefined ? "" : ` · ${oneLine(problem)}`;
  return `${oneLine(name)}: ${states[standing]}${isRunning ? " · running" : ""}${why}${waits}`;
}

/** All that an approval of a folder's hooks is about, a row for each. */
export function hookLines({ file, hooks }: HooksQuestion): string[] {
  return [
    `Hooks in ${sanitize(file)}: programs that run without asking, in the sandbox:`,
    ...hooks.map((hook) => `  ${hookText(hook)} (at most ${hook.timeoutMs / 1000} s)`),
  ];
}

/** When a hook runs, and its command. */
function hookText(
  { event, matcher, command }: NonNullable<PermissionReport["hooks"]>[number],
): string {
  const on = matcher === undefined ? event : `${event} ${sanitize(matcher)}`;
  return `${on}: ${sanitize(command)}`;
}

/** The question whether the instructions of a folder are heeded: its text, and the prompt below. */
export function trustQuestion({ doubt, files }: TrustQuestion): { text: string; title: string } {
  const text = `${TRUST_TEXTS[doubt ?? "first"]} ${fileNames(files)}.`;
  return { text, title: "Use these instructions?" };
}

/** The first lines of the files that a question about trust names, as rows of at most `columns`. */
export function trustStartRows({ files }: Pick<TrustQuestion, "files">, columns: number): string[] {
  const shown = files.filter(({ start }) => start !== undefined).slice(0, MAX_STARTS);
  return shown.flatMap(({ name, start = [], lines }) => {
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

/** The most files whose first lines a question shows. */
const MAX_STARTS = 3;

/** The changed lines of the files that a question about trust names, as rows of at most `columns`. */
export function trustChangeRows(
  { files }: TrustQuestion,
  columns: number,
  paint: Painter,
): string[] {
  return files.flatMap(({ name, change }) => {
    // Where only a line end at the end of the file changed, no line did.
    if (!change?.lines?.length) return [];
    const { type, lines } = change;
    const drawn = { path: name, isNew: type === "added", lines, morePlaces: 0 };
    return [`  ${oneLine(name)}`, ...changeRows(drawn, columns, paint)];
  });
}

/** The most skills, commands and sub-agents, each, that a question names. */
const MAX_NAMED_PROMPTS = 8;

function fileNames(files: TrustQuestion["files"]): string {
  const named = (list: TrustQuestion["files"]) =>
    list.map(({ name, lines, change }) => {
      const since = change &&
        (change.type === "added" ? ", new" : ", changed since you trusted it");
      return `${oneLine(name)} (${count(lines, "line")}${since ?? ""})`;
    });
  const groups = (["skill", "command", "agent"] as const).flatMap((kind) => {
    const some = files.filter((file) => file.kind === kind);
    if (some.length <= MAX_NAMED_PROMPTS) return named(some);
    const rest = some.length - MAX_NAMED_PROMPTS;
    return [...named(some.slice(0, MAX_NAMED_PROMPTS)), `and ${count(rest, `more ${kind}`)}`];
  });
  return [...named(files.filter(({ kind }) => kind === undefined)), ...groups].join(", ");
}

/** The most characters shown of a title, of the last prompt, of its answer. */
const SHOWN_TITLE_CHARS = 60;
const SHOWN_TYPED_CHARS = 200;
const SHOWN_ANSWER_CHARS = 300;

/** The lines about the session that goes on, if there is one; `dim` styles its last exchange. */
export function resumedLines(
  resumed: Resumed | undefined,
  way: Way,
  dim: (text: string) => string = (text) => text,
  now = Date.now(),
): string[] {
  if (!resumed) return ["There is no earlier session in this folder."];
  const { started, title, messages, lostLines, lastTyped, lastAnswer, openCalls, model } = resumed;
  const { isInUse, reading } = resumed;
  const unread = lostLines > 0 ? `; ${count(lostLines, "line")} could not be read` : "";
  const said = [
    ...lastTyped === undefined ? [] : [`> ${excerptLine(lastTyped, SHOWN_TYPED_CHARS)}`],
    ...lastAnswer === undefined ? [] : [excerptLine(lastAnswer, SHOWN_ANSWER_CHARS)],
  ];
  return [
    `Continuing "${excerptLine(title, SHOWN_TITLE_CHARS)}": ${count(messages, "message")}, begun ${
      ago(Date.parse(started), now)
    }${unread}`,
    ...said.map((text) => `  ${dim(text)}`),
    ...isInUse ? ["Another copilot has it open: what follows is a session of its own."] : [],
    ...openCalls === undefined ? [] : [`The last turn was cut off: ${openCallsText(openCalls)}.`],
    ...model ? [modelLine(model, way)] : [],
    ...reading ? [readingLine(reading)] : [],
  ];
}

function readingLine({ tokens, seconds }: NonNullable<Resumed["reading"]>): string {
  const time = seconds === undefined ? "" : `, about ${aboutSeconds(seconds)}`;
  const unless = "unless the server still has them in its cache";
  return `${thousands(tokens)} tokens have to be read again${time}, ${unless}.`;
}

function openCallsText(openCalls: number): string {
  if (openCalls === 0) return "before the answer";
  return `its open ${openCalls === 1 ? "call is" : "calls are"} marked as interrupted`;
}

function modelLine({ before, now, isTakenUp }: NonNullable<Resumed["model"]>, way: Way): string {
  const naming = modelNaming(way);
  if (isTakenUp) return `With ${oneLine(before.model)}, as before (${naming} changes it).`;
  const at = ({ model, server }: typeof now) =>
    model === undefined ? oneLine(server) : `${oneLine(model)} at ${oneLine(server)}`;
  const isSame = before.server === now.server;
  const back = isSame ? `${naming} ${before.model}` : modelNamingOf(before, way);
  const how = back === undefined ? "" : ` ${oneLine(back)} goes back.`;
  return `The session was with ${at(before)}, and goes on with ${at(now)} now.${how}`;
}

/** The command or the flags of the server and the model of a record; undefined without its address. */
function modelNamingOf({ model, at }: ModelUsed, way: Way): string | undefined {
  // A name with a space in it cannot stand behind a flag.
  if (at === undefined || /\s/.test(model)) return undefined;
  return serverNaming(at.kind, at.url, way, ` --model ${model}`);
}

/** The way back to a session that is left: the command that goes on with it, and the file of its record. */
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

/** A session in one line: when it began, and with what. */
export function sessionLine({ started, title }: SessionTitle): string {
  return `${minuteOf(started)}  ${excerptLine(title, SHOWN_TITLE_CHARS)}`;
}

const excerptLine = (text: string, maxChars: number) => shortened(oneLine(text), maxChars);
const minuteOf = (started: string) => oneLine(started.slice(0, 16).replace("T", " "));
