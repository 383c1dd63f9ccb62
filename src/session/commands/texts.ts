import { oneLine } from "../../text/one_line.ts";

/** Says that there is no `thing`, and suggests the closest one or the command that lists them. */
export function unknownText(thing: string, list: string, meant?: string): string {
  const how = meant === undefined ? `see ${list}` : `did you mean ${oneLine(meant)}?`;
  return `There is no ${oneLine(thing)}: ${how}`;
}

export const takesText = (command: string, takes: readonly string[]): string =>
  `/${command} accepts no argument, or one of: ${takes.join(", ")}`;
