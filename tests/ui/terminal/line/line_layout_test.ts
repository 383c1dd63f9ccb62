import { ownStyle } from "../../../../src/ui/terminal/style.ts";
import { assert, assertEquals } from "@std/assert";
import {
  type CellRow,
  EMPTY_FRAME,
  type Frame,
  leave,
  paint,
} from "../../../../src/ui/terminal/screen/frame.ts";
import { layoutLine } from "../../../../src/ui/terminal/line/line_layout.ts";
import { cellsOf } from "../../../../src/ui/terminal/styled.ts";
import { lineState } from "../../../../src/ui/terminal/line/state.ts";
import { Screen } from "../../../helpers/screen.ts";
import { seeded } from "../../../helpers/split.ts";
import { pressAll, PressedLine } from "./press_helper.ts";

const LEFT = "\x1b[D";

/** The rows as text, the cursor shown as `|`. */
function textRows({ rows, cursor }: Frame): string[] {
  return rows.map((row, at) => {
    let column = 0;
    let text = "";
    for (const cell of row) {
      if (at === cursor.row && column === cursor.column) text += "|";
      text += cell.text;
      column += cell.width;
    }
    return at === cursor.row && column === cursor.column ? `${text}|` : text;
  });
}

const widthOf = (row: CellRow) => row.reduce((width, cell) => width + cell.width, 0);

const options = (columns: number, maxRows = 24) => (
  { prompt: "> ", sgr: () => "", columns, maxRows }
);

const rows: [keys: string, columns: number, ...rows: string[]][] = [
  ["", 80, "> |"],
  ["abc", 80, "> abc|"],
  [`abc${LEFT}`, 80, "> ab|c"],
  ["abcdef", 5, "> abc", "def|"],
  ["abc", 5, "> abc", "|"],
  [`abcd${LEFT}`, 5, "> abc", "|d"],
  ["one\ntwo", 80, "> one", "  two|"],
  ["one\n", 80, "> one", "  |"],
  ["one\n\ntwo\x1b[A", 80, "> one", "  |", "  two"],
  ["abc\nx\x1b[A\x05", 5, "> abc", "|", "  x"],
  ["abc\nx", 5, "> abc", "  x|"],
  // Words stay whole, unless they are long; a blank at the end of a row begins no new one.
  ["one two", 8, "> one ", "two|"],
  [`one two${LEFT}${LEFT}`, 8, "> one ", "t|wo"],
  ["one two three", 10, "> one two ", "three|"],
  ["a bcdefgh", 8, "> a bcde", "fgh|"],
  ["abc  d", 5, "> abc", "d|"],
  ["abc ", 5, "> abc", "|"],
  [`abc d${LEFT}${LEFT}`, 5, "> abc", "|d"],
  ["the words of a line go on", 20, "> the words of a ", "  line go on|"],
  ["the words of a line ", 20, "> the words of a ", "  line |"],
  ["123456789012345678", 20, "> 123456789012345678", "  |"],
  [`the words of a line${LEFT}${LEFT}${LEFT}${LEFT}`, 20, "> the words of a ", "  |line"],
  ["one\ntwo three", 9, "> one", "  two ", "three|"],
  ["日本語", 6, "> 日本", "語|"],
  ["日本語", 5, "> 日", "本語|"],
  [`日本${LEFT}`, 5, "> 日", "|本"],
  ["日本", 1, ">", "?", "?", "|"],
  [`a日${LEFT}`, 1, ">", "a", "|?"],
  [`a日${LEFT}`, 2, "> ", "a", "|日"],
  ["👨‍👩‍👧x", 80, "> 👨‍👩‍👧x|"],
  ["\x1b[200~a\tb\x1b[201~", 80, "> a     b|"],
  ["\x1b[200~\t\x1b[201~", 10, ">       |"],
  ["\x1b[200~abcdef\tb\x1b[201~", 12, "> abcdef", "b|"],
  // What would drive the terminal, or not be seen.
  ["\x1b[200~a\x1b[2Jb\x1b[201~", 80, "> a␛[2Jb|"],
  ["\x1b[200~\x07\x00\x7f\x1b[201~", 80, "> ␇␀␡|"],
  ["a\u202eb", 80, "> a\\u{202e}b|"],
  ["\u0301", 80, "> ◌\u0301|"],
  ["a\u200bb", 80, "> a\\u{200b}b|"],
  ["\u202e", 8, "> \\u{202", "e}|"],
];

Deno.test("TTY-01 TTY-08 rows and cursor of a line", async () => {
  for (const [keys, columns, ...expected] of rows) {
    const frame = layoutLine((await pressAll(keys)).state, options(columns));
    assertEquals(textRows(frame), expected, JSON.stringify([keys, columns]));
    for (const row of frame.rows) assert(widthOf(row) <= columns, keys);
  }
});

