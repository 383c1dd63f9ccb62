/**
 * `!command`: a shell command of the person's own.
 *
 * @module
 */

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
  const tool = agent.tools.find(({ name }) => name === "run_bash");
  if (command.trim() === "" || tool === undefined) return screen.print("· !COMMAND runs a command");
  view.begin(`! ${command.trim()}`);
  try {
    const { confine: _, ...context } = agent.toolContext(signal);
    const output = await tool.run({ command, timeout_seconds: 86_400 }, {
      ...context,
      onOutput: view.onOutput,
    });
    screen.print(sanitizeProse(output.replace(/^exit code: 0\n(?:stdout:\n)?/, "")));
    session.pending += `<shell command=${JSON.stringify(command)}>\n${output}\n</shell>\n\n`;
    view.end("· goes along with your next message (/clear forgets it)");
  } catch (error) {
    const { message } = error as Error;
    if (!signal.aborted) return view.end(`· ${oneLine(message)}`);
    const printed = message.indexOf("\n");
    if (printed > 0) screen.print(sanitizeProse(message.slice(printed + 1)));
    view.end("· interrupted");
  }
}
