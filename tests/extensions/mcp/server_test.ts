/** A server of a session, over HTTP in the same process: its standing, its lists, and calls. */
import { assertEquals, assertRejects } from "@std/assert";
import { definitionsIn } from "../../../src/extensions/mcp/definition.ts";
import type { HttpAuth } from "../../../src/extensions/mcp/oauth.ts";
import type { McpServer, ServerOptions } from "../../../src/extensions/mcp/server.ts";
import { McpServers } from "../../../src/extensions/mcp/servers.ts";
import { serverOptions } from "../../helpers/mcp.ts";
import type { Tool, ToolContext } from "../../../src/types/tool.ts";

const { signal } = new AbortController();
const context = { signal, workingDir: "/" } as ToolContext;
const tool = (name: string, description = "d") => ({
  name,
  description,
  inputSchema: { type: "object" },
});

// deno-lint-ignore no-explicit-any
type Answers = (method: string, params: any) => unknown;

interface Served extends AsyncDisposable {
  servers: McpServers;
  server: McpServer;
  asked: string[];
  news: string[];
  again(more?: Partial<ServerOptions>): Promise<McpServers>;
}

async function served(
  answers: Answers,
  { fields = {}, scope = "user", more = {}, capabilities = { tools: {} } }: {
    fields?: Record<string, unknown>;
    scope?: "user" | "folder";
    more?: Partial<ServerOptions>;
    capabilities?: Record<string, unknown>;
  } = {},
): Promise<Served> {
  const asked: string[] = [];
  const http = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { id, method, params } = await request.json();
    asked.push(method);
    const result = method === "server/discover"
      ? { supportedVersions: ["2026-07-28"], capabilities }
      : answers(method, params);
    if (result instanceof Response) return result;
    return Response.json({ jsonrpc: "2.0", id, result });
  });
  const news: string[] = [];
  const usual = serverOptions(".");
  const url = `http://127.0.0.1:${http.addr.port}/mcp`;
  const open = (now: Partial<ServerOptions> = {}) =>
    McpServers.open(definitionsIn({ one: { url, ...fields } }, { scope }), {
      ...usual,
      authFor: () => undefined,
      onNews: (...lines) => void news.push(...lines),
      ...more,
      ...now,
    });
  const servers = await open();
  return {
    ...{ servers, server: servers.find("one")!, asked, news },
    again: (now) => open(now),
    async [Symbol.asyncDispose]() {
      await servers[Symbol.asyncDispose]();
      await http.shutdown();
    },
  };
}

const failed = (code: number, message: string) =>
  Response.json({ jsonrpc: "2.0", error: { code, message } }, { status: 400 });
const lists = (...tools: unknown[]): Answers => (method) =>
  method === "tools/list" ? { tools } : { content: [{ type: "text", text: method }] };
const count = (asked: readonly string[], method: string) =>
  asked.filter((one) => one === method).length;

Deno.test("mcp: a server is used once it may be", async () => {
  const answers = lists(tool("a"));
  const rows: [options: Parameters<typeof served>[1], standing: string, why?: string][] = [
    [{}, "ready"],
    [{ fields: { disabled: true } }, "disabled", "it is turned off in its definition"],
    [{ fields: { type: "sse" } }, "broken", 'the transport "sse" of 2024'],
    [{ scope: "folder" }, "unapproved", "copilot mcp approve one does"],
    [{ scope: "folder", more: { isTrusted: true } }, "ready"],
  ];
  for (const [options, standing, why] of rows) {
    await using one = await served(answers, options);
    assertEquals(one.server.standing, standing);
    const refreshed = one.server.refresh(signal);
    if (why === undefined) await refreshed;
    else await assertRejects(() => refreshed, Error, why);
    assertEquals([one.asked.length > 0, one.server.isRunning], [
      why === undefined,
      why === undefined,
    ]);
  }
  await using one = await served(answers, { scope: "folder" });
  await one.server.decide(false);
  assertEquals(one.server.standing, "unapproved");
  await one.server.decide(true);
  assertEquals(one.server.standing, "ready");
  await one.server.end();
  await assertRejects(() => one.server.refresh(signal), Error, "the session is over");
});

