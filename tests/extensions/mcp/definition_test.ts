import { assertEquals } from "@std/assert";
import {
  approvedPart,
  definitionId,
  definitionsIn,
  expanded,
  type McpDefinition,
  variablesOf,
} from "../../../src/extensions/mcp/definition.ts";

Deno.test("mcp: the variables of a definition are those that its parts expand to, each by itself", () => {
  const rows: [server: Record<string, unknown>, names: string[]][] = [
    [{ command: "${A}", args: ["{env:B}", "${C:-d}", "$D", "$${E}"] }, ["A", "B", "C", "E"]],
    // The beginning of one in an argument must not hide another one behind it.
    [{ command: "x", args: ["${A:-", "${SECRET}"] }, ["SECRET"]],
    [{ url: "https://a/${A}", headers: { b: "${env:B}" } }, ["A", "B"]],
    [{ command: "x", env: { a: '${A}"${B}' }, cwd: "${C}" }, ["A", "B", "C"]],
    [{ url: "https://a", oauth: { clientId: "${A}", clientSecret: "${B}" } }, ["A", "B"]],
  ];
  for (const [server, names] of rows) {
    const [definition] = definitionsIn({ mcpServers: { a: server } }, { scope: "folder" });
    assertEquals(variablesOf(definition!).sort(), names, JSON.stringify(server));
  }
});

const read = (server: unknown, name = "a", scope: "user" | "folder" = "user"): McpDefinition =>
  definitionsIn({ mcpServers: { [name]: server } }, { scope })[0]!;

Deno.test("mcp: a definition is read by all the spellings of its fields", () => {
  const rows: [server: Record<string, unknown>, read: Record<string, unknown>][] = [
    [{ command: "a", args: ["b"], env: { C: 1 } }, {
      program: { command: "a", args: ["b"], env: { C: "1" } },
    }],
    [{ command: ["a", "b"], args: ["c"], environment: { D: true } }, {
      program: { command: "a", args: ["b", "c"], env: { D: "true" } },
    }],
    [{ httpUrl: "https://a", headers: { B: "c" } }, { url: "https://a", headers: { B: "c" } }],
    [{ command: "a", timeout: 5 }, { timeoutMs: 5 }],
    [{ command: "a", tool_timeout_sec: 5 }, { timeoutMs: 5000 }],
    [{ command: "a", disabled: true }, { isEnabled: false }],
    [{ command: "a", enabled: false }, { isEnabled: false }],
    [{ command: "a", network: false, sandbox: "off" }, { network: false, isSandboxed: false }],
    [{ command: "a", includeTools: ["b"], excludeTools: ["c"] }, {
      include: ["b"],
      exclude: ["c"],
    }],
    [{ command: "a", enabled_tools: ["b"], disabled_tools: ["c"] }, {
      ...{ include: ["b"], exclude: ["c"] },
    }],
    [{ command: "a", cwd: "b" }, { cwd: "b" }],
    [{ url: "https://a", oauth: false }, { oauth: false }],
    [{ url: "https://a", oauth: { clientId: "c", clientSecret: "s", scope: "x" } }, {
      oauth: { clientId: "c", clientSecret: "s", scope: "x" },
    }],
    [{ url: "https://a", oauth: { clientId: "c", callbackPort: 9 } }, {
      oauth: { clientId: "c", callbackPort: 9 },
    }],
  ];
  for (const [server, expected] of rows) {
    const definition = read(server);
    assertEquals(definition.problem, undefined);
    const found = Object.keys(expected).map((key) => [key, definition[key as keyof McpDefinition]]);
    assertEquals(Object.fromEntries(found), expected);
  }
  const { isEnabled, network, isSandboxed, exclude, headers } = read({ command: "a" });
  assertEquals({ isEnabled, network, isSandboxed: isSandboxed, exclude, headers }, {
    ...{ isEnabled: true, network: true, isSandboxed: true, exclude: [], headers: {} },
  });
  // What a folder defines is confined whatever it says.
  assertEquals(read({ command: "a", sandbox: "off" }, "a", "folder").isSandboxed, true);
});

Deno.test("mcp: a folder's server has the network by itself only if nothing of the folder runs", () => {
  const rows: [command: string, network: boolean, more?: Record<string, unknown>][] = [
    ["npx -y @a/b-c@latest .", true],
    ["npx a@^1.2 --x ./y", true],
    ["uvx a[b]==1.2", true],
    ["uvx --from git+https://a/b c", true],
    ["bunx --yes a", true],
    ["npx -y ./a", false],
    ["npx a@./b", false],
    ["npx a/b", false],
    ["npx -p ./a b", false],
    ["npx --package=./a b", false],
    ["uvx --from . a", false],
    ["uvx --with ./a b", false],
    ["npx", false],
    ["npm exec a", false],
    ["python3 ./mcp/server.py", false],
    ["./npx a", false],
    ["npx a", false, { cwd: "." }],
    ["npx a", false, { network: false }],
    ["python3 a.py", true, { network: true }],
  ];
  for (const [command, network, more] of rows) {
    const given = { command: command.split(" "), ...more };
    assertEquals(read(given, "a", "folder").network, network, command);
    assertEquals(read(given).network, more?.network !== false);
  }
});

