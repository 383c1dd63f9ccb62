import { assertEquals, assertMatch } from "@std/assert";
import { CopilotAgent } from "../../src/agent/agent.ts";
import { compatConfig, localConfig } from "../../src/config.ts";
import { BackendError } from "../../src/errors.ts";
import { targetOf } from "../../src/model_target.ts";
import { ModelFit } from "../../src/session/fit_model.ts";
import type { Notice } from "../../src/session/report.ts";
import { ModelMemory } from "../../src/session/model_memory.ts";
import { run } from "../helpers/program.ts";

const MINUTE = 60_000;

/** A test with a folder for state, and a server that lists models and counts how often it is asked. */
function memoryTest(
  name: string,
  body: (at: {
    folder: string;
    url: string;
    told: { context: number; asked: string[] };
  }) => Promise<void>,
) {
  Deno.test(name, async () => {
    const folder = await Deno.makeTempDir();
    const told = { context: 4096, asked: [] as string[] };
    const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
      const { pathname } = new URL(request.url);
      told.asked.push(pathname);
      if (pathname === "/v1/models" && told.context > 0) {
        return Response.json({
          data: [{ id: "m", max_model_len: told.context, owned_by: "vllm" }],
        });
      }
      if (pathname !== "/v1/chat/completions") return new Response("", { status: 404 });
      const choices = [{ message: { role: "assistant", content: "Hi." }, finish_reason: "stop" }];
      return Response.json({ choices });
    });
    try {
      await body({ folder, told, url: `http://127.0.0.1:${server.addr.port}/v1` });
    } finally {
      await server.shutdown();
      await Deno.remove(folder, { recursive: true });
    }
  });
}

memoryTest("what a server told of its model is remembered, for the person alone", async (
  { folder, url, told },
) => {
  let now = Date.now();
  const fitted = async (model = "m") => {
    const memory = new ModelMemory(`${folder}/copilot`, () => now);
    const agent = new CopilotAgent({ compat: compatConfig({ baseUrl: url, model }) }, folder);
    const fit = new ModelFit({ isChosen: true, asksRemote: false, memory });
    await fit.prepare(agent);
    return { agent, fit, context: targetOf(agent.config).contextLength };
  };
  assertEquals([(await fitted()).context, told.asked.length], [4096, 1]);
  assertEquals(Deno.statSync(`${folder}/copilot/servers.json`).mode! & 0o777, 0o600);
  told.context = 8192;
  now += 5 * MINUTE;
  assertEquals([(await fitted()).context, told.asked.length], [4096, 1]);
  assertEquals([(await fitted("other")).context, told.asked.length], [8192, 2]);
  // After a failure it is asked anew: the turn is worth another attempt where it is otherwise now.
  const { agent, fit } = await fitted();
  const error = new BackendError("no", { kind: "request", status: 400 });
  assertEquals(await fit.recover(agent, error, {}), true);
  assertEquals(targetOf(agent.config).contextLength, 8192);
  assertEquals(await fit.recover(agent, error, {}), false);
  // What is too old is asked for first, and so is what somebody made into something else.
  told.context = 2048;
  now += 8 * 24 * 60 * MINUTE;
  assertEquals((await fitted()).context, 2048);
  const path = `${folder}/copilot/servers.json`;
  await Deno.writeTextFile(path, (await Deno.readTextFile(path)).replaceAll("2048", '"many"'));
  told.context = 1024;
  assertEquals((await fitted()).context, 1024);
});

memoryTest("that a server is not Ollama is said once: what it told is remembered", async (
  { folder, url },
) => {
  const error = new BackendError("no", { kind: "request", status: 404 });
  const recovered = async () => {
    const memory = new ModelMemory(`${folder}/copilot`);
    const host = url.replace("/v1", "");
    const agent = new CopilotAgent({ local: localConfig({ host, model: "m" }) }, folder);
    const codes: string[] = [];
    const onNotice = ({ code }: Notice) => void codes.push(code);
    const fit = new ModelFit({ isChosen: true, asksRemote: false, memory });
    return [await fit.recover(agent, error, { onNotice }), codes];
  };
  assertEquals(await recovered(), [true, ["compatible_endpoint"]]);
  assertEquals(await recovered(), [true, []]);
});

