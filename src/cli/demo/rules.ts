/**
 * The rules of the built-in demo: a pure function that plays a small model, so that a first run
 * needs none. It keeps no state: a turn is replayed from the conversation in each request, and the
 * first tool result that is not there yet is what the demo asks for next.
 *
 * @module
 */

import { shortened } from "../../text/one_line.ts";
import { answerQuestion } from "./question.ts";
import {
  type DemoAnswer,
  DISCLAIMER,
  entries,
  failureLines,
  fileText,
  firstLine,
  inlineCode,
  isWhole,
  isWritten,
  PROJECT_FILES,
  type Use,
} from "./results.ts";

/** A tool call in Ollama's native form, without the wrapper. */
interface DemoCall {
  name: string;
  arguments: Record<string, unknown>;
}

/** The part of a native chat request that the rules read. */
export interface DemoRequest {
  messages: readonly {
    role: string;
    content?: string | null;
    tool_calls?: readonly { function: DemoCall }[] | null;
  }[];
  tools?: readonly { function: { name: string } }[] | null | undefined;
}

/** Either an answer or tool calls. */
export interface DemoReply {
  text?: string;
  toolCalls?: DemoCall[];
}

/** Prompts beyond this many characters are questions with data in them, never orders. */
const MAX_ORDER = 8000;
/** More calls than any rule makes: such a history was changed on the way, and asking again would not end. */
const MAX_DEMO_CALLS = 12;

/** The demo's next step in the conversation that `request` holds. */
export function demoReply(request: DemoRequest): DemoReply {
  const { ask, calls } = lastTurn(request.messages);
  const offered = new Set(request.tools?.map((tool) => tool.function.name));
  const toolCalls: DemoCall[] = [];
  const use: Use = (name, args) => {
    const keys = Object.keys(args);
    const made = calls.find((c) =>
      c.name === name && keys.every((k) => c.arguments[k] === args[k])
    );
    if (made) return made.result;
    if (!offered.has(name)) return `Error: the tool ${name} was not offered`;
    if (calls.length >= MAX_DEMO_CALLS) return `Error: no result of ${name} arrived`;
    toolCalls.push({ name, arguments: args });
    return undefined;
  };
  const lines = respond(ask, use);
  return lines ? { text: lines.join("\n") } : { toolCalls };
}

/** The last user message, and the calls since, each with its result. */
function lastTurn(messages: DemoRequest["messages"]) {
  const start = messages.findLastIndex((message) => message.role === "user");
  const calls: (DemoCall & { result: string })[] = [];
  let open = 0;
  for (const message of messages.slice(start + 1)) {
    for (const call of message.tool_calls ?? []) {
      calls.push({ ...call.function, result: "Error: no result of this call arrived" });
    }
    const answered = message.role === "tool" ? calls[open++] : undefined;
    if (answered) answered.result = message.content ?? "";
  }
  return { ask: (messages[start]?.content ?? "").trim(), calls };
}

function respond(prompt: string, use: Use): DemoAnswer {
  // Piped text comes behind this tag; it is data, and nothing in it is an order.
  const end = prompt.indexOf("\n\n<stdin>\n");
  const ask = end < 0 ? prompt : prompt.slice(0, end);
  if (ask.length <= MAX_ORDER) {
    const order = ask.replace(
      /^(?:(?:please|now|then|and|also|ok|okay|can you|could you|would you)\b[,.!]?\s+)+/i,
      "",
    );
    if (GREETING.test(order)) return hello();
    for (const [pattern, rule] of ORDERS) {
      const match = pattern.exec(order);
      if (match) return rule(match.groups ?? {}, use);
    }
  }
  return answerQuestion(ask, prompt.length > ask.length, use);
}

const GREETING =
  /^(?:$|(?:(?:hi|hello|hey|hola|hallo|bonjour|ciao|thanks|thank you|help)(?: there| copilot)?|(?:who|what) are you|what can (?:you|i) do)[\s!?.]*$)/i;

function hello(): string[] {
  return [
    `Hello! ${DISCLAIMER}`,
    "It shows how the copilot works, with the real tools on your own folder. Try:",
    "- `What does this project do?`",
    '- `Create hello.txt with "Hello, world"`',
    '- `Run "git status"`',
    "For real answers, start a model server and leave out `--demo`.",
  ];
}

