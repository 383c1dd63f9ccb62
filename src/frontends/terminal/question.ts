/**
 * Who says yes to writes and commands.
 *
 * @module
 */

import { secretKind } from "../../permissions/path_table.ts";
import { count } from "../../text/count.ts";
import { resolvePath } from "../../text/paths.ts";
import { sanitize } from "../../text/sanitize.ts";
import { rowsOf } from "../../text/width.ts";
import { BOLD, DIM, type Painter } from "../../terminal/style.ts";
import type { Decision } from "../../types/policy.ts";
import type { Tool, ToolContext } from "../../types/tool.ts";
import { changeLines, changeNotes, changeOf, MAX_COMPARED, textOf } from "./change.ts";
import type { Ask } from "../../session/call_policy.ts";
import type { Permissions } from "../../session/permissions.ts";
import { DIFF_STYLES } from "../progress.ts";
import { oneLine } from "../../text/one_line.ts";
import { wrapped } from "../../text/wrap.ts";

/** What a person answered; undefined for what is no answer. */
type Answer =
  | { type: "yes" | "always" | "save" | "edit" }
  | { type: "no"; reason: string };

const ANSWERS: ReadonlyMap<string, Exclude<Answer["type"], "no">> = new Map([
  ["y", "yes"],
  ["yes", "yes"],
  ["a", "always"],
  ["always", "always"],
  ["s", "save"],
  ["save", "save"],
  ["e", "edit"],
  ["edit", "edit"],
]);

/** @param keys those that are offered */
function answerOf(line: string, keys: readonly string[]): Answer | undefined {
  const given = line.trim().toLowerCase();
  // Whatever begins like a no is one: a reason that was meant as such, too.
  if (given.startsWith("n")) {
    return { type: "no", reason: line.trim().replace(/^no?(?![a-z])[\s,:]*/i, "") };
  }
  const type = keys.includes(given.charAt(0)) ? ANSWERS.get(given) : undefined;
  return type && { type };
}

/** What to say of a line that is no answer. */
function objectionTo(line: string, keys: readonly string[], rule?: Allowing): string {
  if (!/^\s*(\?|help)\s*$/i.test(line)) {
    return `  ${keys.join(", ")} or ? for what they mean`;
  }
  const help: Record<string, string> = {
    y: "run it",
    n: "refuse it; n and why tells the model",
    a: `always: run it, and allow ${rule?.what} in this session`,
    s: `save: the same in this folder from now on: ${rule?.rule}`,
    e: "edit the command first",
  };
  return keys.map((key) => `  ${key}      ${help[key]}`).join("\n");
}

/** A rule, and what it allows in words. */
interface Allowing {
  rule: string;
  what: string;
}

function allowing({ name }: Tool, rule: string): Allowing {
  const path = rule.slice(name.length + 1, -1);
  const what = name === "run_bash"
    ? "exactly this command"
    : `${KINDS[name] ?? name} of ${oneLine(path)}`;
  return { rule: oneLine(rule), what };
}

const KINDS: Readonly<Record<string, string>> = { edit_file: "edits", write_file: "writes" };

/** Reasons that are no news. */
const ROUTINE = /^writes$|^runs .*, which no rule allows$/;

/** How a person is asked: shows a text and gives the line typed; null when there is none to come. */
export type AskLine = (
  text: string,
  prompt: string,
  objection: (line: string) => string | undefined,
  signal: AbortSignal,
  begun?: string,
) => Promise<string | null>;

/** Asks a person about each call that the settings leave to them. */
export function askPerson(
  ask: AskLine,
  permissions: Pick<Permissions, "allow" | "save">,
  print: (text: string) => void,
  columns: () => number,
  paint: Painter = (text) => text,
): Ask {
  const dim = (text: string) =>
    `\n${wrapped(text, columns()).split("\n").map((row) => paint(row, DIM)).join("\n")}`;
  const tell = (text: string) => print(wrapped(text, columns()));
  return async (tool, args, context, { reason, confined, ruleFor }) => {
    const { signal, workingDir } = context;
    let given = args;
    for (;;) {
      const text = requestText(tool, given, columns(), paint, existing(tool, given, context));
      const why = ROUTINE.test(reason)
        ? ""
        : `\n${wrapped(`  It ${oneLine(reason).slice(0, 200)}.`, columns())}`;
      const rule = ruleFor(given);
      const allowed = rule === undefined ? undefined : allowing(tool, rule);
      const command = lineOf(tool, given);
      const keys = ["y", "n", ...(rule ? ["a", "s"] : []), ...(command === undefined ? [] : ["e"])];
      const always = allowed
        ? dim(`  a allows ${allowed.what} in this session, s in this folder from now on`)
        : "";
      const prompt = columns() < 30 ? "Run this? [y/n/?] " : `Run this? [${keys.join("/")}/?] `;
      const objection = (line: string) =>
        answerOf(line, keys) ? undefined : wrapped(objectionTo(line, keys, allowed), columns());
      const limits = confined ? dim(`  ${confined}`) : "";
      const line = await ask(text + why + limits + always, prompt, objection, signal);
      signal.throwIfAborted();
      const answer = line === null ? undefined : answerOf(line, keys);
      if (answer === undefined || answer.type === "no") return refused(answer?.reason ?? "");
      if (answer.type === "edit") {
        const typed = await ask("", "command: ", () => undefined, signal, command);
        if (typed?.trim()) given = { ...given, command: typed };
        continue;
      }
      if (rule !== undefined && answer.type === "always") {
        await permissions.allow(rule, workingDir);
        tell(`  In this session: allow ${sanitize(rule)}`);
      } else if (rule !== undefined && answer.type === "save") {
        tell(
          await permissions.save(rule, workingDir).then(
            (path) => `  Kept in ${sanitize(path)}: allow ${sanitize(rule)}`,
            (error) => `  In this session only, as it cannot be kept: ${oneLine(error.message)}`,
          ),
        );
      }
      return given === args ? { allow: true } : { allow: true, args: given };
    }
  };
}

