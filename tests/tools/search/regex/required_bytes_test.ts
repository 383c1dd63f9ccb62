import { assertEquals, assertThrows } from "@std/assert";
import { Meter, Stopped } from "../../../../src/tools/search/regex/dfa.ts";
import { parseRegex } from "../../../../src/tools/search/regex/parse.ts";
import { createRunFinder } from "../../../../src/tools/search/regex/required_bytes.ts";

/** The places where a match of `pattern` may be; undefined where every place may be one. */
function places(pattern: string, text: string): number[] | undefined {
  const find = createRunFinder(parseRegex(pattern).root, new Meter(() => false));
  if (find === undefined) return undefined;
  const bytes = new TextEncoder().encode(text);
  const found = [];
  for (let at = find(bytes, 0); at !== -1; at = find(bytes, at + 1)) found.push(at);
  return found;
}

const ROWS: [pattern: string, text: string, places: number[] | undefined][] = [
  ["needle", "a nedle, needles", [9]],
  ["needle", "", []],
  ["needle", "needl", []],
  ["needle", "needle", [0]],
  ["needle", "xxxdle xeedle needle", [14]],
  ["abab", "abababab", [0, 2, 4]],
  ["aaa", "aaaaa", [0, 1, 2]],
  ["(?i)need", "NEED nEEd nED", [0, 5]],
  ["_[0-9][0-9]", "_1 _12 12 _a1", [3]],
  ["[ab][cd]", "ab ac\nbd", [3, 6]],
  ["[\\n\\t]foo", "foo\nfoo\tfoo", [7]],
  ["né", "ne né", [3]],
  // The rarest of the parts that every match has.
  ["a.*needle.*b", "a needle a.*b needle", [2, 14]],
  ["x?needle(abcdefg)?", "abcdefg needle", [8]],
  ["(ab|cd)+", "ad bd abb", [0, 6]],
  ["x{3}y", "xxy xxxxy", [5]],
  // Not all that stands between two rare signs is of one length.
  ["pqx{2,3}yz", "pqxxxyz", [0]],
  ["p[!-~]{40}needle", `p${"x".repeat(40)}needle`, [41]],
  ["x{2,}yz", "xx xxyz", [4]],
  ["(fox){2}", "foxfox", [0, 3]],
  // Too common, or none.
  ["e", "e", undefined],
  ["\\w\\w\\w\\w\\w", "word", undefined],
  ["(needle)?", "needle", undefined],
  ["needle|", "needle", undefined],
  ["needle|[^x]", "needle", undefined],
  ["\\ufffd\\ufffd", "\ufffd", undefined],
];

for (const [pattern, text, expected] of ROWS) {
  Deno.test(`the places where ${pattern} may match in ${JSON.stringify(text)}`, () =>
    assertEquals(places(pattern, text), expected));
}

Deno.test("of a run that many places may have, those that are rare are looked for", () => {
  // 26 letters weigh 1.3 each: 32 of them more than five bytes of one kind.
  assertEquals(places("needl[^x][a-z]{32}", `needle ${"a".repeat(32)}`), [7]);
  assertEquals(places("needl[^x][a-z]{22}", `needle ${"a".repeat(32)}`), [0]);
});

Deno.test("looking for a run is counted, and stopped", () => {
  const bytes = new TextEncoder().encode("-".repeat(1_000_000));
  let asked = 0;
  const find = createRunFinder(parseRegex("needle").root, new Meter(() => ++asked > 1))!;
  assertThrows(() => find(bytes, 0), Stopped);
  assertEquals(asked, 2);
});
