import { assertEquals, assertRejects } from "@std/assert";
import {
  askServer,
  checkLocalConnection,
  chooseLocalModel,
  isNative,
  listLocalModels,
  loadedModel,
  loadModel,
  localModelInfo,
} from "../../../src/models/ollama/connection.ts";
import { countedPrompt, servedModel } from "../../../src/models/ollama/served_model.ts";
import { BackendError } from "../../../src/errors.ts";
import { type Handler, json, reset, respond, serve, stall } from "../../helpers/server.ts";
import { answering } from "./answering.ts";

type LocalModel = Parameters<typeof chooseLocalModel>[0][number];

/** Answers by path: a value as JSON, a status, or a handler; anything else is missing. */
function paths(answers: Record<string, unknown>): Handler {
  const missing = json({ error: { message: "File Not Found" } }, 404);
  return (request, peer) => {
    const answer = answers[request.path];
    if (typeof answer === "function") return answer(request, peer);
    const handler = typeof answer === "number" ? respond(answer) : answer ? json(answer) : missing;
    return handler(request, peer);
  };
}

const page = (text: string) => respond(200, { "content-type": "text/html" }, text);
const login = respond(302, { location: "/login" });
const loading = json({ error: { message: "Loading model", type: "unavailable_error" } }, 503);

const closedUrl = () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  listener.close();
  return `http://127.0.0.1:${listener.addr.port}`;
};

Deno.test("checkLocalConnection: a server that answers is reachable", async () => {
  const rows: [name: string, answers: Record<string, unknown>, expected: boolean][] = [
    ["Ollama", { "/api/version": { version: "0.12" } }, true],
    ["an old one", { "/": page("Ollama is running") }, true],
    ["llama.cpp without its page", {}, true],
    ["llama.cpp while it loads", { "/api/version": loading }, true],
    ["a proxy with nothing behind it", { "/api/version": 502, "/": 502 }, false],
    ["a gateway that sends to its login", { "/api/version": login, "/": login }, false],
  ];
  for (const [name, answers, expected] of rows) {
    await using server = serve(paths(answers));
    assertEquals(await checkLocalConnection({ host: server.url }), expected, name);
    const asked = server.requests.map(({ method, path }) => `${method} ${path}`);
    const isKnown = expected && "/api/version" in answers;
    assertEquals(asked, isKnown ? ["GET /api/version"] : ["GET /api/version", "GET /"], name);
  }
  assertEquals(await checkLocalConnection({ host: closedUrl() }), false);
  await assertRejects(() => checkLocalConnection({ host: "ftp://x" }), TypeError);
  await using server = serve(stall());
  const reason = new Error("enough");
  const signal = AbortSignal.abort(reason);
  const thrown = await checkLocalConnection({ host: server.url, signal }).catch((e) => e);
  assertEquals(thrown, reason);
});

Deno.test("listLocalModels: names, from either list", async () => {
  const tags = { models: [{ name: "a:1b", model: "a:1b" }, { name: "b" }] };
  const list = { object: "list", data: [{ id: "c" }, { id: "d" }] };
  const rows: [answers: Record<string, unknown>, expected: string[]][] = [
    [{ "/api/tags": tags, "/v1/models": list }, ["a:1b", "b"]],
    [{ "/v1/models": list }, ["c", "d"]],
    [{ "/api/tags": { models: [] } }, []],
    [{ "/api/tags": { models: null } }, []], // as old versions say it
    [{ "/api/tags": {}, "/v1/models": list }, ["c", "d"]],
    [{ "/api/tags": [1], "/v1/models": list }, ["c", "d"]],
  ];
  for (const [answers, expected] of rows) {
    await using server = serve(paths(answers));
    assertEquals(await listLocalModels({ host: server.url }), expected);
  }
  const failures: [answers: Record<string, unknown>, says?: string][] = [
    [{}, "answered 404 at /v1/models: File Not Found"],
    [{ "/api/tags": [1], "/v1/models": [1] }, "answer to /v1/models must be an object"],
    [{ "/api/tags": { ok: true }, "/v1/models": { ok: true } }],
    [{ "/v1/models": { data: [{ id: 7 }] } }],
    [{ "/v1/models": page("<html>") }],
    [{ "/api/tags": 500, "/v1/models": 500 }],
  ];
  for (const [answers, says] of failures) {
    await using server = serve(paths(answers));
    await assertRejects(() => listLocalModels({ host: server.url }), BackendError, says);
    assertEquals(server.requests.map(({ path }) => path), ["/api/tags", "/v1/models"]);
  }
  // A connection that fails is not asked for the other list.
  await using server = serve(paths({ "/api/tags": reset(), "/v1/models": list }));
  for (const host of [server.url, closedUrl()]) {
    const error = await assertRejects(() => listLocalModels({ host }), BackendError);
    assertEquals(error.kind, "connection");
  }
});