Deno.test("mcp: what a folder defines gets no variable unseen", async () => {
  const fields = { headers: { A: "${SECRET}" } };
  const more = { isTrusted: true, variables: () => "x" };
  await using one = await served(lists(tool("a")), { scope: "folder", fields, more });
  await assertRejects(
    () => one.server.refresh(signal),
    Error,
    "it uses the variable SECRET, which --trust does not give away: copilot mcp approve one shows it",
  );
  await one.server.decide(true);
  await one.server.refresh(signal);
});

Deno.test("mcp: a list is asked for once, and only of a server with tools", async () => {
  await using one = await served(lists(tool("a")));
  assertEquals(await one.server.call("a", {}, { signal }), "tools/call");
  assertEquals(await one.server.call("a", {}, { signal }), "tools/call");
  assertEquals(count(one.asked, "tools/list"), 1);
  await using none = await served(lists(tool("a")), { capabilities: {} });
  await none.server.refresh(signal);
  assertEquals([none.server.tools, count(none.asked, "tools/list"), none.news], [[], 0, []]);
});

Deno.test("mcp: the errors of a tool and of a server are told", async () => {
  let answer: unknown; // a function makes a response for each request
  await using one = await served((method, params) => {
    if (method !== "tools/call") return lists(tool("a"))(method, params);
    return typeof answer === "function" ? answer() : answer;
  });
  const call = () => one.server.call("a", {}, { signal });
  const text = (text: string) => [{ type: "text", text }];
  const rows: [answer: unknown, why: string][] = [
    [{ isError: true, content: text("no") }, "no"],
    [{ isError: true, content: [] }, "the tool a failed without a word"],
    [{ isError: true, content: [], structuredContent: { a: 1 } }, '{"a":1}'],
    [() => failed(-32000, "so\nit is"), "The server one answered: so it is (-32000)"],
    [() => new Response("x", { status: 500 }), "The server one gave no answer: 127.0.0.1:"],
  ];
  for (const [given, why] of rows) {
    answer = given;
    await assertRejects(call, Error, why);
  }
  await assertRejects(() => one.server.call("b", {}, { signal }), Error, "has no tool b any more.");
});

Deno.test("mcp: prompts and resources are listed where a server has some, and read", async () => {
  const answers: Answers = (method, params) =>
    ({
      "tools/list": { tools: [] },
      "prompts/list": { prompts: [{ name: "p" }, 5] },
      "resources/list": { resources: [{ uri: "a:1" }, {}] },
      "resources/read": { contents: [{ uri: params?.uri, text: "read" }] },
      "prompts/get": {
        messages: [
          { role: "user", content: { type: "text", text: JSON.stringify(params?.arguments) } },
          { role: "assistant", content: { type: "text", text: "yes" } },
          5,
        ],
      },
    })[method];
  const all = { prompts: {}, resources: {} };
  await using one = await served(answers, { capabilities: all });
  await one.server.listAll(signal);
  assertEquals(one.server.memory.prompts, [{ name: "p", arguments: [] }]);
  assertEquals(one.server.memory.resources, [{ uri: "a:1", name: "a:1" }]);
  assertEquals(await one.server.read("a:1", signal), "read");
  assertEquals(await one.server.prompt("p", { x: "1" }, signal), '{"x":"1"}\n\nAssistant: yes');
  await using prompts = await served(answers, { capabilities: { prompts: {} } });
  await prompts.server.listAll(signal);
  assertEquals(prompts.server.memory.resources, []);
  assertEquals(count(prompts.asked, "resources/list"), 0);
});

Deno.test("mcp: tools that changed are told of, and the approved ones of them only", async () => {
  let tools = [tool("a"), tool("b")];
  await using one = await served((method) => method === "tools/list" ? { tools } : {});
  await one.server.refresh(signal);
  tools = [tool("a"), tool("b", "other"), tool("c")];
  await using later = await one.again();
  const server = later.find("one")!;
  assertEquals(server.tools?.map(({ name }) => name), ["a", "b"]);
  await server.refresh(signal);
  assertEquals(server.tools?.map(({ name }) => name), ["a"]);
  assertEquals(server.changes.map(({ now, before }) => [now.name, before?.description]), [
    ["b", "d"],
    ["c", undefined],
  ]);
  assertEquals(one.news, [
    "MCP server one: tools that changed since you approved it are not offered: b, c (new) (copilot mcp approve one shows them)",
  ]);
  await assertRejects(() => server.call("c", {}, { signal }), Error, "has changed the tool c");
  await server.approveTools(server.changes.slice(0, 1));
  assertEquals(server.tools?.map(({ name }) => name), ["a", "b"]);
});

