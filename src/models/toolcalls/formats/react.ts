import { type CallFormat, exampleArguments, offeredName } from "../format.ts";
import { newCall } from "../json_calls.ts";
import { JsonCallReader } from "../json_reader.ts";

/** `Action Input: V`: the text of the only argument on one line, at the end of the answer. */
export const reactPlain: CallFormat = {
  markers: ["action:"],
  lineStart: true,
  read(_marker, context) {
    let text = "";
    return {
      push(piece, final) {
        text += piece;
        if (text.length > MAX_INPUT || !INPUT_CUT.test(text)) return "text";
        if (!final) return undefined;
        const [all, said = "", value = ""] = INPUT_LINE.exec(text) ?? [];
        const name = offeredName(said, context);
        const [[key] = [], second] = exampleArguments(name ?? "", context);
        if (name === undefined || !context.tools?.has(name) || key === undefined || second) {
          return "text";
        }
        return { calls: [newCall(name, { [key]: value }, context)], end: all!.length };
      },
    };
  },
};
const INPUT_LINE = /^[ \t`"*]*([\w.-]+)[\s`"*]*Action Input:[ \t`"*]*([^\s`"*{[][^\n]*?)[`"*\s]*$/;
const MAX_INPUT = 4096;
const INPUT_CUT = /^[ \t`"*]*[\w.-]*[\s`"*]*(?:Action Input:[^\n]*\s*|[Action Input]*)$/;

/** `Action:` and JSON in a code block. Source: Cohere's Command R template. */
export const cohereAction: CallFormat = {
  markers: ["action:"],
  lineStart: true,
  read: (marker, context) =>
    new JsonCallReader({ open: marker, close: "```", strict: false }, context),
};
