import { assert, assertEquals, assertThrows } from "@std/assert";
import { randomBelow } from "../../../helpers/split.ts";
import { compileLinePattern } from "../../../../src/tools/search/regex/line_pattern.ts";
import { matchLines } from "../../../../src/tools/search/searcher.ts";
import { cpuTime } from "../../../helpers/cpu_time.ts";

const encode = (text: string) => new TextEncoder().encode(text);

function found(pattern: string, text: string | Uint8Array): number[] {
  const options = { path: "", contextLines: 0, maxChars: Infinity };
  const bytes = typeof text === "string" ? encode(text) : text;
  const lines = matchLines(bytes, compileLinePattern(pattern), options)?.lines ?? [];
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
  ["(?i)(?s)FOO.bar", [4, 8]],
  ["(?is)foo.bar", [4, 8]],
  ["(?m)^foo", [8]],
  ["(?i:F)OO", [4]],
  ["f(?i)OO", [2, 8]],
  ["(f(?i)O|x)O", []],
  ["(?i)f(?-i:oo)", [2, 8]],
  ["foo\\(", [2]],
  ["foo\\(.*\\{", [2]],
  ["größe", [1]],
  ["GRÖSSE", []],
  ["(?i)GRÖßE", [1]],
  ["gr.ße", [1]],
  ["na[ïi]ve", [1]],
  ["日.語", [1]],
  ["^x.y", [6]],
  ["x[😀]y", [6]],
  ["x[^a]y", [6]],
  ["x\\u{1f600}y", [6]],
  ["x\\x{1F600}y", [6]],
  ["\\u{10ffff}", []],
  ["x\\ud83d\\ude00y", [6]],
  ["\\p{Lu}T\\p{Lu}", [7]],
  ["\\pLT\\PL", []],
  ["(?i)été", [7]],
  ["(?i)ÉTÉ É", [7]],
  ["(?i)k$", [6, 7]],
  ["(?i)\\bLAſT", [9]],
  ["\\p{Script=Han}{3}", [1]],
  ["\\p{Han}{3}", [1]],
  ["interface{}", [3]],
  ["a{1}_", [3]],
  ["o{2,}\\b", [2, 8]],
  ["o{,1}bar", [4, 8]],
  ["\\[z\\] a\\.b", [6]],
  ["[.]b", [6]],
  ["\\\\ back", [6]],
  ["[[:upper:]]{3}", [4]],
  ["[[:^alnum:]]", [1, 2, 3, 4, 6, 7, 8]],
  ["[[:space:]]bar", [4]],
  ["[[:word:]-]oo", [2, 8]],
  ["r[[:word:]]ß|[[:word:]]_b", [3]],
  ["(?P<word>o+)bar", []],
  ["\\AFOO|\\Alast\\z", [9]],
  ["^$", [5]],
  ["bar$", [4, 8]],
  ["bar\\s", []],
  ["\\s$", []],
  [".$", [1, 2, 3, 4, 6, 7, 8, 9]],
  ["bar[^x]", []],
  ["\\r$", [4]],
  ["bar\\r", [4]],
  ["^\\s*return", [3]],
  [".*foo.*", [2, 8]],
  ["^.*?_b", [3]],
  ["\\{\\s*return", []],
  ["[^x]*return", [3]],
  ["[\\s\\S]*last", [9]],
  ["[\\t-z]bar", [4]],
  ["[\\n\\t]bar", [4]],
  ["[^\\n]bar", [4, 8]],
  ["(foo|last|return)", [2, 3, 8, 9]],
  ['\\-|\\_|\\"', [1, 3]],
  ['[\\-\\_\\"]', [1, 3]],
  ["\\bfoo\\b", [2, 8]],
  ["\\<foo\\>", [2, 8]],
  ["\\Boo\\b", [2, 8]],
  // Letters beyond ASCII are letters.
  ["\\bgr\\b", []],
  ["\\btÉ|\\bt\\b", []],
  ["gr\\we", []],
  ["gr\\w\\we", [1]],
  ["日\\w語", [1]],
  ["\\W日", [1]],
  ["\\W\\s日|[\\W]😀", [1]],
  ["x\\W+y", [6]],
  ["", [1, 2, 3, 4, 5, 6, 7, 8, 9]],
  [`${"(".repeat(200)}foo${")".repeat(200)}|(ab)`, [2, 8]],
];

