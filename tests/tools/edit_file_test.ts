import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { test, workspace } from "./workspace.ts";

type Row<File> = [name: string, file: File, before: string, after: string, expected: string];

// Each row: the file, old_string, new_string, the file after it.
const ONCE: Row<string>[] = [
  ["one of many lines", "a\nb\nc\n", "b", "B", "a\nB\nc\n"],
  ["the whole file", "a\nb", "a\nb", "c", "c"],
  ["deletion", "a\nb\nc\n", "b\n", "", "a\nc\n"],
  ["to nothing", "a", "a", "", ""],
  ["EDT-06 no newline at the end", "a\nb\nc", "b", "B", "a\nB\nc"],
  ["EDT-06 blank lines at the end", "a\nb\n\n\n", "a", "A", "A\nb\n\n\n"],
  ["EDT-06 whitespace on the last line", "a\nb\n   ", "a", "A", "A\nb\n   "],
  ["EDT-06 line breaks of two spaces", "a  \nb  \n", "a", "A", "A  \nb  \n"],
  ["EDT-06 a single newline", "\n", "\n", "\n\n", "\n\n"],
  ["EDT-09 $ patterns", "x = 1\n", "1", "$& $1 $` $' $$", "x = $& $1 $` $' $$\n"],
  ["EDT-09 backslashes", "x\n", "x", "\\n\\t\\\\ \\u0041", "\\n\\t\\\\ \\u0041\n"],
  ["EDT-09 regex signs", "a.*(b)[c]^$\naXb\n", ".*(b)[c]^$", "!", "a!\naXb\n"],
  ["EDT-03 CRLF", "a\r\nb\r\nc\r\n", "a\nb", "a\nx\ny\nb", "a\r\nx\r\ny\r\nb\r\nc\r\n"],
  ["EDT-03 CRLF, one line", "a\r\nb\r\n", "b", "b\nc", "a\r\nb\r\nc\r\n"],
  ["EDT-03 CRLF given as such", "a\r\nb\r\n", "a\r\nb", "a\r\nc\r\nb", "a\r\nc\r\nb\r\n"],
  ["EDT-03 CRLF, line deleted", "a\r\nb\r\nc\r\n", "b\n", "", "a\r\nc\r\n"],
  ["EDT-03 CRLF, lines joined", "a\r\nb\r\nc", "a\nb", "ab", "ab\r\nc"],
  ["EDT-03 CR", "a\rb\rc\r", "a\nb\n", "a\nx\nb\n", "a\rx\rb\rc\r"],
  ["EDT-03 CRLF given for an LF file", "a\nb\n", "a\r\nb", "a\r\nx\r\nb", "a\nx\nb\n"],
  [
    "EDT-03 mixed: endings of lines kept as they are",
    "a\nb\r\nc\nd\r\ne\r\n",
    "a\nb\nc\nd",
    "a\nb\nNEW\nc\nd",
    "a\nb\r\nNEW\r\nc\nd\r\ne\r\n",
  ],
  ["EDT-03 CRs given for an LF file", "a\nb\n", "b", "x\r\ny\rz", "a\nx\r\ny\rz\n"],
  ["EDT-03 CRs given for a single line", "a", "a", "x\r\ny", "x\r\ny"],
  ["EDT-03 a line given another ending", "a\nb\n", "a\nb", "a\r\nb", "a\r\nb\n"],
  ["EDT-03 a CR given for a CRLF file", "a\r\nb\r\n", "b", "x\ry\nz", "a\r\nx\ry\r\nz\r\n"],
  ["EDT-03 a CR within a line stays", "a\rb\nc\n", "c", "d", "a\rb\nd\n"],
  ["EDT-03 a CR within a line matches", "a\rb\nc\n", "a\rb", "d", "d\nc\n"],
  ["EDT-04 BOM, line 1", "\ufeffa\nb\n", "a", "A", "\ufeffA\nb\n"],
  ["EDT-04 BOM, whole text", "\ufeffa\n", "a\n", "b\n", "\ufeffb\n"],
  ["EDT-04 BOM, later line", "\ufeffa\nb\n", "b", "B", "\ufeffa\nB\n"],
  ["EDT-04 no BOM added", "a\n", "a", "b", "b\n"],
  ["halves of surrogate pairs in common", "😀\n", "😀", "😁", "😁\n"],
  ["halves at both ends", "x😀y\n", "😀", "😁😀", "x😁😀y\n"],
  ["EDT-03 a draw of line endings", "a\r\nb\n", "b", "b\nc", "a\r\nb\nc\n"],
  ["one line like the next", "b;\nreturn c;\n", "b;", "return c;", "return c;\nreturn c;\n"],
  ["a short addition made twice", "a\n\nb\n", "a\n", "a\n\n", "a\n\n\nb\n"],
  ["a line that is alike behind", "a;\n}\n", "a;\n", "b;\n}\n", "b;\n}\n}\n"],
  ["overlap of common head and tail", "aXa\n", "aa".slice(1) + "Xa", "aXaXa", "aXaXa\n"],
  [
    "other indentation, in a CRLF file",
    "\ta\r\n\tb\r\nc\r\n",
    "    a\n    b",
    "    a\n    x\n        y\n    b",
    "\ta\r\n\tx\r\n\t\ty\r\n\tb\r\nc\r\n",
  ],
  ["EDT-03 CRLF, after empty lines", "a\r\n\r\n\r\nb\r\n", "b", "c", "a\r\n\r\n\r\nc\r\n"],
  ["a text that is there beside it", "xa bcdef\n", "xa", "a bcdef", "a bcdef bcdef\n"],
  ["wide text", "日本語\nb\n", "本", "x", "日x語\nb\n"],
];

