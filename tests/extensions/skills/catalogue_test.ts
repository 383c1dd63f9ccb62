import { assertEquals } from "@std/assert";
import { promptCatalogue, skillList } from "../../../src/extensions/skills/catalogue.ts";

const HEAD = "Skills: before work that one fits, read_file skill:NAME\n";
const listed = (name: string, length: number) => ({ name, description: "d".repeat(length) });
const skills = [listed("bb", 100), listed("aa", 90)];
const cut = (length: number) => `${"d".repeat(length - 1)}…`;

/** The bytes of a text within JSON. */
const bytesOf = (text: string) => new TextEncoder().encode(JSON.stringify(text)).length - 2;

Deno.test("skills are listed by name, with as much of what they are for as there is room", () => {
  const rows = (length: number) => `${HEAD}- aa: ${cut(length)}\n- bb: ${cut(length)}\n`;
  const names = `${HEAD}aa, bb\n`;
  const forms = [rows(80), rows(40), rows(24), names];
  for (const [i, form] of forms.entries()) {
    assertEquals(promptCatalogue(skills, [], bytesOf(form)), form);
    assertEquals(
      promptCatalogue(skills, [], bytesOf(form) - 1),
      forms[i + 1] ?? "Skills: read_file skill: lists 2\n",
    );
  }
  assertEquals(promptCatalogue([], [], 1000), "");
});

Deno.test("sub-agents get the room that skills leave, and sixty bytes in any case", () => {
  const agents = [listed("x", 100), listed("y", 5)];
  const rows = (length: number) => `Agents for explore:\n- x: ${cut(length)}\n- y: ddddd\n`;
  for (const form of [rows(80), rows(40), rows(24)]) {
    assertEquals(promptCatalogue([], agents, bytesOf(form)), form);
  }
  const names = "Agents for explore:\nx, y\n";
  assertEquals(promptCatalogue([], agents, 60), names);
  assertEquals(promptCatalogue([], agents, 0), names);
  const long = [..."abcdefghijkl"].map((name) => listed(name.repeat(5), 1));
  const some = "Agents for explore:\naaaaa, bbbbb, ccccc, ddddd, ...\n";
  assertEquals(promptCatalogue([], long, 0), some);
  assertEquals(promptCatalogue([], [listed("z".repeat(50), 1)], 0), "");
  const both = promptCatalogue(skills, agents, 200);
  assertEquals(both.startsWith(HEAD), true);
  assertEquals(both.endsWith("- x: " + cut(24) + "\n- y: ddddd\n"), true, both);
});

Deno.test("the list of all skills has what they are for, in fewer words where there are many", () => {
  const one = [listed("a", 400), listed("b", 3)];
  const rows = (length: number) => `a: ${cut(length)}\nb: ddd`;
  assertEquals(skillList(one, rows(300).length), rows(300));
  assertEquals(skillList(one, rows(300).length - 1), rows(80));
  assertEquals(skillList(one, rows(80).length - 1), "a\nb");
});
