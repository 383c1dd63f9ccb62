import { blockFormat } from "../block_format.ts";
import { jsonArguments } from "../values.ts";

/** `[Calling tool: N({json})]`, as models write that have seen transcripts of agents. */
export const callingTool = blockFormat({
  markers: { "[calling tool:": [], "[tool call:": [] },
  head: [/\s*/, /(?<name>[\w.-]+)/, /\s*\(?\s*/, /(?=\{)/],
  lineStart: true,
  after: [")", "]"],
  args: jsonArguments,
});
