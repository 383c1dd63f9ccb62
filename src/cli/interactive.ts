/**
 * The session in a terminal: a plain loop over what is typed.
 *
 * @module
 */

import { CopilotAgent } from "../agent/agent.ts";
import type { CopilotConfig } from "../config.ts";
import { BackendError } from "../errors.ts";
import { readInput } from "../terminal/input.ts";
import { show, stdinLines } from "../terminal/stdin.ts";
import { sanitizeProse } from "../text/sanitize.ts";
import type { TurnEvent } from "../types.ts";
import { allowAll, askPerson } from "./approve.ts";
import { runCommand } from "./commands.ts";
import { EXIT } from "./exit.ts";
import { processTurnHelpfully } from "./first_turn.ts";
import { oneLine, progressLine } from "./present.ts";
import { onSignals } from "./signals.ts";

/** Runs the session until it is left; the exit code. */
export async function runInteractive(
  config: CopilotConfig,
  options: { workingDir?: string | undefined; modelNamed: boolean; yes?: boolean },
): Promise<number> {
  const policy = options.yes ? allowAll : askPerson((text, signal) => {
    show(`\n${text}`);
    return stdinLines().next(signal);
  });
  const agent = new CopilotAgent(config, options.workingDir ?? ".", { policy });
  const { model } = await agent.backend();
  show(`copilot · ${oneLine(model)} · ${oneLine(agent.state.workingDir)} · /help\n`);
  for (;;) {
    const text = await readInput(agent.state);
    if (text === null) return EXIT.done;
    if (text.trim() === "") continue;
    if (text.startsWith("/")) {
      const output = runCommand(agent, text);
      if (output === null) return EXIT.done;
      show(`${output}\n`);
    } else {
      const code = await showTurn(agent, text, options.modelNamed);
      if (code !== undefined) return code;
    }
  }
}

/** Runs one turn on the screen; an exit code when a signal asked to end the program. */
async function showTurn(
  agent: CopilotAgent,
  text: string,
  modelNamed: boolean,
): Promise<number | undefined> {
  const stop = new AbortController();
  let exitCode: number | undefined;
  const release = onSignals((code) => {
    if (code !== EXIT.interrupted) exitCode = code;
    stop.abort();
  });
  let midLine = false;
  const write = (piece: string) => {
    show(piece);
    midLine = !piece.endsWith("\n");
  };
  const line = (content: string) => write(`${midLine ? "\n" : ""}${content}\n`);
  const onEvent = (event: TurnEvent) => {
    if (event.type === "text_delta") return write(sanitizeProse(event.text));
    const progress = progressLine(event);
    if (progress !== undefined) line(progress);
  };
  try {
    const { stopReason } = await processTurnHelpfully(agent, text, {
      onEvent,
      signal: stop.signal,
      modelNamed,
    });
    if (stopReason === "aborted") line("· interrupted");
  } catch (error) {
    if (!(error instanceof BackendError)) throw error;
    line(`· ${oneLine(error.message)}`);
  } finally {
    release();
  }
  if (midLine) write("\n");
  return exitCode;
}
