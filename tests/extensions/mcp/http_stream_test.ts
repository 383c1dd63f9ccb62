/** Answers of a server over HTTP, as JSON and as streams that break off and are taken up again. */
import { assertEquals, assertRejects } from "@std/assert";
import type { Carrier } from "../../../src/extensions/mcp/http.ts";
import { definitionsIn } from "../../../src/extensions/mcp/definition.ts";
import { HttpCarrier, HttpStatusError } from "../../../src/extensions/mcp/http.ts";
import { TokenAuth, TokenStore } from "../../../src/extensions/mcp/oauth.ts";
import { RpcError } from "../../../src/rpc/message.ts";

interface Asked {
  method: string;
  headers: Headers;
  // deno-lint-ignore no-explicit-any
  body: any;
}
type Answer = (asked: Asked, round: number) => Response;

interface Wired extends AsyncDisposable {
  carrier: Carrier;
  asked: Asked[];
  notices: string[];
  auth: TokenAuth;
}

function wire(answer: Answer): Wired {
  const asked: Asked[] = [];
  const notices: string[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const text = await request.text();
    const { method, headers } = request;
    const one = { method, headers, body: text === "" ? undefined : JSON.parse(text) };
    asked.push(one);
    return answer(one, asked.length);
  });
  const [definition] = definitionsIn(
    { web: { url: `http://127.0.0.1:${server.addr.port}/mcp`, headers: { "x-own": "1" } } },
    { scope: "user" },
  );
  const auth = new TokenAuth(definition!, new TokenStore(undefined));
  const carrier = new HttpCarrier(
    definition!,
    { onNotification: (method) => void notices.push(method) },
    auth,
  );
  return {
    ...{ carrier, asked, notices, auth },
    async [Symbol.asyncDispose]() {
      await carrier.end();
      await server.shutdown();
    },
  };
}

const reply = ({ body: { id } }: Asked, result: unknown = {}) => ({ jsonrpc: "2.0", id, result });
const json = (value: unknown, status = 200, headers: HeadersInit = {}) =>
  Response.json(value, { status, headers });
const text = (body: string, type: string, status = 200, headers: HeadersInit = {}) =>
  new Response(body, { status, headers: { "content-type": type, ...headers } });
const events = (...some: string[]) =>
  text(some.map((one) => `${one}\n\n`).join(""), "text/event-stream; charset=utf-8");
const data = (value: unknown, more = "") => `${more}data: ${JSON.stringify(value)}`;
const call = ({ carrier }: Wired) => carrier.peer.request("tools/call", { name: "é" });

Deno.test("mcp over HTTP: an answer is JSON or a stream, in which notices may come first", async () => {
  const notice = { jsonrpc: "2.0", method: "notifications/x" };
  await using plain = wire((asked) =>
    text(JSON.stringify(reply(asked, { a: 1 })), "Application/JSON; x")
  );
  assertEquals(await call(plain), { a: 1 });
  const { headers } = plain.asked[0]!;
  assertEquals(
    ["accept", "content-type", "x-own", "mcp-method", "mcp-name", "mcp-protocol-version"]
      .map((name) => headers.get(name)),
    [
      "application/json, text/event-stream",
      ...["application/json", "1", "tools/call", "=?base64?w6k=?=", "2026-07-28"],
    ],
  );
  await using stream = wire((asked) =>
    events(
      data(notice),
      data({ ...notice, method: "other" }, "event: ping\n"),
      "data:",
      data(reply(asked, { b: 1 })),
    )
  );
  assertEquals(await call(stream), { b: 1 });
  assertEquals(stream.notices, ["notifications/x"]);
  // What is named in a header depends on the method.
  await stream.carrier.peer.request("resources/read", { uri: "a:1" });
  await stream.carrier.peer.request("prompts/list", { name: "a" });
  assertEquals(stream.asked.map(({ headers }) => headers.get("mcp-name")), [
    ...["=?base64?w6k=?=", "a:1", null],
  ]);
});

Deno.test("mcp over HTTP: what is no answer is an error that says what it is", async () => {
  const rows: [answer: Answer, why: string][] = [
    [() => text("<p>hi</p>", "text/html"), "it answered with text/html, not JSON: <p>hi</p>"],
    [() => new Response("hi"), "it answered with text/plain, not JSON: hi"],
    [() => json({ jsonrpc: "2.0", id: 99, result: {} }), "its answer is not to this request"],
    [() => events(), "its answer broke off"],
    [() => text(" ".repeat(2 ** 25 + 1), "application/json"), "has over 33554432 bytes"],
    [() => events(":".repeat(2 ** 25 + 1)), "has over 33554432 bytes"],
    [() => text("no", "text/plain", 500), "answered 500: no"],
    [() => text("", "text/plain", 400), "answered 400"],
    [() => json({ error: "text" }, 400), 'answered 400: {"error":"text"}'],
    [() => text("", "text/plain", 302, { location: "/other" }), "/other, which is not followed"],
    [() => text("", "text/plain", 399), "redirects to nowhere:, which is not followed"],
    [() => text("<b>so</b>", "text/html", 403), "answered 403: so"],
  ];
  for (const [answer, why] of rows) {
    await using wired = wire(answer);
    await assertRejects(() => call(wired), Error, why);
    assertEquals(wired.auth.wanted, undefined);
  }
  await using coded = wire(() =>
    json({ error: { code: -32022, message: "no", data: { a: 1 } } }, 400)
  );
  const error = await assertRejects(() => call(coded), RpcError, "no");
  assertEquals([error.code, error.data], [-32022, { a: 1 }]);
  await using status = wire(() => text("so", "text/plain", 404));
  assertEquals((await assertRejects(() => call(status), HttpStatusError)).status, 404);
});

