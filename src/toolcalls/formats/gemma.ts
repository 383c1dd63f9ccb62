import { isObject, jsonOrUndefined } from "../../text/json.ts";
import { blockFormat } from "../block_format.ts";
import type { CallContext, CallFormat } from "../format.ts";
import { pythonReader } from "./pythonic.ts";
import { typedValue } from "../values.ts";

/**
 * `call:N{k:<escape>v<escape>}` between marks. Sources: the chat templates of FunctionGemma and of
 * Gemma 4 (`<|"|>` in place of `<escape>`).
 */
export const gemmaMarks: readonly CallFormat[] = ([
  ["<start_function_call>", "<end_function_call>", "<escape>"],
  ["<|tool_call>", "<tool_call|>", '<|"|>'],
] as const).map(([open, close, quote]) =>
  blockFormat({
    markers: { [open]: [/\s*/] },
    head: ["call:", /(?<name>[\w.-]+)/, /\s*/, /(?=\{)/],
    close: [close],
    args: (body, name, context) => gemmaArguments(body, quote, name, context),
  })
);

/** `{k:<escape>v<escape>,n:5,l:[1,<escape>a<escape>]}`. */
function gemmaArguments(
  body: string,
  quote: string,
  name: string,
  context: CallContext,
): Record<string, unknown> | undefined {
  // Strings become JSON's, and so does what stands between them.
  const parts = body.trim().split(quote);
  if (parts.length % 2 === 0) return undefined;
  const json = parts.map((part, i) =>
    i % 2 ? JSON.stringify(part) : part.replace(/([{,]\s*)([A-Za-z_][\w-]*)\s*:/g, '$1"$2":')
  ).join("");
  const value = jsonOrUndefined(json);
  if (value !== undefined) return isObject(value) ? value : undefined;
  // A value without quotes: of one argument it is the text up to the bracket.
  const [, key, text] = /^\{\s*([\w-]+)\s*:([^{}<]*)\}$/.exec(body.trim()) ?? [];
  return key ? { [key]: typedValue(text!.trim(), key, name, context) } : undefined;
}

/** A code block labelled tool_code with Python calls. Source: Gemma 3's documentation. */
export const gemmaFence: CallFormat = {
  fences: ["tool_code", "tool_call", "tool_calls"],
  read: (marker, context) => pythonReader(marker.match(/^[`~]+/)![0], context),
};
