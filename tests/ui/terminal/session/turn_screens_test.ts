/** What a turn looks like in a real terminal: failures, thoughts, running commands. */
import { bash, use } from "../../../helpers/strict_server.ts";
import { assert, assertEquals } from "@std/assert";
import { existsSync } from "@std/fs/exists";
import { startSession, test } from "../../../helpers/session.ts";
import { asksAboutCall } from "../../../helpers/tmux.ts";
import { waitUntil } from "../../../helpers/wait_until.ts";

const typed = Promise.withResolvers<void>();
const isIdle = (rows: string[]) => rows.at(-2) === ">";

test("a turn that failed says what to do, and its message is back in the line, which Enter sends again", async () => {
  await using terminal = await startSession([{ error: { status: 400, message: "It broke" } }, {
    text: "Well.",
  }]);
  const { server } = terminal;
  await terminal.type("fix it\r");
  await terminal.until(" answered 400: It broke");
  const rows = await terminal.until((rows) => rows.at(-2) === "> fix it");
  const at = rows.findIndex((row) => row.startsWith("✗ "));
  assertEquals(rows[at + 1], "  Enter sends it again · /doctor · /model");
  await terminal.type("\r");
  await terminal.until("Well.");
  const { body } = server.requests.at(-1)!;
  const users = (body.messages as { role: string }[]).filter(({ role }) => role === "user");
  assertEquals(users.length, 1);
});

test("a command takes the place of a message that failed, which the history has", async () => {
  await using terminal = await startSession([{ error: { status: 401, message: "It broke" } }]);
  await terminal.type("fix it\r");
  const rows = await terminal.until((rows) => rows.at(-2) === "> fix it");
  // The advice comes in place of /model.
  assertEquals([rows.join().includes("/doctor"), rows.join().includes("/model")], [true, false]);
  await terminal.type("/status\r");
  await terminal.until("  context         ");
  await terminal.type("\x1b[A\x1b[A");
  await terminal.until((rows) => rows.at(-2) === "> fix it");
});

test("a line that was typed meanwhile is not replaced by a message that failed", async () => {
  await using terminal = await startSession([async () => {
    await typed.promise;
    return { error: { status: 400, message: "It broke" } };
  }]);
  await terminal.type("fix it\rother");
  await terminal.until((rows) => rows.at(-2) === "> other");
  typed.resolve();
  await terminal.until("✗ ");
  await terminal.until("Up and Enter send it again · /doctor · /model");
  await terminal.until((rows) => rows.at(-2) === "> other");
});

test("a command that runs has a row as it will be, its newest lines below, and only numbers in the last row", async () => {
  await using terminal = await startSession([bash("seq 7; until [ -e go ]; do sleep 0.1; done"), {
    text: "Done.",
  }]);
  await terminal.type("go\r");
  await terminal.until(asksAboutCall);
  await terminal.type("y");
  const rows = await terminal.until((rows) =>
    rows.some((row) => /^◐ Running seq 7; .* [1-9] s$/.test(row))
  );
  const at = rows.findIndex((row) => row.startsWith("◐ Running"));
  const below = ["  └ … 2 earlier lines", ...[3, 4, 5, 6, 7].map((n) => `    ${n}`), ""];
  assertEquals(rows.slice(at + 1, at + 8), below);
  const last = /^. running · Esc stops · Ctrl-B moves it to the background$/;
  assert(last.test(rows[at + 8]!), rows[at + 8]);
  await Deno.writeTextFile(`${terminal.folder}/go`, "");
  await terminal.until("Done.");
  await terminal.until((rows) => rows.some((row) => /^● Ran {5}seq 7; .* \d\.\d s$/.test(row)));
  await terminal.until(isIdle);
});

const write = (file_path: string, content: string) => use("write_file", { file_path, content });

test("/diff shows what the session changed in each file, from its start, in the pager", async () => {
  await using terminal = await startSession([
    use("read_file", { file_path: "old" }),
    write("old", "one\n2\nthree\n"),
    write("new", "first\n"),
    write("new", "second\n"),
    bash("sed -i s/one/1/ old; echo text > other"),
    { text: "Done." },
  ]);
  await terminal.type("/diff\r");
  await terminal.until("No tool or command has changed a file since this session was opened.");
  await Deno.writeTextFile(`${terminal.folder}/old`, "one\ntwo\nthree\n");
  await terminal.type("go\r");
  await terminal.until(asksAboutCall);
  await terminal.type("a");
  await terminal.until((rows) => asksAboutCall(rows) && rows.join().includes("> other"));
  await terminal.type("y");
  await terminal.until("Done.");
  await terminal.type("/diff\r");
  const rows = await terminal.until("q closes");
  assertEquals(rows.slice(0, 12), [
    ...["old  +2 −2", "      - one", "      - two", "    1 + 1", "    2 + 2", "    3   three", ""],
    ...["new  +1", "    1 + second", "", "other  +1", "    1 + text"],
  ]);
  await terminal.type("q");
  await terminal.until("Done.");
});

test("/status names the model, the folder, the mode and what was used", async () => {
  await using terminal = await startSession([{ text: "Hi." }]);
  const { server } = terminal;
  await terminal.type("go\r");
  await terminal.until("Hi.");
  await terminal.type("/status\r");
  await terminal.until(`  model           test at ${new URL(server.url).host}`);
  const rows = await terminal.until("  record          ");
  const cases = [
    "  mode            ask: asks before",
    "  sandbox         off: ",
    "  tokens  ",
  ];
  for (const row of cases) {
    assert(rows.some((one) => one.startsWith(row)), row);
  }
});

test("Ctrl-B moves the running command to the background: a job, which the model is told of", async () => {
  await using terminal = await startSession([
    bash("seq 3; until [ -e go ]; do sleep 0.1; done; echo over"),
    { text: "Moved." },
    { text: "Well." },
  ]);
  const { server } = terminal;
  await terminal.type("go\r");
  await terminal.until(asksAboutCall);
  await terminal.type("y");
  await terminal.until((rows) => rows.some((row) => / Ctrl-B moves it /.test(row)));
  await terminal.type("\x02");
  await terminal.until("Moved.");
  await terminal.until((rows) => rows.some((row) => /^● Ran +seq 3; .* · job 1/.test(row)));
  const { text } = server.requests.at(-1)!;
  assert(/The user moved it to the background: job 1 runs .*output:\\n1\\n2\\n3/.test(text), text);
  await Deno.writeTextFile(`${terminal.folder}/go`, "");
  await terminal.until("· Job 1 done: seq 3; ");
  await terminal.type("/jobs 1\r");
  await terminal.until("over");
  // Without a running command, the key moves the cursor.
  await terminal.type("ac\x02b\r");
  await terminal.until("> abc");
  await terminal.until("Well.");
});

test("Ctrl-B moves the user's own command to the background, too", async () => {
  await using terminal = await startSession([], { columns: 40 });
  await terminal.type("!touch begun; until [ -e go ]; do sleep 0.1; done\r");
  await waitUntil(() => existsSync(`${terminal.folder}/begun`));
  await terminal.type("\x02");
  await terminal.until("Job 1 runs in the background (/jobs 1)");
  await Deno.writeTextFile(`${terminal.folder}/go`, "");
  // No word of the row is cut.
  await terminal.until((rows) =>
    /· Job 1 done: touch begun; .* · \/jobs 1 shows its output/.test(
      rows.join(" ").replace(/ +/g, " "),
    )
  );
});
