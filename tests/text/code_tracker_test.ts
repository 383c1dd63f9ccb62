import { assertEquals } from "@std/assert";
import { CodeTracker } from "../../src/text/code_tracker.ts";

/** A tracker that read `text`, in one piece. */
function after(text: string): CodeTracker {
  const tracker = new CodeTracker();
  tracker.feed(text, 0, text.length);
  return tracker;
}

type Row = [text: string, next: string, isCode: boolean];
const fence = (lead: string, isCode: boolean): Row => [`${lead}\`\`\`\nx`, "y", isCode];
/** Texts, and whether what comes behind them is code. */
const CODE: Row[] = [
  // A fence opens a block behind signs of lists and quotations alone.
  ...["", "> ", "- ", "* ", "+ ", "1. ", "2) ", "9. ", "10. "].map((lead) => fence(lead, true)),
  ...["a ", ", ", "/ ", ": ", "( ", "& "].map((lead) => fence(lead, false)),
  ["``\nx", "y", false],
  ["```\nx\n```\n", "y", false],
  ["```\nx\n``\n", "y", true],
  ["```\nx\n```js\n", "y", true],
  // Signs that belong to those before them decide nothing yet.
  ["``", "`", true],
  ["``", "~", true],
  ["a `b` c", "`", false],
  ["a `b` c", "d", false],
  ["a `b", "c", true],
  // Blocks within a block of Markdown end before it does.
  ["```md\n```js\nx\n```\n", "y", true],
  ["```md\n```js\nx\n```\n```\n", "y", false],
  ["```md\n- ```js\nx\n```\n", "y", true],
  ["```md\n- ``` js\nx\n```\n", "y", false],
  ["```md\na ```js\nx\n```\n", "y", false],
  ["```md\n~~~js\nx\n```\n", "y", false],
  ["````md\n```js\nx\n````\n", "y", false],
  ["```md\n````js\nx\n```\n", "y", true],
  ["```ts\n```js\nx\n```\n", "y", false],
];

Deno.test("where a text is code: in blocks, in inline code, and where a sign may still make it one", () => {
  for (const [text, next, isCode] of CODE) {
    assertEquals(after(text).inCode(next), isCode, JSON.stringify([text, next]));
  }
});

Deno.test("a fence can open a block at the beginning of a line, also behind the sign of a list", () => {
  const rows: [text: string, isStart: boolean, isFirst: boolean][] = [
    ["", true, true],
    ["a\n", true, true],
    ["  ", true, true],
    ["> ", true, false],
    ["- ", true, false],
    ["a", false, false],
    ["`", false, true],
  ];
  for (const [text, isStart, isFirst] of rows) {
    const tracker = after(text);
    assertEquals([tracker.atLineStart(), tracker.isFirst()], [isStart, isFirst], text);
  }
});

Deno.test("quoted is what stands behind a quotation mark, and on a line of a quotation", () => {
  const rows: [text: string, isQuoted: boolean][] = [
    ['say "', true],
    ["say", false],
    ["> say ", true],
    ["- > say ", true],
    ["> say\nthen ", false],
    ["> say\n> then ", true],
  ];
  for (const [text, isQuoted] of rows) {
    const tracker = after(text);
    tracker.feed("", 0, 0);
    assertEquals(tracker.isQuoted(), isQuoted, text);
  }
});
