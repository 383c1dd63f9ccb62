import { TestRecorder } from "../records/conversation.ts";
import { hasPlan } from "../../src/session/plan_mode.ts";
import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { CopilotAgent } from "../../src/agent/agent.ts";
import { compatConfig, type CopilotConfig, hostedConfig, localConfig } from "../../src/config.ts";
import type { ModelUsed } from "../../src/records/format.ts";
import { isOfPrint, shortName, type StoredSession } from "../../src/records/store.ts";
import { resumeSession, sessionTitle } from "../../src/session/record.ts";
import { openPermissions } from "../../src/safety/permissions.ts";
import type { SessionOptions } from "../../src/session/extension.ts";
import type { Usage } from "../../src/types/event.ts";
import type { Message } from "../../src/types/message.ts";
import { choicesOf, fakeSession } from "../helpers/fake_session.ts";
import { png } from "../helpers/images.ts";
import { recordTest } from "../helpers/record_test_case.ts";
import { storedSessions } from "../helpers/records.ts";
import { strictServer, use } from "../helpers/strict_server.ts";

const { signal } = new AbortController();

recordTest(
  "the record holds all of a turn when that ends, however it ends",
  [
    { text: "Hello." },
    { error: { status: 400, message: "no" } },
    { text: "Half", cut: "finish" },
    { text: " more", cut: "finish" },
  ],
  async ({ folder, open, stored }) => {
    await using fake = await open();
    await fake.session.prompt("hi", signal);
    assertEquals(stored(), ["user: hi", "assistant: Hello."]);
    const started = () =>
      storedSessions(`${folder}/state/copilot/sessions`, folder).map(({ head }) => head.started);
    const before = started();
    await assertRejects(() => fake.session.prompt("refused", signal));
    assertEquals(stored(), ["user: hi", "assistant: Hello."]);
    await assertRejects(() => fake.session.prompt("again", signal));
    // A broken answer is asked to go on once.
    assertEquals(stored()[3], "assistant: Half");
    assertMatch(stored().at(-1)!, /^assistant: {1,2}more\n\n\[The answer broke off: /);
    await fake.command("/undo");
    await fake.command("/undo");
    assertEquals(stored(), ["user: hi", "assistant: Hello."]);
    await fake.command("/undo");
    assertEquals(stored(), []);
    for (let step = 0; step < 3; step++) await fake.command("/redo");
    assertEquals([stored().length, started()], [6, before]);
  },
);

recordTest(
  "SES-02 sessions that cannot be read are named, and the turn goes on",
  [{ text: "Answer." }],
  async ({ folder, open }) => {
    const sessions = `${folder}/state/copilot/sessions`;
    Deno.mkdirSync(`${folder}/state/copilot`, { recursive: true });
    // Root may read all else.
    Deno.symlinkSync(sessions, sessions);
    await using fake = await open({ resumesNewest: true });
    await fake.session.prompt("hi", signal);
    const [unread, unsaved] = fake.notices();
    assertStringIncludes(unread!, `no session was resumed: Cannot read ${sessions}/`);
    assertMatch(unsaved!, /^the session cannot be saved for now: /);
    assertStringIncludes(unsaved!, `(in ${sessions})`);
    assertEquals(fake.session.agent.state.messages.at(-1)!.content, "Answer.");
    await assertRejects(() => fake.command("/resume"), Error, `Cannot read ${sessions}/`);
    assertEquals(fake.events.some(({ type }) => type === "resumed"), false);
  },
);

recordTest(
  "SES-02 a session that is in use elsewhere is continued in a record of its own, which is said",
  [{ text: "One." }, { text: "Two." }],
  async ({ open, stored }) => {
    await using one = await open();
    await one.session.prompt("first", signal);
    for (const isRecorded of [true, false]) {
      await using two = await open({ resumesNewest: true, isRecorded });
      const resumed = two.events.find((event) => event.type === "resumed")!.resumed!;
      const separateId = isRecorded ? shortName(two.session.record!.name!) : undefined;
      assertEquals([resumed.messages, resumed.separateId], [2, separateId]);
      assertEquals(resumed.isOfPrint, isRecorded ? false : undefined);
    }
    await one.session[Symbol.asyncDispose]();
    await using three = await open({ resumesNewest: true });
    await three.session.prompt("second", signal);
    assertEquals(
      three.events.find((event) => event.type === "resumed")!.resumed!.separateId,
      undefined,
    );
    assertEquals(stored().length, 4);
    // Its own record is open here, and not elsewhere.
    assertEquals((await three.command("/resume 1"))!.includes("open"), false);
  },
);

recordTest(
  "what went along with a message is told apart from what was typed, also in a resumed session",
  [{ text: "One line." }, { text: "Two." }],
  async ({ folder, open, server }) => {
    await Deno.writeTextFile(`${folder}/a.txt`, "alpha\n");
    await Deno.mkdir(`${folder}/.git`);
    await Deno.writeTextFile(`${folder}/.git/HEAD`, "ref: refs/heads/a-branch-with-a-long-name\n");
    {
      await using fake = await open();
      await fake.session.shell("echo shown", signal);
      await fake.command("/plan");
      const stdin = { type: "resource", kind: "stdin", name: "", text: "piped" } as const;
      await fake.session.prompt([{ type: "text", text: "see @a.txt" }, stdin], signal);
      assertMatch(
        fake.session.agent.state.messages[0]!.content,
        /^<shell command="echo shown">\n[^]*\n<\/shell>\n\n\[Plan mode: [^]*\]\n\nsee @a\.txt\n\n<file path="a\.txt">\n[^]*alpha[^]*<\/file>\n\n<stdin>\npiped\n<\/stdin>$/,
      );
    }
    await using fake = await open({ resumesNewest: true });
    const resumed = fake.events.find((event) => event.type === "resumed")?.resumed;
    assertEquals([resumed?.messages, resumed?.lastTyped, resumed?.lastAnswer], [
      2,
      "see @a.txt",
      "One line.",
    ]);
    // The list leaves out the session that is running.
    assertMatch((await fake.command("/resume"))!, /^There are no earlier sessions/);
    await using other = await open({});
    assertMatch(
      (await other.command("/resume"))!,
      /^ +1 {2}see @a\.txt {2}just now {2}2 messages {2}a-branch-with-a-long-na…\n/,
    );
    await fake.session.prompt("more", signal);
    // How long the answer may be is not in the prompt, which the cache is of.
    const [first, second] = server.requests.map(({ text }) =>
      text.replace(/"num_predict":\d+,/, "").replace(/[\]}]+$/, "")
    );
    assertEquals(second!.slice(0, first!.length), first, "the server's cache holds");
    const [choice] = await choicesOf(other.session, "resume", signal);
    assertMatch(choice!.detail!, /^just now {2}\d messages {2}a-branch-with-a-long-na…$/);
    const surface = { kind: "terminal", columns: 64 } as const;
    await using narrow = await open({}, { surface });
    const [short] = await choicesOf(narrow.session, "resume", signal);
    assertMatch(short!.detail!, /^just now {2}\d messages$/);
    assertEquals(choice!.preview!.split("\n")[0], "> more");
  },
);

