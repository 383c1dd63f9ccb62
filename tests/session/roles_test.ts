/** Roles: models of other servers that plan, explore and summarize. */

import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { modelFlags } from "../../src/cli/settings.ts";
import { compatConfig, localConfig, type ModelRole } from "../../src/config.ts";
import { openPermissions } from "../../src/safety/permissions.ts";
import type { SessionOptions } from "../../src/session/session_options.ts";
import { type FakeSession, fakeSession } from "../helpers/fake_session.ts";
import { type Step, type StrictServer, strictServer } from "../helpers/strict_server.ts";
import { workspace } from "../tools/workspace.ts";

const signal = new AbortController().signal;
/** Nothing listens at this port. */
const closedPort = (() => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
})();
const AWAY = `http://127.0.0.1:${closedPort}/v1#big`;
const call = (name: string, args: Record<string, unknown>): Step => ({
  toolCalls: [{ name, arguments: args }],
});
const usage = { inputTokens: 700, outputTokens: 11 };

type Sent = { role: string; content: string }[];
const messagesOf = ({ requests }: StrictServer, at: number) =>
  requests.at(at)!.body.messages as Sent;
/** The bodies of all requests, with equal ids of calls. */
const textsOf = ({ requests }: StrictServer) =>
  requests.map(({ text }) => text.replaceAll(/call_[\da-f]{24}/g, "call"));
const big = (server: StrictServer) => `${server.url}/v1#big`;
const bigServer = (steps: Parameters<typeof strictServer>[0]) =>
  strictServer(steps, { models: ["big"] });

async function sessionWith(
  server: StrictServer,
  roles: Partial<Record<ModelRole, string>> | undefined,
  folder: string,
  options: Partial<SessionOptions> = {},
): Promise<FakeSession> {
  const permissions = await openPermissions({ approve: "ask", sandbox: "off" }, () => undefined);
  const approve = () => Promise.resolve({ choice: "once" } as const);
  return await fakeSession(
    server.url,
    { folder, permissions, modelFlags, ...roles && { roles }, ...options },
    { approve },
  );
}

Deno.test("roles: the plan comes from another conversation, and the session's model gets it alone", async () => {
  using ws = workspace();
  ws.put("a.txt", "text of a\n");
  const plan = "1. Change a.txt.\n2. Test it.";
  const ours = [{ text: "Hello." }, { text: "Done." }];
  await using other = bigServer([
    call("read_file", { file_path: "a.txt" }),
    { text: plan, usage },
    { text: "1. Only a.txt.\n2. Test." },
  ]);
  await using server = strictServer(ours);
  await using fake = await sessionWith(server, { plan: big(other) }, ws.dir);
  await fake.session.prompt("hi", signal);
  await fake.command("/plan");
  assertEquals((await fake.session.prompt("plan it", signal)).response, plan);
  assertEquals(fake.session.hasPlan, true);
  await fake.session.prompt("shorter", signal);
  assertEquals(server.requests.length, 1);
  assertEquals(other.requests.map(({ body }) => body.model), ["big", "big", "big"]);
  // Its own conversation begins with what was said, and goes on.
  const begun = messagesOf(other, 0).at(-1)!.content;
  assertMatch(begun, /person: hi\n\ncopilot: Hello\.[^]*\[Plan mode: [^]*\n\nplan it$/);
  assertStringIncludes(textsOf(other)[2]!, "text of a");
  await fake.command("/plan");
  await fake.session.prompt("continue", signal);
  const last = messagesOf(server, -1).map(({ role, content }) => [role, content]).slice(3);
  assertEquals(last, [
    [
      "user",
      "[Plan mode: look around, then say step by step what you would change. Write nothing.]\n\nplan it",
    ],
    ["assistant", plan],
    ["user", "shorter"],
    ["assistant", "1. Only a.txt.\n2. Test."],
    ["user", "[The plan is accepted: carry it out.]\n\ncontinue"],
  ]);
  // The bytes of the first request are a part of the next one.
  const [first, next] = textsOf(server) as [string, string];
  const open = (text: string) => text.slice(text.indexOf('"messages"')).split(',"tools"')[0]!;
  assertStringIncludes(next, open(first).replace(/\]\}$/, ""));
  assertMatch(
    (await fake.command("/tokens"))!,
    /\nOf these, plan \(big at 127\.0\.0\.1:\d+\): \d{3,} in, \d+ out$/,
  );
  assertMatch((await fake.command("/status"))!, /^ +plan +big at 127\.0\.0\.1:\d+$/m);
});

