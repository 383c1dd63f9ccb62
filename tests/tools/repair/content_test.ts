import { assertEquals, assertThrows } from "@std/assert";
import {
  contentAsMeant,
  unfenced,
  withLineFeeds,
  withoutCodeEntities,
} from "../../../src/tools/repair/content.ts";

/** What is read of a content; undefined where it stays. */
const CONTENTS: [path: string, content: string, text: string | undefined][] = [
  ["a.ts", "```ts\na\n```", "a\n"],
  ["a.ts", "~~~\na\n\n~~~\n", "a\n"],
  ["a.ts", "```\n```", ""],
  ["a.md", "```ts\na\n```", undefined],
  ["a.md", "```md\na\n```", "a\n"],
  ["a.md", "````md\n```\na\n```\n````", "```\na\n```\n"],
  ["a.csv", "1\ta\n2\tb\n", undefined],
  ["a.ts", "1\ta", undefined],
  ["a.ts", "1\ta\n3\tb", undefined],
  ["Makefile", "```\na:\n```", "a:\n"],
  ["notes", "```\na\n```", undefined],
  ["a.ts", "if (a &lt; b) {}", "if (a < b) {}"],
  ["a.ts", "f(&quot;a&quot;) &amp;&amp; g()", 'f("a") && g()'],
  ["a.json", `"lint": "a &amp;&amp; b"`, `"lint": "a && b"`],
  ["a.ts", 's = "&lt;b&gt;"', undefined],
  ["a.ts", "a < b &amp;&amp; c", undefined],
  ["a.html", "a &lt; b", undefined],
  ["a.ts", "a();\\nb();\\n", "a();\nb();\n"],
  ["a.ts", "a();\\n\\tb();\\nc();", "a();\n\tb();\nc();"],
  ["a.py", 'a = \\"x\\"\\nb = 1\\nc', 'a = "x"\nb = 1\nc'],
  ["a.ts", "a();\\n", undefined],
  ["a.ts", 'a("x\\ny")', undefined],
  ["a.ts", "C:\\new\\nb\\nc", undefined],
  ["a.ts", "a\\d\\nb\\nc", undefined],
  ["a.bat", "a\\nb\\nc", undefined],
  ["a.ts", "a\nb\\nc\\nd", undefined],
  ["a.ts", "a", undefined],
];

for (const [path, content, text] of CONTENTS) {
  Deno.test(`content of ${path}: ${JSON.stringify(content)}`, () => {
    assertEquals(contentAsMeant(content, path)?.text, text);
  });
}

const REFUSED: [path: string, content: string, why: string][] = [
  ["a.ts", "```ts\na\n```\nb", "its content starts with a code fence"],
  ["a.ts", "```ts\na\n```\nb\n```", "its content starts with a code fence"],
  ["a.ts", "1\ta\n2\tb", "the line numbers of read_file"],
  ["a.txt", "1\ta\n2\tb", "the line numbers of read_file"],
  ["a.ts", "1\ta\n2\tb\n", "the line numbers of read_file"],
  ["a.ts", 'a();\\nb("x\\ny");\\nc', "send real line feeds"],
  ["a.ts", "a();\\nb();", "send real line feeds"],
  ["a.ts", "\\na();\\nb();", "send real line feeds"],
  ["a.ts", 'a = "x\\ny', "send real line feeds"],
];

for (const [path, content, why] of REFUSED) {
  Deno.test(`refused content of ${path}: ${JSON.stringify(content)}`, () => {
    assertThrows(() => contentAsMeant(content, path), Error, why);
  });
}

Deno.test("a new text of an edit has real line feeds where its own can be no others", () => {
  const rows: [path: string, text: string, read: string | undefined][] = [
    ["a.ts", "a();\\nb();", "a();\nb();"],
    ["a.ts", "if (a) {\\n\\tb();\\n}", undefined],
    ["a.ts", "if (a) {\\n b();\\t\\n}", undefined],
    ["a.ts", "a();\\n", "a();\n"],
    ["a.ts", "a\\nb", undefined],
    ["a.ts", "a();\\n+b", undefined],
    ["a.ts", 'a("x\\ny");\\nb();', undefined],
    ["a.ts", 'a("x\\n', undefined],
    ["a.ts", "// a;\\nb();", undefined],
    ["a.ts", "a();\nb;\\nc", undefined],
    ["a.ts", "a();", undefined],
    ["a.md", "a;\\nb", undefined],
    ["a.ini", "a;\\nb", undefined],
    ["a", "a;\\nb", undefined],
    [".bashrc", "a;\\nb", undefined],
    ["a.ts", "a(/x\\n/, 1);", undefined],
    ["a.ts", "a = 1 / 2;\\nb();", "a = 1 / 2;\nb();"],
  ];
  for (const [path, text, read] of rows) assertEquals(withLineFeeds(text, path), read, text);
  assertEquals(withoutCodeEntities("a -&gt; b", "a.rs"), "a -> b");
  assertEquals(unfenced("```ts\na\n```\n```\nb\n```", "a.ts"), undefined);
  assertEquals(unfenced("x\n```ts\na\n```", "a.ts"), undefined);
});
