import { assertEquals, assertRejects } from "@std/assert";
import { getPinned } from "../../src/wire/pinned_get.ts";
import { type Handler, raw, respond, serve } from "../helpers/server.ts";
import { authority, tlsServer } from "../helpers/tls_server.ts";

type Options = Partial<Parameters<typeof getPinned>[1]>;
/** Gets `url` from a server on this machine, to whatever address it connects; the addresses, too. */
async function get(url: string, port: number, options: Options = {}) {
  const asked: string[] = [];
  const never = new AbortController().signal;
  const response = await getPinned(new URL(url), {
    addresses: ["93.184.215.14"],
    accept: "*/*",
    maxBytes: 1000,
    signal: never,
    late: never,
    placeOf: (address, wanted) => {
      asked.push(`${address} ${wanted}`);
      return { hostname: "127.0.0.1", port };
    },
    ...options,
  });
  return { ...response, text: new TextDecoder().decode(response.body), asked };
}

Deno.test("a page comes from the very address that was checked, by the name of its host", async () => {
  await using server = serve(respond(200, { "content-type": "text/plain" }, "hello"));
  const found = await get("http://example.org:8080/a%20b?c=d#e", server.port);
  assertEquals([found.status, found.text, found.cut], [200, "hello", undefined]);
  assertEquals(found.asked, ["93.184.215.14 8080"]);
  const { head } = server.requests[0]!;
  assertEquals(head.replace(/copilot\/\S+/, "copilot").trimEnd().split("\r\n"), [
    "GET /a%20b?c=d HTTP/1.1",
    "host: example.org:8080",
    "user-agent: copilot",
    "accept: */*",
    "accept-encoding: gzip",
    "Connection: close",
  ]);
});

Deno.test("TLS is for the name of the host, whatever the address", async () => {
  await using server = tlsServer("HTTP/1.1 200 OK\r\n\r\nsecret");
  const { port } = server;
  const caCerts = [authority()];
  const found = await get("https://pinned.test/", port, { caCerts });
  assertEquals([found.text, found.asked], ["secret", ["93.184.215.14 443"]]);
  const says = "its certificate is not trusted";
  await assertRejects(() => get("https://other.test/", port, { caCerts }), Error, says);
  await assertRejects(() => get("https://pinned.test/", port), Error, says);
});

Deno.test("the next address is tried where one takes no connection", async () => {
  await using server = serve(respond(200, {}, "here"));
  const addresses = ["127.0.0.2", "127.0.0.3", "127.0.0.1", "127.0.0.4"];
  const placeOf = (hostname: string) => ({ hostname, port: server.port });
  const { text } = await get("http://a.test/", server.port, { addresses, placeOf });
  assertEquals(text, "here");
  for (const few of [addresses.slice(0, 2), ["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.1"]]) {
    const asked = () => get("http://a.test/", 0, { addresses: few, placeOf });
    await assertRejects(asked, Error, "Cannot reach http://a.test: nothing listens there");
  }
});

const ENDLESS: Handler = async (_, peer) => {
  await peer.write("HTTP/1.1 200 OK\r\n\r\n");
  for (;;) await peer.write("x".repeat(10_000));
};

Deno.test("a body is bounded: an endless one, one that breaks off, a gzip bomb", async () => {
  const bomb = await new Response(
    new Blob([new Uint8Array(20_000_000)]).stream().pipeThrough(new CompressionStream("gzip")),
  ).bytes();
  const rows: [Handler, length: number, cut: string | undefined][] = [
    [ENDLESS, 1000, "size"],
    [respond(200, {}, "y".repeat(1000)), 1000, undefined],
    [raw("HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\nabc"), 3, "broken"],
    [respond(200, { "content-encoding": "gzip" }, bomb), 1000, "size"],
    [respond(404, {}, "not read"), 0, undefined],
    [
      raw("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", "1\r\nx\r\n".repeat(2000)),
      1000,
      "size",
    ],
  ];
  for (const [handler, length, cut] of rows) {
    await using server = serve(handler);
    const found = await get("http://a.test/", server.port);
    assertEquals([found.body.length, found.cut], [length, cut]);
  }
});

Deno.test("at the time limit what came is the answer, and an abort ends it at once", async () => {
  const late = new AbortController();
  await using slow = serve(async (_, peer) => {
    await peer.write("HTTP/1.1 200 OK\r\n\r\nbegun");
    late.abort();
    await peer.left();
  });
  const taken = await get("http://a.test/", slow.port, { late: late.signal })
    .then(({ cut }) => cut, ({ message }) => message);
  assertEquals(["time", "a.test did not answer in time"].includes(taken), true, taken);
  const over = new AbortController();
  await using silent = serve(async (_, peer) => {
    over.abort(new Error("stopped"));
    await peer.left();
  });
  await assertRejects(
    () => get("http://a.test/", silent.port, { signal: over.signal }),
    Error,
    "stopped",
  );
  const gone = AbortSignal.abort();
  await assertRejects(() => get("http://a.test/", silent.port, { late: gone }), Error, "in time");
});

Deno.test("what is no answer in HTTP is an error that says so", async () => {
  const rows = [
    ["SSH-2.0-OpenSSH\r\n", "it does not answer in HTTP"],
    ["", "it closed the connection without an answer"],
    [`HTTP/1.1 200 OK\r\na: ${"b".repeat(70_000)}\r\n\r\n`, "it does not answer in HTTP"],
    ["HTTP/1.1 200 OK\r\ncontent-encoding: br\r\n\r\nabc", "not requested"],
    ["HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n", "it closed the connection"],
  ] as const;
  for (const [answer, says] of rows) {
    await using server = serve(raw(answer));
    await assertRejects(() => get("http://a.test/", server.port), Error, says, answer.slice(0, 50));
  }
});

Deno.test("a field of the head in UTF-8 is percent-encoded, and a chunked body is read", async () => {
  await using server = serve(
    raw("HTTP/1.1 103 Early\r\nlink: x\r\n\r\nHTTP/1.1 200 Ja\r\nContent-Type: a/ü\r\n\r\n"),
    raw("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\n\r\n"),
  );
  assertEquals((await get("http://a.test/", server.port)).headers.get("content-type"), "a/%C3%BC");
  assertEquals((await get("http://a.test/", server.port)).text, "abc");
});
