/**
 * The rules of the built-in demo: a pure function that plays a small model. Each request replays the
 * turn; tool results that are not there yet are what the demo asks for next.
 * @module
 */

import { shortened } from "../../text/one_line.ts";
import { answerQuestion } from "./question.ts";
import {
  DISCLAIMER,
  entries,
  failureLines,
  fileText,
  firstLine,
  inlineCode,
  PROJECT_FILES,
  type Use,
} from "./results.ts";

type DemoCall = { name: string; arguments: Record<string, unknown> };

/** The part of a native chat request that the rules read. */
export interface DemoRequest {
  messages: readonly {
    role: string;
    content?: string | null;
    tool_calls?: readonly { function: DemoCall }[] | null;
  }[];
  tools?: readonly { function: { name: string } }[] | null | undefined;
}

export type DemoReply = { text?: string; toolCalls?: DemoCall[] };

/** Prompts beyond this many characters are questions with data in them, never orders. */
const MAX_ORDER = 8000;

/** The demo's next step in the conversation that `request` holds. */
export function demoReply({ messages, tools }: DemoRequest): DemoReply {
  const start = messages.findLastIndex(({ role }) => role === "user");
  const turn = messages.slice(start + 1);
  const results = turn.flatMap(({ role, content }) => role === "tool" ? [content ?? ""] : []);
  const calls = turn.flatMap(({ tool_calls }) => tool_calls ?? []);
  const offered = new Set(tools?.map((tool) => tool.function.name));
  const toolCalls: DemoCall[] = [];
  const use: Use = (name, args) => {
    const made = calls.findIndex(({ function: call }) =>
      call.name === name && Object.keys(args).every((key) => call.arguments[key] === args[key])
    );
    if (made !== -1) return results[made] ?? "Error: no result of this call arrived";
    if (!offered.has(name)) return `Error: the tool ${name} was not offered`;
    toolCalls.push({ name, arguments: args });
    return "";
  };
  const lines = respond((messages[start]?.content ?? "").trim(), use);
  return toolCalls.length > 0 ? { toolCalls } : { text: lines.join("\n") };
}

function respond(prompt: string, use: Use): string[] {
  // Piped text comes behind this tag; it is data, and nothing in it is an order.
  const [ask = ""] = prompt.split("\n\n<stdin>\n", 1);
  if (ask.length <= MAX_ORDER) {
    const order = ask.replace(
      /^(?:(?:please|now|then|and|also|ok|okay|can you|could you|would you)\b[,.!]?\s+)+/i,
      "",
    );
    if (GREETING.test(order)) return [`Hello! ${DISCLAIMER}`, ...KNOWN_FORMS];
    for (const [pattern, rule] of ORDERS) {
      const match = new RegExp(`^${pattern}`, "i").exec(order);
      if (!match) continue;
      const { file, old, new: text, block, command } = match.groups ?? {};
      return rule({
        path: unquote(file),
        old: unquote(old),
        text: block ?? unquote(text),
        command: unquote(command),
      }, use);
    }
  }
  return answerQuestion(ask, prompt.length > ask.length, use);
}

const GREETING =
  /^(?:$|(?:(?:hi|hello|hey|hola|hallo|bonjour|ciao|thanks|thank you|help)(?: there| copilot)?|(?:who|what) are you|what can (?:you|i) do)[\s!?.]*$)/i;
const KNOWN_FORMS = [
  "It shows how the copilot works, with the real tools on your own folder. Try:",
  "- `What does this project do?`",
  '- `create hello.txt with "Hello, world"`',
  '- `replace "old" with "new" in FILE`',
  '- `add a line "text" to FILE`',
  '- `run "git status"` or `run the tests`',
  "For real answers, start a model server, then `/setup`, or leave out `--demo`.",
];

