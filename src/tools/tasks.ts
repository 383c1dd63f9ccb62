/** The tool `tasks`: the model's list of steps for long work is part of the conversation. @module */

import type { Message, Part } from "../types/message.ts";
import type { TaskItem, Tool } from "../types/tool.ts";
import { callable, objectSchema } from "./definition.ts";

/** The name of the tool, and of the part of a summary with the list. */
export const TASKS = "tasks";
/** The maximum number of steps, and the maximum length of each in characters. */
const MAX_TASKS = 100;
const MAX_TASK_CHARS = 200;

/** The model's list of steps. {@linkcode tasksIn} finds the newest one. */
export const tasksTool: Tool = callable({
  name: TASKS,
  description: "For long work: keep all its steps in a list, a line each: [x] done, [ ] open",
  parameters: objectSchema({ list: { type: "string" } }, ["list"]),
  access: "read",
  subject: () => ({ action: "plan" }),
  run({ list }) {
    const tasks = parseTasks(String(list));
    const done = tasks.filter(({ isDone }) => isDone).length;
    return {
      content: `${done} of ${tasks.length} done`,
      counts: { done, tasks: tasks.length },
      tasks,
    };
  },
});

/** Returns the steps in a model's list: the lines with a checkbox, or all of them if no line has one. */
export function parseTasks(list: string): TaskItem[] {
  const lines = list.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  const boxed = lines.flatMap((line): TaskItem[] => {
    const [, sign, text] = /^(?:[-*+]|\d+[.)])?\s*\[(.?)\]\s*(.+)$/u.exec(line) ?? [];
    return text === undefined ? [] : [{ text, isDone: /[x✓✔]/i.test(sign!) }];
  });
  const tasks = boxed.length > 0 ? boxed : lines.map((text) => ({ text, isDone: false }));
  return tasks.slice(0, MAX_TASKS)
    .map((task) => ({ ...task, text: task.text.slice(0, MAX_TASK_CHARS).toWellFormed() }));
}

export function tasksIn(messages: readonly Message[]): TaskItem[] {
  for (let at = messages.length - 1; at >= 0; at--) {
    const { parts, toolCalls } = messages[at]!;
    const list = toolCalls?.findLast(({ name }) => name === TASKS)?.arguments.list;
    if (typeof list === "string") return parseTasks(list);
    const kept = parts?.find(isTasksPart);
    if (kept?.type === "resource") return parseTasks(kept.text);
  }
  return [];
}

export function tasksPart(tasks: readonly TaskItem[]): Part {
  const rows = tasks.map(({ text, isDone }) => `[${isDone ? "x" : " "}] ${text}`);
  return { type: "resource", kind: "note", name: TASKS, text: `[Tasks]\n${rows.join("\n")}` };
}

const isTasksPart = (part: Part): boolean =>
  part.type === "resource" && part.kind === "note" && part.name === TASKS;
