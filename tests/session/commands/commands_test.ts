import { assertEquals, assertMatch } from "@std/assert";
import { thousands } from "../../../src/text/count.ts";
import { modelFlags as flags } from "../../../src/cli/settings.ts";
import { commandIn } from "../../../src/session/commands/command_line.ts";
import type { Job } from "../../../src/types/tool.ts";
import { openPermissions } from "../../../src/safety/permissions.ts";
import { jobRows, jobsCommand } from "../../../src/session/commands/jobs.ts";
import {
  commandsOf,
  completeArgument,
  runCommand,
} from "../../../src/session/commands/registry.ts";
import { PLAIN_SURFACE } from "../../../src/session/frontend.ts";
import type { SessionState } from "../../../src/session/extension.ts";
import { choicesOf, fakeSession } from "../../helpers/fake_session.ts";
import { strictServer } from "../../helpers/strict_server.ts";
import { folderWithState, tempFolder } from "../../helpers/temp_folder.ts";

const NO_SERVER = "http://127.0.0.1:1";
const { signal } = new AbortController();

const LINES: [line: string, expected: ReturnType<typeof commandIn>][] = [
  ["/", { name: "", argument: "" }],
  ["/help", { name: "help", argument: "" }],
  ["/HELP  ", { name: "HELP", argument: "" }],
  ["/cd  a b\n", { name: "cd", argument: "a b" }],
  ["/compact a\nb", { name: "compact", argument: "a\nb" }],
  ["/a:b-c_1 x", { name: "a:b-c_1", argument: "x" }],
  ["/3d-model x", { name: "3d-model", argument: "x" }],
  ["/überblick", { name: "überblick", argument: "" }],
  ["/1", undefined],
  ["/10 of them", undefined],
  ["/etc/hosts", undefined],
  [" /help", undefined],
  ["// x", undefined],
];
for (const [line, expected] of LINES) {
  Deno.test(`the command in ${JSON.stringify(line)}`, () => {
    assertEquals(commandIn(line), expected);
  });
}

const SAID: [line: string, said: string][] = [
  ["/hepl", "There is no command /hepl: did you mean /help?"],
  ["/mode", "There is no command /mode: did you mean /approve?"],
  ["/Xyzzyxyz", "There is no command /Xyzzyxyz: see /help"],
  ["/tokens x", "/tokens takes no argument"],
  ["/plan x", "/plan takes no argument, or one of: go, edits, off"],
  ["/plan off", "Plan mode is off. Start it with /plan."],
  ["/trust x", "/trust takes no argument, or one of: on, off"],
  ["/trust", "· your answer cannot be saved: "],
  ["/resume 1", "There is no session 1: see /resume"],
  ["/resume delete 0123abcd", "There is no session 0123abcd: see /resume"],
  ["/jobs x", "/jobs takes no argument, or one of: N, stop N, stop all"],
  ["/jobs 1", "There is no job 1: see /jobs"],
  ["/jobs stop 1", "There is no job 1: see /jobs"],
  ["/jobs stop all", "Nothing runs in the background."],
  ["/jobs", "Nothing runs in the background."],
  ["/cd nowhere\x1b", "Cannot change to FOLDER/nowhere␛: there is no such folder"],
  ["/cd file", "FOLDER/file is not a folder."],
  ["/cd", "FOLDER"],
  ["/cd sub", "Now in FOLDER/sub"],
  ["/cd ~nobody", "Cannot change to FOLDER/~nobody: there is no such folder"],
  ["/undo", "There is nothing to undo."],
  ["/redo", "There is nothing to redo."],
  ["/clear", "The conversation is cleared."],
  ["/compact", "Nothing to compact yet."],
  ["/copy", "There is no answer to copy yet."],
  ["/resume", "There are no earlier sessions in this folder."],
  ["/mcp", "No MCP servers are defined. Add one with copilot mcp add; new sessions use it."],
  ["/theme", "Colours are off here."],
  [
    "/agents",
    "No sub-agents are defined. Add a file to .agents/agents or ~/.config/copilot/agents.",
  ],
  ["/model --nonsense", 'Unknown flag "--nonsense": --help lists the flags'],
];
for (const [line, said] of SAID) {
  Deno.test(`what is said of ${JSON.stringify(line)}`, async () => {
    using temp = tempFolder();
    const folder = temp.path;
    await Deno.writeTextFile(`${folder}/file`, "");
    await Deno.mkdir(`${folder}/sub`);
    await using fake = await fakeSession(NO_SERVER, { folder, modelFlags });
    const expected = said.replace("FOLDER", folder);
    const text = await fake.command(line);
    if (said.endsWith(": ")) assertEquals(text!.startsWith(expected), true, text!);
    else assertEquals(text, expected);
    const moved = line === "/cd sub" ? `${folder}/sub` : folder;
    assertEquals(fake.session.status.folder, moved);
  });
}

