/** The hosted messages format, as strict as the Anthropic API. */

import {
  argumentsText,
  array,
  deltas,
  finishOf,
  isObject,
  type Json,
  list,
  nonBlank,
  number,
  object,
  oneOf,
  type Piece,
  refuse,
  Refused,
  type RenderContext,
  type Step,
  text,
  unique,
  usageOf,
  type WireFormat,
} from "./strict_wire.ts";

const FINISH = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  refused: "refusal",
};

const ID = /^[a-zA-Z0-9_-]+$/;

function check(body: Json, headers: Headers): void {
  if (!headers.get("x-api-key")) throw new Refused("x-api-key header is required", 401);
  if (!/^\d{4}-\d\d-\d\d$/.test(headers.get("anthropic-version") ?? "")) {
    refuse("anthropic-version: header is required");
  }
  // deno-fmt-ignore
  object(body, "body", ["model", "max_tokens", "messages"], [
    "system", "tools", "tool_choice", "temperature", "stream", "cache_control", "thinking",
    "metadata", "stop_sequences", "top_k", "top_p", "service_tier", "output_config",
  ]);
  nonBlank(body.model, "model");
  number(body.max_tokens, "max_tokens", 1);
  if (body.temperature !== undefined) number(body.temperature, "temperature", 0, 1);
  if (body.stream !== undefined) oneOf(body.stream, "stream", [true, false]);
  if (body.system !== undefined && typeof body.system !== "string") {
    array(body.system, "system").forEach((block, i) => {
      oneOf((block as Json).type, `system.${i}.type`, ["text"]);
      checkBlock(block, `system.${i}`, "user");
    });
  }
  const tools = body.tools === undefined ? [] : list(body.tools, "tools").map(checkTool);
  unique(tools, "tools: Tool names");
  if (body.tool_choice !== undefined && !isObject(body.tool_choice)) {
    refuse("tool_choice: Input should be an object");
  }
  checkMessages(array(body.messages, "messages"), tools.length > 0);
  const marks = cacheMarks(body);
  if (marks > 4) {
    refuse(`A maximum of 4 blocks with cache_control may be provided. Found ${marks}.`);
  }
}

function checkTool(tool: unknown, i: number): string {
  const path = `tools.${i}`;
  const optional = ["type", "description", "cache_control", "strict"];
  const fields = object(tool, path, ["name", "input_schema"], optional);
  const { name, input_schema: schema, description } = fields;
  if (!/^[a-zA-Z0-9_-]{1,128}$/.test(text(name, `${path}.name`))) {
    refuse(`${path}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
  }
  if (description !== undefined) text(description, `${path}.description`);
  if (!isObject(schema)) refuse(`${path}.input_schema: Input should be an object`);
  oneOf(schema.type, `${path}.input_schema.type`, ["object"]);
  return name as string;
}

function checkMessages(messages: unknown[], tools: boolean): void {
  let open: string[] = [];
  const ids: string[] = [];
  messages.forEach((value, i) => {
    const path = `messages.${i}`;
    const { role, content } = object(value, path, ["role", "content"]);
    if (role === "system") {
      refuse(`messages: Unexpected role "system". The Messages API accepts a top-level \`system\``);
    }
    oneOf(role, `${path}.role`, ["user", "assistant"]);
    // Starting with the user; the API merges what does not alternate, its kin refuse it.
    if (role !== (i % 2 === 0 ? "user" : "assistant")) {
      refuse(`${path}: roles must alternate between "user" and "assistant", starting with "user"`);
    }
    const blocks = typeof content === "string"
      ? [{ type: "text", text: nonBlank(content, path) }]
      : array(content, `${path}.content`);
    const results: string[] = [];
    const calls: string[] = [];
    blocks.forEach((value, j) => {
      const block = checkBlock(value, `${path}.content.${j}`, role as string);
      if (block.type === "tool_use") calls.push(block.id as string);
      if (block.type !== "tool_result") return;
      if (results.length < j) refuse(`${path}: tool_result blocks must come first in the content`);
      results.push(block.tool_use_id as string);
    });
    const missing = open.filter((id) => !results.includes(id));
    if (missing.length > 0) {
      refuse(
        `${path}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing}`,
      );
    }
    const orphans = results.filter((id) => !open.includes(id));
    if (orphans.length > 0) {
      refuse(`${path}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${orphans}`);
    }
    unique(results, `${path}: tool_result ids`);
    open = calls;
    ids.push(...calls);
  });
  unique(ids, "`tool_use` ids");
  if (ids.length > 0 && !tools) {
    refuse("Requests which include `tool_use` or `tool_result` blocks must define tools");
  }
  if (messages.length % 2 === 0) {
    refuse("This model does not support assistant message prefill: end with a user message");
  }
}

