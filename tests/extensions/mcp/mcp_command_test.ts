import { completeArgument } from "../../../src/session/commands/registry.ts";
import { assertEquals, assertMatch } from "@std/assert";
import type { Frontend } from "../../../src/session/frontend.ts";
import { promptCommands } from "../../../src/extensions/mcp/mcp_command.ts";
import type { McpServers } from "../../../src/extensions/mcp/servers.ts";
import type { SessionState } from "../../../src/session/extension.ts";
import { badServer } from "../../helpers/mcp.ts";
import { placesWith } from "../../helpers/places.ts";

type Question = Parameters<NonNullable<Frontend["confirm"]>>[0];

Deno.test("/mcp lists the servers, shows what one has, and approves a folder's", async () => {
  const two = badServer("legacy");
  const mcpServers = { two, old: { type: "sse", url: "http://a" } };
  await using at = await placesWith({ "repo/.mcp.json": { mcpServers } });
  const asked: Question[] = [];
  const answers = [undefined, undefined, true];
  await using one = await at.open("http://127.0.0.1:9", {}, {
    confirm: (question) => (asked.push(question), Promise.resolve(answers.shift())),
  });
  const [row, old] = (await one.command("/mcp"))!.split("\n");
  assertEquals(row, "  two: not approved: /mcp approve two");
  assertMatch(old!, /^ {2}old: cannot be used · the transport "sse" of 2024 is not supported/);
  assertMatch((await one.command("/mcp two"))!, /may not be used: the user has not approved it/);
  assertEquals(await completeArgument(one.session, "mcp", "app"), ["approve two"]);
  const open = "Run copilot mcp approve two to review and approve it.";
  assertEquals(await one.command("/mcp approve two"), open);
  assertMatch((await one.command("/mcp approve two"))!, /^Approved two\./);
  // It was shown whole each time, also as the session began.
  const command = `command: ${JSON.stringify([two.command, ...two.args])}`;
  assertEquals(asked.map(({ text }) => text.includes(command)), [true, true, true]);
  assertMatch(
    (await one.command("/mcp two"))!,
    /^ {2}two: 2 tools, about \d+ tokens if all were shown · running\n {4}echo: Says it again\n {4}slow: Does slow$/,
  );
  assertEquals(await one.command("/mcp three"), "There is no MCP server three: see /mcp");
  await using editor = await at.open("http://127.0.0.1:9");
  assertEquals(await editor.command("/mcp approve two"), "Nothing of two needs approval.");
});

Deno.test("/mcp: a tool that changed is approved once its difference was shown; a prompt is sent at once", async () => {
  await using at = await placesWith();
  const asked: Question[] = [];
  const open = (mode: string) => {
    const two = badServer(mode, `${at.root}/notes`);
    at.put("home/.config/copilot/mcp.json", { mcpServers: { two } });
    return at.open("http://127.0.0.1:9", {}, {
      confirm: (question) => (asked.push(question), Promise.resolve(true)),
    });
  };
  {
    await using one = await open("changed");
    await one.command("/mcp two");
  }
  {
    await using one = await open("changed");
    assertMatch((await one.command("/mcp two"))!, /changed, and not offered: echo, new_one/);
    assertEquals(
      await one.command("/mcp approve two"),
      "Approved the changed tools of two. New sessions have its tools.",
    );
    const [question] = asked;
    assertMatch(question!.text, /\+ .*IGNORE ALL RULES/);
    assertMatch((await one.command("/mcp two"))!, /two: 2 tools/);
  }
  await using one = await open("prompts");
  await one.command("/mcp two");
  const report = await one.session.command("two:greet", "", new AbortController().signal);
  // What a server writes names no file of the person's.
  const text = { type: "text", text: "/two:greet" };
  const note = { type: "resource", kind: "note", name: "", text: "Greet @secret.txt" };
  assertEquals(report as unknown, { type: "turn", parts: [text, note] });
});

const argument = (name: string, required = false) => ({ name, required });
const PROMPTS = [
  { name: "none", arguments: [] },
  { name: "one", description: "Says\none thing", arguments: [argument("it")] },
  {
    name: "two",
    description: "x".repeat(201),
    arguments: [argument("file", true), argument("rest")],
  },
  { name: "no command", arguments: [] },
];
/** A session with a server `s` that has the prompts, and takes note of what it is asked for. */
function withPrompts(text = "Do it.") {
  const asked: unknown[] = [];
  const server = {
    name: "s",
    memory: { prompts: PROMPTS },
    prompt: (...[name, values]: unknown[]) => {
      asked.push(name, values);
      return Promise.resolve(text);
    },
  };
  const usable = [server, { ...server, name: "a b" }, { name: "empty", memory: {} }];
  const commands = promptCommands({ usable } as unknown as McpServers);
  /** Runs one as a session does; undefined for no command. */
  const run = (name: string, argument: string) =>
    commands.find((one) => one.name === name)?.run({} as SessionState, argument, signal);
  return { commands, run, asked };
}
const { signal } = new AbortController();

Deno.test("prompts of servers are commands where their names can be typed", () => {
  assertEquals(withPrompts().commands.map(({ run: _, ...info }) => info), [
    { name: "s:none", group: "Work", help: "a prompt of an MCP server" },
    { name: "s:one", group: "Work", help: "Says one thing", argument: "[it]" },
    { name: "s:two", group: "Work", help: "x".repeat(200), argument: "file [rest]" },
  ]);
  assertEquals(promptCommands(undefined), []);
});

const VALUES: [name: string, typed: string, values: Record<string, string>][] = [
  ["none", "", {}],
  ["none", "more", {}],
  ["one", "", {}],
  ["one", "a b", { it: "a b" }],
  ["two", "a", { file: "a" }],
  ["two", "a b", { file: "a", rest: "b" }],
  ["two", "a b  c", { file: "a", rest: "b c" }],
  ["two", '"a b" "c d"', { file: "a b", rest: "c d" }],
];
Deno.test("the words behind a prompt are its arguments, and the last takes all that is left", async () => {
  for (const [name, typed, values] of VALUES) {
    const { run, asked } = withPrompts();
    const line = `/s:${name}${typed && ` ${typed}`}`;
    assertEquals(await run(`s:${name}`, typed), {
      type: "turn",
      parts: [
        { type: "text", text: line },
        { type: "resource", kind: "note", name: "", text: "Do it." },
      ],
    });
    assertEquals(asked, [name, values]);
  }
});

Deno.test("a prompt without what it must have is not asked for, and an empty one sends nothing", async () => {
  const { run, asked } = withPrompts();
  assertEquals(await run("s:two", " "), "/s:two needs file");
  for (const name of ["s", "s:three", "t:one", "empty:one"]) {
    assertEquals(await run(name, ""), undefined);
  }
  assertEquals(asked, []);
  const empty = await withPrompts(" \n").run("s:none", "");
  assertEquals(empty, "The prompt s:none is empty.");
});