recordTest(
  "a record that cannot be written is said once, and so is that it can be again",
  [{ text: "a" }, { text: "b" }, { text: "c" }, { text: "d" }],
  async ({ folder, open, stored }) => {
    await Deno.mkdir(`${folder}/state/copilot`, { recursive: true });
    await Deno.writeTextFile(`${folder}/state/copilot/sessions`, "a file");
    await using fake = await open();
    await fake.session.prompt("one", signal);
    await fake.session.prompt("two", signal);
    const [notice, ...more] = fake.notices();
    assertStringIncludes(notice!, "the session cannot be saved for now: ");
    assertEquals(more, []);
    await Deno.remove(`${folder}/state/copilot/sessions`);
    await fake.session.prompt("three", signal);
    await fake.session.prompt("four", signal);
    assertEquals(fake.notices().slice(1), [
      "the session is saved again, including everything since the failure",
    ]);
    assertEquals(stored().length, 8);
  },
);

recordTest(
  "what /clear leaves unsaved is not said to be saved",
  [{ text: "a" }],
  async (recorded) => {
    await Deno.mkdir(`${recorded.folder}/state/copilot`, { recursive: true });
    await Deno.writeTextFile(`${recorded.folder}/state/copilot/sessions`, "a file");
    await using fake = await recorded.open();
    await fake.session.prompt("one", signal);
    assertEquals(await fake.command("/clear"), "The conversation is cleared.");
    assertEquals(fake.notices().length, 1);
  },
);

