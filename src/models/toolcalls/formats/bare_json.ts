import {
  type CallContext,
  type CallFormat,
  type CallReader,
  type CandidateVerdict,
  isUnknown,
  offeredName,
} from "../format.ts";
import type { ToolCall } from "../../../types/message.ts";
import { isObject } from "../../../text/json.ts";
import { callsFrom, CUT_OFF_REASON, invalidCall, malformedCall } from "../json_calls.ts";
import { looseJson } from "../../../text/loose_json.ts";
import { JsonScanner, parseLenientJson } from "../json_scanner.ts";

const JSON_HEAD =
  /^\s*\[?\s*\{{1,2}\s*"(?:name|tool_name|tool|function|type|tool_calls?|function_call|id|arguments|parameters|action|jsonrpc|method)"/;
const JSON_HEAD_CUT = /^\s*(?:\[\s*)?(?:\{{1,2}\s*(?:"\w{0,20})?)?$/;
const NAME_VALUE = /"(?:name|tool_name|tool|action|function|method)"\s*:\s*"([^"\\]*)"/;
const MAX_JSON_HEAD = 512;
/** Extra brackets, and the end of a frame whose start the server dropped. */
const JSON_END = /^[\s,;\]}]*(?:<\/tool_?call>\s*)?(?:<\|(?:eot_id|eom_id|im_end)\|>\s*)?$/;

/** Reads a message that contains only calls in JSON: one value or several. */
function bareReader(marker: string, context: CallContext): CallReader {
  let text = marker;
  let isHead = false;
  let name: string | undefined;
  return {
    push(piece, final) {
      text += piece;
      if (!isHead) {
        const start = text.slice(0, MAX_JSON_HEAD);
        isHead = JSON_HEAD.test(start);
        const [, key] = /^\s*\{\s*"(\w+)"/.exec(start) ?? [];
        if (!isHead && key !== undefined && toolTaking([key], context)) {
          return final ? lostCall(text, context) : undefined;
        }
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
      const calls = callsIn(text, name, context);
      return calls ? { calls, end: text.length - marker.length } : "text";
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
      // An incomplete text that starts like a call is a call, like one that is broken and ends.
      if (!name) return undefined;
      if (scanned.error === undefined) {
        return [...found, invalidCall(name, text.slice(at), CUT_OFF_REASON, context)];
      }
      const isWhole = at === 0 && /\}\s*(?:<\/tool_?call>\s*)?$/.test(text);
      return isWhole && !isUnknown(name, context)
        ? [malformedCall(name, text, context)]
        : undefined;
    }
    const value = parseLenientJson(text.slice(at, scanned.end));
    if (value === undefined && name && /"(?:arguments|parameters)"\s*:/.test(text)) {
      return [...found, malformedCall(name, text.slice(at), context)];
    }
    const calls = callsFrom(value, context);
    if (!calls) return undefined;
    for (const call of calls) found.push(call);
    at = scanned.end;
  }
  return found;
}

/** A message that contains only JSON calls: Qwen2.5-Coder, Llama 3, xLAM and many more. */
export const bareJson: readonly CallFormat[] = ["{", "["].map((sign) => ({
  startsWith: sign,
  read: (_marker, context) => bareReader("", { ...context, isMarked: true, mayBeUnknown: true }),
}));

/** Keys of calls, and of other agents' arguments, that no real answer has. */
const KEYS_OF_CALLS = ["tool_calls", "tool_call", "cmd", "action"];
/** The maximum characters before arguments that are the essence of an answer. */
const MAX_LEAD = 300;

const LOST_BLOCK =
  /^\s*```(?:json)?\s*\{\s*"name"\s*:\s*"[\w.-]+"\s*,\s*"(?:arguments|parameters)"\s*:\s*\{\s*"[^]*\}\s*\}\s*```\s*$/;

/** Calls with marks of the models' invention, or with half of them. */
const LOST_MARKS =
  /^(?:invoke name="[\w.-]+">\s*parameter name="|_execute\ntool_name: |<Call>\s*<Function>)/m;

/** True if an answer ends with the arguments of a call without a name, or has a call without its marks. */
export function isLostCall(content: string, context: Pick<CallContext, "schemas">): boolean {
  const [json, key] = /\{\s*"(\w+)"\s*:[^]*\}\s*$/.exec(content.slice(-4000)) ?? [];
  // A tool that is not offered, and nothing else.
  if (LOST_BLOCK.test(content)) return true;
  if (LOST_MARKS.test(content)) return !content.includes("```");
  if (json === undefined || content.length - json.length > MAX_LEAD) return false;
  // A name that no tool has, right before its arguments: `web_search{"query": "x"}`.
  if (/^\s*[\w.-]+$/.test(content.slice(0, content.indexOf(json)))) return true;
  if (content.includes("```") || key!.startsWith("tool_call")) return !content.includes("```");
  const value = looseJson(json);
  if (!isObject(value)) return false;
  const keys = Object.keys(value).filter((one) => !KEYS_OF_CALLS.includes(one));
  return (keys.length > 1 || keys.length < Object.keys(value).length) &&
    toolTaking(keys, context) !== undefined;
}

/** Returns the tool whose arguments may be named `keys`; with `needs`, all required ones must be present. */
function toolTaking(
  keys: readonly string[],
  { schemas }: Pick<CallContext, "schemas">,
  needs = false,
): string | undefined {
  return Object.entries(schemas).find(([, schema]) => {
    const { properties = {}, required = [] } = schema as Record<string, string[]>;
    return keys.every((key) => Object.hasOwn(properties, key)) &&
      (!needs || required.every((key) => keys.includes(key)));
  })?.[0];
}

/** Returns the verdict on a message of arguments alone. The model is shown the call with its name. */
function lostCall(text: string, context: CallContext): CandidateVerdict {
  const value = looseJson(text);
  const name = isObject(value) ? toolTaking(Object.keys(value), context, true) : undefined;
  if (name === undefined || !isLostCall(text, context)) return "text";
  const right = `<tool_call>${JSON.stringify({ name, arguments: value })}</tool_call>`;
  const reason = `the tool's name is missing.\nFor a call, write: ${right}`;
  return { calls: [invalidCall(name, text, reason, context)], end: text.length };
}

/** A JSON call on the last lines of a message, after its text. */
export const trailingJson: CallFormat = {
  markers: ['{"name"', '{ "name"', '{\n  "name"', '{"tool"', '{"function"', '{"type": "function"'],
  lineStart: true,
  isUnmarked: true,
  read: (marker, context) => bareReader(marker, context),
};