/** The flags of `/model` on a machine without servers. */
const modelFlags = { ...flags, find: () => Promise.resolve([]) };

Deno.test("/cd takes ~ for the home folder", async () => {
  const home = Deno.env.get("HOME")!;
  await using fake = await fakeSession(NO_SERVER);
  for (const line of ["/cd ~", "/cd ~/", "/cd ~/."]) {
    await fake.command(line);
    assertEquals(fake.session.status.folder, await Deno.realPath(home));
    await fake.command("/cd /");
  }
});

Deno.test("Tab behind /cd offers folders and links, and hidden ones only for a dot", async () => {
  using temp = tempFolder();
  const folder = temp.path;
  for (const name of ["b", "a", ".h", "b/c"]) await Deno.mkdir(`${folder}/${name}`);
  await Deno.writeTextFile(`${folder}/file`, "");
  await Deno.symlink("b", `${folder}/link`);
  await using fake = await fakeSession(NO_SERVER, { folder });
  const rows: [begun: string, offered: string[]][] = [
    ["", ["a/", "b/", "link/"]],
    [".", [".h/"]],
    ["b/", ["b/c/"]],
    [`${folder}/b`, [`${folder}/b/`]],
  ];
  for (const [begun, offered] of rows) {
    assertEquals(await completeArgument(fake.session, "cd", begun), offered, begun);
  }
});

Deno.test("/plan and its end are told to the model, but not a plan mode that it never heard of", async () => {
  const begun = /Plan mode: look around/;
  const rows: [lines: string[], said: RegExp, notes: RegExp[]][] = [
    [["/plan", "/plan"], /^Plan mode is off: there was no plan to accept\.$/, []],
    [["/plan", "/plan go"], /^There is no plan yet\./, [begun]],
    [["/plan", "go", "/plan edits"], /^Plan accepted\./, [begun, /accepted: carry/]],
    [["/plan", "/plan off"], /^Plan mode is off\.$/, []],
    [["/plan", "go", "/plan"], /^Plan accepted\./, [begun, /The plan is accepted: carry/]],
    [["/plan", "go", "/plan off"], /^Plan mode is off/, [begun, /over; the plan was not accepted/]],
    // The plan was accepted, but the model never heard of it.
    [["/plan", "go", "/plan", "/plan"], /^Plan mode: the model only/, [begun]],
    // The note is gone with the conversation, or with the message.
    [["/plan", "go", "/clear"], /^The conversation is cleared/, [begun]],
    [["/plan", "go", "/undo"], /^Undid "go"/, [begun]],
    [["/plan", "go", "/plan off", "no", "/undo"], /^Undid "no"/, [begun, /over; the plan was not/]],
  ];
  for (const [lines, said, notes] of rows) {
    await using server = strictServer([{ text: "One." }, { text: "Two." }, { text: "Three." }]);
    await using fake = await fakeSession(server.url);
    let last: string | null = "";
    for (const line of lines) {
      if (line.startsWith("/")) last = await fake.command(line);
      else await fake.session.prompt(line, signal);
    }
    assertMatch(last!, said);
    const plans = lines.filter((line) => line === "/plan").length;
    const isPlanning = plans % 2 === 1 && !lines.some((line) => /off|edits/.test(line));
    const mode = isPlanning ? "plan" : lines.at(-1) === "/plan edits" ? "auto" : "ask";
    assertEquals(fake.session.status.mode?.approve, mode);
    await fake.session.prompt("and", signal);
    const sent = fake.session.agent.state.messages.map(({ content }) => content).join("\n");
    const found = sent.match(/\[[^\]]*plan[^\]]*\]/gi) ?? [];
    assertEquals(found.length, notes.length, sent);
    notes.forEach((note, at) => assertMatch(found[at]!, note));
  }
});

