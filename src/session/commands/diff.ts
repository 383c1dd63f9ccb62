import { oneLine } from "../../text/one_line.ts";
import type { Command } from "../extension.ts";

const NO_CHANGE = "No tool or command has changed a file in this session.";
const NOT_FOLLOWED = "Changes by commands are not known, as the folder has too many files.";

export const diffCommand: Command = {
  name: "diff",
  isView: true,
  group: "Work",
  help: "show the changes of this session",
  async run({ undo, agent }) {
    const changes = await undo?.changes(agent.state.workingDir) ?? [];
    const others = undo?.isFollowed === false ? [NOT_FOLLOWED] : [];
    if (changes.length === 0) return [NO_CHANGE, ...others].join(" ");
    const text = [...changes.map(({ path }) => oneLine(path)), ...others].join("\n");
    return { type: "changes", changes, others, text };
  },
};
