import { assertEquals, assertMatch } from "@std/assert";
import { attempt } from "../../../../src/attempt.ts";
import { left, living, marker } from "../../../helpers/processes.ts";
import { sessionCommand, startSession, test } from "../../../helpers/session.ts";
import { bash, type StrictRequest, strictServer } from "../../../helpers/strict_server.ts";
import { asksAboutCall, noTmux, type Terminal, terminal } from "../../../helpers/tmux.ts";
import { waitUntil } from "../../../helpers/wait_until.ts";

const touch = bash("touch ran");

const said = ({ body }: StrictRequest) => (body.messages as { content: string }[]).at(-1)!.content;

const exists = (terminal: Terminal, name: string) =>
  Deno.stat(`${terminal.folder}/${name}`).then(() => true, () => false);

test("Ctrl-C at the question ends the turn, at the prompt the session", async () => {
  await using terminal = await startSession([touch, { text: "Again." }]);
  await terminal.type("go\r");
  await terminal.until(asksAboutCall);
  await terminal.type("\x03");
  await terminal.until("Stopped by you");
  await terminal.type("half a line");
  await terminal.until("> half a line");
  await terminal.type("\x03more\r");
  await terminal.until("Again.");
  await terminal.type("\x1b[A\x1b[A");
  await terminal.until("> half a line");
  await terminal.type("\x03");
  await terminal.until((rows) => rows.at(-2) === ">");
  await terminal.type("\x03");
  await terminal.until("Press Ctrl-C again to exit");
  await terminal.type("\x03");
  await terminal.until("left: 0");
  assertEquals(await exists(terminal, "ran"), false);
});

test("commands, and what is none", async () => {
  await using terminal = await startSession([{ text: "A path." }]);
  await terminal.type("/hepl\r");
  await terminal.until("did you mean /help?");
  await terminal.type("/cd /\r");
  await terminal.until("Now in /");
  await terminal.type("/etc/hosts what is this?\r");
  await terminal.until("A path.");
  await terminal.type("/exit\r");
  await terminal.until("left: 0");
});

const hostile = "\x1b]0;pwned\x07\x1b[2Jred\x9b45m\u202egnp.exe 👨‍👩‍👧";

test("TTY-01 nothing that a model says drives the terminal", async () => {
  await using terminal = await startSession([
    { text: hostile, toolCalls: [{ name: "read_file", arguments: { file_path: hostile } }] },
    bash(`echo ${hostile}`),
    { text: `Done ${hostile}` },
  ]);
  await terminal.type("go\r");
  await terminal.until(asksAboutCall);
  await terminal.type("n\r");
  await terminal.until("Done ␛");
  // The program itself asks for the background, and names the folder in the title.
  const output = (await terminal.output()).replaceAll("\x1b]11;?\x1b\\", "")
    // deno-lint-ignore no-control-regex
    .replaceAll(/\x1b\]2;copilot(?: works| asks)? \xc2\xb7 [\w.-]+\x07/g, "");
  // deno-lint-ignore no-control-regex
  assertEquals(/\x1b\]|\x1b\[2J|\x1b\[?45m|\xe2\x80\xae|\xc2\x9b/.exec(output)?.[0], undefined);
  assertMatch((await terminal.screen()).join("\n"), /Done ␛]0;pwned/);
});

