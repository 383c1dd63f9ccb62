import { assert, assertEquals } from "@std/assert";
import { inserted } from "../../../../src/ui/terminal/line/edit.ts";
import type { Key } from "../../../../src/ui/terminal/line/keys.ts";
import { press } from "../../../../src/ui/terminal/line/press.ts";
import {
  type LineState,
  lineState,
  lineText,
  viStart,
  withHistory,
} from "../../../../src/ui/terminal/line/state.ts";
import {
  type HistoryEntry,
  replaceUnits,
  textPartOf,
  type Unit,
  unitsText,
} from "../../../../src/ui/terminal/units.ts";
import { graphemes } from "../../../../src/text/width.ts";
import { seeded } from "../../../helpers/split.ts";
import { pressAll, PressedLine, shown } from "./press_helper.ts";

const LEFT = "\x1b[D";
const RIGHT = "\x1b[C";
const UP = "\x1b[A";
const DOWN = "\x1b[B";
const paste = (text: string) => `\x1b[200~${text}\x1b[201~`;

/** `|` is the cursor; after a space, what the driver is told. */
const rows: [keys: string, text: string, ...effects: string[]][] = [
  // Typing and moving.
  ["hello", "hello|"],
  [`hello${LEFT}${LEFT}X`, "helX|lo"],
  [`ab${LEFT}${LEFT}${LEFT}${LEFT}X`, "X|ab"],
  [`ab${RIGHT}X`, "abX|"],
  ["abc\x01X\x05Y", "X" + "abcY|"],
  ["abc\x1b[HX\x1b[FY", "XabcY|"],
  ["abc\x02\x02X\x06Y", "aXbY|c"],
  ["one two  three\x1bb\x1bb", "one |two  three"],
  ["one two three\x01\x1bf\x1bf", "one two| three"],
  ["one.two/three\x1b[1;5D\x1b[1;5DX", "one.X|two/three"],
  ["one two\x1b\x1b[D\x1b[1;3CX", "one twoX|"],

  // Erasing.
  ["abc\x7f\x08", "a|"],
  ["\x7f", "|", "bell"],
  ["abc\x01\x1b[3~\x1b[3~", "|c"],
  ["abc\x01\x04", "|bc"],
  ["abc\x04", "abc|", "bell"],
  ["\x04", "|", "end"],
  [`ab${LEFT}\x0b`, "a|"],
  [`abcd${LEFT}${LEFT}\x15`, "|cd"],
  ["one two-three  \x17", "one |"],
  ["one two-three\x1b\x7f", "one two-|"],
  ["one two\x01\x1bd\x1bd", "|"],
  ["one two\x1b[3;5~\x01\x1b[3;5~", "| two", "bell"],

  // The kill ring.
  ["one two\x17\x19\x19", "one twotwo|"],
  ["one two three\x17\x17\x19", "one two three|"],
  ["one two\x01\x1bd\x1bd\x05\x19", "one two|"],
  ["abc def\x17\x15\x19", "abc def|"],
  ["a b\x17\x02\x06c\x17\x19\x1by", "a b|"],
  ["a b\x17\x02\x06c\x17\x19\x1by\x1by", "a c|"],
  ["a b\x17\x02\x06c\x17\x19\x1by\x1by\x1by", "a b|"],
  ["a b\x17\x02\x06c\x17\x19\x1by \x19", "a b b|"], // a yank goes on from the one popped
  ["\x19", "|", "bell"],
  ["a\x1by", "a|", "bell"],
  ["one two\x17\x02\x1by", "one| ", "bell"],
  ["a\x17b\x17c\x17\x19\x1by", "b|"],
  // Kills in a row replace the last text alone.
  ["x\x17a b\x17\x17\x19\x1by", "x|"],

  // Transposing and case.
  ["abc\x14", "acb|"],
  [`abc${LEFT}${LEFT}\x14`, "ba|c"],
  ["a\x14", "a|", "bell"],
  ["ab\x01\x14", "|ab", "bell"],
  ["one two\x01\x1bu\x1bc", "ONE Two|"],
  ["ONE\x01\x1bl", "one|"],
  ["abc\x1bu", "abc|", "bell"],
  ["\x1bt", "|", "bell"],
  ["one\x1bt", "one|", "bell"],
  [" one\x1bt", " one|", "bell"],
  ["straße x\x01\x1bu", "STRASSE| x"],

  // Undo: what is typed in steps of 20 bytes, each other change alone.
  ["one two\x1f", "|"],
  ["one two three four five\x1f", "one two three four f|"],
  ["one two\x1f\x1f", "|", "bell"],
  ["one two\x17\x1f", "one two|"],
  ["abc\x7f\x7f\x1f", "ab|"],
  ["abc\x7f\x7f\x1f\x1f", "abc|"],
  [`abc${paste("def")}\x1f`, "abc|"],
  ["abc\x01\x0b\x19\x1f\x1f", "abc|"],
  ["abc\x15\x18\x15", "abc|"],
  ["one two\x1bt", "two one|"],

  // Several lines.
  ["one\x1b\rtwo", "one\ntwo|"],
  ["one\x1b[13;2utwo\nthree", "one\ntwo\nthree|"],
  ["one\\\rtwo", "one\ntwo|"],
  ["one\\\\\rtwo", "one\\\ntwo|"],
  [`a\\${LEFT}\r`, "a\n|"],
  ["one\\ \r", "one\\ |", "submit"],
  ["one\ntwo\x01X", "one\nX|two"],
  [`one\ntwo${UP}X`, "oneX|\ntwo"],
  [`long line\nb\nlong line${UP}${UP}X`, "long lineX|\nb\nlong line"],
  [`one\ntwo${UP}${DOWN}X`, "one\ntwoX|"],
  [`one\ntwo${UP}\x01${DOWN}X`, "one\nX|two"],
  ["one\ntwo\x01\x15", "one|two"],
  [`one\ntwo${UP}\x0b`, "one|two"],
  ["one\ntwo\x1b[1;5HX", "X|one\ntwo"],
  ["one\ntwo\x1b[1;5H\x1b[1;5FX", "one\ntwoX|"],
  ["ab\ncd\x14\x01\x14", "ab\n|dc", "bell"],

  // Pastes never submit.
  [paste("a\nb\n"), "a\nb\n|"],
  [`x${paste("a\\")}`, "xa\\|"],
  [paste("\x03\x04\x01"), "\x03\x04\x01|"],
  [`${paste("a\r\nb")}\r`, "a\nb|", "submit"],

  // The rest of the effects.
  ["abc\r", "abc|", "submit"],
  ["\r", "|", "submit"],
  ["abc\x03", "abc|", "cancel"],
  ["abc\x0c", "abc|", "clear"],
  ["abc\x1a", "abc|", "suspend"],
  ["abc\t", "abc|", "complete"],
  ["abc\x1b[15~\x1b[I\x1b[2~", "abc|", "ignored", "ignored", "ignored"],
  ["abc\x1b", "abc|", "ignored"],
];

