import { blockFormat } from "../block_format.ts";
import type { CallFormat } from "../format.ts";
import { taggedArguments } from "../values.ts";

/**
 * `<tool_call>N<arg_key>K</arg_key><arg_value>V</arg_value></tool_call>`. Sources: the chat templates
 * of GLM 4.5 and of Hunyuan 3, which has `<tool_sep>` behind the name, a list around it and, in some
 * versions, a suffix to each tag.
 */
export const glm: readonly CallFormat[] = ["", ":opensource"].map((suffix) =>
  blockFormat({
    markers: {
      [`<tool_call${suffix}>`]: [/\s*/],
      [`<tool_calls${suffix}>`]: [/\s*/, `<tool_call${suffix}>`, /\s*/],
    },
    head: [/(?<name>[\w.-]+)/, /\s*/, /(?=<)/],
    close: [`</tool_call${suffix}>`],
    value: [`<arg_value${suffix}>`, `</arg_value${suffix}>`],
    after: [`</tool_calls${suffix}>`],
    args: (body, name, context) =>
      taggedArguments(
        body.replace(`<tool_sep${suffix}>`, ""),
        new RegExp(`<arg_key${suffix}>(?<key>[^<]*)</arg_key${suffix}>\\s*<arg_value${suffix}>`),
        `</arg_value${suffix}>`,
        name,
        context,
      ),
  })
);
