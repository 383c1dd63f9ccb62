import { assert, assertEquals } from "@std/assert";
import { matchLines } from "../../../src/tools/search/match_lines.ts";
import { compileLinePattern } from "../../../src/tools/search/regex/line_pattern.ts";

const encode = (text: string) => new TextEncoder().encode(text);

Deno.test("context, and groups that touch", () => {
  const text = Array.from(
    { length: 12 },
    (_, i) => `${"ac".includes("abcdefghijkl"[i]!) || i === 9 ? "hit" : "no"}${i + 1}`,
  ).join("\r\n");
  const show = (contextLines: number) => {
    const { lines, count } = matchLines(encode(text), compileLinePattern("hit"), {
      path: "f",
      contextLines,
      maxChars: Infinity,
    })!;
    assertEquals(lines.filter(({ match }) => match).length, count);
    return lines.map((line) => line.text).join(" ");
  };
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
    const shown = matchLines(encode("x".repeat(shift) + line), pattern, options)!.lines[0]!.text;
    assert(shown.includes("😀needle😀") && shown.isWellFormed(), shown);
    assert(shown.endsWith(`[cut: the line has ${20_006 + shift} characters]`), shown);
    // 500 characters, of which 250 come before the end of the match.
    const [, before, behind] = /^f:1:\.\.\.(.*)needle(.*)\.\.\. \[cut/u.exec(shown)!;
    assertEquals([before!.length, behind!.length], [244, 250]);
  }
});

Deno.test("matches without room are counted", () => {
  const text = encode("hit\n".repeat(1000));
  const options = { path: "f", contextLines: 0, maxChars: 100 };
  const { lines, count } = matchLines(text, compileLinePattern("hit"), options)!;
  assertEquals(count, 1000);
  assert(lines.length > 5 && lines.length < 20, `${lines.length}`);
});

/** The lines shown of a text where it has "hit". */
function shown(text: string, contextLines = 0, maxChars = Infinity): string[] {
  const options = { path: "f", contextLines, maxChars };
  const found = matchLines(encode(text), compileLinePattern("hit"), options);
  return found?.lines.map((line) => line.text) ?? [];
}

Deno.test("the first match is no second group", () => {
  assertEquals(shown("a\nb\nhit\nc\nd\n", 1), ["f-2-b", "f:3:hit", "f-4-c"]);
  assertEquals(shown("a\nhit", 1), ["f-1-a", "f:2:hit"]);
  assertEquals(shown("\n\nhit\n\n", 1), ["f-2-", "f:3:hit", "f-4-"]);
});

Deno.test("a line is shown as it is, without its line break", () => {
  const text = "\ufeffhit\r\r\n\r\n\ufeffhit\rx\n";
  assertEquals(shown(text, 1), ["f:1:\ufeffhit\r", "f-2-", "f:3:\ufeffhit\rx"]);
});

Deno.test("lines are shown until there are more characters than asked for", () => {
  // Each line has seven characters and its end.
  const text = "hit\nhit\nhit\n";
  const lengths = [0, 7, 8, 15, 16, 24].map((maxChars) => shown(text, 0, maxChars).length);
  assertEquals(lengths, [1, 1, 2, 2, 3, 3]);
  const context = [7, 8, 16].map((maxChars) => shown("hit\nabc\ndef\nghi\n", 3, maxChars).length);
  assertEquals(context, [1, 2, 3]);
  // What is between two matches belongs to the second.
  assertEquals(shown("hit\nabc\ndef\nhit\n", 1, 8), ["f:1:hit", "f-2-abc", "f-3-def", "f:4:hit"]);
});

Deno.test("of a line over 500 characters the part around the match is shown", () => {
  const cut = (before: number, behind: number) => {
    const line = `${"a".repeat(before)}hit${"b".repeat(behind)}`;
    const [text] = shown(`${line}\n`);
    const note = ` [cut: the line has ${line.length} characters]`;
    const isCut = text!.endsWith(note);
    const part = text!.slice(4, isCut ? -note.length : undefined);
    assert(line.includes(part.replaceAll("...", "")), text);
    return [
      isCut,
      part.replace(/a+/, (all) => `${all.length}`).replace(/b+/, (all) => `${all.length}`),
    ];
  };
  assertEquals(cut(0, 497), [false, "hit497"]);
  assertEquals(cut(0, 498), [true, "hit497..."]);
  assertEquals(cut(498, 0), [true, "...497hit"]);
  assertEquals(cut(247, 251), [true, "247hit250..."]);
  assertEquals(cut(248, 250), [true, "...247hit250"]);
  assertEquals(cut(1000, 1000), [true, "...247hit250..."]);
});
