/**
 * The session in a terminal: a loop over what is typed.
 *
 * @module
 */

import { CopilotAgent } from "../agent/agent.ts";
import type { CopilotConfig } from "../config.ts";
import { readInput, readLineRaw } from "../terminal/input.ts";
import { markdownRenderer } from "../terminal/markdown.ts";
import { show } from "../terminal/stdin.ts";
import { appearance } from "../terminal/style.ts";
import { terminalSize } from "../terminal/tty.ts";
import type { TurnEvent } from "../types.ts";
import { allowAll, askPerson } from "./approve.ts";
import { asUsage } from "./args.ts";
import { isCommand, runCommand } from "./commands.ts";
import { EXIT } from "./exit.ts";
import { processTurnHelpfully } from "./first_turn.ts";
import { oneLine, progressLine } from "./present.ts";
import { onSignals } from "./signals.ts";

/** What is on the screen, and the turn that writes there. */
interface Screen {
  /** Writes text that is safe to show. */
  write(text: string): void;
  /** Writes a line of its own. */
  line(text: string): void;
  /** Ends the turn under way. */
  stop: AbortController;
}

/** Runs the session until it is left; the exit code. */
export async function runInteractive(
  config: CopilotConfig,
  options: { workingDir?: string | undefined; modelNamed: boolean; yes?: boolean },
): Promise<number> {
  let midLine = false;
  const screen: Screen = {
    write(text) {
      if (text === "") return;
      show(text);
      midLine = !text.endsWith("\n");
    },
    line: (text) => screen.write(`${midLine ? "\n" : ""}${text}\n`),
    stop: new AbortController(),
  };
  const policy = options.yes ? allowAll : askPerson(async (text, signal) => {
    screen.line(text);
    const prompt = "Run this? [y/n] ";
    const answer = await readLineRaw(prompt, "", [], { signal, dropTypeAhead: true });
    if (answer === null) screen.stop.abort(); // Ctrl-C, Ctrl-D, or nobody there any more
    return answer;
  }, () => terminalSize().columns);
  const agent = asUsage(() => new CopilotAgent(config, options.workingDir ?? ".", { policy }));
  const { model } = await agent.backend();
  screen.line(`copilot · ${oneLine(model)} · ${oneLine(agent.state.workingDir)} · /help`);
  for (;;) {
    const text = await readInput(agent.state, { interrupt: "clear" });
    if (text === null) return EXIT.done;
    if (text.trim() === "") continue;
    if (isCommand(text)) {
      const output = runCommand(agent, text);
      if (output === null) return EXIT.done;
      screen.line(output);
    } else {
      const code = await showTurn(agent, text, options.modelNamed, screen);
      if (code !== undefined) return code;
    }
  }
}

/** Runs one turn on the screen; an exit code when a signal asked to end the program. */
async function showTurn(
  agent: CopilotAgent,
  text: string,
  modelNamed: boolean,
  screen: Screen,
): Promise<number | undefined> {
  const stop = screen.stop = new AbortController();
  let exitCode: number | undefined;
  const release = onSignals((code) => {
    if (code !== EXIT.interrupted) exitCode = code;
    stop.abort();
  });
  const markdown = markdownRenderer({
    ...terminalSize(),
    ...appearance((name) => Deno.env.get(name)),
  });
  const onEvent = (event: TurnEvent) => {
    if (event.type === "text_delta") {
      markdown.resize(terminalSize().columns);
      return screen.write(markdown.push(event.text));
    }
    if (event.type === "thinking") screen.write(markdown.end());
    const progress = progressLine(event);
    if (progress !== undefined) screen.line(markdown.end() + progress);
  };
  try {
    const { stopReason } = await processTurnHelpfully(agent, text, {
      onEvent,
      signal: stop.signal,
      modelNamed,
    });
    screen.write(markdown.end());
    screen.line(stopReason === "aborted" ? "· interrupted" : "");
  } catch (error) {
    // Whatever a turn fails with, the session goes on; but not without a terminal.
    if (error instanceof Deno.errors.BrokenPipe) throw error;
    screen.write(markdown.end());
    screen.line(`· ${oneLine((error as Error).message)}`);
  } finally {
    release();
  }
  return exitCode;
}