Deno.test("keys, the text and the cursor they lead to, and what the driver does", async () => {
  for (const [keys, text, ...effects] of rows) {
    const pressed = await pressAll(keys);
    assertEquals(
      [shown(pressed.state), ...pressed.effects],
      [text, ...effects],
      JSON.stringify(keys),
    );
  }
});

Deno.test("what came in one read is taken back whole", () => {
  const { undo } = inserted(lineState(), { type: "text", text: "x".repeat(30) });
  assertEquals(undo.length, 1);
});

const history = ["make test", "git log", "two\nlines", "git push"];
const historyRows: [keys: string, text: string, ...effects: string[]][] = [
  [UP, "git push|"],
  [`${UP}${UP}`, "two\nlines|"],
  [`${UP}${UP}${UP}`, "two|\nlines"],
  [`${UP}${UP}${UP}${UP}`, "git log|"],
  [`${UP}${UP}${DOWN}`, "git push|"],
  [`draft${UP}${DOWN}`, "draft|"],
  [`draft${UP}X${UP}${DOWN}`, "git pushX|"],
  [`draft${UP}X${DOWN}${UP}`, "git pushX|"],
  ["\x10\x10\x0e", "git push|"],
  ["\x1b<", "make test|"],
  [`new\x1b<\x1b>`, "new|"],
  ["new\x1b>", "new|"],
  [`\x1b<${UP}`, "make test|", "bell"],
  [DOWN, "|", "bell"],
  [`${UP}\x1f`, "git push|", "bell"],
  [`x${UP}Y${DOWN}\x1f`, "|"],
  [`x${UP}Y${DOWN}${UP}\x1f`, "git push|"],

  // Incremental search.
  ["\x12git", "|git push"],
  ["\x12git\x12", "|git log"],
  ["\x12git\x12\x12", "|git log"], // nothing more: stays
  ["\x12git\x12\x13", "|git push"],
  ["\x12line", "two\n|lines"],
  ["\x12GIT", "|"],
  ["\x12git l\x7f\x7f", "|git push"],
  ["\x12git l\x1b", "|git log"],
  ["\x12git l\x05!", "git log!|"],
  ["\x12git l\r", "|git log", "submit"],
  ["abc\x12git\x07", "abc|"],
  ["abc\x12git\x05\x1f", "git push|", "bell"],
  ["abc\x12git\x03", "|git push", "cancel"],
  [`abc\x12log\x05${DOWN}${DOWN}${DOWN}`, "abc|"],
  ["\x12log\x05\x15\x12\x12", "git |log"], // the last query again
  ["\x12", "|"],
  [`\x12git${paste("X")}`, "X|git push"],
];

