/** The chat-completions format, as strict as OpenAI's own server and the pickier of its kin. */

import {
  argumentsText,
  array,
  deltas,
  finishOf,
  functionTool,
  isObject,
  type Json,
  nonBlank,
  number,
  object,
  oneOf,
  type Piece,
  refuse,
  type RenderContext,
  type Step,
  text,
  unique,
  usageOf,
  type WireFormat,
} from "./strict_wire.ts";

const FINISH = {
  stop: "stop",
  length: "length",
  tool_calls: "tool_calls",
  refused: "content_filter",
};

// deno-fmt-ignore
const FIELDS = [
  "max_tokens", "max_completion_tokens", "temperature", "top_p", "stream", "stream_options", "tools",
  "tool_choice", "parallel_tool_calls", "frequency_penalty", "presence_penalty", "seed", "stop",
  "return_progress", // llama.cpp's own
  "reasoning_effort", "response_format", "store", "metadata", "user", "n", "prompt_cache_key",
];

function check(body: Json): void {
  object(body, "body", ["model", "messages"], FIELDS);
  nonBlank(body.model, "model");
  if (body.max_tokens !== undefined) number(body.max_tokens, "max_tokens", 1);
  if (body.max_completion_tokens !== undefined) {
    number(body.max_completion_tokens, "max_completion_tokens", 1);
    if (body.max_tokens !== undefined) refuse("max_tokens and max_completion_tokens are exclusive");
  }
  if (body.temperature !== undefined) number(body.temperature, "temperature", 0, 2);
  if (body.frequency_penalty !== undefined) {
    number(body.frequency_penalty, "frequency_penalty", -2, 2);
  }
  if (body.stream !== undefined) oneOf(body.stream, "stream", [true, false]);
  if (body.stream_options !== undefined) {
    if (body.stream !== true) refuse("stream_options is only allowed when stream is enabled");
    object(body.stream_options, "stream_options", [], ["include_usage", "include_obfuscation"]);
  }
  if (body.tools !== undefined) {
    unique(array(body.tools, "tools").map((t, i) => functionTool(t, `tools.${i}`)), "tool names");
  } else if (body.tool_choice !== undefined || body.parallel_tool_calls !== undefined) {
    refuse("tool_choice and parallel_tool_calls are only allowed when tools are specified");
  }
  checkMessages(array(body.messages, "messages"));
}

function checkMessages(messages: unknown[]): void {
  const ids: string[] = [];
  let open: string[] = [];
  messages.forEach((message, i) => {
    const path = `messages.${i}`;
    if (!isObject(message)) refuse(`${path}: Input should be an object`);
    oneOf(message.role, `${path}.role`, ["system", "developer", "user", "assistant", "tool"]);
    if (message.role === "tool") {
      object(message, path, ["role", "content", "tool_call_id"]);
      content(message.content, `${path}.content`);
      const id = nonBlank(message.tool_call_id, `${path}.tool_call_id`);
      if (!open.includes(id)) {
        refuse(
          `${path}: 'tool' must be a response to a preceding message with 'tool_calls': ${id}`,
        );
      }
      open = open.filter((other) => other !== id);
      return;
    }
    if (open.length > 0) {
      refuse(`${path}: 'tool_calls' must be followed by tool messages for each id: ${open}`);
    }
    if (message.role === "assistant") {
      open = checkAssistant(message, path);
      ids.push(...open);
      return;
    }
    object(message, path, ["role", "content"], ["name"]);
    content(message.content, `${path}.content`);
    // Qwen, Mistral and other templates raise on it.
    if (message.role !== "user" && i > 0) {
      refuse(`${path}: System message must be at the beginning`);
    }
  });
  if (open.length > 0) refuse(`'tool_calls' must be followed by tool messages: ${open}`);
  unique(ids, "tool_call ids");
  const last = (messages.at(-1) as Json).role;
  // Mistral: "Expected last role User or Tool"; elsewhere it would be continued as a prefill.
  if (last !== "user" && last !== "tool") refuse(`Expected last role user or tool, got ${last}`);
}

function checkAssistant(message: Json, path: string): string[] {
  // Servers that send reasoning_content take it back.
  object(message, path, ["role"], ["content", "tool_calls", "name", "reasoning_content"]);
  const calls = message.tool_calls === undefined
    ? []
    : array(message.tool_calls, `${path}.tool_calls`);
  if (message.content !== undefined && message.content !== null) {
    content(message.content, `${path}.content`);
  }
  // OpenAI refuses null, DeepSeek and Mistral the empty string too.
  if (!message.content && calls.length === 0) {
    refuse(`${path}: assistant message must have either content or tool_calls`);
  }
  return calls.map((call, i) => {
    const at = `${path}.tool_calls.${i}`;
    const { id, type, function: fn } = object(call, at, ["id", "type", "function"]);
    if (!/^.{1,40}$/.test(text(id, `${at}.id`))) refuse(`${at}.id: 1 to 40 characters expected`);
    oneOf(type, `${at}.type`, ["function"]);
    const { name, arguments: args } = object(fn, `${at}.function`, ["name", "arguments"]);
    nonBlank(name, `${at}.function.name`);
    const json = text(args, `${at}.function.arguments`);
    try {
      if (isObject(JSON.parse(json))) return id as string;
    } catch { /* refused below */ }
    return refuse(`${at}.function.arguments: not a JSON object: ${args}`);
  });
}

