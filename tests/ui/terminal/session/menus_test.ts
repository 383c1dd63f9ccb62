import { assert, assertEquals } from "@std/assert";
import { startSession, test } from "../../../helpers/session.ts";

for (const columns of [80, 40]) {
  test(`the menu of commands has groups and a count; letters leave the commands that fit, at ${columns} columns`, async () => {
    await using terminal = await startSession([], { columns });
    await terminal.type("/");
    const rows = await terminal.until((rows) =>
      rows.some((row) => /^ {2}1\/\d\d · Tab inserts/.test(row))
    );
    assertEquals(rows.filter((row) => /^ {2}\w+$/.test(row)), ["  Session"]);
    assertEquals(rows.filter((row) => /^[ ❯↓] \//.test(row)).length, 13);
    const chosen = (await terminal.screen({ styles: true })).find((row) => row.includes("/help"))!;
    // The selected row is filled; a list test checks that it is to the edge.
    // deno-lint-ignore no-control-regex
    assert(/\x1b\[[\d;]*7m/.test(chosen), JSON.stringify(chosen));
    await terminal.type("mod");
    const fits = await terminal.until((rows) => rows.some((row) => row.startsWith("❯ /model")));
    assertEquals(fits.filter((row) => /^ {2}(Session|Model)$/.test(row)), []);
    await terminal.type("\x15");
    await terminal.until((rows) => rows.at(-2) === ">");
  });
}

test("a command is shown once it did something: a list that is closed leaves no row", async () => {
  await using terminal = await startSession([{ text: "Hello." }]);
  await terminal.type("hello\r");
  await terminal.until("Hello.");
  const before = await terminal.until((rows) => rows.at(-2) === ">");
  await terminal.type("/model\r");
  const rows = await terminal.until("Which model?");
  assertEquals(rows[rows.indexOf("Which model?") - 1], "");
  assertEquals(rows.filter((row) => row.startsWith("> ")), ["> hello"]);
  await terminal.type("\x1b");
  assertEquals(await terminal.until((rows) => rows.at(-2) === ">"), before);
  await terminal.type("/model\r");
  await terminal.until("Which model?");
  await terminal.type("2");
  const after = await terminal.until("Switched to");
  assertEquals(after.filter((row) => row.startsWith("> ")), ["> hello", "> /model"]);
});