function checkBlock(value: unknown, path: string, role: string): Json {
  if (!isObject(value)) refuse(`${path}: Input should be an object`);
  const fields = (required: string[], optional: string[], roles: string[]): void => {
    object(value, path, ["type", ...required], optional);
    oneOf(role, `${path} (${value.type}) in a message of role`, roles);
  };
  const mark = ["cache_control"];
  switch (value.type) {
    case "text":
      fields(["text"], [...mark, "citations"], ["user", "assistant"]);
      nonBlank(value.text, `${path}.text`);
      break;
    case "image": {
      fields(["source"], mark, ["user"]);
      const source = object(value.source, `${path}.source`, ["type", "media_type", "data"]);
      const types = ["image/jpeg", "image/png", "image/gif", "image/webp"];
      oneOf(source.type, `${path}.source.type`, ["base64"]);
      oneOf(source.media_type, `${path}.source.media_type`, types);
      nonBlank(source.data, `${path}.source.data`);
      break;
    }
    case "tool_use":
      fields(["id", "name", "input"], mark, ["assistant"]);
      if (!ID.test(text(value.id, `${path}.id`))) refuse(`${path}.id: should match ${ID}`);
      nonBlank(value.name, `${path}.name`);
      if (!isObject(value.input)) refuse(`${path}.input: Input should be an object`);
      break;
    case "tool_result":
      fields(["tool_use_id"], ["content", "is_error", ...mark], ["user"]);
      if (!ID.test(text(value.tool_use_id, `${path}.tool_use_id`))) refuse(`${path}: bad id`);
      if (value.is_error !== undefined) oneOf(value.is_error, `${path}.is_error`, [true, false]);
      if (value.content !== undefined && typeof value.content !== "string") {
        array(value.content, `${path}.content`).forEach((part, i) => {
          oneOf((part as Json).type, `${path}.content.${i}.type`, ["text", "image"]);
          checkBlock(part, `${path}.content.${i}`, "user");
        });
      }
      break;
    case "thinking":
      fields(["thinking", "signature"], [], ["assistant"]);
      if (value.signature !== sign(text(value.thinking, `${path}.thinking`))) {
        refuse(`${path}: Invalid \`signature\` in \`thinking\` block`);
      }
      break;
    case "redacted_thinking":
      fields(["data"], [], ["assistant"]);
      break;
    default:
      refuse(
        `${path}: Input tag '${value.type}' found using 'type' does not match any expected tag`,
      );
  }
  return value;
}

/** Counts the cache marks; the one at the top level is set on the last block by the server. */
function cacheMarks(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let count = 0;
  for (const [key, child] of Object.entries(value)) {
    if (key === "cache_control") {
      oneOf((child as Json).type, "cache_control.type", ["ephemeral"]);
      count++;
    } else if (key !== "input" && key !== "input_schema") count += cacheMarks(child);
  }
  return count;
}

/** Signs a thought, so that one that comes back changed is noticed. */
function sign(thinking: string): string {
  let hash = 0;
  for (const char of thinking) hash = (hash * 31 + char.codePointAt(0)!) % 2_147_483_647;
  return `sig-${hash}`;
}