Deno.test("mcp: a definition that makes no sense says why", () => {
  const name =
    "its name must be 1 to 55 of A-Z a-z 0-9 . _ -, with a letter or a digit at both ends";
  const rows: [server: unknown, problem: string | undefined, name?: string][] = [
    [5, "its definition is not a JSON object"],
    [{}, "it has neither a command nor a url"],
    [{ command: "a", url: "https://a" }, "it has both a command and a url"],
    [{ command: " " }, "its command is empty"],
    [{ url: "ftp://a" }, "its url must begin with http:// or https://"],
    [{ url: "http://a" }, undefined],
    [{ url: "{env:A}" }, undefined],
    [{ command: 5 }, "its command must be a string"],
    [{ command: ["a", 5] }, "its command must be a list of strings"],
    [{ command: "a", args: "b" }, "its args must be a list of strings"],
    [{ command: "a", env: { A: {} } }, "its env must be an object of strings"],
    [{ command: "a", timeout: 0 }, "its timeout must be a number above 0"],
    [
      { command: "a", timeout: null, tool_timeout_sec: "5" },
      "its tool_timeout_sec must be a number above 0",
    ],
    [{ url: "https://a", oauth: { clientId: 5 } }, "its clientId must be a string"],
    [{ command: "a" }, undefined, "x".repeat(55)],
    [{ command: "a" }, name, "x".repeat(56)],
    [{ command: "a" }, name, "-a"],
    [{ command: "a" }, undefined, "a-b.c_d"],
    [{ command: "a" }, "its name must not have two of . and _ in a row", "a__b"],
  ];
  for (const [server, problem, name] of rows) assertEquals(read(server, name).problem, problem);
  assertEquals(read({ url: "https://a", type: "SSE" }).problem?.includes('"sse" of 2024'), true);
  assertEquals(read({ url: "https://a", type: "http" }).problem, undefined);
});

Deno.test("mcp: servers stand under one of several keys, or beside other settings", () => {
  const names = (value: Record<string, unknown>) =>
    definitionsIn(value, { scope: "user" }).map(({ name }) => name);
  const a = { command: "a" };
  for (const key of ["mcpServers", "mcp", "servers"]) {
    assertEquals(names({ [key]: { a, b: 5 }, c: a }), ["a", "b"]);
  }
  assertEquals(read({ command: "npx @playwright/mcp@latest", args: ["-x y"] }).program, {
    ...{ command: "npx", args: ["@playwright/mcp@latest", "-x y"], env: {} },
  });
  for (const command of ["/opt/My App/x", "a 'b c'"]) {
    assertEquals(read({ command }).program?.command, command);
  }
  const others = { "Azure MCP Server": a, "microsoft/playwright-mcp": a };
  assertEquals(names(others), ["Azure-MCP-Server", "microsoft-playwright-mcp"]);
  const url = { url: "https://a" };
  assertEquals(names({ a, b: 5, c: { x: 1 }, d: url, e: { httpUrl: "" } }), ["a", "d", "e"]);
});

Deno.test("mcp: what is approved is what runs, and with what; another one has another id", async () => {
  const part = (server: unknown, scope?: "user" | "folder") =>
    approvedPart(read(server, "a", scope));
  assertEquals(part({ command: "a", args: ["b"], timeout: 5 }), { command: ["a", "b"] });
  assertEquals(part({ command: "a", env: { B: "c" }, cwd: "d", network: false }), {
    ...{ command: ["a"], env: { B: "c" }, cwd: "d", network: false },
  });
  assertEquals(part({ url: "https://a", headers: { B: "c" }, network: false }), {
    ...{ url: "https://a", headers: { B: "c" } },
  });
  assertEquals(part({ url: "https://a", oauth: false }), { url: "https://a" });
  assertEquals(part({ url: "https://a", oauth: { scope: "s" } }), {
    ...{ url: "https://a", oauth: { scope: "s" } },
  });
  const inFolder = (folder: string, timeout = 5) =>
    definitionsIn({ a: { command: "a", timeout } }, { scope: "folder", folder })[0]!;
  assertEquals(approvedPart(inFolder("/f")), { command: ["a"], folder: "/f", network: false });
  const ids = await Promise.all([
    ...[inFolder("/f"), inFolder("/g"), read({ command: "a" }), read({ command: "b" })],
    inFolder("/f", 6),
  ].map(definitionId));
  assertEquals([new Set(ids).size, ids[0] === ids[4]], [4, true]);
});

Deno.test("mcp: variables stand for their values, once, or their defaults", () => {
  const env: Record<string, string> = { A: "${B}", B: "b" };
  const url = (given: string) => expanded(read({ url: given }), (name) => env[name]).url;
  assertEquals(
    url("https://${A}/{env:B}/${env:B}/${C:-d}/${D:-}/$B/$${B}"),
    "https://${B}/b/b/d//$B/$b",
  );
  const oauth = { clientId: "${B}", clientSecret: "x${B}", scope: "${B}" };
  const all = expanded(
    read({ url: "https://a", headers: { H: "${B}" }, oauth }),
    (name) => env[name],
  );
  assertEquals([all.headers, all.oauth], [
    { H: "b" },
    { clientId: "b", clientSecret: "xb", scope: "b" },
  ]);
});

Deno.test("mcp: the fields of codex name variables, which are looked up when the server starts", () => {
  const [web, program] = definitionsIn({
    mcp_servers: {
      web: {
        url: "https://a.example/mcp",
        bearer_token_env_var: "TOKEN",
        http_headers: { "X-A": "1" },
        env_http_headers: { "X-B": "B" },
      },
      program: { command: "a", env_vars: ["K"], env: { L: "2" } },
    },
  }, { scope: "user" });
  assertEquals(web!.headers, { "X-A": "1", "X-B": "${B}", Authorization: "Bearer ${TOKEN}" });
  assertEquals(program!.program!.env, { K: "${K}", L: "2" });
});