Deno.test("patterns", () => {
  for (const [pattern, lines] of ROWS) assertEquals(found(pattern, TEXT), lines, pattern);
});

Deno.test("what is no pattern is refused with the next move", () => {
  const rows: [pattern: string, message: string][] = [
    ["foo(", "a ( has no ). To find a literal ( or ) write \\( or \\)"],
    ["foo)", "To find a literal ) write \\)"],
    ["a[b", "To find a literal [ write \\["],
    ["a[]", "To find a literal [ write \\["],
    ["[z-a]", "out of order"],
    ["[[:foo:]]", "there is no such class as [:foo:]"],
    ["[a&&[b]]", "sets of sets"],
    ["*.ts", "To find a literal * + ? or { put \\ before it"],
    ["a|*", "To find a literal * + ? or { put \\ before it"],
    ["a++", "To find a literal * + ? or { put \\ before it"],
    ["a{2}{3}", "To find a literal * + ? or { put \\ before it"],
    ["a{3,2}", "out of order"],
    ["(?x)a b", "To find a literal ( or ) write \\( or \\)"],
    ["(?>a)", "To find a literal ( or ) write \\( or \\)"],
    ["\\T", "\\T is no escape"],
    ["\\q", "To find a literal backslash write \\\\"],
    ["a\\", "To find a literal backslash write \\\\"],
    ["\\p{Nope}", "no such property"],
    ["\\x{110000}", "no character"],
    ["foo(?=\\()", "look-around such as (?=...) is not supported. Search for the rest"],
    ["\\b{start}foo", "\\b{start} is not supported. A word begins at \\< and ends at \\>"],
    ["foo\\b{end-half}", "\\b{end-half} is not supported"],
    ["a(?)", "there is no such group as (?)"],
    ["a(?-)b", "there is no such group as (?-)"],
    ["(?<!_)b", "look-around such as (?<!...) is not supported"],
    ["(a)\\1", "back-references are not supported. Write what it refers to once more"],
    ["(?<q>a)\\k<q>", "back-references are not supported"],
    ["(".repeat(10_000), "nested over 200 deep"],
    [`${"(".repeat(201)}a${")".repeat(201)}`, "nested over 200 deep"],
    ["a{5001}", "more than 5000 places"],
    ["((a{100}){100}){100}", "more than 5000 places"],
    ["((){1000}){1000}", "more than 5000 places"],
  ];
  for (const text of ["a\nb", "a\\nb", "\\x0a", "\\x{A}", "\\u000a", "\\u{a}", "\\cJ", "[\\n]"]) {
    rows.push([text, "it has a line break in it"]);
  }
  rows.push(["(a|\\n)", "it has a line break in it"], ["[\\r\\n]+", "it has a line break in it"]);
  for (const [pattern, message] of rows) {
    const error = assertThrows(() => compileLinePattern(pattern), SyntaxError, message, pattern);
    assert(error.message.startsWith("Cannot search for"), error.message);
    assert(error.message.length < 600, error.message);
  }
});

Deno.test("no pattern takes long on any text", () => { // linear: well below a second each
  const functions = encode("function ".repeat(230_000));
  const letters = encode("a".repeat(2_000_000));
  const rows: [pattern: string, text: Uint8Array][] = [
    ["function.*hello", functions],
    ["(function )+$x", functions],
    [".*.*.*x", letters],
    ["(a+)+$b", letters],
    ["(a|a)*b", letters],
    ["(a|aa)+c", letters],
    ["(.*a){12}x", letters],
    ["(a?){50}a{50}b", letters],
    ["(?i)\\w+\\s*\\b\\w*[^a]", letters],
    ["[ab]_", letters],
    ["a{30}b", letters],
    ["(x+x+)+y", encode("x".repeat(2_000_000))],
    ["é*é*é*x", encode("é".repeat(1_000_000))],
    ["(\\w+)*$^", encode("é".repeat(1_000_000))],
  ];
  for (const [pattern, text] of rows) {
    const start = cpuTime();
    assertEquals(found(pattern, text), [], pattern);
    const ms = cpuTime() - start;
    assert(ms < 10_000, `${pattern}: ${ms}`);
  }
});

