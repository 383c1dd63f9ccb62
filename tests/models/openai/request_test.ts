import { assert, assertEquals } from "@std/assert";
import {
  compatBody,
  messagesToCompatFormat,
  toolsToCompatFormat,
} from "../../../src/models/openai/request.ts";
import { nameOnWire } from "../../../src/models/wire_values.ts";
import { withTextTools } from "../../../src/models/text_tools.ts";
import { localBody, messagesToLocalFormat } from "../../../src/models/ollama/request.ts";
import { compatConfig, localConfig } from "../../../src/config.ts";
import type { Message, Part } from "../../../src/types/message.ts";
import type { Tool } from "../../../src/types/tool.ts";
import { readingTool, TEXT } from "../../helpers/tool.ts";

const tool = readingTool("read", { p: TEXT });
const image = (data: string): Part => ({ type: "image", mediaType: "image/png", data });

// deno-fmt-ignore
const conversation: Message[] = [
  { role: "system", content: "Be brief." },
  { role: "user", content: "Read a and b" },
  {
    role: "assistant",
    content: "",
    reasoning: "two files",
    toolCalls: [
      { id: "x", name: "read", arguments: { p: "a" } },
      { id: "y", name: "re ad!", arguments: {}, invalid: { text: '{"p":"b', reason: "it was cut" } },
    ],
  },
  { role: "tool", content: "A", toolCallId: "x", toolName: "read" },
  { role: "tool", content: "", toolCallId: "y", toolName: "re ad!", isError: true },
  { role: "assistant", content: "Done.", reasoning: "done" },
  { role: "user", content: "And this?", parts: [image("AAAA")] },
];

