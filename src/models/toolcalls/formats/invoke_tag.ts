import { atomSource, blockFormat } from "../block_format.ts";
import type { CallFormat } from "../format.ts";
import { anyArguments, jsonArguments, taggedArguments } from "../values.ts";

/**
 * `<invoke name="N"><parameter name="K">V</parameter></invoke>` in its wrappers. Sources: the templates of
 * MiniMax M2, DeepSeek V3.2 (`｜DSML｜`) and Step-3 (`steptml:`), Anthropic's documentation of its older format.
 */
const PREFIXES: readonly (readonly [prefix: string, wrappers: readonly string[]])[] = [
  ["", ["function_calls", "minimax:tool_call", "tool_call", "tool_calls", "function_call", "tool"]],
  ...["|DSML|", "DSML "].map((one) =>
    [one, ["function_calls", "tool_calls", "tool_use"].map((wrapper) => one + wrapper)] as const
  ),
  ["steptml:", ["steptml:toolcall", "steptml:tool_call"]],
];

/** MiniMax M3 writes it before each tag. */
const M3 = "]<]minimax[>[";
const STEP_INVOKE = ["function", "<|tool_sep|>", /\s*/, "<steptml:invoke name="];
const STEP_LEADS = {
  "<|tool_call_begin|>": STEP_INVOKE,
  "<|tool_calls_begin|>": [/\s*/, "<|tool_call_begin|>", ...STEP_INVOKE],
};
const STEP_AFTER = ["<|tool_call_end|>", "<|tool_calls_end|>"];

function invokeFormat(prefix: string, wrappers: readonly string[]): CallFormat {
  // Created with the first call, because most of these formats are rare.
  let parameter: [open: RegExp, close: RegExp] | undefined;
  return blockFormat({
    markers: {
      ...Object.fromEntries([
        [`<${prefix}invoke name=`, []],
        ...wrappers.flatMap((wrapper) => [
          [`<${wrapper}>`, [/\s*/, `<${prefix}invoke name=`]],
          [`<${wrapper} name=`, []],
        ]),
      ]),
      ...(prefix === "" && { [`${M3}<tool_call>`]: [/\s*/, M3, "<invoke name="] }),
      ...(prefix === "steptml:" && STEP_LEADS),
    },
    head: [/["'“]?/, /(?<name>[\w.-]+)/, /["'”]?/, /(?<attributes>(?:[^<>"]|"[^"]*(?:"|$))*)/, ">"],
    close: [`</${prefix}invoke>`, ...wrappers.map((wrapper) => `</${wrapper}>`)],
    value: [`<${prefix}parameter name=`, `</${prefix}parameter>`],
    after: [
      ...wrappers.map((wrapper) => `</${wrapper}>`),
      ...(prefix === "steptml:" ? STEP_AFTER : prefix === "" ? [`${M3}</tool_call>`] : []),
    ],
    args(written, name, context) {
      const body = written.replaceAll(M3, "");
      if (/^\s*\{/.test(body)) return jsonArguments(body);
      parameter ??= [
        new RegExp(
          atomSource(`<${prefix}parameter`) + `\\s+name=["'“]?(?<key>[^>"'”]+)["'”]?[^>]*>`,
        ),
        new RegExp(atomSource(`</${prefix}parameter>`)),
      ];
      return taggedArguments(body, ...parameter, name, context) ??
        anyArguments(body, name, context);
    },
    example: (name, args) =>
      `${
        wrappers[0] === "function_calls" ? "" : `<${wrappers[0]}>\n`
      }<${prefix}invoke name="${name}">\n${
        args.map(([key, value]) =>
          `<${prefix}parameter name="${key}">${value}</${prefix}parameter>\n`
        ).join("")
      }</${prefix}invoke>${wrappers[0] === "function_calls" ? "" : `\n</${wrappers[0]}>`}`,
  });
}

const SPACED_WRAPPERS = ["function_calls", "tool_calls", "tool_call"];

/** Namespaces of other documents, and of the models' invention. */
const anyNamespace: CallFormat = {
  markers: ["invoke name=", ...SPACED_WRAPPERS.map((one) => `${one}>`)].map((one) => `<*:${one}`),
  read(marker, context) {
    const prefix = marker.slice(1, marker.indexOf(":") + 1);
    return invokeFormat(prefix, SPACED_WRAPPERS.map((one) => prefix + one)).read(marker, context);
  },
};

export const invokeTags: readonly CallFormat[] = [
  ...PREFIXES.map(([prefix, wrappers]) => invokeFormat(prefix, wrappers)),
  anyNamespace,
];