Deno.test("roles: explore and agent files use another server, and change no byte of the session's requests", async () => {
  using ws = workspace();
  ws.put("a.txt", "text of a\n");
  const search: Step[] = [call("read_file", { file_path: "a.txt" }), {
    text: "a.txt:1 says it.",
    usage,
  }];
  const ours = [call("explore", { task: "Find a" }), { text: "Done." }];
  const run = async (roles: Partial<Record<ModelRole, string>> | undefined, steps: Step[]) => {
    await using server = strictServer(steps);
    await using fake = await sessionWith(server, roles, ws.dir);
    const { response, toolExecutions: [exec] } = await fake.session.prompt("hi", signal);
    assertEquals([response, exec!.result], ["Done.", "a.txt:1 says it."]);
    const tokens = await fake.command("/tokens");
    return { texts: textsOf(server), tokens };
  };
  await using other = bigServer(search);
  const alone = await run(undefined, [ours[0]!, ...search, ours[1]!]);
  const both = await run({ explore: big(other) }, ours);
  assertEquals(other.requests.map(({ body }) => body.model), ["big", "big"]);
  assertEquals(both.texts, [alone.texts[0], alone.texts[3]]);
  assertMatch(both.tokens!, /\nOf these, explore \(big at \S+\): \d+ in, \d+ out$/);
});

Deno.test("roles: a summary is written by another model from the quoted conversation", async () => {
  using ws = workspace();
  await using other = bigServer([{ text: "Task: many words. Done: all of it.", usage }]);
  await using server = strictServer([{
    text: Array.from({ length: 900 }, (_, at) => `word${at}`).join(" "),
  }, { text: "Hello." }]);
  await using fake = await sessionWith(server, { summary: big(other) }, ws.dir);
  await fake.session.prompt("Tell me many words", signal);
  await fake.session.prompt("hi", signal);
  assertMatch((await fake.command("/compact"))!, /messages were summarized/);
  assertEquals([server.requests.length, other.requests.length], [2, 1]);
  assertMatch(messagesOf(other, 0).at(-1)!.content, /^<conversation>\nperson: Tell me many words/);
  assertEquals(
    await fake.command("/tokens").then((text) => text!.split("\n").at(-1)),
    `Of these, summary (big at ${new URL(other.url).host}): 700 in, 11 out`,
  );
});

Deno.test("roles: without its server, the session's model does the work, with one line", async () => {
  using ws = workspace();
  ws.put("a.txt", "text of a\n");
  const rows: [Partial<Record<ModelRole, string>>, RegExp][] = [
    [
      { explore: AWAY, plan: AWAY },
      /^big at 127\.0\.0\.1:\d+ is away, so the session's model does "explore", .*: .*connection refused/,
    ],
    [{ explore: "http://no-such-host.invalid/v1#big" }, /^big at no-such-host\.invalid is away, /],
    [{ explore: "missing" }, /^missing is away, so .*: .* has no model "missing"/],
  ];
  for (const [roles, line] of rows) {
    const explored = [call("explore", { task: "Find a" }), { text: "a.txt" }, { text: "Done." }];
    await using server = strictServer([...explored, ...explored, { text: "1. A\n2. B" }], {
      models: ["test"],
    });
    await using fake = await sessionWith(server, roles, ws.dir);
    for (const _ of [1, 2]) {
      const { response, toolExecutions: [exec] } = await fake.session.prompt("hi", signal);
      assertEquals([response, exec!.result], ["Done.", "a.txt"]);
    }
    const told = fake.notices().filter((text) => text.includes("is away"));
    assertEquals(told.length, 1, told.join("\n"));
    assertMatch(told[0]!, line);
    if (roles.plan === undefined) continue;
    await fake.command("/plan");
    assertEquals((await fake.session.prompt("plan", signal)).response, "1. A\n2. B");
    assertEquals(fake.notices().filter((text) => text.includes("is away")).length, 2);
    assertMatch((await fake.command("/status"))!, /^ +plan +big at 127\.0\.0\.1:\d+ \(away\)$/m);
  }
});

