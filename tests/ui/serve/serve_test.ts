/** `copilot serve`: the real program, raw requests, and real WebSockets. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { TextLineStream } from "../../helpers/lines.ts";
import { command } from "../../helpers/program.ts";
import { strictServer } from "../../helpers/strict_server.ts";
import { waitUntil } from "../../helpers/wait_until.ts";
import { workspace } from "../../tools/workspace.ts";

/** Starts the program. Returns its address and token. */
async function serving(folder: string, model: string, ...more: string[]) {
  const args = ["serve", "--base-url", `${model}/v1`, "-m", "test", "--no-session", ...more];
  const child = command(args, { cwd: folder }).spawn();
  const lines = child.stdout.pipeThrough(new TextLineStream())[Symbol.asyncIterator]();
  const { value: first } = await lines.next();
  const [, host, token] = first.match(/^Open http:\/\/(127\.0\.0\.1:\d+)\/#([0-9a-f]{32})$/);
  return {
    ...{ host, token } as { host: string; token: string },
    async [Symbol.asyncDispose]() {
      child.kill("SIGINT");
      const [{ code }] = await Promise.all([
        child.status,
        child.stderr.cancel(),
        (async () => {
          while (!(await lines.next()).done);
        })(),
      ]);
      assertEquals(code, 130);
    },
  };
}

/** Sends a raw request, as no browser does. Returns its status and its text. */
async function request(host: string, path: string, headers: Record<string, string> = {}) {
  const [hostname, port] = host.split(":");
  using connection = await Deno.connect({ hostname: hostname!, port: Number(port) });
  const fields = Object.entries({ Host: host, Connection: "close", ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`).join("");
  await connection.write(new TextEncoder().encode(`GET ${path} HTTP/1.1\r\n${fields}\r\n`));
  let text = "";
  const decoder = new TextDecoder();
  const bytes = new Uint8Array(65_536);
  for (;;) {
    const count = await connection.read(bytes);
    if (count === null) break;
    text += decoder.decode(bytes.subarray(0, count), { stream: true });
    if (text.includes("\r\n\r\n")) break;
  }
  return { status: Number(text.slice(9, 12)), text };
}

const UPGRADE = {
  Connection: "Upgrade",
  Upgrade: "websocket",
  "Sec-WebSocket-Version": "13",
  "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
};

/** A client with one connection. */
async function client(url: string, options: string[] | { headers: Record<string, string> }) {
  const socket = new WebSocket(url, options as string[]);
  const waiting = new Map<number, (message: Record<string, unknown>) => void>();
  const updates: Record<string, unknown>[] = [];
  let last = 0;
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(data);
    if (message.method === "session/update") updates.push(message.params.update);
    else waiting.get(message.id)?.(message);
  };
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = reject;
  });
  return {
    ...{ socket, updates },
    ask(method: string, params: unknown) {
      const id = ++last;
      const answer = new Promise<Record<string, unknown>>((resolve) => waiting.set(id, resolve));
      socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }, null, 2));
      return answer.then(({ result }) => result as Record<string, unknown>);
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => socket.onclose = resolve);
      socket.close();
      await closed;
    },
  };
}

Deno.test("serve: without the token, under another name, or from another page, nobody gets in", async () => {
  using ws = workspace();
  await using at = await serving(ws.dir, "http://127.0.0.1:9", "--allow-host", "PC.example");
  const { host, token } = at;
  const port = host.split(":")[1];
  const bearer = { Authorization: `Bearer ${token}` };
  const wrong = token.replace(/.$/, (digit) => digit === "0" ? "1" : "0");
  const cases: [status: number, path: string, headers: Record<string, string>][] = [
    [200, "/", {}],
    [200, "/", { Host: `localhost:${port}` }],
    [200, "/", { Host: "pc.example", Origin: "https://pc.example" }],
    [403, "/", { Host: "evil.example" }],
    [403, "/", { Host: `127.0.0.1.evil.example:${port}` }],
    [403, "/", { Host: "127.0.0.1" }],
    [403, "/", { Host: "a b[" }],
    [400, "/acp", { ...bearer, Upgrade: "websocket" }],
    [400, "/acp", { ...UPGRADE, "Sec-WebSocket-Protocol": `token.${token}` }],
    [404, "/x", bearer],
    [404, "/acp/x", bearer],
    [426, "/acp", bearer],
    [401, "/acp", UPGRADE],
    [401, "/acp", { ...UPGRADE, Authorization: `Bearer ${wrong}` }],
    [401, "/acp", { ...UPGRADE, Authorization: `Bearer ${token}0` }],
    [401, "/acp", { ...UPGRADE, "Sec-WebSocket-Protocol": `acp, token.${wrong}` }],
    [401, `/acp?token=${token}`, UPGRADE],
    [403, "/acp", { ...UPGRADE, ...bearer, Origin: "https://evil.example" }],
    [403, "/acp", { ...UPGRADE, ...bearer, Origin: "null" }],
    [403, "/acp", { ...UPGRADE, ...bearer, Origin: `http://localhost:${port}` }],
    [101, "/acp", { ...UPGRADE, ...bearer, Origin: `http://${host}` }],
    [101, "/acp", { ...UPGRADE, "Sec-WebSocket-Protocol": `acp, token.${token}` }],
    [101, "/acp", { ...UPGRADE, "Sec-WebSocket-Protocol": `acp,token.${token}` }],
  ];
  for (const [status, path, headers] of cases) {
    const { status: found, text } = await request(host, path, headers);
    assertEquals([found, path, headers], [status, path, headers]);
    assert(!text.includes(token));
    if (status === 101) assertMatch(text, /acp-connection-id: \S/i);
  }
});

Deno.test("serve: the page runs its own script alone", async () => {
  using ws = workspace();
  await using at = await serving(ws.dir, "http://127.0.0.1:9");
  const response = await fetch(`http://${at.host}/`);
  const page = await response.text();
  const policy = response.headers.get("content-security-policy")!;
  const script = page.match(/<script>([^]*)<\/script>/)![1]!;
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(script));
  assertStringIncludes(policy, `script-src 'sha256-${new Uint8Array(digest).toBase64()}';`);
  assertMatch(policy, /default-src 'none'.*connect-src 'self'.*frame-ancestors 'none'/);
  // A question shows what terminals show, and its buttons are below all of it.
  const [, hiding] = script.match(/text\.replace\(\s*\/(.*)\/gu,/)!;
  const invisible = "\u115f\u3164\u2800\ufe01\u{e0041}\u202e";
  assertEquals(invisible.replace(new RegExp(hiding!, "gu"), ""), "");
  assertEquals(page.includes("max-height"), false);
  assertEquals(page.match(/\b(?:https?:)?\/\/[a-z0-9]|\son[a-z]+=|innerHTML/g), null);
  // The browser would say where it is wrong: it is parsed here.
  new Function(script);
});

Deno.test("serve: each connection has its own sessions, in the server's folder", async () => {
  using ws = workspace();
  await using model = strictServer([{ text: "One." }, { text: "Two." }]);
  await using at = await serving(ws.dir, model.url);
  const { host, token } = at;
  const hello = { protocolVersion: 1, clientCapabilities: {} };
  const ways = [["acp", `token.${token}`], { headers: { Authorization: `Bearer ${token}` } }];
  const ids: unknown[] = [];
  for (const way of ways) {
    await using it = await client(`ws://${host}/acp`, way);
    it.socket.send(new Uint8Array([1, 2, 3]));
    const { _meta } = await it.ask("initialize", hello);
    assertEquals(_meta, { "copilot/folder": ws.dir });
    const { sessionId } = await it.ask("session/new", { cwd: ws.dir, mcpServers: [] });
    ids.push(sessionId);
    const prompt = [{ type: "text", text: "Hello" }];
    const { stopReason } = await it.ask("session/prompt", { sessionId, prompt });
    assertEquals(stopReason, "end_turn");
    const said = it.updates.filter(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk")
      .map(({ content }) => (content as { text: string }).text);
    assertEquals(said.join(""), ids.length === 1 ? "One." : "Two.");
    if (ids.length === 1) continue;
    const other = await it.ask("session/prompt", { sessionId: ids[0], prompt });
    assertEquals(other, undefined);
  }
});

Deno.test("serve: a session that was still opening when its client left ends, too", async () => {
  using ws = workspace();
  Deno.mkdirSync(ws.at(".agents"));
  const hooks = [{ hooks: [{ type: "command", command: "echo over > over" }] }];
  ws.put(".agents/hooks.json", JSON.stringify({ SessionEnd: hooks }));
  const [asked, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await using model = Deno.serve({ port: 0, onListen() {} }, async () => {
    asked.resolve();
    await gone.promise;
    return new Response("", { status: 404 });
  });
  const url = `http://127.0.0.1:${model.addr.port}`;
  await using at = await serving(ws.dir, url, "--trust", "--sandbox", "off", "--yes");
  {
    await using it = await client(`ws://${at.host}/acp`, ["acp", `token.${at.token}`]);
    await it.ask("initialize", { protocolVersion: 1, clientCapabilities: {} });
    it.ask("session/new", { cwd: ws.dir, mcpServers: [] });
    await asked.promise;
  }
  gone.resolve();
  await waitUntil(() => ws.names().includes("over"));
});

Deno.test("serve: a port that is in use, one that is none, no host and a flag of others are named", async () => {
  using ws = workspace();
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const cases: [flags: string[], named: string][] = [
    ...[String(taken.addr.port), "70000", "x"].map((port) => ["--port", port]),
    ...["https://pc.example", "a,b", "*"].map((name) => ["--allow-host", name]),
    ["--mcp-config", "has no use for --mcp-config"],
  ].map(([flag, value]) => [["--local", flag!, value!], value!]);
  for (const [flags, named] of [...cases, [[], "start copilot serve with"]] as typeof cases) {
    const { code, stderr } = await command(["serve", ...flags], { cwd: ws.dir }).output();
    const text = new TextDecoder().decode(stderr);
    assertEquals([code, text.includes(named), text.trim().split("\n").length], [2, true, 1]);
  }
});
