/**
 * Who says yes to writes and commands.
 *
 * @module
 */

import { count } from "../text/count.ts";
import { diffLines } from "../text/diff.ts";
import { resolvePath } from "../text/paths.ts";
import { sanitize } from "../text/sanitize.ts";
import { BOLD, type Painter } from "../terminal/style.ts";
import type { Policy, Tool, ToolContext } from "../types.ts";
import { DIFF_STYLES } from "./present.ts";

/** Runs everything: `--yes`. */
export const allowAll: Policy = { decide: () => ({ allow: true }) };

/** Without a person to ask: reads run, the rest is refused, and `onRefused` is told. */
export function refuseWrites(onRefused: () => void): Policy {
  return {
    decide(tool) {
      if (tool.access === "read") return { allow: true };
      onRefused();
      return {
        allow: false,
        reason:
          `Refused: ${tool.name} needs an approval, and nobody is there to give it. Do not try another way; answer with what you can read, and say what you would have done. (The user can allow it by starting copilot with --yes.)`,
      };
    },
  };
}

/**
 * Asks a person about every write and command. `ask` shows the text and resolves to the first line
 * typed that {@linkcode answerObjection} takes, or to null when there is none to come.
 */
export function askPerson(
  ask: (text: string, signal: AbortSignal) => Promise<string | null>,
  columns: () => number,
  paint?: Painter,
): Policy {
  return {
    async decide(tool, args, context) {
      const { signal } = context;
      if (tool.access === "read") return { allow: true };
      const text = requestText(tool, args, columns(), paint, existing(tool, args, context));
      const answer = await ask(text, signal);
      signal.throwIfAborted();
      return answer !== null && YES.test(answer) ? { allow: true } : {
        allow: false,
        reason: "Refused by the user. Do not try another way; ask what they want instead.",
      };
    },
  };
}

const YES = /^\s*y(es)?\s*$/i;
const NO = /^\s*(no?)?\s*$/i;

/** What to say of an answer that is neither a yes nor a no. */
export function answerObjection(answer: string): string | undefined {
  if (!YES.test(answer) && !NO.test(answer)) return "Answer y to run it, n to refuse it.";
}

/** The whole of what would run: nothing is left out, and nothing in it can drive the terminal. */
export function requestText(
  tool: Tool,
  args: Record<string, unknown>,
  columns: number,
  paint: Painter = (text) => text,
  present?: string,
): string {
  const width = Math.max(10, columns - 6);
  const boxed = (lines: readonly string[], styled = (row: string, _line: number) => row) =>
    // Every row begins with a bar: long lines can not look like a question of their own.
    lines.flatMap((line, at) =>
      (line.match(new RegExp(`.{1,${width}}`, "gu")) ?? [""]).map((row) => `  │ ${styled(row, at)}`)
    ).join("\n");
  const fields: string[] = [];
  const isOver = present !== undefined && typeof args.content === "string";
  const [old, replacement] = isOver ? [present, args.content] : [args.old_string, args.new_string];
  const isEdit = typeof old === "string" && typeof replacement === "string";
  const inDiff = !isEdit ? [] : isOver ? ["content"] : ["old_string", "new_string"];
  for (const [name, value] of Object.entries(args)) {
    if (inDiff.includes(name)) continue;
    const text = sanitize(typeof value === "string" ? value : JSON.stringify(value));
    if (!text.includes("\n") && text.length <= width - name.length) {
      fields.push(`  ${name}: ${text}`);
      continue;
    }
    const lines = text.replace(/\n$/, "").split("\n");
    const size = `${count(lines.length, "line")}, ${count(text.length, "character")}`;
    fields.push(`  ${name} (${size}):\n${boxed(lines)}`);
  }
  if (isEdit) {
    const diff = diffLines(sanitize(old), sanitize(replacement), isOver ? 2 : Infinity);
    const rows = diff.map(({ kind, text }) => `${kind} ${text}`);
    if (isOver) fields.push(`  what the file holds is ${rows.length ? "changed" : "the same"}:`);
    if (rows.length > 0) {
      fields.push(boxed(rows, (row, at) => paint(row, DIFF_STYLES[diff[at]!.kind])));
    }
    if (old.endsWith("\n") !== replacement.endsWith("\n")) {
      const ends = replacement.endsWith("\n") ? "adds" : "removes";
      fields.push(`  (${ends} a line end at the end of the text)`);
    }
  }
  const texts = Object.values(args).map((value) => String(value).replaceAll("\r\n", "\n"));
  if (texts.some((text) => sanitize(text) !== text)) {
    fields.push(paint("  Careful: some of its characters hide or reorder text", BOLD));
  }
  return `The model wants to call ${tool.name}:\n${fields.join("\n")}`;
}

/** Larger files are not compared. */
const MAX_COMPARED = 2 ** 20;

/** What the file that is to be written holds; undefined where there is none, or it is no text. */
function existing(
  { name }: Tool,
  { file_path: path }: Record<string, unknown>,
  context: ToolContext,
): string | undefined {
  if (name !== "write_file") return undefined;
  try {
    const file = resolvePath(context, String(path));
    const { isFile, size } = Deno.statSync(file);
    if (!isFile || size > MAX_COMPARED) return undefined;
    return new TextDecoder("utf-8", { fatal: true }).decode(Deno.readFileSync(file));
  } catch {
    return undefined;
  }
}