Deno.test("/clear forgets what was said, and what would go along", async () => {
  await using server = strictServer([{ text: "One." }, { text: "Two." }]);
  await using fake = await fakeSession(server.url);
  await fake.session.prompt("one", signal);
  await fake.session.shell("echo shown", signal);
  await fake.command("/clear");
  assertEquals(fake.session.status.tokens, { used: 0, isCounted: false, window: 32_768 });
  await fake.session.prompt("two", signal);
  const contents = fake.session.agent.state.messages.map(({ content }) => content);
  assertEquals(contents, ["two", "Two."]);
});

Deno.test("commands offer their arguments as choices, and Tab completes from the same", async () => {
  using temp = tempFolder();
  const folder = temp.path;
  const models = ["test", "other", "--yes", "a\x1bb"];
  await using server = strictServer([{ text: "One." }, { text: "Two." }], { models });
  await using fake = await fakeSession(server.url, { folder, modelFlags });
  const { session } = fake;
  const choices = (name: string) => choicesOf(session, name, signal);
  // What is no name is not offered.
  const group = new URL(server.url).host;
  const detail = "40k context  tools";
  // Those of recorded sessions may follow.
  assertEquals((await choices("model")).filter((one) => one.group === group), [
    { argument: "test", label: "test", detail, group, isCurrent: true },
    { argument: "other", label: "other", detail, group, isCurrent: false },
  ]);
  await session.prompt("one", signal);
  await session.prompt("two\nlines", signal);
  assertEquals(await choices("undo"), []);
  assertEquals(await choices("rewind"), [
    { argument: "1", label: "two lines" },
    { argument: "2", label: "one" },
  ]);
  assertEquals(
    (await choices("approve")).map(({ argument, isCurrent }) => [argument, isCurrent]),
    ["plan", "never", "ask", "auto"].map((mode) => [mode, false]),
  );
  assertEquals(await choices("trust"), [
    { argument: "on", label: "on", detail: "yes, always", isCurrent: false },
    { argument: "off", label: "off", detail: "no", isCurrent: false },
  ]);
  assertEquals([await choices("jobs"), await choices("plan"), await choices("x")], [[], [], []]);
  const offered = await Promise.all(
    ["undo", "approve", "trust", "model", "plan"].map((name) =>
      completeArgument(session, name, "o")
    ),
  );
  const names = offered.map((all) =>
    all.map((one) => typeof one === "string" ? one : one.argument)
  );
  assertEquals(names, [[], [], ["on", "off"], ["other"], ["off"]]);
  assertEquals(
    await fake.command("/undo 2"),
    'Undid 2 messages, back to "one". No files were changed. /redo restores them one by one.',
  );
  assertEquals(session.agent.state.messages, []);
  assertEquals(await fake.command("/redo"), 'Restored "one". No files were changed.');
  assertEquals(session.agent.state.messages.map(({ content }) => content), ["one", "One."]);
  // A single message is taken back by /undo at once, and listed by /rewind.
  assertEquals(await choices("undo"), []);
  assertEquals(await choices("rewind"), [{ argument: "1", label: "one" }]);
});

Deno.test("/model offers nothing where the server lists nothing, but a hosted model", async () => {
  using _state = folderWithState();
  await using fake = await fakeSession(NO_SERVER, { modelFlags });
  assertEquals(await choicesOf(fake.session, "model", signal), []);
  await fake.command(`/model --hosted --base-url ${NO_SERVER} -m claude`);
  const listed = async () =>
    (await choicesOf(fake.session, "model", signal)).map(({ label, isCurrent }) =>
      isCurrent ? `* ${label}` : label
    );
  assertEquals(await listed(), ["* claude"]);
  await using server = strictServer([], { models: ["other"] });
  await fake.command(`/model --hosted --base-url ${server.url} -m claude`);
  assertEquals(await listed(), ["* claude", "other"]);
});

