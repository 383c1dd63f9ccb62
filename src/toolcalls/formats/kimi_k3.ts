import { blockFormat } from "../block_format.ts";
import { taggedArguments } from "../values.ts";

/**
 * `<|open|>call tool="N" index="1"<|sep|><|open|>argument key="K" type="string"<|sep|>V<|close|>argument<|sep|>`
 * `<|close|>call<|sep|>`. Source: the chat template of Kimi K3.
 */
export const kimiK3 = blockFormat({
  markers: {
    "<|open|>call tool=": [],
    "<|open|>tools<|sep|>": [/\s*/, "<|open|>call tool="],
  },
  head: [/["']?/, /(?<name>[\w.-]+)/, /["']?[^<]{0,80}/, "<|sep|>"],
  close: ["<|close|>call<|sep|>", "<|close|>tools<|sep|>"],
  value: ["<|open|>argument", "<|close|>argument<|sep|>"],
  after: ["<|close|>tools<|sep|>", "<|close|>message<|sep|>", "<|end_of_msg|>"],
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