Deno.test.each(ONCE)("replaces once: %s", async (_name, content, before, after, expected) => {
  using ws = workspace();
  ws.put("f", content);
  assertStringIncludes(await ws.edit("f", before, after), "Replaced 1 match in f");
  assertEquals(ws.text("f"), expected);
  assertEquals(ws.names(), ["f"]);
});

test("a mark in place of lines is refused, and the file stays", async (ws) => {
  ws.put("f", "one();\ntwo();\nthree();\n");
  await assertRejects(
    () => ws.edit("f", "one();\ntwo();\nthree();\n", "one();\n// ... existing code ...\n"),
    Error,
    'new_string has "// ... existing code ..." as a placeholder for lines that old_string has',
  );
  assertEquals(ws.text("f"), "one();\ntwo();\nthree();\n");
});

Deno.test.each([
  ["three", "a b a b a", "a", "x", "x b x b x", 3],
  ["one", "a b", "a", "x", "x b", 1],
  ["longer", "aa", "a", "aa", "aaaa", 2],
  ["without overlaps", "aaaaa", "aa", "b", "bba", 2],
  ["EDT-03 CRLF", "a\r\nb\r\na\r\nb\r\n", "a\nb", "a\nx\nb", "a\r\nx\r\nb\r\na\r\nx\r\nb\r\n", 2],
  ["EDT-09 literal", "a a", "a", "$&", "$& $&", 2],
])("EDT-09 replace_all: %s", async (_name, content, before, after, expected, count) => {
  using ws = workspace();
  ws.put("f", content);
  const result = await ws.edit("f", before, after, true);
  assertStringIncludes(result, `Replaced ${count} match`);
  assertEquals(ws.text("f"), expected);
});

