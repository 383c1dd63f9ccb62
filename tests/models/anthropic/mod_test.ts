import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import type { CallOptions } from "../../../src/models/backend.ts";
import { callHosted, hostedBackend } from "../../../src/models/anthropic/mod.ts";
import { hostedConfig } from "../../../src/config.ts";
import { BackendError } from "../../../src/errors.ts";
import type { Message } from "../../../src/types/message.ts";
import { recorded } from "../../helpers/recorded.ts";
import { respond, serve } from "../../helpers/server.ts";
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
