import { assertEquals } from "@std/assert";
import { sessionTest } from "../../../helpers/session.ts";

const ANSWER = "Run this:\n\n```sh\nls -l\n```\n\nor this:\n\n```py\nprint('é')\nexit()\n```\n";
const osc52 = (text: string) => `\x1b]52;c;${new TextEncoder().encode(text).toBase64()}\x07`;

for (const columns of [80, 40]) {
  sessionTest(
    `/copy takes the last answer or a block of it, which Tab lists, at ${columns} columns`,
    [{ text: ANSWER }],
    async (terminal) => {
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
    },
    { columns },
  );

  sessionTest(
    `/theme lists the themes, takes the one that is picked at once, and keeps it, at ${columns} columns`,
    [{ text: "a `code` b" }],
    async (terminal) => {
      const file = `${terminal.folder}/../config/copilot/config.json`;
      await Deno.mkdir(`${terminal.folder}/../config/copilot`, { recursive: true });
      await Deno.writeTextFile(file, '{"notify": false}');
      await terminal.type("/theme\r");
      const rows = await terminal.until("Which colours?");
      assertEquals(rows.filter((row) => /^\W*[1-4] +(auto|dark|light|none)/.test(row)).length, 4);
      await terminal.type("4");
      await terminal.until("Theme: none. Saved for later sessions.");
      assertEquals(JSON.parse(await Deno.readTextFile(file)), { notify: false, theme: "none" });
      const before = (await terminal.output()).length;
      await terminal.type("hello\r");
      await terminal.until("`code`");
      const output = await terminal.output((output) => output.slice(before).includes("`code`"));
      assertEquals(output.slice(before).match(/\[\d[\d;]*m/g), null);
      await terminal.type("/theme\r");
      await terminal.until((rows) => rows.some((row) => /none +no colours · now/.test(row)));
      await terminal.type("\x1b");
      await terminal.until((rows) => !rows.includes("Which colours?"));
      await terminal.type("/theme green\r");
      await terminal.until("/theme takes one of auto, dark,");
      await terminal.type("/mode\r");
      await terminal.until((rows) => rows.join(" ").includes("/mode: Shift-Tab switches modes;"));
    },
    { columns },
  );
}
