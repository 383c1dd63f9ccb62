/**
 * A program that reads lines and prints them, for the tests to run in a terminal:
 * `edit_lines.ts [input|line|throw|reject|exit]`. Its process id goes to the file `pid`.
 *
 * @module
 */

import { readInput, readLineRaw } from "../../../../src/ui/terminal/line/input.ts";
import { writeStdout } from "../../../../src/ui/terminal/stdio.ts";

const [mode = "input"] = Deno.args;
if (Deno.stdin.isTerminal()) Deno.writeTextFileSync("pid", `${Deno.pid}`);
const state = { history: ["first entry", "second\nwith two lines", "third entry"] };
const items = ["/clear", "/close", "/cd"];

const meanwhile: Record<string, () => void> = {
  throw: () => {
    throw new Error("thrown meanwhile");
  },
  reject: () => {
    Promise.reject(new Error("rejected meanwhile"));
  },
  exit: () => Deno.exit(7),
};
const act = meanwhile[mode];
const completer = (before: string) => {
  if (act) setTimeout(act);
  return { replace: before.length, items: items.filter((item) => item.startsWith(before)) };
};

for (;;) {
  const text = mode === "line"
    ? await readLineRaw("name: ", "\x1b[32m", state.history, { completer })
    : await readInput(state, { completer });
  writeStdout(`got ${JSON.stringify(text)}\r\n`);
  if (text === null) break;
}
