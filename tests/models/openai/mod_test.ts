import { assert, assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import type { CallOptions, Delta } from "../../../src/models/backend.ts";
import { AnswerSplitter } from "../../../src/models/answer_splitter.ts";
import { ToolCallFilter } from "../../../src/models/toolcalls/extract.ts";
import { callCompat, compatBackend } from "../../../src/models/openai/mod.ts";
import { parseCompatResponse } from "../../../src/models/openai/response.ts";
import { compatConfig } from "../../../src/config.ts";
import { BackendError, type BackendErrorKind } from "../../../src/errors.ts";
import type { Message } from "../../../src/types/message.ts";
import { NO_TOOLS, REFUSALS } from "../../fixtures/refusals.ts";
import { type Handler, head, json, respond, serve, sse, stall } from "../../helpers/server.ts";
import { readingTool, TEXT } from "../../helpers/tool.ts";

const hi: Message[] = [{ role: "user", content: "hi" }];
const tool = readingTool("read", { p: TEXT });

const ANSWER = sse([
  { choices: [{ delta: { content: "Hello" }, finish_reason: "stop" }] },
  "[DONE]",
]);
const refusing = (message: string, status = 400, type = "invalid_request_error") =>
  json({ error: { message, type, param: null, code: null } }, status);

function configFor(server: { url: string }, settings = {}) {
  return compatConfig({ baseUrl: `${server.url}/v1`, model: "test", maxRetries: 0, ...settings });
}

/** A history with all that a server may refuse. */
const HISTORY: Message[] = [{ role: "system", content: "rules" }, ...hi];
for (const [id, more] of Object.entries({ x: { reasoning: "hm" }, y: {} })) {
  const toolCalls = [{ id, name: "read", arguments: {} }];
  HISTORY.push({ role: "assistant", content: "", ...more, toolCalls });
  HISTORY.push({ role: "tool", content: "A", toolCallId: id, toolName: "read" });
}

for (const [words, status, expected] of REFUSALS) {
  Deno.test(`what a server refuses by name is asked for otherwise, once, and remembered: ${words}`, async () => {
    await using server = serve(refusing(words, status), ANSWER);
    const config = {
      ...configFor(server),
      maxTokens: 4096,
      temperature: 0.1,
      think: "high" as const,
    };
    const notices: string[] = [];
    const options: CallOptions = { onNotice: (message) => notices.push(message) };
    await callCompat(config, HISTORY, [tool], options);
    await callCompat(config, HISTORY, [tool], options);
    assertEquals(server.requests.length, 3);
    const sent = server.requests.map((request) => {
      const body = request.json();
      const [first] = body.messages;
      // deno-lint-ignore no-explicit-any
      const calling = body.messages.filter((message: any) => message.tool_calls);
      const all: Record<string, unknown> = {
        ...body,
        system: [first.role, first.content],
        // deno-lint-ignore no-explicit-any
        called: calling.map((message: any) => message.content),
        // deno-lint-ignore no-explicit-any
        thoughts: calling.map((message: any) => message.reasoning_content),
      };
      return Object.fromEntries(Object.keys(expected).map((key) => [key, all[key]]));
    });
    assertEquals(sent.slice(1), [expected, expected]);
    assertNotEquals(sent[0], expected);
    assertEquals(notices.length, 1);
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

Deno.test("what a server refuses is remembered while an earlier request is still open", async () => {
  const [asked, open] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow: Handler = async (...given) => {
    asked.resolve();
    await open.promise;
    return await ANSWER(...given);
  };
  await using server = serve(slow, refusing(NO_TOOLS[0]![0]), ANSWER);
  const config = configFor(server);
  const first = callCompat(config, hi);
  await asked.promise;
  await callCompat(config, hi, [tool]);
  open.resolve();
  await first;
  await callCompat(config, hi, [tool]);
  const hasTools = server.requests.map((request) => "tools" in request.json());
  assertEquals(hasTools, [false, true, false, false]);
});

Deno.test("other refusals are shown, and nothing is asked again", async () => {
  const rows: [string, number, BackendErrorKind][] = [
    ["Invalid value for 'temperature': must be at most 1", 400, "request"],
    ["tools[0].function.name is invalid", 400, "request"],
    ["Unsupported parameter: 'max_tokens'", 403, "auth"],
    ["The model `test` does not exist", 404, "model_not_found"],
    ["Unsupported parameter: 'max_tokens'", 501, "server"],
  ];
  for (const [words, status, kind] of rows) {
    await using server = serve(refusing(words, status));
    const asked = () => callCompat(configFor(server), hi, [tool]);
    const error = await assertRejects(asked, BackendError, words);
    assertEquals([error.kind, server.requests.length], [kind, 1]);
  }
  // Nor is a refusal of the other form, too, and what did not help is not remembered.
  await using server = serve(
    refusing("Unsupported parameter: 'max_tokens'"),
    refusing("Unsupported parameter: 'max_tokens' and 'max_completion_tokens'"),
  );
  const config = { ...configFor(server), maxTokens: 4096 };
  for (const count of [2, 4]) {
    await assertRejects(() => callCompat(config, hi), BackendError);
    assertEquals(server.requests.length, count);
  }
  assertEquals(server.requests[2]!.json().max_tokens, 4096);
});

for (const [words, ...status] of NO_TOOLS) {
  Deno.test(`a server that takes no tools gets them in the text: ${words}`, async () => {
    const called = '<toolcall>{"name":"read","arguments":{"p":"a"}}</toolcall>';
    await using server = serve(
      refusing(words, ...status),
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
    assert(second.messages[0].content.includes('"description":"read"'));
    assertEquals(third.messages.slice(2), [
      { role: "assistant", content: called },
      { role: "user", content: '<toolresult name="read">\nA\n</toolresult>' },
    ]);
  });
}

Deno.test("tools are described in the text where that is the setting", async () => {
  await using server = serve(ANSWER);
  await callCompat(configFor(server, { textTools: true, apiKey: "sk-12345" }), hi, [tool]);
  assertEquals(server.requests[0]!.headers.get("authorization"), "Bearer sk-12345");
  const { tools, messages } = server.requests[0]!.json();
  assertEquals(tools, undefined);
  assert(messages[0].content.includes('"description":"read"'));
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

Deno.test("an answer in one piece to a request for a stream is split like a streamed one", async () => {
  const message = { content: "<think>hm</think>Yes." };
  const fetch = () =>
    Promise.resolve(Response.json({ choices: [{ message, finish_reason: "stop" }] }));
  const pieces: string[] = [];
  const splitter = new AnswerSplitter({
    onPiece: (kind, piece) => pieces.push(`${kind} ${piece}`),
  });
  await compatBackend(compatConfig({ baseUrl: "http://localhost:1/v1" }))
    .send([{ role: "user", content: "x" }], [], { fetch, splitter });
  assertEquals(pieces, ["reasoning hm", "text Yes."]);
});
