import { assertEquals, assertMatch } from "@std/assert";
import { processTurn } from "../../../src/agent/turn.ts";
import { modelFlags } from "../../../src/cli/settings.ts";
import { footerText } from "../../../src/ui/terminal/session/footer.ts";
import { contextText } from "../../../src/session/commands/context.ts";
import { fakeSession } from "../../helpers/fake_session.ts";
import { strictServer } from "../../helpers/strict_server.ts";

const NO_SERVER = "http://127.0.0.1:1";

Deno.test("the status line has an estimate where the server did not count what there is now", async () => {
  await using server = strictServer([{
    text: "One.",
    usage: { inputTokens: 1000, outputTokens: 300 },
  }], { models: ["test", "other"] });
  await using fake = await fakeSession(server.url, { contextLength: 32_768 });
  const { session } = fake;
  const { messages } = session.agent.state;
  const shown = () => /ctx .*?%/.exec(footerText(session.status, 80))?.[0] ?? "";
  assertEquals(shown(), "");
  messages.push({ role: "user", content: "word ".repeat(1600) });
  const estimate = shown();
  assertMatch(estimate, /^ctx ▮▯▯▯▯ ~\d+ %$/);
  await session.prompt("one", new AbortController().signal);
  assertEquals(shown(), "ctx ▮▯▯▯▯ 4 %");
  assertMatch((await fake.command("/context"))!, /^About 1(299|30[0-2]) of /m);
  messages.splice(1);
  await fake.command("/model other");
  assertEquals(shown(), estimate);
});

Deno.test("/compact sums up, says so, and leaves all as it was where it can not", async () => {
  await using server = strictServer([
    { text: "One." },
    { text: "Two." },
    { error: { status: 500, message: "boom\x1b[2J" } },
    { text: "Task: a." },
  ]);
  await using fake = await fakeSession(server.url);
  const { agent } = fake.session;
  assertEquals(await fake.command("/compact"), "Nothing to compact yet.");
  for (const text of ["a ".repeat(200), "b"]) await processTurn(agent, text);
  const failed = await fake.command("/compact");
  assertMatch(failed!, /^The conversation was not compacted: .*boom/);
  assertEquals([agent.state.messages.length, failed!.includes("\x1b")], [4, false]);
  const stopped = await fake.command("/compact", AbortSignal.abort());
  assertEquals(stopped, "The conversation was not compacted.");
  const done = await fake.command("/compact the names");
  assertMatch(
    done!,
    /^Made room in the context: 2 messages summarized; about \d+ tokens became \d+\.$/,
  );
  assertMatch(server.requests.at(-1)!.text, /Keep above all: the names/);
  assertEquals(fake.session.status.tokens.isCounted, false);
});

Deno.test("/compact leaves all as it was where the summary is not clearly shorter, and stops it", async () => {
  await using server = strictServer([{ text: "One." }, { text: "Two." }, {
    text: Array.from({ length: 2000 }, (_, n) => `and ${n}, `).join(""),
  }]);
  await using fake = await fakeSession(server.url);
  const { session } = fake;
  const { messages } = session.agent.state;
  for (const text of ["an honest question ".repeat(60), "b"]) {
    await processTurn(session.agent, text);
  }
  const before = structuredClone(messages);
  const said = await fake.command("/compact");
  assertEquals([said, messages], [
    "The conversation stays as it was: the summary was not clearly shorter",
    before,
  ]);
  assertMatch(server.requests[2]!.text, /in at most (?:[4-9]\d|1\d\d) words/);
});

Deno.test("/model takes the flags of a model and its server, and no others", async () => {
  await using fake = await fakeSession(NO_SERVER, { modelFlags });
  for (const [flags, other] of [["--yes", "yes"], ["--local -p hello", "print"]]) {
    assertEquals(await fake.command(`/model ${flags}`), `/model does not take --${other}`);
    assertEquals(fake.session.agent.config.local?.model, "test");
  }
});

const parts = (tokens: number[]) =>
  (["system", "tools", "user", "assistant", "tool"] as const)
    .map((name, at) => ({ name, tokens: tokens[at]! }));
const CONTEXTS: [
  context: Parameters<typeof contextText>[0],
  rows: string[],
  columns?: number,
][] = [
  [{ parts: parts([100, 50, 30, 20, 0]), window: 400 }, [
    `  instructions       100   25%  ${"█".repeat(8)}`,
    `  tools               50   13%  ${"█".repeat(4)}`,
    `  you                 30    8%  ${"█".repeat(3)}`,
    `  the model           20    5%  ${"█".repeat(2)}`,
    "  results              0    0%  ",
    `  free               200   50%  ${"█".repeat(15)}`,
    "About 200 of 400 tokens.",
  ]],
  [{ parts: [], counted: { inputTokens: 0, cachedTokens: 0 } }, [
    "About 0 tokens; the model's limit is unknown.",
  ]],
  [{ parts: [], counted: { inputTokens: 200, cachedTokens: 175 } }, [
    "About 0 tokens; the model's limit is unknown.",
    "Of this session's prompt tokens, 88 % came from the server's cache.",
  ]],
  // More than fits: the parts share what there is.
  [
    { parts: parts([300, 100, 0, 0, 0]), window: 100 },
    [
      "  instructions       300   75%  ██████",
      "  tools              100   25%  ██",
      "  you                  0    0%  ",
      "  the model            0    0%  ",
      "  results              0    0%  ",
      "  free                 0    0%  ",
      "About 400 of 100 tokens.",
    ],
    40,
  ],
];
for (const [at, [context, rows, columns = 80]] of CONTEXTS.entries()) {
  Deno.test(`${at + 1}: the rows of /context`, () => {
    assertEquals(contextText(context, { columns }).split("\n"), rows);
  });
}

Deno.test("the rows of /context have no bars where there is no room", () => {
  const text = contextText({ parts: parts([3, 1, 0, 0, 0]) }, { columns: 20 });
  assertEquals(text.includes("█"), false);
});
