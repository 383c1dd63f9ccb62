import { blockFormat } from "../block_format.ts";
import { jsonArguments } from "../values.ts";

/** What may stand before the recipient, which is no end of another word. */
const BEFORE_TO = [/[^\n{=]{0,60}?/, /(?<![\w-])/] as const;

/**
 * `<|channel|>commentary to=functions.N <|constrain|>json<|message|>{json}<|call|>`, the recipient in
 * the role or in the channel, the marks behind it in any number and order. Source: OpenAI's Harmony response
 * format, as gpt-oss writes.
 */
export const harmony = blockFormat({
  markers: { "<|channel|>": BEFORE_TO, "<|start|>assistant": BEFORE_TO },
  head: [
    "to=",
    /(?<name>(?!assistant\b)[\w.-]+)/,
    /(?![\w.-])/,
    /(?:[^{<]|<[|\w]{0,12}>?){0,120}?/,
    /(?=\{)/,
  ],
  args: jsonArguments,
  after: ["<|call|>", "<|end|>", "<|return|>"],
  example: (name, args) =>
    `<|start|>assistant<|channel|>commentary to=functions.${name} <|constrain|>json<|message|>${
      JSON.stringify(Object.fromEntries(args))
    }<|call|>`,
});
