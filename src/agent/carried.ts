/**
 * The parts of messages that stay verbatim beside a summary, because weak models lose them: the user's messages,
 * open files, tasks, plan mode, skills. Pure.
 *
 * @module
 */

import { subjectOf } from "./run_tools.ts";
import { PLAN_NOTE, skillsOf, typedText } from "../text/parts.ts";
import { truncateMiddle } from "../text/truncate.ts";
import { checkArguments } from "../tools/schema.ts";
import { tasksIn, tasksPart } from "../tools/tasks.ts";
import type { Message, Part } from "../types/message.ts";
import type { Tool } from "../types/tool.ts";
import { isFromUser, type MessageSize, sizeOf } from "./shrink.ts";

type CarriedNote = Extract<Part, { type: "resource" }>;

/** The names of parts in a summary: a message of the user, and the list of files. */
const SAID = "said";
const FILES = "files";
const FILES_TITLE = "[Files that were open]";
const MAX_LISTED_PATHS = 40;
const MAX_SAID_CHARS = 1200;
const MIN_SAID = 200;
/** The maximum share of the user's messages in the room of all messages. */
const MAX_SAID_PART = 1 / 4;
/** The shares of the limit for the user's messages, the files, and the skills. */
const LIMIT_PARTS = { said: 1 / 12, files: 1 / 24, skills: 1 / 4 };

/** Returns the parts of `old`, of which `kept` stays, in a request of at most `limit` tokens. */
export function carriedParts(
  old: readonly Message[],
  kept: readonly Message[],
  tools: readonly Tool[],
  limit: number,
  size: MessageSize,
): Part[] {
  const tokens = ({ text }: { text: string }) => size({ role: "user", content: text });
  const tasks = tasksIn(old);
  const files = openedFiles(old, tools).slice(-MAX_LISTED_PATHS);
  const filesOf = () => ({ ...note(FILES, [FILES_TITLE, ...files].join("\n")), files: [...files] });
  while (files.length > 1 && tokens(filesOf()) > limit * LIMIT_PARTS.files) files.shift();
  const saidRoom = Math.min(
    Math.max(limit * LIMIT_PARTS.said, MIN_SAID),
    sizeOf(old, size) * MAX_SAID_PART,
  );
  const plan = notesIn(old, PLAN_NOTE).at(-1);
  return [
    ...files.length > 0 ? [filesOf()] : [],
    ...saidWithin(saidIn(old, kept), saidRoom, tokens),
    ...tasks.length > 0 ? [tasksPart(tasks)] : [],
    ...plan ? [plan] : [],
    ...skillsWithin(old, kept, limit * LIMIT_PARTS.skills, tokens),
  ];
}

const note = (name: string, text: string): CarriedNote => ({
  type: "resource",
  kind: "note",
  name,
  text,
});

function notesIn(messages: readonly Message[], name: string): CarriedNote[] {
  return messages.flatMap(({ parts = [] }) =>
    parts.filter((part): part is CarriedNote =>
      part.type === "resource" && part.kind === "note" && part.name === name
    )
  );
}

/** Returns the texts of the user's messages in `old`, oldest first, without the message that stays anyway. */
function saidIn(old: readonly Message[], kept: readonly Message[]): CarriedNote[] {
  return old.flatMap((message) => {
    if (message.standsFor === "summary") return notesIn([message], SAID);
    if (!isFromUser(message) || kept.includes(message)) return [];
    const text = truncateMiddle(typedText(message).trim(), MAX_SAID_CHARS);
    return text === "" ? [] : [note(SAID, `[The person said] ${text}`)];
  });
}

/** Returns the first note, which is probably the task, and as many of the newest as fit into `most` tokens. */
function saidWithin(
  notes: readonly CarriedNote[],
  most: number,
  tokens: (note: CarriedNote) => number,
): CarriedNote[] {
  const [first, ...others] = notes;
  if (first === undefined) return [];
  const all = tokens(first);
  const chars = Math.floor(first.text.length * most / all);
  const task = all <= most ? first : { ...first, text: truncateMiddle(first.text, chars) };
  let room = most - Math.min(all, most);
  const newest: CarriedNote[] = [];
  for (const one of others.reverse()) {
    if ((room -= tokens(one)) < 0) break;
    newest.unshift(one);
  }
  return [task, ...newest];
}

/** Returns the files that calls of `tools` opened, including those of earlier summaries, newest last. */
function openedFiles(messages: readonly Message[], tools: readonly Tool[]): string[] {
  const named = messages.flatMap((message) => {
    const listed = notesIn([message], FILES).flatMap(({ files = [] }) => files);
    const opened = (message.toolCalls ?? []).flatMap(({ name, arguments: args }) => {
      const tool = tools.find((one) => one.name === name);
      const checked = tool && checkArguments(tool, args);
      const { path = "", isFile } = checked?.ok && subjectOf(tool, checked.args) || {};
      return isFile ? path.replaceAll("\n", " ") : [];
    });
    return [...listed, ...opened];
  });
  return [...new Set(named.reverse())].reverse();
}

function keptSkills(messages: readonly Message[]): CarriedNote[] {
  const byName = new Map<string, CarriedNote>();
  for (const part of messages.toReversed().flatMap(skillsOf)) {
    if (!byName.has(part.name)) byName.set(part.name, part);
  }
  return [...byName.values()];
}

/** Returns the newest skills of `old` that are not in `kept`, in at most `most` tokens. */
function skillsWithin(
  old: readonly Message[],
  kept: readonly Message[],
  most: number,
  tokens: (note: CarriedNote) => number,
): CarriedNote[] {
  const still = new Set(keptSkills(kept).map(({ name }) => name));
  let room = most;
  return keptSkills(old).filter((skill) => !still.has(skill.name) && (room -= tokens(skill)) >= 0);
}