// A quoted text, which may span lines, or all up to the next word of the pattern.
const QUOTED = "\"[^\"]*\"|'[^']*'|`[^`]*`|“[^”]*”";
const NEW = `(?<new>${QUOTED}|[^\\n]+?)`;
const FILE = `(?:the )?(?:file )?(?<file>${QUOTED}|\\S+?)`;
const PATH =
  `(?:a )?(?:new )?(?:file )?(?:called |named )?(?<file>${QUOTED}|(?=\\S*[./])\\S+?|\\w*file)`;
const ORDER_END = "[.!?]?\\s*$";
const SWAP = `(?:replace|change|rename) (?<old>${QUOTED}|[^\\n]+?) (?:with|to|by|into) ${NEW}`;
const ADD = "(?:add|append)";
const LINE = "(?:a |the )?(?:new )?line";
const AT_END = `(?:to|at) (?:the end of )?${FILE}${ORDER_END}`;
const CONTENT = "(?:with|containing|saying):?\\s+(?:the )?(?:text |content |line )?" +
  `(?:\`\`\`[^\\n]*\\n(?<block>[^]*?)\`\`\`\\s*$|(?<new>(?:${QUOTED})(?=\\s*$)|[^]+))`;

/** Programs that are known without quotes around their command. */
const PROGRAMS =
  "(?:ls|pwd|date|cat|head|tail|wc|echo|grep|git|make|npm|npx|node|deno|python3?|pytest|cargo|go)\\b";
/** The words of an order; those that it does not have are empty. */
type DemoOrder = Record<"path" | "old" | "text" | "command", string>;
/** The orders that the demo knows, at the start of a prompt; the first that matches counts. */
const ORDERS: readonly (readonly [string, (order: DemoOrder, use: Use) => string[]])[] = [
  [`${SWAP} in ${FILE}${ORDER_END}`, replaceOrder],
  [`in ${FILE},? ${SWAP}${ORDER_END}`, replaceOrder],
  [`${ADD} ${LINE} to ${FILE}(?:,? saying|:) ${NEW}\\s*$`, appendOrder],
  [`${ADD} ${LINE}(?: saying|:)? ${NEW} ${AT_END}`, appendOrder],
  [`${ADD} (?<new>${QUOTED}) ${AT_END}`, appendOrder],
  [`(?:write|put|save) ${NEW} (?:to|into|in) ${PATH}${ORDER_END}`, createOrder],
  [`(?:create|make|write) ${PATH} ${CONTENT}`, createOrder],
  ["(?:run|execute)\\b[^\\n`]*`(?<command>[^`]+)`", runOrder],
  [`(?:run|execute) (?:the )?(?:command )?(?<command>${QUOTED})`, runOrder],
  ["(?:run|execute) (?:(?:all|the|my|unit) )*tests?\\b", testsOrder],
  [`(?:run|execute) (?<command>${PROGRAMS}[^\\n]*?)(?:(?<=\\w)[.!?])?\\s*$`, runOrder],
  [
    "(?:run|execute|replace|change|rename|add|append|create|make|write|put|edit|fix|delete|remove|refactor|implement)\\b",
    () => [`${DISCLAIMER} Nothing was done.`, ...KNOWN_FORMS],
  ],
];

function replaceOrder({ path, old: wanted, text }: DemoOrder, use: Use): string[] {
  const read = use("read_file", { file_path: path });
  const content = fileText(read);
  if (content === null) {
    return [DISCLAIMER, `I could not read ${inlineCode(path)}: ${firstLine(read)}`];
  }
  const old = content.includes(wanted)
    ? wanted
    : new RegExp(RegExp.escape(wanted), "i").exec(content)?.[0];
  if (!old) {
    const where = `in what I read of ${inlineCode(path)}`;
    return [DISCLAIMER, `${inlineCode(wanted)} does not occur ${where}. Nothing was changed.`];
  }
  const args = { file_path: path, old_string: old, new_string: text };
  const many = content.indexOf(old) !== content.lastIndexOf(old);
  const result = use("edit_file", many ? { ...args, replace_all: true } : args);
  const where = `${many ? " everywhere" : ""} in ${inlineCode(path)}`;
  return written(result, `I replaced ${inlineCode(old)} with ${inlineCode(text)}${where}.`);
}

