import { assertEquals } from "@std/assert";
import type { SimpleCommand } from "../../../src/safety/shell/lexer.ts";
import { parseCommandLine } from "../../../src/safety/shell/parser.ts";

/** `NAME=VALUE word ~pattern $dynamic >target`, each word in brackets. */
function shown({ assignments, words, redirections }: SimpleCommand): string {
  const sign = { literal: "", pattern: "~", dynamic: "$" };
  return [
    ...assignments.map(({ name, value }) => `${name}=${sign[value.kind]}${value.text}`),
    ...words.map(({ kind, text }) => `${sign[kind]}[${text}]`),
    ...redirections.map(({ operator, target }) => `${operator}${sign[target.kind]}${target.text}`),
  ].join(" ");
}

const good: [line: string, commands: string[]][] = [
  ["", []],
  ["# only this", []],
  ["a b  c\td", ["[a] [b] [c] [d]"]],
  ["a 'b c' \"d e\" f\\ g ''", ["[a] [b c] [d e] [f g] []"]],
  ["a\"b\"'c'\\d", ["[abcd]"]],
  ["a $'b\\tc\\'\\x41\\101'", ["[a] [b\tc'AA]"]],
  ["a $'\\x01\\x7e' $'\\x7f' $'\\x80'", ["[a] [\x01~] [\x7f] $[$'\\x80']"]],
  ["a $'\\u41' $'\\0'", ["[a] $[$'\\u41'] $[$'\\0']"]],
  ['a "$\'b\'" "c $"', ["[a] [$'b'] [c $]"]],
  ["a;b&c&&d||e|f|&g\nh", ["[a]", "[b]", "[c]", "[d]", "[e]", "[f]", "[g]", "[h]"]],
  ["a#b #c", ["[a#b]"]],
  ["a \\\n b", ["[a] [b]"]],
  ["a \\\n\\\n b", ["[a] [b]"]],
  ["A=1 B+='x y' c D=2", ["A=1 B=x y [c] [D=2]"]],
  ['a $x "$y" ${z} $1 $', ["[a] $[$x] $[$y] $[${z}] $[$1] [$]"]],
  ["a * b? [c] {d,e} ~/f HEAD~1 {} [", "[a] ~[*] ~[b?] ~[[c]] ~[{d,e}] ~[~/f] [HEAD~1] [{}] [[]"],
  ["a $(b $(c) `d`)", ["[c]", "[d]", "[b] $[$(c)] $[`d`]", "[a] $[$(b $(c) `d`)]"]],
  ["a <(b) >(c)", ["[b]", "[c]", "[a] $[<(b)] $[>(c)]"]],
  ["a \"x $(b 'y)')\"", ["[b] [y)]", "[a] $[x $(b 'y)')]"]],
  ["a `b \\`c\\``", ["[c]", "[b] $[`c`]", "[a] $[`b \\`c\\``]"]],
  ["a >b 2>>c 3<d <>e &>f >|g 2>&1 <&-", ["[a] >b >>c <d <>e &>f >|g >&1 <&-"]],
  ["a 2 >b 2x>c", ["[a] [2] [2x] >b >c"]],
  ["a <<<'b c'", ["[a] <<<b c"]],
  ["a <<E | b\nx $y\nE\nc", ["[a] <<$x $y\n", "[b]", "[c]"]],
  ["a <<'E'\n$(x)\n E\nE", ["[a] <<$(x)\n E\n"]],
  ["a <<-\\E <<F\n\tx\n\tE\ny\nF\n", ["[a] <<-x\n <<y\n"]],
  ["a <<E\n$(b) \\$(c)\nE", ["[a] <<$$(b) \\$(c)\n", "[b]"]],
  ["(a; (b))", ["[a]", "[b]"]],
  ["{ a; } >b", ["[a]", ">b"]],
  ["! time -p -- a", ["[time] $[]", "[a]"]],
  ["if a; then b; elif c; then d; else e; fi", ["[a]", "[b]", "[c]", "[d]", "[e]"]],
  ["while a; do b; done <c", ["[a]", "[b]", "<c"]],
  ["for x in a $(b); do c $x; done", ["[b]", "x=$ x=a x=$$(b)", "[c] $[$x]"]],
  ["for x; do c; done", ["x=$", "[c]"]],
  ["case $x in (a|b) c;; *) d;& e) esac", ["[c]", "[d]", "[case] $[$x] [a] [b] ~[*] [e]"]],
  ["f() { a; }; function g { b; }; f () (c)", [
    ...["[function] [f]", "[a]", "[function] [g]", "[b]", "[function] [f]", "[c]"],
  ]],
  ["[[ -f a && $b == c ]] && d", ["[[[] [-f] [a] $[$b] [==] [c]", "[d]"]],
  ["a do then } in", ["[a] [do] [then] [}] [in]"]],
  ["\\if a", ["[if] [a]"]],
  ["a é", ["[a] $[é]"]],
  ["a 'é'", ["[a] [é]"]],
  ["a $'\\x01\\x7f\\177'", ["[a] [\x01\x7f\x7f]"]],
  ["a $'\\x80'", ["[a] $[$'\\x80']"]],
  ["a $'\\0'", ["[a] $[$'\\0']"]],
  ["a $'\\x00'", ["[a] $[$'\\x00']"]],
  ['a $\\b "$\\a"', ["[a] [$b] [$\\a]"]],
  ["# \u2028 '\na", ["[a]"]],
].map(([line, commands]) => [line, typeof commands === "string" ? [commands] : commands]) as [
  string,
  string[],
][];

