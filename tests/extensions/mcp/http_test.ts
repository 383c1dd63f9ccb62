import { assert, assertEquals, assertThrows } from "@std/assert";
import { definitionsIn, expanded } from "../../../src/extensions/mcp/definition.ts";
import { headerValue } from "../../../src/extensions/mcp/http.ts";
import { TokenAuth, TokenStore } from "../../../src/extensions/mcp/oauth.ts";
import { checkedAddress } from "../../../src/extensions/mcp/oauth_discovery.ts";
import { paramHeaders, problemOfHeaders } from "../../../src/extensions/mcp/param_headers.ts";
import { McpServers } from "../../../src/extensions/mcp/servers.ts";
import { serverOptions } from "../../helpers/mcp.ts";
import { type Handler, json, respond, serve, type Server } from "../../helpers/server.ts";
import { tempFolder } from "../../helpers/temp_folder.ts";

const tools = [{
  name: "echo",
  inputSchema: { type: "object", properties: { text: { type: "string", "x-mcp-header": "Text" } } },
}];

/** Answers in the modern way, but for what `other` takes. */
const modern = (other?: (method: string) => Handler | undefined): Handler => (request, peer) => {
  const { id, method } = request.json();
  const handler = other?.(method);
  if (handler) return handler(request, peer);
  const result = {
    "server/discover": { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } },
    "tools/list": { tools },
    "tools/call": { content: [{ type: "text", text: "hi" }] },
  }[method as string];
  return json({ jsonrpc: "2.0", id, result })(request, peer);
};

async function opened(server: Server): Promise<McpServers> {
  const store = new TokenStore(undefined);
  const url = `${server.url}/mcp`;
  await store.set(url, {
    token: {
      issuer: "i",
      tokenUrl: "t",
      client: { id: "c", method: "none" },
      access: "the-token-of-this-server",
    },
  });
  return await McpServers.open(definitionsIn({ mcpServers: { web: { url } } }, { scope: "user" }), {
    ...serverOptions("."),
    authFor: (definition) => new TokenAuth(definition, store),
  });
}

const signal = new AbortController().signal;

Deno.test("mcp: a request over HTTP says in its headers what it is, and has the token", async () => {
  await using server = serve(modern());
  await using servers = await opened(server);
  const web = servers.find("web")!;
  assertEquals(await web.call("echo", { text: "ü" }, { signal }), "hi");
  const { headers } = server.requests.at(-1)!;
  const names = [
    "mcp-protocol-version",
    "mcp-method",
    "mcp-name",
    "mcp-param-text",
    "authorization",
  ];
  assertEquals(names.map((name) => headers.get(name)), [
    "2026-07-28",
    "tools/call",
    "echo",
    "=?base64?w7w=?=",
    "Bearer the-token-of-this-server",
  ]);
});

Deno.test("mcp: a session that an older server has lost is begun anew, once", async () => {
  const error = (status: number, code: number, message: string) =>
    json({ jsonrpc: "2.0", error: { code, message }, id: null }, status);
  // As the TypeScript SDK and its example answer after a restart.
  const losses = [
    respond(404),
    error(404, -32001, "Session not found"),
    error(400, -32000, "Bad Request: No valid session ID provided"),
  ];
  let isLost = false;
  await using server = serve((request, peer) => {
    if (request.method !== "POST") return respond(405)(request, peer);
    const { id, method } = request.json();
    if (method === "server/discover") return respond(400, {}, "no")(request, peer);
    if (method === "notifications/initialized") return respond(202)(request, peer);
    const answer = (result: unknown, headers = {}) =>
      json({ jsonrpc: "2.0", id, result }, 200, headers)(request, peer);
    if (method === "initialize") {
      return answer({ protocolVersion: "2025-06-18", capabilities: { tools: {} } }, {
        "mcp-session-id": "s",
      });
    }
    if (method === "tools/list") return answer({ tools });
    if (!isLost) return answer({ content: [{ type: "text", text: "back" }] });
    isLost = false;
    return losses.shift()!(request, peer);
  });
  await using servers = await opened(server);
  for (let inits = 2; losses.length > 0; inits++) {
    isLost = true;
    assertEquals(await servers.find("web")!.call("echo", {}, { signal }), "back");
    const asked = server.requests.filter(({ text }) => text.includes('"initialize"'));
    assertEquals(asked.length, inits);
  }
});

