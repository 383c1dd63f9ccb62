/** Converts an answer to the {@linkcode Reply} for an agent, for all protocols. @module */

import { mayBeOwnServer } from "../config.ts";
import { deeperThan, isObject, jsonOrUndefined } from "../text/json.ts";
import { hasTwoReadings } from "../text/loose_json.ts";
import type { Usage } from "../types/event.ts";
import type { Message, ToolCall } from "../types/message.ts";
import type { JsonSchema, Tool } from "../types/tool.ts";
import { excerpt } from "../wire/excerpt.ts";
import { getsToolsAsText, refusesSchemas } from "./adjust.ts";
import { AnswerSplitter, type CallFilter } from "./answer_splitter.ts";
import type { Backend, FinishReason, Reply, SplitAnswer, Splitter } from "./backend.ts";
import type { Fields } from "./fields.ts";
import { argumentsText, withUniqueIds } from "./wire_values.ts";

/** A server's answer in any protocol. */
export interface AnswerParts {
  content: string;
  reasoning: string;
  calls: readonly { id: string; name: string; args: unknown }[];
  finish: FinishReason;
  finishDetail: string;
  usage: Usage | undefined;
  /** True if the text contains neither calls nor reasoning, even if it looks like them: see `Backend`. */
  hasBlocks?: boolean;
  hostedBlocks?: readonly Fields[] | undefined;
}

/** The tool whose call is the answer, if the protocol enforces a schema only for calls. */
export const ANSWER_TOOL = "final_answer";

/** Returns the reason whose `words` include the server's `word`; otherwise `other`. */
export function finishOf(
  word: string,
  words: Partial<Record<FinishReason, readonly string[]>>,
): FinishReason {
  const reasons = Object.keys(words) as FinishReason[];
  const lower = word.toLowerCase();
  return reasons.find((reason) => words[reason]?.includes(lower)) ?? "other";
}

/** Returns the backend that sends with `call` and reads with `read`. Text is split once: streamed, or at the end if the answer came in one piece. */
export function configuredBackend<C extends { model: string }>(
  config: C,
  call: (config: C, ...request: Parameters<Backend["send"]>) => Promise<Fields>,
  read: (response: unknown) => AnswerParts,
  hasBlocks = false,
): Backend {
  return {
    model: config.model,
    get hasGrammar() {
      const { baseUrl } = config as { baseUrl?: string };
      const isOwn = baseUrl === undefined || mayBeOwnServer(baseUrl);
      return !hasBlocks && isOwn && !refusesSchemas(config);
    },
    get hasBlocks() {
      return hasBlocks && !getsToolsAsText(config);
    },
    async send(messages, tools, { splitter = new AnswerSplitter(), ...options }) {
      const { onDelta } = options;
      let hasPieces = false;
      const response = await call(config, messages, tools, {
        ...options,
        onDelta(delta) {
          hasPieces ||= delta.type !== "prompt_progress";
          splitter.push(delta);
          onDelta?.(delta);
        },
      });
      const given = { ...read(response), hasBlocks: this.hasBlocks };
      const { answerSchema } = options;
      const parts = answerSchema ? withToolAnswer(given, answerSchema) : given;
      if (!hasPieces) pushParts(splitter, parts);
      return toReply(parts, splitter.end());
    },
  };
}

/** Returns the parts with the arguments of a call of the answer's tool as their text. */
function withToolAnswer(parts: AnswerParts, schema: JsonSchema): AnswerParts {
  const call = parts.calls.find(({ name }) => name === ANSWER_TOOL);
  if (call === undefined) return parts;
  const { args } = call;
  const isWrapped = schema.type !== "object" && isObject(args);
  const content = isWrapped ? JSON.stringify(args.answer) ?? "" : argumentsText(args);
  const { hostedBlocks: _, ...rest } = parts;
  const finish = parts.finish === "tool_calls" ? "stop" : parts.finish;
  return { ...rest, content, calls: [], finish };
}

/** Reads a complete answer. `calls` finds calls in the text; without it, they stay text. */
export function wholeReply(parts: AnswerParts, calls?: CallFilter): Reply {
  const splitter = new AnswerSplitter({ hasBlocks: () => parts.hasBlocks === true, calls });
  pushParts(splitter, parts);
  return toReply(parts, splitter.end());
}

function pushParts(splitter: Splitter, { reasoning, content, calls }: AnswerParts): void {
  splitter.push({ type: "reasoning", text: reasoning });
  splitter.push({ type: "text", text: content });
  for (const { name } of calls) splitter.push({ type: "tool_call", name });
}

/** Assembles the reply and checks the calls. Calls in the text count if there are no others. */
function toReply(parts: AnswerParts, split: SplitAnswer): Reply {
  const isClean = parts.finish === "stop" || parts.finish === "tool_calls";
  let calls = readCalls(parts, isClean);
  if (calls.length === 0) {
    const isWhole = isClean && parts.finishDetail !== "";
    calls = split.calls.map(({ invalid: wrong, ...call }) => ({
      ...call,
      recovered: true,
      ...(wrong && !(isWhole && wrong.isUnclosed) && { arguments: {}, invalid: wrong }),
      ...(!isClean && invalid(wrong?.text ?? call.arguments, cutReason(parts))),
    }));
  }
  const { reasoning } = parts.hasBlocks ? parts : split;
  const { callMark } = split;
  const message: Message = {
    role: "assistant",
    content: parts.hasBlocks ? parts.content : split.text,
    ...(reasoning.trim() !== "" && { reasoning }),
    ...(calls.length > 0 && { toolCalls: withUniqueIds(calls) }),
    ...(parts.hostedBlocks && { hostedBlocks: parts.hostedBlocks }),
  };
  const finish = !isClean ? parts.finish : calls.length > 0 ? "tool_calls" : "stop";
  // An unknown word of the server may be any text.
  const finishDetail = isClean ? parts.finishDetail : excerpt(parts.finishDetail);
  return {
    message,
    finish,
    finishDetail,
    usage: parts.usage,
    ...callMark !== undefined && { callMark },
  };
}

