import { blockFormat } from "../block_format.ts";
import { jsonArguments } from "../values.ts";

/**
 * `[TOOL_CALLS]N[CALL_ID]id[ARGS]{json}`, the inner marks optional. Source: mistral-common's
 * tokenizers from v11 on, as Mistral Small 3.2 and Devstral write.
 */
export const mistral = blockFormat({
  markers: { "[tool_calls]": [/\s*/] },
  head: [/(?<name>[\w.-]+)/, /\s*/, /(?:\[[A-Z_]*\]?[\w\s-]*){0,2}/, /(?=\{)/],
  args: jsonArguments,
  after: ["</s>"],
  example: (name, args) => `[TOOL_CALLS]${name}[ARGS]${JSON.stringify(Object.fromEntries(args))}`,
});
