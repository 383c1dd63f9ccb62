import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { BackendError } from "../../src/errors.ts";
import { requestJson, requestStream } from "../../src/wire/http.ts";
import { wait } from "../../src/wire/wait.ts";
import { type Handler, head, raw, respond, serve, sse, stall } from "../helpers/server.ts";
import { ask, leakTest as test, options, STREAM, textReader } from "./http_helper.ts";

const OK = sse(["a", "[DONE]"]);
const post = (url: string) => ({ url, body: "{}" });

/** A stall, and a promise of the client having closed the connection. */
function watchedStall(...pieces: string[]): { handler: Handler; left: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { handler: stall(pieces, resolve), left: promise };
}

/** Fails when `promise` takes more than three seconds. */
async function soon<T>(promise: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("not within 3 s")), 3_000);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A handler that sends `piece` every few milliseconds until the client leaves. */
function drip(start: string, piece: string): Handler {
  return async (_request, peer) => {
    await peer.write(start);
    const timer = setInterval(() => peer.write(piece).catch(() => {}), 5);
    await peer.left();
    clearInterval(timer);
    peer.close();
  };
}

/** A handler that writes without end, and a promise of the client having closed the connection. */
function flood(start: string, piece: string): { handler: Handler; left: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const handler: Handler = async (_request, peer) => {
    try {
      await peer.write(start);
      for (;;) await peer.write(piece.repeat(10_000));
    } finally {
      resolve();
    }
  };
  return { handler, left: promise };
}

test("NET-12 a server that stalls is left, at every stage, and asked again", async () => {
  // Long enough for the request to arrive, also on a busy machine.
  const first = { firstTokenTimeoutMs: 600 };
  const idle = { idleTimeoutMs: 40 };
  const rows: [pieces: string[], limits: object, says: string][] = [
    [[], first, "sent no answer within 600 ms (--first-token-timeout)"],
    [
      ["HTTP/1.1 200 OK\r\ncontent-"],
      first,
      "sent no answer within 600 ms (--first-token-timeout)",
    ],
    [[STREAM], first, "sent no answer within 600 ms (--first-token-timeout)"],
    [[STREAM, ": ping\n\n"], first, "sent no answer within 600 ms (--first-token-timeout)"],
    [[STREAM, ": ping\n\n"], idle, "sent nothing for 40 ms"],
    [[STREAM, "data: a\n\ndata: b\n\ndata: c\n\n"], idle, "sent nothing for 40 ms"],
  ];
  await Promise.all(rows.map(async ([pieces, limits, says]) => {
    const { handler, left } = watchedStall(...pieces);
    await using server = serve(handler, OK);
    const asked = options(limits);
    const { onRetry } = asked;
    // The second attempt may take as long as this machine likes.
    asked.onRetry = (notice) => {
      onRetry?.(notice);
      Object.assign(asked, { firstTokenTimeoutMs: 60_000, idleTimeoutMs: 60_000 });
    };
    assertEquals(await ask(server.url, asked), ["a"]);
    await soon(left);
    assertEquals([asked.reasons.length, server.requests.length], [1, 2]);
    assert(asked.reasons[0]!.includes(says), asked.reasons[0]);
  }));
});

test("NET-12 after output a stall is reported, not repeated", async () => {
  const { handler, left } = watchedStall(STREAM, "data: a\n\n");
  await using server = serve(handler, OK);
  const shown: string[] = [];
  const asked = () => ask(server.url, options({ idleTimeoutMs: 40 }), (text) => shown.push(text));
  const error = await assertRejects(asked, BackendError);
  await soon(left);
  assertEquals([error.kind, error.status, shown], ["timeout", 200, ["a"]]);
  assertEquals(server.requests.length, 1);
});

test("NET-12 pings and single bytes keep a stream alive, but not for ever", async () => {
  const rows: [start: string, piece: string, says: string][] = [
    [STREAM, ": ping\n\n", "sent no answer within 600 ms (--first-token-timeout)"],
    [STREAM, "x", "sent no answer within 600 ms (--first-token-timeout)"],
    [`${STREAM}data: a\n\n`, "event: ping\n\n", "only keep-alive signals for 600 ms"],
  ];
  await Promise.all(rows.map(async ([start, piece, says]) => {
    await using server = serve(drip(start, piece));
    const limits = { firstTokenTimeoutMs: 600, idleTimeoutMs: 400, maxRetries: 0 };
    const error = await assertRejects(() => ask(server.url, options(limits)), BackendError);
    assertEquals([error.kind, error.retryable], ["timeout", true]);
    assert(error.message.includes(says), error.message);
  }));
});

test("NET-12 a JSON answer must be whole within the first-token limit", async () => {
  await using server = serve(drip(head(200, { "content-type": "application/json" }) + "[", "1,"));
  const limits = { firstTokenTimeoutMs: 60, maxRetries: 0 };
  const asked = () => requestJson({ url: server.url }, options(limits));
  await assertRejects(asked, BackendError, "sent no answer within 60 ms");
});

test("an answer ends with its terminator, though the connection stays open or breaks", async () => {
  const answer = `${STREAM}data: a\n\ndata: [DONE]\n\n`;
  const { handler, left } = watchedStall(answer);
  const broken = "HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\ndata: a\n\ndata: [DONE]\n\n";
  const rows = [handler, drip(answer, ": ping\n\n"), drip(answer, "data: b\n\n"), raw(broken)];
  await Promise.all(rows.map(async (each) => {
    await using server = serve(each);
    const texts = ask(server.url);
    assertEquals(await soon(texts), ["a"]);
    if (each === handler) await soon(left);
  }));
});

