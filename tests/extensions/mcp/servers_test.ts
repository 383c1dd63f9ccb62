import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { definitionsIn } from "../../../src/extensions/mcp/definition.ts";
import { McpServers } from "../../../src/extensions/mcp/servers.ts";
import type { ServerOptions } from "../../../src/extensions/mcp/server.ts";
import { repairCall } from "../../../src/tools/repair/call.ts";
import type { Confine } from "../../../src/types/confine.ts";
import type { Tool, ToolContext } from "../../../src/types/tool.ts";
import { badServer, serverOptions } from "../../helpers/mcp.ts";
import { left, living, marker } from "../../helpers/processes.ts";
import { waitUntil } from "../../helpers/wait_until.ts";
import { tempFolder } from "../../helpers/temp_folder.ts";

/** A server in a mode of the script, in a folder of its own. */
interface Bad extends AsyncDisposable {
  servers: McpServers;
  folder: string;
  news: string[];
  /** Calls a tool by the name that its server gave it. */
  call(name: string, args?: Record<string, unknown>, signal?: AbortSignal): Promise<string>;
  find(query: string): Promise<string>;
  /** A later session with the same folder and memory. */
  again(): Promise<Bad>;
}

async function bad(mode: string, { args = [], fields = {}, folder: given, more = {} }: {
  args?: string[];
  fields?: Record<string, unknown>;
  folder?: string;
  more?: Partial<ServerOptions>;
} = {}): Promise<Bad> {
  const folder = given ?? await Deno.makeTempDir();
  const server = { ...badServer(mode, `${folder}/notes`, ...args), ...fields };
  const news: string[] = [];
  const servers = await McpServers.open(
    definitionsIn({ mcpServers: { bad: server } }, { scope: "user" }),
    {
      ...serverOptions(folder, `${folder}/memory`),
      onNews: (...lines) => void news.push(...lines),
      ...more,
    },
  );
  const signal = new AbortController().signal;
  const context = (own = signal) =>
    ({ signal: own, workingDir: folder, maxOutputChars: 1e5 }) as ToolContext;
  const offered = (name: string) => servers.tools.find((tool) => tool.name === name) as Tool;
  return {
    servers,
    folder,
    news,
    async call(name, args = {}, own = signal) {
      const forward = offered("call_tool")?.forward;
      const { tool } = forward
        ? await forward({ name, arguments: args }, context(own))
        : { tool: servers.known().find((one) => one.name === `bad__${name}`)! };
      return await tool.run(args, context(own)) as string;
    },
    find: async (query) => await offered("find_tool").run({ query }, context()) as string,
    again: () => bad(mode, { args, fields, folder, more }),
    async [Symbol.asyncDispose]() {
      await servers[Symbol.asyncDispose]();
      if (!given) await Deno.remove(folder, { recursive: true });
    },
  };
}

const startsOf = async ({ folder }: Bad) =>
  Number(await Deno.readTextFile(`${folder}/notes.starts`).catch(() => "0"));

Deno.test("mcp: a server starts on first use, in either era, and one is found and called", async () => {
  for (const mode of ["modern", "legacy", "polite", "noisy", "stderr-flood"]) {
    await using one = await bad(mode);
    assertEquals(one.servers.tools.map(({ name }) => name), ["find_tool", "call_tool"]);
    assertEquals(await startsOf(one), 0);
    assertStringIncludes(await one.find("say again"), "bad__echo");
    assertMatch(await one.call("echo", { text: "hi" }), /^echo hi from \d+$/);
    const { facts } = await one.servers.find("bad")!.refresh();
    assertEquals(facts.era, mode === "modern" ? "modern" : "legacy");
    assertEquals(await startsOf(one), 1);
  }
});

Deno.test("mcp: a call that the sandbox made fail says what it lacked, and how to grant it", async () => {
  const confine: Confine = (program, args) =>
    Promise.resolve({
      ...{ program, args: [...args] },
      limitOf: ({ stderr = "" }) => /no socket/.test(stderr) ? { kind: "socket" } : undefined,
    });
  await using one = await bad("denied", { more: { confine: () => confine } });
  await one.servers.find("bad")!.refresh();
  const why = "no socket\nCause: no Unix sockets in the sandbox: copilot mcp add --no-sandbox";
  assertEquals((await assertRejects(() => one.call("echo", { text: "hi" }), Error)).message, why);
});

Deno.test("mcp: what is known of tools is kept: searching in the next session starts nothing", async () => {
  await using one = await bad("many");
  await one.find("case 17");
  await using next = await one.again();
  assertStringIncludes(await next.find("case 17"), "bad__tool_17");
  assertEquals(await startsOf(one), 1);
});

