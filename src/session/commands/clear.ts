import type { Command } from "../extension.ts";

export const clearCommand: Command = {
  name: "clear",
  group: "Session",
  help: "clear the conversation",
  run(session) {
    const { state } = session.agent;
    state.messages.length = 0;
    state.seenFiles.clear();
    session.undo?.leave();
    session.pending = [];
    session.usage = undefined;
    return "The conversation is cleared.";
  },
};
