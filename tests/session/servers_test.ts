import { assertEquals, assertRejects } from "@std/assert";
import { BackendError } from "../../src/errors.ts";
import { askServerAt, findServers, tryKey } from "../../src/models/servers.ts";
import { strictServer } from "../helpers/strict_server.ts";

const { signal } = new AbortController();
/** Long enough for any machine: what a test leaves unanswered has a limit of its own. */
const OPTIONS = { limitMs: 20_000, accessTo: () => ({}), signal };

/** A server on loopback that answers with `answer`, and its address. */
function listen(
  answer: (request: Request) => Response | Promise<Response>,
  hostname = "127.0.0.1",
) {
  const server = Deno.serve({ hostname, port: 0, onListen() {} }, answer);
  return { server, url: `http://${hostname}:${server.addr.port}` };
}

Deno.test("servers are found side by side, with what their lists say; others are left out", async () => {
  await using ollama = strictServer([], { models: ["a", "b"] });
  const compat = listen((request) =>
    request.url.endsWith("/v1/models")
      ? Response.json({ data: [{ id: "q", max_model_len: 8192 }, { id: "\x1b[2J" }] })
      : new Response("no", { status: 404 })
  );
  const page = listen(() => new Response("<html>", { headers: { "content-type": "text/html" } }));
  const empty = listen((request) =>
    request.url.endsWith("/api/version")
      ? Response.json({ version: "1" })
      : Response.json({ models: [] })
  );
  try {
    const closed = "http://127.0.0.1:1";
    const found = await findServers(
      [closed, ollama.url, compat.url, page.url, empty.url, ollama.url],
      OPTIONS,
    );
    assertEquals(found, [
      {
        ...{ url: ollama.url, state: "answers", isNative: true },
        models: [{ name: "a", isLoaded: false }, { name: "b", isLoaded: false }],
      },
      {
        ...{ url: compat.url, state: "answers", isNative: false },
        models: [{ name: "q", contextLength: 8192 }],
      },
      { url: empty.url, state: "answers", isNative: true, models: [] },
    ]);
    assertEquals(ollama.requests, []);
  } finally {
    for (const { server } of [compat, page, empty]) await server.shutdown();
  }
});

Deno.test("a server that does not answer in time is slow, and a stop ends the look at once", async () => {
  const over = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const { server, url } = listen(async () => {
    asked.resolve();
    await over.promise;
    return new Response("late");
  });
  try {
    assertEquals(await findServers([url], { ...OPTIONS, limitMs: 50 }), [
      { url, state: "slow", isNative: false, models: [] },
    ]);
    const stop = new AbortController();
    const looking = findServers([url], { ...OPTIONS, signal: stop.signal });
    await asked.promise;
    stop.abort(new Error("stopped"));
    assertEquals(await looking.catch((error) => error.message), "stopped");
  } finally {
    over.resolve();
    await server.shutdown();
  }
});

Deno.test("R-12 requests for lists are GET, and carry the key that was given for the address alone", async () => {
  const seen: [method: string, key: string | null][] = [];
  const { server, url } = listen((request) => {
    seen.push([request.method, request.headers.get("authorization")]);
    return Response.json({ data: [{ id: "q" }] });
  });
  try {
    await findServers([url], OPTIONS);
    assertEquals(new Set(seen.map((one) => one.join(" "))), new Set(["GET "]));
    seen.length = 0;
    await findServers([url], {
      ...OPTIONS,
      accessTo: (of) => ({ apiKey: of === url ? "mine" : "" }),
    });
    assertEquals(new Set(seen.map((one) => one.join(" "))), new Set(["GET Bearer mine"]));
  } finally {
    await server.shutdown();
  }
});

Deno.test("a server that was named says why it lists no models", async () => {
  const ask = (url: string, apiKey = "", limitMs = 20_000) =>
    askServerAt(url, { apiKey, limitMs, signal });
  const rows: [answer: () => Response | Promise<Response>, kind: string, says: RegExp][] = [
    [() => Response.json({ error: "no key" }, { status: 401 }), "auth", /no key/],
    [() => new Response("none", { status: 404 }), "protocol", /404/],
    [() => new Response("<html>"), "protocol", /HTML|JSON/],
  ];
  for (const [answer, kind, says] of rows) {
    const { server, url } = listen(answer);
    const error = await assertRejects(() => ask(url), BackendError);
    assertEquals([error.kind, says.test(error.message)], [kind, true], error.message);
    await server.shutdown();
  }
  const closed = await assertRejects(() => ask("http://127.0.0.1:1"), BackendError);
  assertEquals(closed.kind, "connection");
  const over = Promise.withResolvers<void>();
  const { server, url } = listen(() => over.promise.then(() => new Response("late")));
  const late = await assertRejects(() => ask(url, "", 50), BackendError);
  assertEquals([late.kind, late.message], ["timeout", `${url} does not answer within 50 ms`]);
  over.resolve();
  await server.shutdown();
});

const outside = Deno.networkInterfaces().find(({ family, address }) =>
  family === "IPv4" && !address.startsWith("127.")
)?.address;

Deno.test(
  `nothing is sent to another address than a loopback one${
    outside === undefined ? " (skipped: no other address)" : ""
  }`,
  { ignore: outside === undefined },
  async () => {
    let requests = 0;
    const { server, url } = listen(() => {
      requests++;
      return Response.json({ data: [{ id: "q" }] });
    }, outside);
    try {
      assertEquals(await findServers([url], OPTIONS), [
        { url, state: "skipped", isNative: true, models: [] },
      ]);
      assertEquals(requests, 0);
    } finally {
      await server.shutdown();
    }
  },
);

Deno.test("SEC-02 a key is tried with a request for the list of models, as its API takes it", async () => {
  const seen: (string | null)[][] = [];
  const { server, url } = listen(({ method, url, headers }) => {
    const key = headers.get("x-api-key") ?? headers.get("authorization");
    seen.push([method, new URL(url).pathname, key, headers.get("anthropic-version")]);
    const error = { type: "authentication_error", message: "invalid x-api-key" };
    return key === "bad"
      ? Response.json({ type: "error", error }, { status: 401 })
      : Response.json({ data: [] });
  });
  try {
    const limits = { limitMs: 20_000, signal };
    await tryKey("hosted", { baseUrl: url, apiKey: "good" }, limits);
    await tryKey("compat", { baseUrl: `${url}/v1`, apiKey: "good" }, limits);
    const error = await assertRejects(
      () => tryKey("hosted", { baseUrl: url, apiKey: "bad" }, limits),
      BackendError,
    );
    assertEquals(error.kind, "auth");
    assertEquals(seen, [
      ["GET", "/v1/models", "good", "2023-06-01"],
      ["GET", "/v1/models", "Bearer good", null],
      ["GET", "/v1/models", "bad", "2023-06-01"],
    ]);
  } finally {
    await server.shutdown();
  }
});
