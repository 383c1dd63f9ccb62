import { type CallFormat, readerBehind } from "../format.ts";
import { JsonCallReader } from "../json_reader.ts";

/**
 * JSON between tags. Sources: the chat templates of Hermes and Qwen (`<tool_call>`), Granite
 * (`<|tool_call|>`, `<function_call>`), Llama (`<|python_tag|>`), Jamba, Apriel and Hunyuan
 * (`<tool_calls>`), Mistral (`[TOOL_CALLS]`), Phi-4 (`functools`), InternLM (`<|action_start|>`),
 * Cohere (`<|START_ACTION|>`), LM Studio's default (`[TOOL_REQUEST]`), LongCat, GigaChat
 * (`<|function_call|>`, `function call`), Apertus (`<|tools_prefix|>`, each call keyed by its name).
 */
const JSON_TAGS: readonly (readonly [open: string, close: string])[] = [
  ..."tool_call tool_calls tool_calls:opensource tool_call:opensource function_call function_calls tools tool tool_use longcat_tool_call function function-call"
    .split(" ").map((name) => [`<${name}>`, `</${name}>`] as const),
  ..."python_tag eom_id,python_start python_end,tool_call_start tool_call_end,start_action end_action,tools_prefix tools_suffix,tool_call_begin tool_call_end,tool_call /tool_call,tool_calls /tool_calls"
    .split(",").map((pair) => pair.split(" ").map((name) => `<|${name}|>`) as [string, string]),
  ...["[tool_calls]", "functools", "<|function_call|>", "function call<|role_sep|>"]
    .map((open) => [open, "</s>"] as const),
  ...["<|action_start|><|plugin|>", "<|action_start|> <|plugin|>"]
    .map((open) => [open, "<|action_end|>"] as const),
  ...[["<|tool_call>", "<tool_call|>"], ["[tool_call]", "[/tool_call]"]] as const,
  ["[tool_request]", "[END_TOOL_REQUEST]"],
];

/** `<tool_call id="1">{...}</tool_call>`. */
const taggedJson: CallFormat = {
  markers: ["<tool_call id="],
  read: (_marker, context) =>
    readerBehind(
      /^["'\w.-]{1,80}>/,
      /^["'\w.-]{0,80}$/,
      () => new JsonCallReader({ close: "</tool_call>", strict: false }, context),
    ),
};

export const jsonTags: readonly CallFormat[] = [
  taggedJson,
  ...JSON_TAGS.map(([open, close]): CallFormat => ({
    markers: [open],
    example: (name, args) => {
      const call = { name, arguments: Object.fromEntries(args) };
      return open + JSON.stringify(open === "functools" ? [call] : call) + close;
    },
    read: (marker, context) =>
      new JsonCallReader({
        open: marker,
        close,
        strict: false,
        keyed: open === "<|tools_prefix|>",
        isList: open === "functools",
      }, context),
  })),
];

/** `<toolcall>{"name": ..., "arguments": {...}}</toolcall>`, one or several calls (spec 4.6). */
export const toolcallTag: CallFormat = {
  markers: ["<toolcall>"],
  isBasic: true,
  read: (open, context) =>
    new JsonCallReader({ open, close: "</toolcall>", strict: false }, context),
};

/** A code block labelled json that contains only calls (spec 4.6). */
export const jsonFence: CallFormat = {
  fences: ["json"],
  isBasic: true,
  read(marker, context) {
    const frame = { close: marker.match(/^[`~]+/)![0], strict: true };
    return new JsonCallReader(frame, { ...context, isMarked: true });
  },
};

/** The same without a label, which only the tools that are offered make sure. */
export const plainFence: CallFormat = { fences: [""], read: jsonFence.read };
