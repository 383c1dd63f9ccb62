/** A client and a server in one process: what the server answers is a function of the test. */
import { assertEquals, assertRejects } from "@std/assert";
import type { CarrierHandlers } from "../../../src/extensions/mcp/http.ts";
import { McpClient } from "../../../src/extensions/mcp/client.ts";
import { HttpStatusError } from "../../../src/extensions/mcp/http.ts";
import { RpcError, type RpcParams } from "../../../src/rpc/message.ts";
import { RpcPeer } from "../../../src/rpc/peer.ts";

type Answers = (method: string, params: RpcParams, server: RpcPeer) => unknown;
type Options = Parameters<typeof McpClient.connect>[1];

interface Wired {
  client: McpClient;
  /** The requests and notifications that the server got. */
  got: [method: string, params: RpcParams][];
  server: RpcPeer;
  spoken: string[];
}

const MODERN = { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } };

/** The answers of a server of a revision with a handshake. */
const legacy = (other: Answers = () => ({}), version = "2025-06-18"): Answers => (...call) => {
  if (call[0] === "server/discover") throw new RpcError(-32601, "method not found");
  if (call[0] === "initialize") return { protocolVersion: version, capabilities: {} };
  return other(...call);
};
const modern = (other: Answers = () => ({})): Answers => (...call) =>
  call[0] === "server/discover" ? MODERN : other(...call);

async function wire(answers: Answers, options: Partial<Options> = {}, words = ""): Promise<Wired> {
  const got: Wired["got"] = [];
  const spoken: string[] = [];
  let theirs: RpcPeer;
  const client = await McpClient.connect((handlers: CarrierHandlers) => {
    const ours: RpcPeer = new RpcPeer({
      ...handlers,
      send: async (message) => {
        await Promise.resolve();
        theirs.receive(JSON.stringify(message));
      },
    });
    theirs = new RpcPeer({
      send: async (message) => {
        await Promise.resolve();
        ours.receive(JSON.stringify(message));
      },
      onRequest: (method, params) => {
        got.push([method, params]);
        return answers(method, params, theirs);
      },
      onNotification: (method, params) => void got.push([method, params]),
    });
    return {
      peer: ours,
      speaks: (version) => void spoken.push(version),
      lastWords: () => words,
      end() {
        ours.close(new Error("ended"));
        return Promise.resolve();
      },
    };
  }, { name: "one", ...options });
  return { client, got, server: theirs!, spoken };
}

Deno.test("mcp: an older server gets the handshake, and no fields that it does not know", async () => {
  const { client, got, spoken } = await wire(legacy());
  await client.request("tools/call", { name: "a" });
  await client.request("tools/call", { name: "b", _meta: { mine: 1 } });
  assertEquals(got.map(([method]) => method), [
    ...["server/discover", "initialize", "notifications/initialized", "tools/call", "tools/call"],
  ]);
  const { clientInfo: _, ...handshake } = got[1]![1];
  assertEquals(handshake, { protocolVersion: "2025-11-25", capabilities: {} });
  assertEquals([got[3]![1], got[4]![1]], [{ name: "a" }, { name: "b", _meta: { mine: 1 } }]);
  assertEquals(spoken, ["2025-06-18"]);
  assertEquals(client.facts.has, {});
});

Deno.test("mcp: one known to be older gets the handshake first, and is asked anew where it refuses", async () => {
  const older = await wire(legacy(), { era: "legacy" });
  assertEquals(older.got[0]![0], "initialize");
  assertEquals(older.client.facts.era, "legacy");
  const newer = await wire(
    modern((method) => {
      throw new RpcError(-32601, method);
    }),
    { era: "legacy" },
  );
  assertEquals(newer.got.map(([method]) => method), ["initialize", "server/discover"]);
  assertEquals(newer.client.facts.era, "modern");
});

Deno.test("mcp: a refusal that an older server gives leads to the handshake, another one to its words", async () => {
  const refusing = (error: Error): Answers => (method) => {
    if (method === "server/discover") throw error;
    return { protocolVersion: "2025-06-18" };
  };
  const versions = (supported: unknown) => new RpcError(-32022, "no", { supported });
  const rows: [error: Error, why?: string][] = [
    [new RpcError(-32601, "unknown")],
    [new RpcError(-32600, "odd")],
    [new RpcError(-32020, "header"), "header"],
    [new RpcError(-32021, "capability"), "capability"],
    [versions(["2031-01-01"]), "it speaks none of our revisions: 2031-01-01; copilot speaks"],
    [versions(undefined), "it names none"],
  ];
  for (const [error, why] of rows) {
    const wired = wire(refusing(error));
    if (why === undefined) assertEquals((await wired).client.facts.era, "legacy");
    else await assertRejects(() => wired, Error, why);
  }
});

