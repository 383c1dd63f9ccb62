import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { walkSync } from "@std/fs/walk";
import { localConfig, pluggedSession, UsageError } from "../../src/mod.ts";
import { strictServer, use } from "../helpers/strict_server.ts";

Deno.test("library: skills, commands, hooks and sub-agents of a folder, with the person's answers", async () => {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  const put = async (name: string, text: string) => {
    await Deno.mkdir(`${folder}/${name}`.replace(/\/[^/]*$/, ""), { recursive: true });
    await Deno.writeTextFile(`${folder}/${name}`, text);
  };
  await put(".git/HEAD", "");
  await put(".agents/commands/fix.md", "Fix issue $1.\n");
  await put(".agents/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: PDFs\n---\nBody\n");
  await put(".agents/agents/writer.md", "---\nname: writer\ndescription: Writes\n---\nBody\n");
  const hooks = [{ hooks: [{ type: "command", command: 'echo \'{"systemMessage":"seen"}\'' }] }];
  await put(".agents/hooks.json", JSON.stringify({ UserPromptSubmit: hooks }));
  const write = { name: "write_file", arguments: { file_path: "b.txt", content: "x\n" } };
  await using server = strictServer([
    use("explore", { task: "Write b", agent: "writer" }),
    { toolCalls: [write] },
    { text: "Wrote." },
    { text: "Done." },
  ]);
  const [asked, notices, events]: string[][] = [[], [], []];
  const config = { local: localConfig({ host: server.url, model: "test" }) };
  await using session = await pluggedSession(config, {
    ...{ folder, trust: true },
    approve: ({ call, subAgent }) => {
      asked!.push(`${subAgent} ${call.name}`);
      return Promise.resolve(true);
    },
    onEvent: ({ type }) => events!.push(type),
    onNotice: (lines) => notices!.push(...lines),
  });
  // The person who runs the tests may have others.
  const names = session.commands.map(({ name }) => name);
  assertEquals(names.filter((name) => /^(fix|pdf)$/.test(name)), ["fix", "pdf"]);
  assertEquals(session.agents.find(({ name }) => name === "writer")?.help, "Writes");
  const { response } = await session.prompt("/fix 7");
  assertEquals([response, asked], ["Done.", ["writer write_file"]]);
  const [, said] = server.requests[0]!.body.messages as { content: string }[];
  assertMatch(said!.content, /Fix issue 7\./);
  assertEquals(await Deno.readTextFile(`${folder}/b.txt`), "x\n");
  assertEquals(events!.includes("tool_done") && !events!.includes("status"), true);
  assertMatch(notices!.join("\n"), /./);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("library: own tools, a prompt of one's own, events as they come, and a session that is resumed", async () => {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  const state = await Deno.makeTempDir();
  const before = Deno.env.get("XDG_STATE_HOME");
  Deno.env.set("XDG_STATE_HOME", state);
  using _ = {
    [Symbol.dispose]() {
      if (before === undefined) Deno.env.delete("XDG_STATE_HOME");
      else Deno.env.set("XDG_STATE_HOME", before);
    },
  };
  await using server = strictServer([
    use("today", {}),
    { text: "Friday." },
    { text: "Friday, as I said." },
    { text: "Never read." },
  ]);
  const config = { local: localConfig({ host: server.url, model: "test" }) };
  const today = {
    ...{ name: "today", description: "Today's date", access: "read" as const },
    parameters: { type: "object", properties: {} },
    run: () => "Friday",
  };
  const given = { folder, tools: [today], systemPrompt: "Be short." };
  let id: string;
  {
    await using session = await pluggedSession(config, { ...given, isRecorded: true });
    assertEquals(session.sessionId, undefined);
    const types: string[] = [];
    const events = session.stream("What day is it?");
    let step = await events.next();
    for (; !step.done; step = await events.next()) types.push(step.value.type);
    assertEquals(step.value.response, "Friday.");
    assertEquals(types.filter((type) => type === "tool_done" || type === "text_delta"), [
      "tool_done",
      "text_delta",
    ]);
    id = session.sessionId!;
  }
  assertEquals([...walkSync(state)].some(({ name }) => /^p-.*\.jsonl$/.test(name)), true);
  await using session = await pluggedSession(config, { ...given, resume: id });
  assertEquals((await session.prompt("Sure?")).response, "Friday, as I said.");
  assertEquals(session.sessionId, id);
  const messages = server.requests.at(-1)!.body.messages as { role: string; content: string }[];
  assertEquals(messages.map(({ role }) => role), [
    ...["system", "user", "assistant", "tool", "assistant", "user"],
  ]);
  assertEquals(messages[0]!.content, "Be short.");
  // Leaving the loop ends the turn.
  for await (const _ of session.stream("And tomorrow?")) break;
  assertEquals(session.agent.state.messages.at(-1)?.content === "Never read.", false);
  await assertRejects(() => pluggedSession(config, { ...given, resume: "nosuch12" }), UsageError);
  // The model is the one that was given, even if the server has only another.
  await using another = strictServer([{ text: "Never read." }], { models: ["other"] });
  const local = localConfig({ host: another.url, model: "test" });
  await using lost = await pluggedSession({ local }, { folder });
  await assertRejects(() => lost.prompt("Hi"), Error, "test");
  await Deno.remove(folder, { recursive: true });
  await Deno.remove(state, { recursive: true });
});
