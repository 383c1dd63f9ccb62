import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { CopilotAgent } from "../../src/agent/agent.ts";
import { apply, ModelFit, servedInstead } from "../../src/session/fit_model.ts";
import { processFittedTurn } from "../../src/session/fitted_turn.ts";
import type { Notice } from "../../src/session/data.ts";
import {
  compatConfig,
  type CopilotConfig,
  hostedConfig,
  type LocalConfig,
  localConfig,
} from "../../src/config.ts";
import { type ModelTarget, targetOf } from "../../src/models/target.ts";
import { run } from "../helpers/program.ts";
import { type Step, strictServer } from "../helpers/strict_server.ts";

/** A strict server that also answers what `answers` holds, by path, each time the next of the list. */
function serverSaying(steps: readonly Step[], answers: Record<string, readonly Response[]>) {
  const strict = strictServer(steps);
  const left = new Map(Object.entries(answers).map(([path, list]) => [path, [...list]]));
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { pathname } = new URL(request.url);
    const list = left.get(pathname);
    const answer = list && (list.length > 1 ? list.shift() : list[0]);
    if (answer) return answer.clone();
    const body = request.method === "POST" ? await request.text() : null;
    return await fetch(strict.url + pathname, {
      method: request.method,
      headers: request.headers,
      body,
    });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    requests: strict.requests,
    async [Symbol.asyncDispose]() {
      await strict[Symbol.asyncDispose]();
      await server.shutdown();
    },
  };
}

const listed = (...ids: string[]) => [Response.json({ data: ids.map((id) => ({ id })) })];
const props = (supports_tools: boolean) => [
  Response.json({
    default_generation_settings: { n_ctx: 8192 },
    chat_template_caps: { supports_tools },
  }),
];
const missing = [new Response("", { status: 404 })];

const look = '<toolcall>{"name": "list_directory", "arguments": {"path": "."}}</toolcall>';

Deno.test("a template without tools gets them in the prompt", async () => {
  const steps = [{ text: look }, { text: "A README." }];
  await using server = serverSaying(steps, { "/v1/models": listed("m"), "/props": props(false) });
  const args = ["--base-url", `${server.url}/v1`, "-m", "m", "-p", "x"];
  const { code, stdout, stderr } = await run(args);
  assertEquals([code, stdout], [0, "A README.\n"]);
  assertStringIncludes(stderr, "template does not support tools");
  const [first, second] = server.requests.map(({ text }) => JSON.parse(text));
  assertEquals([first.tools, second.tools], [undefined, undefined]);
  assertStringIncludes(first.messages[0].content, '"list_directory"');
  assertStringIncludes(second.messages.at(-1).content, "<toolresult");
});

