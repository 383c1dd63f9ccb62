import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { storedSessions } from "../../src/records/store.ts";
import type { SessionOptions } from "../../src/session/session.ts";
import { type FakeSession, fakeSession } from "../helpers/fake_session.ts";
import { type Step, type StrictServer, strictServer } from "../helpers/strict_server.ts";

const { signal } = new AbortController();

interface Recorded {
  folder: string;
  server: StrictServer;
  open(options?: Partial<SessionOptions>): Promise<FakeSession>;
  /** What the newest record holds: roles and texts. */
  stored(): string[];
}

/** A test of recorded sessions, whose folder has a state folder of its own. */
function recordTest(name: string, steps: Step[], body: (recorded: Recorded) => Promise<void>) {
  Deno.test(name, async () => {
    const folder = await Deno.realPath(await Deno.makeTempDir());
    const before = Deno.env.get("XDG_STATE_HOME");
    Deno.env.set("XDG_STATE_HOME", `${folder}/state`);
    try {
      await using server = strictServer(steps, { models: ["test", "other"] });
      await body({
        folder,
        server,
        open: (options) => fakeSession(server.url, { folder, isRecorded: true, ...options }),
        stored() {
          const [newest] = storedSessions(`${folder}/state/copilot/sessions`, folder);
          return newest?.messages.map(({ role, content }) => `${role}: ${content}`) ?? [];
        },
      });
    } finally {
      if (before === undefined) Deno.env.delete("XDG_STATE_HOME");
      else Deno.env.set("XDG_STATE_HOME", before);
      await Deno.remove(folder, { recursive: true });
    }
  });
}

recordTest(
  "the record holds all of a turn when that ends, however it ends",
  [{ text: "Hello." }, { error: { status: 400, message: "no" } }, { text: "Half", cut: "finish" }],
  async ({ open, stored }) => {
    await using fake = await open();
    await fake.session.prompt("hi", signal);
    assertEquals(stored(), ["user: hi", "assistant: Hello."]);
    await assertRejects(() => fake.session.prompt("refused", signal));
    assertEquals(stored(), ["user: hi", "assistant: Hello."]);
    await assertRejects(() => fake.session.prompt("again", signal));
    assertMatch(stored().at(-1)!, /^assistant: Half\n\n\[The answer broke off: /);
    await fake.command("/undo");
    await fake.command("/undo");
    assertEquals(stored(), ["user: hi", "assistant: Hello."]);
    await fake.command("/redo");
    await fake.command("/redo");
    assertEquals(stored().length, 4);
  },
);

recordTest(
  "what went along with a message is told apart from what was typed, also in a resumed session",
  [{ text: "One line." }, { text: "Two." }],
  async ({ folder, open, server }) => {
    await Deno.writeTextFile(`${folder}/a.txt`, "alpha\n");
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
    assertMatch((await fake.command("/resume"))!, /^ +1 {2}\S+ \S+ {2}see @a\.txt\n/);
    await fake.session.prompt("more", signal);
    const [first, second] = server.requests.map(({ text }) => text.replace(/[\]}]+$/, ""));
    assertEquals(second!.slice(0, first!.length), first, "the server's cache holds");
  },
);

recordTest("a record that cannot be written is said once", [{ text: "a" }, { text: "b" }], async (
  { folder, open },
) => {
  await Deno.mkdir(`${folder}/state/copilot`, { recursive: true });
  await Deno.writeTextFile(`${folder}/state/copilot/sessions`, "a file");
  await using fake = await open();
  await fake.session.prompt("one", signal);
  await fake.session.prompt("two", signal);
  const [notice, ...more] = fake.notices();
  assertStringIncludes(notice!, "the session cannot be kept: ");
  assertEquals(more, []);
});

recordTest(
  "a session that goes on says what was typed last and what was answered, if it was",
  [
    { text: "One." },
    { toolCalls: [{ name: "list_directory", arguments: { path: "." } }] },
    { text: "", finish: "length" },
    { text: "Three.", cut: "finish" },
  ],
  async ({ open }) => {
    const exchange = async () => {
      await using fake = await open({ isRecorded: false, resumesNewest: true });
      const resumed = fake.events.find((event) => event.type === "resumed")?.resumed;
      return resumed && [resumed.lastTyped, resumed.lastAnswer?.split("\n")[0], resumed.lostLines];
    };
    assertEquals(await exchange(), undefined);
    await using fake = await open();
    await fake.session.prompt("one", signal);
    assertEquals(await exchange(), ["one", "One.", 0]);
    await fake.session.prompt("two", signal);
    assertEquals((await exchange())!.slice(0, 1), ["two"]);
    await assertRejects(() => fake.session.prompt("three", signal));
    assertEquals(await exchange(), ["three", "Three.", 0]);
  },
);

recordTest("the model of an earlier session is taken up where nobody named another", [
  { text: "One." },
  { text: "Two." },
], async ({ open }) => {
  {
    await using fake = await open();
    await fake.command("/model other");
    await fake.session.prompt("one", signal);
  }
  for (const isChosen of [true, false]) {
    await using fake = await open({ isChosen, resumesNewest: true, isRecorded: false });
    const resumed = fake.events.find((event) => event.type === "resumed")?.resumed;
    assertEquals(resumed?.model?.isTakenUp, !isChosen);
    assertEquals(fake.session.status.model, isChosen ? "test" : "other");
  }
  await using fake = await open({ resumesNewest: true });
  await fake.command("/model other");
  const text = await fake.command("/resume 1");
  assertEquals([text?.includes("It was with"), text?.includes("as before")], [false, false]);
});
