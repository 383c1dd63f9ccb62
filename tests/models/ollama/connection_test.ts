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

type LocalModel = Parameters<typeof chooseLocalModel>[0][number];

/** Answers by path; anything else is missing. */
function paths(routes: Record<string, Handler>): Handler {
  const missing = json({ error: { message: "File Not Found" } }, 404);
  return (request, peer) => (routes[request.path] ?? missing)(request, peer);
}

const loading = json({ error: { message: "Loading model", type: "unavailable_error" } }, 503);

const closedUrl = () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  listener.close();
  return `http://127.0.0.1:${listener.addr.port}`;
};

Deno.test("checkLocalConnection: a server that answers is reachable", async (t) => {
  const rows: [string, Record<string, Handler>, boolean, string[]][] = [
    ["Ollama", { "/api/version": json({ version: "0.12" }) }, true, ["/api/version"]],
    [
      "an old one",
      { "/": respond(200, { "content-type": "text/plain" }, "Ollama is running") },
      true,
      ["/api/version", "/"],
    ],
    ["llama.cpp without its page", {}, true, ["/api/version", "/"]],
    [
      "llama.cpp with its page",
      { "/": respond(200, { "content-type": "text/html" }, "<html>") },
      true,
      ["/api/version", "/"],
    ],
    [
      "a proxy with nothing behind it",
      { "/api/version": respond(502), "/": respond(502) },
      false,
      ["/api/version", "/"],
    ],
    [
      "a gateway that sends to its login",
      {
        "/api/version": respond(302, { location: "/login" }),
        "/": respond(302, { location: "/login" }),
      },
      false,
      ["/api/version", "/"],
    ],
    ["llama.cpp while it loads", { "/api/version": loading }, true, ["/api/version"]],
  ];
  for (const [name, routes, expected, asked] of rows) {
    await t.step(name, async () => {
      await using server = serve(paths(routes));
      assertEquals(await checkLocalConnection({ host: server.url }), expected);
      assertEquals(
        server.requests.map(({ method, path }) => `${method} ${path}`),
        asked.map((p) => `GET ${p}`),
      );
    });
  }
  await t.step("nothing listens", async () => {
    assertEquals(await checkLocalConnection({ host: closedUrl() }), false);
  });
  await t.step("the host is no URL", async () => {
    await assertRejects(() => checkLocalConnection({ host: "ftp://x" }), TypeError);
  });
  await t.step("aborted", async () => {
    await using server = serve(stall());
    const reason = new Error("enough");
    const signal = AbortSignal.abort(reason);
    const thrown = await checkLocalConnection({ host: server.url, signal }).catch((e) => e);
    assertEquals(thrown, reason);
  });
});

