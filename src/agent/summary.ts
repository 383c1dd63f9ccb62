/** The request for a summary of a conversation, and the messages made from its answer. Pure. @module */

import {
  imagesOf,
  notePart,
  skillsOf,
  textOfParts,
  typedText,
  userMessage,
} from "../text/parts.ts";
import { truncateMiddle } from "../text/truncate.ts";
import type { Message, Part } from "../types/message.ts";

const TITLE = "[Summary of the conversation until here]";
const GOING_ON = "[I go on from this summary.]";
const SYSTEM =
  "You write summaries of the work of a coding copilot, from which it goes on alone. You call no tools.";

const MIN_SUMMARY_WORDS = 40;
const MAX_SUMMARY_WORDS = 400;

const OF_OTHERS = `The above is a conversation of a person with a coding copilot, in a terminal. \
The copilot will go on from your summary and will not see the conversation again. \
Write it`;
const OF_ITS_OWN =
  `[Stop here and call no tool. Write a summary of this conversation: you will go on from it \
and will not see the conversation again. Write it`;

const task = (words: number, start = OF_OTHERS) =>
  `${start} under these headings, in the language of the person, in at most ${words} words:
Task: what the person wants, and every rule they set, in their own words.
Done: what is finished, and how it was checked.
Decisions: what was decided, and why; what was tried and did not work.
Files: path, and what matters in it; which of them were changed.
Next: what is still to do, beginning with what was under way.
Keep names, paths, numbers, commands and error messages exactly as they are. \
If there is a summary from earlier, keep what still counts of it. Write the summary only.`;

/** The quoted characters of a message in the request, by role. An earlier summary is quoted whole. */
const QUOTED_CHARS = { system: 0, user: 4000, assistant: 2000, tool: 600 };
const SHOWN_ARGUMENTS = 300;

export function summaryQuestion(focus = "", words: number): Message {
  return { role: "user", content: `${task(withinLimits(words), OF_ITS_OWN)}${above(focus)}]` };
}

const above = (focus: string) => focus.trim() === "" ? "" : `\nKeep above all: ${focus.trim()}`;
const withinLimits = (words: number) =>
  Math.min(Math.max(Math.round(words), MIN_SUMMARY_WORDS), MAX_SUMMARY_WORDS);

/** Returns the request for a summary of about `words`, of `messages` cut to `maxChars`. */
export function summaryRequest(
  messages: readonly Message[],
  maxChars: number,
  focus = "",
  words = MAX_SUMMARY_WORDS,
): Message[] {
  const text = truncateMiddle(messages.map(transcript).join("\n\n"), maxChars);
  const content = `<conversation>\n${text}\n</conversation>\n\n${task(withinLimits(words))}${
    above(focus)
  }`;
  return [{ role: "system", content: SYSTEM }, { role: "user", content }];
}

/** Returns a message as text, with calls and the beginning of results. */
export function transcript(message: Message): string {
  const { role, toolCalls = [], toolName } = message;
  const content = quotedText(message);
  const images = imagesOf(message);
  const max = isSummary(message) ? Infinity : QUOTED_CHARS[role];
  const calls = toolCalls.map(({ name, arguments: args, invalid }) =>
    `[calls ${name}: ${truncateMiddle(invalid?.text ?? JSON.stringify(args), SHOWN_ARGUMENTS)}]`
  );
  const by = role !== "user" ? "copilot" : message.standsFor === "reminder" ? "program" : "person";
  const who = role === "tool" ? `result of ${toolName}` : by;
  const seen = images.length > 0 ? [`[${images.length} images]`] : [];
  return [`${who}: ${truncateMiddle(content.trim(), max)}`, ...seen, ...calls].join("\n");
}

/** Returns the text of a message, with names in place of skills; of a summary, without its verbatim parts. */
function quotedText(message: Message): string {
  if (isSummary(message)) return typedText(message);
  if (skillsOf(message).length === 0) return message.content;
  const parts = (message.parts ?? []).map((part) =>
    part.type === "resource" && part.kind === "skill" ? notePart(`[skill ${part.name}]`) : part
  );
  return textOfParts(parts);
}

const MAX_OUTLINE_SUMMARY = 4000;
const MAX_OUTLINE_ANSWER = 1000;

/** Replaces a summary that the model cannot write: an earlier one, and the agent's last words. */
export function outline(messages: readonly Message[]): string {
  const earlier = messages.findLast(isSummary);
  const last = messages.findLast(({ role, content, standsFor }) =>
    role === "assistant" && content !== "" && standsFor === undefined
  );
  return [
    ...earlier
      ? [truncateMiddle(typedText(earlier).replace(`${TITLE}\n`, ""), MAX_OUTLINE_SUMMARY)]
      : [],
    ...last
      ? [`The copilot's last words:\n${truncateMiddle(last.content, MAX_OUTLINE_ANSWER)}`]
      : [],
  ].join("\n");
}

/** True for a summary without new content: the request's own text, or an earlier summary. */
export function isNonsense(text: string, old: readonly Message[]): boolean {
  const [before] = old;
  const isSame = isSummary(before) && typedText(before!).startsWith(`${TITLE}\n${text.trim()}`);
  return /<conversation>|^\s*\[Stop here/.test(text) || isSame;
}

/** Returns a summary with the verbatim parts, and a sentence of the model: roles alternate, and a user message follows. */
export function summaryMessages(summary: string, parts: readonly Part[]): Message[] {
  const text = `${TITLE}\n${summary}`;
  return [
    { ...userMessage([{ type: "text", text }, ...parts]), standsFor: "summary" },
    { role: "assistant", content: GOING_ON, standsFor: "summary" },
  ];
}

export function isSummary(message: Message | undefined): boolean {
  return message?.role === "user" && message.standsFor === "summary";
}
