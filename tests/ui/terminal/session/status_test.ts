import { assertMatch } from "@std/assert";
import { sessionCommand, startSession, test } from "../../../helpers/session.ts";

const CASES = [
  [
    80,
    /^test · ask · NO SANDBOX {20,}ctx ▮▯▯▯▯ 4 % · trunk$/,
    /^test · ask · NO SANDBOX · [/…]\S*\/w$/,
  ],
  [40, /^test · ask · NO SANDBOX {2,}ctx ▮▯▯▯▯ 4 %$/, /^test · ask · NO SANDBOX · …\S*\/w$/],
] as const;
for (const [columns, after, own] of CASES) {
  test(`the status line has the context and the branch at its right, or what the settings name, at ${columns} columns`, async () => {
    await using terminal = await startSession([{
      text: "One.",
      usage: { inputTokens: 1000, outputTokens: 300 },
    }], { columns });
    const { server } = terminal;
    await Deno.mkdir(`${terminal.folder}/.git`);
    await Deno.writeTextFile(`${terminal.folder}/.git/HEAD`, "ref: refs/heads/trunk\n");
    await terminal.type("one\r");
    await terminal.until("One.");
    const rows = await terminal.until((rows) => after.test(rows.at(-1)!));
    assertMatch(rows.at(-1)!, after);
    await terminal.type("/exit\r");
    await terminal.until("left: 0");
    const home = `${terminal.folder}/../config/copilot`;
    await Deno.mkdir(home, { recursive: true });
    await Deno.writeTextFile(`${home}/config.json`, '{"status": ["model", "folder"]}');
    await terminal.type(`clear; ${sessionCommand(server)}\r`);
    await terminal.until((rows) => own.test(rows.at(-1)!));
  });
}
