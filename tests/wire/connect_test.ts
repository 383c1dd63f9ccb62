import { assertEquals, assertRejects } from "@std/assert";
import { BackendError } from "../../src/errors.ts";
import {
  connectTimesOut,
  directClient,
  failureFromThrown,
  isRefused,
} from "../../src/wire/connect.ts";
import { requestJson } from "../../src/wire/http.ts";
import { serve, sse } from "../helpers/server.ts";
import { ask, leakTest as test, options } from "./http_helper.ts";
import { waitUntil } from "../helpers/wait_until.ts";

/** A port on which nobody accepts, with so many connections waiting that no further one is made. */
async function fullBacklog(): Promise<{ url: string } & Disposable> {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0, tcpBacklog: 1 });
  const { port } = listener.addr as Deno.NetAddr;
  const held: Deno.Conn[] = [];
  try {
    for (;;) {
      const signal = AbortSignal.timeout(100);
      held.push(await Deno.connect({ hostname: "127.0.0.1", port, signal }));
    }
  } catch {
    // Full.
  }
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.dispose]() {
      held.forEach((conn) => conn.close());
      listener.close();
    },
  };
}

/** Runs with the environment's proxies hidden, or with one set. */
async function withProxy(
  proxy: string | undefined,
  run: () => Promise<void> | void,
): Promise<void> {
  const names = "HTTP_PROXY HTTPS_PROXY ALL_PROXY http_proxy https_proxy all_proxy".split(" ");
  const saved = names.map((name) => [name, Deno.env.get(name)] as const);
  names.forEach((name) => Deno.env.delete(name));
  if (proxy !== undefined) Deno.env.set("HTTPS_PROXY", proxy);
  try {
    await run();
  } finally {
    Deno.env.delete("HTTPS_PROXY");
    for (const [name, value] of saved) if (value !== undefined) Deno.env.set(name, value);
  }
}

const never = new AbortController().signal;

test("connectTimesOut tells a server that can not be reached from a slow or missing one", async () => {
  using full = await fullBacklog();
  await using slow = serve();
  const gone = serve();
  await gone[Symbol.asyncDispose]();
  await withProxy(undefined, async () => {
    assertEquals(await connectTimesOut(full.url, 40, never), true);
    assertEquals(await connectTimesOut(slow.url, 1000, never), false);
    assertEquals(slow.connections, 1);
    assertEquals(await connectTimesOut(gone.url, 1000, never), false);
    using mute = Deno.listen({ port: 0, hostname: "127.0.0.1" });
    const { port } = mute.addr as Deno.NetAddr;
    assertEquals(await connectTimesOut(`https://127.0.0.1:${port}/`, 40, never), true);
    assertEquals(await connectTimesOut(`http://127.0.0.1:${port}/`, 10_000, never), false);
    // Ended from outside.
    const within = new AbortController();
    const connecting = connectTimesOut(full.url, 1e6, within.signal);
    within.abort();
    assertEquals(await connecting, false);
    assertEquals(await connectTimesOut(full.url, 1e6, AbortSignal.abort()), false);
  });
  // Through a proxy nothing is said of any other machine; this one is asked directly.
  await withProxy("http://127.0.0.1:3128", async () => {
    assertEquals(await connectTimesOut(full.url, 40, never), true);
    assertEquals(await connectTimesOut("http://192.0.2.1", 1e6, never), false);
  });
});

test("a server that accepts no connection is a timeout on connecting, tried twice", async () => {
  using full = await fullBacklog();
  await withProxy(undefined, async () => {
    const asked = options({ connectTimeoutMs: 60 });
    const says = "no connection within 60 ms";
    const error = await assertRejects(() => ask(full.url, asked), BackendError, says);
    assertEquals([error.kind, error.status, asked.delays.length], ["timeout", undefined, 1]);
  });
});

test("a busy server that accepts and answers later is waited for beyond the connect limit", async () => {
  const { promise: probed, resolve } = Promise.withResolvers<void>();
  await using server = serve(async (request, peer) => {
    await probed;
    await sse(["a", "[DONE]"])(request, peer);
  });
  await withProxy(undefined, async () => {
    const asked = options({ connectTimeoutMs: 1000 });
    const answer = ask(server.url, asked);
    // The request's own connection, and the probe's: then the limit on connecting is over.
    await waitUntil(() => server.connections >= 2);
    await new Promise((next) => setTimeout(next, 600));
    resolve();
    assertEquals(await answer, ["a"]);
    assertEquals(asked.reasons, []);
  });
});

