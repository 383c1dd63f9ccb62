import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { Editor } from "../../helpers/editor.ts";
import { badServer } from "../../helpers/mcp.ts";
import { living, marker } from "../../helpers/processes.ts";
import { strictServer, use } from "../../helpers/strict_server.ts";
import { workspace } from "../../tools/workspace.ts";

const flagsFor = (url: string, ...more: string[]) => [
  ...["--base-url", `${url}/v1`, "-m", "test", "--approve", "ask", "--sandbox", "off"],
  ...more,
];
/** Answers each question with an option. */
const answering = (optionId: string) => (method: string) =>
  method === "session/request_permission"
    ? { outcome: { outcome: "selected", optionId } }
    : undefined;
const textOf = (update: Record<string, unknown>) =>
  ((update.content ?? []) as { content?: { text: string } }[])
    .map(({ content }) => content?.text ?? "").join("");

Deno.test("acp: while a command runs the end of its output is shown, then all of it in its place", async () => {
  using ws = workspace();
  const command = "seq 12; until [ -e go ]; do sleep 0.05; done; echo '```'";
  await using server = strictServer([use("run_bash", { command }), { text: "Done." }]);
  await using editor = new Editor(flagsFor(server.url, "--no-session"), { cwd: ws.dir });
  editor.answer = answering("allow_once");
  editor.onMessage = ({ params }) => {
    const update = params?.update as Record<string, unknown> | undefined;
    if (update?.status === undefined && update?.sessionUpdate === "tool_call_update") {
      ws.put("go", "");
    }
  };
  const id = await editor.begin(ws.dir);
  const { usage, stopReason } = await editor.request("session/prompt", {
    sessionId: id,
    prompt: [{ type: "text", text: "Count" }],
  });
  assertEquals(stopReason, "end_turn");
  const { totalTokens, inputTokens, outputTokens } = usage as Record<string, number>;
  assertEquals([totalTokens! > 0, totalTokens], [true, inputTokens! + outputTokens!]);
  const updates = editor.updates("tool_call_update");
  const lines = Array.from({ length: 12 }, (_, at) => `${at + 1}\n`).join("");
  assertEquals(
    textOf(updates.find(({ status }) => status === undefined)!),
    `\`\`\`\n${lines}\`\`\``,
  );
  const last = textOf(updates.findLast(({ status }) => status === "completed")!);
  assertEquals(last, `\`\`\`\`\n${lines}\`\`\`\n\`\`\`\``);
});

Deno.test("acp: MCP servers and hooks of the folder are asked about once, whole, with the first prompt", async () => {
  using ws = workspace();
  const one = badServer("legacy");
  ws.put(".mcp.json", JSON.stringify({ mcpServers: { one } }));
  const hooks = [{ hooks: [{ type: "command", command: "echo from the hook" }] }];
  await Deno.mkdir(`${ws.dir}/.agents`);
  ws.put(".agents/hooks.json", JSON.stringify({ UserPromptSubmit: hooks }));
  await using server = strictServer([{ text: "Hi." }, { text: "Hi." }, { text: "Hi." }]);
  using state = workspace();
  const env = { XDG_STATE_HOME: state.dir };
  for (const [optionId, asked] of [["reject_once", 2], ["allow_once", 0]] as const) {
    await using editor = new Editor(flagsFor(server.url), { cwd: ws.dir, env });
    const questions: Record<string, unknown>[] = [];
    editor.answer = (method, params) => {
      questions.push(params);
      return answering(optionId)(method);
    };
    const id = await editor.begin(ws.dir);
    assertEquals(questions.length, 0);
    assertEquals(await editor.prompt(id, "Hello"), "end_turn");
    assertEquals(questions.length, asked);
    if (asked === 0) continue;
    const [toolCall, second] = questions.map(({ toolCall }) => toolCall as typeof questions[0]);
    assertStringIncludes(textOf(second!), "UserPromptSubmit: echo from the hook");
    for (const part of one.args) assertStringIncludes(textOf(toolCall!), part);
    await editor.prompt(id, "Again");
    assertEquals(questions.length, asked);
  }
});

Deno.test("acp: tools of a server that is approved with the first prompt are there with it", async () => {
  using ws = workspace();
  ws.put(".mcp.json", JSON.stringify({ mcpServers: { one: badServer("legacy") } }));
  await using server = strictServer([use("find_tool", { query: "echo" }), { text: "Hi." }]);
  using state = workspace();
  const env = { XDG_STATE_HOME: state.dir };
  await using editor = new Editor(flagsFor(server.url), { cwd: ws.dir, env });
  editor.answer = answering("allow_once");
  const id = await editor.begin(ws.dir);
  assertEquals(await editor.prompt(id, "Hello"), "end_turn");
  const [ended] = editor.updates("tool_call_update").filter(({ rawOutput }) => rawOutput);
  assertEquals(ended!.status, "completed");
});