Deno.test("mcp: a refusal over HTTP leads to the handshake by its status", async () => {
  for (const status of [399, 400, 401, 403, 404, 405, 422, 429, 499, 500]) {
    const methods: string[] = [];
    const connecting = McpClient.connect((handlers) => {
      const peer: RpcPeer = new RpcPeer({
        ...handlers,
        send: (message) => {
          if ("method" in message) methods.push(message.method);
          return Promise.reject(new HttpStatusError(status, `it answered ${status}`));
        },
      });
      return { peer, speaks() {}, lastWords: () => "", end: () => Promise.resolve() };
    }, { name: "one" });
    const { message } = await assertRejects(() => connecting, Error, `it answered ${status}`);
    assertEquals(methods.includes("initialize"), [400, 404, 405, 422, 499].includes(status));
    assertEquals(message.includes("of 2024"), [400, 404, 405].includes(status));
  }
});

Deno.test("mcp: a revision that a server names in its refusal is taken, once it is one of ours", async () => {
  let refusals = 0;
  const again: Answers = (method) => {
    if (method === "tools/call" && refusals++ === 1) {
      throw new RpcError(-32022, "no", { supported: ["2026-07-28"] });
    }
    return method === "server/discover" ? MODERN : { content: [] };
  };
  const { client, got } = await wire(again);
  await client.request("tools/call", {});
  assertEquals(await client.request("tools/call", {}), { content: [] });
  assertEquals(got.length, 4);
  const older = await wire(legacy(() => {
    throw new RpcError(-32022, "no", { supported: ["2026-07-28"] });
  }));
  await assertRejects(() => older.client.request("tools/call", {}), RpcError, "no");
  assertEquals(older.got.filter(([method]) => method === "tools/call").length, 1);
});

Deno.test("mcp: lists are read page by page, up to the limit", async () => {
  type Page = Record<string, unknown>;
  const pages = (...list: Page[]) => {
    let next = 0;
    return modern(() => list[Math.min(next++, list.length - 1)]);
  };
  const page = (tools: unknown[], more: Page = {}): Page => ({ tools, ...more });
  const rows: [pages: Page[], limit: number, entries: unknown[]][] = [
    [[page([1, 2])], 2, [1, 2]],
    [[page([1, 2, 3, 4])], 2, [1, 2, 3]],
    [[page([1], { nextCursor: "" }), page([2])], 5, [1, 2]],
    [[page([1], { nextCursor: "a" }), page([2, 3, 4])], 3, [1, 2, 3, 4]],
    // Pages of nothing: as many as entries.
    [[..."abc"].map((nextCursor) => page([], { nextCursor })).concat(page([1])), 2, []],
  ];
  for (const [given, limit, entries] of rows) {
    const { client } = await wire(pages(...given));
    assertEquals(await client.list("tools", limit), entries);
  }
  const { client, got } = await wire(pages(page([1], { nextCursor: "next" }), page([2])));
  await client.list("tools", 5);
  const asked = got.filter(([method]) => method === "tools/list").map(([, { cursor }]) => cursor);
  assertEquals(asked, [undefined, "next"]);
  const none = await wire(pages({ prompts: [] }));
  await assertRejects(() => none.client.list("tools", 5), Error, "has no list of tools");
  const odd = await wire(modern(() => 5));
  await assertRejects(
    () => odd.client.request("prompts/get", {}),
    Error,
    "its answer to prompts/get is not an object",
  );
});

