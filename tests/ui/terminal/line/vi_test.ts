import { assertEquals } from "@std/assert";
import type { Key } from "../../../../src/ui/terminal/line/keys.ts";
import { press } from "../../../../src/ui/terminal/line/press.ts";
import {
  type LineState,
  lineState,
  lineText,
  viStart,
} from "../../../../src/ui/terminal/line/state.ts";
import { shown } from "./press_helper.ts";

const NAMES: Readonly<Record<string, string>> = {
  "\x1b": "escape",
  "\r": "enter",
  "\x7f": "backspace",
  "\n": "ctrl-j",
};

function typed(keys: string, state: LineState): LineState {
  for (const char of keys) {
    const name = NAMES[char];
    const key: Key = name === undefined ? { type: "text", text: char } : { type: "key", name };
    ({ state } = press(state, key));
  }
  return state;
}

/** A text that was typed, then the commands; the line they lead to, with its cursor as `|`. */
const ROWS: [text: string, commands: string, line: string][] = [
  // Motions.
  ["one two", "hh", "one |two"],
  ["one two", "0lll l", "one t|wo"],
  ["one two", "0$", "one tw|o"],
  ["  one", "0^", "  |one"],
  ["   ", "0^", "  | "],
  ["one two.three", "0w", "one |two.three"],
  ["one two.three", "0ww", "one two|.three"],
  ["one two.three", "02W", "one two.thre|e"],
  ["one two.three", "0e", "on|e two.three"],
  ["one two.three", "0ee", "one tw|o.three"],
  ["one two.three", "0EE", "one two.thre|e"],
  ["one two.three", "b", "one two.|three"],
  ["one two.three", "2b", "one two|.three"],
  ["one two.three", "B", "one |two.three"],
  ["one two", "9b", "|one two"],
  ["", "wbeh0$", "|"],
  ["a.b.c", "0f.", "a|.b.c"],
  ["a.b.c", "02f.", "a.b|.c"],
  ["a.b.c", "03f.", "|a.b.c"],
  ["a.b.c", "0f.;", "a.b|.c"],
  ["a.b.c", "0f.;,", "a|.b.c"],
  ["a.b.c", "F.", "a.b|.c"],
  ["a.b.c", "T.h,", "a.b|.c"],
  ["a.b.c", "0t.", "|a.b.c"],
  ["abc.d", "0t.", "ab|c.d"],
  ["one\ntwo", "k", "on|e\ntwo"],
  ["one\ntwo", "kj", "one\ntw|o"],
  // Operators.
  ["one two three", "0dw", "|two three"],
  ["one two three", "0d2w", "|three"],
  ["one two three", "02dw", "|three"],
  ["one two three", "dw", "one two thr|e"],
  ["one two", "0wdw", "one| "],
  ["one\ntwo", "k0dw", "|\ntwo"],
  ["one two", "0de", "| two"],
  ["one two", "db", "one |o"],
  ["one two", "0d$", "|"],
  ["one two", "d0", "|o"],
  ["one two", "0wD", "one| "],
  ["a.b.c", "0df.", "|b.c"],
  ["a.b.c", "0dt.", "|.b.c"],
  ["a.b.c", "dF.", "a.b|c"],
  ["a.b.c", "0f.d;", "a|c"],
  ["a.b.c", "0dfx", "|a.b.c"],
  ["a.b.c", "0dq", "|a.b.c"],
  ["one two", "0cwX\x1b", "|X two"],
  ["one two three", "0c2wX\x1b", "|X three"],
  ["a bc", "0cwX\x1b", "|X bc"],
  ["a  b", "0lcwX\x1b", "a|X b"],
  ["one two", "0wCX\x1b", "one |X"],
  ["one", "ccX\x1b", "|X"],
  ["one\ntwo\nx", "kSX\x1b", "one\n|X\nx"],
  ["one\ntwo\nx", "kdd", "one\n|x"],
  ["one\ntwo\nx", "dd", "one\n|two"],
  ["one\ntwo\nx", "kk2dd", "|x"],
  ["one\ntwo\nx", "kk9dd", "|"],
  ["one", "dd", "|"],
  // Changes of characters.
  ["abc", "x", "a|b"],
  ["abc", "0x", "|bc"],
  ["abc", "02x", "|c"],
  ["abc", "09x", "|"],
  ["abc", "X", "a|c"],
  ["abc", "0X", "|abc"],
  ["abc", "0sX\x1b", "|Xbc"],
  ["abc", "02sX\x1b", "|Xc"],
  ["abc", "0rX", "|Xbc"],
  ["abc", "02rX", "X|Xc"],
  ["abc", "rd", "ab|d"],
  ["abc", "2rX", "ab|c"],
  ["abC", "0~~~", "AB|c"],
  ["abC", "02~", "AB|C"],
  ["straße", "0f\u00df~", "straSS|e"],
  // Insertions.
  ["abc", "iX\x1b", "ab|Xc"],
  ["abc", "aX\x1b", "abc|X"],
  ["abc", "IX\x1b", "|Xabc"],
  ["abc", "0AX\x1b", "abc|X"],
  ["abc", "0oX\x1b", "abc\n|X"],
  ["abc", "OX\x1b", "|X\nabc"],
  ["abc", "axy\x7fz\x1b", "abcx|z"],
  // What was deleted or copied.
  ["one two", "0dwP", "one| two"],
  ["one two", "0dw$p", "twoone| "],
  ["one two", "0yw$p", "one twoone| "],
  ["one two", "ybP", "one t|wtwo"],
  ["ab", "0x2p", "ba|a"],
  ["one\ntwo", "kyyp", "one\n|one\ntwo"],
  ["one\ntwo", "yyP", "one\n|two\ntwo"],
  ["one\ntwo", "kddp", "two\n|one"],
  ["one\ntwo", "yy2p", "one\ntwo\n|two\ntwo"],
  ["one", "ddp", "on|e"],
  // Undo: an insertion is one step.
  ["abc", "u", "|"],
  ["abc", "xu", "ab|c"],
  ["abc", "xxuu", "ab|c"],
  ["abc", "xx2u", "ab|c"],
  ["abc", "axy\x7fz\x1bu", "ab|c"],
  ["one two", "0cwab cd\x1bu", "one| two"],
  ["abc", "oX\x1bu", "ab|c"],
  ["abc", "aX\x1baY\x1bu", "abc|X"],
  // The last change again.
  ["one two three", "0dw.", "|three"],
  ["one two three four", "0dw2.", "|four"],
  ["one two three four", "02dw1.", "|four"],
  ["one two", "0cwX\x1bw.", "X |X"],
  ["abcd", "0rX l.", "Xb|Xd"],
  ["a", "ab\x1b.", "ab|b"],
  ["a", "abc\x7f\x1b.", "ab|b"],
  ["a", "ob\x1b.", "a\nb\n|b"],
  ["a.b.c.d", "0df..", "|c.d"],
  ["abcd", "0xu0.", "|bcd"],
  ["one two", "0cwX\x1bw.u", "X tw|o"],
  ["a.b", "0cf.dd\x1b.", "d|db"],
  ["abc", ".", "ab|c"],
];

Deno.test("vim mode: commands, and the line and the cursor they lead to", () => {
  for (const [text, commands, expected] of ROWS) {
    const state = typed(`${text}\x1b${commands}`, lineState({ vi: viStart(0) }));
    assertEquals(shown(state), expected, JSON.stringify([text, commands]));
  }
});

Deno.test("vim mode: j and k go through the history, whose entries are shown from their beginning", () => {
  const history = ["make test", "git log", "git push"];
  for (
    const [keys, line] of [["k", "|git push"], ["2k", "|git log"], ["9k", "|make test"], [
      "kkj",
      "|git push",
    ], ["kj", "ne|w"]] as const
  ) {
    const vi = viStart(history.length);
    assertEquals(shown(typed(`new\x1b${keys}`, lineState({ history, vi }))), line, keys);
  }
});

Deno.test("vim mode: the last change and the last search last longer than a line", () => {
  const first = typed("a.b\x1b0f.s--\r", lineState({ vi: viStart(0) }));
  const { memory } = first.vi!;
  const second = typed("x.y\x1b0;.", lineState({ vi: viStart(0, memory) }));
  assertEquals(lineText(second), "x--y");
});