/** Returns the server's calls. The last one of an incomplete answer may be cut where it happens to parse. */
function readCalls(parts: AnswerParts, isClean: boolean): ToolCall[] {
  return parts.calls.map(({ id, name: given, args }, i): ToolCall => {
    const text = argumentsText(args);
    const name = given.replace(/^\s*<\/[\w:]+>|<[|｜‖][^]*$/g, "") || given;
    const isWhole = isClean && (parts.finishDetail !== "" || jsonOrUndefined(text) !== undefined);
    return isWhole || i < parts.calls.length - 1
      ? { id, name, ...readArguments(args) }
      : { id, name, ...invalid(text, cutReason(parts)) };
  });
}

export function namesAndSchemas(
  tools: readonly Tool[],
): { tools: string[]; schemas: Record<string, unknown> } {
  return {
    tools: tools.map((tool) => tool.name),
    schemas: Object.fromEntries(tools.map((tool) => [tool.name, tool.parameters])),
  };
}

function cutReason({ finish, finishDetail, usage }: AnswerParts): string {
  if (finish === "length") {
    const at = usage?.outputTokens ? ` of ${usage.outputTokens} tokens` : "";
    return `its arguments were cut off at the limit${at} of an answer, so nothing was done. Do it in parts that are much shorter: write the first part of a file, then append each further one with an edit that replaces the last line by that line and what follows`;
  }
  const why = excerpt(finishDetail) || "no reason given";
  return `the answer ended before the call was complete (${why})`;
}

/** The maximum depth of arguments. Code that walks deeper ones would overflow the stack. */
const MAX_ARGUMENTS_DEPTH = 100;

/** Reads the arguments of a complete call: an object, its JSON text, or nothing. Others are `invalid`. */
function readArguments(value: unknown): Pick<ToolCall, "arguments" | "invalid"> {
  // Template marks that the server's parser left before the JSON.
  let parsed = typeof value === "string"
    ? value.replace(/^\s*(?:\[ARGS\]|json\s*(?=\{))/, "")
    : value ?? {};
  let text = "";
  try {
    // Some models write the JSON of their arguments into a JSON string, so it is parsed twice.
    for (let i = 0; i < 2 && typeof parsed === "string"; i++) {
      text = parsed;
      parsed = parsed.trim() === "" ? {} : JSON.parse(parsed);
    }
  } catch (error) {
    return malformed(value, `its arguments are not valid JSON: ${(error as Error).message}`);
  }
  if (typeof parsed !== "object" || Array.isArray(parsed)) {
    return malformed(value, "its arguments must be a JSON object");
  }
  if (deeperThan(parsed, MAX_ARGUMENTS_DEPTH)) {
    return invalid("", `its arguments are nested deeper than ${MAX_ARGUMENTS_DEPTH} levels`);
  }
  // JSON.parse silently takes the last one, which may be the wrong one.
  if (text.trim() !== "" && hasTwoReadings(text)) {
    return malformed(value, "its arguments are not valid JSON: a key occurs twice");
  }
  return { arguments: withoutMarks((parsed ?? {}) as Record<string, unknown>) };
}

/** Template marks that the server's parser took for a part of a key, or for the end of a value. */
const MARKS_IN_KEY = /<\/?(?:arg_\w+|[|｜‖][^<>]*)>?/g;
const MARK_BEHIND =
  /(?:<\/(?:content|parameter)>\s*<\/(?:invoke|function)>(?:\s*<\/\w+>)?|\n?<\/(?:parameter|function|tool_call)|<\/?[|｜‖]{1,2}\s*\w[^<>\n]{0,60}>|<\/arg_value>|<\|"\|?>?|\]<\]minimax\[>\[)\s*$/;

/** Between arguments of GLM and Ling that llama.cpp takes for the value of the first one. */
const NEXT_ARGUMENT = /<\/arg_value>\s*<arg_key>(\w+)<\/arg_key>\s*<arg_value>/;

function withoutMarks(args: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(args);
  if (!entries.some((entry) => /<[|/]|<arg_|\]<\]/.test(entry.join("\n")))) return args;
  const [[first, all]] = entries as [[string, unknown]];
  if (entries.length === 1 && typeof all === "string" && NEXT_ARGUMENT.test(all)) {
    const parts = [first, ...all.split(NEXT_ARGUMENT)];
    return Object.fromEntries(parts.flatMap((key, i) => i % 2 === 0 ? [[key, parts[i + 1]]] : []));
  }
  return Object.fromEntries(entries.map(([key, value]) => {
    const marks = /<\/?arg_/.test(key) ? MARKS_IN_KEY : MARK_BEHIND;
    const clean = typeof value === "string"
      ? value.replace(/^<\|"\|>/, "").replace(marks, "")
      : value;
    return [key.replace(MARKS_IN_KEY, "").trim(), clean];
  }));
}

function malformed(value: unknown, reason: string): Pick<ToolCall, "arguments" | "invalid"> {
  return { arguments: {}, invalid: { text: argumentsText(value), reason, isMalformed: true } };
}

function invalid(value: unknown, reason: string): Pick<ToolCall, "arguments" | "invalid"> {
  return { arguments: {}, invalid: { text: argumentsText(value), reason } };
}
