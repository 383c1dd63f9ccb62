import {
  type CallContext,
  type CallFormat,
  type CallReader,
  isUnknown,
  offeredName,
} from "../format.ts";
import type { ToolCall } from "../../types/message.ts";
import { callsFrom, CUT_OFF_REASON, invalidCall, malformedCall } from "../json_calls.ts";
import { parseLooseJson } from "../../text/loose_json.ts";
import { JsonScanner, parseLenientJson } from "../json_scanner.ts";

const JSON_HEAD =
  /^\s*\[?\s*\{{1,2}\s*"(?:name|tool_name|tool|function|type|tool_calls?|function_call|id|arguments|parameters|action|jsonrpc|method)"/;
const JSON_HEAD_CUT = /^\s*(?:\[\s*)?(?:\{{1,2}\s*(?:"\w{0,12})?)?$/;
const NAME_VALUE = /"(?:name|tool_name|tool|action|function|method)"\s*:\s*"([^"\\]*)"/;
const MAX_JSON_HEAD = 512;
/** The first line of a code block that is the whole message; the last one. */
const BLOCK_START = /^\s*`{3}(?:json)?[^\S\n]*\n/;
const BLOCK_START_CUT = /^\s*`{1,3}(?:j(?:s(?:on?)?)?)?[^\S\n]*$/;
const BLOCK_END = /\s*`{3}\s*$/;
/** Surplus brackets, and the end of a frame whose beginning the server has dropped. */
const JSON_END = /^[\s,;\]}]*(?:<\/tool_?call>\s*)?(?:<\|(?:eot_id|eom_id|im_end)\|>\s*)?$/;

/** Reads a message that is nothing but calls as JSON: one value, or several. */
function bareReader(marker: string, context: CallContext, isFenced = false): CallReader {
  let text = marker;
  let isHead = false;
  let fence = "";
  let name: string | undefined;
  return {
    push(piece, final) {
      text += piece;
      if (isFenced && fence === "") {
        fence = BLOCK_START.exec(text)?.[0] ?? "";
        if (fence === "") return !final && BLOCK_START_CUT.test(text) ? undefined : "text";
        text = text.slice(fence.length);
      }
      if (!isHead) {
        const start = text.slice(0, MAX_JSON_HEAD);
        isHead = JSON_HEAD.test(start);
        if (!isHead) return !final && JSON_HEAD_CUT.test(start) ? undefined : "text";
      }
      if (name === undefined) {
        const said = NAME_VALUE.exec(text.slice(0, MAX_JSON_HEAD))?.[1];
        if (said) {
          name = offeredName(said, context, true);
          if (name === undefined) return "text";
        } else if (text.length >= MAX_JSON_HEAD) name = "";
      }
      if (!final) return undefined;
      const calls = callsIn(isFenced ? text.replace(BLOCK_END, "") : text, name, context);
      return calls ? { calls, end: fence.length + text.length - marker.length } : "text";
    },
  };
}

function callsIn(
  text: string,
  name: string | undefined,
  context: CallContext,
): ToolCall[] | undefined {
  const found: ToolCall[] = [];
  for (let at = 0; !JSON_END.test(text.slice(at));) {
    at += /^[\s,;]*/.exec(text.slice(at, at + MAX_JSON_HEAD))![0].length;
    const scanned = new JsonScanner().scan(text, at);
    if (scanned.end === undefined) {
      // A text that begins like a call and breaks off was meant as one, as one that breaks and ends.
      if (!name) return undefined;
      if (scanned.error === undefined) {
        return [...found, invalidCall(name, text.slice(at), CUT_OFF_REASON, context)];
      }
      const isWhole = at === 0 && /\}\s*$/.test(text);
      return isWhole && !isUnknown(name, context)
        ? [malformedCall(name, text, context)]
        : undefined;
    }
    const calls = callsFrom(jsonValue(text.slice(at, scanned.end)), context);
    if (!calls) return undefined;
    for (const call of calls) found.push(call);
    at = scanned.end;
  }
  return found;
}

function jsonValue(text: string): unknown {
  const value = parseLenientJson(text);
  if (value !== undefined) return value;
  const read = parseLooseJson(text, { mayLack: 0 });
  return "value" in read ? read.value : undefined;
}

/** A message that is nothing but JSON calls: Qwen2.5-Coder, Llama 3, xLAM and many more. */
export const bareJson: readonly CallFormat[] = ["{", "[", "`"].map((sign) => ({
  startsWith: sign,
  read(_marker, context) {
    const isFenced = sign === "`";
    return bareReader("", { ...context, isMarked: true, mayBeUnknown: !isFenced }, isFenced);
  },
}));

/** A JSON call on the last lines of a message, behind its text. */
export const trailingJson: CallFormat = {
  markers: ['{"name"', '{ "name"', '{\n  "name"', '{"tool"', '{"function"', '{"type": "function"'],
  lineStart: true,
  isUnmarked: true,
  read: (marker, context) => bareReader(marker, context),
};
