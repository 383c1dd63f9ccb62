/** Commands in a terminal of the user's editor, if there is no sandbox. @module */

import type { ToolContext, ToolOutcome } from "../../types/tool.ts";
import { InterruptedError } from "../call_errors.ts";
import { commandEnvironment } from "./command_environment.ts";
import { cleanOutput } from "./output_capture.ts";
import { FRAME_CHARS, shellsFor } from "./shell_process.ts";

/**
 * Runs `command` in the editor's terminal. Returns undefined if it must run here, because there is no such editor or
 * the command must be sandboxed.
 *
 * @throws {InterruptedError} if it is aborted, with the output so far.
 */
export async function runInEditor(
  command: string,
  timeoutSeconds: number,
  { editor, confine, leave, env, signal, workingDir, maxOutputChars, callId }: ToolContext,
): Promise<ToolOutcome | undefined> {
  if (!editor?.terminal) return undefined;
  const [first] = await shellsFor(command, workingDir);
  if (first === undefined) return undefined;
  const [program, args] = first;
  const confined = await confine?.(program, args, leave);
  if (confined !== undefined && confined.program !== program) {
    confined.mend?.("");
    return undefined;
  }
  const { ended, output, isCut, exitCode, signal: killer } = await editor.terminal({
    callId,
    program,
    args,
    folder: workingDir,
    env: emptied(commandEnvironment(env)),
    timeoutMs: timeoutSeconds * 1000,
    maxBytes: Math.max(maxOutputChars - FRAME_CHARS, 200),
  }, signal);
  const text = `${isCut ? "[earlier output omitted]\n" : ""}${cleanOutput(output).trimEnd()}`;
  const printed = text === "" ? {} : { stdout: text };
  const shown = text === "" ? "no output" : `output:\n${text}`;
  if (ended === "abort") throw new InterruptedError(shown, printed, { cause: signal.reason });
  const isTimedOut = ended === "timeout";
  const code = exitCode ?? "unknown";
  const lines = [
    `exit code: ${killer === undefined ? code : `${code} (ended by ${killer})`}`,
    ...isTimedOut ? [`timed_out: true (ended after ${timeoutSeconds} s)`] : [],
  ];
  return {
    content: [...lines, shown].join("\n"),
    output: printed,
    ...exitCode !== undefined && { exitCode },
    ...isTimedOut && { isTimedOut },
  };
}

/**
 * Returns the variables of commands. Those of ours that commands must not inherit are empty, because the editor may
 * have them.
 */
function emptied(given: Record<string, string>): Record<string, string> {
  const names = Object.keys(Deno.env.toObject());
  return { ...Object.fromEntries(names.map((name) => [name, ""])), ...given };
}
