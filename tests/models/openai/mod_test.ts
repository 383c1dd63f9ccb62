import { assert, assertEquals, assertRejects } from "@std/assert";
import type { CallOptions, Delta } from "../../../src/models/backend.ts";
import { AnswerSplitter } from "../../../src/models/answer_splitter.ts";
import { ToolCallFilter } from "../../../src/models/toolcalls/extract.ts";
import { callCompat, compatBackend } from "../../../src/models/openai/mod.ts";
import { parseCompatResponse } from "../../../src/models/openai/response.ts";
import { compatConfig } from "../../../src/config.ts";
import { BackendError, type BackendErrorKind } from "../../../src/errors.ts";
import type { Message } from "../../../src/types/message.ts";
import type { Tool } from "../../../src/types/tool.ts";
import {
  type Handler,
  head,
  json,
  respond,
  serve,
  type Server,
  sse,
  stall,
} from "../../helpers/server.ts";

const hi: Message[] = [{ role: "user", content: "hi" }];
const tool: Tool = {
  name: "read",
  description: "Reads a file",
  parameters: { type: "object", properties: { p: { type: "string" } }, required: ["p"] },
  access: "read",
  run: () => "",
};

const ANSWER = sse([
  { choices: [{ delta: { content: "Hello" }, finish_reason: "stop" }] },
  "[DONE]",
]);
const refusing = (message: string, status = 400) =>
  json({ error: { message, type: "invalid_request_error", param: null, code: null } }, status);

function configFor(server: { url: string }, settings = {}) {
  return compatConfig({ baseUrl: `${server.url}/v1`, model: "test", maxRetries: 0, ...settings });
}

Deno.test("what a server refuses by name is asked for otherwise, once, and remembered", async (t) => {
  // deno-lint-ignore no-explicit-any
  const rows: [string, string, number, (body: any) => unknown, unknown][] = [
    [
      "max_tokens (OpenAI)",
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      400,
      (body) => [body.max_tokens, body.max_completion_tokens],
      [undefined, 4096],
    ],
    [
      "the limit itself",
      "max_tokens is too large: 4096. This model supports at most 2048 completion tokens",
      400,
      (body) => [body.max_tokens, body.max_completion_tokens],
      [undefined, undefined],
    ],
    [
      "content (llama-cpp-python)",
      "[{'type': 'string_type', 'loc': ('body', 'messages', 1, 'content'), 'msg': 'Input should be a valid string'}]",
      500,
      (body) => [typeof body.messages[0].content],
      ["string"],
    ],
    [
      "a template without a system role",
      "Jinja Exception: System role not supported",
      500,
      (body) => [body.messages[0].role],
      ["user"],
    ],
    [
      "a template without a system role (MiniMax, BigPizzaV3/CodexPlusPlus#267)",
      "invalid params, chat content has invalid message role: system (2013)",
      400,
      (body) => [body.messages[0].role],
      ["user"],
    ],
    [
      "a limit in other words (Bedrock, charmbracelet/crush#946)",
      "The maximum tokens you requested exceeds the model limit of 32768",
      400,
      (body) => [body.max_tokens],
      [undefined],
    ],
    [
      "thinking that has to have a budget (DashScope, QwenLM/Qwen-Agent#941)",
      "The thinking_budget parameter must be a positive integer and not greater than 0",
      400,
      (body) => [body.reasoning_effort, body.chat_template_kwargs],
      [undefined, undefined],
    ],
    [
      "how much it thinks, wherever it stands (vllm-project/vllm#38560)",
      "Kwargs ['reasoning_effort'] are not supported by `apply_chat_template`.",
      400,
      (body) => [body.reasoning_effort, body.chat_template_kwargs],
      [undefined, { enable_thinking: true }],
    ],
    [
      "temperature (OpenAI)",
      "Unsupported value: 'temperature' does not support 0.1 with this model. Only the default (1) value is supported.",
      400,
      (body) => [body.temperature],
      [undefined],
    ],
    [
      "temperature (Anthropic's)",
      "`temperature` is deprecated for this model.",
      400,
      (body) => [body.temperature],
      [undefined],
    ],
    [
      "stream_options",
      "Unrecognized request argument supplied: stream_options",
      400,
      (body) => [body.stream, body.stream_options],
      [true, undefined],
    ],
    [
      "stream_options (FastAPI)",
      "body.stream_options: Extra inputs are not permitted",
      422,
      (body) => [body.stream, body.stream_options],
      [true, undefined],
    ],
    [
      "return_progress",
      "Unknown parameter: 'return_progress'",
      400,
      (body) => [body.stream, body.return_progress],
      [true, undefined],
    ],
    [
      "stream",
      "Your organization must be verified to stream this model.",
      400,
      (body) => [body.stream, body.stream_options],
      [undefined, undefined],
    ],
  ];
  for (const [name, words, status, pick, expected] of rows) {
    await t.step(name, async () => {
      await using server = serve(refusing(words, status), ANSWER);
      const config = { ...configFor(server), maxTokens: 4096, think: "high" as const };
      const notices: string[] = [];
      const options: CallOptions = { onNotice: (message) => notices.push(message) };
      await callCompat(config, hi, [tool], options);
      await callCompat(config, hi, [tool], options);
      const bodies = server.requests.map((request) => request.json());
      assertEquals(bodies.length, 3);
      assertEquals(bodies.slice(1).map(pick), [expected, expected]);
      assertEquals(notices.length, 1);
    });
  }
});

