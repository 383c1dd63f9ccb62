import { assertEquals } from "@std/assert";
import { bestFits, fittingLetters, fuzzyRank, NO_FIT } from "../../src/text/fuzzy.ts";

Deno.test("a text fits best by its beginning, then in its last part, then anywhere, then by letters", () => {
  const rows: [word: string, text: string, rank: number][] = [
    ["", "x", 0],
    ["src", "src/cart.py", 0],
    ["cart", "src/cart.py", 0],
    ["art", "src/cart.py", 1],
    ["rc/c", "src/cart.py", 2],
    ["sca", "src/cart.py", 3],
    ["tra", "src/cart.py", NO_FIT],
    ["longer than it", "x", NO_FIT],
  ];
  for (const [word, text, rank] of rows) assertEquals(fuzzyRank(word, text), rank, word);
});

Deno.test("items of one rank keep their order, and no more are given than asked for", () => {
  const items = ["b/test", "a/atest", "tx/e/s/t", "test", "c/test"];
  assertEquals(bestFits("TEST", items, (item) => item), [
    "b/test",
    "test",
    "c/test",
    "a/atest",
    "tx/e/s/t",
  ]);
  assertEquals(bestFits("test", items, (item) => item, 2), ["b/test", "test"]);
  assertEquals(bestFits("none", items, (item) => item), []);
});

Deno.test("the letters that fit are those of the word in one piece, else one by one", () => {
  assertEquals(fittingLetters("cart", "cart/Cart.py"), [0, 1, 2, 3]);
  assertEquals(fittingLetters("art", "cart/cart.py"), [6, 7, 8]);
  assertEquals(fittingLetters("CY", "src/cart.py"), [2, 10]);
  assertEquals(fittingLetters("z", "src"), []);
  assertEquals(fittingLetters("", "src"), []);
  // The lower case of this letter has two characters.
  assertEquals(fittingLetters("x", "\u0130x"), []);
});
