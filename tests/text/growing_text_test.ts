import { assertEquals } from "@std/assert";
import { GrowingText } from "../../src/text/growing_text.ts";

Deno.test("a growing text is its pieces in their order, read at any time", () => {
  const text = new GrowingText();
  assertEquals(text.whole, "");
  const pieces = Array.from({ length: 2500 }, (_, i) => `${i} `);
  for (const [i, piece] of pieces.entries()) {
    text.add(piece);
    if (i % 700 === 0) assertEquals(text.whole, pieces.slice(0, i + 1).join(""));
  }
  assertEquals(text.whole, pieces.join(""));
  assertEquals(text.whole, pieces.join(""));
});
