import { assert, assertEquals } from "@std/assert";
import { truncateMiddle } from "../../src/text/truncate.ts";

/** 34 units, of which two digits. */
const cut = (count: number) => `\n[... ${count} characters left out ...]\n`;

const rows: [name: string, text: string, max: number, expected: string][] = [
  ["fits", "abcdef", 6, "abcdef"],
  ["empty", "", 0, ""],
  ["both ends", "a".repeat(50), 40, `aaa${cut(44)}aaa`],
  ["an odd one goes to the beginning", "a".repeat(50), 41, `aaaa${cut(43)}aaa`],
  ["no room beside the notice", "a".repeat(50), 34, cut(50)],
  ["no room for the notice", "abcdefghij", 3, "abc"],
  ["nothing", "abc", 0, ""],
  ["pair at the end of the head", `a😀${"b".repeat(48)}`, 38, `a${cut(48)}bb`],
  ["pair at the start of the tail", `${"b".repeat(49)}😀`, 36, `b${cut(50)}`],
  ["pair without a notice", "😀😀😀😀😀", 3, "😀"],
];

for (const [name, text, max, expected] of rows) {
  Deno.test(`truncateMiddle: ${name}`, () => {
    const result = truncateMiddle(text, max);
    assertEquals(result, expected);
    assert(result.length <= max);
  });
}

Deno.test("truncateMiddle: within the limit and well formed, whatever the limit", () => {
  const text = "a😀".repeat(100);
  for (let max = 0; max <= text.length; max++) {
    const result = truncateMiddle(text, max);
    assert(result.length <= max, `${max}`);
    assert(result.isWellFormed(), `${max}`);
    const cut = result.match(/\n\[\.\.\. (\d+) characters left out \.\.\.\]\n/);
    if (cut) assertEquals(result.length - cut[0].length + Number(cut[1]), text.length);
  }
});