Deno.test("mcp: which tools there are is a matter of the definition, too", async () => {
  const answers = lists(tool("a"), tool("b"), tool("c"));
  const rows: [fields: Record<string, unknown>, names: string[]][] = [
    [{ includeTools: ["a", "b", "x"] }, ["a", "b"]],
    [{ excludeTools: ["a"] }, ["b", "c"]],
    [{ includeTools: ["a", "b"], excludeTools: ["a"] }, ["b"]],
  ];
  for (const [fields, names] of rows) {
    await using one = await served(answers, { fields });
    await one.server.refresh(signal);
    assertEquals(one.server.tools?.map(({ name }) => name), names);
  }
});

Deno.test("mcp: a call goes to the tool that is named, by any of its names", async () => {
  await using one = await served((method, params) =>
    method === "tools/list"
      ? { tools: [tool("echo", "x".repeat(500))] }
      : { content: [{ type: "text", text: JSON.stringify(params.arguments) }] }
  );
  const call = one.servers.tools.find(({ name }) => name === "call_tool") as Tool;
  const run = async (args: Record<string, unknown>) => {
    const { tool, args: given } = await call.forward!(args, context);
    return await tool.run(given, context);
  };
  for (const name of [" one__echo ", "mcp__one__echo", "echo"]) {
    assertEquals(await run({ name, arguments: { a: 1 } }), '{"a":1}');
  }
  assertEquals(await run({ name: "echo", arguments: '{"a": 1}', b: 2 }), '{"b":2,"a":1}');
  assertEquals(await run({ name: "echo", arguments: "text", b: 2 }), '{"b":2}');
  await assertRejects(() => run({ name: "one__ecko" }), Error, "did you mean one__echo?");
  await assertRejects(
    () => run({ name: "x".repeat(200) }),
    Error,
    `There is no tool ${"x".repeat(100)}: look`,
  );
});

Deno.test("mcp: a sign-in lasts until nothing more is asked for, three times at most", async () => {
  let [signIns, wanted, token]: [number, string?, string?] = [0];
  const auth = (signIn: () => unknown): HttpAuth => ({
    header: () => Promise.resolve(token),
    refused: () => Promise.reject(new Error("refused")),
    get wanted() {
      return wanted;
    },
    signIn: () => Promise.resolve(++signIns).then(signIn).then(() => {}),
    signOut: () => Promise.resolve(),
  });
  const works = () => [wanted, token] = [undefined, "Bearer a"];
  const rows: [wanted: string | undefined, token: string | undefined, signIns: number][] = [
    [undefined, undefined, 1],
    [undefined, "Bearer a", 0],
    ["c", "Bearer a", 1],
    ["", undefined, 1],
  ];
  for (const [open, old, expected] of rows) {
    [signIns, wanted, token] = [0, open, old];
    await using one = await served(lists(), { more: { authFor: () => auth(works) } });
    await one.server.signIn(() => {}, signal);
    assertEquals(signIns, expected);
  }
  const failures: [answers: Answers, signIn: (() => unknown) | undefined, why: string][] = [
    [lists(), undefined, "one takes no sign-in"],
    [lists(), () => Promise.reject(new Error("no")), "Cannot sign in to one: no"],
    [lists(), () => wanted = "more", "one still refuses after 3 sign-ins"],
    [() => new Response("x", { status: 500 }), works, "answered 500: x"],
  ];
  for (const [answers, signIn, why] of failures) {
    [wanted, token] = [undefined, undefined];
    const authFor = () => signIn && auth(signIn);
    await using one = await served(answers, { more: { authFor } });
    await assertRejects(() => one.server.signIn(() => {}, signal), Error, why);
  }
});
