import { assertEquals } from "@std/assert";
import { asPressed, type Key, KeyDecoder } from "../../../../src/ui/terminal/line/keys.ts";
import { forEverySplit, seeded } from "../../../helpers/split.ts";

/** Keys as short text: names as they are, typed text in quotes, pastes in brackets. */
function keysOf(pieces: Iterable<Uint8Array>): string {
  const decoder = new KeyDecoder();
  const keys: Key[] = [];
  for (const piece of pieces) keys.push(...decoder.push(piece));
  keys.push(...decoder.flush());
  let out = "";
  let text = "";
  const flush = () => {
    if (text !== "") out += ` ${JSON.stringify(text)}`;
    text = "";
  };
  for (const key of keys) {
    if (key.type === "text") {
      text += key.text;
      continue;
    }
    flush();
    out += key.type === "paste" ? ` [${JSON.stringify(key.text)}]` : ` ${key.name}`;
  }
  flush();
  return out.slice(1);
}

const rows: [bytes: string, keys: string][] = [
  ["hello", '"hello"'],
  ["héé 日本 👨‍👩‍👧", '"héé 日本 👨‍👩‍👧"'],
  [
    "\x01\x02\x04\x05\x06\x0b\x0c\x0e\x10\x12\x13\x14\x15\x17\x19\x1a\x1f",
    [..."abdefklnprstuwyz", "_"].map((c) => `ctrl-${c}`).join(" "),
  ],
  ["\x00\x1c\x1d\x1e\x03", "ctrl-space ctrl-\\ ctrl-] ctrl-^ ctrl-c"],
  ["\r\n\t\x7f\b", "enter ctrl-j tab backspace ctrl-h"],
  ["a\rb\x7fc", '"a" enter "b" backspace "c"'],

  // Arrows: CSI and SS3, xterm's modifiers, Escape in front.
  ["\x1b[A\x1b[B\x1b[C\x1b[D", "up down right left"],
  ["\x1bOA\x1bOB\x1bOC\x1bOD", "up down right left"],
  [
    "\x1b[1;2A\x1b[1;3A\x1b[1;5A\x1b[1;6A\x1b[1;7C",
    "shift-up alt-up ctrl-up ctrl-shift-up ctrl-alt-right",
  ],
  ["\x1b[1;9D\x1b[1;33D", "alt-left alt-left"], // Meta, Super
  ["\x1b[1;65D\x1b[1;133D", "left ctrl-left"], // caps lock, num lock
  ["\x1b[2;3A\x1bO5C\x1bO5D", "ctrl-right ctrl-left"],
  ["\x1b\x1b[D\x1b\x1b[C\x1b\x1bOD", "alt-left alt-right alt-left"],
  ["\x1bO1;5D", "ctrl-left"],
  // A sequence ends with "@" to "~"; any other sign is typed.
  ["\x1bO@a\x1bO~b\x1bO?c", '"ab?c"'],
  ["\x1b[27;5~a", '"a"'],

  // Home, End, Delete: xterm, linux and screen, VT220 numbers.
  ["\x1b[H\x1b[F\x1bOH\x1bOF", "home end home end"],
  ["\x1b[1~\x1b[4~\x1b[7~\x1b[8~", "home end home end"],
  ["\x1b[1;5H\x1b[1;5F\x1b[7^\x1b[8^", "ctrl-home ctrl-end"],
  ["\x1b[3~\x1b[3;5~\x1b[3;3~\x1b[3;2~", "delete ctrl-delete alt-delete shift-delete"],
  ["\x1b\x1b[3~", "alt-delete"],
  ["\x1b[2~\x1b[5~\x1b[6~", "insert pageup pagedown"],
  ["\x1bOP\x1b[11~\x1b[15~\x1b[24~\x1b[1;5P\x1b[[A\x1b[[E", "f1 f1 f5 f12 ctrl-f1"],

  // Escape and a character.
  ["\x1bb\x1bf\x1bd\x1by\x1bB\x1b<\x1b>\x1b.", "alt-b alt-f alt-d alt-y alt-b alt-< alt-> alt-."],
  ["\x1b\x7f\x1b\b\x1b\r\x1b\n\x1b\t", "alt-backspace alt-backspace alt-enter alt-enter alt-tab"],
  ["\x1b\x02\x1b\x1f", "ctrl-alt-b ctrl-alt-_"],
  ["\x1bé\x1b😀", "alt-é alt-😀"],
  ["\x1b[Z", "shift-tab"],

  // A lone Escape, and several.
  ["\x1b", "escape"],
  ["\x1b\x1b", "escape escape"],
  ["\x1b\x1b\x1b", "escape escape escape"],
  ["a\x1b", '"a" escape'],
  ["\x1b[", "alt-["],
  ["\x1bO", "alt-o"],
  ["\x1b]", "alt-]"],
  ["\x1bP", "alt-p"],

  // kitty's protocol and modifyOtherKeys.
  ["\x1b[97u\x1b[97;1u\x1b[97;5u\x1b[97;3u", '"aa" ctrl-a alt-a'],
  ["\x1b[97;2u\x1b[97:65;2u\x1b[49:33;2u", '"AA!"'],
  ["\x1b[45:95;6u", "ctrl-_"],
  ["\x1b[13;2u\x1b[13;3u\x1b[13;5u\x1b[13u", "shift-enter alt-enter ctrl-enter enter"],
  ["\x1b[27u\x1b[27;1u\x1b[9;2u\x1b[127;5u", "escape escape shift-tab ctrl-backspace"],
  ["\x1b[97;5:1u\x1b[97;5:2u\x1b[97;5:3u", "ctrl-a ctrl-a"],
  ["\x1b[1;5:3D\x1b[3;1:3~", ""],
  ["\x1b[57399u\x1b[57409u\x1b[57414u\x1b[57417u\x1b[57426u", '"0." enter left delete'],
  ["\x1b[97;65u\x1b[97;129u\x1b[97;69u", '"aa" ctrl-a'], // caps lock, num lock
  // The first and the last code point that are text; private ones and surrogates are none.
  ["\x1b[32u\x1b[55295u\x1b[63744u\x1b[1114111u", '" \ud7ff\uf900\u{10ffff}"'],
  ["\x1b[1u\x1b[31u\x1b[55296u\x1b[63743u\x1b[1114112u", ""],
  ["\x1b[57441;2u\x1b[57358u", ""], // Shift, Caps Lock alone
  ["\x1b[27;5;97~\x1b[27;2;13~\x1b[27;6;95~", "ctrl-a shift-enter ctrl-_"],

  ["\x1b[I\x1b[O", "focus-in focus-out"],

  // No keys: answers of the terminal, mice, what nobody knows.
  ["a\x1b[?62;4cb\x1b[?2004;1$yc\x1b[>0;10;1cd\x1b[3n", '"abcd"'],
  ["a\x1b[1/pb", '"ab"'],
  ["a\x1b[2;1Rb\x1b[27;5~c", '"abc"'],
  ["a\x1b[12;34Rb\x1b[8;24;80tc", '"abc"'],
  ["b\x1b[<0;1;2Mc\x1b[<0;1;2md", '"bcd"'],
  ["a\x1b[99~b\x1b[1;5Xc\x1bOzd\x1b[! pd", '"abcdd"'],
  ["a\x1b[?0ub\x1b[?5u", '"a" keyboard-kitty "b" keyboard-kitty'],
  ["\x1b[32;5u\x1b[44:60;4u", "ctrl-space alt-<"],
  ["a\x1b]11;rgb:0000/0000/0000\x07b", '"a" background-dark "b"'],
  ["a\x1b]10;rgb:0000/0000/0000\x07b\x1bP11;rgb:ff/ff/ff\x07\x1b]11;?\x07", '"ab"'],
  [`\x1b]11;${"x".repeat(300)}rgb:ff/ff/ff\x07`, ""],
  ["\x1b]\x07a\x1b[[", '"a"'],
  ["a\x1b]11;rgb:ffff/fefe/eeee\x1b\\b", '"a" background-light "b"'],
  ["a\x1b]11;rgb:0000/0000/0000\rb", '"a" enter "b"'],
  ["a\x1bP1+r544e=787465\x1b\\b\x1b_Gi=1;OK\x1b\\c\x1b^x\x1b\\d\x1bXx\x1b\\e", '"abcde"'],
  ["a\x1b]11;lost end\rb\x1b]0;x\x03c", '"a" enter "b" ctrl-c "c"'],
  ["a\x1b]11;lost end\x1b[Ab", '"a" up "b"'],
  ["\x1b[1\rb", 'enter "b"'],
  ["\x1b[1;\x1b[A", "up"],
  ["a\x9bb\x80", '"ab"'], // C1 controls in UTF-8

  // Pastes.
  ["\x1b[200~ab\x1b[201~", '["ab"]'],
  ["x\x1b[200~a\r\nb\rc\nd\x1b[201~y", '"x" ["a\\nb\\nc\\nd"] "y"'],
  ["\x1b[200~\x1b[201~", '[""]'],
  ["\x1b[200~\x01\x03\x1b[A\x1b\x1b[201~\x01", '["\\u0001\\u0003\\u001b[A\\u001b"] ctrl-a'],
  ["\x1b[200~日本\x1b[201~", '["日本"]'],
  ["\x1b[201~a", '"a"'],
  ["\x1b[200~a\x1b[201~\x1b", '["a"] escape'],
  ["\x1b[200~one\x1b[201~\x1b[200~two\x1b[201~", '["onetwo"]'],
];

