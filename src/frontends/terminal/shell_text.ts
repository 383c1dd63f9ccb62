/** The text of a shell command that a person runs. @module */

import type { CommandOutput, ToolOutcome } from "../../types/tool.ts";

/** The result of a command that ended; where it succeeded, its output alone. */
export function shellText({ content, exitCode, output, endedProcesses }: ToolOutcome): string {
  return output && exitCode === 0 && !endedProcesses ? outputText(output) : content;
}

/** The output of a command, stderr last. */
export function outputText({ stdout, stderr }: CommandOutput): string {
  if (stdout === undefined && stderr === undefined) return "no output";
  return [
    ...stdout === undefined ? [] : [stdout],
    ...stderr === undefined ? [] : ["stderr:", stderr],
  ].join("\n");
}
