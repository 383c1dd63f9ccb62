import { assertEquals } from "@std/assert";
import { AnswerSplitter } from "../../src/models/answer_splitter.ts";
import { ToolCallFilter } from "../../src/models/toolcalls/extract.ts";
import type { SplitAnswer } from "../../src/models/backend.ts";
import { forEveryTextSplit } from "../helpers/split.ts";

const text = { type: "string" };
const schema = (required: string[], more: Record<string, unknown> = {}) => ({
  type: "object",
  properties: { ...Object.fromEntries(required.map((key) => [key, text])), ...more },
  required,
});
const TOOLS = {
  read_file: schema(["file_path"], { limit: { type: "integer" } }),
  run_bash: schema(["command"]),
  write_file: schema(["file_path", "content"]),
  list_directory: schema([], { path: text }),
};
const OPTIONS = { tools: Object.keys(TOOLS), schemas: TOOLS };

/** The answer as it is split, with calls as `name {json}`, or `name!` where one is not run. */
function split(pieces: readonly string[], native: readonly string[] = []): Answer {
  const splitter = new AnswerSplitter({ calls: new ToolCallFilter(OPTIONS) });
  for (const text of pieces) splitter.push({ type: "text", text });
  for (const name of native) splitter.push({ type: "tool_call", name });
  const { text, reasoning, calls, callMark } = splitter.end();
  const shown = calls.map(({ name, arguments: args, invalid }) =>
    invalid ? `${name}!` : `${name} ${JSON.stringify(args)}`
  );
  return [text.trim(), shown.join("; "), reasoning.trim(), callMark !== undefined];
}
type Answer = [text: string, calls: string, reasoning: string, isCallLost: boolean];

const READ = 'read_file {"file_path":"a"}';
const JSON_READ = '{"file_path":"a"}';

/**
 * Answers as models and their servers hand them on, each in the shape of the issue that is named, and what
 * the person sees of it, what is called, what was thought, and whether a call was lost.
 */
