import { assertEquals } from "@std/assert";
import { codeBlocks } from "../../src/text/fence.ts";

const BLOCKS: [markdown: string, expected: [language: string, text: string][]][] = [
  ["no code `at` all", []],
  ["a\n```sh\nls -l\n\ncd x\n```\nb\n~~~\nraw\n~~~", [["sh", "ls -l\n\ncd x"], ["", "raw"]]],
  ["````md\n```js\n1\n```\n````", [["md", "```js\n1\n```"]]],
  ["1. so:\n\n   ```ts title=a\n   if (x) {\n     y();\n   }\n   ```", [
    ["ts", "if (x) {\n  y();\n}"],
  ]],
  ["- ```\n  one\n  ```", [["", "one"]]],
  ["- ```\n    one\n\ttwo\n  ```", [["", "  one\ntwo"]]],
  ["> ```\n> quoted\n> ```\nnot", [["", "quoted"]]],
  ["```py\ncut off", [["py", "cut off"]]],
  ["```inline``` text", []],
];
for (const [markdown, expected] of BLOCKS) {
  Deno.test(`the blocks of code in ${JSON.stringify(markdown)}`, () => {
    assertEquals(codeBlocks(markdown).map(({ language, text }) => [language, text]), expected);
  });
}
