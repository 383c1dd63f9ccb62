import { assertEquals, assertRejects } from "@std/assert";
import {
  checkLocalConnection,
  chooseLocalModel,
  listLocalModelAbilities,
  listLocalModels,
} from "../../src/backends/local/connection.ts";
import { BackendError } from "../../src/errors.ts";
import { type Handler, json, respond, serve, stall } from "../helpers/server.ts";

type LocalModel = Parameters<typeof chooseLocalModel>[0][number];

/** Answers by path; anything else is missing. */
function paths(routes: Record<string, Handler>): Handler {
  const missing = json({ error: { message: "File Not Found" } }, 404);
  return (request, peer) => (routes[request.path] ?? missing)(request, peer);
}

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
    ["garbage", { "/v1/models": json({ data: [{ id: 7 }] }) }],
    ["a page", { "/v1/models": respond(200, { "content-type": "text/html" }, "<html>") }],
  ];
  for (const [name, routes] of failures) {
    await t.step(name, async () => {
      await using server = serve(paths(routes));
      await assertRejects(() => listLocalModels({ host: server.url }), BackendError);
    });
  }
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

Deno.test("listLocalModelAbilities: what each model can do", async () => {
  const shows: Record<string, Handler> = {
    a: json({ capabilities: ["completion"] }),
    b: json({ capabilities: ["completion", "tools"] }),
    c: json({ details: {} }),
    d: respond(500),
    e: json({ capabilities: "all" }),
  };
  const models = Object.keys(shows).map((name) => ({ name }));
  await using server = serve(paths({
    "/api/tags": json({ models }),
    "/api/show": (request, peer) => shows[request.json().model]!(request, peer),
  }));
  assertEquals(await listLocalModelAbilities({ host: server.url }), [
    { name: "a", abilities: ["completion"] },
    { name: "b", abilities: ["completion", "tools"] },
    { name: "c", abilities: null },
    { name: "d", abilities: null },
    { name: "e", abilities: null },
  ]);
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