type Row = readonly [
  source: string,
  answer: string,
  text?: string | undefined,
  calls?: string | undefined,
  reasoning?: string | undefined,
  isCallLost?: boolean | undefined,
];
const ANSWERS: readonly Row[] = [
  // gpt-oss: channels, with and without their tokens.
  [
    "ggml-org/llama.cpp#15102",
    "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Yes.<|return|>",
    "Yes.",
    "",
    "Hm.",
  ],
  ["ollama/ollama#11759", "analysisHm, so.assistantfinalYes.", "Yes.", "", "analysisHm, so."],
  ["lmstudio-ai/lmstudio-bug-tracker#942", "The total is 42<|return|>", "The total is 42"],
  [
    "ai-dynamo/dynamo#10366",
    `<|channel|>analysis to=functions.read_file code<|message|>${JSON_READ}<|call|>`,
    "",
    READ,
  ],
  [
    "vllm-project/vllm#22403",
    `assistant to=functions.read_file commentary json\n${JSON_READ}`,
    "",
    READ,
  ],
  ["openai/harmony#38", `commentary to=functions.read_file json${JSON_READ}`, "", READ],
  [
    "openai/codex#2558",
    `<|start|>assistant<|channel|>commentary to=functions.read_filejson<|message|>${JSON_READ}<|call|>`,
    "",
    READ,
  ],
  [
    "ggml-org/llama.cpp#15341",
    `<|channel|>commentary to=functions.read_file<|message|>${JSON_READ}<|call|><|start|>functions.read_file to=assistant<|channel|>commentary<|message|>"made up"<|end|>`,
    "",
    READ,
  ],
  // Gemma.
  [
    "ggml-org/llama.cpp#21760",
    '<|channel>thought\nHm.\n<channel|>I look.<channel|><|tool_call>call:read_file{file_path:<|"|>a<|"|>}<tool_call|><tool_call|>',
    "I look.",
    READ,
    "Hm.",
  ],
  [
    "ollama/ollama#15374",
    "<|tool_call>call:run_bash{command:`ls -la`}<tool_call|>",
    "",
    'run_bash {"command":"ls -la"}',
  ],
  ["vllm-project/vllm#42875", 'call:read_file{file_path:<|"|>a<|"|>}', "", READ],
  ["jundot/omlx#593", '<|tool_call>call:read_file(file_path: "a")<tool_call|>', "", READ],
  [
    "ollama/ollama#18275",
    "<|tool_call>call:run_bash:\nBEGIN_ARG:\nls\nEND_ARG<tool_call|>",
    "",
    'run_bash {"command":"ls"}',
  ],
  ["google-gemini/gemini-cli#8125", "thought\nI see three files.", "I see three files."],
  // GLM: inner tags that lack or are doubled.
  [
    "vllm-project/vllm#47190",
    "<tool_call>read_filefile_path</arg_key><arg_value>a</arg_value></tool_call>",
    "",
    READ,
  ],
  [
    "vllm-project/vllm#54971",
    "<tool_call>read_file<arg_key><arg_key>file_path</arg_key></arg_key><arg_value>a</arg_value></tool_call>",
    "",
    READ,
  ],
  [
    "zai-org/GLM-5#84",
    "<tool_call>read_file<arg_key>file_path</arg_key>a</arg_value></tool_call>",
    "",
    READ,
  ],
  ["ggml-org/llama.cpp#15186", "Done.\n<|user|>", "Done."],
  // DeepSeek: bars in every spelling.
  ...["<｜DSML｜", "<|DSML|", "< | DSML | ", "<｜｜DSML｜｜", "<‖DSML‖"].map((open): Row => [
    "deepseek-ai/DeepSeek-V3.2-Exp#21",
    `${open}tool_calls>${open}invoke name="read_file">${open}parameter name="file_path" string="true">a${
      open.replace("<", "</")
    }parameter>${open.replace("<", "</")}invoke>${open.replace("<", "</")}tool_calls>`,
    "",
    READ,
  ]),
  [
    "openclaw/openclaw#62998",
    "Now.\n\n</｜DSML｜parameter>\n</｜DSML｜invoke>",
    "Now.",
    "",
    "",
    true,
  ],
  ["sgl-project/sglang#14711", "Look.\n\n<｜DSML｜tool_calls", "Look.", "", "", true],
  // Kimi.
  [
    "MoonshotAI/Kimi-K2#26",
    `<|tool_call_section_begin|>functions.read_file:0<|tool_call_argument_begin|>"{\\"file_path\\":\\"a\\"}"<|tool_call_section_end|>`,
    "",
    READ,
  ],
  [
    "MoonshotAI/Kimi-K3#4",
    '<|open|>think<|sep|>Hm.<|close|>think<|sep|><|open|>tools<|sep|><|open|>call tool="read_file" index="1"<|sep|><|open|>argument key="file_path" type="string"<|sep|>a<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>',
    "",
    READ,
    "Hm.",
  ],
  // Others.
  [
    "vllm-project/vllm#16214",
    '<|python_start|>{"name": "read_file", "parameters": {"file_path": "a"}}<|python_end|>',
    "",
    READ,
  ],
  ["itayinbarr/little-coder#42", "read_file(file_path='a')]<|tool_call_end|><|im_end|>", "", READ],
  ["leehack/llamadart#43", `read_file[ARGS]${JSON_READ}`, "", READ],
  [
    "ollama/ollama#17742",
    '<function name="read_file">\n<parameter=file_path>\na\n</parameter>\n</function>\n</tool_call>',
    "",
    READ,
  ],
  [
    "AppsGanin/ai-free-vscode#17",
    "<tool_call> <read_file> <file_path>a</file_path> </read_file>",
    "",
    READ,
  ],
  ["mistralai/mistral-vibe#77", "[THINK]Hm.[/THINK]Yes.", "Yes.", "", "Hm."],
  [
    "raullenchai/Rapid-MLX#1515",
    "<function=write_file>\n<parameter=file_path>\na\n</parameter>\n<parameter=content>\nends with </parameter> here\n</parameter>\n</function>",
    "",
    'write_file {"file_path":"a","content":"ends with </parameter> here"}',
  ],
  [
    "lidge-jun/opencodex#5499",
    "Go.<tool_call><function=runjs>const a = 1;\n</parameter></function></tool_call>",
    "Go.const a = 1;",
    "",
    "",
    true,
  ],
  // A tool that is not offered is called, so that the model is told which ones are.
  [
    "openclaw/openclaw#19033",
    '<tool_call>{"name": "web_search", "arguments": {"query": "x"}}</tool_call>',
    "",
    'web_search {"query":"x"}',
  ],
  // Calls named by a tag, by an attribute or by an element; arguments in any of the known ways.
  [
    "apmantza/pi-free#381",
    "<｜DSML｜read_file>\n<｜DSML｜file_path>a</｜DSML｜file_path>\n</｜DSML｜invoke>",
    "",
    READ,
  ],
  [
    "apmantza/pi-free#383",
    "<｜DSML｜run_bash>\n<｜DSML｜command>ls > x</｜DSML｜parameter>\n<timeout>9</timeout>\n</｜DSML｜invoke>",
    "",
    'run_bash {"command":"ls > x","timeout":9}',
  ],
  [
    "adolfousier/opencrabs#419",
    '<function>\n<name>run_bash</name>\n<parameter name="command" string="true">a 2>/dev/null</｜｜DSML｜｜parameter>\n</｜｜DSML｜｜invoke>\n</｜｜DSML｜｜tool_calls>',
    "",
    'run_bash {"command":"a 2>/dev/null"}',
  ],
  ["Luce-Org/lucebox#742", '<｜DSML｜invoke name="read_file" file_path="a"/>', "", READ],
  ["Extra-Chill/data-machine#2436", '<read_file file_path="a"/>', "", READ],
  [
    "RooCodeInc/Roo-Code#10358",
    "<read_file>\n<args>\n<file>\n<file_path>a</file_path>\n</file>\n</args>\n</read_file>",
    "",
    READ,
  ],
  ["musistudio/claude-code-router#1340", "<bash>ls > x</bash>", "", 'bash {"command":"ls > x"}'],
  ["Extra-Chill/data-machine#2436", '<tool name="read_file">{"file_path":"a"}</tool>', "", READ],
  ["ml-explore/mlx-lm#792", '<tool_call>read_file file_path="a"</tool_call>', "", READ],
  ["ml-explore/mlx-lm#792", '<tool_call>read_file(file_path="a")</tool_call>', "", READ],
  ["osaurus-ai/vmlx-swift#228", "<tool_call>list_directory</tool_call>", "", "list_directory {}"],
  [
    "langchain-ai/langchain#3365",
    "Thought: Hm.\nAction: run_bash\nAction Input: ls -a\n",
    "Thought: Hm.",
    'run_bash {"command":"ls -a"}',
  ],
  // Templates' words of who speaks.
  [
    "ollama/ollama#3759",
    "Done.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nAnd now?",
    "Done.",
  ],
  ["ollama/ollama#2673", "Done.<|im_end|>\n<|im_start|>user\nAnd now?", "Done."],
  ["ollama/ollama#2673", "<|im_start|>assistant\nDone.", "Done."],
  [
    "ollama/ollama#2673",
    "It begins with <|im_start|>user there.\nMore.",
    "It begins with <|im_start|>user there.\nMore.",
  ],
  // What prose only mentions stays.
  [
    "openclaw/openclaw#138204",
    "Use <tool_call>exec if its name is exec; then <arg_key> follows.",
    "Use <tool_call>exec if its name is exec; then <arg_key> follows.",
  ],
  [
    "ggml-org/llama.cpp#22371",
    "`<|tool_call>` ends the rule, and `assistantfinal` is a word.",
    "`<|tool_call>` ends the rule, and `assistantfinal` is a word.",
  ],
  [
    "vllm-project/vllm#23454",
    "V3.1: <｜tool▁calls▁begin｜>name<｜tool▁sep｜>args\n\nSo a new parser.",
    "V3.1: <｜tool▁calls▁begin｜>name<｜tool▁sep｜>args\n\nSo a new parser.",
  ],
  [
    "Aider-AI/aider#5395",
    "<think>Hm.</think>Here: print('</think>')",
    "Here: print('</think>')",
    "",
    "Hm.",
  ],
  [
    "openclaude/openclaude#380",
    "The form is call:read_file{file_path:a} here.",
    "The form is call:read_file{file_path:a} here.",
  ],
  // Thoughts in other tags, and thoughts in thoughts.
  ["earendil-works/pi#5808", "Hm.</mm:think>\n\nYes.", "Yes.", "", "Hm."],
  ["ai-dynamo/dynamo#5424", "<longcat_think>\nHm.\n</longcat_think>\nYes.", "Yes.", "", "Hm."],
  ["hermes-agent#2163", "<REASONING_SCRATCHPAD>Hm.</REASONING_SCRATCHPAD>Yes.", "Yes.", "", "Hm."],
  ["own", "<think>a <think>b</think> c</think>Yes.", "Yes.", "", "a <think>b\n\nc"],
  [
    "vllm-project/vllm#45385",
    "Hm.\n</think>\n\n<response>\nYes.\n</response>\n",
    "Yes.",
    "",
    "Hm.",
  ],
  // Turns that the model makes up.
  ["jundot/omlx#3271", "Done.<|user|>\nThanks!<|assistant|>\nBye.", "Done."],
  [
    "anthropics/claude-code#47055",
    `<function_calls><invoke name="read_file"><parameter name="file_path">a</parameter></invoke></function_calls>\n<function_results>b</function_results>\nIt is b.`,
    "",
    READ,
  ],
  // A call that the sentence before it refuses.
  [
    "own",
    `I must not do this:\n<tool_call>{"name":"run_bash","arguments":{"command":"ls"}}</tool_call>`,
    "I must not do this:",
    "run_bash!",
  ],
  [
    "own",
    `I should not guess, so I'll look.\n<tool_call>{"name":"read_file","arguments":${JSON_READ}}</tool_call>`,
    "I should not guess, so I'll look.",
    READ,
  ],
  // What is left of calls.
  [
    "openai/harmony#114",
    `<|start|>assistant<|channel|>bash<|channel|>commentary json<|message|>{"a":1}<|call|>`,
    `{"a":1}`,
    "",
    "",
    true,
  ],
  ["AgentFlocks/flocks#687", `Now.<DSML tool_calls><DSML x>`, "Now.", "", "", true],
  ["GLM-Free-API#44", "Yes.</tool_exchange><tool_call>\n", "Yes.", "", "", true],
  ["vllm-mlx#597", "I thought of <function=foo> but no.", "I thought of <function=foo> but no."],
  // The name is lost, or the end alone.
  ["own", '{"file_path": "a", "limit": 1}', "", "read_file!"],
  ["own", "<function=run_bash><parameter=command>ls</parameter>", "", "run_bash!"],
  // Of several bare calls each is read, and of half a mark behind them nothing is left.
  [
    "typeclaw/typeclaw#344",
    `read_file:0<|tool_call_argument_begin|>${JSON_READ}<|tool_calls_section_end|>\nread_file:1<|tool_call_argument_begin|>${JSON_READ}<|tool_calls_section_end|>`,
    "",
    `${READ}; ${READ}`,
  ],
  [
    "can1357/oh-my-pi#8495",
    `<|open|>toolscall tool="read_file" index="1"<|sep|><|open|>argument key="file_path" type="string"<|sep|>a<|close|>argument<|sep|><|close|>call<|sep|><|close|>toolsmessage<|sep|>`,
    "",
    READ,
  ],
];