recordTest(
  "after /resume the messages of that conversation alone are taken back",
  [{ text: "a" }, { text: "b" }, { text: "c" }],
  async ({ open }) => {
    {
      await using fake = await open();
      await fake.session.prompt("one", signal);
    }
    await using fake = await open();
    await fake.session.prompt("two", signal);
    await fake.command("/resume 1");
    assertEquals(await choicesOf(fake.session, "rewind", signal), []);
    assertStringIncludes((await fake.command("/undo"))!, "end what /undo knows");
    await fake.session.prompt("three", signal);
    const offered = await choicesOf(fake.session, "rewind", signal);
    assertEquals(offered.map(({ label }) => label), ["three"]);
  },
);

recordTest(
  "what could not be written is tried once more at the end",
  [{ text: "a" }],
  async ({ folder, open, stored }) => {
    await Deno.mkdir(`${folder}/state/copilot`, { recursive: true });
    await Deno.writeTextFile(`${folder}/state/copilot/sessions`, "a file");
    {
      await using fake = await open();
      await fake.session.prompt("one", signal);
      await Deno.remove(`${folder}/state/copilot/sessions`);
    }
    assertEquals(stored().length, 2);
  },
);

recordTest("an answer is on record before it is whole", [], async ({ open, stored }) => {
  await using fake = await open();
  const { agent } = fake.session;
  const record = fake.session.record!;
  agent.state.messages.push({ role: "user", content: "hi" });
  record.onEvent({ type: "thinking" });
  record.onEvent({ type: "text_delta", text: "Hel" });
  record.onEvent({ type: "text_retracted" });
  assertEquals(stored(), ["user: hi"]);
  // Much text at once does not wait for the time.
  const many = "a".repeat(16 * 1024);
  record.onEvent({ type: "text_delta", text: many });
  record.onEvent({ type: "text_delta", text: "not yet" });
  assertEquals(stored()[1]?.replace(many, "many"), "assistant: many\n\n[Interrupted]");
});

Deno.test("without a folder for state nothing is recorded, and there are no earlier sessions", async () => {
  const names = ["HOME", "XDG_STATE_HOME", "LOCALAPPDATA"];
  const before = names.map((name) => Deno.env.get(name));
  names.forEach((name) => Deno.env.delete(name));
  try {
    await using server = strictServer([{ text: "One." }]);
    await using fake = await fakeSession(server.url, { isRecorded: true });
    await fake.session.prompt("one", signal);
    assertEquals(await fake.command("/resume"), "There are no earlier sessions in this folder.");
    assertEquals(fake.notices(), []);
  } finally {
    names.forEach((name, at) => before[at] !== undefined && Deno.env.set(name, before[at]));
  }
});

const stored = (messages: Message[], more: Partial<StoredSession> = {}) =>
  ({
    ...{
      head: { started: "2026-01-02T03:04:05.678Z" },
      messages,
      lost: 0,
      first: "f",
      executions: new Map(),
    },
    ...more,
  }) as StoredSession;
const user = (content: string): Message => ({ role: "user", content });
const model = (content: string, more: Partial<Message> = {}): Message => (
  { role: "assistant", content, ...more }
);

const EXCHANGES: [messages: Message[], typed: string | undefined, answer: string | undefined][] = [
  [[], undefined, undefined],
  [[model("a")], undefined, "a"],
  [[user("a")], "a", undefined],
  [[user("a"), model("b"), user("c")], "c", undefined],
  [[user("a"), model("b"), model(" ")], "a", "b"],
  [[user("a"), model("b"), model("c", { standsFor: "interruption" })], "a", "b"],
  [[user("a"), model("b"), model("c", { standsFor: "lost_answer" })], "a", "b"],
  [[user("a"), model("b"), { role: "tool", content: "c", toolCallId: "1" }], "a", "b"],
];
for (const [messages, typed, answer] of EXCHANGES) {
  const roles = messages.map(({ role, content }) => `${role} ${content}`).join(", ");
  Deno.test(`the last exchange of [${roles}]`, () => {
    const agent = new CopilotAgent({ local: localConfig({ model: "m" }) }, ".");
    const resumed = resumeSession(
      { agent, fit: { isChosen: true }, executions: new Map() },
      stored(messages),
    );
    assertEquals([resumed.lastTyped, resumed.lastAnswer], [typed, answer]);
    assertEquals([resumed.messages, agent.state.messages], [messages.length, messages]);
  });
}

