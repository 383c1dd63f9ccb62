import { assertEquals, assertRejects } from "@std/assert";
import { linePeer, type LinePeerOptions } from "../../src/rpc/line_peer.ts";
import { RpcError } from "../../src/rpc/message.ts";
import type { RpcPeer } from "../../src/rpc/peer.ts";
import { forEverySplit } from "../helpers/split.ts";

type Handlers = Omit<LinePeerOptions, "input" | "output">;

/** Two peers that are connected to each other, closed at the end. */
function pair(left: Handlers, right: Handlers): [RpcPeer, RpcPeer] & AsyncDisposable {
  const there = new TransformStream<Uint8Array, Uint8Array>();
  const back = new TransformStream<Uint8Array, Uint8Array>();
  const one = linePeer({ ...left, input: back.readable, output: there.writable });
  const other = linePeer({ ...right, input: there.readable, output: back.writable });
  return Object.assign([one, other] as [RpcPeer, RpcPeer], {
    async [Symbol.asyncDispose]() {
      one.close(new Error("end of test"));
      other.close(new Error("end of test"));
      await Promise.all([one.closed, other.closed]);
    },
  });
}

/** A peer of which the test holds the other ends: text goes in, lines come out. */
function alone(handlers: Handlers) {
  const input = new TransformStream<Uint8Array, Uint8Array>();
  const output = new TransformStream<Uint8Array, Uint8Array>(undefined, undefined, {
    highWaterMark: 1000,
  });
  const peer = linePeer({ ...handlers, input: input.readable, output: output.writable });
  const writer = input.writable.getWriter();
  const reader = output.readable.getReader();
  return {
    peer,
    writer,
    say: (text: string) => writer.write(new TextEncoder().encode(text)),
    line: async () => JSON.parse(new TextDecoder().decode((await reader.read()).value)),
    async [Symbol.asyncDispose]() {
      peer.close(new Error("end of test"));
      await writer.abort().catch(() => {});
      await reader.cancel();
    },
  };
}

Deno.test("peer: an error keeps code and data; another throw is an internal error", async () => {
  await using peers = pair({}, {
    onRequest: (method) => {
      throw method === "own"
        ? new RpcError(-32022, "no", { supported: ["x"] })
        : new Error("broke");
    },
  });
  const [left, right] = peers;
  const own = await assertRejects(() => left.request("own", {}), RpcError, "no");
  assertEquals([own.code, own.data], [-32022, { supported: ["x"] }]);
  const other = await assertRejects(() => left.request("other", {}), RpcError, "broke");
  assertEquals(other.code, -32603);
  const unknown = await assertRejects(() => right.request("any", {}), RpcError);
  assertEquals([unknown.code, unknown.message], [-32601, "method not found: any"]);
});

Deno.test("peer: an abort tells the other side, whose late answer is dropped without a word", async () => {
  const stopped = Promise.withResolvers<void>();
  const ignored: string[] = [];
  await using peers = pair({
    cancellation: (id) => ({ method: "cancelled", params: { requestId: id } }),
    onIgnored: (reason) => void ignored.push(reason),
  }, {
    onRequest: (method, _, signal) =>
      method === "quick" ? {} : new Promise((resolve) => {
        signal.addEventListener("abort", () => {
          stopped.resolve();
          resolve({ too: "late" });
        });
      }),
    onNotification: (_, { requestId }) => right.cancelIncoming(requestId),
  });
  const [left, right] = peers;
  const controller = new AbortController();
  const request = left.request("wait", {}, { signal: controller.signal });
  controller.abort(new Error("Esc"));
  await assertRejects(() => request, Error, "Esc");
  await stopped.promise;
  await left.request("quick", {});
  assertEquals(ignored, []);
});

