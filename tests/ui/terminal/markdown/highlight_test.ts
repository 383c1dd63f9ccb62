import { assertEquals } from "@std/assert";
import { highlighter } from "../../../../src/ui/terminal/markdown/highlight.ts";
import {
  ADDED,
  COMMENT,
  DIM,
  KEYWORD,
  NUMBER,
  REMOVED,
  STRING,
  type Style,
} from "../../../../src/ui/terminal/style.ts";

const NAMES = new Map<Style, string>([
  [KEYWORD, "k"],
  [STRING, "s"],
  [NUMBER, "n"],
  [COMMENT, "c"],
  [ADDED, "+"],
  [REMOVED, "-"],
  [DIM, "d"],
  [0, ""],
]);

/** Styled text as `k{const}`. */
function mark(text: string, style: Style): string {
  return style === 0 || text === "" ? text : `${NAMES.get(style)}{${text}}`;
}

const rows: [language: string, code: string, expected: string][] = [
  ["", "const a = 1", "const a = 1"],
  ["klingon", "const a = 1", "const a = 1"],
  ["ts", "const a = 1.5e3; // b 'c'", "k{const} a = n{1.5e3}; c{// b 'c'}"],
  ["TypeScript", "let π = 0xFF_n", "k{let} π = n{0xFF_n}"],
  ["js", "a[\"x\\\"y\"] + 'it\\'s'", "a[s{\"x\\\"y\"}] + s{'it\\'s'}"],
  ["js", '"open\nconst', 's{"open}\nk{const}'],
  ["js", "/* a\n\nb */ return /* c */ d", "c{/*}c{ a}\n\nc{b */} k{return} c{/*}c{ c */} d"],
  ["js", "`a ${b}\n\\` c` if", "s{`}s{a ${b}}\ns{\\` c`} k{if}"],
  ["js", "constant a1 $if", "constant a1 $if"],
  ["json", '{"a": [1, true]}', '{s{"a"}: [n{1}, k{true}]}'],
  ["py", 'def f(): """a\n# b\n""" # c', 'k{def} f(): s{"""}s{a}\ns{# b}\ns{"""} c{# c}'],
  ["python", "x = 'a' # \"b\"", "x = s{'a'} c{# \"b\"}"],
  ["elixir", 'if """a\nif\n"""', 'k{if} s{"""}s{a}\ns{if}\ns{"""}'],
  ["rb", "'''\nif", "s{''}s{'}\nk{if}"],
  ["sh", "if [ $# -gt 1 ]; then # a", "k{if} [ $# -gt n{1} ]; k{then} c{# a}"],
  ["bash", "echo 'a\\' \"b $c\"", "k{echo} s{'a\\'} s{\"b $c\"}"],
  [
    "rust",
    "fn f<'a>(x: &'a str) { 'b'; '\\n' }",
    "k{fn} f<'a>(x: &'a k{str}) { s{'b'}; s{'\\n'} }",
  ],
  ["c", "int x = 1'000; char c = 'x';", "k{int} x = n{1}'n{000}; k{char} c = s{'x'};"],
  ["go", "func a() { b := `c\nd` }", "k{func} a() { b := s{`}s{c}\ns{d`} }"],
  ["sql", "SELECT 'it''s' from t -- x", "k{SELECT} s{'it''s'} k{from} t c{-- x}"],
  ["yaml", "a: true # b\nc: it's#d", "a: k{true} c{# b}\nc: it's#d"],
  [
    "html",
    '<a href="b">it\'s</a> <!-- c\nd -->',
    '<a href=s{"b"}>it\'s</a> c{<!--}c{ c}\nc{d -->}',
  ],
  ["css", "a { b: url(http://c) } /* d */", "a { b: url(http://c) } c{/*}c{ d */}"],
  ["lua", "--[[ a\nb ]] local c -- d", "c{--[[}c{ a}\nc{b ]]} k{local} c c{-- d}"],
  [
    "diff",
    "--- a\n+++ b\n@@ -1 +1 @@\n-c\n+d\n e",
    "d{--- a}\nd{+++ b}\nn{@@ -1 +1 @@}\n-{-c}\n+{+d}\n e",
  ],
];

Deno.test("highlight: comments, strings, numbers, keywords", () => {
  for (const [language, code, expected] of rows) {
    const highlight = highlighter(language, mark);
    assertEquals(code.split("\n").map(highlight).join("\n"), expected);
    for (const [other] of rows) {
      const lines = code.split("\n").map(highlighter(other, (text) => text));
      assertEquals(lines.join("\n"), code, other);
    }
  }
});