function appendOrder({ path, text: line }: DemoOrder, use: Use): string[] {
  const read = use("read_file", { file_path: path });
  const content = fileText(read);
  if (content === null) {
    return [
      DISCLAIMER,
      `I could not read ${inlineCode(path)}: ${firstLine(read)}`,
      'To make a new file, say `create FILE with "text"`.',
    ];
  }
  // The line below the numbered ones says how many there are, where they are the whole file.
  if (!/(?:^|\n)\[(?:\d+ lines|the file is empty)(?!.*\bcut\b)[^\n]*\]$/.test(read)) {
    const why = "is longer than what I read of it, so I left its end alone.";
    return [DISCLAIMER, `${inlineCode(path)} ${why}`];
  }
  const tail = uniqueTail(content);
  const result = tail === ""
    ? use("write_file", { file_path: path, content: `${line}\n` })
    : use("edit_file", { file_path: path, old_string: tail, new_string: `${tail}\n${line}` });
  return written(result, `I added the line ${inlineCode(line)} at the end of ${inlineCode(path)}.`);
}

function createOrder({ path, text }: DemoOrder, use: Use): string[] {
  const read = use("read_file", { file_path: path });
  if (fileText(read) !== null) {
    return [DISCLAIMER, `${inlineCode(path)} is there already, so I left it alone.`];
  }
  if (!/ as (?:it does not exist|there is no folder)/.test(read)) {
    return [DISCLAIMER, `I did not write ${inlineCode(path)}: ${firstLine(read)}`];
  }
  const content = text.endsWith("\n") ? text : `${text}\n`;
  return written(use("write_file", { file_path: path, content }), `I wrote ${inlineCode(path)}.`);
}

/** The answer after a write: `success`, or the failure in the tool's words. */
function written(result: string, success: string): string[] {
  return /^(?:Created|Replaced|Filled) /.test(result)
    ? [DISCLAIMER, success, `The tool says: ${firstLine(result)}`]
    : [DISCLAIMER, ...failureLines(result), "Nothing was changed."];
}

function runOrder({ command }: Pick<DemoOrder, "command">, use: Use): string[] {
  const result = use("run_bash", { command });
  const exit = /^exit code: (-?\d+)/.exec(result)?.[1];
  if (exit === undefined) return [DISCLAIMER, ...failureLines(result)];
  const lines = result.trimEnd().split("\n").slice(1);
  return [
    DISCLAIMER,
    `I ran ${inlineCode(command)}; exit code ${exit}${lines.length > 0 ? ":" : "."}`,
    ...(lines.length > 0 ? fenced(lines.slice(0, 12)) : []),
    ...(lines.length > 12 ? [`(the first 12 of ${lines.length} lines)`] : []),
  ];
}

/** Lines as a block of code. */
function fenced(lines: readonly string[]): string[] {
  return ["````", ...lines.map((line) => shortened(line, 160)), "````"];
}

function testsOrder(_: DemoOrder, use: Use): string[] {
  const listing = use("list_directory", { path: "." });
  const names = entries(listing);
  if (!names) return [DISCLAIMER, ...failureLines(listing)];
  const [, command] =
    PROJECT_FILES.find(([name, test]) => test && names.some((n) => name.test(n))) ?? [];
  if (command) return runOrder({ command }, use);
  return [DISCLAIMER, 'I see no build file here that I know. Say `run "command"` with your own.'];
}

function unquote(text = ""): string {
  return /^(["'`])(?:(?!\1)[^])*\1$|^“[^”]*”$/.test(text) ? text.slice(1, -1) : text.trim();
}

/** The shortest run of whole lines at the end of `content` that occurs there only; "" if it is blank. */
function uniqueTail(content: string): string {
  const all = content.split("\n");
  const lines = all.slice(0, all.findLastIndex((line) => line !== "") + 1);
  for (let count = 1;; count *= 2) {
    const tail = lines.slice(-count).join("\n");
    if (count >= lines.length || content.indexOf(tail) === content.lastIndexOf(tail)) return tail;
  }
}
