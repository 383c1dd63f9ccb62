import { assert, assertEquals, assertRejects } from "@std/assert";
import { BackendError } from "../../src/errors.ts";
import { JsonReader, limitText, requestJson, requestStream } from "../../src/wire/http.ts";
import { type Handler, json, raw, reset, respond, serve, sse } from "../helpers/server.ts";
import { forEverySplit } from "../helpers/split.ts";
import { ask, leakTest as test, options, STREAM, textReader } from "./http_helper.ts";

const OK = sse(["a", "[DONE]"]);
/** The head of a stream, to which more headers can be added. */
const STARTED = STREAM.slice(0, -2);
const KEY = "sk-proj-8243719650abcdef+/x";

const post = (url: string) => (
  { url: `${url}/v1/chat`, body: '{"é":1}', headers: { authorization: `Bearer ${KEY}` } }
);

/** The error that a single attempt at each handler's answer ends in. */
async function failureOf(handler: Handler, settings = {}): Promise<BackendError> {
  await using server = serve(handler);
  const asked = options({ maxRetries: 0, ...settings });
  return await assertRejects(() => ask(post(server.url), asked), BackendError);
}

test("requestStream sends the request once, with few headers, and reuses the connection", async () => {
  await using server = serve(OK);
  for (let i = 0; i < 3; i++) {
    let type = "";
    const answer = await requestStream(post(server.url), options(), (contentType) => {
      type = contentType;
      return textReader();
    });
    assertEquals([answer, type], [["a"], "text/event-stream"]);
  }
  assertEquals([server.requests.length, server.connections], [3, 1]);
  const { method, path, text, headers } = server.requests[0]!;
  assertEquals([method, path, text], ["POST", "/v1/chat", '{"é":1}']);
  const { accept: _accept, host: _host, ...sent } = Object.fromEntries(headers);
  assertEquals(sent, {
    "accept-encoding": "gzip,br",
    "accept-language": "*",
    "authorization": `Bearer ${KEY}`,
    "content-length": "8",
    "content-type": "application/json",
    "user-agent": "copilot/0.1.0",
  });
});

test("a server that refuses is awaited only if it has answered before", async () => {
  const delays = [];
  for (const answers of [false, true]) {
    const given = options({ awaitsRestart: true });
    const server = serve(OK);
    const send = () => ask(post(server.url), given);
    if (answers) await send();
    await server[Symbol.asyncDispose]();
    assertEquals((await assertRejects(send, BackendError)).kind, "connection");
    delays.push(given.delays);
  }
  assertEquals(delays, [[200], [1_000, 2_000, 4_000, 8_000, 8_000, 8_000]]);
});

test("requestJson asks with GET and gives the value", async () => {
  await using server = serve(json({ models: ["é"] }));
  assertEquals(await requestJson({ url: `${server.url}/api/tags` }, options()), { models: ["é"] });
  assertEquals(server.requests[0]!.method, "GET");
  assertEquals(server.requests[0]!.headers.get("content-type"), null);
});

test("a user name and a password in the address go as Basic authorization", async () => {
  const rows: [userinfo: string, sent: string][] = [
    ["us%C3%A9r:p%40ss", "us\xc3\xa9r:p@ss"],
    ["user", "user:"],
    [":pass", ":pass"],
  ];
  for (const [userinfo, sent] of rows) {
    await using server = serve(json({}));
    const url = server.url.replace("//", `//${userinfo}@`);
    await requestJson({ url, headers: { authorization: "Bearer key" } }, options());
    const { headers, path } = server.requests[0]!;
    assertEquals([headers.get("authorization"), path], [`Basic ${btoa(sent)}`, "/"]);
  }
});

test("an optional request that finds nothing does not read the answer", async () => {
  const words = [[true, "has nothing there", "request"], [
    false,
    "no such page",
    "protocol",
  ]] as const;
  for (const [isOptional, says, kind] of words) {
    await using server = serve(respond(404, {}, "no such page"));
    const asked = () => requestJson({ url: server.url, isOptional }, options({ maxRetries: 0 }));
    const error = await assertRejects(asked, BackendError, says);
    assertEquals([error.kind, error.status], [kind, 404]);
  }
});

