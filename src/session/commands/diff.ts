/** `/diff`: what tools changed in files during the session. @module */

import { count } from "../../text/count.ts";
import { oneLine } from "../../text/one_line.ts";
import type { CommandAnswer } from "../data.ts";
import type { Command, SessionState } from "../extension.ts";

export const diffCommand: Command = {
  name: "diff",
  group: "Work",
  help: "show the changes of this session",
  run: showChanges,
};

async function showChanges({ undo, agent }: SessionState): Promise<CommandAnswer> {
  const changes = await undo?.changes(agent.state.workingDir) ?? [];
  if (changes.length === 0) return "No tool has changed a file in this session.";
  const rows = changes.map(({ path, lines = [] }) => {
    const number = (kind: string) => lines.filter((line) => line.kind === kind).length;
    return `  ${oneLine(path)}  +${number("+")} -${number("-")}`;
  });
  const text = [`${count(changes.length, "file")} changed:`, ...rows].join("\n");
  return { type: "changes", changes, text };
}
