/**
 * `!command`: a shell command of the person's own.
 *
 * @module
 */

import { InterruptedError } from "../tools/call_errors.ts";
import { shellTool } from "../tools/mod.ts";
import type { CommandOutput, ToolOutcome } from "../types/tool.ts";
import { sanitizeProse } from "../text/sanitize.ts";
import type { Screen } from "../terminal/screen/screen.ts";
import type { Session } from "./commands/commands.ts";
import { oneLine } from "../text/one_line.ts";
import type { TurnView } from "../frontends/terminal/turn_view.ts";

/** Runs `command`, shows its output, and keeps it for the next message. */
export async function runShell(
  session: Session,
  command: string,
  screen: Screen,
  view: TurnView,
  signal: AbortSignal,
): Promise<void> {
  const { agent } = session;
  if (command.trim() === "") return screen.print("· !COMMAND runs a command");
  view.begin(`! ${command.trim()}`);
  try {
    const { confine: _, ...context } = agent.toolContext(signal);
    const result = await shellTool.run({ command, timeout_seconds: 86_400 }, {
      ...context,
      onOutput: view.onOutput,
    });
    const outcome = typeof result === "string" ? { content: result } : result;
    screen.print(sanitizeProse(shownResult(outcome)));
    session.pending += `<shell command=${
      JSON.stringify(command)
    }>\n${outcome.content}\n</shell>\n\n`;
    view.end("· goes along with your next message (/clear forgets it)");
  } catch (error) {
    if (!signal.aborted) return view.end(`· ${oneLine((error as Error).message)}`);
    if (error instanceof InterruptedError) screen.print(sanitizeProse(printed(error.output)));
    view.end("· interrupted");
  }
}

/** What a person reads of a command that ended: where all went well, what it printed. */
function shownResult({ content, exitCode, output, endedProcesses }: ToolOutcome): string {
  return output && exitCode === 0 && !endedProcesses ? printed(output) : content;
}

function printed({ stdout, stderr }: CommandOutput): string {
  if (stdout === undefined && stderr === undefined) return "no output";
  return [stdout, stderr && `stderr:\n${stderr}`].filter((part) => part !== undefined).join("\n");
}
