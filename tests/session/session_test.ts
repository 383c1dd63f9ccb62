import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { compatConfig, localConfig } from "../../src/config.ts";
import { BackendError } from "../../src/errors.ts";
import { openPermissions } from "../../src/safety/permissions.ts";
import { fakeSession } from "../helpers/fake_session.ts";
import { serve, sse } from "../helpers/server.ts";
import { bash, strictServer, use } from "../helpers/strict_server.ts";
import { waitUntil } from "../helpers/wait_until.ts";
import { tempFolder } from "../helpers/temp_folder.ts";

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

Deno.test("a frontend that shows no status is told of none", async () => {
  await using server = strictServer([{ text: "Hello." }]);
  await using fake = await fakeSession(server.url, {}, { showsStatus: false });
  await fake.session.prompt("hi", signal);
  assertEquals(fake.events.filter(({ type }) => type === "status"), []);
});

Deno.test("a turn that is stopped while its files are attached is a stopped turn", async () => {
  await using server = strictServer([{ text: "Never." }]);
  using temp = tempFolder();
  const folder = temp.path;
  await Deno.writeTextFile(`${folder}/a.txt`, "one\n");
  await using fake = await fakeSession(server.url, { folder });
  const { stopReason } = await fake.session.prompt("see @a.txt", AbortSignal.abort());
  assertEquals([stopReason, server.requests.length], ["aborted", 0]);
  // The conversation is one that the next message can go on from.
  await fake.session.prompt("again", signal);
  assertEquals(server.requests[0]!.problem, undefined);
});

Deno.test("a message that is cancelled before an answer leaves its words and not its files", async () => {
  using temp = tempFolder();
  const folder = temp.path;
  const stop = new AbortController();
  await using server = strictServer([
    () => {
      stop.abort();
      return { text: "Never.", hang: true };
    },
    { text: "Yes." },
    { text: "So", hang: true },
    { text: "Yes." },
  ]);
  await Deno.writeTextFile(`${folder}/a.txt`, "the content\n");
  await using fake = await fakeSession(server.url, { folder });
  const cancelled = await fake.session.prompt("see @a.txt", stop.signal);
  await fake.session.prompt("go on", signal);
  const [first, second] = server.requests.map(({ text }) => text);
  assertEquals(cancelled.stopReason, "aborted");
  assertEquals(first!.includes("the content"), true);
  assertEquals([second!.includes("see @a.txt"), second!.includes("the content")], [true, false]);
  // What was answered in part keeps them.
  const half = new AbortController();
  const { onEvent } = fake.session["frontend"];
  fake.session["frontend"].onEvent = (event) => {
    onEvent(event);
    if (event.type === "text_delta" && event.text === "So") half.abort();
  };
  await fake.session.prompt("see @a.txt once more", half.signal);
  await fake.session.prompt("go on", signal);
  assertEquals(server.requests[3]!.text.includes("the content"), true);
});

Deno.test("in plan mode without a sandbox nothing is written or run, and nobody is asked", async () => {
  await using server = strictServer([
    bash("touch ran"),
    { text: "A plan." },
    bash("true"),
    { text: "Done." },
  ]);
  using temp = tempFolder();
  const folder = temp.path;
  let asked = 0;
  const permissions = openPermissions({ sandbox: "off" }, () => undefined);
  await using fake = await fakeSession(server.url, { folder, permissions }, {
    approve: () => (asked++, Promise.resolve({ choice: "once" })),
  });
  await fake.command("/plan");
  const planned = await fake.session.prompt("do it", signal);
  assertEquals(planned.toolExecutions.map(({ refusal }) => refusal), ["plan mode"]);
  assertEquals([[...Deno.readDirSync(folder)].length, asked], [0, 0]);
  await fake.command("/plan");
  const done = await fake.session.prompt("go on", signal);
  assertEquals([done.toolExecutions[0]!.isError, asked], [false, 1]);
});

Deno.test("without somebody to ask, what would be asked about is refused, and counted", async () => {
  await using server = strictServer([
    bash("touch ran"),
    { text: "Well." },
  ]);
  await using fake = await fakeSession(server.url);
  const { toolExecutions } = await fake.session.prompt("go", signal);
  assertEquals([toolExecutions[0]!.isError, fake.session.refusals], [true, 1]);
});

