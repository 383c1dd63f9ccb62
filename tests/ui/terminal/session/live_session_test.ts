import { assert, assertEquals } from "@std/assert";
import { existsSync } from "@std/fs/exists";
import { sessionCommand, startSession, test } from "../../../helpers/session.ts";
import { asksAboutCall } from "../../../helpers/tmux.ts";
import { bash, type StrictRequest, use } from "../../../helpers/strict_server.ts";
import { waitUntil } from "../../../helpers/wait_until.ts";

/** What the newest message of a request says. */
const said = ({ body }: StrictRequest) =>
  (body.messages as { role: string; content: string }[]).at(-1)!.content;
const rowsOf = (rows: string[], text: string) => rows.filter((row) => row.includes(text)).length;

test("Esc stops the turn and keeps what was said; messages return to the line, commands are held", async () => {
  await using terminal = await startSession([
    { text: "The beginning of an answer that", hang: true },
    { text: "Again." },
  ]);
  const { server } = terminal;
  await terminal.type("go\r");
  await terminal.until("The beginning of an answer");
  await terminal.type("later\x1b\r!touch no\rlast\rhalf");
  await terminal.until((rows) =>
    ["queued: later", "waits: last"].every((row) => rows.includes(row))
  );
  await terminal.type("\x1b");
  const rows = await terminal.until("Stopped by you");
  assert(rows.some((row) => row.includes("The beginning of an answer that")), rows.join("\n"));
  await terminal.until((rows) =>
    ["held: !touch no", "> later", "  last", "  half"].every((row) => rows.includes(row))
  );
  await terminal.type("\x03\x1b[A\x03");
  await terminal.until((rows) => !rows.includes("held: !touch no"));
  await terminal.type("new\r");
  await terminal.until("Again.");
  assertEquals(server.requests.slice(1).map(said), ["new"]);
});

test("a message that is typed during a turn is in its next request; after Alt-Enter, in the next turn", async () => {
  await using terminal = await startSession([
    bash("cat pipe"),
    { text: "Seen." },
    { text: "After." },
  ], { flags: "--yes" });
  const { server } = terminal;
  const pipe = `${terminal.folder}/pipe`;
  await new Deno.Command("mkfifo", { args: [pipe] }).output();
  await terminal.type("go\r");
  await terminal.until("Running");
  await terminal.type("use tabs\r");
  await terminal.until((rows) =>
    rows[rows.indexOf("waits: use tabs") + 1] === "sent with the next request · Up edits"
  );
  await terminal.type("drop\rthen this\x1b\r");
  await terminal.until((rows) => rows.includes("queued: then this"));
  // Up takes the newest one back.
  await terminal.type("\x1b[A\x15");
  await terminal.until((rows) => !rows.includes("queued: then this"));
  await terminal.type("\x1b[A\x15and this\x1b\r");
  await terminal.until((rows) =>
    rows.includes("waits: use tabs") && rows.includes("queued: and this") &&
    !rows.includes("waits: drop")
  );
  await Deno.writeTextFile(pipe, "x\n");
  const rows = await terminal.until("After.");
  const at = (text: string) => rows.findIndex((row) => row.includes(text));
  assert(at("> use tabs") < at("Seen.") && at("Seen.") < at("> and this"), rows.join("\n"));
  const [first, second, third] = server.requests.map(({ body }) => body.messages as unknown[]);
  assertEquals(second!.slice(0, first!.length), first);
  assertEquals(second!.slice(first!.length).map((one) => (one as { role: string }).role), [
    "assistant",
    "tool",
    "user",
  ]);
  assertEquals(server.requests.slice(1).map(said), ["use tabs", "and this"]);
  assertEquals(third!.slice(0, second!.length), second);
});

