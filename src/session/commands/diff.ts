/** `/diff`: what tools changed in files during the session. @module */

import { oneLine } from "../../text/one_line.ts";
import type { Command } from "../extension.ts";

export const diffCommand: Command = {
  name: "diff",
  isView: true,
  group: "Work",
  help: "show the changes of this session",
  async run({ undo, agent }) {
    const changes = await undo?.changes(agent.state.workingDir) ?? [];
    if (changes.length === 0) return "No tool has changed a file in this session.";
    return { type: "changes", changes, text: changes.map(({ path }) => oneLine(path)).join("\n") };
  },
};