for (const [line, commands] of good) {
  Deno.test(`parseCommandLine: ${line.replaceAll("\n", "\\n")}`, () => {
    const parsed = parseCommandLine(line);
    assertEquals(parsed.ok ? parsed.commands.map(shown) : parsed.reason, commands);
  });
}

const bad: [line: string, reason: string][] = [
  // bash runs `touch c`, and `touch d`.
  ["<&-touch c", "the word after <& is not plain"],
  ["a >&'$(touch d)'", "the word after >& is not plain"],
  ['a >& "b"', "the word after >& is not plain"],
  ["a 2>&$b", "the word after >& is not plain"],
  ["a 2>&1-", "the word after >& is not plain"],
  ["a 'b", "a quote is not closed"],
  ['a "b', "a quote is not closed"],
  ["a `b", "a backquote is not closed"],
  ["a $(b", "a bracket or case is not closed"],
  ["a)", "a bracket is closed that is not open"],
  ["a (b)", "a bracket is in a word or after one"],
  ["a @(b)", "a bracket is in a word or after one"],
  ["a=(b c)", "a bracket is in a word or after one"],
  ["a[1]=b", "it sets an element of an array"],
  ["a <<E\nb", "the here-document E has no end"],
  ["a <<E", "a here-document has no text"],
  ["a <<E 'b\nc'\nE", "a here-document starts inside of a word"],
  ["a <<$x\n$x", "a here-document has an unusual delimiter"],
  ["a <<E\nb\\\nE\nE", "a here-document continues a line"],
  ["a $(b <<E\nE\n)", "a here-document is in a substitution"],
  ["((a))", "it has arithmetic"],
  ["a $((b + $c))", "it has arithmetic"],
  ["a $[b]", "it has arithmetic"],
  ["a ${ b; }", "${ } has no name"],
  ["a ${b:-'}'}", "${ } has quotes or brackets"],
  ["a\\\nb", "a line is continued inside of a word"],
  ["a &\\\n& b", "a line is continued inside of a word"],
  ["a \\", "it ends in a backslash"],
  ["a {b}>c", "a redirection follows {b}"],
  [">a time b", "a keyword follows a redirection"],
  ["coproc a", "coproc is not supported"],
  ["[[ a =~ b ]]", "[[ ]] contains a regular expression"],
  ["a \r", "it has control characters"],
  ["a\0b", "it has control characters"],
  ['a "$\\\nb"', "a line is continued inside of a word"],
  ["a $\\\nb", "a line is continued inside of a word"],
  ['a "`b \\"c`"', "backquotes in quotes contain quotes"],
  ["case a b) c;; esac", "case has no word in"],
  ["case a in b c;; esac", "a pattern of case has no end"],
  ["for 1 in a; do b; done", "a loop has no plain variable"],
  ["a ".repeat(20_000), "it is longer than 20000 characters"],
];

for (const [line, reason] of bad) {
  Deno.test(`parseCommandLine does not understand: ${JSON.stringify(line.slice(0, 40))}`, () => {
    const parsed = parseCommandLine(line);
    assertEquals(parsed.ok || parsed.reason, reason);
  });
}

Deno.test("parseCommandLine reads up to its limits, and no further", () => {
  const read = (text: string) => {
    const parsed = parseCommandLine(text);
    return parsed.ok || parsed.reason;
  };
  const nested = "it is nested more than 20 deep";
  const rows: [make: (n: number) => string, most: number, reason: string][] = [
    [(n) => "a".repeat(n), 20_000, "it is longer than 20000 characters"],
    [(n) => "a;".repeat(n), 200, "it has more than 200 commands"],
    [(n) => `${"( ".repeat(n)}a${")".repeat(n)}`, 20, nested],
    [(n) => `a ${"$(b ".repeat(n)}${")".repeat(n)}`, 20, nested],
    [(n) => `a ${"${b:-".repeat(n)}${"}".repeat(n)}`, 20, nested],
  ];
  for (const [make, most, reason] of rows) {
    assertEquals([read(make(most)), read(make(most + 1))], [true, reason], make(1));
  }
});