// Each row: the file, old_string, new_string, what the error says.
// deno-fmt-ignore
const REFUSED: Row<string | number[]>[] = [
  ["EDT-09 three matches", "a\nb\na\nc\na\n", "a", "x", "appears 3 times (lines 1, 3, 5)"],
  ["twenty places are named", "a\n".repeat(20), "a", "x", "18, 19, 20): add"],
  ["more are not", "a\n".repeat(21), "a", "x", "18, 19, 20, ...): add"],
  ["EDT-09 overlapping matches", "aaa\n", "aa", "x", "appears 2 times"],
  ["EDT-09 matches across CRLF", "a\r\nb\r\na\r\nb\r\n", "a\nb", "x", "appears 2 times (lines 1, 3)"],
  ["EDT-09 the same", "a\n", "a", "a", "are the same"],
  ["EDT-09 the same but for line endings", "a\r\nb", "a\r\nb", "a\nb", "line endings alone"],
  ["EDT-09 not found", "a\n", "b", "x", "not found.\n"],
  ["EDT-09 not found, to be deleted", "a\n", "b", "", "not found.\n"],
  ["EDT-09 no regular expression", "abc\n", "a.c", "x", "not found"],
  ["EDT-09 case counts", "Abc\n", "abc", "x", "not found"],
  ["an addition that is there", "one\n- two\n", "one\n", "one\n- two\n", "is there already (line 1)"],
  ["an addition before it", "four\n- two\n", "- two\n", "four\n- two\n", "is there already (line 2)"],
  ["a replacement that is there", "x\nc\n", "b", "c", "there already (line 2): was this edit made"],
  ["a line doubled behind", "a;\nb;\nreturn c;\n", "b;\n", "x;\nreturn c;\n", '"return c;" of new'],
  ["a line doubled before", "return c;\nb;\n", "b;\n", "return c;\nx;\n", '"return c;" of new'],
  ["lost indentation", "{\n a: 1,\n}\n", "a: 1,\n", "a: 1,\nb: 2,\n", "further lines of new_string"],
  ["EDT-05 half of a character", "a😀\n", "a\ud83d", "b\ud83d", "half of a character"],
  ["EDT-05 Latin-1", [0x61, 10, 0xe9, 10], "a", "b", "not valid UTF-8"],
  ["EDT-05 Shift_JIS", [0x61, 10, 0x93, 0xfa, 10], "a", "b", "not valid UTF-8"],
  ["EDT-05 a stray byte at the end", [0x61, 10, 0xe9], "a", "b", "not valid UTF-8"],
  ["EDT-05 a coded surrogate", [0x61, 10, 0xed, 0xa0, 0x80], "a", "b", "not valid UTF-8"],
];

Deno.test.each(REFUSED)(
  "refuses and leaves the file: %s",
  async (_name, content, before, after, expected) => {
    using ws = workspace();
    ws.put("f", content);
    const old = ws.bytes("f");
    const { mtime, ino } = await Deno.stat(ws.at("f"));
    await assertRejects(() => ws.edit("f", before, after), Error, expected);
    assertEquals(ws.bytes("f"), old);
    const stat = await Deno.stat(ws.at("f"));
    assertEquals([stat.mtime, stat.ino, ws.names()], [mtime, ino, ["f"]]);
  },
);

test("an edit of another indentation says so, and one that fits two places is refused", async (ws) => {
  ws.put("a.py", "if x:\n    a()\nif y:\n    b()\n");
  assertStringIncludes(await ws.edit("a.py", "\tb()", "\tc()"), "differed in indentation");
  assertEquals(ws.text("a.py"), "if x:\n    a()\nif y:\n    c()\n");
  await ws.edit("a.py", "c()", "a()");
  await assertRejects(() => ws.edit("a.py", "\ta()", "\tc()"), Error, "not found");
});

test("an empty old_string creates a file or fills an empty one", async (ws) => {
  assertStringIncludes(await ws.edit("a/b", "", "x\n"), "Created a/b");
  assertEquals(ws.text("a/b"), "x\n");
  ws.put("empty", "");
  assertStringIncludes(await ws.edit("empty", "", "y"), "Replaced empty");
  assertEquals(ws.text("empty"), "y");
  ws.put("bom", "\ufeff");
  await ws.edit("bom", "", "z");
  assertEquals(ws.text("bom"), "\ufeffz");
});

