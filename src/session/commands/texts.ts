/** Sentences that several commands say. @module */

import { oneLine } from "../../text/one_line.ts";

/** Says that there is no `thing`, with the one that was likely meant, or the command that lists them. */
export function unknownText(thing: string, list: string, meant?: string): string {
  const how = meant === undefined ? `see ${list}` : `did you mean ${oneLine(meant)}?`;
  return `There is no ${oneLine(thing)}: ${how}`;
}

/** Says which arguments a command takes, after another one. */
export const takesText = (command: string, takes: readonly string[]): string =>
  `/${command} takes nothing, or one of: ${takes.join(", ")}`;
