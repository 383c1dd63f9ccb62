import { assertEquals } from "@std/assert";
import {
  hostedBody,
  type HostedMessage,
  messagesToHostedFormat,
} from "../../../src/models/anthropic/request.ts";
import { hostedConfig, type Thinking } from "../../../src/config.ts";
import type { Message } from "../../../src/types/message.ts";
import type { JsonSchema } from "../../../src/types/tool.ts";
import { readingTool, TEXT } from "../../helpers/tool.ts";

/** Messages, as they are here and as they are on the wire. */
const user = <T>(content: T) => ({ role: "user" as const, content });
const says = <T>(content: T, more: Omit<Partial<Message>, "role" | "content"> = {}) => (
  { role: "assistant" as const, content, ...more }
);
type Args = Record<string, unknown>;
const call = (id: string, args: Args = {}) => ({ id, name: "f", arguments: args });
const result = (id: string, content: string): Message => (
  { role: "tool", toolCallId: id, content }
);
const use = (id: string, input: Args = {}) => ({ type: "tool_use", id, name: "f", input });
const answer = (id: string, content: string) => ({ type: "tool_result", tool_use_id: id, content });
const text = (text: string) => ({ type: "text", text });
const image = (mediaType: string, data: string) => ({ type: "image" as const, mediaType, data });
const shown = (media_type: string, data: string) => (
  { type: "image", source: { type: "base64", media_type, data } }
);
const thought = { type: "thinking", thinking: "Hm.", signature: "c2ln" };
const redacted = { type: "redacted_thinking", data: "x" };

const tool = readingTool("f", { a: TEXT });

// deno-fmt-ignore
const rows: [name: string, messages: Message[], hosted: HostedMessage[], system?: string][] = [
  [
    "rule 1: system messages become the system text",
    [
      { role: "system", content: "A" },
      user("hi"),
      { role: "system", content: "B" },
      { role: "system", content: " " },
    ],
    [user("hi")],
    "A\n\nB",
  ],
  ["plain text stays text", [user("a"), says("b \n"), user(" c ")], [user("a"), says("b"), user(" c ")]],
  [
    "rules 2 to 4: calls become blocks, results one user message",
    [
      user("a"),
      says("look:\n", { toolCalls: [call("1", { x: 1 }), call("2")] }),
      result("1", "one"),
      { ...result("2", "two"), isError: true },
    ],
    [
      user("a"),
      says([text("look:"), use("1", { x: 1 }), use("2")]),
      user([answer("1", "one"), { ...answer("2", "two"), is_error: true }]),
    ],
  ],
  [
    "user text after results joins them",
    [user("a"), says("", { toolCalls: [call("1")] }), result("1", "one"), user("stop"), user("no, go on")],
    [user("a"), says([use("1")]), user([answer("1", "one"), text("stop"), text("no, go on")])],
  ],
  [
    "results come first also where a text was before them",
    [user("a"), says("", { toolCalls: [call("1"), call("2")] }), result("1", "one"), user("b"), result("2", "two")],
    [user("a"), says([use("1"), use("2")]), user([answer("1", "one"), answer("2", "two"), text("b")])],
  ],
  ["roles alternate", [user("a"), user("b"), says("c"), says("d"), user("e")], [
    user([text("a"), text("b")]),
    says([text("c"), text("d")]),
    user("e"),
  ]],
  [
    "blank texts are left out",
    [user(""), user("a"), says(" \n"), user("\t"), says(" ", { toolCalls: [call("1")] }), result("1", " ")],
    [user("a"), says([use("1")]), user([answer("1", "(no output)")])],
  ],
  [
    "images go before their text",
    [{ ...user("see"), parts: [image("image/png", "AA==")] }, { ...user(""), parts: [image("image/gif", "BB==")] }],
    [user([shown("image/png", "AA=="), text("see"), shown("image/gif", "BB==")])],
  ],
  [
    "ids and names of other servers, arguments that were no JSON",
    [
      user("a"),
      says("", {
        toolCalls: [
          { id: "functions.f:0", name: "my tool", arguments: {} },
          { id: "", name: "", arguments: {}, invalid: { text: '{"x', reason: "cut" } },
        ],
      }),
      result("functions.f:0", "one"),
      result("", "two"),
    ],
    [
      user("a"),
      says([
        { ...use("functions_2ef_3a0"), name: "my_tool" },
        { ...use("call", { invalid_json: '{"x' }), name: "unknown" },
      ]),
      user([answer("functions_2ef_3a0", "one"), answer("call", "two")]),
    ],
  ],
  [
    "signed thoughts go back unchanged and in place",
    [
      user("a"),
      says("one two", {
        toolCalls: [call("new")],
        hostedBlocks: [thought, { ...text("one "), citations: null }, redacted, text("two"), use("old")],
      }),
      result("new", "r"),
    ],
    [user("a"), says([thought, text("one"), redacted, text("two"), use("new")]), user([answer("new", "r")])],
  ],
  [
    "a text that was changed since stands before the first call",
    [
      user("a"),
      says("changed", {
        toolCalls: [call("1"), call("2")],
        hostedBlocks: [thought, text("one"), use("1"), redacted, text("two"), use("2")],
      }),
      result("1", "r"),
      result("2", "r"),
    ],
    [
      user("a"),
      says([thought, text("changed"), use("1"), redacted, use("2")]),
      user([answer("1", "r"), answer("2", "r")]),
    ],
  ],
  [
    "only a thought, and a note in the place of an answer",
    [user("a"), says("[no answer]", { hostedBlocks: [thought] }), user("b")],
    [user("a"), says([thought, text("[no answer]")]), user("b")],
  ],
  [
    "a call that was recovered from the text, one that was dropped",
    [
      user("a"),
      says("", { toolCalls: [call("1")], hostedBlocks: [thought, text("<toolcall>")] }),
      result("1", "r"),
      says("", { hostedBlocks: [thought, use("2")] }),
      user("b"),
    ],
    [user("a"), says([thought, use("1")]), user([answer("1", "r")]), says([thought]), user("b")],
  ],
];

