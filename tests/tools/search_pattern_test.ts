import { assert, assertEquals, assertThrows } from "@std/assert";
import { anyLineMatches, matchLines } from "../../src/tools/search/match_lines.ts";
import { compileLinePattern } from "../../src/tools/search/pattern.ts";

function found(pattern: string, text: string): number[] {
  const compiled = compileLinePattern(pattern);
  const options = { path: "", contextLines: 0, maxChars: Infinity };
  const lines = matchLines(text, compiled, options)?.lines ?? [];
  assertEquals(anyLineMatches(text, compiled), lines.length > 0);
  return lines.map((line) => Number(line.text.split(":")[1]));
}

const TEXT = [
  'const größe = "naïve"; // 日本語',
  "function foo(a, b) {",
  "  return a_b + interface{};",
  "\tFOO\tbar\r",
  "",
  "x😀y [z] a.b \\ back",
  "ÉTÉ été ﬁ K",
  "foo\u2028bar",
  "last",
].join("\n");

/** Patterns, and the lines of {@linkcode TEXT} that match. */
const ROWS: [pattern: string, lines: number[]][] = [
  ["foo", [2, 8]],
  ["(?i)foo", [2, 4, 8]],
  ["(?i)(?s)FOO.bar", [4]],
  ["(?is)foo.bar", [4]],
  ["foo\\(", [2]],
  ["foo\\(.*\\{", [2]],
  ["foo(?=\\()", [2]],
  ["foo(?!\\()", [8]],
  ["(?<=_)b", [3]],
  ["größe", [1]],
  ["GRÖSSE", []],
  ["(?i)GRÖßE", [1]],
  ["gr.ße", [1]],
  ["na[ïi]ve", [1]],
  ["日.語", [1]],
  ["^x.y", [6]],
  ["x[😀]y", [6]],
  ["x[^a]y", [6]],
  ["\\p{Lu}T\\p{Lu}", [7]],
  ["(?i)été", [7]],
  ["(?i)ÉTÉ É", [7]],
  ["\\p{Script=Han}{3}", [1]],
  ["interface{}", [3]],
  ["a{1}_", [3]],
  ["\\[z\\] a\\.b", [6]],
  ["[.]b", [6]],
  ["\\\\ back", [6]],
  ["[[:upper:]]{3}", [4]],
  ["[[:space:]]bar", [4]],
  ["(?P<word>o+)bar", []],
  ["\\AFOO|\\Alast\\z", [9]],
  ["^$", [5]],
  ["bar$", [4, 8]],
  ["bar\\s", []],
  ["\\s$", []],
  ["\\r$", [4]],
  ["^\\s*return", [3]],
  [".*foo.*", [2, 8]],
  ["^.*?_b", [3]],
  ["\\W\\W\\W$", [1, 2, 3]],
  ["\\{\\s*return", []],
  ["[^x]*return", [3]],
  ["[\\s\\S]*last", [9]],
  ["last\\n", []],
  ["\\n", []],
  ["foo(\\n|\\()", [2]],
  ["(foo|last|return)", [2, 3, 8, 9]],
  ['\\-|\\_|\\"', [1, 3]],
  ['[\\-\\_\\"]', [1, 3]],
  ["\\bfoo\\b", [2, 8]],
  ["(a)\\w\\1|(o)\\2", [2, 8]],
  ["", [1, 2, 3, 4, 5, 6, 7, 8, 9]],
];

Deno.test("patterns", () => {
  for (const [pattern, lines] of ROWS) assertEquals(found(pattern, TEXT), lines, pattern);
});

Deno.test("what is no pattern is refused with the next move", () => {
  const rows = [
    ["foo(", "Unterminated group. To find a literal ( or ) write \\( or \\)"],
    ["foo)", "To find a literal ) write \\)"],
    ["a[b", "To find a literal [ write \\["],
    ["*.ts", "To find a literal * + ? or { put \\ before it"],
    ["a++", "To find a literal * + ? or { put \\ before it"],
    ["a(?i)b", "to ignore case, begin with (?i)"],
    ["(?x)a b", "To find a literal ( or ) write \\( or \\)"],
    ["\\q", "To find a literal backslash write \\\\"],
    ["a\\", "put \\ before each of"],
    ["(".repeat(10_000), "nested over 200 deep"],
  ];
  for (const [pattern, message] of rows) {
    const error = assertThrows(() => compileLinePattern(pattern!), SyntaxError, message);
    assert(error.message.startsWith("Cannot search for"), error.message);
    assert(error.message.length < 600, error.message);
  }
});

Deno.test("a line break in a pattern is told from one in a set", () => {
  const asks = (pattern: string) => compileLinePattern(pattern).asksForBreak;
  assertEquals(["a\\nb", "a\nb", "a[^\\n]b", "[\\r\\n]", "\\s"].map(asks), [
    true,
    true,
    false,
    false,
    false,
  ]);
});

Deno.test("what may take long is told from what can not", () => {
  const takesLong = (pattern: string) => compileLinePattern(pattern).backtracks;
  for (const pattern of ["foo", "foo|bar", "(?i)foo", "\\bfoo\\(", "[a-z]oo", "colou?r", ".*foo"]) {
    assertEquals(takesLong(pattern), false, pattern);
  }
  for (const pattern of ["(a+)+$", "a*", "a{2}", "\\w+x", "(a|a)".repeat(20), "a?".repeat(30)]) {
    assertEquals(takesLong(pattern), true, pattern);
  }
});

