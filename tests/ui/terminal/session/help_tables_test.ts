import { assertEquals } from "@std/assert";
import { keysText, shortHelp } from "../../../../src/ui/terminal/session/help_tables.ts";
import { DEFAULT_KEYMAP, keymapOf } from "../../../../src/ui/terminal/line/actions.ts";

Deno.test("the keys of vim's command mode are listed where that is in force", () => {
  const isListed = (isVim: boolean) =>
    keysText(keymapOf({}, isVim), 80).includes("In vim's command mode:");
  assertEquals([isListed(true), isListed(false)], [true, false]);
});

Deno.test("in a narrow terminal the rows of long names are indented, too", () => {
  const rows = keysText(keymapOf({ "f2": "/model" }, false), 30).split("\n");
  assertEquals(rows.slice(-2), ["  F2", "      /model"]);
  assertEquals(rows.filter((row) => !/^(?: {2}| {6})\S/.test(row)), []);
});

Deno.test("the short help has the keys in force, and the mode", () => {
  assertEquals(shortHelp(DEFAULT_KEYMAP, 80, "plan").at(-1), "  Plan mode: nothing is written");
  const other = shortHelp(keymapOf({ "ctrl-o": null, "f2": "editor" }, false), 80);
  assertEquals(other.some((row) => row.includes("the whole conversation")), false);
});
