import { assertEquals } from "@std/assert";
import { modeMeaning, modeText } from "../../src/session/modes.ts";

Deno.test("a mode has one row, and more words where there is room", () => {
  assertEquals(modeText("ask"), "mode ask: edits and commands are asked about");
  assertEquals(
    modeMeaning("ask"),
    "edits and commands are asked about; what only reads runs unasked",
  );
  assertEquals(modeMeaning("never"), "what the mode ask asks about is refused");
});