/** A sequence of numbers, each below the `n` asked for. */
function random(seed: number): (n: number) => number {
  return (n) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor(seed / 2 ** 32 * n);
  };
}

const ATOMS = [
  ..."abAB.^$é",
  ...["\\s", "\\S", "\\w", "\\W", "\\d", "\\D", "\\b", "\\B", "\\n", "\\(", "\\p{L}", "\\P{L}"],
  ...["[ab]", "[^a]", "[\\s\\S]", "[^\\s]", "[\\W]", "[\\n]", "[^]", "[]", "[\\x00-b]", "[a\\n]"],
  ...["(?=a)", "(?!\\s)", "(?<=a)", "(?<!b)", "(?<![^b])", "😀", "\\u{61}", "\\x61", "(?i:b)"],
];
const QUANTIFIERS = ["", "", "", "*", "+", "?", "+?", "*?", "{2}", "{0,1}", "{1,}", "{0}"];
const PIECES = [..."abAB é_1(", "\n", "\n", "\n", "\r\n", "😀", "aa", "ab", "\t"];

Deno.test("random patterns match the lines that JavaScript matches one by one", () => {
  const below = random(Number(Deno.env.get("FUZZ_SEED") ?? 1));
  const branch = (depth: number): string => {
    let source = "";
    for (let i = below(4); i >= 0; i--) {
      const group = depth < 2 && below(6) === 0;
      const atom = group
        ? `(${below(2) ? "?:" : ""}${branch(depth + 1)})`
        : ATOMS[below(ATOMS.length)]!;
      source += atom;
      if (!/^(?:\^|\$|\\b|\\B|\(\?[=!<].*)$/i.test(atom)) {
        source += QUANTIFIERS[below(QUANTIFIERS.length)];
      }
    }
    return below(5) === 0 ? `${source}|${branch(depth)}` : source;
  };
  let matches = 0;
  for (let i = 0; i < Number(Deno.env.get("FUZZ_RUNS") ?? 3000); i++) {
    const pattern = `${["", "", "", "^", ".*", "^.*", ".*?"][below(7)]}${branch(0)}`;
    let text = "";
    for (let n = below(40); n >= 0; n--) text += PIECES[below(PIECES.length)];
    // An assertion alone matches within a character of two units: a quirk of the engine.
    if (/\(\?<|\\B/.test(pattern)) text = text.replaceAll("😀", "");
    const flags = below(2) ? "i" : "";
    // A line without its end, nothing around it.
    const alone = new RegExp(pattern, `mu${flags}`);
    const lines = text.split("\n");
    if (lines.at(-1) === "") lines.pop();
    const expected = lines.flatMap((line, k) => alone.test(line.replace(/\r$/, "")) ? [k + 1] : []);
    matches += expected.length;
    assertEquals(
      found((flags && "(?i)") + pattern, text),
      expected,
      JSON.stringify([pattern, text]),
    );
  }
  assert(matches > 1000, `${matches} matches: the patterns hardly match anything`);
});

Deno.test("context, and groups that touch", () => {
  const text = Array.from(
    { length: 12 },
    (_, i) => `${"ac".includes("abcdefghijkl"[i]!) || i === 9 ? "hit" : "no"}${i + 1}`,
  ).join("\r\n");
  const show = (contextLines: number) =>
    matchLines(text, compileLinePattern("hit"), { path: "f", contextLines, maxChars: Infinity })!
      .lines.map((line) => line.text).join(" ");
  assertEquals(show(0), "f:1:hit1 f:3:hit3 f:10:hit10");
  assertEquals(show(1), "f:1:hit1 f-2-no2 f:3:hit3 f-4-no4 -- f-9-no9 f:10:hit10 f-11-no11");
  assertEquals(
    show(3),
    "f:1:hit1 f-2-no2 f:3:hit3 f-4-no4 f-5-no5 f-6-no6 f-7-no7 f-8-no8 f-9-no9 f:10:hit10 " +
      "f-11-no11 f-12-no12",
  );
  assertEquals(show(100).split(" ").length, 12);
});

Deno.test("a long line is cut around its match, never within a character", () => {
  const line = "😀".repeat(5000) + "needle" + "😀".repeat(5000);
  for (let shift = 0; shift < 2; shift++) {
    const pattern = compileLinePattern("needle");
    const options = { path: "f", contextLines: 0, maxChars: 1000 };
    const shown = matchLines("x".repeat(shift) + line, pattern, options)!.lines[0]!.text;
    assert(shown.includes("😀needle😀") && shown.isWellFormed(), shown);
    assert(shown.endsWith(`[cut: the line has ${20_006 + shift} characters]`), shown);
    assert(shown.length < 600, shown);
  }
});

Deno.test("matches without room are counted", () => {
  const text = "hit\n".repeat(1000);
  const options = { path: "f", contextLines: 0, maxChars: 100 };
  const { lines, count } = matchLines(text, compileLinePattern("hit"), options)!;
  assertEquals(count, 1000);
  assert(lines.length > 5 && lines.length < 20, `${lines.length}`);
});
