/**
 * Reading what a person types (spec 4.7). For now the terminal itself edits the line.
 *
 * @module
 */

import { show, stdinLines } from "./stdin.ts";

/** Options of {@linkcode readInput} and {@linkcode readLineRaw}. */
export interface ReadOptions {
  /** Ends the reading: the result is null. */
  signal?: AbortSignal | undefined;
}

/**
 * Reads one input: a line, or several where each but the last ends in `\`. Null at the end of the
 * input or on Ctrl-C. What was read is added to `state.history`. Without a terminal, lines are read
 * as they come, without prompts.
 */
export async function readInput(
  state: { history: string[] },
  options: ReadOptions = {},
): Promise<string | null> {
  const lines: string[] = [];
  for (let prompt = "> ";; prompt = "  ...> ") {
    const line = await readLineRaw(prompt, "", state.history, options);
    if (line === null) return null;
    lines.push(line.replace(/\\$/, ""));
    if (!line.endsWith("\\")) break;
  }
  const text = lines.join("\n");
  if (text.trim() !== "" && text !== state.history.at(-1)) state.history.push(text);
  return text;
}

/**
 * Reads one line after showing `prompt` in `color` (an SGR sequence such as `\x1b[32m`, or empty);
 * null on Ctrl-C and at the end of the input.
 */
export async function readLineRaw(
  prompt: string,
  color: string,
  _history: readonly string[],
  { signal }: ReadOptions = {},
): Promise<string | null> {
  if (!Deno.stdin.isTerminal()) return await stdinLines().next(signal);
  show(color === "" ? prompt : `${color}${prompt}\x1b[0m`);
  const interrupt = new AbortController();
  const onInterrupt = () => interrupt.abort();
  Deno.addSignalListener("SIGINT", onInterrupt);
  try {
    const line = await stdinLines().next(
      signal ? AbortSignal.any([signal, interrupt.signal]) : interrupt.signal,
    );
    if (line === null) show("\n");
    return line;
  } finally {
    Deno.removeSignalListener("SIGINT", onInterrupt);
  }
}
