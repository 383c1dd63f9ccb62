import { assertEquals } from "@std/assert/equals";
import { assertMatch } from "@std/assert/match";
import { assertStringIncludes } from "@std/assert/string-includes";
import { fromFileUrl } from "@std/path/from-file-url";
import { PathTable } from "../../../src/safety/path_table.ts";
import { findSandbox } from "../../../src/safety/sandbox/probe.ts";
import { run } from "../../helpers/program.ts";
import { tempFolder } from "../../helpers/temp_folder.ts";

const SCRIPT = fromFileUrl(new URL("bad_server.ts", import.meta.url));

const found = await findSandbox(new PathTable({ home: Deno.env.get("HOME")! }));

Deno.test({
  name: "copilot mcp: what a server leaves is reported",
  ignore: typeof found === "string" || found.by !== "bubblewrap",
  async fn() {
    const root = await Deno.realPath(await Deno.makeTempDir());
    for (const name of ["folder", "state", "config", "home"]) await Deno.mkdir(`${root}/${name}`);
    const env = {
      HOME: `${root}/home`,
      XDG_CONFIG_HOME: `${root}/config`,
      XDG_STATE_HOME: `${root}/state`,
    };
    const mcp = (...words: string[]) => run(["mcp", ...words], { cwd: `${root}/folder`, env });
    const line =
      `cd ${root}/folder && git init -q x && git -C x config core.fsmonitor 'sh ../e.sh'`;
    assertEquals((await mcp("add", "one", "--", "sh", "-c", line)).code, 0);
    assertMatch((await mcp("test", "one")).stderr, /x\/[.]git\/config was moved to config[.]untr/);
    await Deno.remove(root, { recursive: true });
  },
});

Deno.test("copilot mcp: a server is added, tried, listed and removed; a folder's is approved first", async () => {
  using temp = tempFolder();
  const root = temp.path;
  for (const name of ["folder", "state", "config"]) await Deno.mkdir(`${root}/${name}`);
  const env = { XDG_CONFIG_HOME: `${root}/config`, XDG_STATE_HOME: `${root}/state` };
  const mcp = (...words: string[]) => run(["mcp", ...words], { cwd: `${root}/folder`, env });
  const program = [Deno.execPath(), "run", "-A", "--no-check", SCRIPT, "legacy"];
  assertStringIncludes((await mcp("list")).stdout, "No MCP server is defined");
  assertEquals((await mcp("add", "one", "--no-sandbox", "--", ...program)).code, 0);
  assertStringIncludes(
    (await mcp("add", "one", "https://a.example")).stderr,
    "There is a server one already",
  );
  assertMatch(
    (await mcp("test", "one")).stdout,
    /^Answers in \d+ ms: 2025-11-25 \(legacy\)\none: 2 tools, about \d+ tokens/,
  );
  assertStringIncludes((await mcp("list")).stdout, "one: 2 tools, about ");
  await Deno.writeTextFile(
    `${root}/folder/.mcp.json`,
    JSON.stringify({ mcpServers: { two: { command: "true", args: ["\x1b[2J"] } } }),
  );
  assertStringIncludes(
    (await mcp("test", "two")).stderr,
    "may not be used: the user has not approved it",
  );
  const open = await mcp("approve", "two");
  assertEquals(open.code, 1);
  assertStringIncludes(open.stdout, 'command: ["true","\\u001b[2J"]');
  assertEquals((await mcp("approve", "two", "--yes")).code, 0);
  assertStringIncludes((await mcp("list")).stdout, "two: its tools are not known yet");
  assertStringIncludes(
    (await mcp("login", "one")).stderr,
    "takes what it needs from its environment",
  );
  // The doctor lists them, and starts none: one that it started would leave a note.
  const doctor = await run(["doctor", "--local", "--host", "http://127.0.0.1:9"], {
    cwd: `${root}/folder`,
    env,
  });
  assertMatch(doctor.stdout, /^ok +mcp +one: 2 tools, about \d+ tokens if all were shown$/m);
  assertMatch(doctor.stdout, /^ok +mcp +two: its tools are not known yet$/m);
  assertMatch(
    doctor.stdout,
    /^ok +mcp +each request offers find_tool, call_tool: about \d+ tokens$/m,
  );
  assertEquals((await mcp("remove", "one")).code, 0);
  const wrong = await mcp("lst");
  assertEquals(wrong.code, 2);
  assertStringIncludes(wrong.stderr, "did you mean copilot mcp list?");
  const web = { web: { url: "https://a.example/mcp" } };
  await Deno.writeTextFile(`${root}/config/copilot/mcp.json`, JSON.stringify({ mcpServers: web }));
  assertEquals((await mcp("logout", "web")).stdout, "Signed out of web.\n");
});
