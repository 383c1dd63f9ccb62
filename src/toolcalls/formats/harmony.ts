import { blockFormat } from "../block_format.ts";
import { jsonArguments } from "../values.ts";

/** What may stand before the recipient, which is no end of another word. */
const BEFORE_TO = [/[^\n{=]{0,60}?/, /(?<![\w-])/] as const;

/**
 * `<|channel|>commentary to=functions.N <|constrain|>json<|message|>{json}<|call|>`, the recipient in
 * the role or in the channel. Source: OpenAI's Harmony response format, as gpt-oss writes.
 */
export const harmony = blockFormat({
  markers: { "<|channel|>": BEFORE_TO, "<|start|>assistant": BEFORE_TO },
  head: ["to=", /(?<name>[\w.-]+)/, /[^\n{]{0,100}?/, "<|message|>"],
  args: jsonArguments,
  after: ["<|call|>", "<|end|>", "<|return|>"],
});
