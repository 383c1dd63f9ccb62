import { assertEquals } from "@std/assert";
import { shortHelp } from "../../../src/frontends/terminal/short_help.ts";
import { DEFAULT_KEYMAP, keymapOf } from "../../../src/terminal/line/actions.ts";

Deno.test("the short help has a row each for what is needed first, with the keys in force", () => {
  const rows = shortHelp(DEFAULT_KEYMAP, 80);
  assertEquals(rows.slice(0, 4), [
    "  /          lists the commands",
    "  @PATH      attaches the file, where the @ is typed and not pasted",
    "  !COMMAND   at the beginning: runs a shell command",
    "  Escape     stop the turn",
  ]);
  assertEquals(rows.length, 11);
  assertEquals(shortHelp(DEFAULT_KEYMAP, 80, "auto").slice(11), [
    "  mode auto: edits in the folder and sandboxed commands run unasked",
  ]);
  assertEquals(shortHelp(DEFAULT_KEYMAP, 80, "plan").at(-1), "  mode plan: nothing is written");
  const other = shortHelp(keymapOf({ "ctrl-o": null, "f2": "editor" }, false), 80);
  assertEquals(other.some((row) => row.includes("the whole conversation")), false);
  const narrow = shortHelp(DEFAULT_KEYMAP, 40, "auto");
  assertEquals(narrow.slice(1, 4), [
    "  @PATH      attaches the file, where",
    "             the @ is typed and not",
    "             pasted",
  ]);
  assertEquals(narrow.slice(-2), [
    "  mode auto: edits in the folder and",
    "  sandboxed commands run unasked",
  ]);
});