Deno.test(
  noTmux
    ? `a closed terminal (skipped: ${noTmux})`
    : "PRC-07 a closed terminal is a 129, and what stood in the line is in the history",
  { ignore: noTmux !== "" },
  async () => {
    await using server = strictServer([{ text: "Some words\n\nand more\n\n", hang: true }]);
    const folder = await Deno.makeTempDir();
    {
      await using screen = await terminal();
      // A shell that outlives the terminal tells of it.
      const script =
        `trap "" HUP; mkdir ${folder}/work; cd ${folder}/work; XDG_STATE_HOME=${folder}/state ${
          sessionCommand(server)
        } 2>../error; echo $? >../code; mv ../code ../left`;
      await Deno.writeTextFile(`${folder}/script`, script);
      await screen.type(`sh ${folder}/script\r`);
      await screen.until((rows) => rows.includes(">"));
      await screen.type("go\r");
      await screen.until("Some words");
      await screen.type("later\rnot sent");
      await screen.until("> not sent");
    }
    const code = `${folder}/left`;
    await waitUntil(() => attempt(() => Deno.statSync(code).isFile) ?? false);
    assertEquals(await Deno.readTextFile(code), "129\n");
    const history = await Deno.readTextFile(`${folder}/state/copilot/history.jsonl`);
    const texts = history.split("\n").filter(Boolean).map((line) => JSON.parse(line).text);
    assertEquals(texts, ["go", "later", "not sent"]);
    // Some shells tell of a second SIGHUP.
    assertMatch(await Deno.readTextFile(`${folder}/error`), /^(Hangup\n)?$/);
    await Deno.remove(folder, { recursive: true });
  },
);

Deno.test(
  "PRC-07 nothing that a command started outlives a closed terminal" +
    (noTmux && ` (skipped: ${noTmux})`),
  { ignore: noTmux !== "" },
  async () => {
    const mark = marker();
    const command = `sleep ${mark} & (trap '' TERM HUP; sleep ${mark}) & wait`;
    await using server = strictServer([
      bash(command),
    ], { models: ["test"] });
    {
      await using screen = await terminal();
      await screen.type(`${sessionCommand(server, "--yes")}\r`);
      await screen.until((rows) => rows.includes(">"));
      await screen.type("go\r");
      assertEquals((await living(mark, (count) => count === 3)).length, 3);
    }
    assertEquals(await left(mark), []);
  },
);

test("Shift-Tab goes through the modes, which the status line shows", async () => {
  await using terminal = await startSession([]);
  for (const mode of ["auto", "plan", "ask", "auto"]) {
    await terminal.type("\x1b[Z");
    await terminal.until((rows) => new RegExp(`· ${mode}( |$)`).test(rows.at(-1)!));
  }
  // Presses that come together count one by one.
  await terminal.type("\x1b[Z".repeat(5));
  await terminal.until((rows) => /· ask( |$)/.test(rows.at(-1)!));
});

test("a turn in plan mode ends with a list: what to change goes to the model, going on leaves the mode", async () => {
  await using terminal = await startSession([
    ...["First plan.", "Second plan."].map((text) => ({ text: `${text}\n\n1. Look\n2. Write` })),
    ...[{ text: "It is done." }, { text: "Third.\n\n- a\n- b" }, { text: "Hello!" }],
  ]);
  const { server } = terminal;
  const list = (rows: string[]) => rows.some((row) => row.includes("Ready to start?"));
  await terminal.type("/plan\rdo it\r");
  await terminal.until((rows) => rows.includes("First plan.") && list(rows));
  await terminal.type("\x0f");
  const whole = await terminal.until((rows) => rows.at(-1)!.startsWith("Transcript"));
  assertEquals(whole.filter((row) => row === "First plan.").length, 1);
  await terminal.type("q");
  await terminal.until(list);
  // Text goes into the line, not to the list.
  await terminal.type("less of it");
  await terminal.until((rows) => rows.at(-2) === "> less of it" && !list(rows));
  await terminal.type("\r");
  await terminal.until((rows) => rows.includes("Second plan.") && list(rows));
  assertEquals(said(server.requests[1]!), "less of it");
  await terminal.type("2");
  await terminal.until("It is done.");
  await terminal.until((rows) => / auto/.test(rows.at(-1)!));
  assertMatch(said(server.requests[2]!), /accepted: carry it out\.\]\n\nCarry out the plan\.$/);
  await terminal.type("/plan\rmore\r");
  await terminal.until((rows) => rows.includes("Third.") && list(rows));
  await terminal.type("\x1b");
  await terminal.until((rows) => !list(rows) && / plan/.test(rows.at(-1)!));
  // An answer without steps is no plan.
  await terminal.type("hello\r");
  await terminal.until("Hello!");
  await terminal.until((rows) => rows.at(-2) === ">" && !list(rows));
});