Deno.test("history and incremental search", async () => {
  for (const [keys, text, ...effects] of historyRows) {
    const pressed = await pressAll(keys, new PressedLine(lineState({ history })));
    assertEquals(
      [shown(pressed.state), ...pressed.effects],
      [text, ...effects],
      JSON.stringify(keys),
    );
  }
});

Deno.test("a search skips equal entries, and is case-sensitive with capitals", async () => {
  const history = ["Git a", "git a", "git b", "git b"];
  for (const [keys, text] of [["\x12git\x12", "|git a"], ["\x12Git", "|Git a"]] as const) {
    const { state } = await pressAll(keys, new PressedLine(lineState({ history })));
    assertEquals(shown(state), text);
  }
});

Deno.test("what a single line does not do", async () => {
  for (const key of ["\r", "\n", "\x1b\r", "\x1b[13;2u"]) {
    const line = new PressedLine(lineState({ multiline: false }));
    const { state, effects } = await pressAll(`one\\${key}`, line);
    assertEquals([shown(state), ...effects], ["one\\|", "submit"]);
  }
});

Deno.test("large pastes are one unit, and whole when it counts", async () => {
  const large = Array.from({ length: 120 }, (_, i) => `line ${i}`).join("\n");
  const { state } = await pressAll(`before ${paste(large)} after`);
  assertEquals(state.units.length, "before ".length + 1 + " after".length);
  const label = state.units.find((unit) => typeof unit !== "string");
  assertEquals(label, { text: large, label: "[pasted 120 lines]" });
  assertEquals(lineText(state), `before ${large} after`);
  const after = async (keys: string) =>
    lineText((await pressAll(keys, new PressedLine(state))).state);
  assertEquals((await after("\x1b[1;5D\x1b[1;5D\x0b\x19\x19")).length, 2 * large.length + 19);
  assertEquals(await after("\x01\x1bf\x06\x1b[3~"), "before  after");

  const list = `x ${paste("- y\n".repeat(30))}\x1bb`;
  assertEquals((await pressAll(list)).state.cursor, 2);
});

Deno.test("a history that grows: entries that are looked at stay those they are", async () => {
  for (
    const [before, keys, text] of [[UP, UP, "one"], [UP, DOWN, ""], ["x", UP, "three"]] as const
  ) {
    const line = await pressAll(before, new PressedLine(lineState({ history: ["one", "two"] })));
    line.state = withHistory(line.state, ["one", "two", "three"]);
    assertEquals(lineText((await pressAll(keys, line)).state), text);
  }
});

/** A line with each `@` that was pasted as `#`. */
function marked(state: LineState): string {
  const { text, pasted = [] } = textPartOf(state.units);
  const isPasted = (at: number) => pasted.some(([from, to]) => from <= at && at < to);
  return text.replaceAll("@", (_, at) => isPasted(at) ? "#" : "@");
}

/** The keys, the line with each pasted `@` as `#`. */
const PASTED: [keys: string, marked: string][] = [
  ["@a b", "@a b"],
  [paste("@a @b"), "#a #b"],
  [`@a ${paste("é@b")}@c`, "@a é#b@c"],
  [`@${paste("a")}`, "@a"],
  [`${paste("x@a")}${LEFT}${LEFT} `, "x #a"],
  [`${paste("@a")}\x15\x19\x19`, "#a#a"],
  [`${paste("@a")}\x15\x1f`, "#a"],
  [`${paste("a@")}\x14`, "#a"],
  [`${paste("a@b")}\x01\x1bu`, "A#b"],
  [`${paste("@\u0301a")}\x7f`, "#\u0301"],
  [`${paste("@")}\u0301a`, "#\u0301a"],
  [`@b ${paste(`@a ${"x".repeat(3000)}`)} @c`, `@b #a ${"x".repeat(3000)} @c`],
  [UP, "see @b #a"],
  [`\x12see\x1b`, "see @b #a"],
  [`${UP}${UP}${DOWN}!`, "see @b #a!"],
  [UP.repeat(2), `#x #y${"z".repeat(20_000)}`],
  [UP.repeat(3), "@typed"],
];

