import { blockFormat } from "../block_format.ts";
import type { CallFormat } from "../format.ts";
import { jsonArguments } from "../values.ts";

const DEEPSEEK_NAME = /(?<name>[\w.-]+)/;

/**
 * `<｜tool▁call▁begin｜>function<｜tool▁sep｜>N`, a line feed and JSON in a fence (V3, R1), or
 * `N<｜tool▁sep｜>{json}` (V3.1). Source: DeepSeek's chat templates.
 */
export const deepseek: readonly CallFormat[] = [
  [/\s*/, "function", "<|tool_sep|>", DEEPSEEK_NAME, /[ \t]*/, /\n/],
  [/\s*/, DEEPSEEK_NAME, "<|tool_sep|>"],
].map((head) =>
  blockFormat({
    markers: {
      "<|tool_call_begin|>": [],
      "<|tool_calls_begin|>": [/\s*/, "<|tool_call_begin|>"],
    },
    head,
    close: ["<|tool_call_end|>", "<|tool_calls_end|>"],
    after: ["<|tool_calls_end|>", "<|end_of_sentence|>"],
    args: jsonArguments,
    example: (name, args) =>
      `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>${name}<｜tool▁sep｜>${
        JSON.stringify(Object.fromEntries(args))
      }<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
  })
);
