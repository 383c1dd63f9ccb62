import { assertEquals } from "@std/assert";
import { modeMeaning, modeText } from "../../src/session/modes.ts";

Deno.test("a mode has one row, and more words where there is room", () => {
  assertEquals(modeText("ask"), "Ask mode: asks before edits and commands");
  assertEquals(modeMeaning("ask"), "asks before edits and commands; reading needs no approval");
  assertEquals(modeMeaning("never"), "calls that need approval are refused");
});