for (const [source, answer, text = "", calls = "", reasoning = "", isLost = false] of ANSWERS) {
  Deno.test(`an answer is split alike on every split: ${answer.slice(0, 60)} (${source})`, () => {
    const expected: Answer = [text, calls, reasoning, isLost];
    assertEquals(split([answer]), expected);
    forEveryTextSplit(answer, (pieces) => assertEquals(split(pieces), expected, pieces.join("¦")));
  });
}

Deno.test("beside a native call, the same call in the text is neither run nor shown", () => {
  for (
    const answer of [
      `Look.\n<tool_call>{"name":"read_file","arguments":${JSON_READ}}</tool_call>`,
      "Look.\n\n</｜DSML｜parameter>",
      "Look.<|",
    ]
  ) {
    const [text, calls] = split([answer], ["read_file"]);
    assertEquals([text, calls], ["Look.", ""]);
  }
});

Deno.test("what comes without marks is not held back", () => {
  const splitter = new AnswerSplitter({ calls: new ToolCallFilter(OPTIONS) });
  const answer: Partial<SplitAnswer> = { text: "" };
  for (const text of ["One", " two", ".\n\nThree"]) {
    splitter.push({ type: "text", text });
    answer.text += text;
    assertEquals(splitter.soFar.text, answer.text);
  }
});
