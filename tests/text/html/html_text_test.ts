import { assert, assertEquals } from "@std/assert";
import { htmlText } from "../../../src/text/html/html_text.ts";
import { cpuTime } from "../../helpers/cpu_time.ts";

const BASE = new URL("https://site.test/list.html");
const fixture = (name: string) =>
  Deno.readTextFileSync(new URL(`../../fixtures/pages/${name}`, import.meta.url));

for (
  const [name, title] of [
    ["docs", "Queues — Widget 3.2 documentation"],
    ["old", "News & threads"],
  ] as const
) {
  Deno.test(`a page as text: ${name}.html`, () => {
    const found = htmlText(fixture(`${name}.html`), BASE);
    assertEquals(found.text, fixture(`${name}.md`).trimEnd());
    assertEquals(found.title, title);
  });
}

const WORDS = "word ".repeat(50).trim();

// deno-fmt-ignore
const ROWS: [html: string, text: string][] = [
  ["", ""],
  ["plain", "plain"],
  ["<", "<"],
  ["a < b <c", "a < b"],
  ["<p>a</p><p>b", "a\n\nb"],
  ["<div>a</div>b<br>c", "a\nb\nc"],
  ["x <b> y </b> z", "x y z"],
  ["a<a href=b> c </a>d", "a [c](/b) d"],
  ["<a href='#x'>a</a> <a href=list.html#x>b</a> <a href=other#x>c</a>", "a b [c](/other#x)"],
  ["<a href=//site.test/a>a</a> <a href=http://site.test/a>b</a>", "[a](/a) [b](http://site.test/a)"],
  ["<a href=https://u:p@x.test/>a</a> <a href='data:text/html,x'>b</a>", "a b"],
  ["<a href=/x><h2>T</h2><p>d</p></a>", "## T\n\nd\n\n(/x)"],
  ["<a href=/x><img alt=logo></a><a href=/y></a>", "[[image: logo]](/x)"],
  [`<a href="/${"x".repeat(400)}">long</a>`, "long"],
  ["<code>a</code><code>`b`</code> <code><a href=/c>c</a></code>", "`a``` `b` `` `c`"],
  ["<pre>\n\na  b\r\n```\n</pre>", "````\na  b\n```\n````"],
  ["<pre><div>a</div><div>b</div></pre>", "```\na\nb\n```"],
  ["<ul><li>a<ol><li>b<li><p>c</ol><li>d</ul>e", "- a\n  1. b\n  2. c\n- d\n\ne"],
  ["<table><tr><td>one column<tr><td>only</table>", "one column\nonly"],
  [`<table><tr><td>${"a ".repeat(300)}<td>b</table>`, `${"a ".repeat(300).trim()} · b`],
  ["<table><tr><th>a<th>b<tr><td><table><tr><td>in<td>side</table>", "a · b\n\n| in | side |\n| --- | --- |"],
  ["</table></ul></pre></a></code>a", "a"],
  ["<!-- a", ""],
  ["<!-->a", "a"],
  ["<?xml version='1.0'?><!doctype html>a", "a"],
  ["<script>a</script >b<style>c</style>d", "bd"],
  ["<SCRIPT>a</sCRIPT>b", "b"],
  ["<textarea>a</textarea><select><option>b</select>c", "c"],
  ['<p title="a>b" x=\'">\' y=>c', "c"],
  ['<p title="a>b', "b"],
  ["&lt;script&gt; &amp;amp; &#x41;&#65;&#0;&#xd800;&#99999999;", "<script> &amp; AA���"],
  ["a\u200bb&ZeroWidthSpace;c&zwj;d", "abc\u200dd"],
  ["<p hidden>a<p>b<div aria-hidden=true>c</div>d<span style='Visibility:hidden'>e</span>", "b\nd"],
  ["<body style='display:none'>a", "a"],
  // The part that a page marks as its main one, unless that has little.
  [`<p>a</p><main><p>${WORDS}</p></main><p>b</p>`, WORDS],
  [`<div>a<div role="main">${WORDS}<div>c</div></div>b</div>`, `${WORDS}\nc`],
  ["<nav>a</nav><main>b</main><footer>c</footer>", "a\nb\nc"],
  [`<nav>a</nav>${WORDS}<aside>b</aside>`, WORDS],
  [`<nav>a</nav><main>${"x".repeat(200)}</main>`, "x".repeat(200)],
  [`<nav>a</nav><main>${"x".repeat(199)}</main>`, `a\n${"x".repeat(199)}`],
  // Only a letter begins a tag.
  ["<a>b</a><z>c</z><A>d</A><Z>e</Z>", "bcde"],
  ["<@>a<[>b<`>c<{>d", "<@>a<[>b<`>c<{>d"],
  // No space but what is there.
  ["<code>a</code>b", "`a`b"],
  ["a <br><code>b</code>c", "a\n`b`c"],
  // Addresses of up to 300 characters, made of up to 1200.
  [`<a href="/${"x".repeat(299)}">a</a>`, `[a](/${"x".repeat(299)})`],
  [`<a href="/${"x".repeat(300)}">a</a>`, "a"],
  [`<a href="${"./".repeat(598)}page">a</a>`, "[a](/page)"],
  [`<a href="${"./".repeat(598)}pages">a</a>`, "a"],
  // A cell of more than 500 characters is no cell of a table of data.
  [`<table><tr><td>${"x".repeat(500)}<td>b</table>`, `| ${"x".repeat(500)} | b |\n| --- | --- |`],
  [`<table><tr><td>${"x".repeat(501)}<td>b</table>`, `${"x".repeat(501)} · b`],
  // Instructions that only a model would read.
  [`${WORDS}<div style="font-size:1px;display:none">obey</div>`, WORDS],
];

Deno.test("pieces of pages as text, broken ones too", () => {
  for (const [html, text] of ROWS) assertEquals([html, htmlText(html, BASE).text], [html, text]);
});

Deno.test("a page is cut behind a million characters", () => {
  for (const length of [0, 1_000_000, 1_000_001]) {
    const found = htmlText("x".repeat(length));
    assertEquals(found.text.length, Math.min(length, 1_000_000));
  }
});

Deno.test("a page without an address has only links that need none", () => {
  assertEquals(
    htmlText("<a href=/x>a</a> <a href=https://b.test/>b</a>").text,
    "a [b](https://b.test/)",
  );
});

/** Beginnings without an end, which a reader that looks for the end each time takes hours for. */
// deno-fmt-ignore
const FLOODS = [
  ...["<", "<!--", "<!", '<a href="', "<a b='", "<a b=\"'", "<ul><li>x", "<blockquote>x", "<div>"],
  ...["<table><tr><td>x", "<tr><td>x", "<a href=/x>y", "<code>`x", "<pre>`", "<script>", "<title>x"],
  ...["&", "&#x", "&amp;", "<p hidden>", "<main>x", "</a>", "<svg>", "<sup>1", " ", "<h1>", "<dd>x"],
];

Deno.test("floods of broken markup take linear time, and their text is bounded", () => {
  for (const flood of FLOODS) {
    const begin = cpuTime();
    const html = `<table>${flood.repeat(40_000 / flood.length)}`;
    const { text } = htmlText(html, BASE);
    assert(text.length <= 1_000_000, flood);
    // Quadratic time is minutes.
    assert(cpuTime() - begin < 5_000, `${flood}: ${cpuTime() - begin} ms`);
  }
  const base = `<base href="https://site.test/${"b".repeat(250)}/">`;
  const long = htmlText(`${base}${"<a href=x>y</a>".repeat(10_000)}`, BASE);
  assertEquals(long.text.length, 1_000_000);
});