test("a command waits for the answer, and its row says how to run it now", async () => {
  await using terminal = await startSession([{
    text: "The beginning of an answer that",
    hang: true,
  }]);
  await terminal.type("go\r");
  await terminal.until("The beginning of an answer");
  await terminal.type("/clear\r/exit\r");
  await terminal.until((rows) =>
    rows.includes("queued: /clear · runs after the answer; Esc and Enter run it now") &&
    rows.includes("queued: /exit · runs after the answer; Esc and Enter run it now")
  );
  await terminal.type("\x1b");
  await terminal.until("held: /clear");
  await terminal.type("\r");
  await terminal.until("The conversation is cleared.");
});

test("a command that only shows something runs while the model works, in the pager", async () => {
  await using terminal = await startSession([{
    text: "The beginning of an answer that",
    hang: true,
  }]);
  await terminal.type("go\r");
  await terminal.until("The beginning of an answer");
  for (
    const [command, shown] of [["/jobs", "Nothing runs in the background."], [
      "/help",
      "Commands:",
    ]] as const
  ) {
    await terminal.type(`${command}\r`);
    await terminal.until((rows) => rows[0]!.startsWith(shown) && rows.at(-1)!.startsWith(command));
    await terminal.type("q");
    const back = await terminal.until((rows) => rows.some((row) => row.includes("Esc stops")));
    assert(back.includes("The beginning of an answer"), back.join("\n"));
    assertEquals(back.filter((row) => row.startsWith("queued")), []);
  }
});

test("/model lists the models while the model works; the selected one is for the next message", async () => {
  await using terminal = await startSession([{
    text: "The beginning of an answer that",
    hang: true,
  }, { text: "From the other." }]);
  const { server } = terminal;
  await terminal.type("go\r");
  await terminal.until("The beginning of an answer");
  await terminal.type("/model\r");
  await terminal.until("Which model?");
  await terminal.type("\x1b");
  await terminal.until((rows) => !rows.includes("Which model?"));
  await terminal.type("/model\r");
  await terminal.until("Which model?");
  await terminal.type("2");
  await terminal.until("queued: /model other · runs after the answer");
  await terminal.type("\x1b");
  await terminal.until("held: /model other");
  await terminal.type("\r");
  await terminal.until("Switched to other");
  await terminal.type("again\r");
  await terminal.until("From the other.");
  assertEquals(server.requests.map(({ body }) => body.model), ["test", "other"]);
});

const edit = (old_string: string, new_string: string) =>
  use("edit_file", { file_path: "f", old_string, new_string });

test("an edit is shown as a difference: whole where it is asked about", async () => {
  await using terminal = await startSession([edit("two", "2"), { text: "Done." }]);
  await Deno.writeTextFile(`${terminal.folder}/f`, "one\nand two\nthree\n");
  await terminal.type("go\r");
  const rows = await terminal.until("▌ Edit f  +1 −1");
  await terminal.until(asksAboutCall);
  assert(rows.includes("▌       - and two") && rows.includes("▌     2 + and 2"));
  await terminal.type("y\r");
  assertEquals(rowsOf(await terminal.until("Done."), "2 + and 2"), 1);
  assertEquals(await Deno.readTextFile(`${terminal.folder}/f`), "one\nand 2\nthree\n");
});

test("files named by @ and the output of !commands go along with a message, once", async () => {
  await using terminal = await startSession([{ text: "First." }, { text: "Second." }]);
  const { server } = terminal;
  await Deno.writeTextFile(`${terminal.folder}/notes.txt`, "remember the milk\n");
  await terminal.type("!echo from the shell; exit 3\r");
  await terminal.until("included in your next message");
  assertEquals(server.requests.length, 0);
  await terminal.type("see @no\t please\r");
  await terminal.until("First.");
  await terminal.type("and now\r");
  await terminal.until("Second.");
  const [first, second] = server.requests.map(said);
  for (const part of ["from the shell", "exit code: 3", "see @notes.txt", "remember the milk"]) {
    assert(first!.includes(part), `${part} in ${first}`);
  }
  assertEquals(second, "and now");
});