// A quoted text, which may span lines, or all up to the next word of the pattern.
const QUOTED = "\"[^\"]*\"|'[^']*'|`[^`]*`|“[^”]*”";
const textGroup = (name: string) => `(?<${name}>${QUOTED}|[^\\n]+?)`;
const FILE_GROUP = `(?:the )?(?:file )?(?<file>${QUOTED}|\\S+?)`;
const PATH_GROUP =
  `(?:a )?(?:new )?(?:file )?(?:called |named )?(?<file>${QUOTED}|(?=\\S*[./])\\S+?|\\w*file)`;
const ORDER_END = "[.!?]?\\s*$";
const SWAP = `(?:replace|change|rename) ${textGroup("old")} (?:with|to|by|into) ${
  textGroup("new")
}`;
const LINE = "(?:a |the )?(?:new )?line";

type Groups = Record<string, string | undefined>;
/** The orders that the demo knows, at the start of a prompt; the first that matches counts. */
const ORDERS = ([
  [`${SWAP} in ${FILE_GROUP}${ORDER_END}`, replaceOrder],
  [`in ${FILE_GROUP},? ${SWAP}${ORDER_END}`, replaceOrder],
  [`(?:add|append) ${LINE} to ${FILE_GROUP}(?:,? saying|:) ${textGroup("new")}\\s*$`, appendOrder],
  [
    `(?:add|append) ${LINE}(?: saying|:)? ${
      textGroup("new")
    } (?:to|at) (?:the end of )?${FILE_GROUP}${ORDER_END}`,
    appendOrder,
  ],
  [
    `(?:add|append) (?<new>${QUOTED}) (?:to|at) (?:the end of )?${FILE_GROUP}${ORDER_END}`,
    appendOrder,
  ],
  [`(?:write|put|save) ${textGroup("new")} (?:to|into|in) ${PATH_GROUP}${ORDER_END}`, createOrder],
  [
    `(?:create|make|write|(?<force>overwrite)) ${PATH_GROUP} (?:with|containing|saying):?\\s+(?:the )?` +
    `(?:text |content |line )?(?:\`\`\`[^\\n]*\\n(?<block>[^]*?)\`\`\`\\s*$|(?<new>(?:${QUOTED})(?=\\s*$)|[^]+))`,
    createOrder,
  ],
  ["(?:run|execute)\\b[^\\n`]*`(?<command>[^`]+)`", runOrder],
  [`(?:run|execute) (?:the )?(?:command )?(?<command>${QUOTED})`, runOrder],
  ["(?:run|execute) (?:(?:all|the|my|unit) )*tests?\\b", testsOrder],
  [
    "(?:run|execute|replace|change|rename|add|append|create|make|write|overwrite|put|edit|fix|delete|remove|refactor|implement)\\b",
    listOrders,
  ],
] as const).map(([pattern, rule]): [RegExp, (groups: Groups, use: Use) => DemoAnswer] => [
  new RegExp(`^${pattern}`, "i"),
  rule,
]);

function listOrders(): string[] {
  return [
    `${DISCLAIMER} Of orders it knows only these forms:`,
    '- `replace "old" with "new" in FILE`',
    '- `create FILE with "text"`',
    '- `add a line "text" to FILE`',
    '- `run "command"` or `run the tests`',
    "Nothing was done. A language model would take it in your own words.",
  ];
}

function replaceOrder(groups: Groups, use: Use): DemoAnswer {
  const [path, wanted, becomes] = [unquote(groups.file), unquote(groups.old), unquote(groups.new)];
  const read = use("read_file", { file_path: path });
  if (read === undefined) return null;
  const content = fileText(read);
  if (content === null) {
    return [DISCLAIMER, `I could not read ${inlineCode(path)}: ${firstLine(read)}`];
  }
  const old = content.includes(wanted)
    ? wanted
    : new RegExp(RegExp.escape(wanted), "i").exec(content)?.[0];
  if (!old) {
    return [
      DISCLAIMER,
      `${inlineCode(wanted)} does not occur in what I read of ${
        inlineCode(path)
      }. Nothing was changed.`,
    ];
  }
  const args = { file_path: path, old_string: old, new_string: becomes };
  const many = content.indexOf(old) !== content.lastIndexOf(old);
  const result = use("edit_file", many ? { ...args, replace_all: true } : args);
  return written(
    result,
    `I replaced ${inlineCode(old)} with ${inlineCode(becomes)}${many ? " everywhere" : ""} in ${
      inlineCode(path)
    }.`,
  );
}

