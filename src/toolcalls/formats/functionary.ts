import { blockFormat } from "../block_format.ts";
import { jsonArguments } from "../values.ts";

/** `>>>N`, a line feed and `{json}`. Source: the chat template of Functionary 3.2. */
export const functionary = blockFormat({
  markers: { ">>>": [] },
  head: [/(?<name>[\w.-]+)/, /[ \t]*/, /\n/, /\s*/, /(?=\{)/],
  lineStart: true,
  args: jsonArguments,
  example: (name, args) => `>>>${name}\n${JSON.stringify(Object.fromEntries(args))}`,
});
