import { blockFormat } from "./block.ts";
import { taggedArguments } from "./values.ts";

/**
 * `<tool_call>N<arg_key>K</arg_key><arg_value>V</arg_value></tool_call>`. Source: the chat template
 * of GLM 4.5.
 */
export const glm = blockFormat({
  name: "GLM arguments",
  markers: { "<tool_call>": [/\s*/] },
  head: [/(?<name>[\w.-]+)/, /\s*/, /(?=<)/],
  close: ["</tool_call>"],
  args: (body, name, context) =>
    taggedArguments(
      body,
      /<arg_key>(?<key>[^<]*)<\/arg_key>\s*<arg_value>/,
      "</arg_value>",
      name,
      context,
    ),
});
