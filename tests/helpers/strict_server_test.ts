import { assertMatch } from "@std/assert";
import { strictServer } from "./strict_server.ts";

type Json = Record<string, unknown>;

const PATHS = {
  compat: "/v1/chat/completions",
  local: "/api/chat",
  hosted: "/v1/messages",
} as const;
type Format = keyof typeof PATHS;

const HEADERS = {
  "content-type": "application/json",
  "x-api-key": "k",
  "anthropic-version": "2023-06-01",
};

const hi = { role: "user", content: "hi" };
const parameters = { type: "object", properties: {} };
const functionTool = { type: "function", function: { name: "f", description: "F", parameters } };
const hostedTool = { name: "f", description: "F", input_schema: parameters };

const fn = (id: unknown, args: unknown = "{}") => (
  { id, type: "function", function: { name: "f", arguments: args } }
);
const native = (args: unknown = {}) => ({ function: { name: "f", arguments: args } });
const use = (id: unknown, input: unknown = {}) => ({ type: "tool_use", id, name: "f", input });
const answer = (tool_use_id: unknown) => ({ type: "tool_result", tool_use_id, content: "r" });
const text = (text: unknown) => ({ type: "text", text });
const assistant = (...tool_calls: unknown[]) => ({ role: "assistant", content: null, tool_calls });
const nativeCalls = (...tool_calls: unknown[]) => ({ role: "assistant", content: "", tool_calls });
const tool = (tool_call_id: unknown) => ({ role: "tool", tool_call_id, content: "r" });
const nativeTool = { role: "tool", tool_name: "f", content: "r" };
const says = (...content: unknown[]) => ({ role: "assistant", content });
const asks = (...content: unknown[]) => ({ role: "user", content });

const BASE: Record<Format, Json> = {
  compat: { model: "m", tools: [functionTool] },
  local: { model: "m", tools: [functionTool] },
  hosted: { model: "m", max_tokens: 9, tools: [hostedTool] },
};

/** Conversations that pass. */
const GOOD: Record<Format, unknown[][]> = {
  compat: [
    [{ role: "system", content: "s" }, hi],
    [hi, assistant(fn("1"), fn("2", '{"a":1}')), tool("2"), tool("1"), hi],
    [hi, { role: "assistant", content: "a" }, hi, hi],
    [asks(text("see"), { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } })],
  ],
  local: [
    [{ role: "system", content: "s" }, hi],
    [hi, nativeCalls(native(), native({ a: 1 })), nativeTool, nativeTool, hi],
    [{ ...hi, images: ["AA=="] }],
  ],
  hosted: [
    [hi],
    [hi, says(text("a"), use("1"), use("2")), asks(answer("2"), answer("1"), text("b"))],
    [asks({ type: "image", source: { type: "base64", media_type: "image/png", data: "AA==" } })],
  ],
};

/** Conversations that are refused, and with what words. */
const BAD: Record<Format, [messages: unknown[], words: RegExp][]> = {
  compat: [
    [[], /too short/],
    [[{ role: "robot", content: "x" }], /role/],
    [[hi, assistant(fn("1"))], /must be followed/],
    [[hi, assistant(fn("1")), hi], /must be followed/],
    [[hi, assistant(fn("1"), fn("2")), tool("1"), hi], /must be followed/],
    [[hi, tool("1")], /must be a response/],
    [[hi, assistant(fn("1")), tool("2")], /must be a response/],
    [[hi, assistant(fn("1")), tool("1"), tool("1")], /must be a response/],
    [[hi, assistant(fn("1")), hi, tool("1")], /must be followed/],
    [[hi, assistant(fn("1"), fn("1")), tool("1"), tool("1")], /must be a response|unique/],
    [[hi, assistant(fn("1")), tool("1"), assistant(fn("1")), tool("1")], /unique/],
    [[hi, assistant(fn("")), tool("")], /1 to 40/],
    [[hi, assistant(fn("x".repeat(41))), tool("x".repeat(41))], /1 to 40/],
    [[hi, assistant(fn("1", '{"a')), tool("1")], /not a JSON object/],
    [[hi, assistant(fn("1", "[]")), tool("1")], /not a JSON object/],
    [[hi, assistant(fn("1", {})), tool("1")], /string/],
    [[hi, assistant({ ...fn("1"), index: 0 }), tool("1")], /index: Extra/],
    [[hi, assistant()], /too short/],
    [[hi, { role: "assistant", content: null }, hi], /content or tool_calls/],
    [[hi, { role: "assistant", content: "" }, hi], /content or tool_calls/],
    [[asks(text(""))], /blank/],
    [[hi, { role: "system", content: "s" }, hi], /beginning/],
    [[hi, { role: "assistant", content: "a" }], /last role/],
    [[{ ...hi, isError: true }], /isError: Extra/],
    [[{ role: "user", content: "\ud83d" }], /surrogate/],
    [[hi, assistant(fn("1", '{"a":"x"}')), { ...tool("1"), content: "\udc00" }], /surrogate/],
  ],
  local: [
    [[], /too short/],
    [[asks(text("a"))], /string/],
    [[{ role: "user", content: null }], /string/],
    [[hi, nativeCalls(native("{}")), nativeTool], /closing/],
    [[hi, nativeCalls(native())], /without a result/],
    [[hi, nativeCalls(native(), native()), nativeTool, hi], /without a result/],
    [[hi, nativeTool], /answers no tool call/],
    [[hi, nativeCalls(native()), nativeTool, nativeTool], /answers no tool call/],
    [[hi, nativeCalls(native()), { ...nativeTool, tool_name: "g" }], /result of g/],
    [[hi, { role: "assistant", content: "" }, hi], /says nothing/],
    [[{ ...hi, tool_calls: [native()] }], /role/],
    [[{ ...hi, images: ["data:image/png;base64,AA=="] }], /base64/],
    [[hi, { role: "assistant", content: "a" }], /last role/],
    [[{ role: "user", content: "\ud83d" }], /surrogate/],
  ],
  hosted: [
    [[], /too short/],
    [[{ role: "system", content: "s" }, hi], /Unexpected role "system"/],
    [[{ role: "tool", content: "s" }], /role/],
    [[hi, hi], /alternate/],
    [[says(text("a")), hi], /alternate/],
    [[hi, says(text("a"))], /prefill/],
    [[asks(text(""))], /non-empty/],
    [[asks(text(" \n"))], /not blank/],
    [[{ role: "user", content: "" }], /non-empty/],
    [[hi, says(text("")), hi], /non-empty/],
    [[hi, says(), hi], /too short/],
    [[hi, says(use("1")), hi], /found without/],
    [[hi, says(use("1")), asks(text("a"), answer("1"))], /come first/],
    [[hi, says(use("1"), use("2")), asks(answer("1"))], /found without.*2/],
    [[asks(answer("1"))], /unexpected/],
    [[hi, says(use("1")), asks(answer("1"), answer("2"))], /unexpected/],
    [[hi, says(use("1")), asks(answer("1"), answer("1"))], /unique/],
    [[hi, says(use("1"), use("1")), asks(answer("1"))], /unique/],
    [[hi, says(use("1")), asks(answer("1")), says(use("1")), asks(answer("1"))], /unique/],
    [[hi, says(use("")), asks(answer(""))], /id/],
    [[hi, says(use("a.b")), asks(answer("a.b"))], /id/],
    [[hi, says(use("1", "{}")), asks(answer("1"))], /object/],
    [[hi, says({ ...use("1"), index: 0 }), asks(answer("1"))], /index: Extra/],
    [[hi, asks(use("1")), hi], /alternate/],
    [[asks(use("1"))], /role/],
    [[hi, says(answer("1")), hi], /role/],
    [[hi, assistant(fn("1")), tool("1")], /tool_calls: Extra/],
    [[hi, says({ type: "thinking", thinking: "t", signature: "x" }, text("a")), hi], /signature/],
    [[hi, says({ type: "thinking", thinking: "t" }, text("a")), hi], /signature/],
    [[asks({ type: "novelty" })], /novelty/],
    [[{ role: "user", content: "\ud83d" }], /surrogate/],
  ],
};