/** Refusals of reasoning that is sent back, or is not, and what is sent then. */
const OF_REASONING: [words: string, status: number, reasoning: string, sent: unknown][] = [
  ["messages.1.reasoning_content: Extra inputs are not permitted", 422, "hm", undefined],
  // lmstudio-ai/lmstudio-bug-tracker#842, continuedev/continue#11711
  ["jinja template: Cannot pass both content and thinking", 500, "hm", undefined],
  ["thinking is enabled but reasoning_content is missing at index 1", 400, "", ""],
];

for (const [words, status, reasoning, expected] of OF_REASONING) {
  Deno.test(`reasoning is sent back with calls as the server takes it: ${words}`, async () => {
    await using server = serve(refusing(words, status), ANSWER);
    const call = { id: "x", name: "read", arguments: {} };
    const messages: Message[] = [
      ...hi,
      { role: "assistant", content: "", reasoning, toolCalls: [call] },
      { role: "tool", content: "A", toolCallId: "x", toolName: "read" },
    ];
    const config = configFor(server);
    await callCompat(config, messages, [tool]);
    await callCompat(config, messages, [tool]);
    const sent = server.requests.map((request) => request.json().messages[1].reasoning_content);
    assertEquals(sent, [reasoning || undefined, expected, expected]);
  });
}

Deno.test("events that come as JSON by their content type are read (vllm-project/vllm-ascend#5033)", async () => {
  const text = 'data: {"choices":[{"delta":{"content":"Hello"},"finish_reason":"stop"}]}\n\n';
  await using server = serve(respond(200, { "content-type": "application/json" }, text));
  const deltas: Delta[] = [];
  const onDelta = (delta: Delta) => deltas.push(delta);
  const response = await callCompat(configFor(server), hi, [], { onDelta });
  assertEquals(parseCompatResponse(response).content, "Hello");
  assertEquals(deltas, [{ type: "text", text: "Hello" }]);
});

Deno.test("other refusals are shown, and nothing is asked again", async (t) => {
  const rows: [string, number, BackendErrorKind][] = [
    ["Invalid value for 'temperature': must be at most 1", 400, "request"],
    ["tools[0].function.name is invalid", 400, "request"],
    ["Unsupported parameter: 'max_tokens'", 403, "auth"],
    ["The model `test` does not exist", 404, "model_not_found"],
    ["Unsupported parameter: 'max_tokens'", 501, "server"],
  ];
  for (const [words, status, kind] of rows) {
    await t.step(words, async () => {
      await using server = serve(refusing(words, status));
      const error = await assertRejects(
        () => callCompat(configFor(server), hi, [tool]),
        BackendError,
      );
      assertEquals([error.kind, server.requests.length], [kind, 1]);
      assert(error.message.includes(words), error.message);
    });
  }
  await t.step("a refusal of the other form too", async () => {
    await using server = serve(
      refusing("Unsupported parameter: 'max_tokens'"),
      refusing("Unsupported parameter: 'max_tokens' and 'max_completion_tokens'"),
    );
    const config = { ...configFor(server), maxTokens: 4096 };
    await assertRejects(() => callCompat(config, hi), BackendError);
    assertEquals(server.requests.length, 2);
    // What did not help is not remembered.
    await assertRejects(() => callCompat(config, hi), BackendError);
    assertEquals(server.requests[2]!.json().max_tokens, 4096);
  });
});