Deno.test("/tokens sums up the session, and has the newest request", async () => {
  const usage = { inputTokens: 7, outputTokens: 2 };
  await using server = strictServer([{ text: "One.", usage }, { text: "Two.", usage }]);
  await using fake = await fakeSession(server.url);
  assertEquals(await fake.command("/tokens"), "Tokens so far: 0 in, 0 out");
  for (const text of ["one", "two"]) await fake.session.prompt(text, signal);
  const said = await fake.command("/tokens");
  assertEquals(said, "Tokens so far: 14 in, 4 out\nThe last request: 7 in, 2 out");
  await fake.command("/undo");
  assertEquals(await fake.command("/tokens"), "Tokens so far: 14 in, 4 out");
});

Deno.test("/model goes on with the conversation, and says whether the server lists the model", async () => {
  using _state = folderWithState();
  await using server = strictServer([], { models: ["test", "other"] });
  await using fake = await fakeSession(server.url, { modelFlags, asksAtStart: true });
  const at = server.url.replace("http://", "");
  const now = (model: string) => `Switched to ${model} at ${at}.`;
  assertEquals(await fake.command("/model other"), now("other"));
  const unknown = (name: string) => `There is no model ${name} at ${at}: `;
  assertEquals(await fake.command("/model none"), `${unknown("none")}see /model`);
  assertEquals(await fake.command("/model otter"), `${unknown("otter")}did you mean other?`);
  const about = "40k context  tools";
  assertEquals(
    await fake.command("/model"),
    `  test  ${about}\n* other  ${about}\nCurrent: other at ${at}. Switch with /model NAME.`,
  );
  assertEquals(await fake.command(`/model --local --host ${server.url} -m test`), now("test"));
  assertEquals(fake.session.status.model, "test");
  // A compatible server may have more models than it lists, Ollama has not.
  assertEquals(await fake.command(`/model --base-url ${server.url}/v1 -m test`), now("test"));
  assertEquals(await fake.command("/model otter"), `${unknown("otter")}did you mean other?`);
  assertEquals(fake.session.status.model, "test");
  const says = "The server does not list it; the next message shows if it has it.";
  assertEquals(await fake.command("/model none"), `${now("none")} ${says}`);
  assertEquals(fake.session.status.model, "none");
  assertEquals(await fake.command("/model a b"), `${unknown("a b")}see /model`);
  // Where nobody names a model, it is one that the server has.
  assertEquals(await fake.command(`/model --local --host ${server.url}`), now("test"));
  assertEquals(await fake.command(`/model --base-url ${server.url}/v1/models`), now("test"));
  // It stays where another server cannot be reached.
  const local = `--local --host ${NO_SERVER} -m gone`;
  for (const gone of [`--base-url ${NO_SERVER}`, local, `${NO_SERVER}#gone`]) {
    const stays = (await fake.command(`/model ${gone}`))!;
    assertMatch(stays, /^Still using test at \S+: Cannot .*127\.0\.0\.1:1/);
    assertEquals([stays.includes(` ${at}: `), fake.session.status.model], [true, "test"]);
  }
});

Deno.test("/context is of the server that /model names, and of none for another model", async () => {
  const answers: Record<string, unknown> = {
    "/v1/models": { data: [{ id: "own" }] },
    "/props": { default_generation_settings: { n_ctx: 4096 } },
  };
  const options = { hostname: "127.0.0.1", port: 0, onListen() {} };
  await using server = Deno.serve(options, (request) => {
    const answer = answers[new URL(request.url).pathname];
    return answer === undefined ? new Response("", { status: 404 }) : Response.json(answer);
  });
  await using fake = await fakeSession(NO_SERVER, { modelFlags, contextLength: 9000 });
  const window = async () => /(?:of (\d+)|unknown).*$/.exec((await fake.command("/context"))!)![1];
  assertEquals(await window(), "9000");
  const at = `127.0.0.1:${server.addr.port}`;
  const now = `Switched to own at ${at}.`;
  assertEquals(await fake.command(`/model --base-url http://${at}/v1`), now);
  assertEquals(await window(), "4096");
  await fake.command("/model other");
  assertEquals(await window(), undefined);
});

