import type { CallFormat } from "../format.ts";
import { JsonCallReader } from "../json_reader.ts";

/**
 * JSON between tags. Sources: the chat templates of Hermes and Qwen (`<tool_call>`), Granite
 * (`<|tool_call|>`, `<function_call>`), Llama (`<|python_tag|>`), Jamba, Apriel and Hunyuan
 * (`<tool_calls>`), Mistral (`[TOOL_CALLS]`), Phi-4 (`functools`), InternLM (`<|action_start|>`),
 * Cohere (`<|START_ACTION|>`), LM Studio's default (`[TOOL_REQUEST]`), LongCat, GigaChat
 * (`<|function_call|>`, `function call`), Apertus (`<|tools_prefix|>`, each call keyed by its name).
 */
const JSON_TAGS: readonly (readonly [open: string, close: string])[] = [
  ...["tool_call", "tool_calls", "tool_calls:opensource", "tool_call:opensource"].map(tagPair),
  ...["function_call", "function_calls", "tools", "tool", "longcat_tool_call"].map(tagPair),
  ...["function", "function-call"].map(tagPair),
  ["<|tool_call|>", "<|/tool_call|>"],
  ["<|tool_call>", "<tool_call|>"],
  ["<|tool_calls|>", "<|/tool_calls|>"],
  ["<|python_tag|>", "<|eom_id|>"],
  ["<|python_start|>", "<|python_end|>"],
  ["<|tool_call_start|>", "<|tool_call_end|>"],
  ["<|action_start|><|plugin|>", "<|action_end|>"],
  ["<|action_start|> <|plugin|>", "<|action_end|>"],
  ["<|start_action|>", "<|END_ACTION|>"],
  ["[tool_calls]", "</s>"],
  ["[tool_request]", "[END_TOOL_REQUEST]"],
  ["functools", "</s>"],
  ["<|function_call|>", "</s>"],
  ["function call<|role_sep|>", "</s>"],
  ["<|tools_prefix|>", "<|tools_suffix|>"],
];

function tagPair(name: string): readonly [open: string, close: string] {
  return [`<${name}>`, `</${name}>`];
}

export const jsonTags: readonly CallFormat[] = JSON_TAGS.map(([open, close]) => ({
  markers: [open],
  example: (name, args) =>
    `${open}${JSON.stringify({ name, arguments: Object.fromEntries(args) })}${close}`,
  read: (marker, context) =>
    new JsonCallReader(
      {
        ...{ open: marker, close, strict: false, keyed: open === "<|tools_prefix|>" },
        isList: open === "functools",
      },
      context,
    ),
}));

/** `<toolcall>{"name": ..., "arguments": {...}}</toolcall>`, one or several calls (spec 4.6). */
export const toolcallTag: CallFormat = {
  markers: ["<toolcall>"],
  isBasic: true,
  read: (open, context) =>
    new JsonCallReader({ open, close: "</toolcall>", strict: false }, context),
};

/** A code block labelled json that holds nothing but calls (spec 4.6). */
export const jsonFence: CallFormat = {
  fences: ["json"],
  isBasic: true,
  read: (marker, context) =>
    new JsonCallReader({ close: marker.match(/^[`~]+/)![0], strict: true }, context),
};
