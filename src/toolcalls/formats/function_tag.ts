import { blockFormat } from "../block_format.ts";
import { anyArguments, jsonArguments, taggedArguments } from "../values.ts";

/**
 * `<function=N><parameter=K>V</parameter></function>`, or JSON in place of the parameters, or `name=` in place of `=`. Sources:
 * the chat templates of Qwen3-Coder, Nemotron 3, Step-3.5, Seed-OSS (`<seed:tool_call>`) and
 * Llama 3.1 (JSON). The tag around it is often missing at one end.
 */
export const functionTag = blockFormat({
  markers: {
    "<function=": [],
    "<function name=": [],
    "<tool_call>": [/\s*/, "<function", [" name"], ["="], /\s?/],
    "<seed:tool_call>": [/\s*/, "<function="],
  },
  head: [/\s*["']?/, /(?<name>[\w.-]+)/, /["']?\s*/, ">"],
  close: ["</function>", "</tool_call>", "</seed:tool_call>", "<|eom_id|>", "<|eot_id|>"],
  value: ["<parameter", "</parameter>"],
  after: ["</tool_call>", "</seed:tool_call>"],
  args: (body, name, context) =>
    /^\s*\{/.test(body) ? jsonArguments(body) : taggedArguments(
      body,
      /<parameter(?:=|\s+name=)["']?(?<key>[^>"'\s]+)["']?[^>]*>/,
      /<\/parameter>/,
      name,
      context,
    ) ?? anyArguments(body, name, context),
  example: (name, args) =>
    `<tool_call>\n<function=${name}>\n${
      args.map(([key, value]) => `<parameter=${key}>\n${value}\n</parameter>\n`).join("")
    }</function>\n</tool_call>`,
});
