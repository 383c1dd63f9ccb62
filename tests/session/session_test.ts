import { assertEquals, assertRejects } from "@std/assert";
import { BackendError } from "../../src/errors.ts";
import { fakeSession } from "../helpers/fake_session.ts";
import { strictServer } from "../helpers/strict_server.ts";

const { signal } = new AbortController();

Deno.test("the first event is the status, and each change of it is reported", async () => {
  await using server = strictServer([{
    text: "Hello.",
    usage: { inputTokens: 7, outputTokens: 2 },
  }]);
  await using fake = await fakeSession(server.url);
  const [first] = fake.events;
  assertEquals(first?.type === "status" && [first.model, first.tokens.used], ["test", 0]);
  await fake.session.prompt("hi", signal);
  const last = fake.events.at(-1);
  assertEquals(last?.type === "status" && last.tokens, {
    used: 9,
    isCounted: true,
    window: 32_768,
  });
});

Deno.test("a turn that is stopped while its files are attached is a stopped turn", async () => {
  await using server = strictServer([{ text: "Never." }]);
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/a.txt`, "one\n");
    await using fake = await fakeSession(server.url, { folder });
    const { stopReason } = await fake.session.prompt("see @a.txt", AbortSignal.abort());
    assertEquals([stopReason, server.requests.length], ["aborted", 0]);
    // The conversation is one that the next message can go on from.
    await fake.session.prompt("again", signal);
    assertEquals(server.requests[0]!.problem, undefined);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a turn that fails leaves a session that goes on", async () => {
  await using server = strictServer([
    { error: { status: 400, message: "no" } },
    { text: "Yes." },
  ]);
  await using fake = await fakeSession(server.url);
  await assertRejects(() => fake.session.prompt("one", signal), BackendError, "no");
  const { response } = await fake.session.prompt("two", signal);
  assertEquals([response, fake.session.agent.state.messages.length], ["Yes.", 2]);
});

Deno.test("in plan mode nothing is written or run, and nobody is asked", async () => {
  await using server = strictServer([
    { toolCalls: [{ name: "run_bash", arguments: { command: "touch ran" } }] },
    { text: "A plan." },
    { toolCalls: [{ name: "run_bash", arguments: { command: "true" } }] },
    { text: "Done." },
  ]);
  const folder = await Deno.makeTempDir();
  let asked = 0;
  try {
    await using fake = await fakeSession(server.url, { folder }, {
      approve: () => (asked++, Promise.resolve({ choice: "once" })),
    });
    await fake.command("/plan");
    const planned = await fake.session.prompt("do it", signal);
    assertEquals(planned.toolExecutions.map(({ refusal }) => refusal), ["plan mode"]);
    assertEquals([[...Deno.readDirSync(folder)].length, asked], [0, 0]);
    await fake.command("/plan");
    const done = await fake.session.prompt("go on", signal);
    assertEquals([done.toolExecutions[0]!.isError, asked], [false, 1]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("without somebody to ask, what would be asked about is refused, and counted", async () => {
  await using server = strictServer([
    { toolCalls: [{ name: "run_bash", arguments: { command: "touch ran" } }] },
    { text: "Well." },
  ]);
  await using fake = await fakeSession(server.url);
  const { toolExecutions } = await fake.session.prompt("go", signal);
  assertEquals([toolExecutions[0]!.isError, fake.session.refusals], [true, 1]);
});