Deno.test("mcp: headers made of arguments hold to the letter of the revision", () => {
  assertEquals(["a b", "", " a", "a\n", "=?base64?x?="].map(headerValue), [
    "a b",
    "",
    "=?base64?IGE=?=",
    "=?base64?YQo=?=",
    "=?base64?PT9iYXNlNjQ/eD89?=",
  ]);
  const tool = (...named: [header: unknown, type: string][]) => ({
    name: "a",
    inputSchema: {
      type: "object",
      properties: Object.fromEntries(
        named.map(([header, type], i) => [`p${i}`, { type, "x-mcp-header": header }]),
      ),
    },
  });
  const good = tool(["A", "string"], ["B", "integer"], ["C", "boolean"]);
  assertEquals(problemOfHeaders(good), undefined);
  assertEquals(problemOfHeaders({ name: "a", inputSchema: { type: "object" } }), undefined);
  for (
    const wrong of [
      tool(["A", "number"]),
      tool(["a b", "string"]),
      tool(["", "string"]),
      tool(["A", "object"]),
      tool(["A", "string"], ["a", "string"]),
    ]
  ) assertEquals(problemOfHeaders(wrong), "a: its x-mcp-header names no header");
  const rows: [args: Record<string, unknown>, headers: Record<string, string>][] = [
    [{ p0: "x", p1: 1, other: 2 }, { "mcp-param-A": "x", "mcp-param-B": "1" }],
    [{ p0: null, p1: {}, p2: false }, { "mcp-param-C": "false" }],
    [{}, {}],
  ];
  const call = (method: string, args: unknown) =>
    paramHeaders([good], { jsonrpc: "2.0", id: 1, method, params: { name: "a", arguments: args } });
  for (const [args, headers] of rows) assertEquals(call("tools/call", args), headers);
  assertEquals([call("prompts/get", { p0: "x" }), call("tools/call", 5)], [{}, {}]);
});

Deno.test("mcp: addresses that a server names lead neither inside the own network nor over plain HTTP", () => {
  const rows: [address: string, server: string, isGood: boolean][] = [
    ["https://auth.example/x", "https://mcp.example/mcp", true],
    ["http://auth.example/x", "https://mcp.example/mcp", false],
    ["https://10.0.0.1/x", "https://mcp.example/mcp", false],
    ["https://169.254.169.254/x", "https://mcp.example/mcp", false],
    ["http://127.0.0.1:9/x", "https://mcp.example/mcp", false],
    ["http://127.0.0.1:9/x", "http://127.0.0.1:8/mcp", true],
    ["https://a@auth.example/", "https://mcp.example/mcp", false],
    ["https://:b@auth.example/", "https://mcp.example/mcp", false],
    ["https://10.0.0.1/x", "https://10.0.0.2/mcp", true],
    ["file:///etc/passwd", "https://mcp.example/mcp", false],
    ["https://localhost./x", "https://mcp.example/mcp", false],
    ["https://metadata.google.internal/x", "https://mcp.example/mcp", false],
  ];
  for (const [address, server, isGood] of rows) {
    let seen = true;
    try {
      checkedAddress(address, server);
    } catch {
      seen = false;
    }
    assertEquals(seen, isGood, address);
  }
});

Deno.test("mcp: a header that cannot be sent is named, without its value", () => {
  const [web] = definitionsIn(
    { mcpServers: { web: { url: "http://a", headers: { "X-Key": "${KEY}" } } } },
    { scope: "user" },
  );
  const error = assertThrows(
    () => expanded(web!, () => "the key\nof mine"),
    Error,
    "its header X-Key",
  );
  assert(!error.message.includes("of mine"));
});

Deno.test("mcp: a sign-in of another run is seen at once, and those of others are kept", async () => {
  using temp = tempFolder();
  const folder = temp.path;
  const [one, two] = [new TokenStore(`${folder}/tokens`), new TokenStore(`${folder}/tokens`)];
  assertEquals(one.of("a"), {});
  await two.set("a", { challenge: "x" });
  assertEquals(one.of("a"), { challenge: "x" });
  await one.set("b", { challenge: "y" });
  assertEquals(two.of("a"), { challenge: "x" });
});
