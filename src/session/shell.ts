/**
 * `!command`: a shell command of the person's own.
 *
 * @module
 */

import type { SessionState } from "./state.ts";

/** The longest that a person's own command may run, in seconds: a day. */
const MAX_SECONDS = 86_400;

/** Runs `command`, keeps its output for the next message, and returns it; see `Session.shell`. */
export async function runShell(
  session: SessionState,
  command: string,
  signal: AbortSignal,
): Promise<string> {
  const { agent } = session;
  const tool = agent.tools.find(({ name }) => name === "run_bash");
  if (tool === undefined) throw new Error("there is no tool that runs commands");
  const { confine: _, ...context } = agent.toolContext(signal);
  const output = await tool.run({ command, timeout_seconds: MAX_SECONDS }, {
    ...context,
    onOutput: (newest) => session.emit({ type: "output", newest }),
  });
  session.pending.push({ type: "resource", kind: "shell", name: command, text: output });
  return output;
}
