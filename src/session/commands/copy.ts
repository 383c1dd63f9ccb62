import { codeBlocks } from "../../text/fence.ts";
import { count } from "../../text/count.ts";
import { typedText } from "../../text/parts.ts";
import { oneLine, shortened } from "../../text/one_line.ts";
import type { ArgumentChoice, CommandAnswer } from "../data.ts";
import type { Command, SessionState } from "../extension.ts";

const MAX_FIRST_CHARS = 40;

export const copyCommand: Command = {
  name: "copy",
  group: "Session",
  argument: "[N]",
  help: "copy the last answer, or its Nth code block",
  isOfTerminal: true,
  run: copy,
  values: (session) => codeBlocks(lastAnswer(session) ?? "").map(blockChoice),
};

function copy(session: SessionState, argument: string): CommandAnswer {
  const answer = lastAnswer(session);
  if (answer === undefined) return "There is no answer to copy yet.";
  if (argument === "") return copied(answer, "the last answer");
  const blocks = codeBlocks(answer);
  const block = blocks[Number(argument) - 1];
  if (block !== undefined) return copied(block.text, `block ${Number(argument)}`);
  if (blocks.length === 0) return "The last answer has no code block: /copy copies all of it";
  return `The last answer has ${count(blocks.length, "code block")}: /copy 1 copies the first`;
}

const copied = (copied: string, what: string): CommandAnswer => ({
  type: "copy",
  copied,
  what: `${what}, ${count(copied.trimEnd().split("\n").length, "line")}`,
  text: "Copy in the editor: programs cannot use the clipboard here.",
});

function blockChoice(
  { language, text }: ReturnType<typeof codeBlocks>[number],
  at: number,
): ArgumentChoice {
  const first = shortened(
    oneLine(text.split("\n").find((line) => line.trim()) ?? ""),
    MAX_FIRST_CHARS,
  );
  const lines = count(text.split("\n").length, "line");
  return {
    argument: `${at + 1}`,
    label: first,
    detail: [language, lines].filter(Boolean).join(" · "),
  };
}

function lastAnswer({ agent }: SessionState): string | undefined {
  const answer = agent.state.messages.findLast((message) =>
    message.role === "assistant" && message.standsFor === undefined && message.content.trim() !== ""
  );
  return answer && typedText(answer);
}
