import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import type { CallOptions } from "../../../src/models/backend.ts";
import { callHosted, hostedBackend } from "../../../src/models/anthropic/mod.ts";
import { hostedConfig } from "../../../src/config.ts";
import { BackendError } from "../../../src/errors.ts";
import type { Message } from "../../../src/types/message.ts";
import { recorded } from "../../helpers/recorded.ts";
import { json, respond, serve } from "../../helpers/server.ts";
import { type Step, strictServer } from "../../helpers/strict_server.ts";

const hi: Message[] = [{ role: "user", content: "hi" }];

function config(url: string): ReturnType<typeof hostedConfig> {
  return hostedConfig({ apiKey: "sk-1", baseUrl: url, model: "m", maxRetries: 0 });
}

Deno.test("callHosted sends key and version, and returns what a call without streaming returns", async () => {
  const step: Step = { reasoning: "t", text: "a", toolCalls: [{ id: "1", name: "f" }] };
  await using server = strictServer([step, step]);
  const settings = config(server.url);
  const streamed = await callHosted(settings, hi);
  const whole = await callHosted(settings, hi, [], { stream: false });
  assertEquals(streamed, whole);
  const [first, second] = server.requests;
  assertEquals(first!.path, "/v1/messages");
  assertEquals(first!.headers.get("x-api-key"), "sk-1");
  assertEquals(first!.headers.get("anthropic-version"), "2023-06-01");
  assertEquals([first!.body.stream, second!.body.stream], [true, false]);
});

const refusals: [message: string, gone: string[]][] = [
  ["`temperature` is deprecated for this model.", ["temperature"]],
  ["cache_control: Extra inputs are not permitted", ["cache_control"]],
];
for (const [message, gone] of refusals) {
  Deno.test(`what the server refuses is left out, and remembered: ${message}`, async () => {
    await using server = strictServer([
      { error: { status: 400, message } },
      { text: "a" },
      { text: "b" },
    ]);
    const backend = hostedBackend(config(server.url));
    const notices: string[] = [];
    const options: CallOptions = { onNotice: (notice) => notices.push(notice) };
    assertEquals((await backend.send(hi, [], options)).message.content, "a");
    assertEquals((await backend.send(hi, [], options)).message.content, "b");
    assertEquals(notices.length, 1);
    const [first, ...later] = server.requests.map(({ body }) => Object.keys(body));
    for (const keys of later) assertEquals(first!.filter((key) => !keys.includes(key)), gone);
  });
}

const thought: Message = {
  role: "assistant",
  content: "a",
  hostedBlocks: [{ type: "thinking", thinking: "Hm.", signature: "x" }, {
    type: "text",
    text: "a",
  }],
};
// deno-fmt-ignore
const forms: [message: string, settings: object, messages: Message[], later: object][] = [
  [
    '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
    { think: "low" }, hi,
    { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "low" } },
  ],
  ["`temperature` and `top_p` cannot both be specified for this model. Please use only one.", { topP: 0.9 }, hi, { temperature: undefined, top_p: 0.9 }],
  ["`top_k` is deprecated for this model.", { topK: 9 }, hi, { top_k: undefined, temperature: 0.1 }],
  [
    "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior`.",
    {}, [...hi, thought, ...hi],
    { messages: ["hi", "a", "hi"].map((content, i) => ({ role: i === 1 ? "assistant" : "user", content })) },
  ],
  ["tool_choice: forced tool use is not supported for this model", { think: "high" }, hi, { tool_choice: undefined, tools: undefined }],
];
for (const [message, settings, messages, later] of forms) {
  Deno.test(`what a newer model refuses is sent in its form: ${message.slice(0, 60)}`, async () => {
    const answer = { content: [{ type: "text", text: "{}" }], stop_reason: "end_turn" };
    await using server = serve(
      json({ error: { type: "invalid_request_error", message } }, 400),
      json(answer),
    );
    const backend = hostedBackend({ ...config(server.url), ...settings });
    const options = message.startsWith("tool_choice") ? { answerSchema: { type: "object" } } : {};
    assertEquals((await backend.send(messages, [], options)).message.content, "{}");
    const body = server.requests[1]!.json();
    const keys = Object.keys(later);
    assertEquals(Object.fromEntries(keys.map((key) => [key, body[key]])), later);
  });
}

/** A recorded answer to a request that failed. */
function refusal(name: string): Parameters<typeof respond> {
  const { head, text } = recorded(`hosted-${name}`);
  const type = /content-type: (.*)/i.exec(head)![1]!;
  return [Number(head.split(" ")[1]), { "content-type": type }, text];
}

const failures: [name: string, kind: string, says: RegExp][] = [
  ["llama-key-none-anthropic", "auth", /Invalid API Key/],
  ["llama-ctx-toolong-anthropic-stream", "context_too_long", /context size/],
  ["llama-loading-anthropic-stream", "server", /Loading model/],
  ["ollama-err-unknown-model-stream", "model_not_found", /model 'nope' not found/],
];
for (const [name, kind, says] of failures) {
  Deno.test(`a refused request says why: ${name}`, async () => {
    await using server = serve(respond(...refusal(name)));
    const error = await assertRejects(() => callHosted(config(server.url), hi), BackendError);
    assertEquals(error.kind, kind);
    assertMatch(error.message, says);
  });
}