function content(value: unknown, path: string): void {
  if (typeof value === "string") return;
  array(value, path).forEach((part, i) => {
    if (!isObject(part)) refuse(`${path}.${i}: Input should be an object`);
    if (part.type === "text") {
      object(part, `${path}.${i}`, ["type", "text"]);
      nonBlank(part.text, `${path}.${i}.text`);
    } else {
      object(part, `${path}.${i}`, ["type", "image_url"]);
      oneOf(part.type, `${path}.${i}.type`, ["image_url"]);
      const { url } = object(part.image_url, `${path}.${i}.image_url`, ["url"], ["detail"]);
      if (!/^(https?:|data:image\/\w+;base64,)/.test(text(url, "url"))) refuse(`${path}: bad url`);
    }
  });
}

function usage(step: Step): Json | undefined {
  const tokens = usageOf(step);
  if (!tokens) return undefined;
  const { inputTokens, outputTokens, cachedTokens } = tokens;
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    ...(cachedTokens !== undefined && { prompt_tokens_details: { cached_tokens: cachedTokens } }),
  };
}

/** The timings of llama.cpp, where the step has a speed. */
function timings(step: Step): Json | undefined {
  const { readSpeed, cachedTokens } = usageOf(step) ?? {};
  return readSpeed === undefined
    ? undefined
    : { cache_n: cachedTokens, prompt_per_second: readSpeed };
}

function callId(call: { id?: string | null }, next: () => number): Json {
  return call.id === null ? {} : { id: call.id ?? `call_${next()}` };
}

function stream(step: Step, { model, body, next }: RenderContext): Piece[] {
  const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model };
  const chunk = (kind: Piece["kind"], delta: Json, finish: string | null = null): Piece => ({
    kind,
    bytes: frame({ ...head, choices: [{ index: 0, delta, finish_reason: finish }] }),
  });
  const calls = step.toolCalls ?? [];
  const tokens = usage(step);
  const wanted = (body.stream_options as Json | undefined)?.include_usage === true;
  return [
    chunk("start", { role: "assistant", content: null }),
    ...deltas(step.reasoning ?? "").map((t) => chunk("reasoning", { reasoning_content: t })),
    ...deltas(step.text ?? "").map((t) => chunk("text", { content: t })),
    ...calls.flatMap((call, index) => [
      chunk("name", {
        tool_calls: [{
          index,
          ...callId(call, next),
          type: "function",
          function: { name: call.name, arguments: "" },
        }],
      }),
      ...deltas(argumentsText(call)).map((t) =>
        chunk("arguments", { tool_calls: [{ index, function: { arguments: t } }] })
      ),
    ]),
    chunk("finish", {}, FINISH[finishOf(step)]),
    ...(wanted && tokens
      ? [{
        kind: "finish" as const,
        bytes: frame({ ...head, choices: [], usage: tokens, timings: timings(step) }),
      }]
      : []),
    { kind: "finish", bytes: "data: [DONE]\n\n" },
  ];
}

function frame(data: Json): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

function whole(step: Step, { model, next }: RenderContext): string {
  const calls = step.toolCalls?.map((call) => ({
    ...callId(call, next),
    type: "function",
    function: { name: call.name, arguments: argumentsText(call) },
  }));
  return JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model,
    choices: [{
      index: 0,
      message: {
        role: "assistant",
        content: step.text ?? null,
        ...(step.reasoning && { reasoning_content: step.reasoning }),
        ...(calls?.length && { tool_calls: calls }),
      },
      finish_reason: FINISH[finishOf(step)],
    }],
    usage: usage(step),
    timings: timings(step),
  });
}

export const strictCompat: WireFormat = {
  name: "compat",
  check,
  streams: (body) => body.stream === true,
  streamType: "text/event-stream",
  stream,
  whole,
  error: (type, status, message) =>
    JSON.stringify({
      error: {
        message,
        type: type ?? (status >= 400 && status < 500 ? "invalid_request_error" : "server_error"),
        param: null,
        code: null,
      },
    }),
  streamError: (body) => `data: ${body}\n\n`,
};
