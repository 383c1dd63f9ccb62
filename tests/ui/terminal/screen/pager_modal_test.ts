import { assertEquals } from "@std/assert";
import type { Key } from "../../../../src/ui/terminal/line/keys.ts";
import type { CellRow } from "../../../../src/ui/terminal/screen/frame.ts";
import { PagerModal } from "../../../../src/ui/terminal/screen/pager_modal.ts";
import type { PagerBlock } from "../../../../src/ui/terminal/screen/pager_text.ts";
import { ownStyle } from "../../../../src/ui/terminal/style.ts";
import { styledRows } from "../../../../src/ui/terminal/styled.ts";

const text = (row: CellRow) => row.map(({ text }) => text).join("").trimEnd();
let laidOut = 0;
const block = (source: string): PagerBlock => ({
  source,
  rows(columns) {
    laidOut++;
    return source.split("\n").flatMap((line) => styledRows(line, columns));
  },
});
const lines = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => `row ${from + i}`).join("\n");

function pager(blocks: PagerBlock[], sgr: typeof ownStyle = () => "") {
  const modal = new PagerModal({
    ...{ title: "Transcript", sgr },
    blocks: () => blocks,
  });
  const at = (columns = 80, rows = 6) => modal.layout({ columns, rows }).rows.map(text);
  /** What is shown after keys: names in brackets, others as text. */
  const shown = (keys: string, ...size: [number, number] | []) => {
    at(...size);
    for (const [, name, text] of keys.matchAll(/\[([^\]]+)\]|([^[]+)/g)) {
      const key: Key = name === undefined ? { type: "text", text: text! } : { type: "key", name };
      modal.press(key);
    }
    return at(...size);
  };
  return { modal, at, shown };
}

Deno.test("a pager begins at the end, goes by rows, pages and to both ends, and no further", () => {
  const { shown } = pager([block(lines(1, 7)), block(lines(8, 12)), block(lines(13, 20))]);
  const rows: [keys: string, first: number, where: string][] = [
    ["", 16, "end"],
    ["[down]", 16, "end"],
    ["k", 15, "94 %"],
    ["[up][ctrl-p]", 13, "83 %"],
    ["[pageup]", 9, "62 %"],
    ["b", 5, "42 %"],
    [" ", 9, "62 %"],
    ["u", 7, "52 %"],
    ["d", 9, "62 %"],
    ["[home]", 1, "22 %"],
    ["[up]b", 1, "22 %"],
    ["jjj", 4, "37 %"],
    ["[end]", 16, "end"],
    ["g", 1, "22 %"],
    ["G", 16, "end"],
  ];
  for (const [keys, first, where] of rows) {
    const five = [0, 1, 2, 3, 4].map((n) => `row ${first + n}`);
    const last = `Transcript · ${where} · / searches · q closes`;
    assertEquals([keys, ...shown(keys)], [keys, ...five, last]);
  }
});

Deno.test("the end of a text that grows stays in view, and no other place moves", () => {
  const blocks = [block(lines(1, 9))];
  const { shown } = pager(blocks);
  assertEquals(shown("")[4], "row 9");
  blocks.push(block(lines(10, 12)));
  assertEquals(shown("")[4], "row 12");
  assertEquals(shown("k")[4], "row 11");
  blocks.push(block(lines(13, 20)));
  assertEquals(shown("")[4], "row 11");
  blocks.length = 1;
  assertEquals(shown("")[4], "row 9");
  blocks.length = 0;
  assertEquals(shown("kj[home][end]nN").slice(0, 5), ["", "", "", "", ""]);
});

Deno.test("a pager begins at what is to be seen; it was once its end was shown after its beginning", () => {
  let seen = 0;
  const asked = { ...block(lines(8, 20)), onSeen: () => void seen++ };
  const begins = pager([block(lines(1, 7)), asked]);
  assertEquals(begins.at().slice(0, 5), [8, 9, 10, 11, 12].map((n) => `row ${n}`));
  begins.shown("[pagedown]j");
  assertEquals(seen, 0);
  begins.shown("[pagedown]");
  assertEquals(seen > 0, true);
  seen = 0;
  assertEquals([pager([asked]).shown("G")[4], seen > 0], ["row 20", true]);
  seen = 0;
  pager([block(lines(1, 7)), asked]).at(80, 20);
  assertEquals(seen, 1);
  // Its end alone, as it came while the end of the text was shown, is not enough.
  seen = 0;
  const blocks = [block(lines(1, 7))];
  const late = pager(blocks);
  late.at();
  blocks.push(asked);
  assertEquals([late.at()[4], late.shown("k[down]")[4], seen], ["row 20", "row 20", 0]);
  late.shown("g[end]");
  assertEquals(seen, 0);
  late.shown("g");
  late.shown("[pagedown]");
  late.shown("[end]");
  assertEquals(seen > 0, true);
});

