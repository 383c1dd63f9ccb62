/**
 * What a person reads of a shell command of their own.
 *
 * @module
 */

import type { CommandOutput, ToolOutcome } from "../../types/tool.ts";

/** The result of a command that ended: where all went well, what it printed and no more. */
export function shellText({ content, exitCode, output, endedProcesses }: ToolOutcome): string {
  return output && exitCode === 0 && !endedProcesses ? outputText(output) : content;
}

/** What a command printed. */
export function outputText({ stdout, stderr }: CommandOutput): string {
  if (stdout === undefined && stderr === undefined) return "no output";
  return [
    ...stdout === undefined ? [] : [stdout],
    ...stderr === undefined ? [] : ["stderr:", stderr],
  ].join("\n");
}