Deno.test("listLocalModels: names, from either list", async (t) => {
  const tags = json({ models: [{ name: "a:1b", model: "a:1b" }, { name: "b" }] });
  const list = json({ object: "list", data: [{ id: "c" }, { id: "d" }] });
  const rows: [string, Record<string, Handler>, string[]][] = [
    ["Ollama", { "/api/tags": tags, "/v1/models": list }, ["a:1b", "b"]],
    ["llama.cpp", { "/v1/models": list }, ["c", "d"]],
    ["none", { "/api/tags": json({ models: [] }) }, []],
    ["none, as an old one says it", { "/api/tags": json({ models: null }) }, []],
    ["no list", { "/api/tags": json({}), "/v1/models": list }, ["c", "d"]],
    ["a list of another kind", { "/api/tags": json([1]), "/v1/models": list }, ["c", "d"]],
  ];
  for (const [name, routes, expected] of rows) {
    await t.step(name, async () => {
      await using server = serve(paths(routes));
      assertEquals(await listLocalModels({ host: server.url }), expected);
    });
  }
  const failures: [string, Record<string, Handler>][] = [
    ["neither", {}],
    ["JSON at each path", { "/api/tags": json({ ok: true }), "/v1/models": json({ ok: true }) }],
    ["garbage", { "/v1/models": json({ data: [{ id: 7 }] }) }],
    ["a page", { "/v1/models": respond(200, { "content-type": "text/html" }, "<html>") }],
    ["broken", { "/api/tags": respond(500), "/v1/models": respond(500) }],
  ];
  for (const [name, routes] of failures) {
    await t.step(name, async () => {
      await using server = serve(paths(routes));
      await assertRejects(() => listLocalModels({ host: server.url }), BackendError);
      assertEquals(server.requests.map(({ path }) => path), ["/api/tags", "/v1/models"]);
    });
  }
  await t.step("the last refusal is told in its own words", async () => {
    await using server = serve(paths({}));
    const says = "answered 404 at /v1/models: File Not Found";
    await assertRejects(() => listLocalModels({ host: server.url }), BackendError, says);
  });
  await t.step("an answer of another kind is named", async () => {
    await using server = serve(json([1]));
    const asked = () => listLocalModels({ host: server.url });
    await assertRejects(asked, BackendError, "answer to /v1/models must be an object");
  });
  await t.step("a connection that fails is not asked for the other list", async () => {
    await using server = serve(paths({ "/api/tags": reset(), "/v1/models": list }));
    const error = await assertRejects(() => listLocalModels({ host: server.url }), BackendError);
    assertEquals(error.kind, "connection");
  });
  await t.step("nothing listens", async () => {
    const error = await assertRejects(() => listLocalModels({ host: closedUrl() }), BackendError);
    assertEquals(error.kind, "connection");
  });
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
  const rows: [shown: Handler, info: object][] = [
    [
      json({
        model_info: { "general.architecture": "qwen3", "qwen3.context_length": 40_960.5 },
        details: { parameter_size: "8.2B", quantization_level: "Q4_K_M" },
        capabilities: ["tools"],
      }),
      { contextLength: 40_960, abilities: ["tools"], size: "8.2B", quantization: "Q4_K_M" },
    ],
    [json({ model_info: { "a.context_length": 256 } }), { contextLength: 256 }],
    [json({ model_info: { "a.context_length": 255 } }), {}],
    [json({ model_info: { "a.context_length": "4096" } }), {}],
    [json({ model_info: { "general.parameter_count": 8_190_735_360 } }), {
      parameters: 8_190_735_360,
    }],
    [json({ model_info: { "general.parameter_count": 0 } }), {}],
    [json({ model_info: { "general.parameter_count": "8" } }), {}],
    [json({ parameters: 'stop  "<s>"\nnum_ctx    256\n' }), { ownContext: 256 }],
    [json({ parameters: "num_ctx 255" }), {}],
    [json({ parameters: "temperature    0.6\nnum_ctx many" }), { statesSampling: true }],
    [json({ parameters: "stop  temperature" }), {}],
    [json({ details: { parameter_size: "", quantization_level: "" } }), {}],
    [json({}), {}],
    [json({ model_info: 7 }), {}],
    [respond(404), {}],
  ];
  for (const [shown, info] of rows) {
    await using server = serve(paths({ "/api/show": shown }));
    assertEquals(await localModelInfo("m", { host: server.url }), info);
    const [{ method, text }] = server.requests as [typeof server.requests[0]];
    assertEquals([method, text], ["POST", '{"model":"m"}']);
  }
});

Deno.test("isNative: a server that does not say no has Ollama's paths", async () => {
  const rows: [version: Handler, native: boolean][] = [
    [json({ version: "0.12" }), true],
    [json({}), false],
    [respond(404), false],
    [respond(401), true],
    [respond(500), true],
  ];
  for (const [version, native] of rows) {
    await using server = serve(version);
    assertEquals(await isNative({ host: server.url }), native);
  }
  assertEquals(await isNative({ host: closedUrl() }), true);
});

Deno.test("loadedModel: what the server lists, where it lists anything", async () => {
  const rows: [models: Handler, loaded: boolean | undefined][] = [
    [json({ models: [{ name: "a" }, { name: "m:latest", context_length: 4096 }] }), true],
    [json({ models: [{ name: "m:8b" }, null, "m"] }), false],
    [json({ models: [] }), false],
    [json({ models: "m" }), undefined],
    [json([]), undefined],
    [respond(404), undefined],
  ];
  for (const [models, loaded] of rows) {
    await using server = serve(paths({ "/api/ps": models }));
    const found = await loadedModel("m", { host: server.url });
    assertEquals([found.isLoaded, found.contextLength], [loaded, loaded ? 4096 : undefined]);
  }
});

Deno.test("loadModel: whether the server did", async () => {
  for (const [answer, isDone] of [[json({ done: true }), true], [respond(404), false]] as const) {
    await using server = serve(paths({ "/api/generate": answer }));
    assertEquals(await loadModel("m", { host: server.url }), isDone);
    assertEquals(server.requests.map(({ text }) => text), ['{"model":"m"}']);
  }
});

/** A server that answers by path, 404 for all others; `asked` gets the paths. */
function answering(answers: Record<string, unknown>, asked: string[] = []) {
  const fetch = (url: string | URL | Request) => {
    const { pathname } = new URL(String(url));
    asked.push(pathname);
    const found = answers[pathname];
    return Promise.resolve(found ? Response.json(found) : new Response("", { status: 404 }));
  };
  return { host: "http://localhost:1", fetch };
}

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
    assertEquals(asked, expected);
  }
});