Deno.test("mcp over HTTP: the challenge of a refusal is kept for the sign-in", async () => {
  const rows: [status: number, challenge: string, why: string][] = [
    [401, "Bearer x", "it wants you to sign in"],
    [401, "", "it wants you to sign in"],
    [403, "bEARER y", "it wants a sign-in with more rights"],
  ];
  for (const [status, challenge, why] of rows) {
    const headers: HeadersInit = challenge ? { "www-authenticate": challenge } : {};
    await using wired = wire(() => text("no", "text/plain", status, headers));
    await assertRejects(() => call(wired), Error, why);
    assertEquals(wired.auth.wanted, challenge);
  }
});

Deno.test("mcp over HTTP: a session of an older server is named in each request, and given back", async () => {
  await using wired = wire(({ method, body }) => {
    if (method !== "POST") return text("", "text/plain", 405);
    if (body.id === undefined) return text("", "text/plain", 202);
    const session: Record<string, string> = body.method === "initialize"
      ? { "mcp-session-id": "s" }
      : { "mcp-session-id": "other" };
    return json({ jsonrpc: "2.0", id: body.id, result: {} }, 200, session);
  });
  const { carrier, asked } = wired;
  await carrier.peer.request("initialize", {});
  carrier.speaks!("2025-06-18");
  await carrier.peer.notify("notifications/other", {});
  await call(wired);
  await call(wired);
  await carrier.end();
  assertEquals(
    asked.map(({ method, headers }) => [
      method,
      headers.get("mcp-session-id"),
      headers.get("mcp-protocol-version"),
      headers.get("mcp-method"),
    ]),
    [
      ["POST", null, null, null],
      ["POST", "s", "2025-06-18", null],
      ["POST", "s", "2025-06-18", null],
      ["POST", "s", "2025-06-18", null],
      ["DELETE", "s", "2025-06-18", null],
    ],
  );
});

Deno.test("mcp over HTTP: a stream that breaks off is taken up where it was, five times at most", async () => {
  let first: Asked;
  const broken = "id: 7\nretry: 1\ndata: ";
  await using wired = wire((asked, round) => {
    if (asked.method === "DELETE") return text("", "text/plain");
    if (round === 1) first = asked;
    return round < 3 ? events(broken) : events(data(reply(first, { c: 1 })));
  });
  wired.carrier.speaks!("2025-06-18");
  assertEquals(await call(wired), { c: 1 });
  assertEquals(
    wired.asked.map(({ method, headers }) => [method, headers.get("last-event-id")]),
    [["POST", null], ["GET", "7"], ["GET", "7"]],
  );
  assertEquals(wired.asked[1]!.headers.get("accept"), "text/event-stream");
  await using endless = wire(() => events(broken));
  endless.carrier.speaks!("2025-06-18");
  await assertRejects(() => call(endless), Error, "its answer broke off");
  assertEquals(endless.asked.length, 6);
  // Without an id, or in a revision without sessions, it is over.
  await using nameless = wire(() => events("retry: 1\ndata: "));
  nameless.carrier.speaks!("2025-06-18");
  await assertRejects(() => call(nameless), Error, "its answer broke off");
  await using modern = wire(() => events(broken));
  await assertRejects(() => call(modern), Error, "its answer broke off");
  assertEquals([nameless.asked.length, modern.asked.length], [1, 1]);
  await using gone = wire((_, round) =>
    round === 1 ? events(broken) : text("no", "text/plain", 410)
  );
  gone.carrier.speaks!("2025-06-18");
  await assertRejects(() => call(gone), HttpStatusError, "answered 410: no");
});

Deno.test("mcp over HTTP: an older server is listened to, as long as it has a stream for that", async () => {
  const notice = data({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
  const listened = async (answers: Response[]) => {
    let round = 0;
    const over = Promise.withResolvers<void>();
    const wired = wire(({ method }) => {
      if (method !== "GET") return text("", "text/plain", 202);
      const answer = answers[round++];
      if (round >= answers.length) over.resolve();
      return answer ?? text("", "text/plain", 405);
    });
    wired.carrier.speaks!("2025-06-18");
    await wired.carrier.peer.notify("notifications/initialized", {});
    await over.promise;
    await wired[Symbol.asyncDispose]();
    return wired;
  };
  const event = `id: 1\nretry: 1\n${notice}`;
  const two = await listened([events(event), events(event), text("", "text/plain", 405)]);
  assertEquals(two.notices.length, 2);
  assertEquals(
    two.asked.filter(({ method }) => method === "GET").map(({ headers }) =>
      headers.get("last-event-id")
    ),
    [null, "1", "1"],
  );
  // A page is no stream, and a refusal with one is none.
  const cases = [text(`${event}\n\n`, "text/html"), text(`${event}\n\n`, "text/event-stream", 404)];
  for (const none of cases) {
    const { asked, notices } = await listened([none]);
    assertEquals([asked.map(({ method }) => method), notices], [["POST", "GET"], []]);
  }
});
