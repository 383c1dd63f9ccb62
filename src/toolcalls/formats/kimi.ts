import { blockFormat } from "../block_format.ts";
import { jsonArguments } from "../values.ts";

/**
 * `<|tool_call_begin|>functions.N:0<|tool_call_argument_begin|>{json}<|tool_call_end|>`. Source: the
 * chat template of Kimi K2.
 */
export const kimi = blockFormat({
  markers: {
    "<|tool_call_begin|>": [],
    "<|tool_calls_section_begin|>": [/\s*/, "<|tool_call_begin|>"],
  },
  head: [/\s*/, /(?<name>[\w.-]+)/, /:?\d*\s*/, "<|tool_call_argument_begin|>"],
  close: ["<|tool_call_end|>", "<|tool_calls_section_end|>"],
  after: ["<|tool_calls_section_end|>"],
  args: jsonArguments,
});

/** {@linkcode kimi} where the server has dropped the marks: `functions.N:0{json}`. */
export const kimiStripped = blockFormat({
  markers: { "functions.": [] },
  head: [/(?<name>[\w-]+)/, ":", /\d+/, /\s*/, /(?=\{)/],
  args: jsonArguments,
});
