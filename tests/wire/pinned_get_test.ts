import { assertEquals, assertRejects } from "@std/assert";
import { getPinned } from "../../src/wire/pinned_get.ts";
import { type Handler, raw, respond, serve, stall } from "../helpers/server.ts";
import { authority, tlsServer } from "../helpers/tls_server.ts";

/** Gets `url` from a server on this machine, to whatever address it connects; the addresses, too. */
async function get(
  url: string,
  port: number,
  options: Partial<Parameters<typeof getPinned>[1]> = {},
) {
  const asked: string[] = [];
  const never = new AbortController().signal;
  const response = await getPinned(new URL(url), {
    addresses: ["93.184.215.14"],
    accept: "*/*",
    maxBytes: 1000,
    signal: never,
    late: never,
    connect: (address, wanted) => {
      asked.push(`${address} ${wanted}`);
      return Deno.connect({ hostname: "127.0.0.1", port });
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
    "connection: close",
  ]);
});

Deno.test("TLS is for the name of the host, whatever the address", async () => {
  await using server = tlsServer("HTTP/1.1 200 OK\r\n\r\nsecret");
  const { port } = server;
  const caCerts = [authority()];
  const found = await get("https://pinned.test/", port, { caCerts });
  assertEquals([found.text, found.asked], ["secret", ["93.184.215.14 443"]]);
  for (
    const [url, more] of [["https://other.test/", { caCerts }], [
      "https://pinned.test/",
      {},
    ]] as const
  ) {
    await assertRejects(() => get(url, port, more), Error, "its certificate is not trusted");
  }
});

Deno.test("the next address is tried where one takes no connection", async () => {
  await using server = serve(respond(200, {}, "here"));
  const tried: string[] = [];
  const connect = (address: string) => {
    tried.push(address);
    if (address.endsWith(".3")) return Deno.connect({ hostname: "127.0.0.1", port: server.port });
    return Promise.reject(new Deno.errors.ConnectionRefused("Connection refused"));
  };
  const addresses = ["1.0.0.1", "1.0.0.2", "1.0.0.3", "1.0.0.4"];
  const { text } = await get("http://a.test/", server.port, { addresses, connect });
  assertEquals([text, tried], ["here", ["1.0.0.1", "1.0.0.2", "1.0.0.3"]]);
  for (const few of [addresses.slice(0, 2), ["1.0.0.1", "1.0.0.2", "1.0.0.4", "1.0.0.3"]]) {
    await assertRejects(
      () => get("http://a.test/", 0, { addresses: few, connect }),
      Error,
      "Cannot reach http://a.test: nothing listens there",
    );
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
    await peer.left();
  });
  const taking = get("http://a.test/", slow.port, {
    late: late.signal,
    connect: async () => {
      const conn = await Deno.connect({ hostname: "127.0.0.1", port: slow.port });
      const { read } = conn;
      // The limit is reached once the beginning was read.
      let reads = 0;
      conn.read = (buffer) => {
        if (reads++ > 0) late.abort();
        return read.call(conn, buffer);
      };
      return conn;
    },
  });
  assertEquals((await taking).cut, "time");
  await using silent = serve(stall());
  const over = new AbortController();
  const connect = async () => {
    const conn = await Deno.connect({ hostname: "127.0.0.1", port: silent.port });
    queueMicrotask(() => over.abort(new Error("stopped")));
    return conn;
  };
  await assertRejects(
    () => get("http://a.test/", silent.port, { signal: over.signal, connect }),
    Error,
    "stopped",
  );
  const gone = AbortSignal.abort();
  await assertRejects(() => get("http://a.test/", silent.port, { late: gone }), Error, "in time");
});
