/** The native local format (`/api/chat`), as strict as Ollama is, and about pairing more so. */

import {
  argumentsText,
  array,
  deltas,
  finishOf,
  functionTool,
  isObject,
  type Json,
  list,
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

const FINISH = { stop: "stop", length: "length", tool_calls: "stop", refused: "stop" };

// deno-fmt-ignore
const OPTIONS = [
  "num_predict", "temperature", "repeat_penalty", "num_ctx", "seed", "top_k", "top_p", "min_p",
  "stop", "frequency_penalty", "presence_penalty",
];

function check(body: Json): void {
  // The real server ignores unknown settings. A test must notice a misspelt one.
  const optional = "tools stream options think format keep_alive truncate shift".split(" ");
  object(body, "body", ["model", "messages"], optional);
  nonBlank(body.model, "model");
  if (body.stream !== undefined) oneOf(body.stream, "stream", [true, false]);
  if (body.think !== undefined) {
    oneOf(body.think, "think", [true, false, "low", "medium", "high", "max"]);
  }
  if (body.options !== undefined) {
    const options = object(body.options, "options", [], OPTIONS);
    const { num_predict, temperature, repeat_penalty } = options;
    if (num_predict !== undefined) number(num_predict, "options.num_predict", -2);
    if (temperature !== undefined) number(temperature, "options.temperature", 0);
    if (repeat_penalty !== undefined) number(repeat_penalty, "options.repeat_penalty", 0);
  }
  if (body.tools !== undefined) {
    unique(list(body.tools, "tools").map((t, i) => functionTool(t, `tools.${i}`)), "tool names");
  }
  checkMessages(array(body.messages, "messages"));
}

function checkMessages(messages: unknown[]): void {
  // The format pairs calls and results by their order, and by name if there is one.
  let open: { id: unknown; name: string }[] = [];
  const ids: string[] = [];
  messages.forEach((value, i) => {
    const path = `messages.${i}`;
    const optional = ["thinking", "images", "tool_calls", "tool_name", "tool_call_id"];
    const message = object(value, path, ["role", "content"], optional);
    oneOf(message.role, `${path}.role`, ["system", "user", "assistant", "tool"]);
    text(message.content, `${path}.content`);
    if (message.thinking !== undefined) text(message.thinking, `${path}.thinking`);
    if (message.images !== undefined) {
      array(message.images, `${path}.images`).forEach((image) => {
        if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text(image, `${path}.images`))) {
          refuse("illegal base64 data");
        }
      });
    }
    if (message.role === "tool") {
      const { id, name } = open.shift() ??
        refuse(`${path}: a tool message that answers no tool call`);
      const { tool_name, tool_call_id } = message;
      if (tool_name !== undefined && tool_name !== name) {
        refuse(`${path}: a result of ${tool_name} where one of ${name} is due`);
      }
      if (id !== undefined && tool_call_id !== undefined && tool_call_id !== id) {
        refuse(`${path}: a result for ${tool_call_id} where one for ${id} is due`);
      }
      return;
    }
    if (open.length > 0) refuse(`${path}: ${open.length} tool calls without a result before it`);
    if (message.tool_calls !== undefined) {
      oneOf(message.role, `${path}.role`, ["assistant"]);
      open = array(message.tool_calls, `${path}.tool_calls`).map((call) =>
        checkCall(call, `${path}.tool_calls`)
      );
      ids.push(...open.flatMap(({ id }) => id === undefined ? [] : [String(id)]));
    } else if (message.role === "assistant" && message.content === "") {
      refuse(`${path}: an assistant message that says nothing`);
    }
    if (message.role === "system" && i > 0) refuse("System message must be at the beginning");
  });
  if (open.length > 0) refuse(`${open.length} tool calls without a result at the end`);
  unique(ids, "tool call ids");
  const last = (messages.at(-1) as Json).role;
  if (last !== "user" && last !== "tool") refuse(`Expected last role user or tool, got ${last}`);
}

function checkCall(value: unknown, path: string): { id: unknown; name: string } {
  const call = object(value, path, ["function"], ["id", "type"]);
  if (call.id !== undefined) nonBlank(call.id, `${path}.id`);
  const { name, arguments: args } = object(call.function, path, ["name", "arguments"], ["index"]);
  if (!isObject(args)) refuse("Value looks like object, but can't find closing '}' symbol");
  return { id: call.id, name: nonBlank(name, `${path}.name`) };
}

function lastLine(step: Step): Json {
  const tokens = usageOf(step);
  return {
    done: true,
    done_reason: FINISH[finishOf(step)],
    total_duration: 1,
    ...(tokens && { prompt_eval_count: tokens.inputTokens, eval_count: tokens.outputTokens }),
  };
}

/** Written by hand, as the arguments may be no JSON. */
function toolCalls(step: Step): string[] {
  return (step.toolCalls ?? []).map((call) => {
    const id = call.id == null ? "" : `"id":${JSON.stringify(call.id)},`;
    return `{${id}"function":{"name":${JSON.stringify(call.name)},"arguments":${
      argumentsText(call)
    }}}`;
  });
}

function stream(step: Step, { model }: RenderContext): Piece[] {
  const head = { model, created_at: "2026-11-21T04:21:56.67927313Z" };
  const line = (kind: Piece["kind"], message: Json): Piece => ({
    kind,
    bytes: `${
      JSON.stringify({ ...head, message: { role: "assistant", ...message }, done: false })
    }\n`,
  });
  const pieces = [
    ...deltas(step.reasoning ?? "").map((thinking) => line("reasoning", { content: "", thinking })),
    ...deltas(step.text ?? "").map((content) => line("text", { content })),
  ];
  const calls = toolCalls(step);
  if (calls.length > 0) {
    const [open, close] = JSON.stringify({
      ...head,
      message: { role: "assistant", content: "", tool_calls: "?" },
      done: false,
    }).split('"?"');
    const json = `${open}[${calls}]${close}\n`;
    const name = json.lastIndexOf('"arguments":');
    pieces.push({ kind: "name", bytes: json.slice(0, name) });
    pieces.push({ kind: "arguments", bytes: json.slice(name, name + 16) });
    pieces.push({ kind: "arguments", bytes: json.slice(name + 16) });
  }
  const last = { ...head, message: { role: "assistant", content: "" }, ...lastLine(step) };
  return [...pieces, { kind: "finish", bytes: `${JSON.stringify(last)}\n` }];
}

function whole(step: Step, { model }: RenderContext): string {
  const calls = toolCalls(step);
  const message = {
    role: "assistant",
    content: step.text ?? "",
    ...(step.reasoning && { thinking: step.reasoning }),
    ...(calls.length > 0 && { tool_calls: "?" }),
  };
  const body = JSON.stringify({
    model,
    created_at: "2026-11-21T04:21:56Z",
    message,
    ...lastLine(step),
  });
  return body.replace('"tool_calls":"?"', () => `"tool_calls":[${calls}]`);
}

export const strictLocal: WireFormat = {
  name: "local",
  check,
  streams: (body) => body.stream !== false,
  streamType: "application/x-ndjson",
  stream,
  whole,
  error: (_type, _status, message) => JSON.stringify({ error: message }),
  streamError: (body) => `${body}\n`,
};
