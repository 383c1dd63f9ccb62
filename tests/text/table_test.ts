import { assertEquals } from "@std/assert";
import { table } from "../../src/text/table.ts";

const TABLES: [name: string, text: string, columns: number, rows: string[]][] = [
  ["a", "b", 80, ["  a               b"]],
  ["n".repeat(15), "d", 60, [`  ${"n".repeat(15)} d`]],
  ["n".repeat(16), "d", 60, [`  ${"n".repeat(16)}`, `${" ".repeat(18)}d`]],
  ["a", "d", 59, ["  a", "      d"]],
  ["a".repeat(38), "d", 40, [`  ${"a".repeat(38)}`, "      d"]],
  ["glob", "finds files by their names", 40, ["  glob", "      finds files by their names"]],
  ["glob", "finds files by their names", 10, [
    "  glob",
    "      finds files by their",
    "      names",
  ]],
];
for (const [name, text, columns, rows] of TABLES) {
  Deno.test(`${name} and its text at ${columns} columns`, () => {
    assertEquals(table([[name, text]], columns).split("\n"), rows);
  });
}
