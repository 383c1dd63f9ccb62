import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { PromptTier } from "../../../src/config.ts";
import { localConfig } from "../../../src/config.ts";
import type { Approval } from "../../../src/safety/approval.ts";
import type { Confirmation } from "../../../src/session/frontend.ts";
import { badServer } from "../../helpers/mcp.ts";
import { placesWith } from "../../helpers/places.ts";
import { strictServer, use } from "../../helpers/strict_server.ts";

/** A folder and a home with servers; `notes` is where these count their starts. */
async function places() {
  const at = await placesWith();
  return {
    ...at,
    own: (mcpServers: object) => at.put("home/.config/copilot/mcp.json", { mcpServers }),
    brings: (mcpServers: object) => at.put("repo/.mcp.json", { mcpServers }),
    notes: `${at.root}/notes`,
    starts: async () => Number(await Deno.readTextFile(`${at.root}/notes.starts`).catch(() => "0")),
  };
}

const calling = (name: string, args: Record<string, unknown> = {}) =>
  use("call_tool", { name, arguments: args });

const never = new AbortController().signal;

Deno.test("mcp: the first request keeps to its bound with 0, 20 and 180 tools, in every tier and format", async () => {
  for (const [promptTier, most] of [["lean", 3000], ["full", 5000]] as [PromptTier, number][]) {
    for (const mode of ["none", "legacy", "twenty", "many"]) {
      await using at = await places();
      if (mode !== "none") at.own({ bad: badServer(mode, at.notes) });
      const tools = [use("find_tool", { query: "echo case" })];
      await using server = strictServer([...mode === "none" ? [] : tools, { text: "a" }, {
        text: "b",
      }]);
      const session = () =>
        at.open(server.url, {
          config: {
            promptTier,
            local: localConfig({ host: server.url, model: "test", useCompat: true }),
          },
        });
      // The first session lists the tools, the second one knows them.
      for (let round = 1; round <= 2; round++) {
        await using one = await session();
        await one.session.prompt("hi", never);
      }
      const firsts = server.requests.map(({ text }) => ({ text, body: JSON.parse(text) }))
        .filter(({ body }) => body.messages.length === 2);
      assertEquals(firsts.length, 2);
      for (const { body, text } of firsts) {
        const { length } = text.replace('"return_progress":true,', "").replace(at.folder, "/");
        assert(length <= most, `${promptTier} ${mode}: ${length}`);
        const names = body.tools.map(({ function: { name } }: { function: { name: string } }) =>
          name
        );
        const isPlugged = names.includes("find_tool") || names.includes("bad__echo");
        assertEquals(isPlugged, mode !== "none", `${promptTier} ${mode}`);
      }
    }
  }
});

Deno.test("mcp: requests begin with the same bytes all along, also when a server dies and comes back", async () => {
  await using at = await places();
  at.own({ bad: badServer("dies", at.notes) });
  await using server = strictServer([calling("bad__echo"), calling("bad__echo"), { text: "a" }, {
    text: "b",
  }]);
  await using one = await at.open(server.url, { permissions: at.permissions({ yes: true }) });
  await one.session.prompt("hi", never);
  await one.session.prompt("again", never);
  assertEquals(await at.starts(), 2);
  const heads = server.requests.map(({ text }) => JSON.parse(text)).map(({ tools, messages }) =>
    JSON.stringify([tools, messages.slice(0, 2)])
  );
  assertEquals(new Set(heads).size, 1);
  assertEquals(server.requests.length, 4);
});

Deno.test("mcp: a session that ignores the folder does not ask about its servers", async () => {
  await using at = await places();
  at.brings({ bad: badServer("legacy", at.notes) });
  let asked = 0;
  await using session = await at.open("http://127.0.0.1:9", { readsFolder: false }, {
    confirm: () => Promise.resolve(++asked > 0),
  });
  assertEquals([asked, session.notices()], [0, []]);
});

