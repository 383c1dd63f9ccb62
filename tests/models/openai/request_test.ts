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
import type { Message } from "../../../src/types/message.ts";
import type { Tool } from "../../../src/types/tool.ts";

const tool: Tool = {
  name: "read",
  description: "Reads",
  parameters: { type: "object", properties: { p: { type: "string" } } },
  access: "read",
  run: () => "",
};

const conversation: Message[] = [
  { role: "system", content: "Be brief." },
  { role: "user", content: "Read a and b" },
  {
    role: "assistant",
    content: "",
    reasoning: "two files",
    toolCalls: [
      { id: "x", name: "read", arguments: { p: "a" } },
      {
        id: "y",
        name: "re ad!",
        arguments: {},
        invalid: { text: '{"p":"b', reason: "it was cut" },
      },
    ],
  },
  { role: "tool", content: "A", toolCallId: "x", toolName: "read" },
  { role: "tool", content: "", toolCallId: "y", toolName: "re ad!", isError: true },
  { role: "assistant", content: "Done.", reasoning: "done" },
  {
    role: "user",
    content: "And this?",
    parts: [{ type: "image", mediaType: "image/png", data: "AAAA" }],
  },
];

Deno.test("messages in the compat format", () => {
  assertEquals(messagesToCompatFormat(conversation), [
    { role: "system", content: "Be brief." },
    { role: "user", content: "Read a and b" },
    {
      role: "assistant",
      content: null,
      reasoning_content: "two files",
      tool_calls: [
        { id: "x", type: "function", function: { name: "read", arguments: '{"p":"a"}' } },
        {
          id: "y",
          type: "function",
          function: { name: "re_ad_", arguments: '{"invalid_json":"{\\"p\\":\\"b"}' },
        },
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
  assert(system!.content.includes('{"name":"read","description":"Reads","parameters":{'));
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
    {
      role: "user",
      content: "And this?",
      parts: [{ type: "image", mediaType: "image/png", data: "AAAA" }],
    },
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
  const image: Message = {
    role: "user",
    content: " ",
    parts: [{ type: "image", mediaType: "image/png", data: "A" }],
  };
  assertEquals(messagesToCompatFormat([image]), [{
    role: "user",
    content: [{ type: "image_url", image_url: { url: "data:image/png;base64,A" } }],
  }]);
  const alone = { ...image, content: "" };
  assertEquals(messagesToLocalFormat([alone]), [{ role: "user", content: "", images: ["A"] }]);
  assertEquals(messagesToCompatFormat([alone]), messagesToCompatFormat([image]));
});

Deno.test("the bodies have the documented fields, messages last", () => {
  const messages: Message[] = [{ role: "user", content: "hi" }];
  const plain = compatConfig({ model: "m", apiKey: "k" });
  const compat = { ...plain, maxTokens: 4096, temperature: 0.1 };
  const hi = '"messages":[{"role":"user","content":"hi"}]}';
  const tools = `"tools":${JSON.stringify(toolsToCompatFormat([tool]))},`;
  const form = { schema: { type: "array" } };
  const FORM = '"response_format":{"type":"json_schema","json_schema":{"name":"answer",' +
    '"schema":{"type":"array"}}},';
  const rows: [string, string][] = [
    // Nothing is sent that nobody chose.
    [compatBody(plain, messages, [], false), `{"model":"m","stream":false,${hi}`],
    [
      compatBody(plain, messages, [], false, new Set(), { room: 2048 }),
      `{"model":"m","stream":false,"max_tokens":2048,${hi}`,
    ],
    [
      compatBody(compat, messages, [], false, new Set(["limit"]), { room: 2048 }),
      `{"model":"m","stream":false,"temperature":0.1,${hi}`,
    ],
    // A budget goes to servers of the person's own.
    ...(["http://gpu:8080/v1", "https://api.openai.com/v1"] as const).map((
      baseUrl,
    ): [string, string] => [
      compatBody({ ...plain, baseUrl, thinkBudget: 99 }, messages, [], false),
      `{"model":"m","stream":false,${
        baseUrl.startsWith("http:") ? '"thinking_budget_tokens":99,"thinking_token_budget":99,' : ""
      }${hi}`,
    ]),
    [
      compatBody(compat, messages, [], true),
      '{"model":"m","stream":true,"stream_options":{"include_usage":true},"max_tokens":4096,' +
      `"temperature":0.1,${hi}`,
    ],
    [
      compatBody({ ...compat, baseUrl: "http://gpu:8080/v1" }, messages, [], true),
      '{"model":"m","stream":true,"stream_options":{"include_usage":true},"return_progress":true,' +
      `"max_tokens":4096,"temperature":0.1,${hi}`,
    ],
    [
      compatBody({ ...compat, frequencyPenalty: 0 }, messages, [tool], false),
      '{"model":"m","stream":false,"max_tokens":4096,"temperature":0.1,"frequency_penalty":0,' +
      tools + hi,
    ],
    [
      compatBody(
        compat,
        messages,
        [],
        true,
        new Set(["max_tokens", "temperature", "stream_options"]),
      ),
      `{"model":"m","stream":true,"max_completion_tokens":4096,${hi}`,
    ],
    [
      compatBody(compat, messages, [], true, new Set(["stream"])),
      `{"model":"m","max_tokens":4096,"temperature":0.1,${hi}`,
    ],
    ...([
      [true, '"chat_template_kwargs":{"enable_thinking":true},'],
      [false, '"chat_template_kwargs":{"enable_thinking":false},'],
      [
        "low",
        '"reasoning_effort":"low","chat_template_kwargs":{"enable_thinking":true,"reasoning_effort":"low"},',
      ],
    ] as const).map(([think, sent]): [string, string] => [
      compatBody({ ...compat, think }, messages, [], false),
      `{"model":"m","stream":false,"max_tokens":4096,"temperature":0.1,${sent}${hi}`,
    ]),
    [
      localBody(localConfig({ model: "m", contextLength: 8192 }), messages, [], true),
      '{"model":"m","stream":true,"keep_alive":"30m",' +
      `"truncate":false,"shift":false,"options":{"num_predict":32768,"temperature":0.1,"repeat_penalty":1.2,"num_ctx":8192},${hi}`,
    ],
    // The form of an answer: the tools are told of, but not to be called.
    ...([
      [[tool], [], `${FORM}${tools}"tool_choice":"none",`],
      [[], [], FORM],
      [[tool], ["response_format"], tools],
    ] as const).map(([offered, refused, sent]): [string, string] => [
      compatBody(compat, messages, offered, false, new Set(refused), { form }),
      `{"model":"m","stream":false,"max_tokens":4096,"temperature":0.1,${sent}${hi}`,
    ]),
    [
      compatBody(compat, messages, [], false, new Set(), { slot: 0, room: 4095 }),
      `{"model":"m","stream":false,"id_slot":0,"max_tokens":4095,"temperature":0.1,${hi}`,
    ],
    ...([
      [[], `"think":false,"format":{"type":"array"},`],
      [["format"], ""],
    ] as const).map(([refused, held]): [string, string] => [
      localBody(
        localConfig({ model: "m", keepAlive: "", sampling: "server" }),
        messages,
        [tool],
        true,
        new Set(refused),
        { form },
      ),
      `{"model":"m","stream":true,${held}"truncate":false,"shift":false,` +
      `"options":{"num_predict":32768},${hi}`,
    ]),
    // Where the server is to choose, only what was set is sent.
    ...([
      [{ sampling: "server" }, '{"num_predict":32768}'],
      [
        { sampling: "server", temperature: 0.6, topK: 20, topP: 0.95, minP: 0 },
        '{"num_predict":32768,"temperature":0.6,"top_p":0.95,"top_k":20,"min_p":0}',
      ],
      [{ sampling: "auto", topK: 20 }, '{"num_predict":32768,"temperature":0.1,"top_k":20}'],
      [
        { sampling: "auto", repeatPenalty: 1 },
        '{"num_predict":32768,"temperature":0.1,"repeat_penalty":1}',
      ],
    ] as const).map(([set, sent]): [string, string] => [
      localBody(localConfig({ model: "m", keepAlive: "", ...set }), messages, [], true),
      `{"model":"m","stream":true,"truncate":false,"shift":false,"options":${sent},${hi}`,
    ]),
    [
      compatBody({ ...compatConfig({ model: "m", sampling: "server" }) }, messages, [], false),
      `{"model":"m","stream":false,${hi}`,
    ],
    [
      compatBody(
        compatConfig({ model: "m", sampling: "auto", repeatPenalty: 1.05, topP: 0.8 }),
        messages,
        [],
        false,
      ),
      `{"model":"m","stream":false,"top_p":0.8,` + `"repeat_penalty":1.05,${hi}`,
    ],
    [
      localBody(localConfig({ model: "m", think: "low" }), messages, [tool], true),
      '{"model":"m","stream":true,"think":"low","keep_alive":"30m",' +
      `"truncate":false,"shift":false,"options":{"num_predict":32768,"temperature":0.1,"repeat_penalty":1.2},${tools}${hi}`,
    ],
    [
      localBody(
        localConfig({ model: "m", think: true, keepAlive: "" }),
        messages,
        [],
        false,
        new Set(["think"]),
      ),
      `{"model":"m","stream":false,"truncate":false,"shift":false,` +
      `"options":{"num_predict":32768,"temperature":0.1,"repeat_penalty":1.2},${hi}`,
    ],
  ];
  for (const [body, expected] of rows) assertEquals(body, expected);
});