Deno.test("acp: sessions at once have folders and modes of their own", async () => {
  using ws = workspace();
  const folders = ["a", "b"].map((name) => `${ws.dir}/${name}`);
  for (const folder of folders) await Deno.mkdir(folder);
  const write = use("write_file", { file_path: "new.txt", content: "x\n" });
  await using server = strictServer([write, write, { text: "Done." }, { text: "Done." }]);
  await using editor = new Editor(flagsFor(server.url, "--no-session"), { cwd: ws.dir });
  const asked: unknown[] = [];
  editor.answer = (method, { sessionId }) => {
    asked.push(sessionId);
    return answering("allow_once")(method);
  };
  const first = await editor.begin(folders[0]!);
  const mcpServers = [{ name: "one", command: "true", args: [], env: [] }];
  const second = String(
    (await editor.request("session/new", { cwd: folders[1]!, mcpServers })).sessionId,
  );
  await editor.prompt(second, "/mcp");
  const [shown] = editor.updates("agent_message_chunk").map(({ content }) => content);
  assertEquals(shown, { type: "text", text: "  one: its tools are not known yet" });
  await editor.request("session/set_mode", { sessionId: second, modeId: "auto" });
  const ends = await Promise.all([first, second].map((id) => editor.prompt(id, "Write")));
  assertEquals(ends, ["end_turn", "end_turn"]);
  assertEquals(asked, [first]);
  for (const folder of folders) {
    assertEquals(await Deno.readTextFile(`${folder}/new.txt`), "x\n");
  }
  ws.put("c/.copilot/permissions.json", '{"approve": "plan"}');
  const sessionId = await editor.begin(`${ws.dir}/c`);
  const { error } = await editor.ask("session/set_mode", { sessionId, modeId: "auto" });
  assertMatch(error!.message, /^Plan mode stays on: this folder's settings require it\.$/);
});

Deno.test("acp: an id of a session is a name and no path", async () => {
  using ws = workspace();
  using state = workspace();
  const env = { XDG_STATE_HOME: state.dir };
  const outside = ws.put("x.jsonl", '{"version":1}\n');
  await using server = strictServer([{ text: "Hi." }]);
  await using editor = new Editor(flagsFor(server.url), { cwd: ws.dir, env });
  const open = await editor.begin(ws.dir);
  await editor.prompt(open, "Hello");
  const ids = [
    ...["../x", "../../x", "../../../x", outside.replace(/\.jsonl$/, ""), `${open}/../${open}`],
    ...["..", ".", "/", "a\0b", "\n", "__proto__", "x".repeat(100_000)],
  ];
  for (const sessionId of ids) {
    for (const method of ["load", "resume", "delete", "close", "prompt", "set_mode"]) {
      const params = { sessionId, cwd: ws.dir, mcpServers: [], modeId: "auto", prompt: [] };
      const { error } = await editor.ask(`session/${method}`, params);
      assertEquals([method, sessionId.slice(0, 20), error?.code], [
        method,
        sessionId.slice(0, 20),
        -32002,
      ]);
      assert(error!.message.length < 300, error!.message.slice(0, 400));
    }
  }
  assertEquals(await Deno.readTextFile(outside), '{"version":1}\n');
});

Deno.test("acp: the end of stdin ends a command that runs, within a second, with all it started", async () => {
  using ws = workspace();
  const mark = marker();
  const command = `sleep ${mark} & sleep ${mark}`;
  await using server = strictServer([use("run_bash", { command })]);
  await using editor = new Editor(flagsFor(server.url, "--no-session"), { cwd: ws.dir });
  editor.answer = answering("allow_once");
  const id = await editor.begin(ws.dir);
  await editor.send({
    ...{ jsonrpc: "2.0", id: 99, method: "session/prompt" },
    params: { sessionId: id, prompt: [{ type: "text", text: "Wait" }] },
  });
  await living(`sleep ${mark}`, (count) => count >= 2);
  const start = performance.now();
  assertEquals((await editor.end()).code, 0);
  const ms = performance.now() - start;
  assertEquals(await living(`sleep ${mark}`, (count) => count === 0), []);
  assert(ms < 3000, `it took ${ms} ms`);
  assertMatch(editor.lines.at(-1)!, /^\{/);
});

Deno.test("acp: a session that is loaded or resumed has its model, title and plan again", async () => {
  using ws = workspace();
  using state = workspace();
  const plan = use("tasks", { list: "[x] look\n[ ] write" });
  const wrong = use("fetch_url", { url: "no address" });
  const answers = [plan, wrong, { text: "Hi." }, { text: "Hi again." }];
  await using server = strictServer(answers, { models: ["test", "other"] });
  await using far = strictServer([], { models: ["far"] });
  const value = `${far.url}/v1#far`;
  const settings = { search: "http://127.0.0.1:9", roles: { plan: value } };
  state.put("copilot/config.json", JSON.stringify(settings));
  const env = { XDG_STATE_HOME: state.dir, XDG_CONFIG_HOME: state.dir };
  const options = { cwd: ws.dir, env };
  const open = { cwd: ws.dir, mcpServers: [] };
  let sessionId: string;
  {
    await using editor = new Editor(flagsFor(server.url), options);
    sessionId = await editor.begin(ws.dir);
    const other = { sessionId, configId: "model", value: "other" };
    // A model that is set after the last message counts, too.
    await editor.prompt(sessionId, "Hello");
    await editor.request("session/set_config_option", other);
  }
  await using editor = new Editor(flagsFor(server.url), options);
  await editor.request("initialize", { protocolVersion: 1 });
  const { configOptions } = await editor.request("session/load", { sessionId, ...open });
  const model = (configOptions as { id: string; currentValue: string }[])
    .find(({ id }) => id === "model");
  assertEquals(model?.currentValue, "other");
  assertEquals(editor.updates("tool_call")[0]!.title, "Plan write · 1 of 2 done");
  await editor.request("session/resume", { sessionId, ...open });
  await editor.prompt(sessionId, "More");
  const titles = editor.updates("session_info_update").map(({ title }) => title);
  const plans = editor.updates("plan").map(({ entries }) => entries as { status: string }[]);
  assertEquals([titles, plans.length], [["Hello", "Hello"], 2]);
  assertEquals(plans[0]!.map(({ status }) => status), ["completed", "in_progress"]);
  // The user's settings count here, too, and a model of another server is one of the options.
  const tools = server.requests.at(-1)!.body.tools as { function: { name: string } }[];
  assertEquals(tools.at(-1)!.function.name, "search_web");
  await editor.request("session/set_config_option", { sessionId, configId: "model", value });
});