Deno.test("roles: what is for a server of one's own is never sent to a hosted API instead", async () => {
  using ws = workspace();
  const hosted = compatConfig({ baseUrl: "https://api.example.com/v1", model: "x", apiKey: "k" });
  let asked = 0;
  hosted.fetch = () => {
    asked++;
    return Promise.reject(new TypeError("connection refused"));
  };
  await using server = strictServer([]);
  await using fake = await sessionWith(server, { plan: AWAY }, ws.dir, {
    config: { compat: hosted },
  });
  await fake.command("/plan");
  const error = await assertRejects(() => fake.session.prompt("secret", signal), Error);
  assertMatch(
    error.message,
    /^big at 127\.0\.0\.1:\d+ is away, and nothing is sent to api\.example\.com in its place \(\/model plan off allows it\): /,
  );
  assertEquals(asked, 0);
});

Deno.test("roles: an agent file names a role or a server, a folder's file no other server", async () => {
  using ws = workspace();
  using home = workspace();
  const file = (model: string) =>
    `---\nname: reviewer\ndescription: Reviews\nmodel: ${model}\n---\nX\n`;
  const variables: Record<string, string> = { HOME: home.dir };
  await using other = bigServer([{ text: "ok" }, { text: "ok" }, { text: "ok" }]);
  const run = async (
    place: typeof ws,
    model: string,
    roles?: Partial<Record<ModelRole, string>>,
  ) => {
    Deno.mkdirSync(place.at(".claude/agents"), { recursive: true });
    place.put(".claude/agents/reviewer.md", file(model));
    const steps = [call("explore", { task: "Look", agent: "reviewer" }), { text: "ok" }, {
      text: "Done.",
    }];
    await using server = strictServer(steps);
    const permissions = await openPermissions({ sandbox: "off" }, (name) => variables[name]);
    const before = other.requests.length;
    await using fake = await sessionWith(server, roles, ws.dir, {
      permissions,
      readsFolder: true,
      trust: true,
    });
    await fake.session.prompt("hi", signal);
    Deno.removeSync(place.at(".claude"), { recursive: true });
    return [
      other.requests.length - before,
      ...fake.notices().filter((text) => text.includes("reviewer uses")),
    ];
  };
  assertEquals(await run(home, big(other)), [1]);
  assertEquals(await run(ws, "plan", { plan: big(other), explore: AWAY }), [1]);
  assertEquals(await run(ws, "inherit", { explore: big(other) }), [0]);
  assertEquals(await run(ws, "inherit"), [0]);
  const [sent, line] = await run(ws, big(other));
  assertEquals(sent, 0);
  assertMatch(
    String(line),
    /uses the session's model: only your own files, and roles, may name the server of big at /,
  );
});

Deno.test("roles: a key goes to its own server alone", () => {
  const session = {
    compat: compatConfig({ baseUrl: "https://own.example/v1", apiKey: "session" }),
  };
  Deno.env.set("OPENAI_API_KEY", "variable");
  try {
    const keyAt = (spec: string) => {
      const config = modelFlags.at(spec, session);
      return [
        (config.compat ?? config.local)?.apiKey,
        config.compat?.baseUrl ?? config.local?.host,
      ];
    };
    assertEquals(keyAt("other"), ["session", "https://own.example/v1"]);
    assertEquals(keyAt("https://own.example/v1#x"), ["session", "https://own.example/v1"]);
    assertEquals(keyAt("https://else.example/v1#x"), ["", "https://else.example/v1"]);
    assertEquals(keyAt("https://api.openai.com/v1#x"), ["variable", "https://api.openai.com/v1"]);
    assertEquals(keyAt("http://gpu:8080/v1#x"), ["", "http://gpu:8080/v1"]);
    assertEquals(keyAt("http://gpu:8080#x"), ["", "http://gpu:8080"]);
    assertEquals(keyAt("local#x"), ["", localConfig().host]);
  } finally {
    Deno.env.delete("OPENAI_API_KEY");
  }
});