test("/model lists the models and goes on with another", async () => {
  await using terminal = await startSession([{ text: "First." }, { text: "Second." }]);
  const { server } = terminal;
  await terminal.type("one\r");
  await terminal.until("First.");
  await terminal.type("/model\r");
  const rows = await terminal.until((rows) =>
    rows.some((row) => row.startsWith("❯ 1  test")) &&
    rows.at(-2) === "  Enter to select · Esc to cancel · type to filter"
  );
  const at = rows.indexOf("Which model?");
  assertEquals(rows[at + 1], `  ${new URL(server.url).host}`, rows.join("\n"));
  assert(rows[at + 2]!.startsWith("❯ 1  test   40k context  tools · current"), rows.join("\n"));
  assert(rows[at + 3]!.startsWith("  2  other  40k context  tools"), rows.join("\n"));
  await terminal.type("\x1b");
  await terminal.until((rows) => rows.at(-2) === ">" && !rows.includes("Which model?"));
  await terminal.type("/model\r");
  await terminal.until("Which model?");
  await terminal.type("oth\r");
  await terminal.until("Switched to other");
  await terminal.type("/model nother\r");
  await terminal.until((rows) => rows.join("").includes("did you mean other?"));
  await terminal.type("/model --hosted --local\r");
  await terminal.until((rows) => rows.join(" ").includes("exclude each other"));
  await terminal.type("two\r");
  await terminal.until("Second.");
  assertEquals(server.requests.map(({ body }) => body.model), ["test", "other"]);
  assertEquals((server.requests[1]!.body.messages as unknown[]).length, 4);
});

test("Esc twice lists the messages, and a pick takes back all from that one on", async () => {
  await using terminal = await startSession([{ text: "First." }, { text: "Second." }, {
    text: "Third.",
  }]);
  const { server } = terminal;
  for (const [said, answer] of [["one", "First."], ["two", "Second."]] as const) {
    await terminal.type(`${said}\r`);
    await terminal.until(answer);
  }
  await terminal.until((rows) => rows.at(-2) === ">");
  await terminal.type("\x1b\x1b");
  const rows = await terminal.until("❯ 1  two");
  assert(rows.includes("  2  one"), rows.join("\n"));
  await terminal.type("2");
  const after = await terminal.until('Undid 2 messages, back to "one".');
  assert(/^. copilot .* · test( ·|$)/.test(after[0]!), after.join("\n"));
  // What does not count any more is not on the screen.
  const isGone = (rows: string[]) => rows.every((row) => !/First|Second|^. two/.test(row));
  assert(isGone(after), after.join("\n"));
  // Nor does tmux save it as the screen is cleared.
  assert(isGone(await terminal.screen({ isWhole: true })), "rows above the screen");
  await terminal.type("\x15/redo\r");
  const restored = await terminal.until('Restored "one".');
  assert(restored.includes("First.") && !restored.includes("Second."), restored.join("\n"));
  await terminal.type("/undo\r");
  await terminal.until('Undid "one".');
  await terminal.type("\x15");
  await terminal.type("anew\r");
  await terminal.until("Third.");
  assertEquals((server.requests[2]!.body.messages as unknown[]).length, 2);
});

test("what was typed is there in the next session, and can be searched for", async () => {
  await using terminal = await startSession([{ text: "First." }, { text: "Second." }]);
  const { server } = terminal;
  await terminal.type("a memorable line\r");
  await terminal.until("First.");
  await terminal.type("/exit\r");
  await terminal.until("left: 0");
  await terminal.type("clear\r");
  await terminal.until((rows) => !rows.some((row) => row.includes("copilot 0.1")));
  await terminal.type(`${sessionCommand(server)}\r`);
  await terminal.until("copilot 0.1");
  await terminal.type("\x12memo");
  await terminal.until("a memorable line");
  await terminal.type("\r");
  await terminal.until("Second.");
  assertEquals(said(server.requests[1]!), "a memorable line");
});

