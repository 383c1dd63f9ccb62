import { type Atom, blockFormat } from "../block_format.ts";
import type { CallFormat } from "../format.ts";
import { jsonArguments } from "../values.ts";

const ARGUMENTS: Atom = ["<|tool_call_argument_begin|>"];
const SECTION_END = ["<|tool_calls_section_end|>", "<|tool_call_section_end|>"];

/**
 * `<|tool_call_begin|>functions.N:0<|tool_call_argument_begin|>{json}<|tool_call_end|>`, in a section whose mark
 * is in the plural or not; and what is left of it where the server has dropped marks: `functions.N:0{json}`.
 * Source: the chat template of Kimi K2.
 */
export const kimi: readonly CallFormat[] = [
  {
    markers: {
      "<|tool_call_begin|>": [],
      "<|tool_calls_section_begin|>": [/\s*/, ["<|tool_call_begin|>"]],
      "<|tool_call_section_begin|>": [/\s*/, ["<|tool_call_begin|>"]],
    },
    head: [/\s*/, /(?<name>[\w.-]+)/, /:?\d*\s*/, ARGUMENTS, /\s*/, /(?=[{"])/],
  },
  {
    markers: { "functions.": [] },
    head: [/(?<name>[\w-]+)/, ":", /\d+/, /\s*/, ARGUMENTS, /\s*/, /(?=\{)/],
  },
].map((spec) =>
  blockFormat({
    ...spec,
    close: ["<|tool_call_end|>", ...SECTION_END],
    after: SECTION_END,
    args: jsonArguments,
    example: (name, args) =>
      `<|tool_calls_section_begin|><|tool_call_begin|>functions.${name}:0<|tool_call_argument_begin|>${
        JSON.stringify(Object.fromEntries(args))
      }<|tool_call_end|><|tool_calls_section_end|>`,
  })
);