function refused(reason: string): Decision {
  const why = reason === ""
    ? "Do not try another way; ask what they want instead."
    : `They say: ${reason}`;
  return { allow: false, reason: `Refused by the user. ${why}` };
}

/** The command of a call, where it is one line. */
function lineOf({ name }: Tool, { command }: Record<string, unknown>): string | undefined {
  if (name !== "run_bash" || typeof command !== "string") return undefined;
  return /[\n\r]/.test(command) ? undefined : command;
}

/** A request of more rows is no longer seen at one glance. */
const MANY_ROWS = 18;

/** The whole of what would run: nothing is left out, and nothing in it can drive the terminal. */
export function requestText(
  tool: Tool,
  args: Record<string, unknown>,
  columns: number,
  paint: Painter = (text) => text,
  present?: string | number,
): string {
  const width = Math.max(10, columns - 6);
  const boxed = (lines: readonly string[], styled = (row: string, _line: number) => row) =>
    // Every row begins with a bar: long lines can not look like a question of their own, nor what is
    // folded like lines.
    lines.flatMap((line, at) =>
      rowsOf(line, width).map((row, n) => `  ${n === 0 ? "│" : "┆"} ${styled(row, at)}`)
    ).join("\n");
  const fields: string[] = [];
  const change = changeOf(args, typeof present === "string" ? present : undefined);
  const inDiff = change ? ["content", "old_string", "new_string"] : [];
  const { properties = {} } = tool.parameters as { properties?: Record<string, unknown> };
  for (const [name, value] of Object.entries(args)) {
    const { default: usual } = (properties[name] ?? {}) as { default?: unknown };
    if (inDiff.includes(name) || value === usual) continue;
    if (name === "run_in_background" && value === true) {
      fields.push("  in the background (/jobs stops it)");
      continue;
    }
    const clean = sanitize(typeof value === "string" ? value : JSON.stringify(value));
    const text = name === "command" ? withBlanks(clean) : clean;
    const [row, more] = rowsOf(text, width - name.length);
    if (!text.includes("\n") && more === undefined) {
      fields.push(`  ${name}: ${row}`);
      continue;
    }
    const lines = text.replace(/\n$/, "").split("\n");
    const size = `${count(lines.length, "line")}, ${count(clean.length, "character")}`;
    const rows = boxed(lines);
    // Its beginning may have left the screen by the time that the question stands below it.
    const end = rows.split("\n").length > MANY_ROWS
      ? `\n${wrapped(`  (end of ${name}: ${size} above)`, columns)}`
      : "";
    fields.push(`  ${name} (${size}):\n${rows}${end}`);
  }
  if (typeof present === "number" && !change) {
    const size = count(present, "byte");
    fields.push(wrapped(`  a file of ${size} is there, and replaced by this`, columns));
  }
  if (change) {
    const lines = changeLines(change);
    if (typeof args.content === "string" && lines.length > 0) fields.push("  the file changes:");
    if (lines.length > 0) {
      const rows = lines.map(([row]) => row);
      fields.push(boxed(rows, (row, at) => paint(row, DIFF_STYLES[lines[at]![1]])));
    }
    fields.push(...changeNotes(change).map((note) => `  ${note}`));
  }
  // Its name may have left the screen by then, too.
  const path = fields.find((field) => /^ {2}file_path\b/.test(field));
  if (path !== undefined && fields.join("\n").split("\n").length > MANY_ROWS) fields.push(path);
  const texts = Object.values(args).map((value) => String(value).replaceAll("\r\n", "\n"));
  if (texts.some((text) => sanitize(text) !== text)) {
    const careful = wrapped("  Careful: some of its characters hide or reorder text", columns);
    fields.push(careful.split("\n").map((row) => paint(row, BOLD)).join("\n"));
  }
  return `The model wants to call ${tool.name}:\n${fields.join("\n")}`;
}

/** Shows blanks that mean something to a shell: tabs, and those between a backslash and its line's end. */
function withBlanks(command: string): string {
  return command.replace(/(?<! ) +$/gm, (blanks) => "␠".repeat(blanks.length))
    .replaceAll("\t", "␉   ");
}

/** What the file that is to be written holds, or its size where it can not be compared; undefined where
 * there is none. */
function existing(
  { name }: Tool,
  { file_path: path }: Record<string, unknown>,
  context: ToolContext,
): string | number | undefined {
  if (name !== "write_file" && name !== "edit_file") return undefined;
  const file = context.grant?.realPath ?? resolvePath(context, String(path));
  // Lines that nobody asked to see may hold what nobody else is to see.
  if (name === "edit_file" && secretKind(file) !== undefined) return undefined;
  let length: number | undefined;
  try {
    const { isFile, size } = Deno.statSync(file);
    if (!isFile) return undefined;
    length = size;
    return size > MAX_COMPARED ? size : textOf(Deno.readFileSync(file)) ?? size;
  } catch {
    return length;
  }
}
