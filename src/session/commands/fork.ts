/** `/fork`: continues in a copy of the session. @module */

import { shortName } from "../../records/store.ts";
import { oneLine, shortened } from "../../text/one_line.ts";
import { typedText } from "../../text/parts.ts";
import type { CommandAnswer } from "../data.ts";
import type { Command, SessionState } from "../extension.ts";
import { MAX_MESSAGE_CHARS } from "./undo.ts";

export const forkCommand: Command = {
  name: "fork",
  group: "Session",
  argument: "[N]",
  help: "continue in a copy of the session (N: a copy up to your message N and its answer)",
  run: fork,
  values: (session) =>
    typedMessages(session).map(({ text }, at) => ({ argument: `${at + 1}`, label: text })),
};

function fork(session: SessionState, argument: string): CommandAnswer {
  const { agent: { state }, record } = session;
  const typed = typedMessages(session);
  if (typed.length === 0) return "There is no message to fork the session at yet.";
  const number = argument === "" ? typed.length : Number(argument);
  const last = Number.isInteger(number) ? typed[number - 1] : undefined;
  if (last === undefined) return `/fork takes the number of your message, at most ${typed.length}`;
  if (record === undefined) return "The session is not recorded, so it cannot be forked.";
  const before = shortName(record.name!);
  const isWhole = number === typed.length;
  const copy = record.fork(typed[number]?.message);
  if (!isWhole) {
    state.messages = copy.messages;
    session.undo?.leave();
    session.usage = undefined;
  }
  const end = isWhole ? "" : ` up to "${last.text}"`;
  return `This is now session ${shortName(copy.name)}, a copy of ${before}${end}. ` +
    `Files stay as they are. /resume ${before} returns to the other.`;
}

/** Returns the messages of the conversation that the user typed. */
const typedMessages = ({ agent }: SessionState) =>
  agent.state.messages.flatMap((message) =>
    message.role === "user" && message.standsFor === undefined
      ? [{ message, text: shortened(oneLine(typedText(message)), MAX_MESSAGE_CHARS) }]
      : []
  );