Deno.test("R-06 what was pasted attaches nothing, and is one text with the rest in the conversation", async () => {
  await using server = strictServer([{ text: "Read." }]);
  using temp = tempFolder();
  const folder = temp.path;
  await Deno.writeTextFile(`${folder}/a.txt`, "the text\n");
  await Deno.writeTextFile(`${folder}/b.txt`, "another\n");
  await using fake = await fakeSession(server.url, { folder });
  const message = { type: "text", text: "see @a.txt @b.txt", pasted: [[0, 10]] } as const;
  await fake.session.prompt([message], signal);
  const { role, content } = fake.session.agent.state.messages[0]!;
  assertEquals([role, content.includes("the text")], ["user", false]);
  assertMatch(content, /^see @a\.txt @b\.txt\n\n<file path="b\.txt">\n/);
  assertEquals(JSON.stringify(fake.session.agent.state.messages).includes("pasted"), false);
});

Deno.test("R-06 a file that a message names goes along as the policy and the person say", async () => {
  const rows: [name: string, choice: "once" | "refuse", asked: number, sent: boolean][] = [
    ["a.txt", "refuse", 0, true],
    [".env", "once", 1, true],
    [".env", "refuse", 1, false],
    ["denied", "once", 0, false],
    ["link", "refuse", 1, false],
  ];
  using temp = tempFolder();
  const base = temp.path;
  const folder = `${base}/folder`;
  await Deno.mkdir(`${folder}/.copilot`, { recursive: true });
  await Deno.mkdir(`${base}/outside`);
  const rules = { deny: ["read_file(denied)"] };
  await Deno.writeTextFile(`${folder}/.copilot/permissions.json`, JSON.stringify(rules));
  for (const name of ["a.txt", ".env", "denied", "../outside/b"]) {
    await Deno.writeTextFile(`${folder}/${name}`, "the text\n");
  }
  await Deno.symlink("../outside/b", `${folder}/link`);
  for (const [name, choice, times, isSent] of rows) {
    await using server = strictServer([{ text: "Read." }]);
    const asked: boolean[] = [];
    await using fake = await fakeSession(server.url, { folder }, {
      approve: (
        { isFromUser },
      ) => (asked.push(isFromUser), Promise.resolve({ choice, reason: "" })),
    });
    await fake.session.prompt(`see @${name}`, signal);
    assertEquals(asked, Array(times).fill(true), name);
    const [{ content }] = (server.requests[0]!.body.messages as { content: string }[]).slice(
      -1,
    ) as [{ content: string }];
    assertEquals(content.includes("the text"), isSent, `${name} ${choice}`);
    if (!isSent) {
      const shown = name === "link" ? `@link (${base}/outside/b)` : `@${name}`;
      assertEquals(fake.notices().at(-1)?.startsWith(`${shown} is not attached`), true);
    }
  }
});

Deno.test("a model that /model names is the person's choice", async () => {
  const options = { isChosen: false };
  await using server = strictServer([], { models: ["test", "other"] });
  await using fake = await fakeSession(server.url, options);
  assertEquals(fake.session.status.model, undefined);
  await fake.command("/model test");
  assertEquals(fake.session.status.model, "test");
});

Deno.test("CMD-05 a person is asked one question at a time, and each answer is for its call", async () => {
  const names = ["../one", ".env", "../two"];
  await using server = strictServer([
    { toolCalls: names.map((file_path) => ({ name: "read_file", arguments: { file_path } })) },
    { text: "Read." },
  ]);
  using temp = tempFolder();
  const base = temp.path;
  const folder = `${base}/folder`;
  await Deno.mkdir(folder);
  for (const name of names) await Deno.writeTextFile(`${folder}/${name}`, `text of ${name}\n`);
  let open = 0;
  await using fake = await fakeSession(server.url, { folder }, {
    async approve({ subject }) {
      assertEquals(++open, 1);
      await new Promise((resolve) => setTimeout(resolve, 5));
      open--;
      return subject.path === "../one" ? { choice: "once" } : { choice: "refuse", reason: "" };
    },
  });
  const { toolExecutions } = await fake.session.prompt("go", signal);
  assertEquals(
    toolExecutions.map(({ outcome, result }) => [outcome, result.includes("text of")]),
    [["done", true], ["refused", false], ["refused", false]],
  );
});