Deno.test("--local goes on with the compatible endpoint where there is no other", async () => {
  const paths = ["/api/version", "/api/show", "/api/ps", "/api/tags", "/api/chat"];
  const answers = Object.fromEntries(paths.map((path) => [path, missing]));
  await using server = serverSaying([{ text: "Hi" }], {
    ...answers,
    "/v1/models": listed("m"),
    "/props": props(true),
  });
  const { code, stdout, stderr } = await run(["--local", "--host", server.url, "-p", "x"]);
  assertEquals([code, stdout], [0, "Hi\n"]);
  assertMatch(
    stderr,
    /^· The server is not Ollama: .*--use-compat.*\n· model: m \(the server's model; --model selects another\)$/m,
  );
});

Deno.test("doctor says what to change where calls come as text", async () => {
  const models = [Response.json({ data: [{ id: "m", owned_by: "llamacpp" }] })];
  const answers = { "/api/version": missing, "/v1/models": models, "/props": props(true) };
  await using server = serverSaying(
    [{ text: "ready" }, { text: look }, { text: "A README." }],
    answers,
  );
  const at = ["--base-url", `${server.url}/v1`, "-m", "m"];
  const { stdout } = await run(["doctor", ...at, "--max-tokens", "30000"]);
  assertEquals(server.requests.every(({ text }) => JSON.parse(text).max_tokens === 2048), true);
  assertMatch(
    stdout,
    /note +tools +called in the answer's text[^]*\n\s+llama-server --jinja reads such calls itself$/m,
  );
  await using ollama = strictServer([{ text: "ready" }, { text: look }, { text: "A README." }]);
  const report = await run(["doctor", "--local", "--host", ollama.url, "-m", "test"]);
  assertMatch(report.stdout, /note +tools +called in the answer's text[^]*Ollama tags "tools"/);
  assert(!report.stdout.includes("jinja"));
});

Deno.test("what was chosen for a model is not kept for the next one", async () => {
  const small = Response.json({
    default_generation_settings: { n_ctx: 4096 },
    chat_template_caps: { supports_tools: false },
  });
  await using server = serverSaying([{ text: "Hi" }], {
    "/v1/models": [...listed("a"), ...listed("b")],
    "/props": [small, new Response("", { status: 404 })],
  });
  const local = localConfig({ host: server.url, model: "a", useCompat: true, maxTokens: 64 });
  for (const own of [undefined, 9000]) {
    const agent = new CopilotAgent({
      local: { ...local, ...(own && { contextLength: own }) },
    }, ".");
    const fit = new ModelFit({ isChosen: true, asksRemote: false });
    const chosen = async () => {
      await fit.prepare(agent);
      const { contextLength, textTools } = agent.config.local!;
      return [contextLength, textTools];
    };
    assertEquals(await chosen(), own ? [own, undefined] : [4096, true]);
    agent.setModel("b");
    assertEquals(await chosen(), [own, undefined]);
    assertEquals(await chosen(), [own, undefined]);
  }
});

Deno.test("a hosted server is asked about its model only where that is an option", async () => {
  await using server = serverSaying([], { "/v1/models": listed("m"), "/props": props(true) });
  for (const asksRemote of [false, true]) {
    const asked: string[] = [];
    const compat = compatConfig({
      baseUrl: "https://models.example/v1",
      model: "default",
      fetch: (input) => {
        const { pathname } = new URL(String(input));
        asked.push(pathname);
        return fetch(server.url + pathname);
      },
    });
    const agent = new CopilotAgent({ compat }, ".");
    const fit = new ModelFit({ isChosen: false, asksRemote });
    await fit.prepare(agent);
    await fit.prepare(agent);
    assertEquals(asked, asksRemote ? ["/v1/models", "/props"] : []);
    assertEquals(agent.config.compat?.model, asksRemote ? "m" : "default");
  }
});

const target = targetOf({ local: localConfig({ model: "m" }) }, false);

const shown = (more: Record<string, unknown> = {}) => [Response.json({
  capabilities: ["completion", "tools"],
  details: { parameter_size: "8.2B" },
  model_info: { "general.parameter_count": 8.2e9, "x.context_length": 40_960 },
  ...more,
})];
const running = (...models: [name: string, context_length: number][]) =>
  Response.json({ models: models.map(([name, context_length]) => ({ name, context_length })) });

Deno.test("Ollama behind its compatible endpoint: the window is known before the first message", async () => {
  const ROWS: [ps: Response[], loads: number, more: Record<string, unknown>, window: number][] = [
    [[running(["m:latest", 4096])], 1, {}, 4096],
    [[running(), running(["m:latest", 8192])], 1, {}, 8192],
    // It was loaded by the native endpoint.
    [[running(["m:latest", 32_768]), running(["m:latest", 4096])], 1, {}, 4096],
    [[running()], 1, { parameters: "num_ctx                        16384" }, 16_384],
  ];
  for (const [ps, loads, more, window] of ROWS) {
    const asked: string[] = [];
    const count = (path: string) => asked.filter((one) => one === path).length;
    await using server = serverSaying([{ text: "Hi" }], {
      "/v1/models": listed("m:latest"),
      "/api/show": shown(more),
      "/api/ps": ps,
      "/api/generate": [Response.json({ done: true, done_reason: "load" })],
    });
    const local = localConfig({
      host: server.url,
      model: "m",
      useCompat: true,
      fetch: (input, init) => {
        asked.push(new URL(String(input)).pathname);
        return fetch(input, init);
      },
    });
    const agent = new CopilotAgent({ local }, ".");
    const fit = new ModelFit({ isChosen: true, asksRemote: false });
    await processFittedTurn(agent, fit, "x", {});
    assertEquals(agent.config.local!.contextLength, window);
    assertEquals([count("/api/generate"), count("/props")], [loads, 0]);
  }
});

Deno.test("the messages endpoint of a server on this machine: the window is known; elsewhere nothing is asked", async () => {
  await using server = serverSaying([{ text: "Hi" }], {
    "/v1/models": listed("m:latest"),
    "/api/show": shown({ capabilities: ["completion"] }),
    "/api/ps": [running(["m:latest", 4096])],
    "/api/generate": [Response.json({ done: true, done_reason: "load" })],
  });
  const hosted = hostedConfig({ baseUrl: server.url, model: "m", apiKey: "k" });
  const agent = new CopilotAgent({ hosted }, ".");
  await processFittedTurn(agent, new ModelFit({ isChosen: true, asksRemote: true }), "x", {});
  assertEquals(agent.config.hosted!.contextLength, 4096);
  const asked: string[] = [];
  const remote = new CopilotAgent({
    hosted: hostedConfig({
      ...{ baseUrl: "https://api.example.com", model: "m", apiKey: "k", maxRetries: 0 },
      fetch: (input) => {
        asked.push(new URL(String(input)).pathname);
        return Promise.resolve(new Response("", { status: 404 }));
      },
    }),
  }, ".");
  const fit = new ModelFit({ isChosen: true, asksRemote: true });
  await processFittedTurn(remote, fit, "x", {}).catch(() => {});
  assertEquals(asked, ["/v1/messages"]);
});

Deno.test("a thinking that the model has not is left out, and comes back with one that has", () => {
  const local = localConfig({ model: "m", think: "high" });
  const first = apply({ local }, "m", { thinks: false }, {});
  assertEquals([first.config.local!.think, first.fitted.think], [undefined, "high"]);
  const again = apply(first.config, "n", {}, first.fitted);
  assertEquals([again.config.local!.think, again.fitted.think], ["high", undefined]);
});

Deno.test("a model's own sampling is left to the server where the person left it open", () => {
  const states = { statesSampling: true };
  const fit = (
    set: Parameters<typeof localConfig>[0],
    facts: Parameters<typeof apply>[2],
    previous: Parameters<typeof apply>[3] = {},
  ) => {
    const { config, fitted } = apply({ local: localConfig(set) }, "m", facts, previous);
    return [config.local!.sampling, fitted.sampling];
  };
  assertEquals(fit({}, states), [undefined, undefined]);
  assertEquals(fit({ sampling: "auto" }, states), ["server", "server"]);
  assertEquals(fit({ sampling: "auto" }, {}), ["auto", undefined]);
  assertEquals(fit({ sampling: "server" }, {}), ["server", undefined]);
  assertEquals(fit({ sampling: "server" }, {}, { sampling: "server" }), ["auto", undefined]);
});

Deno.test("the tier follows the size that the server states, where the person left it open", () => {
  const local = localConfig({ model: "my-7b-merge" });
  const tier = (
    config: CopilotConfig,
    ...[facts, previous = {}]: [Parameters<typeof apply>[2], Parameters<typeof apply>[3]?]
  ) => {
    const { config: fitted, fitted: { promptTier } } = apply(config, "m", facts, previous);
    return [fitted.promptTier, promptTier];
  };
  assertEquals(tier({ local }, { parameters: 14e9 }), ["full", "full"]);
  assertEquals(tier({ local }, { parameters: 3e9 }), ["lean", "lean"]);
  assertEquals(tier({ local }, { parameters: 14e9, contextLength: 8192 }), ["lean", "lean"]);
  assertEquals(tier({ local }, {}), ["auto", undefined]);
  const small = { parameters: 3e9 };
  assertEquals(tier({ local, promptTier: "full" }, small), ["full", undefined]);
  assertEquals(tier({ local, promptTier: "full" }, small, { promptTier: "full" }), [
    "lean",
    "lean",
  ]);
});

const INSTEAD: [names: string[], change: Partial<ModelTarget>, expected: string | undefined][] = [
  [["a"], {}, "a"],
  [["a", "b"], {}, "a"],
  [["embed-1", "my-reranker", "a"], {}, "a"],
  [["embed-1"], {}, undefined],
  [[], {}, undefined],
  [["a", "m"], {}, undefined],
  [["a"], { isChosen: true }, undefined],
  [["a"], { url: "http://models.example" }, "a"],
  [["a", "b"], { url: "http://models.example" }, undefined],
];

for (const [names, change, expected] of INSTEAD) {
  Deno.test(`instead of m: ${expected} of [${names}] ${JSON.stringify(change)}`, () => {
    assertEquals(servedInstead({ ...target, ...change }, names), expected);
  });
}

Deno.test("facts change what the person left open, and nothing else", () => {
  const facts = { contextLength: 4096, takesTools: false };
  const fit = (more: Partial<LocalConfig>, previous: Parameters<typeof apply>[3] = {}) => {
    const local = localConfig({ model: "m", ...more });
    const { config, fitted } = apply({ local }, "other", facts, previous);
    const { model, contextLength, textTools } = config.local!;
    return [model, contextLength, textTools, fitted.textTools];
  };
  assertEquals(fit({}), ["other", 4096, true, true]);
  assertEquals(fit({ contextLength: 9000 }), ["other", 9000, true, true]);
  assertEquals(fit({ textTools: false }), ["other", 4096, false, undefined]);
  assertEquals(fit({ textTools: true }), ["other", 4096, true, undefined]);
  // Fitted for another model before: as if it were not set.
  const previous = { contextLength: 9000, textTools: true };
  assertEquals(fit(previous, previous), ["other", 4096, true, true]);
});

Deno.test("another model than the one that was named is told of once", async () => {
  const rows: [name: string, names: string[], isChosen: boolean, said: string[]][] = [
    ["m", ["a"], true, ["a, not m"]],
    ["a", ["a:latest"], true, []],
    ["m", ["a", "b"], true, ["a,b, not m"]],
    ["b", ["a", "b"], true, []],
    ["m", ["a"], false, []],
  ];
  for (const [model, names, isChosen, said] of rows) {
    await using server = serverSaying([], {
      "/v1/models": listed(...names),
      "/props": props(true),
    });
    const told: string[] = [];
    const onNotice = (notice: Notice) => {
      if (notice.code === "other_model") told.push(`${notice.models}, not ${notice.asked}`);
    };
    for (const tellsOther of [false, true]) {
      const baseUrl = `${server.url}/v1`;
      const agent = new CopilotAgent({ compat: compatConfig({ baseUrl, model }) }, ".");
      const fit = new ModelFit({ isChosen, asksRemote: false, reportsOthers: tellsOther });
      await fit.prepare(agent, { onNotice });
      fit.reset(agent);
      assertEquals(targetOf(agent.config).contextLength, undefined);
      await fit.prepare(agent, { onNotice });
      assertEquals(targetOf(agent.config).contextLength, 8192);
    }
    assertEquals(told, said);
  }
});
