/**
 * From the parts of an answer to the {@linkcode Reply} that an agent reads; the same for the
 * compatible and the native local protocol.
 *
 * @module
 */

import { splitThinking } from "../text/think.ts";
import { excerpt } from "../wire/excerpt.ts";
import type { Usage } from "../types/event.ts";
import type { Message, ToolCall } from "../types/message.ts";
import type { Tool } from "../types/tool.ts";
import type { ExtractToolCalls, FinishReason, Reply } from "./backend.ts";
import { argumentsText, withUniqueIds } from "./wire_values.ts";

/** How to find tool calls in the text of an answer that has no others (spec 4.6). */
export interface ParseOptions {
  /** Finds them; none are looked for without it. */
  extract?: ExtractToolCalls | undefined;
  /** The tools that were offered: without it, calls of any name in the two basic formats are found. */
  tools?: readonly Tool[] | undefined;
}

/** What a server answered, whatever its protocol. */
export interface AnswerParts {
  content: string;
  reasoning: string;
  calls: readonly { id: string; name: string; args: unknown }[];
  finish: FinishReason;
  finishDetail: string;
  usage: Usage | undefined;
  /** True where the text holds neither calls nor reasoning, whatever it looks like. */
  isTyped?: boolean;
}

/** More are not run: they would be the answer of a model gone wild. */
const MAX_CALLS = 200;
/** No model writes as much in earnest. */
const MAX_ARGUMENTS_CHARS = 4 * 2 ** 20;
/** Names of tools have 64 at most; beyond, there is enough to see which one was meant. */
const MAX_NAME_CHARS = 200;

/** Reads an answer: takes thoughts out of the text, checks tool calls, finds those in the text. */
export function toReply(parts: AnswerParts, { extract, tools }: ParseOptions = {}): Reply {
  let written = parts.content;
  const clean = parts.finish === "stop" || parts.finish === "tool_calls";
  // Where the server tells reasoning apart, think tags are merely talked about.
  const hasTags = !parts.isTyped && parts.reasoning.trim() === "";
  let calls = parts.calls.map((call, i): ToolCall => {
    const { id, name, args } = call;
    const text = argumentsText(args);
    // An answer that did not end by itself ends anywhere: also where its last call happens to parse.
    // Without a reason for its end (a proxy's [DONE]), a call without arguments may have lost them.
    const whole = clean && (parts.finishDetail !== "" || text.trim() !== "");
    return whole || i < parts.calls.length - 1
      ? { id, name, ...readArguments(args) }
      : { id, name, arguments: {}, invalid: { text, reason: cutBy(parts) } };
  });
  if (calls.length === 0 && extract && tools?.length !== 0 && !parts.isTyped) {
    // Before reasoning is taken out: arguments may hold think tags, and a model that never ends its
    // reasoning may call from within.
    const [cleaned, found] = extract(written, {
      ...(tools && namesAndSchemas(tools)),
      thinkTags: hasTags,
    });
    if (found) {
      written = cleaned;
      calls = found.map((call) => ({
        ...call,
        recovered: true,
        ...(!clean && {
          arguments: {},
          invalid: {
            text: call.invalid?.text ?? JSON.stringify(call.arguments),
            reason: cutBy(parts),
          },
        }),
      }));
    }
  }
  const tooMany = calls.length - MAX_CALLS;
  // One of them stands for all: each would be sent again with every request.
  calls = calls.slice(0, MAX_CALLS + 1).map((call, i) => bounded(call, i, tooMany));
  const [content, thought] = hasTags ? splitThinking(written) : [written, ""];
  const reasoning = [parts.reasoning, thought].filter((text) => text.trim() !== "").join("\n\n");
  const message: Message = {
    role: "assistant",
    content,
    ...(reasoning !== "" && { reasoning }),
    ...(calls.length > 0 && { toolCalls: withUniqueIds(calls) }),
  };
  const finish = !clean ? parts.finish : calls.length > 0 ? "tool_calls" : "stop";
  // A word of the server's own that we do not know may be any text.
  const finishDetail = clean ? parts.finishDetail : excerpt(parts.finishDetail);
  return { message, finish, finishDetail, usage: parts.usage };
}

/** The call, or one that is not run: what is kept of it is sent again with every request. */
function bounded(call: ToolCall, at: number, tooMany: number): ToolCall {
  const name = call.name.slice(0, MAX_NAME_CHARS);
  if (at >= MAX_CALLS) return { ...call, name, ...invalid("", `${TOO_MANY} ${tooMany}`) };
  const { length } = call.invalid?.text ?? JSON.stringify(call.arguments);
  return length > MAX_ARGUMENTS_CHARS
    ? { ...call, name, ...invalid("", `${TOO_LONG} ${length}`) }
    : { ...call, name };
}

function namesAndSchemas(tools: readonly Tool[]): Parameters<ExtractToolCalls>[1] {
  return {
    tools: tools.map((tool) => tool.name),
    schemas: Object.fromEntries(tools.map((tool) => [tool.name, tool.parameters])),
  };
}

const TOO_MANY =
  `an answer may hold ${MAX_CALLS} calls at most; read the results of those, then call what is still needed. Left out, this one included:`;

const TOO_LONG =
  `its arguments must have at most ${MAX_ARGUMENTS_CHARS} characters, do it in smaller pieces: they have`;

function cutBy({ finish, finishDetail }: AnswerParts): string {
  return finish === "length"
    ? "it was cut off by the token limit before it was complete; do it in smaller pieces"
    : `the answer ended before the call was complete (${
      excerpt(finishDetail) || "no reason given"
    })`;
}

/** Deeper arguments are refused: they would exhaust the stack of whatever walks them. */
const MAX_DEPTH = 100;

/**
 * The arguments of a complete call: an object, its JSON text, or nothing for none. Anything else is
 * `invalid`, with the reason.
 */
function readArguments(value: unknown): Pick<ToolCall, "arguments" | "invalid"> {
  let parsed = value ?? {};
  try {
    // Twice, as some models write the text of their arguments into a string once more.
    for (let i = 0; i < 2 && typeof parsed === "string"; i++) {
      parsed = parsed.trim() === "" ? {} : JSON.parse(parsed);
    }
  } catch (error) {
    const why = (error as Error).message;
    return invalid(value, `its arguments are not valid JSON: ${why}`);
  }
  if (typeof parsed !== "object" || Array.isArray(parsed)) {
    return invalid(value, "its arguments must be a JSON object");
  }
  if (deeperThan(parsed, MAX_DEPTH)) {
    return invalid("", `its arguments are nested deeper than ${MAX_DEPTH} levels`);
  }
  return { arguments: (parsed ?? {}) as Record<string, unknown> };
}

function invalid(value: unknown, reason: string): Pick<ToolCall, "arguments" | "invalid"> {
  return { arguments: {}, invalid: { text: argumentsText(value), reason } };
}

function deeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((part) => deeperThan(part, levels - 1));
}
