import type { Command } from "../extension.ts";

export const exportCommand: Command = {
  name: "export",
  group: "Session",
  argument: "[--html|--md] [FILE]",
  help: "write the session to a Markdown or HTML file",
  isOfTerminal: true,
  values: () => ["--html", "--md"],
  run({ record }, argument) {
    const session = record?.stored;
    if (session === undefined) return "There is no recorded message to export here.";
    return { type: "export", session, argument, text: "Run copilot sessions export in a shell." };
  },
};
