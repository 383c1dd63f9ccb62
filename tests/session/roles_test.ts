/** Roles: models of other servers that plan, explore and summarize. */

import { hasPlan } from "../../src/session/plan_mode.ts";
import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { modelFlags } from "../../src/cli/settings.ts";
import { compatConfig, localConfig, type ModelRoles } from "../../src/config.ts";
import type { FoundServer } from "../../src/models/servers.ts";
import { keepScore } from "../../src/records/exams.ts";
import { openPermissions } from "../../src/safety/permissions.ts";
import { BackendError } from "../../src/errors.ts";
import type { SessionOptions, SessionState } from "../../src/session/extension.ts";
import { withRole } from "../../src/session/roles.ts";
import { choicesOf, type FakeSession, fakeSession } from "../helpers/fake_session.ts";
import {
  type Step,
  type StrictServer,
  strictServer,
  use as call,
} from "../helpers/strict_server.ts";
import { workspace } from "../tools/workspace.ts";
import { folderWithState } from "../helpers/temp_folder.ts";

const signal = new AbortController().signal;
/** Nothing listens at this port. */
const closedPort = (() => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
})();
const AWAY = `http://127.0.0.1:${closedPort}/v1#big`;
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
  roles: ModelRoles | undefined,
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
  assertEquals(hasPlan(fake.session), true);
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
  const run = async (roles: ModelRoles | undefined, steps: Step[]) => {
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
  // The model of plans explores for them alone.
  await run({ plan: big(other) }, [ours[0]!, ...search, ours[1]!]);
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
  assertMatch((await fake.command("/compact"))!, /messages summarized/);
  assertEquals([server.requests.length, other.requests.length], [2, 1]);
  assertMatch(messagesOf(other, 0).at(-1)!.content, /^<conversation>\nperson: Tell me many words/);
  assertEquals(
    await fake.command("/tokens").then((text) => text!.split("\n").at(-1)),
    `Of these, summary (big at ${new URL(other.url).host}): 700 in, 11 out`,
  );
});

Deno.test("roles: without its server, the session's model does the work, with one line", async () => {
  using ws = workspace();
  using garbage = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const answering = (async () => {
    for await (const connection of garbage) {
      await connection.read(new Uint8Array(9999));
      await connection.write(new TextEncoder().encode("\0garbage\r\n\r\n"));
      connection.close();
    }
  })();
  await using page = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () => new Response("<p>Welcome</p>", { headers: { "content-type": "text/html" } }),
  );
  ws.put("a.txt", "text of a\n");
  const rows: [ModelRoles, RegExp][] = [
    [
      { explore: AWAY, plan: AWAY },
      /^big at 127\.0\.0\.1:\d+ is unavailable, so the session's model is used for "explore" for a minute: .*connection refused/,
    ],
    [
      { explore: "http://no-such-host.invalid/v1#big" },
      /^big at no-such-host\.invalid is unavailable, /,
    ],
    [
      { explore: `http://127.0.0.1:${garbage.addr.port}/v1#big` },
      /^big at .* is unavailable, .* it does not answer in HTTP/,
    ],
    [
      { explore: `http://127.0.0.1:${page.addr.port}/v1#big` },
      /^big at .* is unavailable, .* answered 200 \(text\/html\)/,
    ],
    [{ explore: "missing" }, /^missing is unavailable, so .*: .* has no model "missing"/],
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
    const told = fake.notices().filter((text) => text.includes("is unavailable"));
    assertEquals(told.length, 1, told.join("\n"));
    assertMatch(told[0]!, line);
    assertEquals((await fake.command("/tokens"))!.includes("Of these"), false);
    if (roles.plan === undefined) continue;
    await fake.command("/plan");
    assertEquals((await fake.session.prompt("plan", signal)).response, "1. A\n2. B");
    assertEquals(fake.notices().filter((text) => text.includes("is unavailable")).length, 2);
    assertMatch((await fake.command("/status"))!, /^ +plan +big at 127\.0\.0\.1:\d+ \(away\)$/m);
    assertEquals(fake.session.status.model, "test");
  }
  garbage.close();
  await answering;
});

Deno.test("roles: a request that the role's server refuses names the role", async () => {
  using ws = workspace();
  await using other = bigServer([{ error: { status: 400, message: "bad value" } }]);
  await using server = strictServer([]);
  await using fake = await sessionWith(server, { plan: big(other) }, ws.dir);
  await fake.command("/plan");
  const error = await assertRejects(() => fake.session.prompt("plan", signal), Error);
  assertMatch(error.message, /^big at \S+ \(\/model plan off\): \S+ answered 400: bad value$/);
  // Without a session, and for a sub-agent of the user, no command takes it away.
  const surface = { kind: "flags", columns: 80 } as const;
  const state: SessionState = Object.create(fake.session, { surface: { value: surface } });
  for (
    const [role, how] of [
      ["plan", '"roles" in config.json names it'],
      ["reviewer", "the file of the sub-agent names it"],
    ] as const
  ) {
    const ask = () => Promise.reject(new BackendError("bad value", { kind: "request" }));
    const error = await assertRejects(() => withRole(state, role, big(other), signal, ask), Error);
    assertStringIncludes(error.message, `(${how}): bad value`);
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
    /^big at 127\.0\.0\.1:\d+ is unavailable, and nothing is sent to api\.example\.com in its place \(\/model plan off\): /,
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
    roles?: ModelRoles,
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
    /uses the session's model: a folder names no server$/,
  );
});