/** What fetch throws, and what is said of it; where it does not speak HTTP, the failure is of the protocol. */
// deno-fmt-ignore
const THROWN: [text: string, says: string, retryable: boolean][] = [
  ["tcp connect error: Connection refused (os error 111)", "nothing listens there (connection refused)", true],
  ["No connection could be made because the target machine actively refused it. (os error 10061)", "nothing listens there (connection refused)", true],
  ["dns error: failed to lookup address information: Name or service not known", "no host has that name", false],
  ["dns error: failed to lookup address information: Temporary failure in name resolution", "DNS lookup failed", true],
  ["invalid peer certificate: UnknownIssuer", "its certificate is not trusted: DENO_CERT can name a file with the one that signed it", false],
  ["invalid peer certificate: Other(OtherError(CaUsedAsEndEntity))", "its certificate may only sign others (CA:TRUE): make one with CA:FALSE", false],
  ["invalid peer certificate: Expired", "its certificate is not trusted", false],
  ["received corrupt message of type InvalidContentType", "it does not speak TLS (is it http:// rather than https://?)", false],
  ["invalid HTTP version parsed", "it does not answer in HTTP", false],
  ["message head is too large", "it does not answer in HTTP", false],
  ["connection closed before message completed", "it closed the connection without an answer", true],
  ["connection error: Connection reset by peer (os error 104)", "it closed the connection without an answer", true],
  ["tcp connect error: No route to host (os error 113)", "tcp connect error: No route to host (os error 113)", true],
];

test("failureFromThrown explains what fetch throws", () =>
  withProxy(undefined, () => {
    for (const [text, says, retryable] of THROWN) {
      const where = "error sending request for url (http://h:1/refused): client error (Connect)";
      const thrown = new TypeError("fetch failed", { cause: new Error(`${where}: ${text}`) });
      const error = failureFromThrown(thrown, "http://h:1/refused");
      assertEquals(error.message, `Cannot reach http://h:1: ${says}`);
      assertEquals(error.kind, /in HTTP/.test(says) ? "protocol" : "connection");
      assertEquals([error.retryable, isRefused(error.cause)], [retryable, /refused/.test(says)]);
    }
    const port = new TypeError("Fetch failed: Requests to port 1 are blocked");
    const blocked = failureFromThrown(port, "http://h:1/");
    assertEquals([blocked.retryable, blocked.kind], [false, "connection"]);
    for (const odd of ["odd", undefined]) {
      const { message, retryable } = failureFromThrown(odd, "http://h:1/");
      assertEquals([message, retryable], [`Cannot reach http://h:1: ${odd}`, false]);
    }
  }));

test("failureFromThrown names the variable of a proxy, and nothing of it", () =>
  withProxy("http://u:canary@p:9", () => {
    const says = (url: string) => failureFromThrown(new TypeError("refused"), url).message;
    assertEquals(says("https://h"), "Cannot reach https://h (HTTPS_PROXY names a proxy): refused");
    assertEquals(says("http://h"), "Cannot reach http://h: refused");
    assertEquals(says("https://localhost"), "Cannot reach https://localhost: refused");
  }));

test("a server nearby is asked by path alone where a proxy is set, and commands see no change", async () => {
  const before = Deno.env.get("NO_PROXY");
  await withProxy("http://127.0.0.1:9", async () => {
    for (const hostname of ["127.0.0.1", "localhost"]) {
      using listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
      const { port } = listener.addr as Deno.NetAddr;
      const url = `http://${hostname}:${port}/v1/models`;
      const answer = requestJson({ url }, options());
      using connection = await listener.accept();
      const bytes = new Uint8Array(4096);
      const size = await connection.read(bytes);
      const json =
        "Content-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
      await connection.write(new TextEncoder().encode(`HTTP/1.1 200 OK\r\n${json}`));
      await answer;
      const [line] = new TextDecoder().decode(bytes.subarray(0, size!)).split("\r\n");
      assertEquals(line, "GET /v1/models HTTP/1.1");
      directClient(url)!.close();
    }
  });
  assertEquals(Deno.env.get("NO_PROXY"), before);
  await withProxy("http://127.0.0.1:9", () => {
    directClient("http://192.168.1.7:8080/v1")!.close();
    assertEquals(directClient("http://192.0.2.1/v1"), undefined);
  });
});
