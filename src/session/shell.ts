/**
 * `!command`: a shell command of the person's own.
 *
 * @module
 */

import { shellTool } from "../tools/mod.ts";
import type { ToolOutcome } from "../types/tool.ts";
import type { SessionState } from "./state.ts";

/** The longest that a person's own command may run, in seconds: a day. */
const MAX_SECONDS = 86_400;

/** Runs `command`, keeps its output for the next message, and returns it; see `Session.shell`. */
export async function runShell(
  session: SessionState,
  command: string,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const { confine: _, ...context } = session.agent.toolContext(signal);
  const result = await shellTool.run({ command, timeout_seconds: MAX_SECONDS }, {
    ...context,
    onOutput: (newest) => session.emit({ type: "output", newest }),
  });
  const outcome = typeof result === "string" ? { content: result } : result;
  session.pending.push({ type: "resource", kind: "shell", name: command, text: outcome.content });
  return outcome;
}