Deno.test("roles: an address without a path is one of Ollama, or of a server that has only /v1", async () => {
  using ws = workspace();
  for (const isOllama of [true, false]) {
    await using other = bigServer([{ text: "found" }]);
    await using front = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      async (request) => {
        const { pathname } = new URL(request.url);
        if (!isOllama && pathname.startsWith("/api/")) return new Response("", { status: 404 });
        const { method, headers } = request;
        const body = await request.text() || null;
        return await fetch(`${other.url}${pathname}`, { method, headers, body });
      },
    );
    await using server = strictServer([call("explore", { task: "Find a" }), { text: "Done." }]);
    const explore = `http://127.0.0.1:${front.addr.port}#big`;
    await using fake = await sessionWith(server, { explore }, ws.dir);
    await fake.session.prompt("hi", signal);
    assertEquals(other.requests.map(({ path }) => path), [
      isOllama ? "/api/chat" : "/v1/chat/completions",
    ]);
  }
});

Deno.test("roles: a server that was away is asked again after a minute", async () => {
  using ws = workspace();
  const models = ["other"];
  const explored = [call("explore", { task: "Find a" }), { text: "Done." }];
  await using other = strictServer([{ text: "found" }], { models });
  await using server = strictServer([
    ...[1, 2].flatMap(() => [explored[0]!, { text: "found" }, explored[1]!]),
    ...explored,
  ]);
  await using fake = await sessionWith(server, { explore: big(other) }, ws.dir);
  const asked: number[] = [];
  const { now } = Date;
  try {
    for (const later of [0, 0, 61_000]) {
      Date.now = () => now() + later;
      await fake.session.prompt("hi", signal);
      asked.push(other.requests.length);
      models.push("big");
    }
  } finally {
    Date.now = now;
  }
  assertEquals(asked, [1, 1, 2]);
});

Deno.test("roles: a planner only plans, also after plan mode ended, and its search is a part of the plan", async () => {
  using ws = workspace();
  await using other = bigServer([
    call("explore", { task: "Find a" }),
    { text: "found" },
    async () => {
      await fake.command("/plan off");
      return call("write_file", { file_path: "a.txt", content: "x" });
    },
    { text: "1. A" },
  ]);
  await using server = strictServer([]);
  await using fake = await sessionWith(server, { plan: big(other) }, ws.dir);
  await fake.command("/plan");
  const { toolExecutions } = await fake.session.prompt("plan", signal);
  assertEquals(toolExecutions.map(({ refusal }) => refusal), [undefined, "it only plans"]);
  assertEquals([ws.names(), server.requests.length, other.requests.length], [[], 0, 4]);
});

Deno.test("roles: a plan for a message without text leaves no empty message", async () => {
  using ws = workspace();
  await using other = bigServer([{ text: "1. A" }, { text: "1. B" }]);
  await using server = strictServer([{ text: "Done." }]);
  await using fake = await sessionWith(server, { plan: big(other) }, ws.dir);
  await fake.command("/plan");
  await fake.session.prompt("plan", signal);
  const skill = { type: "resource", kind: "skill", name: "review", text: "Review it." } as const;
  await fake.session.prompt([skill], signal);
  assertStringIncludes(textsOf(other)[1]!, "Review it.");
  await fake.command("/plan go");
  await fake.session.prompt("go", signal);
  assertEquals(messagesOf(server, 0).slice(3, 5).map(({ content }) => content), [
    "[Make a plan.]",
    "1. B",
  ]);
});

Deno.test("roles: the session's own model needs no other conversation", async () => {
  using ws = workspace();
  await using server = strictServer([{ text: "Hello." }, { text: "1. A" }]);
  await using fake = await sessionWith(server, { plan: `${server.url}#test` }, ws.dir);
  await fake.session.prompt("hi", signal);
  await fake.command("/plan");
  await fake.session.prompt("plan", signal);
  assertEquals(messagesOf(server, 1).map(({ role }) => role), [
    "system",
    "user",
    "assistant",
    "user",
  ]);
  assertEquals((await fake.command("/tokens"))!.includes("Of these"), false);
});