Deno.test("of a job the last twenty lines are shown, and of those that run all can be stopped", async () => {
  const stopped: number[] = [];
  const text = Array.from({ length: 21 }, (_, n) => `${n}\n`).join("") + "\n";
  const list = [undefined, "exit code 0", undefined].map((outcome, at) => ({
    ...{ number: at + 1, outcome, elapsedMs: 61_900, command: "x" },
    tail: (bytes: number) => text.slice(-bytes),
    stop: () => Promise.resolve(void stopped.push(at + 1)),
  } as unknown as Job));
  const state = { jobs: { list }, surface: PLAIN_SURFACE } as unknown as SessionState;
  const run = async (argument: string) => {
    const rows = String(await jobsCommand.run(state, argument, signal)).split("\n");
    const jobs = rows.filter((row) => row.endsWith("  x"));
    return [jobs.map((row) => parseInt(row)), rows.length - jobs.length];
  };
  assertEquals(await run(""), [[1, 2, 3], 0]);
  assertEquals(await run("2"), [[2], 20]);
  assertEquals(await run("stop 3"), [[3], 0]);
  assertEquals(await run("stop  all"), [[1, 3], 0]);
  assertEquals(stopped, [3, 1, 3]);
  assertEquals(await jobsCommand.choices!(state), [
    { argument: "1", label: "show job 1", detail: "running · x · 1:01" },
    { argument: "2", label: "show job 2", detail: "exit code 0 · x · 1:01" },
    { argument: "3", label: "show job 3", detail: "running · x · 1:01" },
    { argument: "stop 1", label: "stop job 1", detail: "running · x · 1:01" },
    { argument: "stop 3", label: "stop job 3", detail: "running · x · 1:01" },
    { argument: "stop all", label: "stop all jobs" },
  ]);
  assertEquals(await jobsCommand.choices!({ ...state, jobs: { list: [] } } as never), []);
});

Deno.test("/permissions lists what was allowed, and takes it back, in later sessions too", async () => {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  const config = await Deno.makeTempDir();
  const settings = () =>
    openPermissions({}, (name) => name === "XDG_CONFIG_HOME" ? config : undefined);
  try {
    const permissions = await settings();
    await using fake = await fakeSession(NO_SERVER, { folder, permissions });
    const choices = () => choicesOf(fake.session, "permissions", new AbortController().signal);
    assertEquals(await choices(), []);
    for (
      const [argument, said] of [
        ["remove x", "No answer allowed anything here: see permissions.json."],
        ["remove", "No answer allowed anything here: see permissions.json."],
        ["x", "/permissions takes no argument, or one of: show"],
      ] as const
    ) assertEquals(await fake.command(`/permissions ${argument}`), said);
    await permissions.allow({ rule: "run_bash(ls *)" }, folder);
    await permissions.allow({ rule: "run_bash(pwd)" }, "/elsewhere");
    for (const rule of ["run_bash(npm test)", "write_file(a)"]) {
      await permissions.save({ rule }, folder);
    }
    assertEquals(await choices(), [
      { argument: "show", label: "show", detail: "what runs without asking, and the sandbox" },
      { argument: "remove run_bash(ls *)", label: "remove run_bash(ls *)", detail: "this session" },
      {
        argument: "remove run_bash(npm test)",
        label: "remove run_bash(npm test)",
        detail: "this folder",
      },
      { argument: "remove write_file(a)", label: "remove write_file(a)", detail: "this folder" },
    ]);
    const rules = async (line: string) =>
      (await fake.command(line))!.split("\n").map((row) => row.trim())
        .filter((row) => row.startsWith("allow"));
    assertEquals(await rules("/permissions remove run_bash(ls *)"), [
      "allow    run_bash(npm test) · saved",
      "allow    write_file(a) · saved",
    ]);
    const left = ["allow    write_file(a) · saved"];
    assertEquals(await rules("/permissions remove run_bash(npm test)"), left);
    assertEquals((await (await settings()).describe(folder)).rules.map(({ text }) => text), [
      "write_file(a)",
    ]);
    const unknown = await fake.command("/permissions remove run_bash(ls *)");
    assertEquals(
      unknown,
      "/permissions takes no argument, or one of: show, remove write_file(a)",
    );
    assertEquals(await rules("/permissions show"), left);
  } finally {
    for (const at of [folder, config]) await Deno.remove(at, { recursive: true });
  }
});