Deno.test("a search goes to the nearest match, then on, around the ends, and says where none is", () => {
  const { modal, shown, at } = pager([
    ...[block(lines(1, 6)), block("A word and\nthe Word"), block(lines(7, 30)), block("wor")],
  ]);
  const cursor = () => modal.layout({ columns: 80, rows: 6 }).cursor;
  assertEquals(shown("/wo[backspace]ord").at(-1), "/word");
  assertEquals(cursor(), { row: 5, column: 5 });
  assertEquals(modal.press({ type: "key", name: "enter" }), "none");
  assertEquals(at()[cursor().row], "the Word");
  assertEquals(cursor().column, 4);
  assertEquals(at().at(-1)!.endsWith(" % · n next, N previous: word · q closes"), true);
  const next = (keys: string) => (shown(keys), [at()[cursor().row], cursor().column]);
  assertEquals(next("N"), ["A word and", 2]);
  assertEquals(next("N"), ["the Word", 4]);
  assertEquals(next("n"), ["A word and", 2]);
  assertEquals(next("/Word[enter]"), ["the Word", 4]);
  assertEquals(next("nN"), ["the Word", 4]);
  assertEquals(shown("/none[enter]").at(-1)!.includes("no match: none"), true);
  assertEquals(modal.press({ type: "text", text: "n" }), "bell");
  assertEquals(shown("/wor[escape]").at(-1)!.includes("no match: none"), true);
  assertEquals(shown("/a.b*(\\[enter]").at(-1)!.includes("no match: a.b*(\\"), true);
  assertEquals(modal.press({ type: "key", name: "escape" }), { done: null });
});

Deno.test("a match that is broken over rows is found, and shown in each of them", () => {
  const { modal, shown } = pager([block("x".repeat(7) + "one two" + "x".repeat(20))], ownStyle);
  shown("/one two[enter]", 10, 6);
  const { rows } = modal.layout({ columns: 10, rows: 6 });
  const marked = rows.slice(0, 2).map((row) =>
    row.filter(({ style }) => style.includes("7")).map(({ text }) => text).join("")
  );
  assertEquals(marked, ["one", " two"]);
  assertEquals(rows.slice(2, 5).flat().some(({ style }) => style !== ""), false);
});

Deno.test("all of a text is laid out anew for another size, at about the same place", () => {
  const { shown } = pager([block(lines(1, 50)), block("y".repeat(400)), block(lines(51, 90))]);
  const before = shown("[home][pagedown][pagedown]")[0]!;
  const narrow = shown("", 4, 12);
  assertEquals(narrow[0], before.slice(0, 4).trimEnd());
  assertEquals(narrow.length, 12);
  assertEquals(narrow.every((row) => row.length <= 4), true);
  assertEquals(shown("", 4, 1).length, 1);
});

Deno.test("of a long text little is laid out: where it is looked at, and what a search may find", () => {
  const blocks = Array.from({ length: 5000 }, (_, n) => block(`${n} `.repeat(500)));
  blocks[2000] = block("the needle");
  const { shown } = pager(blocks);
  laidOut = 0;
  shown("[pageup][pageup][home][end]");
  assertEquals(laidOut < 10, true, `${laidOut}`);
  laidOut = 0;
  assertEquals(shown("/the needle[enter]").includes("the needle"), true);
  assertEquals(laidOut < 10, true, `${laidOut}`);
});

Deno.test("keys that are no pager's do nothing, a paste is searched for in one row", () => {
  const { modal, at } = pager([block(lines(1, 20))]);
  const before = at();
  assertEquals(modal.press({ type: "text", text: "xyz" }), "none");
  assertEquals(modal.press({ type: "paste", text: "q" }), "none");
  assertEquals(modal.press({ type: "key", name: "tab" }), "none");
  assertEquals(at(), before);
  modal.press({ type: "text", text: "/" });
  modal.press({ type: "paste", text: "row\n 7" });
  assertEquals(at().at(-1), "/row 7");
  assertEquals(modal.press({ type: "key", name: "ctrl-z" }), "suspend");
  assertEquals(modal.press({ type: "key", name: "ctrl-c" }), "none");
  assertEquals(modal.press({ type: "key", name: "ctrl-c" }), { done: null });
});
