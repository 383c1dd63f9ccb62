import { blockFormat } from "../block_format.ts";
import type { CallContext, CallFormat } from "../format.ts";
import { anyArguments, type GivenArguments, propertiesOf, typedValue } from "../values.ts";
import { pythonCalls } from "./pythonic.ts";

/**
 * `<tool_call>N<arg_key>K</arg_key><arg_value>V</arg_value></tool_call>`. Sources: the chat templates of GLM 4.5,
 * of LongCat, whose tags have another prefix, and of Hunyuan 3, which has `<tool_sep>` after the name, a list
 * around it and, in some versions, a suffix on each tag. Under load, models omit or repeat any of the inner tags.
 */
export const glm: readonly CallFormat[] = [["", ""], ["", ":opensource"], ["longcat_", ""]].map((
  [prefix, suffix],
) =>
  blockFormat({
    markers: {
      [`<${prefix}tool_call${suffix}>`]: [/\s*/],
      [`<${prefix}tool_calls${suffix}>`]: [/\s*/, `<tool_call${suffix}>`, /\s*/],
    },
    head: [/(?<name>[\w.-]+)/, /(?![\w.-])/, /\s*/, /(?=[<\w(])/],
    close: [`</${prefix}tool_call${suffix}>`],
    value: [`<${prefix}arg_value${suffix}>`, `</${prefix}arg_value${suffix}>`],
    after: [`</tool_calls${suffix}>`],
    args: (body, name, context) => glmArguments(body.replace(AFFIXED, "$1$2>"), name, context),
    splitName: fusedName,
    example: (name, args) =>
      `<tool_call>${name}\n${
        args.map(([key, value]) => `<arg_key>${key}</arg_key>\n<arg_value>${value}</arg_value>\n`)
          .join("")
      }</tool_call>`,
  })
);

const AFFIXED = /(<\/?)(?:longcat_)?(arg_key|arg_value|tool_sep)(?::opensource)?>/g;

/** The tool's name and the first key without the tag between them: `run_bashcommand</arg_key>`. */
function fusedName(name: string, context: CallContext): [name: string, rest: string] | undefined {
  const tool = [...context.tools ?? []].find((tool) => {
    const key = name.startsWith(tool) ? name.slice(tool.length) : "";
    return key !== "" && Object.hasOwn(propertiesOf(tool, context), key);
  });
  return tool === undefined ? undefined : [tool, name.slice(tool.length)];
}

/** Null for a text without any of the tags, which is about a call. */
function glmArguments(body: string, name: string, context: CallContext): GivenArguments | null {
  const written = body.replace("<tool_sep>", "").replace(/^<tool_call>(?=\w+<\/arg_key>)/, "");
  const parts = written.split(/(<\/?arg_(?:key|value)>)/);
  if (parts.length === 1) {
    if (/^\s*\(/.test(written)) return pythonCalls(name + written, context)?.[0]?.arguments ?? null;
    return anyArguments(written, name, context) ?? null;
  }
  const args: Record<string, unknown> = {};
  const properties = propertiesOf(name, context);
  const isKnown = Object.keys(properties).length > 0;
  let key = "";
  let value: string | undefined;
  let isOpened = false;
  function take(): boolean {
    if (value === undefined) return true;
    if (Object.hasOwn(args, key)) return false;
    args[key] = typedValue(value, key, name, context);
    value = undefined;
    return true;
  }
  for (let i = 0; i < parts.length; i += 2) {
    const text = parts[i]!;
    const tag = parts[i + 1];
    if (value === undefined) {
      // After a key, closed or not. A second opening tag is skipped.
      if (text.trim() !== "") key = text.trim();
      if (/\s/.test(key)) return null;
      if (key === "" || tag === "<arg_key>") continue;
      if (isKnown && !Object.hasOwn(properties, key)) return undefined;
      isOpened = tag === "<arg_value>";
      if (tag === "</arg_key>" || isOpened) value = "";
      else if (tag !== undefined || text.trim() !== "") return undefined;
      continue;
    }
    const isOpening = (tag === "<arg_value>" || tag === "</arg_key>") &&
      (value + text).trim() === "";
    const isEnd = tag === "</arg_value>" || tag === undefined || tag === "<arg_key>";
    value = isOpening ? "" : value + text;
    isOpened ||= isOpening && tag === "<arg_value>" || value.trim() !== "";
    if (isEnd) {
      if (!isOpened || !take()) return undefined;
      key = "";
    } else if (!isOpening) value += tag;
  }
  return args;
}
