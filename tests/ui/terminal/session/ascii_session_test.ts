import { assertEquals } from "@std/assert";
import { sessionCommand } from "../../../helpers/session.ts";
import { strictServer, use } from "../../../helpers/strict_server.ts";
import { asksAboutCall, noTmux, terminal } from "../../../helpers/tmux.ts";

Deno.test({
  name: "a session without UTF-8 writes ASCII alone; its title says what goes on" +
    (noTmux && ` (skipped: ${noTmux})`),
  ignore: noTmux !== "",
  async fn() {
    await using server = strictServer([
      { reasoning: "Hm.", text: "I look.", ...use("list_dir", { path: "." }) },
      use("run_bash", { command: "seq 30; echo broken >&2; exit 3" }),
      use("write_file", { file_path: "f", content: "one\ntwo\n" }),
      {
        text:
          "# Done — “naïve” 日本…\n\n- one\n\n| a | b |\n|---|---|\n| c | d |\n\n---\n\n> quoted",
      },
      { text: "Naïve…" },
    ], { models: ["test", "other"] });
    await using screen = await terminal({});
    await screen.type(`LC_ALL=C ${sessionCommand(server)}; echo left: $?\r`);
    await screen.until((rows) => rows.includes(">"));
    await screen.type("go\r");
    await screen.until(asksAboutCall);
    await screen.type("?");
    await screen.until("edit the command first");
    await screen.type("y");
    await screen.until("failed - exit 3");
    await screen.until("| Write f  +2");
    await screen.until(asksAboutCall);
    await screen.type("y");
    await screen.until("quoted");
    await screen.until('Done - "naive" ????...');
    for (
      const line of ["/help", "/context", "/permissions", "/tools", "!printf 'caf\\303\\251' # é"]
    ) {
      // The next line must not come in the same read: it would be a paste.
      await screen.type(line);
      await screen.until((rows) => rows.some((row) => row.startsWith(`> ${line.slice(0, 5)}`)));
      await screen.type("\r");
      await screen.until((rows) => rows.at(-2) === ">");
    }
    await screen.type("/model\r");
    await screen.until("Enter to select");
    await screen.type("\x1b");
    await screen.until((rows) => rows.at(-2) === ">");
    await screen.type("\x0f");
    await screen.until("q closes");
    await screen.type("\x1b[Hq");
    await screen.until((rows) => rows.at(-2) === ">");
    await screen.type("/exit\r");
    await screen.until("left: 0");
    await screen.type(`clear; LC_ALL=C ${sessionCommand(server)} -p go\r`);
    await screen.until("Naive...");
    const output = await screen.output((text) => text.includes("left: 0\r"));
    const from = output.indexOf("copilot -");
    assertEquals(output.slice(from).match(/.{0,40}[\x80-\xff]+.{0,20}/)?.[0], undefined);
    // deno-lint-ignore no-control-regex
    const titles = [...output.matchAll(/\x1b\]2;([^\x07]*)\x07/g)].map(([, title]) => title!);
    const states = titles.map((title) => title.replace(/ - .*/, ""));
    assertEquals(
      ["copilot", "copilot works", "copilot asks"].every((one) => states.includes(one)),
      true,
    );
    assertEquals(titles.at(-1), "");
    assertEquals(output.lastIndexOf("\x1b[23;2t") > output.lastIndexOf("\x1b[22;2t"), true);
  },
});
