import { assertEquals } from "@std/assert";
import { keysText } from "../../../../src/ui/terminal/session/help_tables.ts";
import { keymapOf } from "../../../../src/ui/terminal/line/actions.ts";

Deno.test("the keys of vim's command mode are listed where that is in force", () => {
  const isListed = (isVim: boolean) =>
    keysText(keymapOf({}, isVim), 80).includes("In vim's command mode:");
  assertEquals([isListed(true), isListed(false)], [true, false]);
});

Deno.test("in a narrow terminal the rows of long names are indented, too", () => {
  const rows = keysText(keymapOf({}, false), 30).split("\n");
  assertEquals(rows.filter((row) => !/^(?: {2}| {6})\S/.test(row)), []);
});