Deno.test("a key for a proxy is sent along", async () => {
  await using server = serve(json({ models: [] }));
  await listLocalModels({ host: server.url, apiKey: "proxy-key" });
  assertEquals(server.requests[0]!.headers.get("authorization"), "Bearer proxy-key");
});

Deno.test("chooseLocalModel: the default, else the first that calls tools", () => {
  const model = (name: string, ...abilities: string[]): LocalModel => ({ name, abilities });
  const unknown: LocalModel = { name: "unknown", abilities: null };
  const rows: [LocalModel[], string | null][] = [
    [[], null],
    [[model("a", "completion"), model("qwen3:latest", "tools")], "qwen3:latest"],
    [[model("qwen3", "completion"), model("b", "tools")], "qwen3"],
    [[model("a", "completion"), unknown, model("qwen3:8b", "tools")], "qwen3:8b"],
    [[model("a", "completion"), unknown], "unknown"],
    [[model("a", "completion"), model("e", "embedding")], null],
  ];
  for (const [models, expected] of rows) assertEquals(chooseLocalModel(models), expected);
});

Deno.test("a server that loads is asked again only where somebody is told of it", async () => {
  const looks: unknown[] = [];
  const stop = new AbortController();
  const reason = new Error("enough");
  const options = {
    signal: stop.signal,
    onLoading(nextLookMs?: number) {
      looks.push(nextLookMs);
      stop.abort(reason);
    },
  };
  await using broken = serve(respond(500));
  await assertRejects(() => listLocalModels({ ...options, host: broken.url }), BackendError);
  await using server = serve(loading);
  await assertRejects(() => listLocalModels({ host: server.url }), BackendError, "Loading model");
  assertEquals(looks, []);
  const thrown = await listLocalModels({ ...options, host: server.url }).catch((error) => error);
  assertEquals([thrown, looks], [reason, [2_000]]);
});

Deno.test("localModelInfo: what Ollama says of a model", async () => {
  const whole = {
    model_info: { "general.architecture": "qwen3", "qwen3.context_length": 40_960.5 },
    details: { parameter_size: "8.2B", quantization_level: "Q4_K_M" },
    capabilities: ["tools"],
  };
  const parameters = 8_190_735_360;
  const counted = (count: unknown) => ({ model_info: { "general.parameter_count": count } });
  const rows: [shown: unknown, info: object][] = [
    [whole, { contextLength: 40_960, abilities: ["tools"], size: "8.2B", quantization: "Q4_K_M" }],
    [{ model_info: { "a.context_length": 256 } }, { contextLength: 256 }],
    [{ model_info: { "a.context_length": 255 } }, {}],
    [{ model_info: { "a.context_length": "4096" } }, {}],
    [counted(parameters), { parameters }],
    [counted(0), {}],
    [counted("8"), {}],
    [{ parameters: 'stop  "<s>"\nnum_ctx    256\n' }, { ownContext: 256 }],
    [{ parameters: "num_ctx 255" }, {}],
    [{ parameters: "temperature    0.6\nnum_ctx many" }, { statesSampling: true }],
    [{ parameters: "stop  temperature" }, {}],
    [{ details: { parameter_size: "", quantization_level: "" } }, {}],
    [{}, {}],
    [{ model_info: 7 }, {}],
    [404, {}],
  ];
  for (const [shown, info] of rows) {
    await using server = serve(paths({ "/api/show": shown }));
    assertEquals(await localModelInfo("m", { host: server.url }), info);
    const [{ method, text }] = server.requests as [typeof server.requests[0]];
    assertEquals([method, text], ["POST", '{"model":"m"}']);
  }
});

