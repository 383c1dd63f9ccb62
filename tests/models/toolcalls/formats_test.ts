import { assertEquals } from "@std/assert";
import { extractToolCallsFromText } from "../../../src/models/toolcalls/extract.ts";
import { ToolCallFilter } from "../../../src/models/toolcalls/extract.ts";
import { cpuTime } from "../../helpers/cpu_time.ts";

const schemas = {
  read_file: {
    type: "object",
    properties: { file_path: { type: "string" }, limit: { type: "integer" } },
  },
  write_file: {
    type: "object",
    properties: { file_path: { type: "string" }, content: { type: "string" } },
  },
  run_bash: { type: "object", properties: { command: { type: "string" } } },
  add: {
    type: "object",
    properties: {
      a: { type: "number" },
      list: { type: "array" },
      label: { type: ["string", "null"] },
    },
  },
};
const tools = Object.keys(schemas);
const options = { tools, schemas };

type Call = [name: string, args: Record<string, unknown>];
const read = (file_path: string, more = {}): Call => ["read_file", { file_path, ...more }];
const ls: Call = ["run_bash", { command: "ls" }];

/** What models write; where the third is left out, nothing but the calls was said. */
const CALLS: [text: string, calls: Call[], rest?: string][] = [
  // Hermes, Qwen3, Granite 4
  ['<tool_call>\n{"name": "read_file", "arguments": {"file_path": "a"}}\n</tool_call>', [
    read("a"),
  ]],
  [
    'Let me look.\n<tool_call>\n{"arguments": {"file_path": "a"}, "name": "read_file"}\n</tool_call>',
    [read("a")],
    "Let me look.",
  ],
  [
    '<tool_call>{"name":"read_file","arguments":"{\\"file_path\\":\\"a\\"}"}</tool_call>\n<tool_call>{"name":"run_bash","arguments":{"command":"ls"}}</tool_call>',
    [read("a"), ls],
  ],
  ['<tool_call>{"name":"run_bash","arguments":{"command":"ls"}}', [ls]],
  // A dictionary of Python in place of JSON
  [
    "<tool_call>\n{'name': 'add', 'arguments': {'a': 1, 'list': [True, None]}}\n</tool_call>",
    [["add", { a: 1, list: [true, null] }]],
  ],
  ["<tool_call>[ {'name': 'run_bash', 'arguments': {'command': 'ls'}}]</tool_call>", [ls]],
  // Qwen2.5-Coder, Llama 3: nothing but JSON
  ['{"name": "run_bash", "arguments": {"command": "ls"}}', [ls]],
  ['\n {"name": "run_bash", "parameters": {"command": "ls"}}\n', [ls]],
  [
    '{"name":"run_bash","parameters":{"command":"ls"}}; {"name":"read_file","parameters":{"file_path":"a"}}',
    [ls, read("a")],
  ],
  ['[{"name":"run_bash","arguments":{"command":"ls"}}]', [ls]],
  [
    '<think>Hm.</think>\n{"name":"run_bash","arguments":{"command":"ls"}}',
    [ls],
    "<think>Hm.</think>",
  ],
  ['<|python_tag|>{"name": "run_bash", "parameters": {"command": "ls"}}<|eom_id|>', [ls]],
  ['<function=run_bash>{"command": "ls"}</function>', [ls]],
  ['{"type":"function","function":{"name":"run_bash","arguments":{"command":"ls"}}}', [ls]],
  ['{"type":"function","name":"run_bash","parameters":{"command":"ls"}}', [ls]],
  ['{"tool_calls":[{"name":"run_bash","arguments":{"command":"ls"}}]}', [ls]],
  [
    '{"tool_calls":[{"id":"1","type":"function","function":{"name":"run_bash","arguments":"{\\"command\\":\\"ls\\"}"}}]}',
    [ls],
  ],
  // Qwen3-Coder and kin
  [
    "<tool_call>\n<function=read_file>\n<parameter=file_path>\na b\n</parameter>\n<parameter=limit>\n5\n</parameter>\n</function>\n</tool_call>",
    [read("a b", { limit: 5 })],
  ],
  [
    "I will write.\n\n<function=write_file>\n<parameter=file_path>\na.md\n</parameter>\n<parameter=content>\n# A\n\n```sh\nls\n```\n\n</parameter>\n</function>\n</tool_call>",
    [["write_file", { file_path: "a.md", content: "# A\n\n```sh\nls\n```\n" }]],
    "I will write.",
  ],
  ["<function=run_bash>\n<parameter=command>\n123\n</parameter>\n</function>", [["run_bash", {
    command: "123",
  }]]],
  ["<function=add><parameter=a>1.5</parameter><parameter=list>[1, 2]</parameter></function>", [[
    "add",
    { a: 1.5, list: [1, 2] },
  ]]],
  // Python's words, a type of several, and a parameter that the schema does not have.
  [
    "<function=add><parameter=a>True</parameter><parameter=b>False</parameter><parameter=list>\nNone\n</parameter><parameter=label>5</parameter></function>",
    [["add", { a: true, b: false, list: null, label: "5" }]],
  ],
  [
    "<seed:tool_call>\n<function=run_bash>\n<parameter=command>ls</parameter>\n</function>\n</seed:tool_call>",
    [ls],
  ],
  // Mistral, Devstral
  ['[TOOL_CALLS][{"name": "run_bash", "arguments": {"command": "ls"}}]', [ls]],
  ['[TOOL_CALLS]run_bash[ARGS]{"command": "ls"}', [ls]],
  ['[TOOL_CALLS]run_bash[CALL_ID]ab12cd34e[ARGS]{"command": "ls"}</s>', [ls]],
  ['[TOOL_CALLS]run_bash{"command": "ls"}[TOOL_CALLS]read_file[ARGS]{"file_path":"a"}', [
    ls,
    read("a"),
  ]],
  // Gemma
  ['```tool_code\nprint(default_api.read_file(file_path="a", limit=5))\n```', [
    read("a", { limit: 5 }),
  ]],
  ["```tool_code\nrun_bash(command='ls')\nread_file('a')\n```", [ls, read("a")]],
  [
    "<start_function_call>call:read_file{file_path:<escape>a: {b}, c<escape>,limit:5}<end_function_call>",
    [read("a: {b}, c", { limit: 5 })],
  ],
  ['<|tool_call>call:run_bash{command:<|"|>ls<|"|>}<tool_call|>', [ls]],
  // gpt-oss
  [
    '<|channel|>commentary to=functions.run_bash <|constrain|>json<|message|>{"command":"ls"}<|call|>',
    [ls],
  ],
  [
    '<|start|>assistant<|channel|>commentary to=functions.run_bash<|message|>{"command":"ls"}',
    [ls],
  ],
  // White space before the arguments, which the piece after the head may begin with.
  ['<|channel|>commentary to=functions.run_bash<|message|>\n  {"command":"ls"}<|call|>', [ls]],
  [
    '<|start|>assistant to=functions.run_bash<|channel|>commentary json<|message|>{"command":"ls"}',
    [ls],
  ],
  // GLM
  [
    "<tool_call>read_file\n<arg_key>file_path</arg_key>\n<arg_value>a</arg_value>\n<arg_key>limit</arg_key>\n<arg_value>5</arg_value>\n</tool_call>",
    [read("a", { limit: 5 })],
  ],
  // DeepSeek
  [
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>run_bash\n```json\n{"command":"ls"}\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>read_file\n```json\n{"file_path":"a"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    [ls, read("a")],
  ],
  [
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>run_bash<｜tool▁sep｜>{"command":"ls"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    [ls],
  ],
  [
    '<|tool_call_begin|>function<|tool_sep|>run_bash\n```json\n{"command":"ls"}\n```<|tool_call_end|>',
    [ls],
  ],
  [
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="run_bash">\n<｜DSML｜parameter name="command" string="true">ls</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
    [ls],
  ],
  // Granite 3, Phi-4, LFM2, Llama 4, OLMo
  ['<|tool_call|>[{"name": "run_bash", "arguments": {"command": "ls"}}]', [ls]],
  ['<function_call> {"name": "run_bash", "arguments": {"command": "ls"}}', [ls]],
  ['functools[{"name": "run_bash", "arguments": {"command": "ls"}}]', [ls]],
  ['[run_bash(command="ls"), read_file(file_path="a", limit=5)]', [ls, read("a", { limit: 5 })]],
  ['<|python_start|>[run_bash(command="ls")]<|python_end|>', [ls]],
  ['<|tool_call_start|>[run_bash(command="ls")]<|tool_call_end|>', [ls]],
  ['<function_calls>\nrun_bash(command="ls")\n</function_calls>', [ls]],
  ["[add(a=-1.5e3, list=[1, {\"k\": None, 't': (True,)}])]", [["add", {
    a: -1500,
    list: [1, { k: null, t: [true] }],
  }]]],
  // Kimi
  [
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.run_bash:0<|tool_call_argument_begin|>{"command":"ls"}<|tool_call_end|><|tool_call_begin|>functions.read_file:1<|tool_call_argument_begin|>{"file_path":"a"}<|tool_call_end|><|tool_calls_section_end|>',
    [ls, read("a")],
  ],
  ['functions.run_bash:0{"command":"ls"}', [ls]],
  // MiniMax, Step-3, Anthropic-style
  [
    '<minimax:tool_call>\n<invoke name="run_bash">\n<parameter name="command">ls</parameter>\n</invoke>\n<invoke name="read_file">\n<parameter name="file_path">a</parameter>\n</invoke>\n</minimax:tool_call>',
    [ls, read("a")],
  ],
  [
    '<steptml:invoke name="run_bash"><steptml:parameter name="command">ls</steptml:parameter></steptml:invoke>',
    [ls],
  ],
  [
    'Now:\n<function_calls>\n<invoke name="run_bash">\n<parameter name="command">ls</parameter>\n</invoke>\n</function_calls>',
    [ls],
    "Now:",
  ],
  // The mark that closes the call within a string of JSON, and in place of a value's own.
  [
    '<function=run_bash>{"command":"echo </function>"}</function>',
    [["run_bash", { command: "echo </function>" }]],
  ],
  ["<function=run_bash><parameter=command>ls</function>", [ls]],
  // Cohere, Jamba, Apriel, Hunyuan, InternLM
  [
    '<|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "run_bash", "parameters": {"command": "ls"}}\n]<|END_ACTION|>',
    [ls],
  ],
  ['Action: ```json\n[{"tool_name": "run_bash", "parameters": {"command": "ls"}}]\n```', [ls]],
  ['<tool_calls>[{"name": "run_bash", "arguments": {"command": "ls"}}]</tool_calls>', [ls]],
  [
    '<|action_start|><|plugin|>\n{"name": "run_bash", "parameters": {"command": "ls"}}<|action_end|>',
    [ls],
  ],
  // ReAct
  ['Thought: I look.\nAction: run_bash\nAction Input: {"command": "ls"}', [ls], "Thought: I look."],
  ['Action: bash\nAction Input: {"command": "ls"}', [["bash", { command: "ls" }]]],
  ['<tool_use>{"name":"run_bash","input":{"command":"ls"}}</tool_use>', [ls]],
  // seen in the wild
  ['[TOOL_REQUEST]{"name":"run_bash","arguments":{"command":"ls"}}[END_TOOL_REQUEST]', [ls]],
  ['<tools>{"name":"run_bash","arguments":{"command":"ls"}}</tools>', [ls]],
  ['<TOOLCALL>[{"name":"run_bash","arguments":{"command":"ls"}}]</TOOLCALL>', [ls]],
  // What tools print is known by the first 256 characters of a line.
  [
    `${
      "a".repeat(256)
    }:12: <tool_call>{"name":"run_bash","arguments":{"command":"ls"}}</tool_call>`,
    [ls],
    `${"a".repeat(256)}:12:`,
  ],
];

/** What is no call, and stays as it is. */
const TEXTS: string[] = [
  '{"name": "my-package", "version": "1.0.0", "scripts": {"test": "deno test"}}',
  '{"name": "other_tool", "version": {}}',
  '{"files": ["a.ts"], "count": 2}',
  "[1, 2, 3]",
  "[see the docs](https://example.com) for more",
  "[read_file] is the tool to use.",
  "[x for x in range(10)]",
  'Here is the JSON you asked for: {"name": "run_bash", "arguments": {"command": "ls"}} as text.',
  '{"name": "run_bash", "arguments": {"command": "ls"}} is what a call looks like.',
  '`<tool_call>{"name":"run_bash","arguments":{"command":"ls"}}</tool_call>` is Hermes.',
  "```xml\n<function=run_bash>\n<parameter=command>\nls\n</parameter>\n</function>\n```",
  "```python\nrun_bash(command='ls')\n```",
  "```json\n{'name': 'run_bash', 'arguments': {'command': 'ls'}}\n```",
  '> <tool_call>{"name":"run_bash","arguments":{}}</tool_call>',
  "The <tool_call> tag opens a call and <function=name> names it.",
  'Use <invoke name="NAME"> with parameters.',
  "Action: buy milk\nAction Input: money",
  // A head is bounded.
  `[TOOL_CALLS]${" ".repeat(300)}run_bash{"command":"ls"}`,
  // On lines that tools print, however long the path is.
  `src/${"folder/".repeat(20)}a.ts:12: <tool_call>{"name":"run_bash","arguments":{}}</tool_call>`,
  `${"a".repeat(251)}:12: <tool_call>{"name":"run_bash","arguments":{}}</tool_call>`,
  // Two blanks behind a colon do not end the sentence.
  'Write this:  <tool_call>{"name":"run_bash","arguments":{}}</tool_call> and so on.',
  // A comma ends a line's marks: no fence opens behind it.
  '1, ```json\n{"name": "run_bash", "arguments": {"command": "ls"}}\n```',
  'My action: run_bash\nAction Input: {"command": "ls"}',
  "Call functions.run_bash:0 when needed.",
  "functions.md: a list of functions",
  "<|channel|>analysis<|message|>I think so.<|end|>",
  '<tool_call>{"name":"unknown"}</tool_call>',
  '{"name":"read_file","parameters":{"type":"object","properties":{"file_path":{"type":"string"}}}}',
];

const shape = (text: string, found: ReturnType<typeof extractToolCallsFromText>) => [
  (found[1] ?? []).map((call) =>
    call.invalid ? [call.name, "invalid"] : [call.name, call.arguments]
  ),
  found[0] === text ? text : found[0].trim(),
];

/** What the filter makes of `text` in pieces of `size`. */
function streamed(text: string, size: number): ReturnType<typeof extractToolCallsFromText> {
  const filter = new ToolCallFilter(options);
  let shown = "";
  for (let at = 0; at < text.length; at += size) shown += filter.push(text.slice(at, at + size));
  const { text: rest, calls } = filter.end();
  return [shown + rest, calls.length > 0 ? calls : null];
}

for (const [text, calls, rest = ""] of CALLS) {
  Deno.test(`a call: ${JSON.stringify(text).slice(0, 100)}`, () => {
    const expected = [calls, rest];
    assertEquals(shape(text, extractToolCallsFromText(text, options)), expected);
    for (let size = 1; size < Math.min(text.length, 60); size++) {
      assertEquals(shape(text, streamed(text, size)), expected, `in pieces of ${size}`);
    }
    // Without names only the formats of the specification are known.
    const basic = extractToolCallsFromText(text)[1];
    assertEquals(basic !== null, /<toolcall>/i.test(text), "without names");
  });
}

for (const text of TEXTS) {
  Deno.test(`no call: ${JSON.stringify(text).slice(0, 100)}`, () => {
    assertEquals(extractToolCallsFromText(text, options), [text, null]);
    for (let size = 1; size < Math.min(text.length, 40); size++) {
      assertEquals(streamed(text, size), [text, null], `in pieces of ${size}`);
    }
  });
}

Deno.test("a call that breaks off is never run, in any format", () => {
  for (const [text] of CALLS) {
    for (let cut = 1; cut < text.length; cut++) {
      const found = extractToolCallsFromText(text.slice(0, cut), options)[1] ?? [];
      const whole = extractToolCallsFromText(text, options)[1]!;
      for (const [i, call] of found.entries()) {
        if (call.invalid) continue;
        assertEquals(call.arguments, whole[i]?.arguments, `${JSON.stringify(text.slice(0, cut))}`);
      }
    }
  }
});

Deno.test("a call that is not run says why: it was cut off, or its arguments are broken", () => {
  for (
    const [text, reason] of [
      ["<function=run_bash><parameter=command>ls", "cut off"],
      ["<function=run_bash><parameter=command>ls</parameter>", "cut off"],
      ["<function=run_bash>ls</function>", "could not be read"],
      [
        `<function=run_bash>${" ".repeat(20)}<parameter=command>ls</function> lists`,
        "could not be read",
      ],
      ['[TOOL_CALLS]run_bash{"command": "ls', "cut off"],
      ['[TOOL_CALLS]run_bash{"command": ls}', "could not be read"],
      ["<tool_call>run_bash<arg_key>command</arg_key></tool_call>", "could not be read"],
      ["<tool_call>run_bash<arg_key>command</arg_key><arg_value>l", "cut off"],
    ] as const
  ) {
    const [, calls] = extractToolCallsFromText(text, options);
    assertEquals(calls?.map(({ name }) => name), ["run_bash"], text);
    assertEquals(
      calls![0]!.invalid?.reason.includes(reason),
      true,
      `${text}: ${calls![0]!.invalid?.reason}`,
    );
  }
});

Deno.test("a value that holds the closing mark is not halved where the call breaks off", () => {
  const text = "<function=run_bash><parameter=command>echo </function> x</parameter>";
  const [, calls] = extractToolCallsFromText(text, options);
  assertEquals(calls?.map(({ name, invalid }) => [name, invalid !== undefined]), [
    ["run_bash", true],
  ]);
});

Deno.test("time is linear, whatever begins without an end", () => {
  const openers = [
    ...[
      "<tool_call>",
      "<function=run_bash>",
      '<invoke name="run_bash">',
      "[TOOL_CALLS]",
      "Action: ",
    ],
    ...["<｜tool▁calls▁begin｜>", "<|channel|>commentary to=", "functions.run_bash:0{", "[", "{"],
    ...['<tool_call>{"name":"run_bash",', "<tool_call>run_bash<arg_key>", "[run_bash(", '{"name":'],
    ...[
      "```tool_code\nrun_bash(",
      "<function_calls>\n",
      '{"name":"run_bash","arguments":{"command":',
      "<function=run_bash><parameter=command></function>",
      'a <tool_call>{"name":"run_bash","arguments":{}}</tool_call> ',
      "<pre><tool_call>{",
      '<invoke name="run_bash" "a" ',
      '<run_bash a="b" ',
      "\nAction: run_bash\nAction Input: a",
    ],
  ];
  for (const opener of openers) {
    const start = cpuTime();
    extractToolCallsFromText(opener.repeat(Math.ceil(100_000 / opener.length)), options);
    extractToolCallsFromText(opener + opener.replace(/^.*? /, "").repeat(100), options);
    const ms = cpuTime() - start;
    // Quadratic would be minutes.
    assertEquals(ms < 3000, true, `${opener}: ${ms} ms`);
  }
});