test("NET-11 requestJson rejects what is no answer", async () => {
  const rows: [handler: Handler, kind: string, says: string][] = [
    [json({ error: { message: "boom", type: "server_error" } }), "server", "boom"],
    [respond(200, { "content-type": "application/json" }, '{"a":'), "incomplete", "broke off"],
    [respond(200, { "content-type": "application/json" }, "Hello\x1b[31m"), "protocol", '"Hello"'],
    [respond(200, { "content-type": "text/html" }, "<title>Log in</title>"), "protocol", "Log in"],
    [respond(200, { "content-type": "text/plain" }, '{"a":'), "protocol", 'server: "{"a":"'],
    [raw("HTTP/1.1 200 OK\r\n\r\n"), "protocol", "the body is empty"],
  ];
  for (const [handler, kind, says] of rows) {
    await using server = serve(handler);
    const asked = () => requestJson({ url: server.url }, options({ maxRetries: 0 }));
    const error = await assertRejects(asked, BackendError);
    assertEquals([error.kind, error.status], [kind, 200], error.message);
    assert(error.message.includes(says), error.message);
    assert(error.message.includes("127.0.0.1"), error.message);
  }
});

test("NET-10 a failure that may pass is repeated, with a notice, until it passes", async () => {
  const silent = [raw(), reset()];
  const failures: Handler[] = [
    ...[408, 409, 429, 500, 502, 503, 504, 529].map((status) => respond(status, {}, "busy")),
    ...silent,
    sse([{ error: { message: "busy", type: "overloaded_error" } }]),
    raw(STREAM, "data: a\n\n"),
    raw(`${STARTED}content-length: 99\r\n\r\ndata: a\n\n`),
    raw(`${STARTED}transfer-encoding: chunked\r\n\r\nff\r\ndata: a\n\n`),
    reset(`${STREAM}data: a\n\n`),
  ];
  for (const [i, failure] of failures.entries()) {
    await using server = serve(failure, failure, OK);
    const asked = options();
    assertEquals(await ask(post(server.url), asked), ["a"]);
    assertEquals(server.requests.length, 3);
    // Deno 2.9.5 itself repeats a request that was not answered at all, once.
    const most = silent.includes(failure) && asked.delays.length === 1 ? 1 : 2;
    assertEquals(asked.delays, [1_000, 2_000].slice(0, most), `${i}`);
    assertEquals(asked.reasons.length, most);
    assert(asked.reasons.every((reason) => reason.includes("127.0.0.1")), asked.reasons[0]);
    assertEquals(server.requests.findLast(({ text }) => text !== "")!.text, '{"é":1}');
  }
});

test("NET-10 requestJson asks again, too", async () => {
  const busy = json({ error: { message: "busy", type: "overloaded_error" } });
  await using server = serve(busy, json({ a: 1 }));
  assertEquals(await requestJson(post(server.url), options()), { a: 1 });
});

Deno.test("a limit is told in milliseconds, seconds or minutes", () => {
  const rows: [ms: number, text: string][] = [
    [999, "999 ms"],
    [1_000, "1 s"],
    [2_500, "2.5 s"],
    [119_000, "119 s"],
    [120_000, "2 min"],
    [200_000, "3.3 min"],
    [600_000, "10 min"],
  ];
  for (const [ms, text] of rows) assertEquals(limitText(ms), text);
});

test("NET-03 NET-04 nothing is repeated once output was shown", async () => {
  const rows: [handler: Handler, kind: string, shown: string[]][] = [
    [sse(["a", { error: { message: "busy", type: "overloaded_error" } }]), "server", ["a"]],
    [raw(STREAM, "data: a\n\ndata: b\n\n"), "incomplete", ["a", "b"]],
    [reset(STREAM, "data: a\n\n"), "incomplete", ["a"]],
    [raw(`${STARTED}transfer-encoding: chunked\r\n\r\n9\r\ndata: a\n\n\r\nff`), "incomplete", [
      "a",
    ]],
  ];
  for (const [handler, kind, expected] of rows) {
    await using server = serve(handler, OK);
    const shown: string[] = [];
    const asked = () => ask(post(server.url), options(), (text) => shown.push(text));
    const error = await assertRejects(asked, BackendError);
    assertEquals([error.kind, shown, server.requests.length], [kind, expected, 1], error.message);
    assertEquals(error.retryable, true);
  }
});

