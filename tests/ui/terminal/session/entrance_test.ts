import { assert, assertEquals } from "@std/assert";
import { recordsBelow } from "../../../helpers/records.ts";
import { sessionCommand, startSession, test } from "../../../helpers/session.ts";
import type { StrictRequest } from "../../../helpers/strict_server.ts";

const said = ({ body }: StrictRequest) =>
  (body.messages as { role: string; content: string }[]).at(-1)!.content;

test("a message on the command line begins a session; leaving it says how to come back", async () => {
  await using terminal = await startSession([{ text: "They pass." }, { text: "Again." }]);
  const { server } = terminal;
  await terminal.type("exit\r");
  const rows = await terminal.until("left: 0");
  assertEquals(rows.filter((row) => row.startsWith("To continue")), []);
  await terminal.type("clear\r");
  await terminal.until((rows) => rows.length === 1);
  await terminal.type(`${sessionCommand(server, '"fix the tests"')}; echo left: $?\r`);
  await terminal.until((rows) => rows.includes("> fix the tests") && rows.includes("They pass."));
  await terminal.until((rows) => rows.at(-2) === ">");
  await terminal.type("clear\x15quit\r");
  const left = (await terminal.until("left: 0")).join("\n");
  const [, id] = /^To continue: copilot --resume ([\da-f]{8})$/m.exec(left) ?? [];
  assert(id !== undefined, left);
  const sessions = `${terminal.folder}/../state/copilot/sessions`;
  const [path] = recordsBelow(sessions);
  assert(path!.endsWith(`-${id}.jsonl`), path);
  const text = await Deno.readTextFile(path!);
  assert(text.includes("fix the tests") && text.includes("They pass."), text);
  await terminal.type(
    `clear; cd /; ${sessionCommand(server, `--resume ${id} -- '--and more'`)}\r`,
  );
  await terminal.until("Again.");
  assertEquals(server.requests.map(said), ["fix the tests", "--and more"]);
  assertEquals((server.requests[1]!.body.messages as unknown[]).length, 4);
});

test("words that stand for a command are one as a whole line, typed, and nothing else", async () => {
  await using terminal = await startSession([{ text: "One." }, { text: "Two." }]);
  const { server } = terminal;
  await terminal.until("tools");
  for (const word of ["?", "help"]) {
    await terminal.type(`${word}\r`);
    await terminal.until("Ctrl-Z");
    await terminal.type("\x0c");
    await terminal.until((rows) => rows[1] === ">");
  }
  await terminal.type("help me\r");
  await terminal.until("One.");
  await terminal.type("\x04");
  await terminal.until("left: 0");
  await terminal.type(`clear; ${sessionCommand(server, "'!touch ran'")}\r`);
  await terminal.until("Two.");
  await terminal.type("exit\r");
  await terminal.until("To continue: copilot");
  assertEquals(server.requests.map(said), ["help me", "!touch ran"]);
  assertEquals([...Deno.readDirSync(terminal.folder)].some(({ name }) => name === "ran"), false);
});
