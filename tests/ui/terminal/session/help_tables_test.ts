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

Deno.test("the short help has a row each for what is needed first, with the keys in force", () => {
  const rows = shortHelp(DEFAULT_KEYMAP, 80);
  assertEquals(rows.slice(0, 4), [
    "  /          lists the commands",
    "  @PATH      attaches the file (a pasted @ does not)",
    "  !COMMAND   at the start: runs a shell command",
    "  Escape     stop the turn",
  ]);
  assertEquals(rows.length, 11);
  assertEquals(shortHelp(DEFAULT_KEYMAP, 80, "auto").slice(11), [
    "  Auto mode: edits in this folder and sandboxed commands run without asking",
  ]);
  assertEquals(shortHelp(DEFAULT_KEYMAP, 80, "plan").at(-1), "  Plan mode: nothing is written");
  const other = shortHelp(keymapOf({ "ctrl-o": null, "f2": "editor" }, false), 80);
  assertEquals(other.some((row) => row.includes("the whole conversation")), false);
  const narrow = shortHelp(DEFAULT_KEYMAP, 40, "auto").map((row) => row.trimEnd());
  assertEquals(narrow.slice(1, 3), [
    "  @PATH      attaches the file (a pasted",
    "             @ does not)",
  ]);
  assertEquals(narrow.slice(-2), [
    "  Auto mode: edits in this folder and",
    "  sandboxed commands run without asking",
  ]);
});