test("NET-11 pages of proxies and other text are refused in one line", async () => {
  const rows: [handler: Handler, kind: string, says: string][] = [
    [
      respond(200, { "content-type": "text/html" }, "<html><title>Log\x1b[2J in</title>"),
      "protocol",
      '200 (text/html), which is not an answer of a model server: "Log in"',
    ],
    [respond(200, {}, ""), "protocol", "the body is empty"],
    [respond(204), "protocol", "204"],
    [respond(200, { "content-type": "a/octet-stream" }, "\x1b]0;x\x07\xff"), "protocol", "octet-s"],
    [raw(STREAM), "incomplete", "200, text/event-stream, from 127.0.0.1"],
    [raw("HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n"), "protocol", "101"],
  ];
  for (const [handler, kind, says] of rows) {
    const error = await failureOf(handler);
    assertEquals(error.kind, kind, error.message);
    assert(error.message.includes(says), error.message);
    assert(error.message.includes("127.0.0.1:"), error.message);
    // deno-lint-ignore no-control-regex
    assert(!/[\x00-\x1f\x7f-\x9f]/.test(error.message), error.message);
  }
});

test("SEC-03 a redirect is refused, and nothing reaches its target", async () => {
  await using target = serve(OK);
  for (const status of [301, 302, 303, 307, 308]) {
    const error = await failureOf(respond(status, { location: `${target.url}/v1?t=${KEY}` }));
    assertEquals(error.kind, "redirect");
    const says = `redirects to ${target.url}/v1 (${status}), which is not followed`;
    assert(error.message.includes(says));
  }
  assertEquals(target.connections, 0);
});

test("SEC-02 a key that is echoed is in no error and no notice", async () => {
  const echo: Handler = (request, peer) =>
    respond(500, {}, `${request.head} ${btoa(`Bearer ${KEY}`)} ${"x".repeat(300)}`)(request, peer);
  const page: Handler = (request, peer) => {
    const key = request.headers.get("authorization")!;
    return respond(200, { "content-type": "text/html" }, key)(request, peer);
  };
  const broken: Handler = (_request, peer) =>
    sse([{ error: { message: `bad ${KEY}`, type: "overloaded_error" } }])(_request, peer);
  const location: Handler = respond(307, { location: `https://other.example/${KEY}` });
  for (const handler of [echo, page, broken, location]) {
    await using server = serve(handler);
    const asked = options({ maxRetries: 1 });
    const error = await assertRejects(() => ask(post(server.url), asked), BackendError);
    const { message, serverMessage, stack } = error;
    const all = JSON.stringify([asked.reasons, message, serverMessage, Deno.inspect(error), stack]);
    assert(!all.includes("8243719650"), all);
    assert(!all.includes(btoa(KEY).slice(4, 20)), all);
    assert(all.includes("[redacted]"), all);
  }
});

test("what is no HTTP, or too much of it, is one clear error", async () => {
  const answers = [
    "SSH-2.0-OpenSSH_9.6\r\n",
    `HTTP/1.1 200 OK\r\n${"x-a: b\r\n".repeat(500)}\r\n`,
    `HTTP/1.1 200 OK\r\nx-a: ${"b".repeat(2e6)}\r\n\r\n`,
    "HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n",
  ];
  for (const answer of answers) {
    const error = await failureOf(raw(answer), { maxRetries: 4 });
    assertEquals([error.kind, error.retryable], ["protocol", false], error.message);
    assert(error.message.includes("does not answer in HTTP"), error.message);
  }
});

