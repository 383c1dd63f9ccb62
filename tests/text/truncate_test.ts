import { assert, assertEquals } from "@std/assert";
import { truncateMiddle } from "../../src/text/truncate.ts";

const notice = (cut: number) => `<${cut}>`;

const rows: [name: string, text: string, max: number, share: number, expected: string][] = [
  ["fits", "abcdef", 6, 0.5, "abcdef"],
  ["empty", "", 0, 0.5, ""],
  ["both ends", "abcdefghij", 8, 0.5, "ab<6>ij"],
  ["an odd one goes to the beginning", "abcdefghij", 9, 0.5, "abc<5>ij"],
  ["beginning only", "abcdefghij", 8, 1, "abcd<6>"],
  ["end only", "abcdefghij", 8, 0, "<6>ghij"],
  ["no room beside the notice", "abcdefghij", 4, 0.5, "<10>"],
  ["no room for the notice", "abcdefghij", 3, 0.5, "abc"],
  ["nothing", "abc", 0, 0.5, ""],
  ["pair at the end of the head", "a😀cdefghijk", 8, 0.5, "a<9>jk"],
  ["pair at the start of the tail", "abcdefghij😀", 6, 0.5, "a<11>"],
  ["pair without a notice", "😀😀😀😀😀", 3, 0.5, "😀"],
];

for (const [name, text, max, share, expected] of rows) {
  Deno.test(`truncateMiddle: ${name}`, () => {
    const result = truncateMiddle(text, max, notice, share);
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