{
  const gate = Promise.withResolvers<void>();
  const table = `| a | b |\n|---|---|\n| ${"wide ".repeat(20)} | ${
    "cell ".repeat(20)
  } |\n\nEnd. Or so`;
  test("TTY-07 a storm of sizes leaves one prompt, one status line and the text typed", async () => {
    await using terminal = await startSession([
      { text: table, hang: true },
      async () => (await gate.promise, { text: "Done." }),
    ]);
    await terminal.type("go\r");
    await terminal.until("End.");
    await terminal.type("typed meanwhile");
    for (let i = 0; i < 12; i++) {
      await terminal.resize([80, 20, 200, 30, 41][i % 5]!, [24, 12, 50, 9][i % 4]!);
    }
    await terminal.resize(60, 30);
    await terminal.until((rows) => rowsOf(rows, "> typed meanwhile") === 1);
    await terminal.type("\x1b");
    await terminal.until("Stopped by you");
    await terminal.type("\r");
    await terminal.until("waiting for test");
    gate.resolve();
    const rows = await terminal.until((rows) =>
      rows.includes("Done.") && rows.some((row) => row.startsWith("test · "))
    );
    assertEquals(rows.filter((row) => row === ">").length, 1, rows.join("\n"));
    assertEquals(rows.filter((row) => row.startsWith("test · ")).length, 1, rows.join("\n"));
  });
}

for (const [signal, code] of [["TERM", 143], ["HUP", 129], ["INT", 130]] as const) {
  test(`TTY-04 SIG${signal} amid an answer restores the terminal, shows all there is, gives ${code}`, async () => {
    await using terminal = await startSession([{ text: "An answer that goes on and", hang: true }]);
    await terminal.type("go\r");
    await terminal.until("goes on");
    await terminal.kill(signal);
    const rows = await terminal.until(`left: ${code}`);
    const at = rows.indexOf("An answer that goes on and");
    assertEquals(rows[at + 2]?.slice(0, 16), "· Stopped by you", rows.join("\n"));
    assertEquals(rowsOf(rows, "An answer"), 1);
    await terminal.type("stty -a\r");
    await terminal.until((rows) => / icanon/.test(rows.join(" ")));
    await terminal.output((text) =>
      ["2004", "1004", "2026"].every((mode) =>
        text.lastIndexOf(`\x1b[?${mode}l`) > text.lastIndexOf(`\x1b[?${mode}h`)
      )
    );
  });
}

test("TTY-04 a session in a terminal that was left raw draws as ever, and leaves it sane", async () => {
  await using terminal = await startSession([{ text: "Two\n\nparagraphs." }]);
  const { server } = terminal;
  await terminal.type("\x04");
  await terminal.until("left: 0");
  await terminal.type(`clear; stty raw -echo; ${sessionCommand(server)}; echo left: $?\r`);
  await terminal.until((rows) => rows.includes(">"));
  await terminal.type("go\r");
  await terminal.until((rows) => rows.includes("Two") && rows.includes("paragraphs."));
  await terminal.type("\x04");
  await terminal.until("left: 0");
  await terminal.type("clear; stty -a\r");
  await terminal.until((rows) => / icanon/.test(rows.join(" ")));
});

test("TTY-05 Ctrl-Z amid an answer: nothing is written over what the shell shows after fg", async () => {
  await using terminal = await startSession([{ text: "One.\n\nTwo.\n\nThree", hang: true }]);
  await terminal.type("go\r");
  await terminal.until("Two.");
  await terminal.type("\x1a");
  await terminal.until("Stopped");
  // Long enough for a frame to be due.
  await terminal.type("clear; sleep 0.2; echo above; fg\r");
  const rows = await terminal.until((rows) => rows.at(0) === "above" && rows.includes(">"));
  const written = rows.filter((row) => /[\u2800-\u28ff]|Esc stops|^>/.test(row));
  assertEquals(written.length, 2, rows.join("\n")); // what goes on, and the prompt
  await terminal.type("\x1b");
  await terminal.until("Stopped by you");
});