Deno.test("a server that takes no tools is told of them in the text", async (t) => {
  const rows: [string, Handler][] = [
    [
      "vLLM",
      refusing('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser'),
    ],
    ["OpenAI", refusing("Unsupported parameter: 'tools' is not supported with this model.")],
    ["Ollama", refusing("registry.ollama.ai/library/tiny:latest does not support tools")],
    [
      "llama.cpp",
      json({
        error: { code: 500, message: "tools param requires --jinja flag", type: "server_error" },
      }, 500),
    ],
    ["an older llama.cpp, QwenLM/Qwen#1298", refusing("Unsupported param: tools", 500)],
    [
      "LMDeploy, RooCodeInc/Roo-Code#10259",
      refusing("Internal server error: Unsupported tool_call_parser: None", 500),
    ],
    ["OpenRouter", refusing("No endpoints found that support tool use. Try another.", 404)],
  ];
  for (const [name, refusal] of rows) {
    await t.step(name, async () => {
      const called = '<toolcall>{"name":"read","arguments":{"p":"a"}}</toolcall>';
      await using server = serve(
        refusal,
        sse([{ choices: [{ delta: { content: called }, finish_reason: "stop" }] }, "[DONE]"]),
        ANSWER,
      );
      const backend = compatBackend(configFor(server));
      const notices: string[] = [];
      const options: CallOptions = { onNotice: (message) => notices.push(message) };
      const splitter = new AnswerSplitter({ calls: new ToolCallFilter({ tools: [tool.name] }) });
      const { message, finish } = await backend.send(hi, [tool], { ...options, splitter });
      assertEquals([finish, message.toolCalls![0]!.arguments], ["tool_calls", { p: "a" }]);
      const { id, name } = message.toolCalls![0]!;
      const result: Message = { role: "tool", content: "A", toolCallId: id, toolName: name };
      await backend.send([...hi, message, result], [tool], options);
      const [, second, third] = server.requests.map((request) => request.json());
      assertEquals([second.tools, third.tools, notices.length], [undefined, undefined, 1]);
      assert(second.messages[0].content.includes('"description":"Reads a file"'));
      assertEquals(third.messages.slice(2), [
        { role: "assistant", content: called },
        { role: "user", content: '<toolresult name="read">\nA\n</toolresult>' },
      ]);
    });
  }
});

Deno.test("the text of an answer may hold reasoning and calls", () => {
  assertEquals(compatBackend(configFor({ url: "http://localhost" })).isTyped, false);
});

Deno.test("tools are described in the text where that is the setting", async () => {
  await using server = serve(ANSWER);
  await callCompat(configFor(server, { textTools: true, apiKey: "sk-12345" }), hi, [tool]);
  assertEquals(server.requests[0]!.headers.get("authorization"), "Bearer sk-12345");
  const { tools, messages } = server.requests[0]!.json();
  assertEquals(tools, undefined);
  assert(messages[0].content.includes('"description":"Reads a file"'));
});

Deno.test("NET-11 answers that are none name status, type and host", async (t) => {
  const rows: [string, Handler][] = [
    ["another schema", json({ id: "x", data: [] })],
    ["no message", json({ choices: [{ index: 0 }] })],
    ["a list", json([1, 2])],
    ["an event of another schema", sse(["[1]"])],
    ["an event that is no JSON", sse(["{nonsense"])],
  ];
  for (const [name, handler] of rows) {
    await t.step(name, async () => {
      await using server: Server = serve(handler);
      const error = await assertRejects(() => callCompat(configFor(server), hi), BackendError);
      assertEquals(error.kind, "protocol");
      assert(error.message.includes("200"), error.message);
      assert(error.message.includes(`127.0.0.1:${server.port}`), error.message);
    });
  }
});

Deno.test("OpenAI without a key is refused before any request", async () => {
  const never = () => Promise.reject(new Error("no request may be made"));
  const error = await assertRejects(
    () => callCompat(compatConfig({ fetch: never }), hi),
    BackendError,
  );
  assertEquals(error.kind, "auth");
  assert(error.message.includes("wants a key"), error.message);
  const made = () => Promise.reject(new TypeError("a request is made"));
  const asked = () => callCompat(compatConfig({ fetch: made, apiKey: "sk-12345" }), hi);
  await assertRejects(asked, BackendError, "a request is made");
});

Deno.test("NET-12 an answer that has finished ends, though [DONE] never comes", async () => {
  const text = { choices: [{ index: 0, delta: { content: "Hello" } }] };
  const finish = { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
  const usage = { choices: [], usage: { prompt_tokens: 7, completion_tokens: 2 } };
  for (const events of [[text, finish, usage], [text, finish]]) {
    const body = events.map((e) => `data: ${JSON.stringify(e)}\n\n`);
    await using server = serve(
      stall([head(200, { "content-type": "text/event-stream" }), ...body]),
    );
    const signal = AbortSignal.timeout(20_000);
    const response = await callCompat(configFor(server), hi, [], { signal });
    assertEquals(parseCompatResponse(response).content, "Hello");
    assertEquals(response.usage, events[2] && usage.usage);
  }
});
