import { assertEquals, assertMatch } from "@std/assert";
import { localConfig, pluggedSession } from "../../src/mod.ts";
import { strictServer } from "../helpers/strict_server.ts";

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
    { toolCalls: [{ name: "explore", arguments: { task: "Write b", agent: "writer" } }] },
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