Deno.test("peer: answers to no request are dropped, and lines that are no JSON are named", async () => {
  const ignored: string[] = [];
  await using end = alone({ onIgnored: (reason) => void ignored.push(reason) });
  const request = end.peer.request("a", {});
  assertEquals(await end.line(), { jsonrpc: "2.0", id: 1, method: "a", params: {} });
  await end.say('Starting up...\n\n{"jsonrpc":"2.0","id":"1","result":0}\n');
  await end.say('{"jsonrpc":"2.0","id":1,"result":7}\n{"jsonrpc":"2.0","id":1,"result":8}\n');
  assertEquals(await request, 7);
  await end.say('{"jsonrpc":"2.0","method":"x"}\n');
  assertEquals(ignored, ["not JSON: Starting up..."]);
  const bare = assertRejects(
    () => end.peer.request("b", {}),
    RpcError,
    "an error without a message",
  );
  await end.line();
  await end.say('{"jsonrpc":"2.0","id":2,"error":{"data":7}}\n');
  assertEquals([(await bare).code, (await bare).data], [-32603, 7]);
});

Deno.test("peer: the side that serves answers what is no message; a batch is taken apart", async () => {
  await using end = alone({
    answersInvalid: true,
    onRequest: (method, params) => ({ method, params }),
  });
  const rows: [given: string, id: number | null, code: number, message: string][] = [
    ["{oops", null, -32700, "not JSON: {oops"],
    ['{"id":4,"method":"a"}', 4, -32600, 'jsonrpc must be "2.0"'],
    ['{"jsonrpc":"2.0","id":null,"method":"a"}', null, -32600, "id must be a string or a number"],
    ['{"jsonrpc":"2.0","id":1,"method":5}', 1, -32600, "method must be a string"],
    ['{"jsonrpc":"2.0","method":"a","params":[1]}', null, -32600, "params must be an object"],
    ['{"jsonrpc":"2.0","id":1}', 1, -32600, "it has no method, result or error"],
    ['"text"', null, -32600, "a message must be a JSON object"],
    ["[]", null, -32600, "a batch must not be empty"],
  ];
  for (const [given, id, code, message] of rows) {
    await end.say(`${given}\n`);
    assertEquals(await end.line(), { jsonrpc: "2.0", id, error: { code, message } });
  }
  await end.say(
    '[{"jsonrpc":"2.0","id":"x","method":"a"},{"jsonrpc":"2.0","id":6,"method":"b"}]\n',
  );
  assertEquals([(await end.line()).result, (await end.line()).result], [
    { method: "a", params: {} },
    { method: "b", params: {} },
  ]);
});

Deno.test("peer: the end of the other side, and a line without an end, fail what is under way", async () => {
  {
    await using end = alone({});
    const request = end.peer.request("a", {});
    await end.writer.close();
    await assertRejects(() => request, Error, "the other side closed the connection");
    await assertRejects(() => end.peer.request("b", {}), Error, "closed the connection");
  }
  await using end = alone({});
  const request = end.peer.request("a", {});
  await end.say("x".repeat(2 ** 24 + 1));
  await assertRejects(() => request, Error, "a message of over 16777216 characters");
});

Deno.test("peer: what cannot be sent fails its request", async () => {
  const reader = new TransformStream<Uint8Array, Uint8Array>();
  await reader.readable.cancel();
  const peer = linePeer({ input: new ReadableStream(), output: reader.writable });
  await assertRejects(() => peer.request("a", {}), Error, "closed the connection");
});

Deno.test("peer: messages cut anywhere are the same messages", async () => {
  const lines = '{"jsonrpc":"2.0","method":"é","params":{"n":1}}\r\n{"jsonrpc":"2.0","method":"b"}';
  const runs: Promise<void>[] = [];
  forEverySplit(new TextEncoder().encode(lines), (pieces) => {
    const seen: string[] = [];
    const input = ReadableStream.from(pieces);
    const output = new WritableStream<Uint8Array>();
    const onNotification = (method: string) => void seen.push(method);
    const { closed } = linePeer({ input, output, onNotification });
    runs.push(closed.then(() => assertEquals(seen, ["é", "b"])));
  });
  await Promise.all(runs);
});

Deno.test("a side that does not read its input fills no memory: a message after 64 million characters fails", async () => {
  const output = new WritableStream<Uint8Array>({ write: () => new Promise(() => {}) });
  const peer = linePeer({ input: new ReadableStream(), output });
  const text = "a".repeat(16_000_000);
  for (let i = 0; i < 4; i++) peer.notify("x", { text }).catch(() => {});
  await assertRejects(() => peer.notify("x", { text }), Error, "does not read its input");
});
