import { assert } from "@std/assert/assert";
import { assertEquals } from "@std/assert/equals";
import { assertMatch } from "@std/assert/match";
import { fromFileUrl } from "@std/path/from-file-url";
import type { Frontend } from "../../../src/session/frontend.ts";
import { serverLines } from "../../../src/frontends/session_lines.ts";
import { openPermissions } from "../../../src/session/permissions.ts";
import { fakeSession } from "../../helpers/fake_session.ts";

type Question = Parameters<NonNullable<Frontend["confirm"]>>[0];

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
    const asked: Question[] = [];
    const answers = [undefined, undefined, true];
    await using one = await fakeSession("http://127.0.0.1:9", { folder: root, permissions }, {
      confirm: (question) => (asked.push(question), Promise.resolve(answers.shift())),
    });
    const [two, old] = (await one.command("/mcp"))!.split("\n");
    assertEquals(two, "  two: not approved: /mcp approve two");
    assertMatch(old!, /^ {2}old: cannot be used · the transport "sse" of 2024 is not supported/);
    assertMatch((await one.command("/mcp two"))!, /may not be used: the user has not approved it/);
    assertEquals(await one.session.complete("mcp", "app"), ["approve two"]);
    assertEquals(await one.command("/mcp approve two"), "Not approved: two.");
    assertMatch((await one.command("/mcp approve two"))!, /^Approved two\./);
    // It was shown whole each time, also as the session began.
    for (const question of asked) {
      assert(question.type === "server");
      assertEquals(question.definition.command, [Deno.execPath(), ...args]);
    }
    assertEquals(asked.length, 3);
    assertMatch(
      (await one.command("/mcp two"))!,
      /^ {2}two: 2 tools, about \d+ tokens if all were shown · running\n {4}echo: Says it again\n {4}slow: Does slow$/,
    );
    assertEquals(await one.command("/mcp three"), "There is no MCP server three: see /mcp");
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("/mcp: a tool that changed is approved once its difference was shown; a prompt is sent at once", async () => {
  const root = await Deno.realPath(await Deno.makeTempDir());
  try {
    const env = (name: string) =>
      ({ PATH: Deno.env.get("PATH"), HOME: root } as Record<string, string | undefined>)[name];
    const open = async (mode: string, asked: Question[] = []) => {
      const args = ["run", "-A", "--no-check", SCRIPT, mode, `${root}/notes`];
      await Deno.mkdir(`${root}/.config/copilot`, { recursive: true });
      await Deno.writeTextFile(
        `${root}/.config/copilot/mcp.json`,
        JSON.stringify({ mcpServers: { two: { command: Deno.execPath(), args } } }),
      );
      const permissions = await openPermissions({ sandbox: "off" }, env);
      const folder = `${root}/.config`;
      return await fakeSession("http://127.0.0.1:9", { folder, permissions }, {
        confirm: (question) => (asked.push(question), Promise.resolve(true)),
      });
    };
    {
      await using one = await open("changed");
      await one.command("/mcp two");
    }
    {
      const asked: Question[] = [];
      await using one = await open("changed", asked);
      assertMatch((await one.command("/mcp two"))!, /changed, and not offered: echo, new_one/);
      assertEquals(
        await one.command("/mcp approve two"),
        "Approved the tools of two that you saw.",
      );
      const [question] = asked;
      assert(question?.type === "server");
      assertMatch(serverLines(question).join("\n"), /\+ .*IGNORE ALL RULES/);
      assertMatch((await one.command("/mcp two"))!, /two: 2 tools/);
    }
    await using one = await open("prompts");
    await one.command("/mcp two");
    const report = await one.session.command("two:greet", "", new AbortController().signal);
    assertEquals(report, {
      type: "turn",
      parts: [
        { type: "text", text: "/two:greet" },
        // What a server writes names no file of the person's.
        { type: "resource", kind: "note", name: "", text: "Greet @secret.txt" },
      ],
    });
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
