/** The text of a shell command that the user runs. @module */

import type { CommandOutput, ToolOutcome } from "../../types/tool.ts";

/** Returns the result of a finished command: only its output if it succeeded. */
export function shellText({ content, exitCode, output, endedProcesses }: ToolOutcome): string {
  return output && exitCode === 0 && !endedProcesses ? outputText(output) : content;
}

/** Returns the output of a command, stderr last. */
export function outputText({ stdout, stderr }: CommandOutput): string {
  if (stdout === undefined && stderr === undefined) return "no output";
  return [
    ...stdout === undefined ? [] : [stdout],
    ...stderr === undefined ? [] : ["stderr:", stderr],
  ].join("\n");
}
