import { blockFormat } from "./block.ts";
import type { Format } from "./format.ts";
import { jsonArguments, taggedArguments } from "./values.ts";

/**
 * `<invoke name="N"><parameter name="K">V</parameter></invoke>` with what stands around it. Sources:
 * the templates of MiniMax M2, DeepSeek V3.2 (`｜DSML｜`) and Step-3 (`steptml:`), Anthropic's
 * documentation of its older format.
 */
const PREFIXES: readonly (readonly [prefix: string, wrappers: readonly string[]])[] = [
  ["", ["function_calls", "minimax:tool_call", "tool_call", "tool_calls"]],
  ["｜DSML｜", ["｜DSML｜function_calls", "｜DSML｜tool_calls"]],
  ["|DSML|", ["|DSML|function_calls", "|DSML|tool_calls"]],
  ["steptml:", ["steptml:toolcall", "steptml:tool_call"]],
  ["antml:", ["antml:function_calls"]],
];

/** A format for each prefix. */
export const invokeTags: readonly Format[] = PREFIXES.map(([prefix, wrappers]) => {
  const parameter = new RegExp(
    `<${prefix.replaceAll("|", "\\|")}parameter\\s+name=["']?(?<key>[^>"']+)["']?[^>]*>`,
  );
  return blockFormat({
    name: `${prefix}invoke tag`,
    markers: Object.fromEntries([
      [`<${prefix}invoke name=`, []],
      ...wrappers.map((wrapper) => [`<${wrapper}>`, [/\s*/, `<${prefix}invoke name=`]]),
    ]),
    head: [/["']?/, /(?<name>[\w.-]+)/, /["']?[^>]{0,80}/, ">"],
    close: [`</${prefix}invoke>`, ...wrappers.map((wrapper) => `</${wrapper}>`)],
    after: wrappers.map((wrapper) => `</${wrapper}>`),
    args: (body, name, context) =>
      /^\s*\{/.test(body)
        ? jsonArguments(body)
        : taggedArguments(body, parameter, `</${prefix}parameter>`, name, context),
  });
});
