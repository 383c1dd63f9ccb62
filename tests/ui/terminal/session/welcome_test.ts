import { waitUntil } from "../../../helpers/wait_until.ts";
import { assertEquals, assertMatch } from "@std/assert";
import { Welcome } from "../../../../src/ui/terminal/session/welcome.ts";
import { sessionCommand, startSession, test } from "../../../helpers/session.ts";

const CASES = [
  [
    80,
    ["▌ copilot 0.1 · test · 32k context · tools"],
    '> Ask anything · try "fix the failing tests" · @ files · / commands · ? keys',
  ],
  [30, ["▌ copilot 0.1 · test", "▌ 32k context · tools"], "> Ask anything · ? keys"],
] as const;
for (const [columns, first, line] of CASES) {
  test(`the welcome names the model with its abilities and the folder's branch in two rows, at ${columns} columns`, async () => {
    await using terminal = await startSession([{ text: "Hello." }], { columns });
    const { server } = terminal;
    await terminal.type("/exit\r");
    await terminal.until("left: 0");
    const { folder } = terminal;
    await Deno.mkdir(`${folder}/s\u202e/.git`, { recursive: true });
    await Deno.writeTextFile(`${folder}/s\u202e/.git/HEAD`, "ref: refs/heads/trunk\n");
    await terminal.type(`cd s*; clear; ${sessionCommand(server)}\r`);
    const rows = await terminal.until((rows) => rows[first.length - 1] === first.at(-1));
    assertEquals(rows.slice(0, first.length), [...first]);
    assertMatch(rows[first.length]!, /^▌ [/…].*\/s\\u\{202e\} · trunk$/);
    assertEquals(rows[first.length + 1], "");
    // The status may be drawn after the first rows.
    await waitUntil(async () => {
      const styled = (await terminal.screen({ styles: true })).at(-2)!;
      // deno-lint-ignore no-control-regex
      return styled.replace(/\x1b\[[\d;]*m/g, "") === line;
    });
    // It stays above the conversation, and the offer goes.
    await terminal.type("hello\r");
    await terminal.until("Hello.");
    const after = await terminal.until((rows) => rows.at(-2) === ">");
    assertEquals(after.slice(0, first.length + 4), [
      ...rows.slice(0, first.length + 2),
      "> hello",
      "",
    ]);
    const end = (await terminal.screen({ styles: true })).at(-2)!;
    assertEquals(end.includes("Ask anything"), false);
  });
}

Deno.test("the welcome leaves failed checks, and notes of the model, to be told in words", () => {
  const check = (name: string, status: "ok" | "note" | "fail") => ({ name, status, text: "" });
  const told = [check("model", "fail"), check("model", "note"), check("tools", "fail")];
  const known = [check("tools", "note"), check("model", "ok")];
  assertEquals(new Welcome().learn([...told, ...known]), told);
});
