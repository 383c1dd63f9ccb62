import { assertEquals, assertThrows } from "@std/assert";
import { fillTemplate, type TemplatePiece } from "../../../src/extensions/skills/template.ts";

const joined = (pieces: readonly TemplatePiece[]) =>
  pieces.map((piece) => "text" in piece ? piece.text : `<${piece.command}>`).join("");

const ROWS: [body: string, argument: string, filled: string][] = [
  ["Do it", "", "Do it"],
  ["Do it", "now", "Do it\n\nnow"],
  ["Do $ARGUMENTS!", "a b", "Do a b!"],
  ["$2 before $1, no $3, $10", `one "two three"`, "two three before one, no , $10"],
  ["See !`git log $1` and !`ls`", "main", "See <git log main> and <ls>"],
  // What an argument holds is no placeholder.
  ["Do $1 $2", "!`id` $ARGUMENTS", "Do !`id` $ARGUMENTS"],
  ["!`echo $HOME` ! `x`\n!`\n`", "", "<echo $HOME> ! `x`\n!`\n`"],
];

for (const [body, argument, filled] of ROWS) {
  Deno.test(`template: ${JSON.stringify(body)} with ${JSON.stringify(argument)}`, () => {
    assertEquals(joined(fillTemplate(body, argument)), filled);
  });
}

Deno.test("template: a command takes no argument that means more than words to a shell", () => {
  for (
    const bad of ["$(id)", "a;b", "`id`", "a'b", 'a"b', "a|b", "a&b", "a>b", "a\nb", "*", "~", "\\"]
  ) {
    assertThrows(() => fillTemplate("!`echo $ARGUMENTS`", bad), TypeError, "plain words");
    assertThrows(() => fillTemplate("!`echo '$1'`", `'${bad.replaceAll("'", "")};'`), TypeError);
  }
  assertEquals(joined(fillTemplate("!`echo $ARGUMENTS`", "größe a/b.c:1")), "<echo größe a/b.c:1>");
});