Deno.test("searches, menus and large pastes", async () => {
  const history = ["git log", "two\nlines"];
  const searches: [keys: string, ...rows: string[]][] = [
    ["\x12", "(reverse-i-search)'': |"],
    ["\x12li", "(reverse-i-search)'li': two", "  |lines"],
    ["\x12lx", "(failed reverse-i-search)'lx': two", "  |lines"],
    ["\x13x", "(failed i-search)'x': |"],
  ];
  for (const [keys, ...rows] of searches) {
    const { modals } = await pressAll(keys, new PressedLine(lineState({ history })));
    assertEquals(textRows(modals.layout({ columns: 80, rows: 24 })), rows);
  }

  const text = "a\n".repeat(50);
  const pasted = await pressAll(`x\x1b[200~${text}\x1b[201~y`);
  assertEquals(textRows(layoutLine(pasted.state, options(80))), ["> x[pasted 50 lines]y|"]);
  const modal = new PressedLine(pasted.state, { edit: () => Promise.resolve("") });
  const frame = (rows: number) => textRows(modal.modals.layout({ columns: 80, rows })).slice(1);
  assertEquals([frame(24), frame(1)], [["  Ctrl-G opens the paste in $EDITOR"], []]);
  const look = { ...options(80), sgr: ownStyle };
  const [row] = layoutLine(pasted.state, look).rows;
  assertEquals([row![0], row![2], row![3]].map((cell) => cell!.style), [
    ...["\x1b[1;36m", "", "\x1b[36m"],
  ]);

  const line = new PressedLine(lineState({ text: "/c" }), {
    completer: () => ({ replace: 2, items: ["/clear", "/close", "/cd"] }),
  });
  await pressAll("\t", line);
  const menu = (columns: number, rows = 24) =>
    textRows(line.modals.layout({ columns, rows })).map((row) => row.trimEnd());
  assertEquals(menu(80), ["> /c|", "  /clear", "  /close", "  /cd"]);
  assertEquals(menu(4), ["> /c", "|", "  /…", "  /…", "  /…"]);
  assertEquals(menu(80, 3), ["> /c|", "  /clear", "↓ /close"]);
});

Deno.test("a text with more rows than the screen scrolls only as far as it must", async () => {
  const line = new PressedLine(lineState({ text: "1\n2\n3\n4\n5\n6" }));
  const steps: [keys: string, first: string, cursorRow: number][] = [
    ["", "  4", 2],
    ["\x1b[A", "  4", 1],
    ["\x1b[A", "  4", 0],
    ["\x1b[A", "  3", 0],
    ["\x1b[1;5H", "> 1", 0],
    ["\x1b[B", "> 1", 1],
    ["\x1b[1;5F", "  4", 2],
    ["\x7f\x7f\x7f\x7f\x7f\x7f", "> 1", 2],
  ];
  for (const [keys, first, cursorRow] of steps) {
    const frame = (await pressAll(keys, line)).layout({ columns: 80, rows: 3 });
    assertEquals(frame.rows.length, 3);
    assertEquals(
      [textRows(frame)[0]!.replace("|", ""), frame.cursor.row],
      [first, cursorRow],
      keys,
    );
  }
});

const KEYS = [
  ..."ab \n日é界x",
  "\u0301",
  "👩‍🚀",
  "🇩",
  "\u202e",
  "hello world ",
  "the quick brown fox jumps over it",
  "\x1b[200~\t\x1b[201~",
  `\x1b[200~${"p\n".repeat(30)}\x1b[201~`,
  LEFT,
  LEFT,
  "\x1b[C",
  "\x1b[A",
  "\x1b[B",
  "\x7f",
  "\x1b[3~",
  ..."\x01\x05\x0b\x14\x15\x17\x19\x1f\x12\x07",
  "\x1b[1;5H",
  "\x1b[1;5F",
];

Deno.test("TTY-07 after any edits at any width the screen is as if drawn anew", async () => {
  const random = seeded(11);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const widths = [40, 79, 80, 200, ...Array.from({ length: 30 }, (_, i) => i + 1)];
  for (const columns of widths) {
    const height = pick([1, 2, 5, 24]);
    const screen = new Screen(columns, height);
    const line = new PressedLine(lineState({ history: ["an old entry", "日本語\nof two lines"] }));
    let frame: Frame = EMPTY_FRAME;
    for (let step = 0; step < 120; step++) {
      await pressAll(pick(KEYS), line);
      line.look.color = pick(["", "\x1b[32m"]);
      const next = line.modals.layout({ columns, rows: height });
      screen.write(paint(frame, next, columns));
      frame = next;
      const fresh = new Screen(columns, height);
      fresh.write(paint(EMPTY_FRAME, frame, columns));
      assertEquals(screen.lines, fresh.lines);
      assertEquals(screen.styles, fresh.styles);
      assertEquals([screen.row, screen.column], [fresh.row, fresh.column]);
      assertEquals([fresh.row, fresh.column], [frame.cursor.row, frame.cursor.column]);
    }
    assertEquals(screen.scrollback, []);
    screen.write(leave(frame));
    assertEquals(screen.column, 0);
  }
});

Deno.test("from any frame to any other", () => {
  const random = seeded(12);
  const pick = (n: number) => Math.floor(random() * n);
  const columns = 14;
  const anyRow = (alphabet: string): CellRow => {
    const cells = cellsOf(
      Array.from({ length: pick(columns + 1) }, () => alphabet[pick(alphabet.length)]).join(""),
      "",
    );
    while (widthOf(cells) > columns) cells.pop();
    return cells;
  };
  const anyFrame = (): Frame => {
    const alphabet = ["a", "aaab", "ab日", "aa\u231a"][pick(4)]!;
    const rows = Array.from({ length: 1 + pick(3) }, () => anyRow(alphabet));
    return { rows, cursor: { row: pick(rows.length), column: pick(columns) } };
  };
  for (let round = 0; round < 6000; round++) {
    const [before, after] = [anyFrame(), anyFrame()];
    const [screen, fresh] = [new Screen(columns, 4), new Screen(columns, 4)];
    screen.write(paint(EMPTY_FRAME, before, columns));
    screen.write(paint(before, after, columns));
    fresh.write(paint(EMPTY_FRAME, after, columns));
    assertEquals(
      [screen.lines, screen.row, screen.column],
      [fresh.lines, fresh.row, fresh.column],
      JSON.stringify([textRows(before), textRows(after)]),
    );
  }
});
