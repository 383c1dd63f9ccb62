/** Reading the lines that a person types (spec 4.7). @module */

import { editLine, type ReadOptions } from "./editor.ts";
import { stdinLines } from "./sources.ts";
import { writeStdout } from "../stdio.ts";

/** The text before the first line of an input. */
export const PROMPT = "> ";

/**
 * Reads one input of one or more lines: Enter after a trailing `\` begins a new line, as Alt-Enter
 * does anywhere. The text read is added to `state.history`. Without a terminal, lines are read as
 * they come, without prompts.
 * @param state `history`: the texts entered before, oldest first.
 * @returns the text; null on Ctrl-C, on Ctrl-D at an empty line, and at the end of the input.
 */
export async function readInput(
  state: { history: string[] },
  options: ReadOptions = {},
): Promise<string | null> {
  const { history } = state;
  const text = canEdit()
    ? await editLine({ prompt: PROMPT, color: "", history, multiline: true, ...options })
    : await readContinued(options);
  if (text !== null && text.trim() !== "" && text !== history.at(-1)) history.push(text);
  return text;
}

/**
 * Reads one line after a prompt, with the keys of spec 4.7 and those of GNU readline. Without a
 * terminal, a line is read as it comes, without the prompt; one that knows no escape sequences shows
 * the prompt without its colour.
 * @param prompt The text before the line.
 * @param color An SGR sequence for the prompt, such as `\x1b[32m`, or empty.
 * @param history The texts entered before, oldest first.
 * @returns the line; null on Ctrl-C, on Ctrl-D at an empty line, and at the end of the input.
 */
export async function readLineRaw(
  prompt: string,
  color: string,
  history: readonly string[],
  options: ReadOptions = {},
): Promise<string | null> {
  return canEdit()
    ? await editLine({ prompt, color, history, multiline: false, ...options })
    : await readCooked(prompt, options);
}

/** True when there is a terminal on both sides that knows escape sequences. */
export function canEdit(): boolean {
  return Deno.stdin.isTerminal() && Deno.stdout.isTerminal() && Deno.env.get("TERM") !== "dumb";
}

async function readContinued(options: ReadOptions): Promise<string | null> {
  const lines: string[] = [];
  for (let prompt = PROMPT;; prompt = "  ...> ") {
    const line = await readCooked(prompt, options);
    if (line === null) {
      return lines.length > 0 && !options.signal?.aborted ? lines.join("\n") : null;
    }
    lines.push(line.replace(/\\$/, ""));
    if (!line.endsWith("\\")) return lines.join("\n");
  }
}

/** Reads a line that the terminal edits itself, if it is one. */
async function readCooked(prompt: string, { signal }: ReadOptions): Promise<string | null> {
  if (!Deno.stdin.isTerminal()) return await stdinLines().next(signal);
  if (Deno.stdout.isTerminal()) writeStdout(prompt);
  const interrupt = new AbortController();
  const onInterrupt = () => interrupt.abort();
  Deno.addSignalListener("SIGINT", onInterrupt);
  try {
    const either = AbortSignal.any(signal ? [signal, interrupt.signal] : [interrupt.signal]);
    const line = await stdinLines().next(either);
    if (line === null) writeStdout("\n");
    return line;
  } finally {
    Deno.removeSignalListener("SIGINT", onInterrupt);
  }
}
