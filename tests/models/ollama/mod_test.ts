import { assert, assertEquals, assertRejects } from "@std/assert";
import type { CallOptions } from "../../../src/models/backend.ts";
import { callLocal, localBackend } from "../../../src/models/ollama/mod.ts";
import { localConfig } from "../../../src/config.ts";
import { BackendError } from "../../../src/errors.ts";
import { AnswerSplitter } from "../../../src/models/answer_splitter.ts";
import { ToolCallFilter } from "../../../src/models/toolcalls/extract.ts";
import type { Message } from "../../../src/types/message.ts";
import { json, ndjson, raw, respond, serve, sse, stall } from "../../helpers/server.ts";
import { strictServer } from "../../helpers/strict_server.ts";
import { recorded } from "../../helpers/recorded.ts";
import { readingTool, TEXT } from "../../helpers/tool.ts";

const hi: Message[] = [{ role: "user", content: "hi" }];
const tool = readingTool("read", { p: TEXT });

const ANSWER = ndjson([
  { message: { role: "assistant", content: "Hel" }, done: false },
  { message: { role: "assistant", content: "lo" }, done: true, done_reason: "stop" },
]);

function configFor(server: { url: string }, settings = {}) {
  return localConfig({ host: server.url, model: "test", maxRetries: 0, ...settings });
}

/** A recorded answer, sent byte for byte but for the framing that it declares. */
function replay(name: string) {
  const { head, body } = recorded(name);
  const length = `Content-Length: ${body.length}`;
  return raw(head.replace(/Transfer-Encoding: chunked|Content-Length: \d+/, length), body);
}

Deno.test("either endpoint is asked with the settings and the key", async () => {
  await using server = strictServer([{ text: "Hello" }, { text: "Hello" }]);
  for (const useCompat of [false, true]) {
    const config = configFor(server, { useCompat, apiKey: "proxy-key", frequencyPenalty: 0.5 });
    await callLocal(config, hi, [tool]);
  }
  const [native, compat] = server.requests;
  assertEquals([native!.path, compat!.path], ["/api/chat", "/v1/chat/completions"]);
  assertEquals(native!.body.options, { num_predict: 32768, temperature: 0.1, repeat_penalty: 1.2 });
  assertEquals([native!.body.think, compat!.body.frequency_penalty], [undefined, 0.5]);
  for (const { headers } of server.requests) {
    assertEquals(headers.get("authorization"), "Bearer proxy-key");
  }
});

Deno.test("a model that takes no tools is told of them in the text", async () => {
  const called = '<toolcall>{"name":"read","arguments":{"p":"a"}}</toolcall>';
  const native = ndjson([{ message: { content: called }, done: true, done_reason: "stop" }]);
  const compat = sse([{ choices: [{ delta: { content: called }, finish_reason: "stop" }] }]);
  for (const [useCompat, answer] of [[false, native], [true, compat]] as const) {
    await using server = serve(replay("local-err-tools-unsupported"), answer);
    const backend = localBackend(configFor(server, { useCompat }));
    const notices: string[] = [];
    const options: CallOptions = { onNotice: (message) => notices.push(message) };
    const splitter = new AnswerSplitter({ calls: new ToolCallFilter({ tools: [tool.name] }) });
    const { message } = await backend.send(hi, [tool], { ...options, splitter });
    const [found] = message.toolCalls!;
    assertEquals([found!.name, found!.arguments, found!.recovered], ["read", { p: "a" }, true]);
    assertEquals(message.content, "");
    await backend.send(hi, [tool], options);
    const bodies = server.requests.map((request) => request.json());
    assertEquals(bodies.map((body) => body.tools === undefined), [false, true, true]);
    assert(bodies[1].messages[0].content.includes("<toolcall>"));
    assertEquals(notices.length, 1);
    assert(notices[0]!.includes("does not support tools"), notices[0]);
  }
});

Deno.test("a model that can not think is asked without, once", async () => {
  await using server = serve(replay("local-err-think-unsupported"), ANSWER);
  const config = configFor(server, { think: true });
  await callLocal(config, hi);
  await callLocal(config, hi);
  assertEquals(server.requests.map((r) => r.json().think), [true, undefined, undefined]);
});

Deno.test("an unknown model: those installed are named, in the message and as a field", async () => {
  const tags = (...names: string[]) => json({ models: names.map((name) => ({ name })) });
  const unknown = replay("local-err-unknown-model");
  const rows: [list: ReturnType<typeof json>, words: string, models?: number][] = [
    [tags("a:1b", "b:2b"), "; installed are a:1b, b:2b", 2],
    [tags("a:1b"), "; installed are a:1b", 1],
    [tags("a".repeat(300)), `; installed are ${"a".repeat(199)}…`, 1],
    [tags(), "; no model is installed", 0],
    [respond(500), ""],
    [json({ models: [7], data: [7] }), ""],
  ];
  for (const [list, words, models] of rows) {
    await using server = serve(unknown, list);
    const error = await assertRejects(() => callLocal(configFor(server), hi), BackendError);
    assertEquals([error.kind, error.status], ["model_not_found", 404]);
    assertEquals(error.message, `The server at ${server.url} has no model "test"${words}`);
    assertEquals(error.models?.length, models);
  }
});

Deno.test("while a call may be written, which comes whole, silence has the time of the first token", async () => {
  const head = "HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\n\r\n";
  const begun = JSON.stringify({ message: { content: "I will write it." }, done: false }) + "\n";
  for (const [tools, limit] of [[[], "60 ms"], [[tool], "200 ms"]] as const) {
    await using server = serve(stall([head, begun]));
    const config = configFor(server, { idleTimeoutMs: 60, firstTokenTimeoutMs: 200 });
    const error = await assertRejects(() => callLocal(config, hi, tools), BackendError);
    assertEquals(error.kind, "timeout");
    assert(error.message.includes(` for ${limit}`), error.message);
  }
});