const job = (number: number, seconds: number, outcome?: string, command = "npm run\ndev") => ({
  number,
  elapsedMs: seconds * 1000,
  outcome,
  command,
});

Deno.test("the rows of /jobs have columns, and are cut to the terminal", () => {
  assertEquals(jobRows([job(1, 61.9), job(12, 3605, "exit code 3")], 80).split("\n"), [
    "  1  running       1:01  npm run dev",
    " 12  exit code 3  60:05  npm run dev",
  ]);
  assertEquals(
    jobRows([job(1, 9, undefined, "a".repeat(40))], 31),
    `  1  running  0:09  ${"a".repeat(10)}…`,
  );
});

Deno.test("/jobs N shows the end of a job's output, with nothing in it that drives a terminal", async () => {
  const said = (output: string) =>
    jobsCommand.run(
      {
        surface: PLAIN_SURFACE,
        jobs: { list: [{ ...job(1, 0), tail: () => output }] },
      } as unknown as SessionState,
      "1",
      signal,
    );
  assertEquals(await said("a\x1b\nb"), "a␛\nb\n  1  running  0:00  npm run dev");
  assertEquals(await said(""), "  1  running  0:00  npm run dev\n  no output");
});

Deno.test("/history lists what was typed, a row each", async () => {
  await using fake = await fakeSession(NO_SERVER);
  fake.session.agent.state.history = ["a\nb", "c"];
  assertEquals(await fake.command("/history"), "   1  a b\n   2  c");
});

Deno.test("/tokens says what came from the cache, and the cost where it is known", async () => {
  const session = {
    agent: { state: { inputTokens: 70, outputTokens: 20 } },
    ...{ roles: { lent: new Map() }, extensions: [], surface: PLAIN_SURFACE },
    ...{ cost: 1.5, usage: { inputTokens: 7, outputTokens: 2, cachedTokens: 3 } },
  } as unknown as SessionState;
  assertEquals(
    await runCommand(session, "tokens", "", signal),
    "Tokens so far: 70 in, 20 out, $1.50\nThe last request: 7 in (3 from the cache), 2 out",
  );
});

Deno.test("/help in an editor has a row for each command it can run; the others say why they cannot", async () => {
  await using fake = await fakeSession(NO_SERVER, {}, {
    surface: { kind: "editor", columns: 40 },
  });
  const rows = (await fake.command("/help"))!.split("\n");
  const commands = commandsOf(fake.session);
  assertEquals(rows[0], "Commands:");
  for (const { name, isOfTerminal = false } of commands) {
    const isListed = rows.some((row) => row.trimStart().split(" ")[0] === `/${name}`);
    assertEquals(isListed, !isOfTerminal, name);
  }
  assertEquals(rows.filter((row) => row.length > 40), []);
  for (const { name } of commands.filter(({ isOfTerminal }) => isOfTerminal)) {
    assertEquals(
      /editor|in a shell|:|here|its own/.test((await fake.command(`/${name}`))!),
      true,
      name,
    );
  }
});

Deno.test("/status has the tokens that are left after /undo, as the status line does", async () => {
  await using server = strictServer([{ text: "One." }, { text: "Two." }]);
  await using fake = await fakeSession(server.url);
  await fake.session.prompt("one", signal);
  await fake.session.prompt("two", signal);
  await fake.command("/undo");
  const { used, isCounted } = fake.session.status.tokens;
  assertEquals(isCounted, false);
  const shown = /context\s+(about \S+) of/.exec((await fake.command("/status"))!)?.[1];
  assertEquals(shown, `about ${thousands(used)}`);
});