Deno.test("bytes to keys, however they are cut", () => {
  for (const [bytes, keys] of rows) {
    forEverySplit(
      new TextEncoder().encode(bytes),
      (pieces) => assertEquals(keysOf(pieces), keys, JSON.stringify(bytes)),
    );
  }
});

Deno.test("an Enter from before raw mode is one, a Ctrl-J later is a Ctrl-J", () => {
  const name = (name: string, ms: number) => asPressed({ type: "key", name }, ms).name;
  assertEquals([name("ctrl-j", 0), name("ctrl-j", 299), name("ctrl-j", 300)], [
    ...["enter", "enter", "ctrl-j"],
  ]);
  assertEquals(name("ctrl-k", 0), "ctrl-k");
});

Deno.test("TTY-03 text in a paste that ends it stays in it, and presses no key", () => {
  const pastes: [bytes: string, keys: string][] = [
    ["\x1b[200~safe\x1b[201~y\r\x1b[201~", '["safey\\n"]'],
    ["\x1b[200~safe\x1b[201~y\r\x1b[200~\x1b[201~", '["safey\\n"]'],
    ["\x1b[200~a\x1b[201~\x03\x1b[201~b\x1b[201~", '["a\\u0003b"]'],
    ["\x1b[200~a\x9b201~y\r\x1b[201~", '["a201~y\\n"]'],
    ["\x1b[200~a\x1b[20\x1b[201~1~y\x1b[201~", '["a[201~y"]'],
  ];
  for (const [bytes, keys] of pastes) {
    forEverySplit(
      new TextEncoder().encode(bytes),
      (pieces) => assertEquals(keysOf(pieces), keys, JSON.stringify(bytes)),
    );
  }
});

