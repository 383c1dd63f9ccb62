import { assertEquals, assertMatch } from "@std/assert";
import { CopilotAgent } from "../../src/agent/agent.ts";
import { compatConfig, type CopilotConfig, hostedConfig, localConfig } from "../../src/config.ts";
import { BackendError } from "../../src/errors.ts";
import { ModelFit, queryModel } from "../../src/session/fit_model.ts";
import type { Check, Notice } from "../../src/session/data.ts";
import { checkServerAndModel, serverNotice } from "../../src/session/server_checks.ts";
import { targetOf } from "../../src/models/target.ts";
import { modelNames } from "../../src/models/model_server.ts";
import type { TurnEvent } from "../../src/types/event.ts";

const { signal } = new AbortController();

/** What a server answers, by path: an object, or a status; 404 for other paths. */
type Answers = Record<string, unknown>;

/** A server that answers `answers`, and the paths that it was asked for. */
function serverOf(answers: Answers) {
  const asked: string[] = [];
  const options = { hostname: "127.0.0.1", port: 0, onListen() {} };
  const server = Deno.serve(options, async (request) => {
    const path = new URL(request.url).pathname;
    asked.push(path);
    await request.text();
    const answer = answers[path] ?? 404;
    return typeof answer === "number"
      ? new Response("", { status: answer })
      : Response.json(answer);
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    asked,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

const listed = (...ids: string[]) => ({ "/v1/models": { data: ids.map((id) => ({ id })) } });
const props = (n_ctx: number, supports_tools = true) => ({
  "/props": { default_generation_settings: { n_ctx }, chat_template_caps: { supports_tools } },
});
const ollama = (tokens: number, ...names: string[]): Answers => ({
  "/api/version": { version: "1" },
  "/api/tags": { models: names.map((name) => ({ name, capabilities: ["completion", "tools"] })) },
  "/api/show": {
    capabilities: ["completion", "tools", "vision"],
    details: { parameter_size: "8B", quantization_level: "Q4" },
    model_info: { "x.context_length": tokens },
  },
  "/api/ps": { models: names.map((name) => ({ name })) },
});

const NO_MODEL = { "/api/show": 404 };

type Kind = "local" | "chat" | "compat";
const configs: Record<Kind, (url: string) => CopilotConfig> = {
  local: (host) => ({ local: localConfig({ host, model: "m", maxRetries: 0 }) }),
  chat: (host) => ({ local: localConfig({ host, model: "m", useCompat: true, maxRetries: 0 }) }),
  compat: (url) => ({ compat: compatConfig({ baseUrl: `${url}/v1`, model: "m", maxRetries: 0 }) }),
};

const shown = ({ name, status, text, advice }: Check) => {
  const more = advice ? [advice] : [];
  return [
    name,
    status,
    text.replace(/\d+ m?s$|[\d.]+ m?s(?=[;,])/, "N").replace(/127[\d.:]+/, "HOST"),
    ...more,
  ].join("|");
};

const SMALL = "Long files will not fit: give the model more context, or use another model";
const TOOLLESS =
  "Tools are described in the prompt and calls are parsed from its text; a model trained for tools does better";
const ANSWERS = "server|ok|answers after N";

const LOOKS: [
  name: string,
  kind: Kind,
  answers: Answers,
  isChosen: boolean,
  checks: string[],
  model?: string,
][] = [
  ["a model that is there", "local", { ...listed("m"), ...ollama(40_000, "m") }, true, [
    ...[ANSWERS, "model|ok|m (8B, Q4): tools, vision"],
    "context|ok|32768 tokens, set with every request",
  ]],
  ["a model by its tag", "local", ollama(8192, "m:latest"), true, [
    ...[ANSWERS, "model|ok|m (8B, Q4): tools, vision"],
    "context|ok|8192 tokens, set with every request",
  ]],
  ["a small context", "local", ollama(8191, "m"), true, [
    ...[ANSWERS, "model|ok|m (8B, Q4): tools, vision"],
    `context|note|8191 tokens, set with every request|${SMALL}`,
  ]],
  ["a model that nobody named and is not there", "local", ollama(8192, "other"), false, [
    ...[ANSWERS, "model|ok|other (8B, Q4): tools, vision"],
    "context|ok|8192 tokens, set with every request",
  ], "other"],
  [
    "a model that was named and is not there",
    "local",
    { ...ollama(8192, "a", "b"), ...NO_MODEL },
    true,
    [
      ...[
        ANSWERS,
        "model|fail|the server has no model m; it has: a, b|Get it with ollama pull m, or choose another with /model",
      ],
    ],
  ],
  ["no model at all", "local", { ...ollama(8192), ...NO_MODEL }, false, [
    ...[
      ANSWERS,
      "model|fail|the server lists no models|Get it with ollama pull m",
    ],
  ]],
  [
    "a model that knows no tools",
    "local",
    { ...ollama(8192, "m"), "/api/show": { capabilities: ["completion"] } },
    true,
    [ANSWERS, `model|note|m: its template does not support tools|${TOOLLESS}`],
  ],
  ["a server that says little", "local", { ...ollama(8192, "m"), "/api/show": {} }, true, [
    ...[ANSWERS, "model|ok|m"],
  ]],
  ["no Ollama", "local", { ...listed("m"), ...props(8192) }, true, [
    "server|note|answers after N; not Ollama, so its OpenAI-compatible endpoint is used",
    ...["model|ok|m", "context|ok|8192 tokens"],
  ]],
  ["neither Ollama nor models", "local", {}, true, [
    ...[ANSWERS, "model|note|m; the server does not list its models"],
  ]],
  ["a compatible server", "compat", { ...listed("m"), ...props(8000) }, true, [
    ...[ANSWERS, "model|ok|m", `context|note|8000 tokens|${SMALL}`],
  ]],
  ["a compatible server without tools", "chat", { ...listed("m"), ...props(8192, false) }, true, [
    ...[
      ANSWERS,
      `model|note|m: its template does not support tools|${TOOLLESS}`,
      "context|ok|8192 tokens",
    ],
  ]],
  ["the one model that is there, under another name", "compat", listed("a"), true, [
    ...[ANSWERS, "model|note|the server's only model is a, not m"],
  ]],
  ["one of several models, of which none was named", "compat", listed("a", "b"), false, [
    ...[ANSWERS, "model|ok|a"],
  ], "a"],
  ["a name that several models do not have", "compat", listed("a", "b"), true, [
    ...[
      ANSWERS,
      "model|fail|the server has no model m; it has: a, b|Choose one of them with /model",
    ],
  ]],
  ["a server of pages", "compat", { "/": "page", "/v1/models": "page" }, true, [
    "server|note|answers after N, but lists no models: it may not be a model server",
    "model|note|m; the server does not list its models",
  ]],
  ["a server that fails", "local", { "/api/version": 503, "/": 503 }, true, [
    "server|fail|HOST answered 503 (text/plain) with an empty body",
  ]],
  ["a server that lists nothing", "compat", { "/v1/models": 404 }, true, [
    ...[ANSWERS, "model|note|m; the server does not list its models"],
  ]],
  ["a server that refuses the key", "compat", { "/v1/models": 401 }, true, [
    ANSWERS,
    'model|fail|HOST answered 401 (text/plain) with an empty body|Check the key: put it under "keys" in config.json for the next session (OPENAI_API_KEY is not sent over http)',
  ]],
];
for (const [name, kind, answers, isChosen, checks, model = "m"] of LOOKS) {
  Deno.test(`a look at a server (${kind}): ${name}`, async () => {
    await using server = serverOf(answers);
    const agent = new CopilotAgent(configs[kind](server.url), ".");
    const fit = new ModelFit({ isChosen, asksRemote: true });
    const found = await Array.fromAsync(checkServerAndModel({ agent, fit, signal, ui: "editor" }));
    assertEquals(found.map(shown), checks);
    assertEquals(targetOf(agent.config).name, model);
    const again = new CopilotAgent(configs[kind](server.url), ".");
    const fresh = new ModelFit({ isChosen, asksRemote: true });
    const greeted = await serverNotice({ agent: again, fit: fresh, signal, ui: "editor" });
    const failed = checks.findIndex((check) => check.includes("|fail|"));
    assertEquals(greeted!.checks.length, failed < 0 ? checks.length : failed + 1);
    assertEquals(greeted!.instead, model === "m" ? undefined : model);
  });
}

Deno.test("a look at a server: nobody there is a failure, the hosted one is not looked at", async () => {
  const nobody = new CopilotAgent(configs.local("http://127.0.0.1:1"), ".");
  const fit = new ModelFit({ isChosen: true, asksRemote: true });
  const { checks } = (await serverNotice({ agent: nobody, fit, signal, ui: "editor" }))!;
  assertMatch(
    shown(checks[0]!),
    /^server[|]fail[|]Nothing answers at HOST[|]Start a server with `OLLAMA_HOST=127.0.0.1:1 ollama serve`, /,
  );
  const hosted = new CopilotAgent({ hosted: hostedConfig({ apiKey: "k", model: "h" }) }, ".");
  assertEquals(await serverNotice({ agent: hosted, fit, signal, ui: "editor" }), undefined);
  const asked = () => Promise.reject(new Error("a request"));
  const settings = hostedConfig({ apiKey: "k", fetch: asked });
  const failure = await modelNames({ hosted: settings }).catch((error) => error.message);
  assertEquals(failure, "choose one with /model NAME");
  const found = await Array.fromAsync(
    checkServerAndModel({ agent: hosted, fit, signal, ui: "editor" }),
  );
  assertEquals(found.map(shown), [...["server|ok|checked by the requests below", "model|ok|h"]]);
});

Deno.test("what a server says of a model is learnt; one that says nothing teaches nothing", async () => {
  const rows: [Kind, Answers, expected: unknown, loadings?: number][] = [
    ["local", ollama(4096, "m"), { contextLength: 4096, seesImages: true, thinks: false }],
    ["local", ollama(40_000, "m"), { contextLength: 32_768, seesImages: true, thinks: false }],
    ["local", { ...ollama(1, "m"), "/api/show": { capabilities: [] } }, {}],
    [
      "local",
      {
        "/api/show": {
          ...{ capabilities: ["completion"], parameters: 'stop "<x>"\ntemperature    0.6' },
          model_info: { "general.parameter_count": 8.2e9, "x.context_length": 40_960 },
        },
        "/api/ps": { models: [{ name: "m:latest", context_length: 65_536 }] },
      },
      {
        ...{ contextLength: 65_536, parameters: 8.2e9, statesSampling: true },
        ...{ seesImages: false, takesTools: false, thinks: false },
      },
    ],
    ["local", {}, undefined],
    ["local", ollama(4096), { contextLength: 4096, seesImages: true, thinks: false }, 1],
    ["chat", { ...listed("m"), ...props(4096, false) }, {
      ...{ names: ["m"], contextLength: 4096, takesTools: false },
    }],
    ["chat", listed("a"), { names: ["a"] }],
    ["chat", listed(), undefined],
    ["chat", { "/v1/models": 500 }, undefined],
  ];
  for (const [kind, answers, expected, loadings = 0] of rows) {
    await using server = serverOf(answers);
    let count = 0;
    const target = targetOf(configs[kind](server.url));
    assertEquals(await queryModel(target, { signal, onLoading: () => void count++ }), expected);
    assertEquals(count, loadings);
    await queryModel(target, { signal });
    assertEquals(
      server.asked.filter((path) => path === "/api/ps").length,
      kind === "local" ? 2 : 0,
    );
  }
});

Deno.test("that the server loads the model is told, and of which one where that is known", async () => {
  const router = {
    ...{ "/v1/models": { data: [{ id: "a", status: { value: "unloaded" } }] } },
    ...props(8192),
  };
  const rows: [Kind, Answers, isChosen: boolean, loading: string][] = [
    ["local", { ...ollama(8192, "m"), "/api/ps": { models: [] } }, false, "m"],
    ["chat", router, false, "its model"],
    ["chat", router, true, "m"],
  ];
  for (const [kind, answers, isChosen, model] of rows) {
    await using server = serverOf(answers);
    const agent = new CopilotAgent(configs[kind](server.url), ".");
    const events: unknown[] = [];
    const onEvent = (event: { type: string }) => events.push(event);
    await new ModelFit({ isChosen, asksRemote: true }).prepare(agent, { signal, onEvent });
    assertEquals(events[0], { type: "loading", model });
    // Without somebody to tell, it is asked all the same.
    await new ModelFit({ isChosen, asksRemote: true }).prepare(agent);
    assertEquals(agent.config.local!.contextLength, 8192);
  }
});

Deno.test("a look tells once that the server loads a model", async () => {
  const unloaded = { data: [{ id: "a", status: { value: "unloaded" } }] };
  for (const isChosen of [true, false]) {
    await using server = serverOf({ "/v1/models": unloaded, ...props(8192) });
    const agent = new CopilotAgent(configs.chat(server.url), ".");
    const fit = new ModelFit({ isChosen, asksRemote: true });
    let count = 0;
    const onLoading = () => void count++;
    if (isChosen) agent.setModel("a");
    await Array.fromAsync(checkServerAndModel({ agent, fit, signal, ui: "editor", onLoading }));
    assertEquals(count, 1);
  }
});

const failure = (kind: "request" | "model_not_found" | "server", status: number) =>
  new BackendError("It failed", { kind, status });

Deno.test("a turn is mended by what the same local server has, and otherwise not", async () => {
  const rows: [Kind, Answers, isChosen: boolean, error: Error, codes: string[] | undefined][] = [
    ["local", { ...listed("m"), ...props(8192) }, true, failure("request", 404), [
      "compatible_endpoint",
    ]],
    ["local", listed("m"), true, failure("request", 400), undefined],
    ["local", listed("m"), true, new Error("x"), undefined],
    ["local", ollama(8192, "a"), false, failure("model_not_found", 404), ["model_instead"]],
    ["local", ollama(8192, "a"), true, failure("model_not_found", 404), undefined],
    ["local", ollama(8192, "a"), false, failure("server", 500), undefined],
    ["local", ollama(8192), false, failure("model_not_found", 404), undefined],
    ["chat", { ...ollama(8192, "a") }, false, failure("model_not_found", 404), ["model_instead"]],
    ["compat", listed("a"), false, failure("model_not_found", 404), undefined],
  ];
  for (const [kind, answers, isChosen, error, codes] of rows) {
    await using server = serverOf(answers);
    const agent = new CopilotAgent(configs[kind](server.url), ".");
    const said: string[] = [];
    const fit = new ModelFit({ isChosen, asksRemote: true });
    const onNotice = ({ code }: Notice) => void said.push(code);
    const isMended = await fit.recover(agent, error, { signal, onNotice });
    assertEquals([isMended, said], [codes !== undefined, codes ?? []], `${kind} ${error.message}`);
    if (codes?.[0] === "model_instead") assertEquals(targetOf(agent.config).name, "a");
    // It is fitted anew.
    if (isMended && kind === "local") assertEquals(agent.config.local!.contextLength, 8192);
  }
});

Deno.test("a near server is asked for each message, and what changed there is used; a turn that was stopped asks nothing", async () => {
  let context = 8192;
  const served = { ...listed("a", "b"), ...props(context, false) };
  await using server = serverOf(served);
  const agent = new CopilotAgent(configs.chat(server.url), ".");
  const fit = new ModelFit({ isChosen: false, asksRemote: false });
  const said: unknown[] = [];
  const onEvent = ({ type }: TurnEvent) => said.push(type);
  const onNotice = ({ code }: Notice) => said.push(code);
  await fit.prepare(agent, { signal: AbortSignal.abort(), onEvent, onNotice });
  assertEquals([server.asked, said], [[], []]);
  await fit.prepare(agent, { signal, onEvent, onNotice });
  assertEquals([targetOf(agent.config).name, said], ["a", ["model_instead", "text_tools"]]);
  const { length } = server.asked;
  const { config } = agent;
  await fit.prepare(agent, { signal, onEvent, onNotice });
  assertEquals([server.asked.length, agent.config === config], [length + 2, true]);
  // It was started again, with more context.
  Object.assign(served, props(context = 16_384, false));
  await fit.prepare(agent, { signal, onEvent, onNotice });
  assertEquals(targetOf(agent.config).contextLength, context);
  agent.setModel("b");
  await fit.prepare(agent, { signal, onEvent, onNotice });
  assertEquals(server.asked.length > length, true);
  assertEquals(agent.config.local!.textTools, true);
});

Deno.test("a server over http is asked by any name, below the path of its API", async () => {
  const { "/v1/models": list } = listed("served");
  await using server = serverOf({ "/api/v1/models": list, ...listed("other") });
  const baseUrl = "http://gpu:8000/api/v1";
  const near: typeof fetch = (url, init) =>
    fetch(`${url}`.replace("http://gpu:8000", server.url), init);
  const agent = new CopilotAgent({ compat: compatConfig({ baseUrl, fetch: near }) }, ".");
  await new ModelFit({ isChosen: false, asksRemote: false }).prepare(agent);
  assertEquals(targetOf(agent.config).name, "served");
});
