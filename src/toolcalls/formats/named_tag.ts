import { MarkerReader } from "../../text/markers.ts";
import {
  type CallContext,
  type CallFormat,
  type CallReader,
  exampleArguments,
  isUnknown,
  offeredName,
} from "../format.ts";
import { CUT_OFF_REASON, invalidCall, newCall } from "../json_calls.ts";
import { elementArguments, jsonArguments, typedValue } from "../values.ts";

/** Our tools, and those of Cline and its kin, whose prompts many models have seen. */
const TAG_NAMES =
  "read_file write_file edit_file run_bash glob_files grep_code list_directory execute_command execute_bash write_to_file replace_in_file search_files list_files";
/** The arguments in tags of their names, in JSON, or as the text of the only one; undefined for anything else. */
function argumentsIn(body: string, name: string, context: CallContext) {
  if (/^\s*\{/.test(body)) return jsonArguments(body);
  if (/^\s*</.test(body)) return elementArguments(body, name, context);
  const [[key] = [], second] = exampleArguments(name, context);
  return key === undefined || second || isUnknown(name, context)
    ? undefined
    : { [key]: typedValue(body, key, name, context) };
}

function namedTagReader(marker: string, context: CallContext): CallReader {
  const said = marker.slice(1, -1).toLowerCase();
  const name = offeredName(said, context);
  const reader = new MarkerReader([`</${said}>`], { inCode: true });
  const isSeveral = name !== "run_bash";
  let body = "";
  return {
    push(piece, final) {
      if (name === undefined) return "text";
      reader.push(piece);
      const { text, marker: close } = reader.next(final);
      body += text;
      // What begins with no argument is a word about the tool, but for a command.
      if (isSeveral && /\S/.test(body) && !/^\s*(?:<(?:[A-Za-z_]|$)|\{)/.test(body)) return "text";
      if (close !== undefined) {
        const args = argumentsIn(body, name, context);
        if (!args) return "text";
        return { calls: [newCall(name, args, context)], end: body.length + close.length };
      }
      if (!final) return undefined;
      if (!/^\s*<\w+>/.test(body)) return "text";
      return { calls: [invalidCall(name, body, CUT_OFF_REASON, context)], end: body.length };
    },
  };
}

/** `<read_file><path>V</path></read_file>`, the name of the tool as the tag. */
export const namedTag: CallFormat = {
  markers: TAG_NAMES.split(" ").map((name) => `<${name}>`),
  lineStart: true,
  read: (marker, context) => namedTagReader(marker, { ...context, isMarked: true }),
};

/** {@linkcode namedTag} in the tags of another format: `<tool_call><read_file>...</read_file></tool_call>`. */
export const framedTag: CallFormat = {
  markers: ["<tool_call>", "<toolcall>"],
  read(_marker, context) {
    let text = "";
    let inner: CallReader | undefined;
    let lead = 0;
    return {
      push(piece, final) {
        text += piece;
        if (!inner) {
          const [head, name] = /^\s*<(\w+)>/.exec(text) ?? [];
          if (head === undefined) {
            return !final && /^\s*(?:<\w{0,40})?$/.test(text) ? undefined : "text";
          }
          lead = head.length;
          inner = namedTagReader(`<${name}>`, { ...context, isMarked: true, mayBeUnknown: false });
          piece = text.slice(lead);
        }
        const verdict = inner.push(piece, final);
        if (verdict === undefined || verdict === "text") return verdict;
        return { ...verdict, end: lead + verdict.end };
      },
    };
  },
};
