/** Formats with the tool's name in marks and its arguments as one JSON object. @module */

import { type Atom, blockFormat, type BlockSpec } from "../block_format.ts";
import type { CallFormat } from "../format.ts";
import { jsonArguments, typedValue } from "../values.ts";

const CALL_NAME = /(?<name>[\w.-]+)/;
const CALL_ID: Atom = [/ ?/, "(ID:", /[^()\n]{0,80}/, ")"];
const WITH_ARGUMENTS: Atom = [["]"], /\s*/, ["with "], /[Aa]?/, "rguments", [":"]];
const KIMI_ARGUMENTS: Atom = ["<|tool_call_argument_begin|>"];
const KIMI_ENDS = ["<|tool_calls_section_end|>", "<|tool_call_section_end|>"];
const KIMI = {
  close: ["<|tool_call_end|>", ...KIMI_ENDS],
  after: KIMI_ENDS,
  example: (name: string, json: string) =>
    `<|tool_calls_section_begin|><|tool_call_begin|>functions.${name}:0<|tool_call_argument_begin|>${json}<|tool_call_end|><|tool_calls_section_end|>`,
};
/** Text that may precede the recipient, and is not the end of another word. */
const BEFORE_TO = [/[^\n{=]{0,60}?/, /(?<![\w-])/] as const;

const SPECS: readonly (
  & Omit<BlockSpec, "args" | "example">
  & { example: (name: string, json: string) => string }
)[] = [
  // `<tool_call>N({json})</tool_call>`, with or without the brackets, by mistake of GLM and Qwen.
  {
    markers: { "<tool_call>": [/\s*/], "<function_call>": [/\s*/] },
    head: [CALL_NAME, /(?![\w.-])/, /\s*\(?\s*/, /(?=\{)/],
    after: [")", "</tool_call>", "</function_call>"],
    example: (name, json) => `<tool_call>{"name":"${name}","arguments":${json}}</tool_call>`,
  },
  // `[TOOL_CALLS]N[CALL_ID]id[ARGS]{json}` with optional inner marks, of mistral-common's tokenizers from v11 on.
  {
    markers: { "[tool_calls]": [/\s*/] },
    head: [CALL_NAME, /\s*/, /(?:\[[A-Z_]*\]?[\w\s-]*){0,2}/, /(?=\{)/],
    after: ["</s>"],
    example: (name, json) => `[TOOL_CALLS]${name}[ARGS]${json}`,
  },
  // Kimi K2, with its section mark in singular or plural, or the rest after the server dropped marks.
  {
    ...KIMI,
    markers: {
      "<|tool_call_begin|>": [],
      "<|tool_calls_section_begin|>": [/\s*/, ["<|tool_call_begin|>"]],
      "<|tool_call_section_begin|>": [/\s*/, ["<|tool_call_begin|>"]],
    },
    head: [/\s*/, CALL_NAME, /:?\d*\s*/, KIMI_ARGUMENTS, /\s*/, /(?=[{"])/],
  },
  {
    ...KIMI,
    markers: { "functions.": [] },
    head: [/(?<name>[\w-]+)/, ":", /\d+/, /\s*/, KIMI_ARGUMENTS, /\s*/, /(?=\{)/],
  },
  // DeepSeek: `function<｜tool▁sep｜>N`, a line feed and JSON in a fence (V3, R1), or `N<｜tool▁sep｜>{json}` (V3.1).
  ...[
    [/\s*/, "function", "<|tool_sep|>", CALL_NAME, /[ \t]*/, /\n/],
    [/\s*/, CALL_NAME, "<|tool_sep|>"],
  ].map((head) => ({
    markers: { "<|tool_call_begin|>": [], "<|tool_calls_begin|>": [/\s*/, "<|tool_call_begin|>"] },
    head,
    close: ["<|tool_call_end|>", "<|tool_calls_end|>"],
    after: ["<|tool_calls_end|>", "<|end_of_sentence|>"],
    example: (name: string, json: string) =>
      `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>${name}<｜tool▁sep｜>${json}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
  })),
  // OpenAI's Harmony, with the recipient in the role or the channel, and any marks after it in any order.
  {
    markers: { "<|channel|>": BEFORE_TO, "<|start|>assistant": BEFORE_TO },
    head: [
      "to=",
      /(?<name>(?!assistant\b)[\w.-]+)/,
      /(?![\w.-])/,
      /(?:[^{<]|<[|\w]{0,12}>?){0,120}?/,
      /(?=\{)/,
    ],
    after: ["<|call|>", "<|end|>", "<|return|>"],
    example: (name, json) =>
      `<|start|>assistant<|channel|>commentary to=functions.${name} <|constrain|>json<|message|>${json}<|call|>`,
  },
  // `[Calling tool: N({json})]`, from models that have seen transcripts of agents.
  {
    markers: { "[calling tool:": [], "[tool call:": [] },
    head: [/\s*/, CALL_NAME, CALL_ID, WITH_ARGUMENTS, /\s*\(?\s*/, /(?=\{)/],
    lineStart: true,
    after: [")", "]"],
    example: (name, json) => `[Calling tool: ${name}(${json})]`,
  },
  // `>>>N`, a line feed and `{json}`, of Functionary 3.2.
  {
    markers: { ">>>": [] },
    head: [CALL_NAME, /[ \t]*/, /\n/, /\s*/, /(?=\{)/],
    lineStart: true,
    example: (name, json) => `>>>${name}\n${json}`,
  },
  // `Action: N` and `Action Input: {json}`, of the ReAct prompts of LangChain and Qwen-Agent.
  {
    markers: { "action:": [] },
    head: [/[ \t`"*]*/, CALL_NAME, /[\s`"*]*/, "Action Input:", /[\s`*json]*/, /(?=\{)/],
    lineStart: true,
    after: ["```"],
    example: (name, json) => `Action: ${name}\nAction Input: ${json}`,
  },
];

/** `[TOOL_CALL]{tool => "N", args => { --key "value" }}[/TOOL_CALL]`, a fallback of MiniMax. */
const arrows = blockFormat({
  markers: { "[tool_call]": [/\s*/] },
  head: [
    /\{\s*/,
    "tool",
    /\s*/,
    "=>",
    /\s*["']/,
    CALL_NAME,
    /["']\s*,?\s*/,
    "args",
    /\s*/,
    "=>",
    /\s*/,
  ],
  close: ["[/tool_call]"],
  args(body, name, context, isClosed) {
    const inner = body.replace(/\}\s*$/, "");
    const pairs = [...inner.matchAll(/--([\w-]+)[ \t]+(?:"((?:[^"\\]|\\[^])*)"|([^\n]*))/g)];
    if (pairs.length === 0 || !isClosed) return jsonArguments(inner);
    return Object.fromEntries(pairs.map(([, key, text, plain]) => [
      key!,
      typedValue(text?.replace(/\\(["\\])/g, "$1") ?? plain!, key!, name, context),
    ]));
  },
  example: (name, args) =>
    `[TOOL_CALL]\n{tool => "${name}", args => {\n${
      args.map(([key, value]) => `  --${key} "${value}"\n`).join("")
    }}}\n[/TOOL_CALL]`,
});

export const namedJson: readonly CallFormat[] = [
  ...SPECS.map(({ example, ...spec }) =>
    blockFormat({
      ...spec,
      args: jsonArguments,
      example: (name, args) => example(name, JSON.stringify(Object.fromEntries(args))),
    })
  ),
  arrows,
];