test("the body of an error is not waited for, nor read without end", async () => {
  const endless = flood("HTTP/1.1 400 Bad\r\n\r\n", "no ");
  const page = flood(
    head(200, { "content-type": "text/html" }) + "<title>Log in</title>",
    "<p>",
  );
  const stalled = watchedStall("HTTP/1.1 400 Bad\r\ncontent-length: 99\r\n\r\nno model");
  const cut = raw("HTTP/1.1 400 Bad\r\ncontent-length: 99\r\n\r\nno wonder");
  const rows: [{ handler: Handler; left?: Promise<void> }, says: string][] = [
    [endless, "no no"],
    [page, "Log in"],
    [stalled, "no model"],
    [{ handler: cut }, "no wonder"],
  ];
  await Promise.all(rows.map(async ([{ handler, left }, says]) => {
    await using server = serve(handler);
    const answer = ask(server.url);
    await soon(assertRejects(() => answer, BackendError, says));
    if (left) await soon(left);
  }));
});

test("an answer without end is given up with one clear error", async () => {
  // Longer pieces than a model's: their number is not what this is about.
  const piece = new TextEncoder().encode(`data: ${"a".repeat(2 ** 20)}\n\n`);
  const fetch = () =>
    Promise.resolve(new Response(new ReadableStream({ pull: (c) => c.enqueue(piece) })));
  let progress = 0;
  const reader = () => ({ ...textReader(), progress: 0, push: () => void progress++ });
  const endless = () => requestStream(post("http://localhost:1"), options({ fetch }), reader);
  await assertRejects(endless, BackendError, "The answer does not end: it is over 128 MiB");
  assertEquals(progress, 127);

  let left = 128;
  const even = piece.subarray(8);
  const pull = (stream: ReadableStreamDefaultController) =>
    left-- > 0 ? stream.enqueue(even) : stream.close();
  const taken = await requestStream(
    post("http://localhost:1"),
    options({ fetch: () => Promise.resolve(new Response(new ReadableStream({ pull }))) }),
    () => ({ ...reader(), end: () => progress - 127 }),
  );
  assertEquals(taken, 128);
});

test("the connection is closed when a reader gives up on the answer", async () => {
  const { handler, left } = flood(STREAM, "data: a\n\n");
  await using server = serve(handler);
  const bug = new Error("bug");
  const reader = () =>
    textReader(() => {
      throw bug;
    });
  const thrown = await assertRejects(() => requestStream(post(server.url), options(), reader));
  assertStrictEquals(thrown, bug);
  await soon(left);
  assertEquals(server.requests.length, 1);
});

test("NET-13 an abort ends the request at once, at every stage, with the signal's reason", async () => {
  const stages: [name: string, pieces: string[]][] = [
    ["before the head", []],
    ["after the head", [STREAM]],
    ["within the answer", [STREAM, "data: a\n\n"]],
    ["within the body of an error", ["HTTP/1.1 500 Oops\r\n\r\nx"]],
    ["within JSON", [head(200, { "content-type": "application/json" }), '{"a":']],
  ];
  for (const [name, pieces] of stages) {
    const { promise: stalled, resolve } = Promise.withResolvers<void>();
    const { promise: left, resolve: leave } = Promise.withResolvers<void>();
    await using server = serve(async (_request, peer) => {
      for (const piece of pieces) await peer.write(piece);
      resolve();
      await peer.left();
      leave();
    });
    const controller = new AbortController();
    const asked = options({ signal: controller.signal });
    const request = ask(server.url, asked);
    const reason = new Error(name);
    const rejected = assertRejects(() => request);
    await stalled;
    controller.abort(reason);
    assertStrictEquals(await soon(rejected), reason);
    await soon(left);
    assertEquals([asked.reasons, server.requests.length], [[], 1], name);
  }
});

test("NET-13 an abort ends a fetch that does not heed it", async () => {
  const controller = new AbortController();
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({ cancel: () => void (cancelled = true) });
  const answer = requestStream(
    { url: "http://127.0.0.1:9/" },
    options({ signal: controller.signal, fetch: () => Promise.resolve(new Response(body)) }),
    () => (controller.abort("now"), textReader()),
  );
  assertEquals(await answer.catch((e) => e), "now");
  assertEquals(cancelled, true);

  // Not even when what came so far would be a whole answer.
  const pulled = new AbortController();
  const whole = new ReadableStream<Uint8Array>({
    start: (stream) => stream.enqueue(new TextEncoder().encode('{"a":1}')),
    pull: () => pulled.abort("later"),
  });
  const json = requestJson(
    { url: "http://127.0.0.1:9/" },
    options({ signal: pulled.signal, fetch: () => Promise.resolve(new Response(whole)) }),
  );
  assertEquals(await json.catch((e) => e), "later");

  const { promise: response, resolve } = Promise.withResolvers<Response>();
  const late20 = options({ firstTokenTimeoutMs: 20, maxRetries: 0, fetch: () => response });
  const never = ask("http://127.0.0.1:9/", late20);
  await assertRejects(() => never, BackendError, "sent no answer within 20 ms");
  const { promise: late, resolve: dropped } = Promise.withResolvers<void>();
  resolve(new Response(new ReadableStream({ cancel: dropped })));
  await soon(late);
});

test("no signal listener is left behind", async () => {
  await using server = serve(respond(503), OK);
  const { signal } = new AbortController();
  let listeners = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => (listeners++, add(...args));
  signal.removeEventListener = (...args: Parameters<typeof add>) => (listeners--, remove(...args));
  const asked = options({ signal, wait: (_ms, signal) => wait(1, signal) });
  assertEquals(await ask(server.url, asked), ["a"]);
  assertEquals([listeners, server.requests.length], [0, 2]);
});