function appendOrder(groups: Groups, use: Use): DemoAnswer {
  const [path, line] = [unquote(groups.file), unquote(groups.new)];
  const read = use("read_file", { file_path: path });
  if (read === undefined) return null;
  const content = fileText(read);
  if (content === null) {
    return [
      DISCLAIMER,
      `I could not read ${inlineCode(path)}: ${firstLine(read)}`,
      'To make a new file, say `create FILE with "text"`.',
    ];
  }
  if (!isWhole(read)) {
    return [
      DISCLAIMER,
      `${inlineCode(path)} is longer than what I read of it, so I left its end alone.`,
    ];
  }
  const tail = uniqueTail(content);
  const result = tail === ""
    ? use("write_file", { file_path: path, content: `${line}\n` })
    : use("edit_file", { file_path: path, old_string: tail, new_string: `${tail}\n${line}` });
  return written(result, `I added the line ${inlineCode(line)} at the end of ${inlineCode(path)}.`);
}

function createOrder(groups: Groups, use: Use): DemoAnswer {
  const path = unquote(groups.file);
  const content = groups.block ?? unquote(groups.new);
  const args = { file_path: path, content: content.endsWith("\n") ? content : `${content}\n` };
  if (!groups.force) {
    const read = use("read_file", { file_path: path });
    if (read === undefined) return null;
    if (fileText(read) !== null) {
      return [
        DISCLAIMER,
        `${inlineCode(path)} is there already, so I left it alone.`,
        'To replace all of it, say `overwrite FILE with "text"`.',
      ];
    }
    if (!/ as (?:it does not exist|there is no folder)/.test(read)) {
      return [DISCLAIMER, `I did not write ${inlineCode(path)}: ${firstLine(read)}`];
    }
  }
  return written(use("write_file", args), `I wrote ${inlineCode(path)}.`);
}

/** The answer after a write: `success`, or the failure in the tool's words. */
function written(result: string | undefined, success: string): DemoAnswer {
  if (result === undefined) return null;
  if (!isWritten(result)) return [DISCLAIMER, ...failureLines(result), "Nothing was changed."];
  return [DISCLAIMER, success, `The tool says: ${firstLine(result)}`];
}

function runOrder(groups: Groups, use: Use): DemoAnswer {
  const command = unquote(groups.command);
  const result = use("run_bash", { command });
  if (result === undefined) return null;
  const exit = /^exit code: (-?\d+)/.exec(result)?.[1];
  if (exit === undefined) return [DISCLAIMER, ...failureLines(result)];
  const lines = result.trimEnd().split("\n").slice(1);
  const shown = lines.slice(0, 12).map((line) => shortened(line, 160));
  // Longer than any run of backticks inside, so that the output cannot end the block.
  const runs = shown.join("\n").match(/`{3,}/g) ?? [];
  const fence = "`".repeat(Math.max(2, ...runs.map((run) => run.length)) + 1);
  return [
    DISCLAIMER,
    `I ran ${inlineCode(command)}; exit code ${exit}${lines.length > 0 ? ":" : "."}`,
    ...(lines.length > 0 ? [fence, ...shown, fence] : []),
    ...(lines.length > 12 ? [`(the first 12 of ${lines.length} lines)`] : []),
  ];
}

function testsOrder(_: Groups, use: Use): DemoAnswer {
  const listing = use("list_directory", { path: "." });
  if (listing === undefined) return null;
  const names = entries(listing);
  if (!names) return [DISCLAIMER, ...failureLines(listing)];
  const command = PROJECT_FILES.find(([name, test]) => test && names.some((n) => name.test(n)))
    ?.[1];
  if (command) return runOrder({ command }, use);
  return [DISCLAIMER, 'I see no build file here that I know. Say `run "command"` with your own.'];
}

/** A text without the quotes around it, if any. */
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