test("unusual but correct HTTP is read", async () => {
  const gzip = new Response(
    new Blob(["data: a\n\ndata: [DONE]\n\n"]).stream().pipeThrough(new CompressionStream("gzip")),
  );
  const zipped = new Uint8Array(await gzip.arrayBuffer());
  const headers = { "content-type": "text/event-stream", "content-encoding": "gzip" };
  assertEquals((await failureOf(respond(200, headers, "data: a\n\n"))).kind, "incomplete");
  // deno-fmt-ignore
  const rows: Handler[] = [
    respond(200, headers, zipped),
    raw("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n", STREAM, "data: a\n\ndata: [DONE]\n\n"),
    raw("HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: a\n\ndata: [DONE]"),
    raw("HTTP/1.1 200 OK\r\n\r\ndata: a\n\ndata: [DONE]\n\n"),
    raw("HTTP/1.1 200 OK\r\ncontent-type: TEXT/Event-Stream; charset=UTF-8\r\n\r\ndata: a\r\rdata: [DONE]\r\r"),
    raw(
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4;x=y\r\ndata\r\n1\r\n:\r\n12\r\n a\n\ndata: [DONE]\n\n\r\n0\r\nx-trailer: 1\r\n\r\n",
    ),
    respond(201, { "content-type": "text/plain" }, "data: a\n\ndata: [DONE]\n\n"),
    // A body that is longer than it says, and what follows the terminator.
    raw("HTTP/1.1 200 OK\r\ncontent-length: 23\r\n\r\ndata: a\n\ndata: [DONE]\n\nHTTP/1.1 500 Surprise\r\n\r\n"),
    raw(STREAM, "data: a\n\ndata: [DONE]\n\n", "data: b\n\ndata: {]\n\ndata: [DONE]\n\n"),
    raw(STREAM, "data: a\n\ndata: [DONE]\n\n", '{"error":"late"}'),
  ];
  for (const handler of rows) {
    await using server = serve(handler);
    assertEquals(await ask(post(server.url)), ["a"]);
  }
});

test("an injected fetch is used, and its failures are explained", async () => {
  const seen: unknown[] = [];
  const fetch: typeof globalThis.fetch = (input, init) => {
    seen.push([input, init?.method, init?.redirect]);
    return Promise.resolve(new Response("data: a\n\ndata: [DONE]\n\n"));
  };
  const url = "http://127.0.0.1:9/x";
  assertEquals(await ask({ url }, options({ fetch })), ["a"]);
  assertEquals(seen, [[url, "GET", "manual"]]);
  const failing = options({ fetch: () => Promise.reject(new TypeError("no way")) });
  const says = "Cannot reach http://127.0.0.1:9: no way";
  const error = await assertRejects(() => requestJson({ url }, failing), BackendError, says);
  assertEquals([error.kind, error.retryable], ["connection", false]);
});

test("an answer is not read faster than it is taken, and an abort does not wait", async () => {
  const events = Array.from({ length: 2_000 }, (_, i) => `${i} ${"x".repeat(500)}`);
  for (const abort of [false, true]) {
    await using server = serve(sse([...events, "[DONE]"]));
    const stop = new AbortController();
    let busy: PromiseWithResolvers<void> | undefined;
    let waits = 0;
    const reader = textReader((text) => assert(busy === undefined, `read while busy: ${text}`));
    const asked = requestStream(
      post(server.url),
      options({
        signal: stop.signal,
        ready() {
          // At first, the answer begins; later, all of it waits.
          if (++waits !== 3) return undefined;
          busy = Promise.withResolvers();
          setTimeout(() => {
            if (abort) return stop.abort();
            const { resolve } = busy!;
            busy = undefined;
            resolve();
          }, 50);
          return busy.promise;
        },
      }),
      () => reader,
    );
    if (abort) await assertRejects(() => asked, DOMException, "aborted");
    else assertEquals(await asked, events);
    assert(waits >= 3);
  }
});

Deno.test("NET-01 JsonReader drops a byte order mark at the start alone, at every split", () => {
  forEverySplit(new TextEncoder().encode('\u{feff}{"a":"\u{feff}é"}'), (pieces) => {
    const reader = new JsonReader((value) => value);
    for (const piece of pieces) reader.push(piece);
    assertEquals(reader.end(), { a: "\u{feff}é" });
  });
  const reader = new JsonReader((value) => value);
  for (const piece of ['"a', '\u{feff}b"']) reader.push(new TextEncoder().encode(piece));
  assertEquals(reader.end(), "a\u{feff}b");
});
