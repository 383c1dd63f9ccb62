import { assertEquals, assertRejects } from "@std/assert";
import { type ListedModel, listModels } from "../../../src/models/ollama/model_list.ts";
import { BackendError } from "../../../src/errors.ts";
import { answering } from "./answering.ts";

const OLLAMA = {
  "/api/tags": {
    models: [
      { name: "a:8b", details: { parameter_size: "8.2B", quantization_level: "Q4_K_M" } },
      { name: "b:latest", details: { parameter_size: 1 } },
      { name: "nomic-embed-text:latest" },
      { name: "bad\nname" },
      { name: "-flag" },
    ],
  },
  "/api/ps": { models: [{ name: "b", context_length: 4096 }, "no"] },
};
// deno-fmt-ignore
const ROWS: [kind: string, isNative: boolean, answers: Record<string, unknown>, ListedModel[]][] = [
  ["Ollama", true, OLLAMA, [
    { name: "a:8b", size: "8.2B", quantization: "Q4_K_M", isLoaded: false },
    { name: "b:latest", contextLength: 4096, isLoaded: true },
  ]],
  ["Ollama that tells nothing but names", true, { "/api/tags": OLLAMA["/api/tags"] }, [
    { name: "a:8b", size: "8.2B", quantization: "Q4_K_M", isLoaded: false },
    { name: "b:latest", isLoaded: false },
  ]],
  ["llama.cpp", false, {
    "/v1/models": { data: [{ id: "/m/q 3.gguf", owned_by: "llamacpp", meta: { n_params: 8.2e9, n_ctx: 8192 } }] },
  }, [{ name: "/m/q 3.gguf", server: "llama.cpp", size: "8.2B", parameters: 8.2e9, contextLength: 8192 }]],
  ["a router of llama.cpp", false, {
    "/v1/models": { data: [{ id: "a", status: { value: "loaded" } }, { id: "b", status: { value: "unloaded" } }] },
  }, [{ name: "a", isLoaded: true }, { name: "b", isLoaded: false }]],
  // As its source has it: newer versions list a status, older ones have /running.
  ["llama-swap", false, {
    "/v1/models": {
      data: [
        { id: "a", owned_by: "llama-swap", meta: { llamaswap: { aliases: ["x"] } } },
        { id: "b", object: "model", owned_by: "llama-swap", name: "B", description: "small" },
      ],
    },
    "/running": { running: [{ model: "b", state: "ready" }, { model: "a", state: "starting" }] },
  }, [
    { name: "a", server: "llama-swap", isLoaded: false },
    { name: "b", server: "llama-swap", isLoaded: true },
  ]],
  ["llama-swap with states", false, {
    "/v1/models": { data: [{ id: "a", owned_by: "llama-swap", status: { value: "loaded" } }] },
  }, [{ name: "a", server: "llama-swap", isLoaded: true }]],
  ["vLLM", false, {
    "/v1/models": { data: [{ id: "q", owned_by: "vllm", max_model_len: 32768 }] },
  }, [{ name: "q", server: "vLLM", contextLength: 32768 }]],
  ["LM Studio", false, {
    "/v1/models": { data: [{ id: "q" }, { id: "v" }, { id: "e" }] },
    "/api/v0/models": {
      data: [
        {
          ...{ id: "q", type: "llm", state: "loaded", capabilities: ["tool_use"] },
          ...{ quantization: "4bit", max_context_length: 32768, loaded_context_length: 4096 },
        },
        { id: "v", type: "vlm", state: "not-loaded", max_context_length: 8192 },
        { id: "e", type: "embeddings", state: "not-loaded" },
      ],
    },
  }, [
    {
      ...{ name: "q", server: "LM Studio", contextLength: 4096, quantization: "4bit" },
      ...{ abilities: ["completion", "tools"], isLoaded: true },
    },
    { name: "v", server: "LM Studio", contextLength: 8192, abilities: ["completion", "vision"], isLoaded: false },
  ]],
];
for (const [kind, isNative, answers, models] of ROWS) {
  Deno.test(`the models of ${kind}, from GET requests alone`, async () => {
    const asked: string[] = [];
    assertEquals(await listModels(isNative, answering(answers, asked), false), models);
    assertEquals(asked.filter((request) => request.startsWith("POST ")), []);
  });
}

Deno.test("a list without end is refused", async () => {
  const piece = new TextEncoder().encode(" ".repeat(2 ** 20));
  const fetch = () => {
    let sent = 0;
    const pull = (to: ReadableStreamDefaultController) =>
      ++sent > 20 ? to.close() : to.enqueue(piece);
    const headers = { "content-type": "application/json" };
    return Promise.resolve(new Response(new ReadableStream({ pull }), { headers }));
  };
  const listed = () => listModels(false, { host: "http://localhost:1", fetch }, false);
  await assertRejects(listed, BackendError, "over 8 MiB");
});

Deno.test("a long list: 60 of its models are asked about", async () => {
  const names = Array.from({ length: 100 }, (_, i) => `m${i}`);
  const shown: string[] = [];
  const fetch = (url: string | URL | Request, init?: RequestInit) => {
    const { pathname } = new URL(String(url));
    if (pathname === "/api/show") shown.push(JSON.parse(String(init!.body)).model);
    return Promise.resolve(
      Response.json(pathname === "/api/tags" ? { models: names.map((name) => ({ name })) } : {}),
    );
  };
  const options = { host: "http://localhost:1", fetch };
  const listed = await listModels(true, options, true);
  assertEquals(listed.map(({ name }) => name), names);
  assertEquals(shown, names.slice(0, 60));
  assertEquals((await listModels(true, options, false)).length, 100);
  assertEquals(shown.length, 60);
});

Deno.test("a model without stated abilities is judged by its name, and a context by its number", async () => {
  const rows: [stated: unknown, given: object][] = [
    [1, { contextLength: 1 }],
    [0, {}],
    [0.5, {}],
    ["4096", {}],
  ];
  for (const [context_length, given] of rows) {
    const options = answering({
      "/api/tags": { models: [{ name: "m" }, { name: "nomic-embed-text" }] },
      "/api/ps": { models: [{ name: "m", context_length }] },
      "/api/show": { capabilities: [] },
    });
    assertEquals<object>(await listModels(true, options, true), [
      { name: "m", ...given, abilities: [], isLoaded: true },
    ]);
  }
});
