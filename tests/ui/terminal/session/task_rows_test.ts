import { use } from "../../../helpers/strict_server.ts";
import { assertEquals } from "@std/assert";
import { taskRows } from "../../../../src/ui/terminal/session/task_rows.ts";
import { startSession, test } from "../../../helpers/session.ts";

const look = { paint: (text: string) => text };
const tasks = (done: number, all: number) =>
  Array.from({ length: all }, (_, n) => ({ text: `s${n}`, isDone: n < done }));

Deno.test("the rows of a list of steps are those around the one at work", () => {
  assertEquals(taskRows(tasks(1, 3), look), ["  ✔ s0", "  ▸ s1", "  ○ s2"]);
  assertEquals(taskRows(tasks(3, 3), look).at(-1), "  ✔ s2");
  assertEquals(taskRows(tasks(0, 8), look).length, 8);
  assertEquals(taskRows(tasks(0, 9), look).at(-1), "    2 more");
  const paint = (text: string) => `<${text}>`;
  assertEquals(taskRows(tasks(1, 2), { ...look, paint }), ["<  ✔ s0>", "<  ▸ s1>"]);
  assertEquals(taskRows(tasks(0, 9), { ...look, paint }).at(-1), "<    2 more>");
  for (const done of [0, 5, 20, 40]) {
    const rows = taskRows(tasks(done, 40), look);
    assertEquals([rows.length, rows.at(-1)], [8, "    33 more"]);
    assertEquals(rows.includes(done === 40 ? "  ✔ s39" : `  ▸ s${done}`), true, `${done}`);
  }
});

const list = (text: string) => use("tasks", { list: text });

for (const columns of [80, 40]) {
  test(`the list of steps is counted in the status and shown by Ctrl-T, at ${columns} columns`, async () => {
    await using terminal = await startSession([list("[x] look around\n[ ] write it\n[ ] test it"), {
      text: "Half.",
    }, { text: "Second." }], { columns });
    await terminal.type("\x14");
    await terminal.until((rows) => rows.join(" ").includes("no tasks yet: the model lists"));
    await terminal.type("go\r");
    await terminal.until("Half.");
    await terminal.until((rows) => / 1( of |\/)3 done/.test(rows.at(-1)!));
    await terminal.until((rows) => rows.some((row) => /^● Plan +1 of 3 done$/.test(row)));
    await terminal.type("\x14");
    await terminal.until((rows) =>
      ["  ✔ look around", "  ▸ write it", "  ○ test it"].every((row) => rows.includes(row))
    );
    await terminal.type("\x14");
    await terminal.until((rows) => !rows.includes("  ▸ write it"));
    await terminal.type("next\r");
    await terminal.until("Second.");
    await terminal.until((rows) => !rows.at(-1)!.includes("tasks"));
  });
}