for (const [name, messages, hosted, system = ""] of rows) {
  Deno.test(`messagesToHostedFormat: ${name}`, () => {
    const before = structuredClone(messages);
    assertEquals(messagesToHostedFormat(messages), [system, hosted]);
    assertEquals(messages, before, "the input is left as it is");
  });
}

Deno.test("a body's first message is a user's, as the API wants it", () => {
  const { messages } = JSON.parse(
    hostedBody(hostedConfig({ apiKey: "k" }), [says("b"), user("c")], [], true),
  );
  const note = user("[The start of the conversation was removed]");
  assertEquals(messages, [note, says("b"), user("c")]);
});

const TOOLS = [{ name: "f", description: "f", input_schema: tool.parameters }];

Deno.test("a body: its fields, and what a server refuses left out", () => {
  const config = hostedConfig({ apiKey: "k", model: "m", maxTokens: 9, temperature: 0.5 });
  const messages: Message[] = [{ role: "system", content: "S" }, user("a")];
  const body = (...adjusted: string[]): unknown =>
    JSON.parse(hostedBody(config, messages, [tool], true, new Set(adjusted)));
  const plain = { model: "m", max_tokens: 9, messages: [user("a")] };
  const streamed = { ...plain, stream: true, tools: TOOLS };
  const cache_control = { type: "ephemeral" };
  const system = [{ ...text("S"), cache_control }];
  const more = { temperature: 0.5, cache_control };
  const refused = ["temperature", "cache_control"];
  assertEquals(body(), { ...streamed, ...more, system });
  assertEquals(body(...refused), { ...streamed, system });
  const bare = { ...streamed, system: [text("S")] };
  assertEquals(body(...refused, "system.cache_control"), bare);
  const whole = JSON.parse(hostedBody(config, [user("a")], [], false));
  assertEquals(whole, { ...plain, ...more, stream: false });
});

Deno.test("a body: thinking has its budget beside the limit, and no temperature", () => {
  const budgets: [think: Thinking, budget: number][] = [["low", 2048], ["medium", 8192]];
  const rows = [[undefined, 0], [false, 0], [true, 8192], ...budgets, ["high", 24_576]] as const;
  for (const [think, budget] of rows) {
    const settings = hostedConfig({ apiKey: "k", maxTokens: 9, temperature: 0.5 });
    const config = think === undefined ? settings : { ...settings, think };
    const body = (...adjusted: string[]) =>
      JSON.parse(hostedBody(config, [user("a")], [], true, new Set(adjusted)));
    const plain = { max_tokens: 9, temperature: 0.5, thinking: undefined };
    const thinking = { type: "enabled", budget_tokens: budget };
    const expected = budget === 0
      ? plain
      : { max_tokens: 9 + budget, temperature: undefined, thinking };
    const pick = ({ max_tokens, temperature, thinking }: typeof plain) => (
      { max_tokens, temperature, thinking }
    );
    assertEquals([pick(body()), pick(body("thinking"))], [expected, plain]);
  }
});

Deno.test("a body: the form of an answer is a tool that must be called, without a thought", () => {
  const config = { ...hostedConfig({ apiKey: "k", temperature: 0.5, maxTokens: 9 }), think: true };
  const any = { type: "array" };
  const inside = (shared: object) => (
    { type: "object", properties: { answer: any }, required: ["answer"], ...shared }
  );
  const $defs = { a: { type: "string" } };
  const rows: [schema: JsonSchema, parameters: object][] = [
    [{ type: "object", $defs }, { type: "object", $defs }],
    [any, inside({})],
    [{ ...any, $defs }, inside({ $defs })],
    [{ ...any, definitions: $defs }, inside({ definitions: $defs })],
  ];
  for (const [schema, parameters] of rows) {
    const limits = { answerSchema: schema };
    const body = (...refused: string[]) =>
      JSON.parse(hostedBody(config, [user("a")], [tool], true, new Set(refused), limits));
    const { tools, tool_choice, thinking, max_tokens } = body();
    const { name } = tool_choice;
    assertEquals(tool_choice, { type: "tool", name });
    const last = { name, description: "Gives the final answer.", input_schema: parameters };
    assertEquals(tools, [...TOOLS, last]);
    assertEquals([thinking, max_tokens], [undefined, 9]);
    const plain = body("tools");
    assertEquals([plain.tool_choice, plain.tools.length, plain.max_tokens], [undefined, 1, 8201]);
  }
});