Deno.test("R-06 an @ that was pasted stays known as that, however the line is edited", async () => {
  const long = `@x @y${"z".repeat(20_000)}`;
  const history: HistoryEntry[] = [
    "@typed",
    { text: long, pasted: [[3, 4]] },
    { text: "see @b @a", pasted: [[7, 9]] },
  ];
  for (const [keys, expected] of PASTED) {
    const line = await pressAll(keys, new PressedLine(lineState({ history })));
    assertEquals(marked(line.state), expected, JSON.stringify(keys.slice(0, 40)));
  }
  const { state } = await pressAll(`${paste("one @two")}\x1bb\x1bb`);
  assertEquals(shown(state), "|one @two");
});

Deno.test("R-06 after an edit in a program, all but the start of a line with a paste is inert", async () => {
  const rows: [keys: string, marked: string][] = [
    ["/a @b", "/a @b @c"],
    [`/a ${paste("@b")}`, "/a #b #c"],
    [`@a ${paste("x".repeat(3000))}`, `@a ${"x".repeat(3000)} #c`],
    [paste("@a"), "#a #c"],
  ];
  for (const [keys, expected] of rows) {
    const edit = (text: string) => Promise.resolve(`${text} @c`);
    const line = await pressAll(keys, new PressedLine(lineState(), { edit }));
    assertEquals(marked((await pressAll("\x07", line)).state), expected);
  }
});

Deno.test("Ctrl-V inserts the path of the clipboard's image, or rings", async () => {
  const rows: [path: string | undefined, text: string][] = [
    ["/tmp/a.png", "see @/tmp/a.png "],
    ["/tmp/a b.png", 'see @"/tmp/a b.png" '],
    [undefined, "see "],
  ];
  for (const [path, expected] of rows) {
    const look = { pasteImage: () => Promise.resolve(path) };
    assertEquals(
      lineText((await pressAll("see \x16", new PressedLine(lineState(), look))).state),
      expected,
    );
  }
});

/** Units whose segmentation depends on their neighbours. */
const PIECES = [
  ..."ab \n日é",
  "\u0301",
  "\u200d",
  "\ufe0f",
  "👩",
  "🏽",
  "🇩",
  "🇪",
  "1",
  "\u20e3",
  "क",
  "्",
  "ष",
  "\u0600",
  "ᄒ",
  "ᅡ",
  "©",
];

Deno.test("TTY-08 units stay the graphemes of the text, wherever it is edited", () => {
  const random = seeded(8);
  const pick = (n: number) => Math.floor(random() * n);
  for (let round = 0; round < 400; round++) {
    let units: readonly Unit[] = [];
    for (let step = 0; step < 30; step++) {
      const from = pick(units.length + 1);
      const to = Math.min(units.length, from + (pick(3) === 0 ? pick(4) : 0));
      const inserted = Array.from({ length: pick(4) }, () => PIECES[pick(PIECES.length)]!).join("");
      const before = unitsText(units.slice(0, from));
      const text = before + inserted + unitsText(units.slice(to));
      const next = replaceUnits(units, from, to, graphemes(inserted));
      units = next.units;
      assertEquals(units, graphemes(text), JSON.stringify({ before, inserted }));
      const at = unitsText(units.slice(0, next.cursor)).length;
      const end = before.length + inserted.length;
      const last = next.cursor === 0 ? 0 : units[next.cursor - 1]!.toString().length;
      assert(
        at >= end && at - last < Math.max(end, 1),
        JSON.stringify({ before, inserted, at, end }),
      );
    }
  }
});

Deno.test("vim mode: a key with a name takes back a command that is not finished", () => {
  const text = (text: string): Key => ({ type: "text", text });
  const named = (name: string): Key => ({ type: "key", name });
  let state = lineState({ vi: viStart(0) });
  const keys = ["one two", "escape", "0", "d", "right", "w", "d", "w"];
  for (const key of keys) {
    ({ state } = press(state, /^(escape|right)$/.test(key) ? named(key) : text(key)));
  }
  assertEquals(lineText(state), "one ");
});
