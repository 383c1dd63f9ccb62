import { assert, assertEquals } from "@std/assert";
import { sessionCommand, startSession, test } from "../../../helpers/session.ts";

test("a late answer about the background counts before the first message, and in the next session", async () => {
  await using terminal = await startSession([{ text: "One." }, { text: "Two." }]);
  const { server } = terminal;
  const styled = async (text: string) =>
    (await terminal.screen({ styles: true })).find((row) => row.includes(text)) ?? "";
  const start = async (flags = "") => {
    await terminal.type(
      `clear; TMUX= TERM=xterm-256color ${sessionCommand(server, flags)}; echo left: $?\r`,
    );
    await terminal.until((rows) =>
      rows[0]?.startsWith("▌ copilot 0.1") === true && rows.at(-2) === ">"
    );
  };
  const leave = async () => {
    await terminal.type("/exit\r");
    await terminal.until("left: 0");
  };
  await leave();
  await start();
  // Without an answer, a message has a bar in one of the terminal's own colours.
  await terminal.type("one\r");
  await terminal.until("One.");
  assert((await styled("▎")).includes("\x1b[36m"), JSON.stringify(await styled("one")));
  await leave();
  const questions = (output: string) => output.split("\x1b]11;?").length;
  const asked = questions(await terminal.output());
  await start();
  // Nothing counts before the question.
  await terminal.output((output) => questions(output) > asked);
  await terminal.type("\x1b]11;rgb:ffff/ffff/ffff\x07two\r");
  await terminal.until("Two.");
  const band = await styled("two");
  assert(band.includes("[48;5;"), JSON.stringify(band));
  await leave();
  const kept = await Deno.readTextFile(`${terminal.folder}/../state/copilot/backgrounds.json`);
  assertEquals(Object.values(JSON.parse(kept)), ["light"]);
  await start("--continue");
  await terminal.until("Two.");
  assertEquals(await styled("two"), band);
});
