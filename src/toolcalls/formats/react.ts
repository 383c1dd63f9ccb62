import { blockFormat } from "../block_format.ts";
import type { CallFormat } from "../format.ts";
import { JsonCallReader } from "../json_reader.ts";
import { jsonArguments } from "../values.ts";

/** `Action: N` and `Action Input: {json}`. Source: the ReAct prompts of LangChain and Qwen-Agent. */
export const react = blockFormat({
  markers: { "action:": [] },
  head: [
    /[ \t`"*]*/,
    /(?<name>[\w.-]+)/,
    /[\s`"*]*/,
    "Action Input:",
    /[\s`*json]*/,
    /(?=\{)/,
  ],
  lineStart: true,
  after: ["```"],
  args: jsonArguments,
  example: (name, args) =>
    `Action: ${name}\nAction Input: ${JSON.stringify(Object.fromEntries(args))}`,
});

/** `Action:` and JSON in a code block. Source: Cohere's Command R template. */
export const cohereAction: CallFormat = {
  markers: ["action:"],
  lineStart: true,
  read: (marker, context) =>
    new JsonCallReader({ open: marker, close: "```", strict: false }, context),
};
