import { commandsOf } from "../../../../src/session/commands/registry.ts";
import { assertEquals } from "@std/assert";
import { startSession, test } from "../../../helpers/session.ts";
import {
  outputText,
  pickList,
  shellText,
} from "../../../../src/ui/terminal/session/command_runner.ts";
import { runBash } from "../../../../src/tools/shell/run_command.ts";
import { choicesOf, fakeSession } from "../../../helpers/fake_session.ts";
import { workspace } from "../../../tools/workspace.ts";

const ANSWER = "Run this:\n\n```sh\nls -l\n```\n\nor this:\n\n```py\nprint('é')\nexit()\n```\n";
const osc52 = (text: string) => `\x1b]52;c;${new TextEncoder().encode(text).toBase64()}\x07`;

test("/copy takes the last answer or a block of it, which Tab lists", async () => {
  await using terminal = await startSession([{ text: ANSWER }]);
  await terminal.type("/copy\r");
  await terminal.until("There is no answer to copy yet.");
  await terminal.type("go\r");
  await terminal.until("exit()");
  await terminal.type("/copy 3\r");
  await terminal.until("The last answer has 2 code blocks");
  await terminal.type("/copy \t");
  await terminal.until((rows) => rows.some((row) => /2 +print\('é'\)/.test(row)));
  await terminal.type("2\r");
  await terminal.until((rows) => rows.join(" ").includes("Copied: block 2, 2 lines. tmux"));
  await terminal.output((output) => output.includes(osc52("print('é')\nexit()")));
  await terminal.type("/copy\r");
  await terminal.until("Copied: the last answer");
  await terminal.output((output) =>
    output.includes(osc52(ANSWER.trimEnd())) || output.includes(osc52(ANSWER))
  );
});

test("/theme lists the themes, takes the one that is picked at once, and keeps it", async () => {
  await using terminal = await startSession([{ text: "a `code` b" }]);
  const file = `${terminal.folder}/../config/copilot/config.json`;
  await Deno.mkdir(`${terminal.folder}/../config/copilot`, { recursive: true });
  const keys = { "http://other/v1": "other-key-ZZ12" };
  const roles = { plan: "http://user:role-pass-99@other#m" };
  await Deno.writeTextFile(file, JSON.stringify({ keys, roles }));
  await terminal.type("/theme\r");
  const rows = await terminal.until("Which colours?");
  assertEquals(rows.filter((row) => /^\W*[1-4] +(auto|dark|light|none)/.test(row)).length, 4);
  await terminal.type("4");
  await terminal.until("Theme: none. Saved for later sessions.");
  assertEquals(JSON.parse(await Deno.readTextFile(file)), { keys, roles, theme: "none" });
  const before = (await terminal.output()).length;
  await terminal.type("hello other-key-ZZ12 role-pass-99\r");
  await terminal.until("`code`");
  const output = await terminal.output((output) => output.slice(before).includes("`code`"));
  assertEquals(output.slice(before).match(/\[\d[\d;]*m/g), null);
  await terminal.type("/theme\r");
  await terminal.until((rows) => rows.some((row) => /none +no colours · current/.test(row)));
  await terminal.type("\x1b");
  await terminal.until((rows) => !rows.includes("Which colours?"));
  await terminal.type("/theme green\r");
  await terminal.until("/theme takes no argument, or one of:");
  // Neither key was sent to a server.
  await terminal.type("/export x.md\r");
  await terminal.until("Exported to x.md");
  const exported = await Deno.readTextFile(`${terminal.folder}/x.md`);
  assertEquals(exported.split("\n")[0], "# hello [redacted] [redacted]");
  await terminal.type("/mode auto\r");
  await terminal.until((rows) => rows.join(" ").includes("/mode: did you mean /approve?"));
});

const SHELL: [command: string, shown: string][] = [
  ["echo a", "a"],
  ["echo a; echo b >&2", "a\nstderr:\nb"],
  ["echo b >&2", "stderr:\nb"],
  ["true", "no output"],
  ["echo 'exit code: 0'", "exit code: 0"],
  ["echo a; exit 2", "exit code: 2\nstdout:\na"],
  [
    "sleep 60 & echo a",
    "exit code: 0\nended processes it left in the background: 1 (sleep)\nstdout:\na",
  ],
];
for (const [command, shown] of SHELL) {
  Deno.test(`a person reads of !${command}`, { ignore: Deno.build.os === "windows" }, async () => {
    using ws = workspace();
    assertEquals(shellText(await runBash({ command, timeout_seconds: 60 }, ws.context)), shown);
  });
}

Deno.test("of a command that printed nothing to stdout, stderr is shown", () => {
  assertEquals(outputText({}), "no output");
  assertEquals(outputText({ stderr: "" }), "stderr:\n");
  assertEquals(outputText({ stdout: "a" }), "a");
});

Deno.test("each argument of /approve and /trust is explained, in words that a terminal of 80 holds", async () => {
  await using fake = await fakeSession("http://127.0.0.1:1");
  for (const name of ["approve", "trust"]) {
    const choices = await choicesOf(fake.session, name, new AbortController().signal);
    const command = commandsOf(fake.session).find((one) => one.name === name)!;
    const { items, title } = pickList(command, choices);
    assertEquals(title.length < 40, true, title);
    for (const { label, detail = "" } of items) {
      assertEquals(detail !== "" && detail.length < 65, true, `${label}: ${detail}`);
    }
  }
});

Deno.test("what is current is chosen and said; a command without a title has its name", () => {
  const choices = [{ argument: "a", label: "A", detail: "8B" }, {
    argument: "b",
    label: "B",
    isCurrent: true,
  }];
  assertEquals(pickList({ name: "x" }, choices), {
    title: "/x",
    items: [{ label: "A", detail: "8B", value: { argument: "a" } }, {
      label: "B",
      detail: "current",
      value: { argument: "b" },
    }],
    chosen: 1,
    isNumbered: true,
    hint: "Enter to select · Esc to cancel",
    keys: {},
  });
  const many = Array.from({ length: 10 }, (_, n) => ({ argument: `${n}`, label: `${n}` }));
  assertEquals(pickList({ name: "x" }, many).isNumbered, false);
  assertEquals(pickList({ name: "x" }, many.slice(1)).isNumbered, true);
  const list = pickList({ name: "x", question: "Which?" }, many);
  assertEquals(list.title, "Which?");
});