Deno.test("mcp: a server's questions before its answer are asked, ten times at most", async () => {
  const question = { method: "elicitation/create", params: { message: "m", requestedSchema: {} } };
  const wanting = (requests: unknown, more: RpcParams = {}) => ({
    ...{ resultType: "input_required", inputRequests: requests },
    ...more,
  });
  const sent: RpcParams[] = [];
  const asks: Answers = modern((_, { _meta: _info, ...params }) => {
    sent.push(params);
    return sent.length === 1 ? wanting({ a: question }, { requestState: "s" }) : { content: [] };
  });
  const elicit = () => Promise.resolve({ action: "decline" as const });
  const { client } = await wire(asks, { elicit });
  await client.request("tools/call", { name: "a" });
  assertEquals(sent, [{ name: "a" }, {
    ...{ name: "a", requestState: "s", inputResponses: { a: { action: "decline" } } },
  }]);
  // Where nobody can be asked, the question is called off.
  sent.length = 0;
  await (await wire(asks)).client.request("tools/call", {});
  assertEquals(sent[1]!.inputResponses, { a: { action: "cancel" } });
  const old = await wire(legacy(() => wanting({})));
  assertEquals(await old.client.request("tools/call", {}), wanting({}));
  let rounds = 0;
  const endless = await wire(modern(() => (rounds++, wanting({}))));
  await assertRejects(
    () => endless.client.request("tools/call", {}),
    Error,
    "it asked for more input 10 times without an answer",
  );
  assertEquals(rounds, 10);
  const strange = await wire(modern(() => wanting({ a: { method: "roots/list" } })), { elicit });
  await assertRejects(
    () => strange.client.request("tools/call", {}),
    RpcError,
    "copilot does not offer roots/list to servers",
  );
});

Deno.test("mcp: a server may ping, and ask the person while a request is under way", async () => {
  const asked: string[] = [];
  const elicit: Options["elicit"] = ({ message }) => {
    asked.push(message);
    return Promise.resolve({ action: "decline" });
  };
  const ask = { message: "m", requestedSchema: { type: "object", properties: {} } };
  const answers = legacy(async (_method, _params, server) =>
    await server.request("elicitation/create", ask) as RpcParams
  );
  const { client, server } = await wire(answers, { elicit });
  assertEquals(await server.request("ping", {}), {});
  assertEquals(await client.request("tools/call", {}), { action: "decline" });
  assertEquals(asked, ["m"]);
  await assertRejects(() => server.request("sampling/createMessage", {}), RpcError, "not offer");
  const nobody = await wire(legacy());
  const unable = () => nobody.server.request("elicitation/create", ask);
  await assertRejects(unable, RpcError, "copilot does not offer elicitation/create to servers");
});

Deno.test("mcp: progress reaches the request that it is about, and changes of lists the session", async () => {
  const told: string[] = [];
  let changed = 0;
  const { client, got, server } = await wire(
    legacy(async (_method, { _meta }, server) => {
      const { progressToken } = (_meta ?? {}) as { progressToken?: string };
      await server.notify("notifications/progress", { progressToken, progress: 1, total: 2 });
      await server.notify("notifications/progress", { progressToken: "other", progress: 9 });
      return {};
    }),
    { onToolsChanged: () => changed++ },
  );
  const onProgress = (text: string) => void told.push(text);
  await client.request("tools/call", { a: 1 }, { onProgress });
  await client.request("tools/call", { a: 2 }, { onProgress });
  await client.request("tools/call", { a: 3 });
  assertEquals(told, ["1 of 2", "1 of 2"]);
  assertEquals(got.slice(-3).map(([, params]) => params), [
    { a: 1, _meta: { progressToken: "p1" } },
    { a: 2, _meta: { progressToken: "p2" } },
    { a: 3 },
  ]);
  for (const list of ["tools", "prompts"]) {
    await server.notify(`notifications/${list}/list_changed`, {});
  }
  await server.request("ping", {});
  assertEquals(changed, 1);
});

Deno.test("mcp: a request that is given up is cancelled, a handshake is not", async () => {
  const stop = new AbortController();
  const { client, got, server } = await wire(legacy(() => (stop.abort(), new Promise(() => {}))));
  await assertRejects(
    () => client.request("tools/call", {}, { signal: stop.signal }),
    DOMException,
  );
  await server.request("ping", {});
  assertEquals(got.at(-1), ["notifications/cancelled", { requestId: 3, reason: "given up" }]);
  const early = new AbortController();
  const seen: string[] = [];
  const connecting = McpClient.connect(
    (handlers) => {
      const peer: RpcPeer = new RpcPeer({
        ...handlers,
        send: (message) => {
          if ("method" in message) seen.push(message.method);
          queueMicrotask(() => early.abort(new Error("Esc")));
          return Promise.resolve();
        },
      });
      return { peer, speaks() {}, lastWords: () => "dying", end: () => Promise.resolve() };
    },
    { name: "one" },
    early.signal,
  );
  const { message } = await assertRejects(() => connecting, Error);
  assertEquals([message, seen], ["Esc", ["server/discover"]]);
});
