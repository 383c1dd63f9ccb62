/**
 * Who says yes to writes and commands.
 *
 * @module
 */

import { type DiffLine, diffLines } from "../text/diff.ts";
import { sanitize } from "../text/sanitize.ts";
import { ADDED, DIM, type Painter, REMOVED } from "../terminal/style.ts";
import type { Policy, Tool } from "../types.ts";

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
 * Asks a person about every write and command. `ask` shows the text and resolves to the line
 * typed, or null when there is none to come; anything but a yes or a no is asked again.
 */
export function askPerson(
  ask: (text: string, signal: AbortSignal) => Promise<string | null>,
  columns: () => number,
  paint?: Painter,
): Policy {
  return {
    async decide(tool, args, { signal }) {
      if (tool.access === "read") return { allow: true };
      for (;;) {
        const answer = await ask(requestText(tool, args, columns(), paint), signal);
        signal.throwIfAborted();
        if (answer === null || /^\s*(no?)?\s*$/i.test(answer)) {
          return {
            allow: false,
            reason: "Refused by the user. Do not try another way; ask what they want instead.",
          };
        }
        if (/^\s*y(es)?\s*$/i.test(answer)) return { allow: true };
      }
    },
  };
}

/** The whole of what would run: nothing is left out, and nothing in it can drive the terminal. */
export function requestText(
  tool: Tool,
  args: Record<string, unknown>,
  columns: number,
  paint: Painter = (text) => text,
): string {
  const width = Math.max(10, columns - 6);
  const boxed = (lines: readonly string[], styled = (row: string, _line: number) => row) =>
    // Every row begins with a bar: long lines can not look like a question of their own.
    lines.flatMap((line, at) =>
      (line.match(new RegExp(`.{1,${width}}`, "gu")) ?? [""]).map((row) => `  │ ${styled(row, at)}`)
    ).join("\n");
  const fields: string[] = [];
  const { old_string: old, new_string: replacement, ...others } = args;
  const isEdit = typeof old === "string" && typeof replacement === "string";
  for (const [name, value] of Object.entries(isEdit ? others : args)) {
    const text = sanitize(typeof value === "string" ? value : JSON.stringify(value));
    if (!text.includes("\n") && text.length <= width - name.length) {
      fields.push(`  ${name}: ${text}`);
      continue;
    }
    const lines = text.replace(/\n$/, "").split("\n");
    fields.push(`  ${name} (${lines.length} lines, ${text.length} characters):\n${boxed(lines)}`);
  }
  if (isEdit) {
    const diff = diffLines(sanitize(old), sanitize(replacement), Infinity);
    const rows = diff.map(({ kind, text }) => `${kind} ${text}`);
    const style = ({ kind }: DiffLine) => kind === " " ? DIM : kind === "+" ? ADDED : REMOVED;
    fields.push(boxed(rows, (row, at) => paint(row, style(diff[at]!))));
    if (old.endsWith("\n") !== replacement.endsWith("\n")) {
      const ends = replacement.endsWith("\n") ? "adds" : "removes";
      fields.push(`  (${ends} a line end at the end of the text)`);
    }
  }
  return `The model wants to call ${tool.name}:\n${fields.join("\n")}`;
}