Deno.test("SEC-01 an approved edit of a secret shows the model no more of it", async () => {
  const edit = (old_string: string, new_string: string) =>
    use("edit_file", { file_path: ".env", old_string, new_string });
  await using server = strictServer([edit("DEBUG=1", "DEBUG=0"), edit("DEBUGS=0", "x"), {
    text: "Done.",
  }]);
  using temp = tempFolder();
  const folder = temp.path;
  await Deno.writeTextFile(`${folder}/.env`, "PASSWORD=hunter2\nDEBUG=1\nTOKEN=abc\n");
  await using fake = await fakeSession(server.url, { folder }, {
    approve: () => Promise.resolve({ choice: "once" }),
  });
  await fake.session.prompt("go", signal);
  assertEquals(
    await Deno.readTextFile(`${folder}/.env`),
    "PASSWORD=hunter2\nDEBUG=0\nTOKEN=abc\n",
  );
  const sent = server.requests.map(({ text }) => text).join("");
  assertEquals(/hunter2|TOKEN/.test(sent), false, sent);
});

Deno.test("a question that is left open after the turn was stopped does not hold the next one", async () => {
  const call = bash("true");
  await using server = strictServer([call, call, { text: "Done." }]);
  const stop = new AbortController();
  let questions = 0;
  await using fake = await fakeSession(server.url, {}, {
    approve() {
      if (++questions > 1) return Promise.resolve({ choice: "once" });
      stop.abort();
      return new Promise(() => {});
    },
  });
  assertEquals((await fake.session.prompt("one", stop.signal)).stopReason, "aborted");
  const { response } = await fake.session.prompt("two", signal);
  assertEquals([response, questions], ["Done.", 2]);
});

Deno.test("what requests cost is summed up, if the server says it", async () => {
  const usage = { prompt_tokens: 1, completion_tokens: 1, cost: 2.5 };
  const delta = { content: "Hello." };
  const answer = sse([{ choices: [{ delta, finish_reason: "stop" }], usage }, "[DONE]"]);
  await using server = serve(answer, answer);
  const compat = compatConfig({ baseUrl: `${server.url}/v1`, model: "test" });
  await using fake = await fakeSession(server.url, { config: { compat } });
  assertEquals(fake.session.status.cost, undefined);
  for (const dollars of [2.5, 5]) {
    await fake.session.prompt("go", signal);
    assertEquals(fake.session.status.cost, dollars);
  }
});

Deno.test("paths are listed once for a folder, and anew for another", async () => {
  using temp = tempFolder();
  const folder = temp.path;
  await Deno.mkdir(`${folder}/sub`);
  await Deno.writeTextFile(`${folder}/sub/a`, "");
  await using fake = await fakeSession("http://127.0.0.1:1", { folder });
  const paths = async () => (await fake.session.findPaths("")).paths.toSorted();
  assertEquals(await paths(), ["sub/", "sub/a"]);
  assertEquals((await fake.session.findPaths("")).more, undefined);
  await Deno.writeTextFile(`${folder}/sub/b`, "");
  assertEquals(await paths(), ["sub/", "sub/a"]);
  await fake.command("/cd sub");
  assertEquals(await paths(), ["a", "b"]);
});

