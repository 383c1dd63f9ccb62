/** Messages and tools for the hosted API (spec 4.4). Pure. A longer conversation only appends, for its cache. @module */

import { imagesOf } from "../../text/parts.ts";
import type { HostedConfig, Thinking } from "../../config.ts";
import type { Message, ToolCall } from "../../types/message.ts";
import type { JsonSchema, Tool } from "../../types/tool.ts";
import type { AdjustmentNames, AnswerLimits } from "../adjust.ts";
import type { Fields } from "../fields.ts";
import { samplingParameters, withDefaultTemperature } from "../sampling.ts";
import { ANSWER_TOOL } from "../reply.ts";
import { argumentsOnWire, jsonText, nameOnWire, NO_OUTPUT } from "../wire_values.ts";

/** A content block of the hosted API. Blocks that it sent may have further fields. */
export type HostedBlock = { readonly type: string } & Readonly<Record<string, unknown>>;

/** A message of the hosted API. */
export interface HostedMessage {
  /** Roles alternate. */
  role: "user" | "assistant";
  /** Text, or blocks if it is more than text. */
  content: string | HostedBlock[];
}

/** The API requires a user message first. */
const LOST_BEGINNING: HostedMessage = {
  role: "user",
  content: "[The start of the conversation was removed]",
};

const EPHEMERAL = { cache_control: { type: "ephemeral" } };

/**
 * Returns the body of a request. `messages` comes last, so that the next body extends this one up to its closing
 * brackets. It has two cache marks: one on the system prompt, which includes the tools before it, and the
 * automatic one at the top level, which the API puts on the last block of the conversation. A mark that moves
 * between messages would change bytes that were sent before.
 */
export function hostedBody(
  config: HostedConfig,
  messages: readonly Message[],
  tools: readonly Tool[],
  stream: boolean,
  adjusted: AdjustmentNames = new Set(),
  { answerSchema, thinks = true }: AnswerLimits = {},
): string {
  const [system, hostedMessages] = messagesToHostedFormat(
    adjusted.has("thoughts") ? messages.map(({ hostedBlocks: _, ...rest }) => rest) : messages,
  );
  const mark = adjusted.has("system.cache_control") ? {} : EPHEMERAL;
  const schema = adjusted.has("tools") || adjusted.has("tool_choice") ? undefined : answerSchema;
  const offered = toolsToHostedFormat(schema ? [...tools, answerTool(schema)] : tools);
  // A model that must call a tool may not think first.
  const isOff = !thinks || schema || adjusted.has("thinking");
  const budget = isOff ? 0 : thinkingBudget(config.think, config.thinkBudget);
  return jsonText({
    model: config.model,
    max_tokens: config.maxTokens + budget,
    // With thinking, the API accepts only its own temperature.
    ...(budget === 0
      ? hostedSampling(config, adjusted)
      : adjusted.has("enabled")
      ? adaptiveThinking(config.think)
      : { thinking: { type: "enabled", budget_tokens: budget } }),
    stream,
    ...(!adjusted.has("cache_control") && EPHEMERAL),
    ...(offered.length > 0 && { tools: offered }),
    ...(schema && { tool_choice: { type: "tool", name: ANSWER_TOOL } }),
    ...(system !== "" && { system: [{ type: "text", text: system, ...mark }] }),
    messages: hostedMessages[0]?.role === "assistant"
      ? [LOST_BEGINNING, ...hostedMessages]
      : hostedMessages,
  });
}

/** Returns the tool whose call is the answer, because the API enforces a schema only for arguments. */
function answerTool(schema: JsonSchema): Pick<Tool, "name" | "description" | "parameters"> {
  const description = "Gives the final answer.";
  if (schema.type === "object") return { name: ANSWER_TOOL, description, parameters: schema };
  // References start at the root.
  const { $defs, definitions, ...answer } = schema;
  const wrapped = { type: "object", properties: { answer }, required: ["answer"] };
  return { name: ANSWER_TOOL, description, parameters: { ...wrapped, $defs, definitions } };
}

function hostedSampling(config: HostedConfig, adjusted: AdjustmentNames): Record<string, unknown> {
  const { temperature, top_p, top_k } = samplingParameters(withDefaultTemperature(config));
  const sent = Object.entries({ temperature, top_p, top_k }).filter(([name]) =>
    !adjusted.has(name)
  );
  return Object.fromEntries(sent);
}

function adaptiveThinking(think: Thinking | undefined): Record<string, unknown> {
  return {
    // By default, newer models hide their thoughts.
    thinking: { type: "adaptive", display: "summarized" },
    ...(typeof think === "string" && { output_config: { effort: think } }),
  };
}

