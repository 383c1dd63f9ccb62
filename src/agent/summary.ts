/** The request for a summary of a conversation, and the messages made from the answer. Pure. @module */

import {
  imagesOf,
  notePart,
  type SkillPart,
  skillsOf,
  textOfParts,
  userMessage,
} from "../text/parts.ts";
import { truncateMiddle } from "../text/truncate.ts";
import { checkArguments } from "../tools/schema.ts";
import { tasksIn, tasksPart } from "../tools/tasks.ts";
import type { Message } from "../types/message.ts";
import type { Tool } from "../types/tool.ts";

const TITLE = "[Summary of the conversation until here]";
const GOING_ON = "[I go on from this summary.]";
const SYSTEM =
  "You write summaries of the work of a coding copilot, from which it goes on alone. You call no tools.";

const MIN_SUMMARY_WORDS = 40;
const MAX_SUMMARY_WORDS = 400;

const task = (words: number) =>
  `The above is a conversation of a person with a coding copilot, in a terminal. \
The copilot will go on from your summary and will not see the conversation again. \
Write it under these headings, in the language of the person, in at most ${words} words:
Task: what the person wants, and every rule they set, in their own words.
Done: what is finished, and how it was checked.
Decisions: what was decided, and why; what was tried and did not work.
Files: path, and what matters in it; which of them were changed.
Next: what is still to do, beginning with what was under way.
Keep names, paths, numbers, commands and error messages exactly as they are. \
If there is a summary from earlier, keep what still counts of it. Write the summary only.`;

/** Characters of a message that are quoted in the request, by role; an earlier summary is quoted whole. */
const QUOTED_CHARS = { system: 0, user: 4000, assistant: 2000, tool: 600 };
const SHOWN_ARGUMENTS = 300;

/** The request for a summary of about `words`, of `messages` cut to `maxChars`, above all of `focus`. */
export function summaryRequest(
  messages: readonly Message[],
  maxChars: number,
  focus = "",
  words = MAX_SUMMARY_WORDS,
): Message[] {
  const above = focus.trim() === "" ? "" : `\nKeep above all: ${focus.trim()}`;
  const text = truncateMiddle(messages.map(transcript).join("\n\n"), maxChars);
  const limit = Math.min(Math.max(Math.round(words), MIN_SUMMARY_WORDS), MAX_SUMMARY_WORDS);
  const content = `<conversation>\n${text}\n</conversation>\n\n${task(limit)}${above}`;
  return [{ role: "system", content: SYSTEM }, { role: "user", content }];
}

function transcript(message: Message): string {
  const { role, toolCalls = [], toolName } = message;
  const content = withoutSkills(message);
  const images = imagesOf(message);
  const max = isSummary(message) ? Infinity : QUOTED_CHARS[role];
  const calls = toolCalls.map(({ name, arguments: args, invalid }) =>
    `[calls ${name}: ${truncateMiddle(invalid?.text ?? JSON.stringify(args), SHOWN_ARGUMENTS)}]`
  );
  const who = role === "tool" ? `result of ${toolName}` : role === "user" ? "person" : "copilot";
  const seen = images.length > 0 ? [`[${images.length} images]`] : [];
  return [`${who}: ${truncateMiddle(content.trim(), max)}`, ...seen, ...calls].join("\n");
}

/** The text of a message, with names in the place of skills, which stay whatever a summary says. */
function withoutSkills(message: Message): string {
  if (skillsOf(message).length === 0) return message.content;
  const parts = (message.parts ?? []).map((part) =>
    part.type === "resource" && part.kind === "skill" ? notePart(`[skill ${part.name}]`) : part
  );
  return textOfParts(parts);
}

/** The newest text of each skill in `messages`, the newest first. */
export function keptSkills(messages: readonly Message[]): SkillPart[] {
  const byName = new Map<string, SkillPart>();
  for (const part of messages.toReversed().flatMap(skillsOf)) {
    if (!byName.has(part.name)) byName.set(part.name, part);
  }
  return [...byName.values()];
}

/** Stands in for a summary that the model can not write: the person's messages and the last answer. */
export function outline(messages: readonly Message[]): string {
  const said = messages.filter(({ role }) => role === "user").slice(-20)
    .map((message) =>
      `- ${truncateMiddle(withoutSkills(message), isSummary(message) ? 4000 : 500)}`
    );
  const last = messages.findLast(({ role, content }) => role === "assistant" && content !== "");
  const answer = last ? `\nThe copilot's last words:\n${truncateMiddle(last.content, 1000)}` : "";
  return `The person said:\n${said.join("\n")}${answer}`;
}

/** The most files that are listed: those opened last. */
const MAX_LISTED_PATHS = 40;

/**
 * The messages that stand for `old`: its summary with the files that calls of `tools` opened, the list of
 * tasks and `skills`, and a sentence of the model's, as roles alternate and a message of the person follows.
 */
export function summaryMessages(
  summary: string,
  old: readonly Message[],
  tools: readonly Tool[],
  skills: readonly SkillPart[] = [],
): Message[] {
  const named = old.flatMap(({ toolCalls = [] }) =>
    toolCalls.flatMap(({ name, arguments: args }) => {
      const tool = tools.find((one) => one.name === name);
      const checked = tool && checkArguments(tool, args);
      const { path = "", isFile } = checked?.ok ? tool?.subject?.(checked.args) ?? {} : {};
      return isFile ? path : [];
    })
  );
  const paths = [...new Set(named.reverse())].slice(0, MAX_LISTED_PATHS).reverse();
  const files = paths.length > 0 ? `\n\nFiles that were open: ${paths.join(", ")}` : "";
  const text = `${TITLE}\n${summary}${files}`;
  const tasks = tasksIn(old);
  const more = [...tasks.length > 0 ? [tasksPart(tasks)] : [], ...skills];
  const said = userMessage(more.length > 0 ? [{ type: "text", text }, ...more] : text);
  return [
    { ...said, standsFor: "summary" },
    { role: "assistant", content: GOING_ON, standsFor: "summary" },
  ];
}

export function isSummary(message: Message | undefined): boolean {
  return message?.role === "user" && message.standsFor === "summary";
}