Deno.test("isNative: a server that does not say no has Ollama's paths", async () => {
  const studio = { error: "Unexpected endpoint or method. (GET /api/version)" };
  const rows = [
    ...[[{ version: "0.12" }, true], [{}, false], [404, false], [401, true], [500, true]],
    [studio, false],
  ];
  for (const [answer, native] of rows) {
    await using server = serve(paths({ "/api/version": answer }));
    assertEquals(await isNative({ host: server.url }), native);
  }
  assertEquals(await isNative({ host: closedUrl() }), true);
});

Deno.test("loadedModel: what the server lists, where it lists anything", async () => {
  const rows: [models: unknown, loaded: boolean | undefined][] = [
    [{ models: [{ name: "a" }, { name: "m:latest", context_length: 4096 }] }, true],
    [{ models: [{ name: "m:8b" }, null, "m"] }, false],
    [{ models: [] }, false],
    [{ models: "m" }, undefined],
    [[], undefined],
    [404, undefined],
  ];
  for (const [models, loaded] of rows) {
    await using server = serve(paths({ "/api/ps": models }));
    const found = await loadedModel("m", { host: server.url });
    assertEquals([found.isLoaded, found.contextLength], [loaded, loaded ? 4096 : undefined]);
  }
});

Deno.test("loadModel: whether the server did", async () => {
  for (const [answer, isDone] of [[{ done: true }, true], [404, false]]) {
    await using server = serve(paths({ "/api/generate": answer }));
    assertEquals(await loadModel("m", { host: server.url }), isDone);
    assertEquals(server.requests.map(({ text }) => text), ['{"model":"m"}']);
  }
});

Deno.test("countedPrompt: the tokens of a request, in the words of either server", async () => {
  const counts = "/v1/chat/completions/input_tokens";
  const rows: [answers: Record<string, unknown>, count: number | undefined, asked: string[]][] = [
    [{ [counts]: { input_tokens: 12 } }, 12, [counts]],
    [{ "/tokenize": { count: 1 } }, 1, [counts, "/tokenize"]],
    [{ [counts]: { input_tokens: 0 } }, undefined, [counts]],
    [{ [counts]: { input_tokens: "12" } }, undefined, [counts]],
    [{}, undefined, [counts, "/tokenize"]],
  ];
  for (const [answers, count, expected] of rows) {
    const asked: string[] = [];
    assertEquals(await countedPrompt({}, answering(answers, asked)), count);
    assertEquals(asked, expected.map((path) => `POST ${path}`));
  }
});

Deno.test("servedModel: whether the model sees images, and comes with sampling of its own", async () => {
  type Row = [own: object, props: object, said: object];
  const sampling = (params: object) => ({ default_generation_settings: { params } });
  const usual = { temperature: 0.8, top_k: 40, top_p: 0.95, min_p: 0.05, repeat_penalty: 1 };
  // deno-fmt-ignore
  const rows: Row[] = [
    [{}, { modalities: { vision: true } }, { seesImages: true }],
    // What llama.cpp says of the model as it runs counts more than the list.
    [{ capabilities: ["vision"] }, { modalities: { vision: false } }, { seesImages: false }],
    [{ architecture: { input_modalities: ["text", "image"] } }, {}, { seesImages: true }],
    [{ architecture: { input_modalities: ["text"] }, capabilities: ["vision"] }, {}, { seesImages: false }],
    [{ capabilities: ["completion", "multimodal"] }, {}, { seesImages: true }],
    [{ capabilities: ["vision"] }, {}, { seesImages: true }],
    [{ capabilities: ["completion"] }, {}, {}],
    [{}, sampling(usual), {}],
    // As a number of 32 bits.
    [{}, sampling({ ...usual, top_p: 0.949_999_988 }), {}],
    [{}, sampling({ ...usual, temperature: "0.6" }), {}],
    ...Object.entries(usual).map(([name, value]): Row => [{}, sampling({ ...usual, [name]: value + 0.01 }), { statesSampling: true }]),
    [{}, sampling({ top_k: 20 }), { statesSampling: true }],
  ];
  for (const [own, props, said] of rows) {
    const answers = { "/v1/models": { data: [{ id: "m", ...own }] }, "/props": props };
    const served = await servedModel("m", answering(answers));
    assertEquals<object>(served, { names: ["m"], ...said });
  }
});