/** Changes to a good request that make it a bad one. */
const BAD_BODIES: [Format, change: Json, words: RegExp][] = [
  ["compat", { tools: [] }, /too short/],
  ["compat", { tools: [hostedTool] }, /tools.0/],
  ["compat", { tools: [functionTool, functionTool] }, /unique/],
  ["compat", { max_tokens: 1, max_completion_tokens: 1 }, /exclusive/],
  ["compat", { temperature: "0" }, /temperature/],
  ["compat", { stream_options: { include_usage: true } }, /stream_options/],
  ["compat", { tools: undefined, tool_choice: "auto" }, /tool_choice/],
  ["compat", { num_ctx: 1 }, /num_ctx: Extra/],
  ["local", { tools: [hostedTool] }, /tools.0/],
  ["local", { options: { max_tokens: 1 } }, /max_tokens: Extra/],
  ["local", { stream: "yes" }, /stream/],
  ["hosted", { max_tokens: undefined }, /max_tokens.*required/],
  ["hosted", { max_tokens: 0 }, /max_tokens/],
  ["hosted", { temperature: 1.5 }, /temperature/],
  ["hosted", { tools: [functionTool] }, /tools.0/],
  ["hosted", { tools: [hostedTool, hostedTool] }, /unique/],
  ["hosted", { tool_choice: "auto" }, /tool_choice/],
  ["hosted", { stream_options: {} }, /stream_options: Extra/],
  ["hosted", { system: [text("")] }, /non-empty/],
  ["hosted", {
    system: Array(5).fill({ ...text("a"), cache_control: { type: "ephemeral" } }),
  }, /maximum of 4/],
];

async function post(
  url: string,
  format: Format,
  body: unknown,
  headers: Json = HEADERS,
): Promise<string> {
  const response = await fetch(url + PATHS[format], {
    method: "POST",
    headers: headers as Record<string, string>,
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return `${response.status} ${await response.text()}`;
}

for (const format of ["compat", "local", "hosted"] as const) {
  Deno.test(`the strict ${format} server takes what is right, and nothing else`, async () => {
    const good = GOOD[format];
    await using server = strictServer(good.map(() => ({ text: "fine" })));
    for (const [messages, words] of BAD[format]) {
      assertMatch(await post(server.url, format, { ...BASE[format], messages }), /^400 .*error/);
      assertMatch(server.requests.at(-1)!.problem!, words, JSON.stringify(messages));
    }
    for (const [name, change, words] of BAD_BODIES) {
      if (name !== format) continue;
      const answer = await post(server.url, format, { ...BASE[format], messages: [hi], ...change });
      assertMatch(answer, /^400 /, JSON.stringify(change));
      assertMatch(server.requests.at(-1)!.problem!, words, JSON.stringify(change));
    }
    assertMatch(await post(server.url, format, "{"), /^400 .*not valid JSON/);
    for (const messages of good) {
      const answer = await post(server.url, format, { ...BASE[format], messages });
      assertMatch(answer, /^200 /, JSON.stringify(messages) + answer);
    }
    assertMatch(
      await post(server.url, format, { ...BASE[format], messages: good[0] }),
      /no step left/,
    );
  });
}
