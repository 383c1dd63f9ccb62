import { assertEquals, assertThrows } from "@std/assert";
import { globToRegex } from "../../src/text/glob.ts";
import { posixTest } from "../helpers/test_unless.ts";

const rows: [pattern: string, matches: string[], others: string[]][] = [
  ["a.ts", ["a.ts"], ["a-ts", "xa.ts", "a.tsx", "dir/a.ts", "a.ts\n", "A.ts"]],
  ["", [""], ["a"]],
  ["*", ["", "a", ".hidden", "a\nb", "日本"], ["/", "a/b"]],
  ["*.ts", [".ts", "a.ts", "a.b.ts"], ["a.js", "a/b.ts", "a.ts/"]],
  ["a*c", ["ac", "abc", "abcbc"], ["a/c", "abcb"]],
  ["?", ["a", "日", "😀", "\n"], ["", "/", "ab"]],
  ["a?c", ["abc"], ["ac", "a/c"]],
  ["**", ["", "a", "a/b/.c", "/", "a\nb"], []],
  ["**/*.ts", ["a.ts", "a/b.ts", "a/b/c.ts", "/a.ts", ".git/a.ts"], ["a.ts/b", "ats"]],
  ["**/a", ["a", "x/a", "x/y/a"], ["xa", "x/ya", "a/b"]],
  ["a/**", ["a/", "a/b", "a/b/c"], ["a", "ab", "xa/b"]],
  ["a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["ab", "a/xb", "a/b/c", "axb"]],
  ["/**/b", ["/b", "/x/b"], ["b", "/xb"]],
  ["**/**/**/b", ["b", "x/b", "x/y/z/w/b"], ["xb"]],
  ["a**b", ["ab", "axb", "a/x/y/b", "a/b"], ["a/bc"]],
  ["a**/b", ["a/b", "ax/y/b"], ["ab"]],
  ["***", ["", "a/b"], []],
  ["*a*b", ["ab", "xaxb", "aab"], ["a/b", "ba", "abx"]],
  ["*a*/*b", ["a/b", "xax/xb"], ["a/x/b", "x/b"]],
  ["**a*b", ["ab", "x/aab", "a/a/axb"], ["a/b", "x/a/x/b"]],
  ["**a*b**c*d", ["abcd", "a/ab/x/cd", "abab/ccd"], ["a/bcd", "abc/d"]],
  ["**/a*/**/b", ["a/b", "x/ax/y/b"], ["xa/b", "a/xb"]],
  ["*.{ts,js}", ["a.ts", "a.js"], ["a.tsx", "a.", "a.{ts,js}"]],
  ["{a,b/**/c,*}d", ["ad", "b/cd", "b/x/cd", "xd", "d"], ["x/d"]],
  ["{a,{b,c}{d,}}", ["a", "b", "c", "bd", "cd"], ["ad", "d"]],
  ["{a}", ["{a}"], ["a"]],
  ["{{x.y}}/*", ["{{x.y}}/a"], ["x.y/a", "{x.y}/a"]],
  ["a{,b}", ["a", "ab"], []],
  ["{*,a}*", ["", "a", "aaa"], ["a/"]],
  ["[abc]", ["a", "c"], ["d", "", "ab", "[abc]"]],
  ["[!a-c]", ["d", "日"], ["a", "/", ""]],
  ["[^a]", ["b"], ["a", "/"]],
  ["[a^]", ["a", "^"], ["b"]],
  ["[+-0]", [".", "0"], ["/"]],
  ["[[:digit:]x]", ["5", "x"], ["a", ":"]],
  ["[]a]", ["]", "a"], ["b"]],
  ["[a\\]]", ["]", "a"], ["\\"]],
  ["[a-]", ["a", "-"], ["b"]],
  // What has no partner or makes no sense is literal.
  ["[a", ["[a"], ["a"]],
  ["a]", ["a]"], []],
  ["[z-a]", ["z"], ["a", "[z-a]"]],
  ["[a/b]", ["[a/b]"], ["a"]],
  ["{a,b", ["{a,b"], ["a", "b"]],
  ["a,b}", ["a,b}"], ["a"]],
  ["{a,{b,c}", ["{a,b", "{a,c"], ["a"]],
  ["}{", ["}{"], []],
  ["a\\", ["a\\"], ["a"]],
  // Escapes, and signs of regular expressions.
  ["\\*\\?\\[a]\\{b,c}", ["*?[a]{b,c}"], ["xx[a]b"]],
  ["\\a", ["a"], ["\\a"]],
  ["a.b+c(d)|e^f$", ["a.b+c(d)|e^f$"], ["axb+c(d)|e^f$", "e^f$"]],
  ["!(a)", ["!(a)"], ["b"]],
  ["a/", ["a/"], ["a"]],
  ["./a", ["./a"], ["a"]],
];

for (const [pattern, matches, others] of rows) {
  Deno.test(`globToRegex: ${pattern}`, () => {
    const regex = globToRegex(pattern);
    assertEquals(matches.filter((path) => !regex.test(path)), [], `should match ${regex}`);
    assertEquals(others.filter((path) => regex.test(path)), [], `should not match ${regex}`);
  });
}

/** Patterns that bash expands to the same names as we do. */
const BRACES = [
  ..."{a} {{a}} {{a,b}} {a,{b}} {a,{b,c} {a,b}} {{},a} {,}x {a,b a,b} }{ {} {{x}}/{a,b} a{a,}"
    .split(" "),
  ..."{a{b,c} {a}{b,c} {a,b{c} {{a},b} {{a,b},c} {a},{b} {a,{b},c} {{a},{b}} {a,b}{c}".split(" "),
  ..."x{{y}z,w} {a,b}}c} {{{a,b}}} {a,{},b} {a}} {{a} {}{a,b} {{a}b,c}d} {}}".split(" "),
  ...["a{,b}{c,d}e", "{a\\,b}", "\\{a,b}", "{a,b\\}", "{a\\},b}"],
];

posixTest("globToRegex: braces are those of bash", async () => {
  const names: string[][] = [];
  for (const pattern of BRACES) {
    const args = ["-fc", `printf '%s\\n' ${pattern}`];
    const { stdout } = await new Deno.Command("bash", { args }).output();
    names.push(new TextDecoder().decode(stdout).trimEnd().split("\n"));
  }
  const all = new Set([...names.flat(), ...BRACES, "a", "b", "c", "x"]);
  for (const [i, pattern] of BRACES.entries()) {
    const regex = globToRegex(pattern);
    const ours = [...all].filter((name) => regex.test(name));
    assertEquals(ours.sort(), [...new Set(names[i])].sort(), `${pattern}: ${regex}`);
  }
});

Deno.test("globToRegex agrees with a matcher that tries every way", () => {
  const parts = ["a", "b", "/", "?", "*", "**", "**/"];
  const paths = words(["a", "b", "/"], 5);
  for (const pattern of words(parts, 4)) {
    const [regex, other] = [globToRegex(pattern), naive(pattern)];
    for (const path of paths) {
      if (regex.test(path) === other.test(path)) continue;
      assertEquals(regex.test(path), other.test(path), `${pattern} on ${path}: ${regex}`);
    }
  }
});

function words(parts: string[], upTo: number): string[] {
  let last = [""];
  const all = new Set(last);
  for (let n = 0; n < upTo; n++) {
    last = last.flatMap((word) => parts.map((part) => word + part));
    for (const word of last) all.add(word);
  }
  return [...all];
}

function naive(pattern: string): RegExp {
  const source = pattern.replace(/(^|\/)(?:\*\*+\/)+|\*+|\?/g, (text, before) => {
    if (before !== undefined) return `${before}(?:.*/)?`;
    return text === "?" ? "[^/]" : text === "*" ? "[^/]*" : ".*";
  });
  return new RegExp(`^${source}$`);
}

Deno.test("globToRegex: no pattern takes for ever", () => {
  const long = "a".repeat(1_000_000);
  for (const pattern of ["*a*a*a*a*a*a*b", "**a**a**a**a**b", "{*a,*b}*{*a,*b}*{*a,*b}*c"]) {
    assertEquals(globToRegex(pattern).test(long), false, pattern);
  }
  const deep = "a/".repeat(2000);
  for (const pattern of ["**/**/**/**/b", "**/a/**/a/**/a/**/b", "**/*a*/**/*a*/**/*a*b"]) {
    assertEquals(globToRegex(pattern).test(deep), false, pattern);
  }
  assertEquals(globToRegex("**a*a*a*a*b").test("a".repeat(4096)), false);
});

Deno.test("globToRegex: a pattern of any shape up to the limit, an error beyond", () => {
  for (const sign of ["[", "{", "*", "a", "?", "*a", "**/", "[a]", "\\", "{a}", "[!", "]", ","]) {
    globToRegex(sign.repeat(5_000 / sign.length)).test("");
  }
  globToRegex("{".repeat(2_500) + "}".repeat(2_500));
  assertThrows(() => globToRegex("a".repeat(5_001)), RangeError, "at most 5000 characters");
  assertThrows(() => globToRegex("{a,b}".repeat(20)), RangeError, "at most 5000 characters");
});