/** So many letters a and b, in an order of their own. */
function noise(length: number, seed: number): string {
  const below = randomBelow(seed);
  return Array.from({ length }, () => below(2) ? "a" : "b").join("");
}

Deno.test("many states, dropped and made anew, find the same", () => {
  const lines = Array.from({ length: 150 }, (_, i) => noise(300, i));
  const expected = lines.flatMap((line, i) => /a[ab]{200}$/.test(line) ? [i + 1] : []);
  assertEquals(found("a[ab]{200}$", lines.join("\n")), expected);
  // Every character is of a kind of its own: rows get longer on the way.
  const signs = Array.from({ length: 500 }, (_, i) => String.fromCodePoint(0x4e00 + i)).join("");
  assertEquals(found([...signs].join("?") + "$", `${signs}\nx${signs}\n${signs}x`), [1, 2]);
  assertEquals(found(`^${signs}$`, `${signs}\nx${signs}x\n${signs}`), [1, 3]);
});

Deno.test("what is not UTF-8 counts as a character", () => {
  const bytes = (...parts: (string | number[])[]) =>
    Uint8Array.from(parts.flatMap((part) => typeof part === "string" ? [...encode(part)] : part));
  const rows: [pattern: string, text: Uint8Array, lines: number[]][] = [
    ["a.b", bytes("a", [0xff], "b\n"), [1]],
    ["a[^x]b", bytes("a", [0xe9], "b\n"), [1]],
    // Half a surrogate pair, an overlong form, and a code point beyond the last.
    ["^...$", bytes([0xed, 0xa0, 0x80], "\n", [0xe0, 0x80, 0x80], "\n\ud7ff"), [1, 2]],
    ["^....$", bytes([0xf4, 0x90, 0x80, 0x80], "\n", [0xf4, 0x8f, 0xbf, 0xbf]), [1]],
    ["a\\ufffdb", bytes("a", [0xe9], "b\na\ufffdb"), [1, 2]],
    ["a\\wb", bytes("a", [0xe9], "b\n"), []],
    ["^.$", bytes([0xff], "\n", "é\n", "日\n", "😀\n", [0xe9], "\n"), [1, 2, 3, 4, 5]],
    ["end$", bytes("end", [0xf0, 0x9f], "\nend"), [2]],
    ["\\x00", bytes([0xc0, 0x80], "\n", [0xe0, 0x80, 0x80]), []],
    [".", bytes([0xf0, 0x9f]), [1]],
  ];
  for (const [pattern, text, lines] of rows) assertEquals(found(pattern, text), lines, pattern);
  // The first and the last characters of each number of bytes.
  for (const char of "\0\x7f\x80\u07ff\u0800\ud7ff\ue000\uffff\u{10000}\u{10ffff}") {
    assertEquals(found("^.$", char), [1], char.codePointAt(0)!.toString(16));
  }
});

Deno.test("a search is stopped within its text", () => {
  const rows: [pattern: string, text: Uint8Array][] = [
    ["zzqq", encode("ab".repeat(4_000_000))],
    ["[a-z]*q$", encode("ab".repeat(4_000_000))],
    // The fewer characters, the more work each is.
    ["(a|b)*a(a|b){900}q", encode(noise(10_000, 1))],
  ];
  for (const [pattern, text] of rows) {
    let asked = 0;
    const find = compileLinePattern(pattern, () => ++asked > 3);
    assertThrows(() => find(text, 0), Error, "stopped");
    assertEquals(asked, 4, pattern);
  }
  // Also where it is called again and again, each time for a little.
  let asked = 0;
  const find = compileLinePattern("a", () => ++asked > 3);
  const text = encode("a\n".repeat(1_000_000));
  assertThrows(() => {
    for (let line = find(text, 0); line; line = find(text, line.end + 1));
  });
});

