import { type CallContext, type CallFormat, type CallReader, offeredName } from "../format.ts";
import type { ToolCall } from "../../../types/message.ts";
import { newCall } from "../json_calls.ts";
import { jsonArguments } from "../values.ts";
import { gemmaArguments } from "./gemma.ts";
import { pythonCalls } from "./pythonic.ts";

const NAMES = "read_file write_file edit_file run_bash glob_files grep_code list_directory".split(
  " ",
);
/** Marks of a frame whose start the server dropped. */
const FRAME_MARK = "(?:<[|｜][\\w▁/]+[|｜]?>|<\\w+[|｜]>|</\\w+>)";
/** All of them at the end of a text. Each row of white space and marks is read once. */
const MARKS_BEHIND = new RegExp(`(?<!\\s|${FRAME_MARK})(?:\\s*${FRAME_MARK})*\\s*$`);
/** A paragraph that starts with a word: the text continues, so the call is an example. */
const GOES_ON = /\n\s*\n?(?!(?:read|write|edit|run|glob|grep|list)_)[A-Z][a-z]+ [a-z]/;

const CALL = /^(\w+)(?:\[args\]|:\d+\s*(?:<\|tool_call_argument_begin\|>)?)?\s*(\{[^]*\})$/i;

/** Calls of our tools by bare name at the end of a text: `N(k="v")`, `[N(k="v")]`, `N{json}`, `N[ARGS]{json}`. */
export const bareNamed: CallFormat = {
  markers: NAMES.flatMap((
    name,
  ) => [`${name}(`, `${name}{`, `${name}\n{`, `${name}[args]`, `${name}:`, `[${name}(`]),
  lineStart: true,
  isUnmarked: true,
  read(marker, context): CallReader {
    let text = marker;
    return {
      push(piece, final) {
        text += piece;
        if (!final) return GOES_ON.test(text) ? "text" : undefined;
        const calls = text.split(/\n(?=\w+:\d)/).map((one) =>
          namedCalls(one.replace(MARKS_BEHIND, ""), { ...context, isMarked: true })
        );
        return calls.every((one) => one !== undefined)
          ? { calls: calls.flat(), end: text.length - marker.length }
          : "text";
      },
    };
  },
};

function namedCalls(text: string, context: CallContext): ToolCall[] | undefined {
  const [, name = "", json = ""] = CALL.exec(text.trim()) ?? [];
  if (name !== "") {
    const args = offeredName(name, context) &&
      (jsonArguments(json) ?? gemmaArguments(json, name, context, true));
    return args ? [newCall(name, args, context)] : undefined;
  }
  const list = text.trim().replace(/^\[/, "").replace(/\]$/, "").replace(
    /\)\s*\n(?=\s*\w+\()/g,
    "),\n",
  );
  return pythonCalls(`[${list}]`, context);
}