/** Returns the tokens for thinking; 0 without thinking. */
function thinkingBudget(think: Thinking = false, budget?: number): number {
  if (think === false) return 0;
  if (budget !== undefined) return Math.max(1024, budget);
  return { low: 2048, medium: 8192, high: 24_576 }[think === true ? "medium" : think];
}

/**
 * Converts messages to the hosted format (spec 4.4): `[system text, messages]`. Consecutive tool results are
 * `tool_result` blocks in one `user` message, together with a user text after them. Successive messages of one
 * role become one. Empty messages are dropped, because the API rejects blank text. Blocks that the API requires
 * unchanged keep their places.
 */
export function messagesToHostedFormat(messages: readonly Message[]): [string, HostedMessage[]] {
  const system: string[] = [];
  const turns: { role: HostedMessage["role"]; contents: (string | HostedBlock[])[] }[] = [];
  for (const message of messages) {
    if (message.role === "system") {
      if (message.content.trim() !== "") system.push(message.content);
      continue;
    }
    const role = message.role === "assistant" ? "assistant" : "user";
    const content = contentOf(message);
    if (content.length === 0) continue;
    const last = turns.at(-1);
    if (last?.role === role) last.contents.push(content);
    else turns.push({ role, contents: [content] });
  }
  const hosted = turns.map(({ role, contents }) => ({ role, content: joinedContents(contents) }));
  return [system.join("\n\n"), hosted];
}

/** Converts tools to flat objects with an `input_schema` (spec 4.4). */
export function toolsToHostedFormat(
  tools: readonly Pick<Tool, "name" | "description" | "parameters">[],
): Fields[] {
  return tools.map(({ name, description, parameters }) => (
    { name, description, input_schema: parameters }
  ));
}

function contentOf(message: Message): string | HostedBlock[] {
  const { role, content, toolCalls = [], hostedBlocks = [] } = message;
  const images = imagesOf(message).map(({ mediaType, data }) => (
    { type: "image", source: { type: "base64", media_type: mediaType, data } }
  ));
  if (role === "tool") {
    const text = content.trim() === "" ? NO_OUTPUT : content;
    return [{
      type: "tool_result",
      tool_use_id: idOnWire(message.toolCallId ?? ""),
      content: images.length === 0 ? text : [...textBlocks(text), ...images],
      ...(message.isError && { is_error: true }),
    }];
  }
  if (role === "assistant") {
    // The API rejects a last message that ends with a space. Always trimming it keeps the bytes the same.
    const text = content.trimEnd();
    return toolCalls.length + hostedBlocks.length > 0
      ? assistantBlocks(text, toolCalls, hostedBlocks)
      : text;
  }
  if (images.length === 0) return content.trim() === "" ? "" : content;
  return [...images, ...textBlocks(content)];
}

/** Puts text and calls, which may have changed, into the original blocks. A changed text comes before the first call. */
function assistantBlocks(
  text: string,
  toolCalls: readonly ToolCall[],
  kept: NonNullable<Message["hostedBlocks"]>,
): HostedBlock[] {
  const calls = toolCalls.map((call) => ({
    type: "tool_use",
    id: idOnWire(call.id),
    name: nameOnWire(call.name),
    input: argumentsOnWire(call),
  }));
  const keptText = kept.map((block) => block.type === "text" ? block.text : "").join("");
  const inPlace = keptText.trim() === text.trim();
  const pending = inPlace ? [] : textBlocks(text);
  const blocks: HostedBlock[] = [];
  let placed = 0;
  for (const block of kept) {
    if (block.type === "text") {
      if (inPlace) blocks.push(...textBlocks(String(block.text).trimEnd()));
    } else if (block.type === "tool_use") {
      blocks.push(...pending.splice(0), ...calls.slice(placed, ++placed));
    } else {
      blocks.push(block as HostedBlock);
    }
  }
  return [...blocks, ...pending, ...calls.slice(placed)];
}

/** Merges contents, with the tool results first, as the API requires. */
function joinedContents(contents: (string | HostedBlock[])[]): string | HostedBlock[] {
  if (contents.length === 1) return contents[0]!;
  const blocks = contents.flatMap((c) => typeof c === "string" ? textBlocks(c) : c);
  const isResult = ({ type }: HostedBlock) => type === "tool_result";
  return [...blocks.filter(isResult), ...blocks.filter((block) => !isResult(block))];
}

function textBlocks(text: string): HostedBlock[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

/** Returns an id in the API's characters. Ids of other servers may have others. */
function idOnWire(id: string): string {
  return id.replace(/[^a-zA-Z0-9_-]/g, (char) => `_${char.charCodeAt(0).toString(16)}`) || "call";
}