Deno.test("mcp: a folder starts nothing that was not approved, and an approval is of the exact definition", async () => {
  await using at = await places();
  at.brings({ bad: badServer("legacy", at.notes) });
  const open = async (confirm?: () => Promise<boolean | undefined>, trust?: boolean) => {
    const asked: Confirmation[] = [];
    const session = await at.open("http://127.0.0.1:9", { trust }, {
      ...confirm && { confirm: (question) => (asked.push(question), confirm()) },
    });
    return { ...session, asked, [Symbol.asyncDispose]: () => session[Symbol.asyncDispose]() };
  };
  const names = ({ session }: Awaited<ReturnType<typeof open>>) =>
    session.agent.tools.map(({ name }) => name).filter((name) => name.includes("_tool"));
  {
    // Nobody there to ask, and then one who does not answer.
    await using one = await open();
    assertEquals(names(one), []);
    assertStringIncludes(one.notices().join("\n"), "not started: bad (/mcp approve bad)");
    await using two = await open(() => Promise.resolve(undefined));
    assertEquals(two.asked.length, 1);
    await using trusting = await open(undefined, true);
    assertEquals(names(trusting), ["find_tool", "call_tool"]);
  }
  {
    await using one = await open(() => Promise.resolve(true));
    assertEquals(names(one), ["find_tool", "call_tool"]);
    const command = [Deno.execPath(), ...badServer("legacy", at.notes).args];
    assertStringIncludes(one.asked[0]!.text, `command: ${JSON.stringify(command)}`);
    await using two = await open(() => Promise.resolve(true));
    assertEquals(two.asked, []);
  }
  at.brings({ bad: badServer("legacy", at.notes, "one argument more") });
  await using changed = await open(() => Promise.resolve(false));
  assertEquals([changed.asked.length, names(changed)], [1, []]);
  // The difference is shown.
  const [{ files }] = changed.asked as [Confirmation];
  const lines = files[0]!.change!.lines!.filter(({ kind }) => kind !== " ");
  assertMatch(lines.map(({ text }) => text).join("\n"), /"one argument more"/);
  await using later = await open(() => Promise.resolve(true));
  assertEquals([later.asked.length, names(later), await at.starts()], [0, [], 0]);
});

Deno.test("mcp: each call is asked about by its own name, and rules speak of it", async () => {
  await using at = await places();
  at.own({ bad: badServer("many", at.notes) });
  const call = calling("bad__tool_1", { text: "hi" });
  await using server = strictServer([
    call,
    { text: "a" },
    call,
    { text: "b" },
    call,
    { text: "c" },
    // Called without call_tool.
    use("mcp__bad__tool_1", { text: "hi" }),
    { text: "d" },
  ]);
  const asked: Approval[] = [];
  const open = async (choice: "once" | "session", rules: Record<string, string[]> = {}) => {
    at.put("home/.config/copilot/permissions.json", rules);
    return await at.open(server.url, {}, {
      approve: (approval) => (asked.push(approval), Promise.resolve({ choice })),
    });
  };
  {
    await using one = await open("session");
    const { toolExecutions: [done] } = await one.session.prompt("hi", never);
    assertMatch(done!.result, /^echo hi/);
    const [{ call, rules }] = asked as [Approval];
    assertEquals([call.name, call.arguments, rules], [
      "bad__tool_1",
      { text: "hi" },
      [{ rule: "mcp__bad__tool_1", words: "bad__tool_1" }],
    ]);
    await one.session.prompt("again", never);
    assertEquals(asked.length, 1);
  }
  {
    await using one = await open("once", { deny: ["mcp__bad"] });
    const { toolExecutions: [done] } = await one.session.prompt("hi", never);
    assertEquals([done!.outcome, asked.length], ["refused", 1]);
  }
  await using one = await open("once", { allow: ["mcp__bad__tool_1(text: h*)"] });
  const { toolExecutions: [done] } = await one.session.prompt("hi", never);
  assertEquals([done!.outcome, asked.length], ["done", 1]);
});