Deno.test("/model: shows the score of the exam beside each model", async () => {
  using ws = workspace();
  using _state = folderWithState();
  await using other = bigServer([]);
  await using server = strictServer([]);
  const score = { passed: 22, ran: 24, notes: [], isWhole: true };
  await keepScore(new URL(server.url).host, "test", score);
  // A stopped exam does not replace a complete one.
  await keepScore(new URL(server.url).host, "test", { ...score, passed: 1, isWhole: false });
  await keepScore(`localhost:${new URL(other.url).port}`, "big", { ...score, notes: ["of 24"] });
  const found = [{ url: other.url, state: "answers", isNative: false, models: [{ name: "big" }] }];
  const find = () => Promise.resolve(found as FoundServer[]);
  const flags = { ...modelFlags, find };
  await using fake = await sessionWith(server, undefined, ws.dir, { modelFlags: flags });
  assertEquals((await choicesOf(fake.session, "model", signal)).map(({ detail }) => detail), [
    "40k context  exam 22/24  tools",
    "exam 22/24 (of 24)",
  ]);
  assertMatch((await fake.command("/model"))!, /^\* test {2}40k context {2}exam 22\/24 {2}tools\n/);
});

Deno.test("/model: lists the models of all servers, and switches the session to another server", async () => {
  using ws = workspace();
  using _state = folderWithState();
  await using used = strictServer([{ text: "once" }], { models: ["old"] });
  await using other = bigServer([{ text: "big here" }]);
  await using server = strictServer([]);
  {
    const config = { compat: compatConfig({ baseUrl: `${used.url}/v1`, model: "old" }) };
    await using fake = await sessionWith(used, undefined, ws.dir, { config, isRecorded: true });
    await fake.session.prompt("hi", signal);
  }
  const model = { name: "big", contextLength: 8192 };
  const found = [other.url, server.url].map((url) =>
    ({ url, state: "answers", isNative: false, models: [model] }) as const
  );
  const fresh = { ...found[0]!, url: used.url, models: [{ name: "fresh" }] };
  const asked: string[] = [];
  const find: typeof modelFlags.find = (_, chosen) => {
    asked.push(...chosen);
    return Promise.resolve([...found, fresh]);
  };
  const flags = { ...modelFlags, find };
  await using fake = await sessionWith(server, { plan: AWAY }, ws.dir, { modelFlags: flags });
  const [host, usedHost] = [other, used].map(({ url }) => new URL(url).host);
  const choices = await choicesOf(fake.session, "model", signal);
  assertEquals(
    choices.map(({ argument, detail, group }) => [argument, detail, group]),
    [
      ["test", "40k context  tools", new URL(server.url).host],
      [big(other), "8k context", host],
      [`${used.url}/v1#old`, "used before", usedHost],
      [`${used.url}/v1#fresh`, "", usedHost],
      [AWAY, "plan", new URL(AWAY).host],
    ],
  );
  assertEquals(asked, [used.url, AWAY.split("#")[0]!.replace("/v1", "")]);
  const text = `${big(other)}  8k context\n  ${used.url}/v1#old  used before\n  ${used.url}/v1#fresh
  ${AWAY}  plan\nCurrent: test at `;
  assertStringIncludes((await fake.command("/model"))!, text);
  assertMatch(
    (await fake.command(`/model ${AWAY}`))!,
    /^Still using test at \S+: Cannot reach .*refused/,
  );
  assertEquals(await fake.command(`/model ${big(other)}`), `Switched to big at ${host}.`);
  assertEquals((await fake.session.prompt("hi", signal)).response, "big here");
});

Deno.test("/model ROLE: sets, shows and removes the model of a role", async () => {
  using ws = workspace();
  await using other = bigServer([{ text: "1. A\n2. B" }]);
  await using server = strictServer([{ text: "ours" }]);
  await using fake = await sessionWith(server, undefined, ws.dir);
  const host = new URL(other.url).host;
  const change = "(/model plan NAME, or off, changes it)";
  assertEquals(await fake.command("/model plan"), `plan: the session's model ${change}`);
  assertMatch((await fake.command("/model plan gpu#x"))!, /it must be a URL/);
  assertMatch((await fake.command("/model plan gpu#"))!, /it must be SERVER#MODEL/);
  assertEquals(
    await fake.command(`/model plan ${other.url}/v1#nosuch`),
    `plan: nosuch at ${host} ${change}`,
  );
  assertEquals(await fake.command(`/model plan ${big(other)}`), `plan: big at ${host} ${change}`);
  assertEquals(await fake.command("/model plan"), `plan: big at ${host} ${change}`);
  await fake.command("/plan");
  assertEquals(fake.session.status.model, `big at ${host}`);
  assertEquals((await fake.session.prompt("plan", signal)).response, "1. A\n2. B");
  assertEquals(await fake.command("/model plan off"), `plan: the session's model ${change}`);
  assertEquals((await fake.session.prompt("plan", signal)).response, "ours");
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
