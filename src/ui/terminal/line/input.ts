/** Reads the lines that a user types (spec 4.7), with an editor if the terminal allows. @module */

import { LiveOutput } from "../screen/live_output.ts";
import { ModalDriver, ModalStack } from "../screen/modal.ts";
import { makeSane, processTerminal } from "../tty.ts";
import { writeStdout } from "../stdio.ts";
import { ownStyle } from "../style.ts";
import type { Completer } from "./completion.ts";
import { TextLine } from "./line_modal.ts";
import { stdinLines } from "./sources.ts";
import { type KillRing, lineState } from "./state.ts";

export const PROMPT = "> ";

/** Options of `readInput` and `readLineRaw`. */
export interface ReadOptions {
  /** Ends the reading: the result is null. */
  signal?: AbortSignal | undefined;
  /** Completes text on Tab; without one, Tab rings the bell. */
  completer?: Completer | undefined;
}

interface EditOptions extends ReadOptions {
  prompt: string;
  color: string;
  history: readonly string[];
  multiline: boolean;
}

/**
 * Reads one input of one or more lines: Enter after a trailing `\` adds a new line, as Alt-Enter
 * does anywhere. The text is added to `state.history`. Without a terminal, lines are read without
 * prompts.
 * @param state `history`: earlier texts, oldest first.
 * @returns the text; null on Ctrl-C, on Ctrl-D at an empty line, and at the end of the input.
 */
export async function readInput(
  state: { history: string[] },
  options: ReadOptions,
): Promise<string | null> {
  const { history } = state;
  const text = canEdit()
    ? await editLine({ prompt: PROMPT, color: "", history, multiline: true, ...options })
    : await readContinued(options);
  if (text !== null && text.trim() !== "" && text !== history.at(-1)) history.push(text);
  return text;
}

/**
 * Reads one line after a prompt, with the keys of spec 4.7 and of GNU readline. Without a terminal,
 * the line is read without the prompt; a terminal without escape sequences shows it without colour.
 * @param prompt The text before the line.
 * @param color An SGR sequence for the prompt, such as `\x1b[32m`, or empty.
 * @param history Earlier texts, oldest first.
 * @returns the line; null on Ctrl-C, on Ctrl-D at an empty line, and at the end of the input.
 */
export async function readLineRaw(
  prompt: string,
  color: string,
  history: readonly string[],
  options: ReadOptions,
): Promise<string | null> {
  return canEdit()
    ? await editLine({ prompt, color, history, multiline: false, ...options })
    : await readCooked(prompt, options);
}

/** True if stdin and stdout are a terminal that knows escape sequences. */
export function canEdit(): boolean {
  return Deno.stdin.isTerminal() && Deno.stdout.isTerminal() && Deno.env.get("TERM") !== "dumb";
}

const ring: { kills: KillRing } = { kills: [] };

async function editLine(options: EditOptions): Promise<string | null> {
  const { signal, history, multiline } = options;
  const terminal = processTerminal();
  const sgr = options.color === "" ? () => "" : ownStyle;
  const line = new TextLine(lineState({ history, multiline }), { ...options, sgr, ring });
  const modals = new ModalStack();
  const output = new LiveOutput(terminal, (size) => modals.layout(size), (error) => {
    throw error;
  });
  await makeSane();
  using driver = new ModalDriver({ terminal, modals, output });
  const text = modals.open(line);
  await driver.run(signal);
  modals.closeAll();
  output.commit(({ columns }) => line.whole(columns));
  return await text;
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