Deno.test("an earlier session's model is taken up from the same server, where nobody named one", () => {
  const rows: [server: string, model: string, isChosen: boolean, expected: boolean | undefined][] =
    [
      ["h:1", "m", false, undefined],
      ["h:2", "m", false, undefined],
      ["h:1", "other", false, true],
      ["h:1", "other", true, false],
      ["h:2", "other", false, false],
      ["g:1", "m", false, false],
    ];
  for (const [server, name, isChosen, expected] of rows) {
    const agent = new CopilotAgent({ local: localConfig({ model: "m", host: "http://h:1" }) }, ".");
    const used = { model: name, server };
    const resumed = resumeSession(
      { agent, fit: { isChosen }, executions: new Map() },
      stored([], { used }),
    );
    assertEquals(resumed.model?.isRestored, expected, `${server} ${name}`);
    assertEquals(agent.config.local!.model, expected ? "other" : "m");
  }
});

recordTest(
  "a session that goes on knows the size and the speed that its server has shown, until it shows others",
  [[5000, 0, 99.6], [5100, 5001, 7], [5200, 0, 50]].map((
    [inputTokens, cachedTokens, readSpeed],
  ) => ({
    text: "Yes.",
    usage: { outputTokens: 1, inputTokens, cachedTokens, readSpeed } as Usage,
  })),
  async ({ open, server }) => {
    const baseUrl = `${server.url}/v1`;
    const config = { compat: compatConfig({ baseUrl, model: "test", maxRetries: 0 }) };
    const readings = [];
    for (let n = 0; n < 4; n++) {
      await using fake = await open({ config, resumesNewest: n > 0 }, { showsStatus: false });
      const resumed = fake.events.find((event) => event.type === "resumed")?.resumed;
      readings.push(resumed?.reading);
      if (n < 3) await fake.session.prompt("ab".repeat(100), signal);
    }
    assertEquals(readings, [
      undefined,
      { tokens: 5001, seconds: 50.01 },
      { tokens: 5101, seconds: 51.01 },
      { tokens: 5201, seconds: 104.02 },
    ]);
  },
);

Deno.test("an earlier session says how much has to be read again, and how long that takes", () => {
  const local = (host = "http://h:1") => ({ local: localConfig({ model: "m", host }) });
  const hosted = { hosted: hostedConfig({ model: "m", apiKey: "k" }) };
  const used = { model: "m", server: "h:1", readSpeed: 100 };
  const rows: [
    chars: number,
    config: CopilotConfig,
    recorded: StoredSession["used"],
    now: number | undefined,
    expected: "nothing" | "tokens" | number,
  ][] = [
    [40_000, local(), used, undefined, 100],
    [40_000, local(), used, 50, 50],
    [40_000, local(), { model: "m", server: "h:1" }, undefined, "tokens"],
    [40_000, local(), undefined, undefined, "tokens"],
    [40_000, local("http://g:1"), used, 50, "tokens"],
    [40, local(), used, undefined, "nothing"],
    [40_000, hosted, undefined, undefined, "nothing"],
  ];
  for (const [chars, config, recorded, now, expected] of rows) {
    const agent = new CopilotAgent(config, ".");
    const { reading } = resumeSession(
      { ...{ agent, fit: { isChosen: true }, executions: new Map() }, cache: { readSpeed: now } },
      stored([user("ab".repeat(chars / 2))], recorded && { used: recorded }),
    );
    const speed = reading?.seconds === undefined ? "tokens" : reading.tokens / reading.seconds;
    assertEquals(reading === undefined ? "nothing" : speed, expected);
    if (reading) assertEquals(reading.tokens > 10_000 && reading.tokens < 14_000, true);
  }
});

Deno.test("a session is called by what was typed first, up to 200 characters", () => {
  assertEquals(sessionTitle(stored([], { first: "a".repeat(201) })).title, "a".repeat(200));
  const head = { started: "s", title: "t" } as StoredSession["head"];
  assertEquals(sessionTitle(stored([], { head })), { started: "s", title: "t" });
});

recordTest(
  "/clear starts another session: the one before it stays, and /resume returns to it",
  [{ text: "One." }, { text: "Two." }],
  async ({ open }) => {
    await using fake = await open();
    assertEquals(await fake.command("/clear"), "The conversation is cleared.");
    await fake.session.prompt("one", signal);
    const before = shortName(fake.session.record!.name!);
    const cleared = `The conversation is cleared. /resume ${before} returns to it.`;
    assertEquals(await fake.command("/clear"), cleared);
    await fake.session.prompt("two", signal);
    assertEquals((await choicesOf(fake.session, "resume", signal)).map(({ label }) => label), [
      "one",
    ]);
    await fake.command(`/resume ${before}`);
    const contents = fake.session.agent.state.messages.map(({ content }) => content);
    assertEquals(contents, ["one", "One."]);
    assertEquals((await choicesOf(fake.session, "resume", signal)).map(({ label }) => label), [
      "two",
    ]);
  },
);