function usage(step: Step): { start: Json; end: Json } {
  const tokens = usageOf(step);
  if (!tokens) return { start: {}, end: {} };
  const cached = tokens.cachedTokens ?? 0;
  return {
    start: {
      input_tokens: tokens.inputTokens - cached,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: cached,
      output_tokens: Math.min(1, tokens.outputTokens),
    },
    end: { output_tokens: tokens.outputTokens },
  };
}

function callId(call: { id?: string | null }, next: () => number): Json {
  return call.id === null ? {} : { id: call.id ?? `toolu_${next()}` };
}

const head = (model: string): Json => ({ id: "msg_1", type: "message", role: "assistant", model });

function stream(step: Step, { model, next }: RenderContext): Piece[] {
  const pieces: Piece[] = [];
  const event = (kind: Piece["kind"], data: Json): void => {
    pieces.push({ kind, bytes: `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n` });
  };
  let index = -1;
  const block = (kind: Piece["kind"], start: Json, deltas: Json[], within = kind): void => {
    index++;
    event(kind, { type: "content_block_start", index, content_block: start });
    for (const delta of deltas) event(within, { type: "content_block_delta", index, delta });
    event(deltas.length > 0 ? within : kind, { type: "content_block_stop", index });
  };
  const { start, end } = usage(step);
  const none = { content: [], stop_reason: null, stop_sequence: null };
  event("start", { type: "message_start", message: { ...head(model), ...none, usage: start } });
  event("start", { type: "ping" });
  if (step.reasoning) {
    const signature = sign(step.reasoning);
    block("reasoning", { type: "thinking", thinking: "", signature: "" }, [
      ...deltas(step.reasoning).map((thinking) => ({ type: "thinking_delta", thinking })),
      { type: "signature_delta", signature },
    ]);
  }
  if (step.text) {
    const pieces = deltas(step.text).map((text) => ({ type: "text_delta", text }));
    block("text", { type: "text", text: "" }, pieces);
  }
  for (const call of step.toolCalls ?? []) {
    const start = { type: "tool_use", ...callId(call, next), name: call.name, input: {} };
    const pieces = deltas(argumentsText(call));
    const input = pieces.map((partial_json) => ({ type: "input_json_delta", partial_json }));
    block("name", start, input, "arguments");
  }
  const stop_reason = FINISH[finishOf(step)];
  const delta = { stop_reason, stop_sequence: null };
  event("finish", { type: "message_delta", delta, usage: end });
  event("finish", { type: "message_stop" });
  return pieces;
}

function whole(step: Step, { model, next }: RenderContext): string {
  const content: Json[] = [];
  if (step.reasoning) {
    const signature = sign(step.reasoning);
    content.push({ type: "thinking", thinking: step.reasoning, signature });
  }
  if (step.text) content.push({ type: "text", text: step.text });
  for (const call of step.toolCalls ?? []) {
    // The real API sends what it could complete of broken input: never a string.
    const input = typeof call.arguments === "string" ? {} : call.arguments ?? {};
    content.push({ type: "tool_use", ...callId(call, next), name: call.name, input });
  }
  const { start, end } = usage(step);
  return JSON.stringify({
    ...head(model),
    content,
    stop_reason: FINISH[finishOf(step)],
    stop_sequence: null,
    usage: { ...start, ...end },
  });
}

const ERROR_TYPES: Record<number, string> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  529: "overloaded_error",
};

export const strictHosted: WireFormat = {
  name: "hosted",
  check,
  streams: (body) => body.stream === true,
  streamType: "text/event-stream; charset=utf-8",
  stream,
  whole,
  error: (type, status, message) =>
    JSON.stringify({
      type: "error",
      error: { type: type ?? ERROR_TYPES[status] ?? "api_error", message },
      request_id: null,
    }),
  streamError: (body) => `event: error\ndata: ${body}\n\n`,
};
