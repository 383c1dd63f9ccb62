import { blockFormat } from "../block_format.ts";
import { anyArguments, jsonArguments, taggedArguments } from "../values.ts";

/**
 * `<function=N><parameter=K>V</parameter></function>`, or JSON instead of the parameters, or `name=` instead of
 * `=`. Sources: the chat templates of Qwen3-Coder, Nemotron 3, Step-3.5, Seed-OSS (`<seed:tool_call>`) and Llama
 * 3.1 (JSON). One end of the tag around it is often missing.
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

/**
 * `<|open|>call tool="N" index="1"<|sep|><|open|>argument key="K" type="string"<|sep|>V<|close|>argument<|sep|>`
 * `<|close|>call<|sep|>`. Source: the chat template of Kimi K3.
 */
export const kimiK3 = blockFormat({
  markers: {
    "<|open|>call tool=": [],
    "<|open|>toolscall tool=": [],
    "<|open|>tools<|sep|>": [/\s*/, "<|open|>call tool="],
  },
  head: [/["']?/, /(?<name>[\w.-]+)/, /["']?[^<]{0,80}/, "<|sep|>"],
  close: ["<|close|>call<|sep|>", "<|close|>tools<|sep|>"],
  value: ["<|open|>argument", "<|close|>argument<|sep|>"],
  after: [
    "<|close|>tools<|sep|>",
    "<|close|>toolsmessage<|sep|>",
    "<|close|>message<|sep|>",
    "<|end_of_msg|>",
  ],
  args: (body, name, context) =>
    taggedArguments(
      body,
      /<\|open\|>argument key="(?<key>[^"]+)"[^<]*<\|sep\|>/,
      /<\|close\|>argument<\|sep\|>/,
      name,
      context,
    ),
  example: (name, args) =>
    `<|open|>tools<|sep|><|open|>call tool="${name}" index="1"<|sep|>${
      args.map(([key, value]) =>
        `<|open|>argument key="${key}" type="string"<|sep|>${value}<|close|>argument<|sep|>`
      ).join("")
    }<|close|>call<|sep|><|close|>tools<|sep|>`,
});