Deno.test("servedModel: whether the model sees images, and comes with sampling of its own", async () => {
  type Row = [own: object, props: object, said: object];
  const sampling = (params: object) => ({ default_generation_settings: { params } });
  const usual = { temperature: 0.8, top_k: 40, top_p: 0.95, min_p: 0.05, repeat_penalty: 1 };
  const rows: Row[] = [
    [{}, { modalities: { vision: true } }, { seesImages: true }],
    // What llama.cpp says of the model as it runs counts more than the list.
    [{ capabilities: ["vision"] }, { modalities: { vision: false } }, { seesImages: false }],
    [{ architecture: { input_modalities: ["text", "image"] } }, {}, { seesImages: true }],
    [{ architecture: { input_modalities: ["text"] }, capabilities: ["vision"] }, {}, {
      seesImages: false,
    }],
    [{ capabilities: ["completion", "multimodal"] }, {}, { seesImages: true }],
    [{ capabilities: ["vision"] }, {}, { seesImages: true }],
    [{ capabilities: ["completion"] }, {}, {}],
    [{}, sampling(usual), {}],
    // As a number of 32 bits.
    [{}, sampling({ ...usual, top_p: 0.949_999_988 }), {}],
    [{}, sampling({ ...usual, temperature: "0.6" }), {}],
    ...Object.entries(usual).map(([name, value]): Row => [
      {},
      sampling({ ...usual, [name]: value + 0.01 }),
      { statesSampling: true },
    ]),
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
  const other = { owner: "library" };
  const rows: [shown: unknown, loaded: unknown, served: object][] = [
    [{ capabilities: ["completion"], parameters: "num_ctx 8192" }, none, {
      ...{ abilities: ["completion"], ownContext: 8192, isOllama: true },
      ...{ contextLength: 8192, takesTools: false },
    }],
    [{ capabilities: ["tools"], ...made }, loaded, {
      ...{ abilities: ["tools"], isOllama: true, contextLength: 4096 },
    }],
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

Deno.test("servedModel: what a server says of the model that it was started with", async (t) => {
  const props = (n_ctx: unknown, supports_tools?: boolean) => ({
    default_generation_settings: { n_ctx },
    chat_template_caps: { supports_tools },
  });
  type Row = [
    name: string,
    data: unknown,
    props: unknown,
    served: Awaited<ReturnType<typeof servedModel>>,
    asked: string[],
  ];
  const rows: Row[] = [
    [
      "vLLM says all at once",
      [{ id: "m", owned_by: "vllm", max_model_len: 8192, meta: { n_ctx: 4096 } }],
      props(2048),
      { names: ["m"], contextLength: 8192, owner: "vllm" },
      [],
    ],
    [
      "llama.cpp",
      [{
        id: "m",
        owned_by: "llamacpp",
        context_length: 40_960,
        meta: { n_params: 8_190_735_360, ftype: "Q4_K - Medium" },
      }],
      props(4096, false),
      {
        names: ["m"],
        contextLength: 4096,
        takesTools: false,
        owner: "llamacpp",
        size: "8.2B",
        parameters: 8_190_735_360,
        quantization: "Q4_K - Medium",
      },
      ["/props"],
    ],
    [
      "a small model, its kind guessed",
      [{ id: "m", meta: { n_ctx: 512, n_params: 134_515_008, ftype: "(guessed) Q8_0" } }],
      props(4096, true),
      {
        names: ["m"],
        contextLength: 512,
        size: "135M",
        parameters: 134_515_008,
        quantization: "Q8_0",
      },
      ["/props"],
    ],
    ["a billion", [{ id: "m", meta: { n_params: 1e9 } }], {}, {
      names: ["m"],
      size: "1.0B",
      parameters: 1e9,
    }, ["/props"]],
    ["lengths that are none", [{ id: "m", context_length: 255, meta: { n_ctx: "4096" } }], {}, {
      names: ["m"],
    }, ["/props"]],
    ["the least length", [{ id: "m", context_length: 256 }], props(4096.5), {
      names: ["m"],
      contextLength: 256,
    }, ["/props"]],
    ["its only model, whatever its name", [{ id: "x", context_length: 4096 }], {}, {
      names: ["x"],
      contextLength: 4096,
    }, ["/props"]],
    [
      "the one of that name",
      [{ id: "a", context_length: 512 }, { id: "m", context_length: 4096 }],
      {},
      { names: ["a", "m"], contextLength: 4096 },
      ["/props"],
    ],
    ["several of other names", [{ id: "a", context_length: 512 }, { id: "b" }], {}, {
      names: ["a", "b"],
    }, ["/props"]],
    ["no models", [], props(4096), { names: [] }, []],
    ["no list", "m", props(4096), { names: [] }, []],
    ["things that are no models", [null, 7, { id: "m" }], {}, { names: ["m"] }, ["/props"]],
    [
      "a router, with the loaded ones first",
      [
        { id: "a", status: { value: "unloaded" } },
        { id: "b/m", status: { value: "loaded" } },
        { id: "m", status: { value: "loaded" } },
      ],
      props(4096),
      { names: ["b/m", "m", "a"], contextLength: 4096 },
      ["/props?model=m"],
    ],
  ];
  for (const [name, data, settings, served, asked] of rows) {
    await t.step(name, async () => {
      const answers = paths({
        "/v1/models": json({ data }),
        "/props": json(settings),
        "/props?model=m": json(settings),
      });
      await using server = serve(answers);
      const loadings: unknown[] = [];
      const onLoading = (ms?: number) => loadings.push(ms);
      assertEquals(await servedModel("m", { host: server.url, onLoading }), served);
      assertEquals(server.requests.map(({ path }) => path), ["/v1/models", ...asked]);
      assertEquals(loadings, []);
    });
  }
  await t.step("a router that has to load it first", async () => {
    const data = [{ id: "a:b/m", status: { value: "unloaded" } }];
    await using server = serve(paths({
      "/v1/models": json({ data }),
      "/props?model=a%3Ab%2Fm": json(props(4096)),
    }));
    const loadings: unknown[] = [];
    const onLoading = (ms?: number) => loadings.push(ms);
    const { contextLength } = await servedModel("a:b/m", { host: server.url, onLoading });
    assertEquals([contextLength, loadings], [4096, [undefined]]);
  });
  await t.step("a server without either path", async () => {
    await using server = serve(paths({}));
    assertEquals(await servedModel("m", { host: server.url }), { names: [] });
  });
});

Deno.test("llama-swap: a model that runs is asked below its path, another is not loaded; aliases are names", async () => {
  const asked: string[] = [];
  const answers: Record<string, unknown> = {
    "/v1/models": {
      data: [
        { id: "a", owned_by: "llama-swap", meta: { llamaswap: { aliases: ["x"] } } },
        { id: "b", owned_by: "llama-swap" },
      ],
    },
    "/running": { running: [{ model: "a", state: "ready" }] },
    "/upstream/a/props": { default_generation_settings: { n_ctx: 8192 } },
  };
  const swap: typeof fetch = (url) => {
    const { pathname } = new URL(String(url));
    asked.push(pathname);
    return Promise.resolve(Response.json(answers[pathname] ?? {}));
  };
  const at = { host: "http://localhost:1", fetch: swap };
  const { names, contextLength, owner } = await servedModel("x", at);
  assertEquals([names, contextLength, owner], [["a", "b", "x"], 8192, "llama-swap"]);
  assertEquals((await servedModel("b", at)).contextLength, undefined);
  assertEquals(asked.filter((path) => path.startsWith("/upstream")), ["/upstream/a/props"]);
});

Deno.test("a path that did not answer in time is asked again once its server answers, a second time not", async () => {
  const asked: string[] = [];
  let isBusy = true;
  const fetch = (input: unknown, { signal }: RequestInit = {}) => {
    const { pathname } = new URL(String(input));
    asked.push(pathname);
    if (!isBusy && pathname !== "/hangs") {
      return Promise.resolve(new Response("{}", { status: pathname === "/none" ? 404 : 200 }));
    }
    return new Promise<Response>((_, reject) =>
      signal!.addEventListener("abort", () => reject(signal!.reason))
    );
  };
  const options = { host: "http://localhost:2", fetch: fetch as typeof globalThis.fetch };
  const ask = (path: string, isOptional = true, host = options.host) =>
    askServer(path, { ...options, host }, { timeoutMs: 10, isOptional }).catch(() => {});
  /** The paths that are asked when all of `paths` are wanted. */
  const askedOf = async (...paths: string[]) => {
    asked.length = 0;
    for (const path of paths) await ask(path);
    return asked.join(" ");
  };
  // Only an optional answer that did not come counts.
  await ask("/props", false);
  assertEquals(await askedOf("/props", "/props", "/hangs"), "/props /hangs");
  isBusy = false;
  await ask("/v1/models", true, "http://localhost:3");
  assertEquals(await askedOf("/props", "/hangs"), "");
  assertEquals(await askedOf("/none", "/props", "/hangs", "/hangs"), "/none /props /hangs");
  assertEquals(await askedOf("/props", "/hangs"), "/props");
});