test("shows the changed lines, numbered, with three around them", async (ws) => {
  const lines = Array.from({ length: 20 }, (_, i) => `line ${i + 1}`);
  ws.put("f", lines.join("\r\n"));
  const shown = (first: number, ...lines: string[]) =>
    lines.map((line, i) => `\n${first + i}\t${line}`).join("");
  const rows: [before: string, after: string, at: number, shown: string][] = [
    ["line 10\nline 11", "new\nline 11", 10, shown(7, ...lines.slice(6, 14).with(3, "new"))],
    [
      "line 1\n",
      "😀".repeat(500) + "\n",
      1,
      shown(1, `${"😀".repeat(150)}...`, ...lines.slice(1, 5)),
    ],
    ["line 20", "end", 20, shown(17, ...lines.slice(16, 19), "end")],
  ];
  for (const [before, after, at, shown] of rows) {
    assertEquals(await ws.edit("f", before, after), `Replaced 1 match in f (line ${at})${shown}`);
  }
  const long = await ws.edit("f", "end", "x\n".repeat(500));
  assertEquals(long.split("\n").length, 42);
  assert(long.endsWith("\n..."));
  ws.put("g", "\n\na\n");
  assertEquals(await ws.edit("g", "a", "b"), "Replaced 1 match in g (line 3)\n1\t\n2\t\n3\tb");
});

test("millions of matches are replaced in bounded memory, unless the result is too long", async (ws) => {
  ws.put("f", "a\r\n".repeat(1_000_000));
  const before = Deno.memoryUsage().rss;
  assertStringIncludes(await ws.edit("f", "a", "bc", true), "Replaced 1000000 matches");
  const grown = Deno.memoryUsage().rss - before;
  assert(grown < 250e6, `${grown} bytes more`);
  assertEquals(ws.text("f") === "bc\r\n".repeat(1_000_000), true);
  const old = ws.bytes("f");
  const says = "as the result must have at most 16777216 characters: it would have 203000000";
  await assertRejects(() => ws.edit("f", "b", "x".repeat(200), true), Error, says);
  assertEquals(ws.bytes("f").length, old.length);
});

test("a file of 16 MiB can be edited, a longer one is refused before it is read", async (ws) => {
  const most = 16 * 1024 * 1024;
  Deno.truncateSync(ws.put("f", "a"), most);
  assertStringIncludes(await ws.edit("f", "a", "b"), "Replaced 1 match");
  Deno.truncateSync(ws.at("f"), most + 1);
  const says = "at most 16777216 bytes: it has 16777217. Use run_bash";
  await assertRejects(() => ws.edit("f", "b", "c"), Error, says);
});

test("4 MB: matched, replaced everywhere, and missed in linear time", async (ws) => {
  const line = "const someValue = compute(anotherValue); // and a comment\r\n";
  const content = line.repeat(70_000);
  ws.put("f", content);
  await ws.edit("f", "compute", "x", true);
  assertEquals(ws.text("f"), content.replaceAll("compute", "x"));
  const misspelt = "const someValeu = y(anotherValue);";
  await assertRejects(() => ws.edit("f", misspelt, "b"), Error, "Closest");
  await assertRejects(() => ws.edit("f", "someValue", "b"), Error, "appears 70000 times");
  await assertRejects(() => ws.edit("f", "qqqq\n".repeat(1000), "b"), Error, "not found");
  // Lines that all vote, and a text without any line break.
  ws.put("g", "}\n".repeat(400_000) + "a".repeat(3_200_000));
  await assertRejects(() => ws.edit("g", "}\n".repeat(100) + "x", "b"), Error, "not found");
  await assertRejects(() => ws.edit("g", "ab".repeat(1000), "b"), Error, "not found");
});
