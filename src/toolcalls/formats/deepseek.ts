import { blockFormat } from "../block_format.ts";
import type { CallFormat } from "../format.ts";
import { jsonArguments } from "../values.ts";

/**
 * `<｜tool▁call▁begin｜>function<｜tool▁sep｜>N`, a line feed and JSON in a fence (V3, R1), or
 * `N<｜tool▁sep｜>{json}` (V3.1); with the model's own signs or their ASCII look-alikes. Source:
 * DeepSeek's chat templates.
 */
export const deepseek: readonly CallFormat[] = [["｜", "▁"], ["|", "_"], ["｜", "_"], ["|", "▁"]]
  .flatMap(([bar, gap]) => {
    const mark = (words: string) => `<${bar}${words.replaceAll(" ", gap!)}${bar}>`;
    const name = /(?<name>[\w.-]+)/;
    const heads = [
      [/\s*/, "function", mark("tool sep"), name, /[ \t]*/, /\n/],
      [/\s*/, name, mark("tool sep")],
    ];
    return heads.map((head) =>
      blockFormat({
        markers: {
          [mark("tool call begin")]: [],
          [mark("tool calls begin")]: [/\s*/, mark("tool call begin")],
        },
        head,
        close: [mark("tool call end"), mark("tool calls end")],
        after: [mark("tool calls end"), mark("end of sentence")],
        args: jsonArguments,
      })
    );
  });