test("R-06 an @ that was pasted attaches no file, not when it comes back from the history either", async () => {
  await using terminal = await startSession(
    ["One.", "Two.", "Three.", "Four.", "Five."].map((text) => ({ text })),
    { rows: 50 },
  );
  const { server } = terminal;
  const secret = "in the file";
  await Deno.writeTextFile(`${terminal.folder}/a.txt`, secret);
  const pasted = "\x1b[200~see @a.txt\x1b[201~";
  const large = `\x1b[200~see @a.txt ${"line\r".repeat(30)}\x1b[201~`;
  const rows: [keys: string, answer: string, isAttached: boolean][] = [
    [`${pasted}\r`, "One.", false],
    ["\x1b[A\r", "Two.", false],
    ["see @a.txt\r", "Three.", true],
    [`${large} and @a.txt\r`, "Four.", true],
    [`${large}\r`, "Five.", false],
  ];
  for (const [keys, answer, isAttached] of rows) {
    await terminal.type(keys);
    await terminal.until(answer);
    const message = said(server.requests.at(-1)!);
    assert(message.startsWith("see @a.txt"), message);
    assertEquals(message.includes(secret), isAttached, answer);
  }
  await terminal.type("\x04");
  await terminal.until("left: 0");
  const lines = await Deno.readTextFile(`${terminal.folder}/../state/copilot/history.jsonl`);
  assert(lines.includes('"text":"see @a.txt","folder"') && lines.includes('"pasted":[[4,5]]'));
});

test("PRC-06 what a command printed until it was stopped is not lost", async () => {
  await using terminal = await startSession([
    bash("echo so far; : > a; sleep 60"),
    { text: "Well." },
  ], { flags: "--yes" });
  const { server } = terminal;
  await terminal.type("go\r");
  const begun = (name: string) => waitUntil(() => existsSync(`${terminal.folder}/${name}`));
  await begun("a");
  await terminal.type("\x1b");
  await terminal.until("Stopped by you");
  await terminal.type("and now\r");
  await terminal.until("Well.");
  const { messages } = server.requests[1]!.body as { messages: { content: string }[] };
  assert(messages.some(({ content }) => content.includes("stdout:\nso far")));
  await terminal.type("!echo mine; : > b; sleep 60\r");
  await begun("b");
  await terminal.type("\x1b");
  await terminal.until((rows) => rows.includes("mine"));
});

test("SES-02 a session that was killed goes on, its open call answered", async () => {
  await using terminal = await startSession([
    {
      text: "First.",
      toolCalls: [
        { name: "fetch_url", arguments: { url: "no address" } },
        { name: "run_bash", arguments: { command: ": > a; sleep 60" } },
      ],
    },
    { text: "Second." },
    { text: "Third." },
  ], { flags: "--yes" });
  const { server } = terminal;
  await terminal.type("a question\r");
  await waitUntil(() => existsSync(`${terminal.folder}/a`));
  // The program first: it would see the end of its command.
  const kill = `for name in 'main\\.[jt]s --local' 'sleep 60'; do for p in /proc/[0-9]*; do
      [ "$(readlink $p/cwd)" = "${await Deno.realPath(terminal.folder)}" ] &&
      tr '\\0' ' ' < $p/cmdline | grep -q "$name" && kill -9 \${p#/proc/}
    done; done; true`;
  await new Deno.Command("sh", { args: ["-c", kill] }).output();
  await terminal.until("left: 137");
  await terminal.type("\nstty sane; clear\n");
  await terminal.until((rows) => rows.length === 1);
  await terminal.type(`${sessionCommand(server, "--continue --yes")}\r`);
  await terminal.until("Interrupted: the program ended before this call did.");
  await terminal.until((rows) => rows.includes("> a question") && rows.includes("First."));
  await terminal.type("go on\r");
  await terminal.until("Second.");
  const { messages } = server.requests[1]!.body as {
    messages: { role: string; content: string }[];
  };
  assertEquals(
    messages.map(({ role }) => role),
    "system user assistant tool tool assistant user".split(" "),
  );
  assert(messages[4]!.content.startsWith("Interrupted: the program ended"));
  await terminal.type("/clear\r/resume 1\rand again\r");
  await terminal.until("Third.");
  assertEquals(said(server.requests[2]!), "and again");
  assertEquals(server.requests[2]!.problem, undefined);
});