Deno.test("TTY-03 a paste without an end is ended by a silence", () => {
  const decoder = new KeyDecoder();
  const push = (text: string) => decoder.push(new TextEncoder().encode(text));
  assertEquals([push("\x1b[200~one\rtwo\x1b[20"), decoder.isPasting], [[], true]);
  assertEquals(decoder.giveUp(), [{ type: "paste", text: "one\ntwo\x1b[20" }]);
  assertEquals([decoder.giveUp(), decoder.isPasting], [[], false]);
  assertEquals(push("\r"), [{ type: "key", name: "enter" }]);
});

Deno.test("TTY-03 several lines in one read are a paste, which lasts until a pause", () => {
  const code = "for (const one of the_whole_list_of_items) {\r\n\tprint(one, others);\r}\r";
  const rows: [pieces: string[], keys: string][] = [
    [[code], '["for (const one of the_whole_list_of_items) {\\n\\tprint(one, others);\\n}\\n"]'],
    [
      ["x", code, "end\r"],
      '"x" ["for (const one of the_whole_list_of_items) {\\n\\tprint(one, others);\\n}\\nend\\n"]',
    ],
    // What a person types while the program is busy is short; a single line is sent.
    [
      ["y\rfix it, please\rthen the other one in the list\r"],
      '"y" enter "fix it, please" enter "then the other one in the list" enter',
    ],
    [[`${"a long line ".repeat(5)}\r`], `"${"a long line ".repeat(5)}" enter`],
    [
      ["a line of thirty characters or more\r\x1b[A\r"],
      '"a line of thirty characters or more" enter up enter',
    ],
  ];
  for (const [pieces, keys] of rows) {
    const encoder = new TextEncoder();
    assertEquals(keysOf(pieces.map((piece) => encoder.encode(piece))), keys);
  }
});

