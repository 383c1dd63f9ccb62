import { MarkerReader } from "../../../text/markers.ts";
import type { ToolCall } from "../../../types/message.ts";
import {
  type CallContext,
  type CallFormat,
  type CallReader,
  type CandidateVerdict,
  offeredName,
} from "../format.ts";
import { CUT_OFF_REASON, invalidCall, newCall } from "../json_calls.ts";
import { parsePythonCalls, type PythonCall } from "../python_calls.ts";
import { propertiesOf } from "../values.ts";

/** The start of a list of calls. Its group is the first name. */
const PYTHON_HEAD =
  /^\s*\[?\s*(?:print\s*\(\s*)?(?:(?:default_api|functions|tools)\.)?((?!print\s*\()[A-Za-z_][\w.-]*)\s*\(/;
const PYTHON_HEAD_CUT = /^\s*\[?\s*(?:[A-Za-z_][\w.-]*\s*)?(?:\(\s*[\w.-]*\s*)?$/;
const MAX_PYTHON_HEAD = 256;
/** The maximum number of closing marks to try. */
const MAX_TRIES = 4;

/** Reads Python calls up to `close`, or to the end of the text without it. */
export function pythonReader(close: string | undefined, context: CallContext): CallReader {
  let start = "";
  let first: string | undefined;
  let body = "";
  /** Returns the verdict at the first closing mark if the calls cannot be read. */
  let early: CandidateVerdict | undefined;
  let tries = 0;
  const reader = close === undefined ? undefined : new MarkerReader([close], { inCode: true });
  return {
    push(piece, final) {
      if (first === undefined) {
        start += piece;
        const head = PYTHON_HEAD.exec(start.slice(0, MAX_PYTHON_HEAD));
        if (!head) {
          const mayCome = !final && start.length < MAX_PYTHON_HEAD && PYTHON_HEAD_CUT.test(start);
          return mayCome ? undefined : "text";
        }
        // Llama 3.1 calls its own tools this way.
        const name = head[1]!.replace(/\.call$/, "");
        if (offeredName(name, context) === undefined) return "text";
        first = name;
        piece = start;
      }
      reader?.push(piece);
      for (;;) {
        let marker: string | undefined;
        if (reader) {
          const read = reader.next(final);
          body += read.text;
          marker = read.marker;
        } else body += piece;
        if (marker === undefined && !final) return undefined;
        const end = body.length + (marker?.length ?? 0);
        const calls = marker === undefined && early ? undefined : pythonCalls(body, context);
        if (calls) return { calls, end };
        // Without marks around it, a message that is not a list of calls is text.
        if (close === undefined) return "text";
        const reason = marker === undefined
          ? CUT_OFF_REASON
          : "its arguments could not be read: write name(key=value, ...)";
        early ??= { calls: [invalidCall(first, body.trim(), reason, context)], end };
        // The mark may be inside a string of the arguments.
        if (marker === undefined || ++tries === MAX_TRIES || !/["']/.test(body)) return early;
        body += marker;
      }
    },
  };
}

export function pythonCalls(text: string, context: CallContext): ToolCall[] | undefined {
  const found = parsePythonCalls(text.replace(/(?:<\|\w+\|>\s*)+$/, ""));
  if (!found?.every(({ name }) => offeredName(name, context))) return undefined;
  return found.map((call) => newCall(call.name, argumentsOf(call, context), context));
}

/** Returns the arguments of a call. Values without a keyword go to the parameters in order. */
function argumentsOf({ name, positional, named }: PythonCall, context: CallContext) {
  const keys = Object.keys(propertiesOf(name, context)).filter((key) => !Object.hasOwn(named, key));
  const entries = positional.map((value, i) => [keys[i] ?? `arg${i + 1}`, value]);
  return { ...Object.fromEntries(entries), ...named };
}

/**
 * `[f(a=1), g()]` in marks. Sources: the chat templates of Llama 4 (`<|python_start|>`), LFM2
 * (`<|tool_call_start|>`) and OLMo 3 (`<function_calls>`).
 */
export const pythonTags: readonly CallFormat[] = ([
  ["<|python_start|>", "<|python_end|>"],
  ["<|tool_call_start|>", "<|tool_call_end|>"],
  ["<function_calls>", "</function_calls>"],
  ["<|python_tag|>", "<|eom_id|>"],
] as const).map(([open, close]) => ({
  markers: [open],
  read: (_marker, context) => pythonReader(close, context),
}));

/** A message that contains only `[f(a=1), g()]`. */
export const barePython: CallFormat = {
  startsWith: "[",
  read: (_marker, context) => pythonReader(undefined, context),
};
