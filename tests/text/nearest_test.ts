import { assertEquals } from "@std/assert";
import { nearest } from "../../src/text/nearest.ts";

const WORDS = ["model", "help", "permissions", "path", "max_output"];

const rows: [word: string, expected: string | undefined][] = [
  ["modle", "model"], // neighbours swapped count as one letter
  ["omdel", "model"],
  ["MODEL", "model"],
  ["hlp", "help"],
  ["hxyp", undefined], // two letters of four wrong
  ["pth", "path"],
  ["permisions", "permissions"],
  ["xxrmxssions", "permissions"], // three of eleven
  ["xxxxissions", undefined], // four of eleven
  ["max", "max_output"], // a beginning
  ["modelname", "model"], // or a word with more behind it
  ["", undefined],
  [`model${"x".repeat(59)}`, "model"],
  [`model${"x".repeat(60)}`, undefined], // longer than any name
];

for (const [word, expected] of rows) {
  Deno.test(`nearest to ${JSON.stringify(word)}`, () =>
    assertEquals(nearest(word, WORDS), expected));
}

Deno.test("nearest of several is the one with the fewest slips, then the first", () => {
  assertEquals(nearest("tess", ["test", "tests", "tess2"]), "test");
  assertEquals(nearest("tesst", ["tests", "test"]), "tests");
  assertEquals(nearest("testss", ["test", "tests"]), "tests");
});