Deno.test("what is pending waits for its rest, text does not", () => {
  const decoder = new KeyDecoder();
  const encode = (text: string) => new TextEncoder().encode(text);
  const states: [bytes: string, keys: number, pending: boolean][] = [
    ["a", 1, false],
    ["\x1b", 0, true],
    ["[", 0, true],
    ["A", 1, false],
    ["\x1b[[A", 0, false],
    ["\x1b]", 0, true],
    ["1", 0, false],
    ["\x07", 0, false],
    [`\x1b[${"1".repeat(254)}`, 0, true],
    ["1", 0, false], // no key is so long
    [`\x1b]${"x".repeat(1000)}`, 0, false],
    ["x\x07", 0, false],
    ["\x1b[200~text", 0, false], // a paste takes what time it needs
    ["\x1b[201~", 0, true],
  ];
  for (const [bytes, keys, pending] of states) {
    assertEquals([decoder.push(encode(bytes)).length, decoder.pending], [keys, pending], bytes);
  }
  assertEquals(decoder.flush(), [{ type: "paste", text: "text" }]);
  assertEquals(decoder.flush(), []);
});

Deno.test("no bytes whatever make text of control characters, or stop the keys", () => {
  const random = seeded(3);
  const alphabet = [..."\x1b\x1b\x1b[[O]P_~;:0129AMuR$?<\r\x03\x07\x9b\\ab", "\x1b[200~", "é"];
  for (let round = 0; round < 3000; round++) {
    const bytes = Array.from({ length: 1 + Math.floor(random() * 20) }, () => {
      return alphabet[Math.floor(random() * alphabet.length)];
    }).join("");
    const decoder = new KeyDecoder();
    const keys = [...decoder.push(new TextEncoder().encode(bytes)), ...decoder.flush()];
    for (const key of keys) {
      if (key.type === "text") assertEquals(/\p{Cc}/u.test(key.text), false, JSON.stringify(bytes));
    }
    // Whatever came before, at most two control characters later keys work again.
    const end = decoder.push(new TextEncoder().encode("\x1b[201~\x1b[201~"));
    end.push(...decoder.flush(), ...decoder.push(new TextEncoder().encode("\x01")));
    assertEquals(end.at(-1), { type: "key", name: "ctrl-a" }, JSON.stringify(bytes));
  }
});
