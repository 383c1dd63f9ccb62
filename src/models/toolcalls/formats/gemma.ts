import { isObject } from "../../../text/json.ts";
import { looseJson } from "../../../text/loose_json.ts";
import { blockFormat } from "../block_format.ts";
import { type CallContext, type CallFormat, readerBehind } from "../format.ts";
import { JsonCallReader } from "../json_reader.ts";
import { type GivenArguments, propertiesOf, typedValue } from "../values.ts";
import { pythonReader } from "./pythonic.ts";

const GEMMA_NAME = [/(?:[\w-]+:)*/, /(?<name>[\w.-]+)/] as const;

/**
 * `call:N{k:<escape>v<escape>}` in marks, or without them at the end of a text. Sources: the chat templates of
 * FunctionGemma and of Gemma 4 (`<|"|>` instead of `<escape>`), which also writes other quotes or no quotes,
 * parentheses for braces, and `BEGIN_ARG:` before values without keys.
 */
export const gemma: readonly CallFormat[] = [
  {
    markers: {
      "<|tool_call>": [/\s*/],
      "<|tool_call|>": [/\s*/],
      "<start_function_call>": [/\s*/],
    },
    close: ["<tool_call|>", "<end_function_call>"],
    head: [["call:"], ...GEMMA_NAME, /(?![\w.:-]*[\w.-])/, /\s*:?\s*/, /(?=[{(B])/],
  },
  {
    markers: { "<call:": [] },
    close: ["/>"],
    head: [...GEMMA_NAME, /(?![\w.:-]*[\w.-])/, /\s*/, /(?=\{)/],
  },
  {
    markers: { "call:": [] },
    close: ["<tool_call|>"],
    lineStart: true as const,
    head: [...GEMMA_NAME, /(?![\w.:-]*[\w.-])/, /\s*/, /(?=\{)/],
  },
].map((spec) =>
  blockFormat({
    ...spec,
    after: ["<tool_call|>", "<|tool_response>", "<end_function_call>"],
    args: gemmaArguments,
    example: (name, args) =>
      `<|tool_call>call:${name}{${
        args.map(([key, value]) => `${key}:<|"|>${value}<|"|>`).join(",")
      }}<tool_call|>`,
  })
);

/** A quoted value up to its own quote, in each style. Gemma's last quote may be missing. */
const GEMMA_QUOTES = [
  /(?:<\|"\|>|<escape>)([^]*?)(?:<\|"\|>|<escape>|$(?![^]))/y,
  /`([^`]*)`/y,
  /'([^]*?)'(?=\s*(?:<\|"\|>\s*)?(?:[,})]|$(?![^])))/y,
];

/** `{k:<escape>v<escape>,n:5,l:[1,<escape>a<escape>]}`. */
export function gemmaArguments(
  body: string,
  name: string,
  context: CallContext,
  isClosed: boolean,
): Record<string, unknown> | undefined {
  // Without the end of the call, a value with an open quote is incomplete.
  if (!isClosed && body.split(/<\|"\|>|<escape>/).length % 2 === 0) return undefined;
  const text = body.replace(/<think>[^]*?<\/think>\s*/g, "").trim()
    .replace(/^\{(\{[^]*\})\}$/, "$1");
  if (text.startsWith("BEGIN_ARG")) return positionalArguments(text, name, context);
  const inner = /^[{(]([^]*)[})]$/.exec(text)?.[1];
  if (inner === undefined) return undefined;
  if (inner.trim() === "") return {};
  // JSON, or text that becomes JSON once strings and keys have its quotes.
  const json = text.replace(/^\(|\)$/g, "")
    .replace(
      /(?:<\|"\|>|<escape>)([^]*?)(?:<\|"\|>|<escape>)/g,
      (_, value) => JSON.stringify(value),
    );
  const read = looseJson(json.startsWith("{") ? json : `{${inner}}`, Infinity);
  const plain = isObject(read) ? read : undefined;
  const keys = Object.keys(propertiesOf(name, context));
  if (plain && Object.values(plain).every((value) => typeof value !== "string")) return plain;
  const args: Record<string, unknown> = {};
  const key = /\s*["']?([A-Za-z_][\w-]*)["']?\s*[:=]\s*/y;
  for (let at = 0; at < inner.length;) {
    key.lastIndex = at;
    const [whole, name_] = key.exec(inner) ?? [];
    if (whole === undefined || Object.hasOwn(args, name_!)) return plain;
    at += whole.length;
    let value: unknown;
    for (const pattern of GEMMA_QUOTES) {
      pattern.lastIndex = at;
      const match = pattern.exec(inner);
      if (!match) continue;
      value = match[1];
      at = pattern.lastIndex;
      break;
    }
    if (value === undefined) {
      // Up to the next key of the tool, because an unquoted value may contain commas.
      const following = [...keys, "path"].map(RegExp.escape).join("|");
      const end = inner.slice(at).search(new RegExp(`,\\s*["']?(?:${following})["']?\\s*[:=]`));
      const raw = (end < 0 ? inner.slice(at) : inner.slice(at, at + end)).trim();
      // An open quote or a structure, which the plain reading must know.
      if (/^["'`{[]|<\|"\|>/.test(raw)) return plain;
      value = typedValue(raw, name_!, name, context);
      at = end < 0 ? inner.length : at + end;
    }
    args[name_!] = value;
    const [gap] = /^(?:\s*<\|"\|>)?\s*,?\s*/.exec(inner.slice(at))!;
    at += gap.length;
  }
  return args;
}

/** The values between `BEGIN_ARG:` and `END_ARG`, for the parameters in order. */
function positionalArguments(text: string, name: string, context: CallContext): GivenArguments {
  const values = [...text.matchAll(/BEGIN_ARG:\n?([^]*?)\n?END_ARG/g)].map(([, value]) => value!);
  const keys = Object.keys(propertiesOf(name, context));
  const isWhole = /END_ARG\s*$/.test(text) && values.length <= keys.length;
  if (!isWhole) return undefined;
  return Object.fromEntries(
    values.map((value, i) => [keys[i]!, typedValue(value, keys[i]!, name, context)]),
  );
}

/** A code block labelled as calls: in Python, as in Gemma 3's documentation, or in JSON, as other models write it. */
export const gemmaFence: CallFormat = {
  fences: ["tool_code", "tool_call"],
  read(marker, given) {
    const close = marker.match(/^[`~]+/)![0];
    const context = { ...given, isMarked: true, mayBeUnknown: true };
    return readerBehind(
      /^(?=\s*(?:\[\s*)?([^\s[]))/,
      /^\s{0,256}\[?\s{0,256}$/,
      ([, first]) =>
        first === "{"
          ? new JsonCallReader({ close, strict: true }, context)
          : pythonReader(close, context),
    );
  },
};