Deno.test("mcp: a wrong name starts the server that it begins with; others are awaited for a limited time", async () => {
  using temp = tempFolder();
  const folder = temp.path;
  const mcpServers = {
    one: badServer("legacy", `${folder}/one`),
    two: badServer("legacy", `${folder}/two`),
    quiet: badServer("silent", `${folder}/quiet`),
  };
  await using servers = await McpServers.open(definitionsIn({ mcpServers }, { scope: "user" }), {
    ...serverOptions(folder),
    lookMs: 50,
  });
  const { signal } = new AbortController();
  const context = { signal, workingDir: folder, maxOutputChars: 1e5 } as ToolContext;
  const call = (name: string) =>
    servers.tools.find((tool) => tool.name === "call_tool")!.forward!({ name }, context);
  const started = () => [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
  assertEquals((await call("one__echo")).tool.name, "one__echo");
  assertEquals(started(), ["one.starts"]);
  await assertRejects(() => call("one__ech"), Error, "did you mean one__echo");
  await assertRejects(() => call("mcp__one__nothing"), Error, "There is no tool");
  assertEquals(started(), ["one.starts"]);
  await assertRejects(() => call("somewhere"), Error, "The server quiet is starting");
  assertEquals((await call("two__echo")).tool.name, "two__echo");
  await assertRejects(() => call("echo"), Error, "did you mean one__echo or two__echo?");
  for (const name of ["one__echo", "mcp__one__echo"]) {
    const read = repairCall({ name, arguments: { text: "a" } }, servers.tools, folder);
    const meant = { name: "call_tool", arguments: { name, arguments: { text: "a" } } };
    assertEquals(read, { ...meant, repairs: [`${name} as call_tool`] });
  }
});

Deno.test("mcp: few tools are offered themselves, once they are known", async () => {
  await using one = await bad("legacy", { fields: { includeTools: ["echo"] } });
  await one.find("echo");
  await using next = await one.again();
  assertEquals(next.servers.tools.map(({ name }) => name), ["bad__echo"]);
  assertEquals(next.servers.tools[0]!.ruleName, "mcp__bad__echo");
  const call = { name: "mcp__bad__echo", arguments: { text: "a" } };
  const read = repairCall(call, next.servers.tools, ".")!;
  assertEquals("name" in read && [read.name, read.arguments], ["bad__echo", call.arguments]);
});

Deno.test("mcp: a server that cannot be used says why in a line, and the search goes on", async () => {
  const rows: [mode: string, fields: Record<string, unknown>, why: RegExp][] = [
    ["crashes", {}, /cannot be used: .*\(cannot find the database\)$/],
    [
      "none",
      { command: "no-such-program-anywhere" },
      /there is no program no-such-program-anywhere/,
    ],
    ["none", { cwd: "/no/such/folder" }, /its folder \/no\/such\/folder does not exist/],
    ["none", { command: "echo", args: ["hi"] }, /\(its stdout is not MCP: not JSON: hi\)/],
    ["none", { env: { A: "${NOT_SET}" } }, /the variable NOT_SET is not set/],
  ];
  for (const [mode, fields, why] of rows) {
    await using one = await bad(mode, { fields });
    const answer = await one.find("echo");
    assertMatch(answer, why);
    assert(!answer.includes("\x1b"));
  }
});

Deno.test("mcp: a server that never answers is given up by an abort, and ended", async () => {
  await using one = await bad("silent");
  const controller = new AbortController();
  const call = one.call("echo", {}, controller.signal);
  await waitUntil(async () => await startsOf(one) > 0);
  controller.abort(new Error("Esc"));
  await assertRejects(() => call, Error, "Esc");
});

Deno.test("mcp: a call without an answer ends at its time limit", async () => {
  await using one = await bad("silent-call", { fields: { timeout: 300 } });
  await assertRejects(
    () => one.call("echo"),
    Error,
    "it sent no answer to tools/call within 0.3 s",
  );
});

Deno.test("mcp: lists without end are cut, with a word", async () => {
  await using one = await bad("huge-list");
  await one.find("anything");
  assertEquals(one.servers.known().length, 1000);
  const why = "its list of tools has more than 1000";
  assertEquals(one.news, [`MCP server bad: not all is used: ${why}`]);
});

Deno.test("mcp: descriptions drive no terminal and hide nothing", async () => {
  await using one = await bad("escapes");
  const answer = await one.find("echo");
  assertStringIncludes(answer, "Safe \\u{202e}reversed\\u{202c} text");
  assertEquals(one.servers.known()[0]!.parameters.properties, {
    a: { type: "string", description: "x\\u{e0041}y" },
  });
});

Deno.test("mcp: a program gets the view of the mode that is in force", async () => {
  let view = "";
  await using one = await bad("legacy", { more: { view: () => Promise.resolve(view) } });
  const first = await one.call("echo");
  assertEquals(await one.call("echo"), first);
  view = "plan";
  const second = await one.call("echo");
  assert(second !== first);
  assertEquals(await one.call("echo"), second);
  assertEquals(await startsOf(one), 2);
});

Deno.test("mcp: a definition of a folder starts what that folder has, wherever the session is", async () => {
  using temp = tempFolder();
  const root = temp.path;
  for (const [folder, word] of [["", "right"], ["/inner", "wrong"]]) {
    await Deno.mkdir(`${root}${folder}`, { recursive: true });
    const text = `#!/bin/sh\necho ${word} >&2\nexit 1\n`;
    await Deno.writeTextFile(`${root}${folder}/run.sh`, text, { mode: 0o755 });
  }
  const source = { scope: "folder", folder: root } as const;
  await using servers = await McpServers.open(
    definitionsIn({ mcpServers: { a: { command: "./run.sh" } } }, source),
    { ...serverOptions(`${root}/inner`), isTrusted: true },
  );
  await assertRejects(() => servers.find("a")!.refresh(), Error, "(right)");
});

Deno.test("mcp: what a server starts ends with it, however it ends", {
  ignore: Deno.build.os === "windows",
}, async () => {
  const mark = marker();
  {
    await using one = await bad("grandchild", { args: [mark.slice(0)] });
    await one.call("echo");
    assertEquals((await living(mark, (count) => count >= 2)).length, 2);
  }
  assertEquals(await left(mark), []);
  const killed = marker();
  {
    await using one = await bad("grandchild", { args: [killed] });
    const [, pid] = /from (\d+)$/.exec(await one.call("echo"))!;
    assertEquals((await living(killed, (count) => count >= 2)).length, 2);
    Deno.kill(Number(pid), "SIGKILL");
    assertEquals(await left(killed), []);
  }
  const other = marker();
  {
    await using one = await bad("stubborn", { args: [other] });
    await one.call("echo");
  }
  assertEquals(await left(other), []);
});