Deno.test("messages in the compat format", () => {
  const broken = '{"invalid_json":"{\\"p\\":\\"b"}';
  assertEquals(messagesToCompatFormat(conversation), [
    { role: "system", content: "Be brief." },
    { role: "user", content: "Read a and b" },
    {
      role: "assistant",
      content: null,
      reasoning_content: "two files",
      tool_calls: [
        { id: "x", type: "function", function: { name: "read", arguments: '{"p":"a"}' } },
        { id: "y", type: "function", function: { name: "re_ad_", arguments: broken } },
      ],
    },
    { role: "tool", tool_call_id: "x", content: "A" },
    { role: "tool", tool_call_id: "y", content: "(no output)" },
    { role: "assistant", content: "Done." },
    {
      role: "user",
      content: [
        { type: "text", text: "And this?" },
        { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
      ],
    },
  ]);
});

Deno.test("messages in the local format", () => {
  assertEquals(messagesToLocalFormat(conversation), [
    { role: "system", content: "Be brief." },
    { role: "user", content: "Read a and b" },
    {
      role: "assistant",
      content: "",
      thinking: "two files",
      tool_calls: [
        { id: "x", function: { name: "read", arguments: { p: "a" } } },
        { id: "y", function: { name: "re_ad_", arguments: { invalid_json: '{"p":"b' } } },
      ],
    },
    { role: "tool", content: "A", tool_name: "read", tool_call_id: "x" },
    { role: "tool", content: "(no output)", tool_name: "re_ad_", tool_call_id: "y" },
    { role: "assistant", content: "Done.", thinking: "done" },
    { role: "user", content: "And this?", images: ["AAAA"] },
  ]);
});

Deno.test("messages for a model without tools", () => {
  const [system, ...rest] = withTextTools(conversation, [tool]);
  assert(system!.content.startsWith("Be brief.\n\nYou can use tools."));
  assert(system!.content.includes('{"name":"read","description":"read","parameters":{'));
  assertEquals(rest, [
    { role: "user", content: "Read a and b" },
    {
      role: "assistant",
      content: '<toolcall>{"name":"read","arguments":{"p":"a"}}</toolcall>\n' +
        '<toolcall>{"name":"re ad!","arguments":{"invalid_json":"{\\"p\\":\\"b"}}</toolcall>',
      reasoning: "two files",
    },
    {
      role: "user",
      content: '<toolresult name="read">\nA\n</toolresult>\n' +
        '<toolresult name="re_ad_">\n(no output)\n</toolresult>',
    },
    { role: "assistant", content: "Done.", reasoning: "done" },
    { role: "user", content: "And this?", parts: [image("AAAA")] },
  ]);
  const hi = { role: "user" as const, content: "hi" };
  assertEquals(messagesToLocalFormat(withTextTools([hi], [])), [hi]);
});

Deno.test("names on the wire are ones that servers take", () => {
  const rows = [
    ["read_file-2", "read_file-2"],
    ["functions.read file", "functions_read_file"],
    ["", "unknown"],
    ["é".repeat(70), "_".repeat(64)],
  ];
  for (const [name, expected] of rows) assertEquals(nameOnWire(name!), expected);
});

Deno.test("messages that say nothing are left out", () => {
  const nothing: Message[] = [
    { role: "system", content: "" },
    { role: "assistant", content: "", reasoning: "only thought" },
    { role: "user", content: "" },
  ];
  assertEquals([messagesToCompatFormat(nothing), messagesToLocalFormat(nothing)], [[], []]);
  const part = { type: "image_url", image_url: { url: "data:image/png;base64,A" } };
  const blank: Message = { role: "user", content: " ", parts: [image("A")] };
  const alone = { ...blank, content: "" };
  for (const message of [blank, alone]) {
    assertEquals<object>(messagesToCompatFormat([message]), [{ role: "user", content: [part] }]);
  }
  assertEquals(messagesToLocalFormat([alone]), [{ role: "user", content: "", images: ["A"] }]);
});

const HI: Message[] = [{ role: "user", content: "hi" }];
const HI_ON_WIRE = '"messages":[{"role":"user","content":"hi"}]}';
const TOOLS = `"tools":${JSON.stringify(toolsToCompatFormat([tool]))},`;
const FORM = { answerSchema: { type: "array" } };
const FORM_ON_WIRE = '"response_format":{"type":"json_schema","json_schema":{"name":"answer",' +
  '"schema":{"type":"array"}}},';

/** What a request asks for: its tools, the parameters that are adjusted, and the limits of the answer. */
interface Asked {
  tools?: Tool[];
  stream?: boolean;
  adjusted?: string[];
  limits?: Parameters<typeof compatBody>[5];
}

const USUAL = { maxTokens: 4096, temperature: 0.1 };
const USUAL_ON_WIRE = '"max_tokens":4096,"temperature":0.1,';
const LEVEL_ON_WIRE = '"reasoning_effort":"low",' +
  '"chat_template_kwargs":{"enable_thinking":true,"reasoning_effort":"low"},';
const BUDGET_ON_WIRE = '"thinking_budget_tokens":99,"thinking_token_budget":99,';
const OWN = "http://gpu:8080/v1";
const STREAMED = '"stream_options":{"include_usage":true},';

type CompatSettings = Parameters<typeof compatBody>[0];
/** The fields of bodies between `stream` and the messages, which come last. */
// deno-fmt-ignore
const COMPAT: [fields: string, config?: Partial<CompatSettings>, asked?: Asked][] = [
  // Nothing is sent that nobody chose.
  [""],
  ['"max_tokens":2048,', {}, { limits: { room: 2048 } }],
  ['"temperature":0.1,', USUAL, { adjusted: ["limit"], limits: { room: 2048 } }],
  // A budget goes to servers of the person's own.
  [BUDGET_ON_WIRE, { baseUrl: OWN, thinkBudget: 99 }],
  ["", { baseUrl: "https://api.openai.com/v1", thinkBudget: 99 }],
  [STREAMED + USUAL_ON_WIRE, USUAL, { stream: true }],
  [`${STREAMED}"return_progress":true,${USUAL_ON_WIRE}`, { ...USUAL, baseUrl: OWN }, { stream: true }],
  [`${USUAL_ON_WIRE}"frequency_penalty":0,${TOOLS}`, { ...USUAL, frequencyPenalty: 0 }, { tools: [tool] }],
  ['"max_completion_tokens":4096,', USUAL, {
    stream: true,
    adjusted: ["max_tokens", "temperature", "stream_options"],
  }],
  [USUAL_ON_WIRE, USUAL, { stream: true, adjusted: ["stream"] }],
  ['"chat_template_kwargs":{"enable_thinking":true},', { think: true }],
  ['"chat_template_kwargs":{"enable_thinking":false},', { think: false }],
  [LEVEL_ON_WIRE, { think: "low" }],
  // The form of an answer: the tools are told of, but not to be called.
  [`${FORM_ON_WIRE}${TOOLS}"tool_choice":"none",`, {}, { tools: [tool], limits: FORM }],
  [FORM_ON_WIRE, {}, { limits: FORM }],
  [TOOLS, {}, { tools: [tool], adjusted: ["response_format"], limits: FORM }],
  ['"id_slot":0,"max_tokens":4095,', { maxTokens: 4096 }, { limits: { slot: 0, room: 4095 } }],
  ["", { sampling: "server" }],
  ['"top_p":0.8,"repeat_penalty":1.05,', { sampling: "auto", repeatPenalty: 1.05, topP: 0.8 }],
];

Deno.test("bodies of compatible servers have the documented fields, messages last", () => {
  for (const [fields, config = {}, asked = {}] of COMPAT) {
    const { tools = [], stream = false, adjusted = [], limits = {} } = asked;
    const compat = { ...compatConfig({ model: "m", apiKey: "k" }), ...config };
    const body = compatBody(compat, HI, tools, stream, new Set(adjusted), limits);
    const streams = adjusted.includes("stream") ? "" : `"stream":${stream},`;
    assertEquals(body, `{"model":"m",${streams}${fields}${HI_ON_WIRE}`);
  }
});

const OPTIONS = '"num_predict":32768,"temperature":0.1,"repeat_penalty":1.2';
type LocalSettings = Parameters<typeof localConfig>[0];
/** The fields of native bodies before `truncate`, and the options behind it. */
// deno-fmt-ignore
const LOCAL: [fields: string, options: string, config?: LocalSettings, asked?: Asked][] = [
  ['"keep_alive":"30m",', `${OPTIONS},"num_ctx":8192`, { contextLength: 8192 }],
  ['"think":"low","keep_alive":"30m",', OPTIONS, { think: "low" }, { tools: [tool] }],
  ["", OPTIONS, { think: true, keepAlive: "" }, { adjusted: ["think"] }],
  ['"think":false,"format":{"type":"array"},', OPTIONS, { keepAlive: "" }, { limits: FORM }],
  ["", OPTIONS, { keepAlive: "" }, { adjusted: ["format"], limits: FORM }],
  // Where the server is to choose, only what was set is sent.
  ["", '"num_predict":32768', { keepAlive: "", sampling: "server" }],
  [
    "",
    '"num_predict":32768,"temperature":0.6,"top_p":0.95,"top_k":20,"min_p":0',
    { keepAlive: "", sampling: "server", temperature: 0.6, topK: 20, topP: 0.95, minP: 0 },
  ],
  ["", '"num_predict":32768,"temperature":0.1,"top_k":20', { keepAlive: "", sampling: "auto", topK: 20 }],
  [
    "",
    '"num_predict":32768,"temperature":0.1,"repeat_penalty":1',
    { keepAlive: "", sampling: "auto", repeatPenalty: 1 },
  ],
];

Deno.test("native bodies have the documented fields, messages last", () => {
  for (const [fields, options, settings, asked = {}] of LOCAL) {
    const { tools = [], stream = false, adjusted = [], limits = {} } = asked;
    const local = localConfig({ model: "m", ...settings });
    const body = localBody(local, HI, tools, stream, new Set(adjusted), limits);
    const rest = `"truncate":false,"shift":false,"options":{${options}},`;
    const offered = tools.length > 0 ? TOOLS : "";
    const expected = `{"model":"m","stream":${stream},${fields}${rest}${offered}${HI_ON_WIRE}`;
    assertEquals(body, expected);
  }
});
