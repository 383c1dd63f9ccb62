import { assertEquals } from "@std/assert";
import { readEdit } from "../../../src/tools/files/edit_readings.ts";

const FILE = "alpha();\nbeta();\ngamma();\n";

/** The text of the file that an edit means; undefined where it has no one reading. */
const READINGS: [before: string, after: string, meant: string | undefined][] = [
  ["2\tbeta();", "2\tother();", "beta();"],
  ["0: alpha();\n1: beta();", "0: alpha();\n1: other();", "alpha();\nbeta();"],
  ["2|beta();\n3|gamma();", "other();", "beta();\ngamma();"],
  ["1\talpha();\n\n3\tgamma();", "x", undefined],
  ["2\talpha();\n1\tbeta();", "x", undefined],
  ["2\talpha();\n2\tbeta();", "x", undefined],
  ["1\talpha();\n4\tbeta();", "x", undefined],
  ["1\talpha();\nbeta();", "x", undefined],
  ["```\nbeta();\n```", "```\nother();\n```", "beta();"],
  ["alpha();\\nbeta();", "other();", "alpha();\nbeta();"],
  ["\n\n", "other();", undefined],
];

for (const [before, after, meant] of READINGS) {
  Deno.test(`the edit of ${JSON.stringify(before)} means ${JSON.stringify(meant)}`, () => {
    const reading = readEdit(FILE, before, after);
    assertEquals(reading?.before.trim(), meant);
    if (reading) assertEquals(FILE.startsWith(reading.before, reading.at), true);
  });
}
