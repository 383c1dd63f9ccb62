import { MarkerReader } from "../../text/markers.ts";
import { type CallContext, type CallFormat, type CallReader, offeredName } from "../format.ts";
import { CUT_OFF_REASON, invalidCall, newCall } from "../json_calls.ts";
import { jsonArguments, typedValue } from "../values.ts";

/** Our tools, and those of Cline and its kin, whose prompts many models have seen. */
const TAG_NAMES =
  "read_file write_file edit_file run_bash glob_files grep_code list_directory execute_command write_to_file replace_in_file search_files list_files";
const CHILD = /\s*<(\w+)>([^]*?)<\/\1>\s*/y;

/** The arguments in tags of their names, or in JSON; undefined for anything else. */
function argumentsIn(body: string, name: string, context: CallContext) {
  if (/^\s*\{/.test(body)) return jsonArguments(body);
  const args: Record<string, unknown> = {};
  for (CHILD.lastIndex = 0; CHILD.lastIndex < body.trimEnd().length;) {
    const [, key, value] = CHILD.exec(body) ?? [];
    if (key === undefined || Object.hasOwn(args, key)) return undefined;
    args[key] = typedValue(value!, key, name, context);
  }
  return args;
}

function namedTagReader(marker: string, context: CallContext): CallReader {
  const said = marker.slice(1, -1).toLowerCase();
  const name = offeredName(said, context);
  const reader = new MarkerReader([`</${said}>`], { inCode: true });
  let body = "";
  return {
    push(piece, final) {
      if (name === undefined) return "text";
      reader.push(piece);
      const { text, marker: close } = reader.next(final);
      body += text;
      // What begins with no argument is a word about the tool.
      if (/\S/.test(body) && !/^\s*(?:<(?:[A-Za-z_]|$)|\{)/.test(body)) return "text";
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
