import { foldMarker, MarkerReader } from "../../../text/markers.ts";
import { blockFormat } from "../block_format.ts";
import {
  type CallContext,
  type CallFormat,
  type CallReader,
  exampleArguments,
  isUnknown,
  offeredName,
  readerBehind,
} from "../format.ts";
import { CUT_OFF_REASON, invalidCall, newCall } from "../json_calls.ts";
import { anyArguments, pairArguments, typedValue } from "../values.ts";

/** Our tools, and those of Cline and its forks, whose prompts many models have seen. */
const TAG_NAMES =
  "read_file write_file edit_file run_bash glob_files grep_code list_directory execute_command execute_bash write_to_file replace_in_file search_files list_files bash";
/** Tools whose text is the command if it is not an argument. */
const COMMAND_NAME = /bash|command/;
const TAG_PREFIXES = ["", "|DSML|"];

function argumentsIn(body: string, name: string, context: CallContext) {
  if (COMMAND_NAME.test(name) && !/^\s*(?:[<{]|command\s*[:=])/.test(body)) {
    return { command: typedValue(body, "command", name, context) };
  }
  const args = anyArguments(body, name, context);
  if (args || /^\s*[<{]/.test(body)) return args;
  const [[key] = [], second] = exampleArguments(name, context);
  return key === undefined || second || isUnknown(name, context)
    ? undefined
    : { [key]: typedValue(body, key, name, context) };
}

function namedTagReader(marker: string, context: CallContext): CallReader {
  const said = foldMarker(marker).replace(/^<|[> ]$/g, "");
  const name = offeredName(said.replace(/^.*\|/, ""), context);
  const closes = [`</${said}>`, ...said.startsWith("|") ? ["</|DSML|invoke>"] : []];
  const reader = new MarkerReader(closes, { inCode: true });
  const isSeveral = !COMMAND_NAME.test(said);
  /** The attributes of the tag, and true after its end. */
  let head = "";
  let isOpen = marker.endsWith(">");
  let given: Record<string, unknown> = {};
  let body = "";
  return {
    push(piece, final) {
      if (name === undefined) return "text";
      if (!isOpen) {
        head += piece;
        const [tag, pairs, slash] = TAG_HEAD.exec(head.slice(0, MAX_HEAD)) ?? [];
        if (tag === undefined) return final || head.length >= MAX_HEAD ? "text" : undefined;
        const args = pairArguments(pairs!, name, context);
        if (!args) return "text";
        if (slash) return { calls: [newCall(name, args, context)], end: tag.length };
        [isOpen, given, piece, head] = [true, args, head.slice(tag.length), tag];
      }
      reader.push(piece);
      const { text, marker: close } = reader.next(final);
      body += text;
      const isBegun = Object.keys(given).length > 0;
      // Text that does not start with an argument is about the tool, unless it is a command.
      if (
        isSeveral && !isBegun && /\S/.test(body) && !/^\s*(?:<(?:\W|[A-Za-z_]|$)|\{)/.test(body)
      ) {
        return "text";
      }
      if (close !== undefined) {
        const args = isBegun && body.trim() === "" ? {} : argumentsIn(body, name, context);
        if (!args) return "text";
        const end = head.length + body.length + close.length;
        return { calls: [newCall(name, { ...given, ...args }, context)], end };
      }
      if (!final) return undefined;
      if (!isBegun && !/^\s*<[^<>]+>/.test(body)) return "text";
      const end = head.length + body.length;
      return { calls: [invalidCall(name, body, CUT_OFF_REASON, context)], end };
    },
  };
}

/** `key="value"` up to the end of the tag. */
const TAG_HEAD = /^((?:[^<>"]|"[^"]*")*?)(\/?)>/;
const MAX_HEAD = 4096;

/** `<read_file><path>V</path></read_file>` or `<read_file path="V"/>`, the name of the tool as the tag. */
export const namedTag: CallFormat = {
  markers: TAG_NAMES.split(" ").flatMap((name) =>
    TAG_PREFIXES.flatMap((prefix) => [`<${prefix}${name}>`, `<${prefix}${name} `])
  ),
  lineStart: true,
  read: (marker, context) => namedTagReader(marker, { ...context, isMarked: true }),
};

/** {@linkcode namedTag} in the tags of another format: `<tool_call><read_file>...</read_file></tool_call>`. */
export const framedTag: CallFormat = {
  markers: ["<tool_call>", "<toolcall>"],
  read: (_marker, context) =>
    readerBehind(
      /^\s*<(\w+)>/,
      /^\s*(?:<\w{0,40})?$/,
      ([, name]) =>
        namedTagReader(`<${name}>`, { ...context, isMarked: true, mayBeUnknown: false }),
    ),
};

const TAG_FRAMES = ["function", "tool_use", "use_tool", "tool_call", "tool", "invoke"];

/** `<function><name>N</name><parameter name="K">V</parameter></function>`, or with `<arguments>`. */
export const namedElement: CallFormat = blockFormat({
  markers: {
    ...Object.fromEntries(TAG_FRAMES.map((frame) => [`<${frame}>`, []])),
    "<function_calls>": [/\s*/, "<invoke>"],
  },
  head: [/\s*/, "<", ["tool_"], "name>", /\s*/, /(?<name>[\w.-]+)\s*/, "</", /[^<>]{0,20}/, ">"],
  close: TAG_FRAMES.flatMap((frame) => [`</${frame}>`, `</|DSML|${frame}>`]),
  after: ["</|DSML|tool_calls>", "</function_calls>"],
  args: (body, name, context) =>
    anyArguments(/^\s*<(\w+)>([^]*)<\/\1>\s*$/.exec(body)?.[2] ?? body, name, context) ??
      anyArguments(body, name, context),
  example: (name, args) =>
    `<function><name>${name}</name>${
      args.map(([key, value]) => `<parameter name="${key}">${value}</parameter>`).join("")
    }</function>`,
});
