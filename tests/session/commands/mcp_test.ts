import { assertEquals } from "@std/assert/equals";
import { assertMatch } from "@std/assert/match";
import { fromFileUrl } from "@std/path/from-file-url";
import { openPermissions } from "../../../src/session/permissions.ts";
import { fakeSession } from "../../helpers/fake_session.ts";

const SCRIPT = fromFileUrl(new URL("../../mcp/bad_server.ts", import.meta.url));

Deno.test("/mcp lists the servers, shows what one has, and approves a folder's", async () => {
  const root = await Deno.realPath(await Deno.makeTempDir());
  try {
    const args = ["run", "-A", "--no-check", SCRIPT, "legacy"];
    const servers = {
      two: { command: Deno.execPath(), args },
      old: { type: "sse", url: "http://a" },
    };
    await Deno.writeTextFile(`${root}/.mcp.json`, JSON.stringify({ mcpServers: servers }));
    const env = (name: string) => name === "PATH" ? Deno.env.get("PATH") : undefined;
    const permissions = await openPermissions({ sandbox: "off" }, env);
    await using one = await fakeSession("http://127.0.0.1:9", { folder: root, permissions });
    const [two, old] = (await one.command("/mcp"))!.split("\n");
    assertEquals(two, "  two: not approved: /mcp approve two");
    assertMatch(old!, /^ {2}old: cannot be used · the transport "sse" of 2024 is not supported/);
    assertMatch((await one.command("/mcp two"))!, /may not be used: the user has not approved it/);
    assertEquals(await one.session.complete("mcp", "app"), ["approve two"]);
    assertMatch((await one.command("/mcp approve two"))!, /^Approved two\./);
    assertMatch(
      (await one.command("/mcp two"))!,
      /^ {2}two: 2 tools, about \d+ tokens if all were shown · running\n {4}echo: Says it again\n {4}slow: Does slow$/,
    );
    assertEquals(await one.command("/mcp three"), "There is no MCP server three: see /mcp");
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
