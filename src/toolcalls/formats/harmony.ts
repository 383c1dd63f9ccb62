import { blockFormat } from "../block_format.ts";
import { jsonArguments } from "../values.ts";

/**
 * `<|channel|>commentary to=functions.N <|constrain|>json<|message|>{json}<|call|>`, the recipient in
 * the role or in the channel. Source: OpenAI's Harmony response format, as gpt-oss writes.
 */
export const harmony = blockFormat({
  markers: { "<|channel|>": [/[^\n{=]{0,60}?/], "<|start|>assistant": [/[^\n{=]{0,60}?/] },
  head: ["to=", /(?<name>[\w.-]+)/, /[^\n{]{0,100}?/, "<|message|>"],
  args: jsonArguments,
  after: ["<|call|>", "<|end|>", "<|return|>"],
});