recordTest(
  "the list of steps is there again where a session goes on, and goes with the messages that are taken back",
  [use("tasks", { list: "[x] a\n[] b" }), { text: "Half." }],
  async ({ open }) => {
    const expected = [{ text: "a", isDone: true }, { text: "b", isDone: false }];
    {
      await using fake = await open();
      assertEquals(fake.session.status.tasks, []);
      await fake.session.prompt("go", signal);
      assertEquals(fake.session.status.tasks, expected);
    }
    await using fake = await open({ resumesNewest: true });
    assertEquals(fake.session.status.tasks, expected);
    await fake.command("/clear");
    assertEquals(fake.session.status.tasks, []);
  },
);

recordTest(
  "a session that goes on has the mode in which it was left, and knows that a plan was given",
  [{ text: "1. Look\n2. Write" }, { text: "Done." }],
  async ({ open }) => {
    const modes: (string | undefined)[] = [];
    const left = async (options: Partial<SessionOptions>, ...lines: string[]) => {
      const approve = () => Promise.resolve({ choice: "once" } as const);
      await using fake = await open({ resumesNewest: true, keepsMode: true, ...options }, {
        approve,
      });
      const { session } = fake;
      modes.push(session.status.mode?.approve);
      for (const line of lines) {
        if (line.startsWith("/")) await fake.command(line);
        else await session.prompt(line, signal);
      }
      return session;
    };
    await left({}, "/plan", "plan it");
    const session = await left({});
    assertEquals(hasPlan(session), true);
    // Plan mode was said in the conversation: it is not said again.
    await left({}, "/plan", "go on");
    const texts = session.agent.state.messages.map(({ content }) => content).join("\n");
    assertEquals(texts.match(/\[Plan mode: /g)?.length, 1);
    await left({}, "/approve edits");
    await left({});
    await left({ keepsMode: false });
    assertEquals(modes, ["ask", "plan", "plan", "ask", "auto", "ask"]);
  },
);

recordTest(
  "/model lists the models in columns, with the speed of the newest session that used each",
  [],
  async ({ folder, server, open }) => {
    const { host } = new URL(server.url);
    const record = (used: ModelUsed) => {
      using recorder = new TestRecorder(`${folder}/state/copilot/sessions`, `${folder}/x`);
      recorder.record([{ role: "user", content: "hi" }], used);
    };
    record({ model: "other", server: host, writeSpeed: 41.4 });
    record({ model: "test", server: "elsewhere:1", writeSpeed: 99 });
    const details = async (columns: number, options: Partial<SessionOptions> = {}) => {
      const surface = { kind: "terminal", columns } as const;
      await using fake = await open(options, { surface });
      return (await choicesOf(fake.session, "model", signal)).map(({ detail }) => detail);
    };
    assertEquals(await details(80), [
      // The used one comes first.
      "40k context  41 tok/s  tools",
      "40k context            tools",
    ]);
    const narrow = ["40k context · 41 tok/s · tools", "40k context · tools"];
    assertEquals(await details(40), narrow);
    // Ollama under its address for OpenAI's clients has the same facts.
    const compat = compatConfig({ baseUrl: `${server.url}/v1`, model: "test" });
    assertEquals(await details(40, { config: { compat } }), narrow);
  },
);

recordTest(
  "-p continues its newest session in the mode of that, and the user their own if there is one",
  ["One.", "Two.", "Three.", "Four.", "Five.", "Six.", "Seven."].map((text) => ({ text })),
  async ({ open }) => {
    const ask = async (text: string, options: Partial<SessionOptions>) => {
      await using fake = await open({ ...options, keepsMode: true });
      if (text === "one") await fake.command("/approve never");
      await fake.session.prompt(text, signal);
      const { messages } = fake.session.agent.state;
      const typed = messages.filter(({ role }) => role === "user").map(({ content }) => content);
      return [typed, fake.session.options.permissions.chosenMode];
    };
    await ask("one", { isPrint: true });
    const next = { resumesNewest: true, permissions: openPermissions({}, () => undefined) };
    assertEquals(await ask("two", { ...next, isPrint: true }), [["one", "two"], "never"]);
    await using own = await open({ resumesNewest: true });
    assertEquals(own.session.agent.state.messages.length, 4);
    const resumed = own.events.find((event) => event.type === "resumed")?.resumed;
    assertEquals(resumed?.isOfPrint, true);
    await own.session.prompt("three", signal);
    assertEquals(isOfPrint(own.session.record!.name!), false);
    await own.session[Symbol.asyncDispose]();
    await ask("four", { isPrint: true });
    assertEquals((await ask("five", { resumesNewest: true }))[0], ["one", "two", "three", "five"]);
    await ask("six", { isPrint: true });
    assertEquals((await ask("seven", { ...next, isPrint: true }))[0], ["six", "seven"]);
  },
);

recordTest(
  "/fork continues in a copy, whole or up to a message, and the list has it below its parent",
  ["One.", "Two.", "Three.", "Four.", "Five."].map((text) => ({ text })),
  async ({ folder, open, stored, server }) => {
    await using fake = await open();
    const ask = (text: string) => fake.session.prompt(text, signal);
    assertEquals(await fake.command("/fork"), "There is no message to fork the session at yet.");
    for (const text of ["first", "second"]) await ask(text);
    const path = fake.session.record!.file!.path;
    const before = Deno.readTextFileSync(path);
    const id = shortName(path);
    assertEquals(
      await fake.command("/fork 3"),
      "/fork takes the number of your message, at most 2",
    );
    const { seenFiles } = fake.session.agent.state;
    seenFiles.set("/read/in/the/second", "");
    const said = await fake.command("/fork 1");
    assertEquals(seenFiles.size, 0);
    const copy = shortName(fake.session.record!.file!.path);
    assertEquals(
      said,
      `This is now session ${copy}, a copy of ${id}. Files stay as they are. /resume ${id} returns to the original.`,
    );
    await ask("third");
    assertEquals(stored(), ["user: first", "assistant: One.", "user: third", "assistant: Three."]);
    assertEquals((server.requests.at(-1)!.body.messages as unknown[]).length, 4);
    await fake.command("/fork");
    await ask("fourth");
    assertEquals(stored().length, 6);
    assertEquals(Deno.readTextFileSync(path), before);
    // What was rewound stays as a session, with its messages.
    assertMatch((await fake.command("/rewind 1"))!, /\n\/resume [\da-f]{8} returns to what was /);
    await using other = await open();
    const rows = await choicesOf(other.session, "resume", signal);
    assertEquals(rows.map(({ label, detail }) => [label, detail!.split("  ")[1]]), [
      ["first", "4 messages"],
      [`└ branch ${copy.slice(0, 4)}: third`, "4 messages"],
      [`  └ branch ${rows[2]!.argument.slice(0, 4)}: third`, "4 messages"],
      [`    └ branch ${rows[3]!.argument.slice(0, 4)}: fourth`, "6 messages"],
    ]);
    const order = () => storedSessions(`${folder}/state/copilot/sessions`).map(({ name }) => name);
    const newestFirst = order();
    await other.command(`/resume rename ${copy} Mine`);
    assertEquals(order(), newestFirst);
    assertEquals((await choicesOf(other.session, "resume", signal))[1]!.label, "└ Mine");
    await using third = await open({ folder: await Deno.realPath(await Deno.makeTempDir()) });
    await third.command(`/resume ${copy}`);
    assertEquals(third.session.agent.state.workingDir, folder);
  },
);

recordTest(
  "a copy of a session has its images, calls and mode",
  [use("list_directory", { path: "." }), { text: "One." }],
  async ({ folder, open }) => {
    await using fake = await open({}, { approve: () => Promise.resolve({ choice: "once" }) });
    await fake.command("/approve never");
    const data = png(2, 3).toBase64();
    const image = { type: "image", mediaType: "image/png", data } as const;
    await fake.session.prompt([{ type: "text", text: "see" }, image], signal);
    const { path } = fake.session.record!.file!;
    await fake.command("/fork");
    const root = `${folder}/state/copilot/sessions`;
    const [copy, parent] = [fake.session.record!.file!.path, path].map((at) => {
      const { name, head, messages, executions, used, mode } = storedSessions(root, folder)
        .find((one) => one.path === at)!;
      assertEquals(name, at.slice(-name.length));
      return { started: head.started, messages, executions, used, mode };
    });
    assertEquals(copy, parent);
    assertEquals([copy!.mode, copy!.executions.size], ["never", 1]);
    assertEquals(JSON.stringify(copy).includes(data), true);
  },
  true,
);