/** Those of {@linkcode PIECES} that are word characters. */
const WORD = "[aAbBé_1ж]";
const [WORD_BEFORE, WORD_AFTER] = [`(?<=${WORD})`, `(?=${WORD})`];
const [NONE_BEFORE, NONE_AFTER] = [`(?<!${WORD})`, `(?!${WORD})`];

/** Atoms, and what they are to JavaScript (with the flags s and v) where that is something else. */
const ATOMS: (string | [ours: string, theirs: string])[] = [
  ..."aabbAB.^$é_-",
  ...["\\s", "\\S", "\\d", "\\D", "\\(", "\\p{L}", "\\P{L}", "😀", "\\u{61}", "\\x61", "(?i:b)"],
  ...["[ab]", "[^a]", "[\\s\\S]", "[^\\s]", "[\\x00-b]", "[^\\D]", "[é-😀]", "[^\\p{L}]"],
  ["\\w", WORD],
  ["\\W", `[^${WORD}]`],
  ["[\\W_]", `[[^${WORD}]_]`],
  ["[^\\W_]", `[^[^${WORD}]_]`],
  ["\\b", `(?:${NONE_BEFORE}${WORD_AFTER}|${WORD_BEFORE}${NONE_AFTER})`],
  ["\\B", `(?:${NONE_BEFORE}${NONE_AFTER}|${WORD_BEFORE}${WORD_AFTER})`],
  ["\\<", `(?:${NONE_BEFORE}${WORD_AFTER})`],
  ["\\>", `(?:${WORD_BEFORE}${NONE_AFTER})`],
];
const QUANTIFIERS = ["", "", "", "*", "+", "?", "+?", "*?", "{2}", "{0,1}", "{1,}", "{0}", "{1,3}"];
const PIECES = [..."abAB é_1(-ж", "\n", "\n", "\n", "\r\n", "\r", "😀", "aa", "ab", "\t"];

Deno.test("random patterns match the lines that JavaScript matches one by one", () => {
  const below = randomBelow(Number(Deno.env.get("FUZZ_SEED") ?? 1));
  const branch = (depth: number): [ours: string, theirs: string] => {
    let [ours, theirs] = ["", ""];
    for (let i = below(4); i >= 0; i--) {
      let atom: string | [string, string] = ATOMS[below(ATOMS.length)]!;
      if (depth < 2 && below(6) === 0) {
        const open = below(2) ? "(?:" : "(";
        const inner = branch(depth + 1);
        atom = [`${open}${inner[0]})`, `${open}${inner[1]})`];
      }
      const [mine, other] = typeof atom === "string" ? [atom, atom] : atom;
      const repeat = /^(?:\^|\$|\\[bB<>])$/.test(mine)
        ? ""
        : QUANTIFIERS[below(QUANTIFIERS.length)];
      ours += mine + repeat;
      theirs += other + repeat;
    }
    if (below(5) > 0) return [ours, theirs];
    const more = branch(depth);
    return [`${ours}|${more[0]}`, `${theirs}|${more[1]}`];
  };
  let matches = 0;
  for (let i = 0; i < Number(Deno.env.get("FUZZ_RUNS") ?? 1200); i++) {
    const start = ["", "", "", "^", ".*", "^.*", ".*?"][below(7)]!;
    const [ours, theirs] = branch(0).map((source) => start + source);
    let text = "";
    for (let n = below(40); n >= 0; n--) text += PIECES[below(PIECES.length)];
    const flags = below(2) ? "i" : "";
    // A line without its end, nothing around it.
    const alone = new RegExp(theirs!, `sv${flags}`);
    const lines = text.split("\n");
    if (lines.at(-1) === "") lines.pop();
    const expected = lines.flatMap((line, k) => alone.test(line.replace(/\r$/, "")) ? [k + 1] : []);
    matches += expected.length;
    const mine = (flags && "(?i)") + ours;
    assertEquals(found(mine, text), expected, JSON.stringify([mine, theirs, text]));
  }
  assert(matches > 1000, `${matches} matches: the patterns hardly match anything`);
});