Deno.test("servedModel: Ollama on its compatible endpoint is asked on its own paths", async () => {
  const none = { models: [] };
  const made = { model_info: { "a.context_length": 40_960 } };
  const loaded = { models: [{ name: "m:1b", context_length: 4096 }] };
  const tools = { abilities: ["tools"], isOllama: true };
  const other = { owner: "library" };
  const rows: [shown: unknown, loaded: unknown, served: object][] = [
    [{ capabilities: ["completion"], parameters: "num_ctx 8192" }, none, {
      ...{ abilities: ["completion"], ownContext: 8192, isOllama: true },
      ...{ contextLength: 8192, takesTools: false },
    }],
    [{ capabilities: ["tools"], ...made }, loaded, { ...tools, contextLength: 4096 }],
    [made, none, { isOllama: true }],
    // Servers that are not Ollama, though they name models so.
    [{}, none, other],
    [{ capabilities: ["tools"] }, {}, other],
  ];
  for (const [shown, loaded, served] of rows) {
    const at = answering({
      "/v1/models": { data: [{ id: "m:1b", owned_by: "library" }] },
      "/api/show": shown,
      "/api/ps": loaded,
    });
    assertEquals<object>(await servedModel("m:1b", at), { names: ["m:1b"], ...served });
  }
});

const props = (n_ctx: unknown, supports_tools?: boolean) => (
  { default_generation_settings: { n_ctx }, chat_template_caps: { supports_tools } }
);
const SMALL = { id: "m", meta: { n_ctx: 512, n_params: 134_515_008, ftype: "(guessed) Q8_0" } };
const BIG = { n_params: 8_190_735_360, ftype: "Q4_K - Medium" };
const LLAMA = { id: "m", owned_by: "llamacpp", context_length: 40_960, meta: BIG };
const VLLM = { id: "m", owned_by: "vllm", max_model_len: 8192, meta: { n_ctx: 4096 } };
const ROUTED = [["a", "unloaded"], ["b/m", "loaded"], ["m", "loaded"]].map(([id, value]) => (
  { id, status: { value } }
));

