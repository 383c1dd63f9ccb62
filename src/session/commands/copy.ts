/** `/copy`: the last answer, or one of its blocks of code, for the clipboard. @module */

import { codeBlocks } from "../../text/fence.ts";
import { count } from "../../text/count.ts";
import { typedText } from "../../text/parts.ts";
import { oneLine, shortened } from "../../text/one_line.ts";
import type { ArgumentChoice, Report } from "../report.ts";
import type { Command, SessionState } from "../state.ts";

const MAX_FIRST_CHARS = 40;

export const copyCommand: Command = {
  name: "copy",
  argument: "[N]",
  help: "copy the last answer to the clipboard, or its Nth block of code",
  run: copy,
  values: (session) => codeBlocks(lastAnswer(session) ?? "").map(blockChoice),
};

function copy(session: SessionState, argument: string): Report {
  const text = lastAnswer(session);
  if (text === undefined) return { type: "nothing_to_copy" };
  if (argument === "") return { type: "copy", text };
  const blocks = codeBlocks(text);
  const block = blocks[Number(argument) - 1];
  if (block !== undefined) return { type: "copy", text: block.text, block: Number(argument) };
  return { type: "nothing_to_copy", blocks: blocks.length };
}

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
    message.role === "assistant" && message.standsFor === undefined &&
    message.content.trim() !== ""
  );
  return answer && typedText(answer);
}