Deno.test("the greeting of a server says what it has, and which model is asked then", async () => {
  const rows: [models: string[], isChosen: boolean, model: string | undefined, said: RegExp][] = [
    [["test"], true, "test", /^test: .* · 32768 tokens of context$/],
    [
      ["other"],
      true,
      "test",
      /^the server has no model test; it has: other\. Get it with ollama pull test, or choose another with \/model$/,
    ],
    [["other"], false, "other", /^other: .*tokens of context \(the server's model; /],
    [[], false, undefined, /^the server lists no models\. Get it/],
  ];
  for (const [models, isChosen, model, said] of rows) {
    await using server = strictServer([{ text: "Hello." }], { models });
    await using fake = await fakeSession(server.url, { isChosen, asksAtStart: true });
    await waitUntil(() => fake.notices().length > 0);
    assertMatch(fake.notices().join("\n"), said);
    assertEquals(fake.session.status.model, model);
  }
});

Deno.test("a status follows each call and each count, and what a command of the person's prints is told of", async () => {
  const call = use("list_directory", { path: "." });
  await using server = strictServer([call, { text: "Done." }]);
  await using fake = await fakeSession(server.url);
  await fake.session.prompt("go", signal);
  const types = fake.events.map(({ type }) => type);
  for (const type of ["usage", "tool_done"] as const) {
    assertEquals(types[types.indexOf(type) + 1], "status");
  }
  await fake.session.shell("echo out", signal);
  const printed = fake.events.findLast((event) => event.type === "output");
  assertEquals(printed?.newest(), "out");
});

Deno.test("the model is known once a server has answered with it", async () => {
  await using server = strictServer([{ error: { status: 500, message: "no" } }, {
    text: "Hello.",
  }]);
  const options = { isChosen: false };
  await using fake = await fakeSession(server.url, options);
  await assertRejects(() => fake.session.prompt("one", signal), BackendError);
  assertEquals(fake.session.status.model, undefined);
  await fake.session.prompt("two", signal);
  assertEquals(fake.session.status.model, "test");
});

Deno.test("a folder that becomes a link while a person thinks is not run in", {
  ignore: Deno.build.os === "windows",
}, async () => {
  await using server = strictServer([
    bash("touch ran"),
    { text: "Done." },
  ]);
  using temp = tempFolder();
  const base = temp.path;
  const [folder, other] = [`${base}/folder`, `${base}/other`];
  await Promise.all([Deno.mkdir(folder), Deno.mkdir(other)]);
  await using fake = await fakeSession(server.url, { folder }, {
    async approve() {
      await Deno.rename(folder, `${base}/was`);
      await Deno.symlink(other, folder);
      return { choice: "once" };
    },
  });
  const { toolExecutions: [call] } = await fake.session.prompt("go", signal);
  assertEquals([call?.outcome, [...Deno.readDirSync(other)]], ["refused", []]);
  assertMatch(call!.result, /was replaced by a link/);
});

Deno.test("a session and a prompt alone wait for a server that restarts", async () => {
  for (const approve of [() => Promise.reject(), undefined]) {
    const server = strictServer([{ text: "hello" }]);
    const baseUrl = `${server.url}/v1`;
    const config = { compat: compatConfig({ baseUrl, apiKey: "", model: "test" }) };
    const stop = new AbortController();
    const frontend = approve && { approve };
    await using fake = await fakeSession(server.url, { config }, frontend);
    await fake.session.prompt("hello", stop.signal);
    await server[Symbol.asyncDispose]();
    const { onEvent } = fake.session["frontend"];
    fake.session["frontend"].onEvent = (event) => {
      onEvent(event);
      if (event.type === "retry") stop.abort();
    };
    const { stopReason } = await fake.session.prompt("again", stop.signal);
    const retry = fake.events.find(({ type }) => type === "retry");
    assertEquals([stopReason, retry?.type === "retry" && retry.maxAttempts], ["aborted", 7]);
    assertEquals(fake.session.agent.state.messages[2]!.content, "again");
  }
});

Deno.test("a message that waits for a server which loads its model is told so", async () => {
  const error = { code: 503, message: "Loading model", type: "unavailable_error" };
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => Response.json({ error }, { status: 503 }),
  );
  const host = `http://127.0.0.1:${server.addr.port}`;
  const local = localConfig({ host });
  // Behind a compatible endpoint there may be any model.
  const compat = compatConfig({ baseUrl: `${host}/v1` });
  for (const [config, model] of [[{ local }, local.model], [{ compat }, "its model"]] as const) {
    const stop = new AbortController();
    await using fake = await fakeSession(host, { config, isChosen: false, asksAtStart: true });
    const { onEvent } = fake.session["frontend"];
    fake.session["frontend"].onEvent = (event) => {
      onEvent(event);
      if (event.type === "loading") stop.abort();
    };
    const { stopReason } = await fake.session.prompt("hello", stop.signal);
    assertEquals(stopReason, "aborted");
    const told = fake.events.filter(({ type }) => type === "loading");
    assertEquals(told, [{ type: "loading", model }]);
  }
});
