import { assertEquals } from "@std/assert";
import { SeamJoiner } from "../../src/text/seams.ts";

/** Texts, and `null` for a piece that is cut out between them. */
const rows: [pieces: (string | null)[], expected: string][] = [
  [["  a ", " b  "], "  a  b  "], // nothing changes without a cut
  [["a \n", null, " b"], "a \nb"], // the side with more line feeds
  [["a ", null, "\n\nb"], "a\n\nb"],
  [["a \n", null, "\t\nb"], "a \nb"], // of as many the first
  [["a", null, "b"], "ab"],
  [["a", null, " b"], "a b"],
  [["a\n\n", null, "\n", null, " b"], "a\n\nb"], // the widest of several
  [["a\n", null, "\n\n", null, " b"], "a\n\nb"],
  [[" \n", null, " a"], "a"], // none at the beginning
  [["a \n", null, " \n"], "a"], // none at the end
  [[" ", null, " "], ""],
];

for (const [pieces, expected] of rows) {
  Deno.test(`seams: ${JSON.stringify(pieces)}`, () => {
    for (const isByCharacter of [false, true]) {
      const joiner = new SeamJoiner();
      let text = "";
      for (const piece of pieces) {
        if (piece === null) joiner.cut();
        else for (const part of isByCharacter ? piece : [piece]) text += joiner.push(part);
      }
      assertEquals(text + joiner.end(), expected);
    }
  });
}
