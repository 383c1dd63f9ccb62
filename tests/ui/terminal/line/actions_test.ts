import { assertEquals, assertThrows } from "@std/assert";
import {
  ACTIONS,
  DEFAULT_KEYMAP,
  keymapOf,
  keysOf,
  VIM_KEYS,
} from "../../../../src/ui/terminal/line/actions.ts";
import { press } from "../../../../src/ui/terminal/line/press.ts";
import { lineState, lineText } from "../../../../src/ui/terminal/line/state.ts";
import type { Key } from "../../../../src/ui/terminal/line/keys.ts";

const named = (name: string): Key => ({ type: "key", name });

Deno.test("every default key has one action, and each action but one a key", () => {
  const keys = ACTIONS.flatMap(({ keys }) => keys === "" ? [] : keys.split(", "));
  assertEquals(ACTIONS.filter((row) => row.keys as string === "").map(({ name }) => name), [
    "transpose-chars",
  ]);
  assertEquals(new Set(keys).size, keys.length);
  assertEquals(new Set(DEFAULT_KEYMAP.bindings.keys()), new Set(keys));
  assertEquals([...DEFAULT_KEYMAP.prefixes], ["ctrl-x"]);
});

Deno.test("keys are rebound by name, however the name is written", () => {
  const keymap = keymapOf({
    "F2": "editor",
    "alt-ctrl-u": "undo",
    "ctrl-t": null,
    "ctrl-i": "newline",
    "pageup": "beginning-of-history",
    "ctrl-k": "kill-to-start",
    "alt-Enter": "submit",
  });
  const action = (key: string) => keymap.bindings.get(key);
  assertEquals(
    ["f2", "ctrl-alt-u", "ctrl-t", "tab", "pageup", "ctrl-k", "alt-enter", "ctrl-g"].map(action),
    [
      "editor",
      "undo",
      undefined,
      "newline",
      "beginning-of-history",
      "kill-to-start",
      "submit",
      "editor",
    ],
  );
  assertEquals(keysOf(keymap, "editor"), ["ctrl-g", "ctrl-x ctrl-e", "f2"]);
});

Deno.test("sequences: one that begins another takes its place", () => {
  assertEquals([...keymapOf({ "ctrl-x": "undo" }).prefixes], []);
  const keymap = keymapOf({ "ctrl-k ctrl-k": "undo" });
  assertEquals(keymap.bindings.has("ctrl-k"), false);
  const typed = press(lineState(), { type: "text", text: "ab" }, keymap).state;
  const first = press(typed, named("ctrl-k"), keymap);
  assertEquals([first.effect, lineText(first.state)], ["none", "ab"]);
  assertEquals(lineText(press(first.state, named("ctrl-k"), keymap).state), "");
  const other = press(first.state, { type: "text", text: "x" }, keymap);
  assertEquals([other.effect, lineText(other.state)], ["bell", "ab"]);
  assertEquals(lineText(press(other.state, { type: "text", text: "x" }, keymap).state), "abx");
});

Deno.test("what is no key and no action is refused with one sentence", () => {
  const rows: [own: Record<string, unknown>, message: string][] = [
    [{ "ctl-k": "undo" }, '"ctl-k" is not a key: did you mean ctrl-k?'],
    [{ "k": "undo" }, '"k" is not a key: one is ctrl-k or f2'],
    [{ "f13": "undo" }, '"f13" is not a key: one is ctrl-k or f2'],
    [
      { "ctrl-k": "kill-lin" },
      "ctrl-k cannot be bound as there is no action kill-lin: did you mean kill-line?",
    ],
    [
      { "ctrl-k": "frobnicate" },
      "ctrl-k cannot be bound as there is no action frobnicate: docs/keys.md lists them",
    ],
    [
      { "ctrl-k": "sk-Secret0" },
      "ctrl-k cannot be bound as that is not an action: docs/keys.md lists them",
    ],
    [{ "ctrl-k": 3 }, "ctrl-k cannot be bound as that is not an action: docs/keys.md lists them"],
    [{ "ctrl-c": "undo" }, "ctrl-c cannot be rebound: bind another key to the action"],
    [{ "ctrl-[": null }, "escape cannot be rebound: bind another key to the action"],
    [
      { "ctrl-a ctrl-b ctrl-d": "undo" },
      '"ctrl-a ctrl-b ctrl-d" is not a key: did you mean ctrl-a?',
    ],
  ];
  for (const [own, message] of rows) {
    assertThrows(() => keymapOf(own), SyntaxError, message, JSON.stringify(own));
  }
});

Deno.test("docs/keys.md has the rows of the tables, and no others", async () => {
  const text = await Deno.readTextFile(new URL("../../../../docs/keys.md", import.meta.url));
  const cells = text.split("\n").filter((line) => /^\| +`/.test(line))
    .map((line) =>
      line.replaceAll("`", "").split(/(?<!\\)\|/).slice(1, -1).map((cell) => cell.trim())
    );
  const rows = [
    ...ACTIONS.map(({ name, keys, help }) => [name, keys, help]),
    ...VIM_KEYS.map(({ keys, help }) => [keys, help]),
  ].map((row) => row.map((cell) => cell.replaceAll("|", "\\|")));
  assertEquals(cells, rows);
});
