import { blockFormat } from "../block_format.ts";
import { jsonArguments } from "../values.ts";

/** `[Calling tool: N({json})]`, as models write that have seen transcripts of agents. */
export const callingTool = blockFormat({
  markers: { "[calling tool:": [], "[tool call:": [] },
  head: [/\s*/, /(?<name>[\w.-]+)/, /\s*\(?\s*/, /(?=\{)/],
  lineStart: true,
  after: [")", "]"],
  args: jsonArguments,
  example: (name, args) => `[Calling tool: ${name}(${JSON.stringify(Object.fromEntries(args))})]`,
});

/** `<tool_call>N({json})</tool_call>`, with or without the brackets, as GLM and Qwen slip into. */
export const namedJson = blockFormat({
  markers: { "<tool_call>": [/\s*/], "<function_call>": [/\s*/] },
  head: [/(?<name>[\w.-]+)/, /(?![\w.-])/, /\s*\(?\s*/, /(?=\{)/],
  after: [")", "</tool_call>", "</function_call>"],
  args: jsonArguments,
  example: (name, args) =>
    `<tool_call>${JSON.stringify({ name, arguments: Object.fromEntries(args) })}</tool_call>`,
});
