import { type CallContext, type CallReader, type Format, offeredName } from "../format.ts";
import type { ToolCall } from "../../types/message.ts";
import { callsFrom, invalidCall } from "../json_calls.ts";
import { jsonScanner, parseJson } from "../json_scanner.ts";

/** How JSON that stands for calls begins. */
const HEAD =
  /^\s*\[?\s*\{{1,2}\s*"(?:name|tool_name|tool|function|type|tool_calls|id|arguments|parameters|action)"/;
const BEGINNING = /^\s*(?:\[\s*)?(?:\{{1,2}\s*(?:"\w{0,12})?)?$/;
const NAME = /"(?:name|tool_name|tool|action|function)"\s*:\s*"([^"\\]*)"/;
const MAX_HEAD = 512;
/** Brackets too many, and what is left of a frame whose beginning the server has dropped. */
const END = /^[\s,;\]}]*(?:<\/tool_?call>\s*)?(?:<\|(?:eot_id|eom_id|im_end)\|>\s*)?$/;

/** Reads a message that is nothing but calls as JSON: one value, or several. */
function bareReader(context: CallContext): CallReader {
  let text = "";
  let isHead = false;
  let name: string | undefined;
  return {
    push(piece, final) {
      text += piece;
      if (!isHead) {
        const start = text.slice(0, MAX_HEAD);
        isHead = HEAD.test(start);
        if (!isHead) return !final && BEGINNING.test(start) ? undefined : "text";
      }
      if (name === undefined) {
        const said = NAME.exec(text.slice(0, MAX_HEAD))?.[1];
        if (said) {
          name = offeredName(said, context);
          if (name === undefined) return "text";
        } else if (said === "" || text.length >= MAX_HEAD) name = "";
      }
      if (!final) return undefined;
      const calls = callsIn(text, name, context);
      return calls ? { calls, end: text.length } : "text";
    },
  };
}

/** The calls that `text` is; undefined when any of it is something else. */
function callsIn(
  text: string,
  name: string | undefined,
  context: CallContext,
): ToolCall[] | undefined {
  const found: ToolCall[] = [];
  for (let at = 0; !END.test(text.slice(at));) {
    at += /^[\s,;]*/.exec(text.slice(at, at + MAX_HEAD))![0].length;
    const scanned = jsonScanner().scan(text, at);
    if (scanned.end === undefined) {
      // Cut off, or broken: whoever begins like a call meant one.
      const reason = scanned.error === undefined ? "it was cut off before its end" : undefined;
      if (!reason || !name) return undefined;
      return [...found, invalidCall(name, text.slice(at), reason, context)];
    }
    const calls = callsFrom(parseJson(text.slice(at, scanned.end)), context);
    if (!calls) return undefined;
    for (const call of calls) found.push(call);
    at = scanned.end;
  }
  return found.length > 0 ? found : undefined;
}

/**
 * A message that is nothing but JSON calls: Qwen2.5-Coder, Llama 3, xLAM and many more where the
 * server does not parse what they write.
 */
export const bareJson: readonly Format[] = ["{", "["].map((sign) => ({
  name: `bare JSON ${sign}`,
  startsWith: sign,
  needsNames: true,
  read: (_marker, context) => bareReader(context),
}));
