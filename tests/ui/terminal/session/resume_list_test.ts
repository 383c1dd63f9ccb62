import { assertEquals, assertMatch } from "@std/assert";
import { sessionCommand, startSession, test } from "../../../helpers/session.ts";

const write = { name: "write_file", arguments: { file_path: "f", content: "one\n" } };

for (const columns of [80, 40]) {
  test(`/resume lists the other sessions, of all folders with Tab; renames, deletes and previews them, at ${columns} columns`, async () => {
    await using terminal = await startSession([
      { toolCalls: [write] },
      { text: "It is written." },
      { text: "Elsewhere." },
      { text: "Again." },
    ], { flags: "--yes", columns, rows: 40 });
    const { server } = terminal;
    const again = async (before = "") => {
      await terminal.type("/exit\r");
      await terminal.until("left: 0");
      await terminal.type(`${before}clear; ${sessionCommand(server, "--yes")}; echo left: $?\r`);
      await terminal.until((rows) => rows.at(-2) === ">");
    };
    const listed = (rows: string[]) =>
      rows.filter((row) => /^[❯ ] (the )?(first|second|third)/.test(row));
    const until = (what: string[]) =>
      terminal.until((rows) =>
        listed(rows).length === what.length &&
        what.every((start, at) => listed(rows)[at]!.startsWith(start))
      );
    await Deno.mkdir(`${terminal.folder}/.git`);
    await Deno.writeTextFile(`${terminal.folder}/.git/HEAD`, "ref: refs/heads/trunk\n");
    await terminal.type("first task\r");
    await terminal.until("It is written.");
    await Deno.mkdir(`${terminal.folder}/../other`);
    await again("cd ../other; ");
    await terminal.type("second task\r");
    await terminal.until("Elsewhere.");
    await again("cd ../w; ");
    await terminal.type("third task\r");
    await terminal.until("Again.");
    await terminal.type("/resume\r");
    // The current session is not listed.
    const rows = (await until(["❯ first task"])).join(" ");
    assertMatch(
      rows.replace(/\s+/g, " "),
      /just now (· )?4 messages (· )?1 file changed (· )?trunk/,
    );
    await terminal.type("\t");
    // A long path takes two rows.
    assertMatch(
      (await until(["❯ second task", "  first task"])).join("").replace(/ /g, ""),
      /other/,
    );
    await terminal.type("\t");
    await until(["❯ first task"]);
    await terminal.until((rows) =>
      ["    > first task", "    It is written."].every((row) => rows.includes(row))
    );
    await terminal.type("\x12");
    await terminal.until("Title: first task");
    await terminal.type("\x15the first\r");
    await until(["❯ the first"]);
    await terminal.type("\t");
    // A new title does not make it the newest.
    await until(["❯ second task", "  the first"]);
    await terminal.type("\x18");
    await terminal.until('Delete "second task"?');
    await terminal.type("y");
    await until(["❯ the first"]);
    await terminal.type("\r");
    assertEquals(
      (await terminal.until("> first task")).some((row) => row.startsWith("> second")),
      false,
    );
    await terminal.until("It is written.");
  });
}
