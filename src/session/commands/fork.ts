import { shortName } from "../../records/store.ts";
import { isTyped } from "../../text/parts.ts";
import type { CommandAnswer } from "../data.ts";
import type { Command, SessionState } from "../extension.ts";

export const forkCommand: Command = {
  name: "fork",
  group: "Session",
  argument: "[N]",
  help: "continue in a copy of the session; /fork 2: up to your 2nd message",
  // An editor knows the session by its id.
  isOfTerminal: true,
  run: fork,
};

function fork(session: SessionState, argument: string): CommandAnswer {
  const { agent: { state }, record, surface } = session;
  if (surface.kind === "editor") return "Fork the session in the editor.";
  const typed = state.messages.filter(isTyped);
  const number = argument === "" ? typed.length : Number(argument);
  if (typed.length === 0) return "There is no message to fork the session at yet.";
  if (typed[number - 1] === undefined) {
    return `/fork takes the number of your message, at most ${typed.length}`;
  }
  if (record === undefined) return "The session is not recorded, so it cannot be forked.";
  const before = shortName(record.name!);
  const { name, messages } = record.fork(typed[number]);
  const text = `This is now session ${shortName(name)}, a copy of ${before}. ` +
    `Files stay as they are. /resume ${before} returns to the original.`;
  if (number === typed.length) return text;
  state.messages = messages;
  state.seenFiles.clear();
  session.undo?.leave();
  session.usage = undefined;
  return { type: "undone", line: "", text };
}