memoryTest(
  "facts that are not fresh are used, and asked for meanwhile: the next turn has what changed",
  async (
    { folder, url, told },
  ) => {
    let now = Date.now();
    const memory = new ModelMemory(folder, () => now);
    const newAgent = () =>
      new CopilotAgent({ compat: compatConfig({ baseUrl: url, model: "m" }) }, folder);
    await new ModelFit({ isChosen: true, asksRemote: false, memory }).prepare(newAgent());
    const agent = newAgent();
    const context = () => targetOf(agent.config).contextLength;
    told.context = 8192;
    now += 20 * MINUTE;
    const fit = new ModelFit({ isChosen: true, asksRemote: false, memory });
    await fit.prepare(agent);
    assertEquals(context(), 4096);
    const end = Date.now() + 5000;
    while (context() === 4096 && Date.now() < end) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      await fit.prepare(agent);
    }
    assertEquals([context(), told.asked.length], [8192, 2]);
  },
);

memoryTest("what is remembered is bounded", async ({ folder }) => {
  const memory = new ModelMemory(folder);
  for (let n = 0; n < 60; n++) memory.keep(`key ${n}`, { names: Array(300).fill("m") });
  assertEquals([memory.recall("key 9"), memory.recall("key 10")?.facts.names?.length], [
    undefined,
    200,
  ]);
  memory.forget("key 10");
  assertEquals(memory.recall("key 10"), undefined);
  await Deno.remove(`${folder}/servers.json`);
  assertEquals(memory.recall("key 11"), undefined);
  new ModelMemory("/dev/null").keep("key", {});
});

memoryTest("a server that tells nothing of its models, and answers, is not asked again", async (
  { folder, url, told },
) => {
  told.context = 0;
  const env = { XDG_STATE_HOME: folder };
  for (let time = 0; time < 2; time++) {
    assertEquals((await run(["--base-url", url, "-m", "m", "-p", "hi"], { env })).code, 0);
  }
  const chats = told.asked.map((path) => path === "/v1/chat/completions" ? "chat" : "look");
  assertEquals(chats, ["look", "chat", "chat"]);
});

memoryTest("the second one-shot does not ask before its request", async ({ folder, url, told }) => {
  const env = { XDG_STATE_HOME: folder };
  for (let time = 0; time < 2; time++) {
    const { code } = await run(["--base-url", url, "-m", "m", "-p", "hi"], { env });
    assertEquals(code, 0);
  }
  const chats = told.asked.map((path) => path === "/v1/chat/completions" ? "chat" : "look");
  assertEquals(chats, ["look", "chat", "chat"]);
  assertMatch(await Deno.readTextFile(`${folder}/copilot/servers.json`), /"contextLength":4096/);
});

Deno.test("what is kept of models has a shape, an age and a number", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const now = 1e12;
    const at = () => new ModelMemory(folder, () => now);
    const put = (facts: unknown, when: unknown = now) =>
      Deno.writeTextFileSync(
        `${folder}/servers.json`,
        JSON.stringify({ models: { m: { at: when, facts } } }),
      );
    const good = [
      { contextLength: 256, parameters: 0.5, names: ["a"], thinks: false, statesSampling: true },
      { takesTools: true, seesImages: false },
      {},
    ];
    for (const facts of good) {
      put(facts);
      assertEquals(at().recall("m"), { facts, isFresh: true });
    }
    const bad: unknown[] = [
      ...[{ contextLength: 255 }, { contextLength: 300.5 }, { parameters: 0 }, { names: [1] }],
      ...[{ takesTools: 1 }, { seesImages: "" }, { thinks: 0 }, { statesSampling: 0 }, 5],
      ...[{ toString: true }, { names: "a" }],
    ];
    for (const facts of bad) {
      put(facts);
      assertEquals(at().recall("m"), undefined, JSON.stringify(facts));
    }
    const week = 7 * 24 * 60 * MINUTE;
    const ages: [age: unknown, isFresh: boolean | undefined][] = [
      [10 * MINUTE - 1, true],
      [10 * MINUTE, false],
      [week - 1, false],
      [week, undefined],
      [-1, undefined],
    ];
    for (const [age, isFresh] of ages) {
      put({}, now - Number(age));
      assertEquals(at().recall("m")?.isFresh, isFresh, `${age}`);
    }
    put({}, "now");
    assertEquals(at().recall("m"), undefined);
    // The oldest of many go, and what is no fact is not kept.
    const many = Array.from({ length: 300 }, (_, i) => `${i}`);
    at().keep("first", { names: many, other: 1 } as never);
    assertEquals(at().recall("first")?.facts, { names: many.slice(0, 200) });
    for (let i = 0; i < 49; i++) at().keep(`m${i}`, { thinks: true });
    assertEquals([at().recall("first") === undefined, at().recall("m") === undefined], [
      false,
      true,
    ]);
    at().keep("first", {});
    at().keep("last", {});
    assertEquals([at().recall("m0"), at().recall("first")?.facts], [undefined, {}]);
    at().forget("first");
    assertEquals(at().recall("first"), undefined);
    assertEquals(at().recall("m1")?.facts, { thinks: true });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
