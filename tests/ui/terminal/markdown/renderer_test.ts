import { assert, assertEquals } from "@std/assert";
import { MarkdownRenderer } from "../../../../src/ui/terminal/markdown/renderer.ts";
import type { Appearance } from "../../../../src/ui/terminal/style.ts";
import { asciiSign } from "../../../../src/text/signs.ts";
import { displayWidth } from "../../../../src/text/width.ts";
import { forEveryTextSplit, randomTexts, seeded } from "../../../helpers/split.ts";

function render(
  pieces: string[],
  columns: number,
  colors: Appearance["colors"],
  unicode: boolean,
): string {
  const renderer = new MarkdownRenderer({ colors, unicode }, columns);
  const shown = pieces.map((piece) => renderer.push(piece)).join("") + renderer.end();
  if (unicode) return shown;
  const quoted = shown.replace(
    /^(?:• | {0,2})(?:│ )*│(?: |$)/gm,
    (bars) => bars.replaceAll("│", ">"),
  );
  return quoted.replace(/[│─═┼╪•]/g, asciiSign);
}

/** Styles as `<1;4>...</>`. */
function tagged(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replaceAll("\x1b[m", "</>").replace(/\x1b\[([\d;]+)m/g, "<$1>");
}

type Row = [markdown: string, columns: number, lines: string | string[]];

function check(rows: Row[], colors: Appearance["colors"], unicode: boolean): void {
  for (const [markdown, columns, lines] of rows) {
    const whole = render([markdown], columns, colors, unicode);
    assertEquals(tagged(whole), [lines].flat().map((line) => `${line}\n`).join(""), markdown);
    forEveryTextSplit(markdown, (pieces) => {
      assertEquals(render(pieces, columns, colors, unicode), whole, JSON.stringify(pieces));
    });
  }
}

const table = "| a | Number | 说明 |\n|---|---:|:-:|\n| `x|y` | 1 | 中 |\n|z\\|z|22|**b** c|\n";

Deno.test("markdown: blocks, without colours, in ASCII (TTY-09)", () => {
  check(
    [
      ["", 40, []],
      ["\n \n\n", 40, []],
      ["plain", 40, "plain"],
      ["two\nlines\r\nthree\n", 40, "two\nlines\nthree"],
      ["\n\na\n\n\n\nb\n\n", 40, "a\n\nb"],
      // Headings
      ["# One\n## Two ##\n####### seven\n#no", 40, "# One\n## Two\n####### seven\n#no"],
      ["text\n### C# and F#\n#\n# #", 40, "text\n### C# and F#\n#\n#"],
      ["#    a  b", 20, "# a  b"],
      ["## a heading that is too long", 20, "## a heading that is\ntoo long"],
      // Rules
      [
        "a\n---\nb\n***\n_ _ _\n--\n==\n",
        20,
        "a\n--------------------\nb\n--------------------\n--------------------\n--\n--------------------",
      ],
      ["== no\n-5 degrees\n+1\n*", 20, "== no\n-5 degrees\n+1\n-"],
      ["-".repeat(256), 300, ["-".repeat(300)]],
      ["-".repeat(257), 300, ["-".repeat(257)]],
      // Lists
      ["* a\n* b\n+ c\n- d", 20, "- a\n- b\n- c\n- d"],
      ["- one two three four five six", 20, "- one two three four\n  five six"],
      [
        "9. a\n10. b c d e f g h i j k l m\n1) x",
        20,
        "9. a\n10. b c d e f g h i\n    j k l m\n1) x",
      ],
      ["1. a\n  - b\n    - c\n- d", 20, "1. a\n   - b\n     - c\n- d"],
      ["- a\n    - b\n- c\n\n  more\n\nout", 20, "- a\n  - b\n- c\n\n  more\n\nout"],
      ["- a\nlazy\n  and more\n- b", 20, "- a\n  lazy\n  and more\n- b"],
      ["- - a\n  - b\n-\n- c", 20, "- - a\n  - b\n-\n- c"],
      [
        "- [ ] to do\n- [x] done\n- [X] too\n- [y] no\n- [ ]\n[ ] no",
        20,
        "[ ] to do\n[x] done\n[x] too\n- [y] no\n[ ] [ ] no",
      ],
      ["- - a\n\n       b\n\n        c", 40, "- - a\n\n    b\n\n        c"],
      ["a\n\n-\n\n  b", 40, "a\n\n-\n  b"],
      ["1234567. a b", 8, "1234567. a\n         b"],
      ["- \t- a\n\n      b", 40, "- - a\n\n    b"],
      ["1234567890. text\n1.text\n1.", 20, "1234567890. text\n1.text\n1."],
      ["[ ] no", 40, "[ ] no"],
      ["12", 40, "12"],
      // Quotations
      [
        "> a b c d e f g h i j k l\n> m\nlazy\n\nout",
        20,
        "> a b c d e f g h i\n> j k l\n> m\n> lazy\n\nout",
      ],
      ["> a\n>\n> - b\n>   - c\n> > d\n\n>e", 20, "> a\n>\n> - b\n>   - c\n> > d\n\n> e"],
      ["> ```\n> a\n\nout", 20, "```\na\n\nout"],
      ["> > ```\n> > a\n> > ```\nb", 20, "```\na\n```\nb"],
      ["- > a\n  > b\n- c", 20, "- > a\n  > b\n- c"],
      // Code: as it is, from the first column on, never wrapped
      ["a\n```ts\nconst a = 1;\n\n\tb  \n```\nc", 20, "a\n```ts\nconst a = 1;\n\n\tb  \n```\nc"],
      ["~~~\n```\n**a**\n~~~~ \n", 20, "~~~\n```\n**a**\n~~~~"],
      ["````md\n```\n````", 20, "````md\n```\n````"],
      ["```\nopen", 20, "```\nopen"],
      ["```\nopen\n", 20, "```\nopen"],
      // A tab goes to the next multiple of four columns
      ["1. - ```\n\t a\n  \t b\n     ```", 20, "1. -\n```\na\nb\n```"],
      ["```\n" + "x".repeat(50) + "\n```", 20, ["```", "x".repeat(50), "```"]],
      ["```a``` b\n``c``", 20, "```a``` b\n``c``"],
      ["1. a\n   ```\n   b\n     c\n  d\n   ```\n2. e", 20, "1. a\n```\nb\n  c\nd\n```\n2. e"],
      ["- ```\n  a\n  ```", 20, "-\n```\na\n```"],
      [
        "> ```\n> a\n>  b\n>\n> ```\n> c\n> ```\n> d\nout",
        20,
        "```\na\n b\n\n```\n> c\n```\nd\nout",
      ],
      ["   a", 40, "a"],
      ["a\n\n    code  *x*\n\tmore\n\nb\n    c", 20, "a\n\n    code  *x*\n    more\n\nb\nc"],
      [">     a\n>\n>    b", 40, "    a\n>\n> b"],
      [
        "<div>\n  <b>x</b> &lt;&amp;&unknown; &\n</div>",
        30,
        "<div>\n<b>x</b> <&&unknown; &\n</div>",
      ],
    ],
    "none",
    false,
  );
});

Deno.test("markdown: inlines, without colours", () => {
  check(
    [
      ["*a* **b** ***c*** _d_ __e f__ ~~g~~ `h`", 40, "a b c d e f ~~g~~ `h`"],
      [
        "snake_case_name __init__ 2*3*4 a * b ** c *",
        60,
        "snake_case_name __init__ 2*3*4 a * b ** c *",
      ],
      ["**kwargs and *args\n\nb*", 40, "**kwargs and *args\n\nb*"],
      ["**a\nb** c", 40, "a\nb c"],
      ["*aaaa\nbbbb c*", 8, "aaaa\nbbbb c"],
      ["*a **b* c***", 40, "a b c*"],
      ["*a**b* **c*d** *e***f**", 40, "a**b c*d ef"],
      ["*a __b* c__", 40, "a __b c__"],
      ["**bold *both*** and *it **both***", 40, "bold both and it both"],
      ["**“引用”**文字 **中**文", 40, "“引用”文字 中文"],
      ["中_文_字 中*文*字", 40, "中_文_字 中文字"],
      ["~5 and ~6, ~~~7~~~", 40, "~5 and ~6, ~~~7~~~"],
      ["``a ` b`` ` `` ` `c", 40, "``a ` b`` ```` `c"],
      ["`*a*` *`b*` c*", 40, "`*a*` `b*` c"],
      ["\\*a\\* C:\\dir \\\\ a\\\nb\\", 40, "*a* C:\\dir \\ a\nb\\"],
      ["[a](b) [c](<d e> 'title') ![e](f.png) [](g)", 60, "a (b) c (d e) e (f.png) g"],
      [
        "[https://x.y](https://x.y) [x.y](https://x.y/) [a@b.c](mailto:a@b.c)",
        60,
        "https://x.y x.y a@b.c",
      ],
      ["[`f.ts`](f.ts) [**b**](c) *[d](e_f_)*", 60, "`f.ts` b (c) d (e_f_)"],
      ["[a](b(c(d))) [a](b(c(d(e)))) [a]()", 60, "a (b(c(d))) [a](b(c(d(e)))) a"],
      ["[a](b\nc)", 60, "[a](b\nc)"],
      [
        "[wiki](https://x/a_(b)) [a] [b](c d) a[0](1",
        60,
        "wiki (https://x/a_(b)) [a] [b](c d) a[0](1",
      ],
      ["https://x.y\n_a_ b", 60, "https://x.y\na b"],
      ["https://x/_a_/__b__/*c*d **https://x/_y**", 60, "https://x/_a_/__b__/*c*d https://x/_y"],
      ["<https://x.y> a@b.c", 40, "<https://x.y> a@b.c"],
      ["a  b   c\td", 40, "a  b   c d"],
      [`*${"a ".repeat(199)}b* c`, 500, [`${"a ".repeat(199)}b c`]],
      [`*${"a ".repeat(201)}b* c`, 500, [`*${"a ".repeat(201)}b* c`]],
      [`${"*".repeat(70)}a`, 80, [`${"*".repeat(70)}a`]],
      [`${"*".repeat(63)}a${"*".repeat(63)}`, 200, "a"],
      [`${"*".repeat(65)}a${"*".repeat(65)}`, 200, [`${"*".repeat(64)}a${"*".repeat(64)}`]],
      [`${"*".repeat(64)}a${"*".repeat(64)}`, 200, [`${"*".repeat(64)}a${"*".repeat(64)}`]],
    ],
    "none",
    false,
  );
});

Deno.test("markdown: styles, closed at the end of each word", () => {
  check(
    [
      ["# A *b*\n## c", 40, "<1;4;36>A</><1;4;36> </><1;3;4;36>b</>\n<1;36>c</>"],
      ["**a b** ~~c~~ `d  e`", 40, "<1>a</><1> b</> <9>c</> <36>d</><36>  e</>"],
      [`${"`".repeat(63)}a${"`".repeat(63)}`, 200, "<36>a</>"],
      [`${"`".repeat(64)}a${"`".repeat(64)}`, 200, [`${"`".repeat(64)}a${"`".repeat(64)}`]],
      ["x**y**z ***a** b*", 40, "x<1>y</>z <1;3>a</><3> b</>"],
      ["[a b](c)", 40, "<4>a</><4> b</><2> (c)</>"],
      ["**" + "x".repeat(25) + "**", 20, [`<1>${"x".repeat(20)}</>`, `<1>${"x".repeat(5)}</>`]],
      ["> a\n---", 20, ["<2>│</> a", `<2>${"─".repeat(20)}</>`]],
      ["- a", 20, "• a"],
      ["|a|", 20, "|a|"],
      ["*a [b", 20, "*a [b"],
      ["# #", 20, []],
      [
        "```js\nlet a = `1\n2`; // b\n```",
        40,
        "<3;2>  js</>\n  <35>let</> a = <32>`</><32>1</>\n  <32>2`</>; <2>// b</>",
      ],
    ],
    "16",
    true,
  );
});

Deno.test("markdown: text is wrapped at the width", () => {
  check(
    [
      ["aaaa bbbb cccc dddd eeee", 20, "aaaa bbbb cccc dddd\neeee"],
      ["a " + "x".repeat(45), 20, ["a", "x".repeat(20), "x".repeat(20), "xxxxx"]],
      ["中文段落没有空格,要换行。", 20, "中文段落没有空格,要\n换行。"],
      ["中文段落没有空格需要。", 20, "中文段落没有空格需\n要。"],
      ["a中b文(中文)", 8, "a中b文\n(中文)"],
      ["👩‍👩‍👧 ".repeat(8), 20, "👩‍👩‍👧 👩‍👩‍👧 👩‍👩‍👧 👩‍👩‍👧 👩‍👩‍👧 👩‍👩‍👧 👩‍👩‍👧\n👩‍👩‍👧"],
      ["xx abcd中", 8, "xx abcd\n中"],
      ["x 𠮷abcde", 8, "x 𠮷\nabcde"],
      ["x (𠮷abcd", 8, "x (𠮷\nabcd"],
      ["👩‍👩‍👧".repeat(5), 8, ["👩‍👩‍👧".repeat(4), "👩‍👩‍👧"]],
      ["- - - - - - - - - a b c d e f", 20, "• • • • • a b c d e\n          f"],
    ],
    "none",
    true,
  );
  for (const sign of ["> ", "- "]) {
    assertEquals(render([`${sign.repeat(32)}a`], 80, "none", false), `${sign.repeat(20)}a\n`);
    assertEquals(render([`${sign.repeat(33)}a`], 80, "none", false), `${sign.repeat(21)}a\n`);
  }
  assertEquals(render(["aaaa bbbb cccc"], 1, "none", true), "aaaa\nbbbb\ncccc\n");
  assertEquals(render(["a".repeat(81)], 0, "none", true), `${"a".repeat(80)}\na\n`);
});

Deno.test("markdown: tables", () => {
  check(
    [
      [
        table,
        40,
        "a   | Number |  说明\n----+--------+-------\n`x  |     y` | 1 | 中\nz|z |     22 |  b c",
      ],
      ["|a|b|\n|-|-|", 20, "a | b\n--+--"],
      ["|a|b|c|d|\n|-|-|-|-|\n|e|f|g|hi|", 14, "a | b | c | d\n--+---+---+---\ne | f | g | hi"],
      ["|a|b|\n|-|-|\n|c|\n|d|e|f|\n", 20, "a | b\n--+------\nc |\nd | e | f"],
      ["text\n|a|\n|-|\n|b|\ntext", 20, "text\na\n-\nb\ntext"],
      [
        "| not | a table\n| at all |\n\n|a|b|\n|-|\n",
        20,
        "| not | a table\n| at all |\n\n|a|b|\n|-|",
      ],
      ["- |a|\n  |-|\n  |b|\n\n> |c|\n> |-|\n> |d|", 20, "- a\n  -\n  b\n\n> c\n> -\n> d"],
      [`${"|a".repeat(64)}|\n${"|-".repeat(64)}|`, 400, [
        Array(64).fill("a").join(" | "),
        Array(64).fill("-").join("-+-"),
      ]],
      [`${"|a".repeat(65)}|\n${"|-".repeat(65)}|`, 400, [
        `${"|a".repeat(65)}|`,
        `${"|-".repeat(65)}|`,
      ]],
      ["|a|b|\n|c|d|", 20, "|a|b|\n|c|d|"],
      ["|a|\n|-|\n|b<br>c|", 20, "a\n-\nb\nc"],
      [
        "|name|what it does|\n|-|-|\n|read|reads a file, in part|\n|b|c|",
        20,
        "name | what it does\n=====+==============\nread | reads a file,\n     | in part\n-----+--------------\nb    | c",
      ],
      // No word is broken: columns are as wide as their longest word, or cells stand below each other.
      [
        "|Test|Why|\n|-|-|\n|test_discount|is not multiplied|",
        26,
        "Test          | Why\n==============+===========\ntest_discount | is not\n              | multiplied",
      ],
      [
        "|Test|Why|\n|-|-|\n|test_discount|is not multiplied|\n|a|b|",
        25,
        "Test: test_discount\nWhy: is not multiplied\n------\nTest: a\nWhy: b",
      ],
      ["|first|second|third|\n|-|-|-|", 15, "first | second\n| third"],
      [
        "|first|second|third|\n|-|-|-|\n|alpha beta|gamma|delta epsilon|\n|b||c|",
        20,
        "first: alpha beta\nsecond: gamma\nthird: delta epsilon\n------\nfirst: b\nthird: c",
      ],
    ],
    "none",
    false,
  );
  check(
    [[
      "|a|b|\n|:-|-|\n|`c`|d e|",
      20,
      "<1>a</><2> │ </><1>b</>\n<2>──┼────</>\n<36>c</><2> │ </>d e",
    ]],
    "16",
    true,
  );
});

function longTable(head: string, count: number, others: Record<number, string> = {}): string {
  const rows = Array.from({ length: count }, (_, i) => others[i + 1] ?? `|${i + 1}|b|`);
  return `${head}\n|-:|-|\n${rows.join("\n")}\n`;
}

Deno.test("markdown: a long table is written with the widths of its first rows, and some more", () => {
  const first = (rows: number, end: string) =>
    Array.from({ length: rows }, (_, i) => `${i + 1} | b${end}`);
  check(
    [
      [longTable("|a|b|", 8), 40, ["a | b", "--+--", ...first(8, "")]],
      [longTable("|a|b|", 12, { 11: "|11|too long for this|", 12: "|12345||" }), 40, [
        "   a | b",
        "-----+-----",
        ...first(9, "").map((row) => `   ${row}`),
        "  10 | b",
        "-----+-----",
        "  11 | too",
        "     | long",
        "     | for",
        "     | this",
        "-----+-----",
        "1234 |",
        "   5 |",
      ]],
      [longTable("|a|b234567890123456|", 10, { 10: "|9|c|" }), 20, [
        "a | b234567890123456",
        "--+-----------------",
        ...first(9, ""),
        "9 | c",
      ]],
      [longTable("|a|b2345 7890 234567|", 10), 20, [
        "   a | b2345 7890",
        "     | 234567",
        "=====+==============",
        ...[...first(9, "").map((row) => `   ${row}`), "  10 | b"]
          .flatMap((row, i) => i > 0 ? ["-----+--------------", row] : [row]),
      ]],
    ],
    "none",
    false,
  );
});

Deno.test("markdown: the rows of a long table appear as they come, in windows of any size", () => {
  for (const large of [false, true]) {
    const renderer = new MarkdownRenderer({ colors: "none", unicode: true }, 60);
    const cell = large ? "word ".repeat(110) : "word";
    const held = large ? 3 : 8;
    let out = renderer.push("|a|b|\n|-|-|\n");
    for (let i = 0; i < held; i++) {
      out += renderer.push(`|${i}|${cell}|\n`);
      assertEquals([out, renderer.holdsTable], ["", true]);
    }
    out += renderer.push(`|x|${cell}|\n`);
    assertEquals(out.split("word").length - 1, (held + 1) * (large ? 110 : 1));
    for (const columns of [10, 200, 0, 1, NaN, 60]) {
      renderer.resize(columns);
      assert(renderer.push(`|c${columns}|**d**`) === "");
      const row = renderer.push("|\n");
      assert(row.includes(`c${columns} `) && / d\n$/.test(row), row);
    }
    assertEquals([renderer.holdsTable, renderer.end()], [false, ""]);
  }
});

/** What Markdown, terminals and widths are sensitive to. */
const PARTS = [
  ..."\n|\n|\n| | | |a|b|*|*|**|_|__|~~|`|``|```|~~~|[|](|)|![|<|>|\\|&amp;|#|##|-|- |1. |+ |=|: |    |\t"
    .split("|"),
  ..."|;|;|-|-|\n;\n| a | b |\n|---|--:|\n| c | d |;\n```ts\n;\n```\n;> ;\r\n;\r".split(";"),
  ..."word; words and more;https://x.y/_z_;中;文,字。;한국어;é;e\u0301;\u0301".split(";"),
  ...["👩‍👩‍👧", "🇩🇪", "1\ufe0f\u20e3", "\u200d", "\ufe0f", "𠮷", "\ud83d", "\udc00", "\xa0", "\u3000"],
  ..."\x1b[31m|\x1b]52;c;YQ==\x07|\x1b]8;;http://x\x1b\\|\x9b2J|\x1bc|\b|\0|\u202e".split("|"),
  ...["x".repeat(30), "*".repeat(70), ..."[] |[x] |[a](b)|**b c**|---|---\n|\n    code".split("|")],
];

Deno.test("TTY-01 markdown: any text, cut anywhere: the same output, our styles, within the width", () => {
  const random = seeded(3);
  for (const text of randomTexts(PARTS, 1500)) {
    const columns = 20 + Math.floor(random() * 40);
    const colors = (["none", "16", "256"] as const)[Math.floor(random() * 3)]!;
    const whole = render([text], columns, colors, true);
    for (const size of [1, 1 + Math.ceil(random() * 9)]) {
      const pieces = text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
      const renderer = new MarkdownRenderer({ colors, unicode: true }, columns);
      let out = "";
      for (const piece of [...pieces, undefined]) {
        const part = piece === undefined ? renderer.end() : renderer.push(piece);
        assertClosed(part, text);
        out += part;
      }
      assertEquals(out, whole, JSON.stringify(text));
    }
    // Nothing of the text is lost, whatever its signs mean.
    for (const letter of ["w", "中", "한", "𠮷"]) {
      assert(
        whole.split(letter).length >= text.split(letter).length,
        JSON.stringify([text, whole]),
      );
    }
    if (/```|~~~| {4}|\t|[|]/.test(text)) continue;
    for (const line of plain(whole).split("\n")) {
      assert(displayWidth(line) <= columns, JSON.stringify([text, columns, line]));
    }
  }
});

function assertClosed(output: string, text: string): void {
  // deno-lint-ignore no-control-regex
  const rest = output.replace(/\x1b\[[1-9][\d;]*m[^\x1b\n]+\x1b\[m/g, "");
  // deno-lint-ignore no-control-regex
  assert(!/[\0-\x08\x0b-\x1f\x7f-\x9f\u202e\p{Cs}]/u.test(rest), JSON.stringify([text, output]));
}

function plain(output: string): string {
  // deno-lint-ignore no-control-regex
  return output.replace(/\x1b\[[\d;]*m/g, "");
}

Deno.test("markdown: longer words and lines of code than are held back", () => {
  const line = `    ${"1   ".repeat(6000)}`;
  const rows: Row[] = [
    ["x".repeat(1250), 300, [300, 300, 300, 124, 226].map((length) => "x".repeat(length))],
    [`${"x".repeat(1023)}\`😀\``, 400, [
      ...Array(2).fill("x".repeat(400)),
      `${"x".repeat(223)}<36>😀</>`,
    ]],
    ["a\u0301".repeat(700), 400, ["a\u0301".repeat(400), "a\u0301".repeat(300)]],
    [`  ~~~js\n${line}\n  b\n  ~~~\nc`, 80, ["<3;2>  js</>", line, "  b", "c"]],
    [`a\n\n${line}\nb`, 80, ["a", "", line, "b"]],
    [`~~~\n${line}`, 80, [`  ${line}`]],
    [" ".repeat(1100) + "a", 80, [" ".repeat(1000) + "a"]],
    [`${" ".repeat(1100)}~~~\n${" ".repeat(1100)}a`, 80, [" ".repeat(102) + "a"]],
  ];
  for (const [markdown, columns, lines] of rows) {
    for (const size of [1, 1000, markdown.length]) {
      const pieces = markdown.match(new RegExp(`[^]{1,${size}}`, "g"))!;
      assertEquals(tagged(render(pieces, columns, "16", false)).split("\n").slice(0, -1), lines);
    }
  }
});

Deno.test("markdown: no endless text is held back or lost", () => {
  const size = 40_000;
  const cases = [
    ["", "x"],
    ["", "x "],
    ["", "中"],
    ["", "a\u0301\u0301"],
    ["", "*a "],
    ["", "[a "],
    ["", "*"],
    ["", "`"],
    ["[a](", "b"],
    ["`", "x"],
    ["#", "#"],
    ["-", "-"],
    ["", "- "],
    ["", "1. "],
    ["", "> "],
    ["```", "x"],
    ["```\n", "x"],
    ["    ", "x"],
    ["|", "x"],
    ["|", "x|"],
    ["|a|\n|-|\n|", "x"],
    ["|a|\n|-|\n|", "\n|x|"],
    ["|a|b|\n|-|-|\n|", "\n|x|"],
  ] as const;
  for (const [start, part] of cases) {
    const text = start + part.repeat(size / part.length);
    const renderer = new MarkdownRenderer({ colors: "none", unicode: false }, 400);
    let out = "";
    for (const piece of text.match(/[^]{1,1000}/g)!) out += renderer.push(piece);
    const count = (text: string) => text.replace(/[\s|]/g, "").length;
    assert(count(out) > count(text) * 0.2, `${start}${part}: ${count(out)}`);
    out += renderer.end();
    // Of nested lists only the inner levels are shown.
    if (!/^(- |1\. )$/.test(part)) assert(count(out) >= count(text) - 4, `${start}${part}`);
  }
});

Deno.test("markdown: text appears word by word, code line by line", () => {
  const renderer = new MarkdownRenderer({ colors: "none", unicode: true }, 40);
  const steps: [string, string][] = [
    ["He", ""],
    ["llo wor", "Hello"],
    ["ld", ""],
    [" and", " world"],
    ["\n", " and\n"],
    ["- it", ""],
    ["em *held ", "• item"],
    ["back* x ", " held back x"],
    ["\n\n``", "\n"],
    ["`js\n", "\n```js\n"],
    ["code", ""],
    ["\nmore", "code\n"],
    ["\n```\n|a|\n|-|\n", "more\n```\n"],
    ["|b|\n", ""],
    ["\n", "a\n─\nb\n"],
    ["中文", "\n中"],
  ];
  for (const [piece, expected] of steps) assertEquals(renderer.push(piece), expected, piece);
  assertEquals(renderer.end(), "文\n");
  assertEquals(renderer.push("x".repeat(1024)), "");
  assertEquals(renderer.push("x").replaceAll("\n", ""), "x".repeat(1024));
  assertEquals(renderer.end().replaceAll("\n", ""), "x");
  assertEquals(renderer.push("a\n") + renderer.end(), "a\n");
});

Deno.test("markdown: text that only looks like Markdown appears as soon as it cannot be any", () => {
  const quoted = new MarkdownRenderer({ colors: "none", unicode: false }, 40);
  assertEquals(quoted.push("> ```\nout and"), "```\nout");
  const rows = ["-5", "1a", "12.5", "#a", "`a`", "``a``", "~a", "[a]", "1. [y]", "--a", "+1", "=a"];
  for (const text of [...rows, "a!", "a!b", "a\\b", "a&b", "a]", "a[]b", "2*3", "a_b", "`a`!"]) {
    const renderer = new MarkdownRenderer({ colors: "none", unicode: false }, 40);
    assertEquals(renderer.push(`${text} and`), text);
  }
});

Deno.test("TTY-07 markdown: a new width counts from the next word on", () => {
  const renderer = new MarkdownRenderer({ colors: "none", unicode: true }, 40);
  let out = renderer.push("- one two three four five six seven ");
  renderer.resize(20);
  out += renderer.push("eight nine ten eleven twelve ");
  renderer.resize(0);
  out += renderer.push("and more of them\n\n|a|\n|-|\n") + renderer.end();
  assertEquals(out.split("\n"), [
    "• one two three four five six seven",
    "  eight nine ten",
    "  eleven twelve and more of them",
    "",
    "a",
    "─",
    "",
  ]);
  for (let i = 0; i < 50; i++) {
    renderer.resize([80, 20, 200, 1, NaN, -5][i % 6]!);
    const part = renderer.push("| a b | c d |\n|-|-|\n word 中文\n".slice(i % 7));
    assert(!part.includes("\x1b"));
  }
  assertEquals(renderer.push("end") + renderer.end(), "end\n");
});

Deno.test("TTY-02 marks are counted over the pieces of an answer", () => {
  const renderer = new MarkdownRenderer({ colors: "none", unicode: true }, 80);
  let shown = renderer.push("a");
  for (let i = 0; i < 1000; i++) shown += renderer.push("\u0301");
  shown += renderer.push("b\n") + renderer.end();
  const longest = Math.max(...shown.split(/[^\u0301]/).map((marks) => marks.length));
  assertEquals([longest, shown.at(0), shown.trimEnd().at(-1)], [8, "a", "b"]);
});

const LINKS: [markdown: string, shown: string][] = [
  ["see [the docs](https://a.org/x) now", "see the docs (https://a.org/x) now"],
  ["[a.org](https://a.org)", "a.org"],
  ["[x](javascript:alert)", "x (javascript:alert)"],
  ["[x](https://a\x1b]8;;b\x07)", "x (https://a␛]8;;b␇)"],
];

Deno.test("TTY-02 a link shows its address, unless its text is the address", () => {
  for (const [markdown, expected] of LINKS) {
    forEveryTextSplit(markdown, (pieces) => {
      const renderer = new MarkdownRenderer({ colors: "none", unicode: true }, 60);
      const shown = pieces.map((piece) => renderer.push(piece)).join("") + renderer.end();
      assertEquals(shown, `${expected}\n`, JSON.stringify(pieces));
    });
  }
});