/** What a server lists, what is at `/props`, what that says of the model, and what is asked then. */
// deno-fmt-ignore
const STARTED: [data: unknown, props: unknown, served: string, asked?: string][] = [
  // vLLM says all at once.
  [[VLLM], props(2048), '{"names":["m"],"contextLength":8192,"owner":"vllm"}', ""],
  [
    [LLAMA],
    props(4096, false),
    '{"names":["m"],"contextLength":4096,"takesTools":false,"owner":"llamacpp","size":"8.2B",' +
    '"parameters":8190735360,"quantization":"Q4_K - Medium"}',
  ],
  [[SMALL], props(4096, true), '{"names":["m"],"contextLength":512,"size":"135M","parameters":134515008,"quantization":"Q8_0"}'],
  [[{ id: "m", meta: { n_params: 1e9 } }], {}, '{"names":["m"],"size":"1.0B","parameters":1e9}'],
  // Lengths that are none, and the least one.
  [[{ id: "m", context_length: 255, meta: { n_ctx: "4096" } }], {}, '{"names":["m"]}'],
  [[{ id: "m", context_length: 256 }], props(4096.5), '{"names":["m"],"contextLength":256}'],
  // Its only model, whatever its name, else the one of that name.
  [[{ id: "x", context_length: 4096 }], {}, '{"names":["x"],"contextLength":4096}'],
  [[{ id: "a", context_length: 512 }, { id: "m", context_length: 4096 }], {}, '{"names":["a","m"],"contextLength":4096}'],
  [[{ id: "a", context_length: 512 }, { id: "b" }], {}, '{"names":["a","b"]}'],
  [[], props(4096), '{"names":[]}', ""],
  ["m", props(4096), '{"names":[]}', ""],
  [[null, 7, { id: "m" }], {}, '{"names":["m"]}'],
  // A router names the loaded ones first.
  [ROUTED, props(4096), '{"names":["b/m","m","a"],"contextLength":4096}', "/props?model=m"],
];

Deno.test("servedModel: what a server says of the model that it was started with", async () => {
  const loadings: unknown[] = [];
  const onLoading = (ms?: number) => loadings.push(ms);
  for (const [data, props, served, expected = "/props"] of STARTED) {
    const asked: string[] = [];
    const answers = { "/v1/models": { data }, "/props": props, "/props?model=m": props };
    const found = await servedModel("m", { ...answering(answers, asked), onLoading });
    assertEquals<object>(found, JSON.parse(served));
    assertEquals(asked.join(" "), `/v1/models ${expected}`.trim());
  }
  assertEquals(await servedModel("m", answering({})), { names: [] });
  assertEquals(loadings, []);
  // A router that has to load it first.
  const data = [{ id: "a:b/m", status: { value: "unloaded" } }];
  const router = answering({ "/v1/models": { data }, "/props?model=a%3Ab%2Fm": props(4096) });
  const { contextLength } = await servedModel("a:b/m", { ...router, onLoading });
  assertEquals([contextLength, loadings], [4096, [undefined]]);
});

Deno.test("llama-swap: a model that runs is asked below its path, another is not loaded; aliases are names", async () => {
  const asked: string[] = [];
  const data = [
    { id: "a", owned_by: "llama-swap", meta: { llamaswap: { aliases: ["x"] } } },
    // llama.cpp repeats the name.
    { id: "b", owned_by: "llama-swap", aliases: ["b"] },
  ];
  const at = answering({
    "/v1/models": { data },
    "/running": { running: [{ model: "a", state: "ready" }] },
    "/upstream/a/props": props(8192),
  }, asked);
  const { names, contextLength, owner } = await servedModel("x", at);
  assertEquals([names, contextLength, owner], [["a", "b", "x"], 8192, "llama-swap"]);
  assertEquals((await servedModel("b", at)).contextLength, undefined);
  assertEquals(asked.filter((path) => path.startsWith("/upstream")), ["/upstream/a/props"]);
});

Deno.test("an optional path that did not answer in time twice is not asked again at once", async () => {
  const asked: string[] = [];
  let isBusy = true;
  const fetch = (input: unknown, { signal }: RequestInit = {}) => {
    const { pathname } = new URL(String(input));
    asked.push(pathname);
    if (!isBusy) return Promise.resolve(new Response("{}"));
    return new Promise<Response>((_, reject) =>
      signal!.addEventListener("abort", () => reject(signal!.reason))
    );
  };
  const options = { host: "http://localhost:2", fetch: fetch as typeof globalThis.fetch };
  const ask = (path: string, isOptional = true) =>
    askServer(path, options, { timeoutMs: 10, isOptional }).catch(() => {});
  for (const path of ["/props", "/hangs", "/hangs", "/hangs"]) await ask(path);
  isBusy = false;
  for (const path of ["/props", "/hangs"]) await ask(path);
  await ask("/hangs", false);
  assertEquals(asked.join(" "), "/props /hangs /hangs /props /hangs");
});
