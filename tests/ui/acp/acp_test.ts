import { assertEquals, assertMatch } from "@std/assert";
import { Editor } from "../../helpers/editor.ts";
import { bash, strictServer, use } from "../../helpers/strict_server.ts";
import { waitUntil } from "../../helpers/wait_until.ts";
import { workspace } from "../../tools/workspace.ts";

/** The program in `cwd`, with a server. */
const editorAt = (url: string, cwd: string, ...flags: string[]) =>
  new Editor(["--base-url", `${url}/v1`, "-m", "test", ...flags], { cwd });

const edit = use("write_file", { file_path: "new.txt", content: "one\ntwo\n" });

Deno.test("acp: a turn is told by updates, and a write is asked about with its change", async () => {
  using ws = workspace();
  await using server = strictServer([edit, { text: "Done." }]);
  await using editor = editorAt(server.url, ws.dir, "--approve", "ask", "--no-session");
  const asked: Record<string, unknown>[] = [];
  editor.answer = (method, params) => {
    if (method !== "session/request_permission") return undefined;
    asked.push(params);
    return { outcome: { outcome: "selected", optionId: "allow_once" } };
  };
  const sessionId = await editor.begin(ws.dir);
  // A command that is a turn of the model, which writes.
  assertEquals(await editor.prompt(sessionId, "/init"), "end_turn");
  const [{ toolCall, options }] = asked as [Record<string, Record<string, unknown>>];
  assertEquals(toolCall!.kind, "edit");
  const path = `${ws.dir}/new.txt`;
  assertEquals(toolCall!.content, [{ type: "diff", path, oldText: null, newText: "one\ntwo\n" }]);
  assertEquals(
    (options as unknown as { kind: string; optionId: string }[])
      .map(({ kind, optionId }) => [kind, optionId]),
    [["allow_once", "allow_once"], ["allow_always", "allow_always"], [
      "reject_once",
      "reject_once",
    ]],
  );
  assertEquals(
    editor.updates("tool_call").map(({ status, title }) => [status, title]),
    [["pending", "Write new.txt"]],
  );
  assertEquals(
    editor.updates("tool_call_update").map(({ status }) => status),
    ["in_progress", "completed"],
  );
  const said = editor.updates("agent_message_chunk").map(({ content }) =>
    (content as { text: string }).text
  );
  assertEquals(said.join(""), "Done.");
  assertEquals(await Deno.readTextFile(path), "one\ntwo\n");
  const { code, stderr } = await editor.end();
  assertEquals([code, stderr], [0, ""]);
});

Deno.test("acp: errors are those of the protocol", async () => {
  await using server = strictServer([]);
  await using editor = new Editor(["--base-url", `${server.url}/v1`, "-m", "test", "--no-session"]);
  const code = async (method: string, params = {}) =>
    (await editor.ask(method, params)).error?.code;
  assertEquals(await code("session/new", { cwd: "/", mcpServers: [] }), -32600);
  const { protocolVersion, agentCapabilities } = await editor.request("initialize", {
    protocolVersion: 99,
  });
  assertEquals(
    [protocolVersion, agentCapabilities],
    [1, {
      loadSession: true,
      promptCapabilities: { image: true, audio: false, embeddedContext: true },
      mcpCapabilities: { http: true, sse: false },
      sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {}, fork: {} },
    }],
  );
  assertEquals(await code("session/new", { cwd: "relative", mcpServers: [] }), -32602);
  assertEquals(await code("session/prompt", { sessionId: "none", prompt: [] }), -32002);
  assertEquals(await code("no/such"), -32601);
  // A session that is not loaded again stays open.
  const { sessionId } = await editor.request("session/new", { cwd: "/", mcpServers: [] });
  assertEquals(await code("session/load", { sessionId, cwd: "/", mcpServers: [] }), -32002);
  assertEquals(await code("session/set_mode", { sessionId, modeId: "auto" }), undefined);
  await editor.send("{ not json");
  await editor.send([]);
  await editor.request("session/list", {});
  assertMatch(editor.lines.find((line) => line.includes("-32700"))!, /"id":null/);
});

/** An editor that has its own text of files, as unsaved buffers, and writes to them. */
function withBuffers(editor: Editor, buffers: Record<string, string>): string[] {
  const asked: string[] = [];
  editor.answer = (method, params) => {
    const path = String(params.path);
    if (method === "fs/read_text_file") {
      asked.push(`read ${path}`);
      return path in buffers ? { content: buffers[path]! } : undefined;
    }
    if (method === "fs/write_text_file") {
      asked.push(`write ${path}`);
      buffers[path] = String(params.content);
      return {};
    }
    return { outcome: { outcome: "selected", optionId: "allow_once" } };
  };
  return asked;
}

Deno.test("acp: what is unsaved in the editor is read, searched and edited, and the editor writes", async () => {
  using ws = workspace();
  await using server = strictServer([
    use("read_file", { file_path: "a.txt" }),
    use("grep_code", { pattern: "saved|buffer" }),
    use("edit_file", { file_path: "a.txt", old_string: "buffer", new_string: "changed" }),
    use("write_file", { file_path: "new.txt", content: "new\n" }),
    use("read_file", { file_path: "b.txt" }),
    { text: "Done." },
  ]);
  await using editor = editorAt(server.url, ws.dir, "--approve", "ask", "--no-session");
  const at = ws.put("a.txt", "saved\n");
  ws.put("b.txt", "other\n");
  const buffers: Record<string, string> = { [at]: "in the buffer\n" };
  const asked = withBuffers(editor, buffers);
  const fs = { readTextFile: true, writeTextFile: true };
  const sessionId = await editor.begin(ws.dir, { fs });
  assertEquals(await editor.prompt(sessionId, "Go"), "end_turn");
  const results = editor.updates("tool_call_update").filter(({ status }) => status === "completed")
    .map(({ rawOutput }) => (rawOutput as { output: string }).output);
  assertMatch(results[0]!, /1\tin the buffer/);
  assertMatch(results[1]!, /a\.txt[^]*in the buffer/);
  assertEquals(results[1]!.includes("saved"), false);
  assertMatch(results[4]!, /1\tother/);
  assertEquals(buffers, { [at]: "in the changed\n", [`${ws.dir}/new.txt`]: "new\n" });
  assertEquals(await Deno.readTextFile(at), "saved\n");
  assertEquals(asked.filter((one) => one.startsWith("write")), [
    `write ${at}`,
    `write ${ws.dir}/new.txt`,
  ]);
});

Deno.test("acp: a prompt that comes during a turn is in its next request, a command waits for its end", async () => {
  using ws = workspace();
  await using server = strictServer([
    bash("cat pipe"),
    { text: "Done." },
  ]);
  await using editor = editorAt(server.url, ws.dir, "--yes", "--sandbox", "off", "--no-session");
  const pipe = `${ws.dir}/pipe`;
  await new Deno.Command("mkfifo", { args: [pipe] }).output();
  const sessionId = await editor.begin(ws.dir);
  const turn = editor.prompt(sessionId, "go");
  await waitUntil(() => editor.updates("tool_call").length > 0);
  const prompt = [{ type: "text", text: "cancelled" }];
  const dropped = editor.ask("session/prompt", { sessionId, prompt }, 99);
  await editor.notify("$/cancel_request", { requestId: 99 });
  const others = [editor.prompt(sessionId, "use tabs"), editor.prompt(sessionId, "/context")];
  await Deno.writeTextFile(pipe, "x\n");
  assertEquals(await Promise.all([turn, ...others]), ["end_turn", "end_turn", "end_turn"]);
  assertEquals((await dropped).result?.stopReason, "cancelled");
  const messages = server.requests.at(-1)!.body.messages as { role: string; content: string }[];
  assertEquals(messages.slice(-2).map(({ role }) => role), ["tool", "user"]);
  assertEquals([messages.at(-1)!.content, server.requests.length], ["use tabs", 2]);
});

Deno.test("acp: a turn that is cancelled ends as such, also while a question stands", async () => {
  using ws = workspace();
  await using server = strictServer([edit, edit]);
  await using editor = editorAt(server.url, ws.dir, "--approve", "ask", "--no-session");
  const sessionId = await editor.begin(ws.dir);
  editor.answer = async (method) => {
    if (method !== "session/request_permission") return undefined;
    await editor.notify("session/cancel", { sessionId });
    return { outcome: { outcome: "cancelled" } };
  };
  // A prompt that waits for the end of the turn is dropped with it.
  const ends = ["Write it", "/context"].map((text) => editor.prompt(sessionId, text));
  assertEquals(await Promise.all(ends), ["cancelled", "cancelled"]);
  const open = new Set(editor.updates("tool_call").map(({ toolCallId }) => toolCallId));
  for (const { toolCallId, status } of editor.updates("tool_call_update")) {
    if (status === "completed" || status === "failed") open.delete(toolCallId);
  }
  assertEquals(open.size, 0);
  const cancelled = await editor.ask("session/prompt", { sessionId, prompt: [] });
  assertEquals(cancelled.error?.code, -32602);
});

Deno.test("acp: a session is listed, loaded with all of its turns, resumed and deleted", async () => {
  using ws = workspace();
  await using server = strictServer(
    [edit, ...["Done.", "Again.", "Aside."].map((text) => ({ text }))],
  );
  const flags = ["--base-url", `${server.url}/v1`, "-m", "test", "--approve", "auto"];
  using records = workspace();
  const options = { cwd: ws.dir, env: { XDG_STATE_HOME: records.dir } };
  let id = "";
  {
    await using editor = new Editor(flags, options);
    editor.answer = () => ({ outcome: { outcome: "selected", optionId: "allow_once" } });
    id = await editor.begin(ws.dir);
    await editor.prompt(id, "Write it");
  }
  await using editor = new Editor(flags, options);
  await editor.request("initialize", { protocolVersion: 1 });
  const { sessions } = await editor.request("session/list", { cwd: ws.dir });
  assertEquals((sessions as { sessionId: string; title: string }[]).map(({ title }) => title), [
    "Write it",
  ]);
  await editor.request("session/load", { sessionId: id, cwd: ws.dir, mcpServers: [] });
  assertEquals(editor.updates().map(({ sessionUpdate }) => sessionUpdate).slice(0, 3), [
    "user_message_chunk",
    "tool_call",
    "agent_message_chunk",
  ]);
  assertEquals(await editor.prompt(id, "More"), "end_turn");
  const fork = (sessionId: string) =>
    editor.ask("session/fork", { sessionId, cwd: ws.dir, mcpServers: [] });
  const { result } = await fork(id);
  const { sessionId: copy, modes } = result as { sessionId: string; modes: unknown };
  assertEquals([copy === id, typeof modes], [false, "object"]);
  const messages = () => server.requests.at(-1)!.body.messages as { role: string }[];
  const before = messages().length;
  assertEquals(await editor.prompt(copy, "Aside"), "end_turn");
  assertEquals(messages().length, before + 2);
  assertEquals((await fork("unknown")).error?.code, -32002);
  await editor.request("session/delete", { sessionId: copy });
  await editor.request("session/resume", { sessionId: id, cwd: ws.dir });
  await editor.request("session/delete", { sessionId: id });
  const after = await editor.request("session/list", {});
  assertEquals((after.sessions as unknown[]).length, 0);
  assertEquals((await editor.ask("session/delete", { sessionId: id })).error?.code, -32002);
});

Deno.test("acp: a slash command right after the session began is answered before its prompt ends", async () => {
  using ws = workspace();
  await using editor = editorAt("http://127.0.0.1:9", ws.dir, "--no-session");
  const sessionId = await editor.begin(ws.dir);
  await editor.prompt(sessionId, "/status");
  const order = editor.messages.map(({ params, result }) =>
    (params?.update as { sessionUpdate: string })?.sessionUpdate ?? Object.keys(result ?? {})[0]
  );
  assertEquals(order.at(-1), "stopReason");
  assertEquals(order.filter((one) => one === "agent_message_chunk").length, 1);
  await editor.prompt(sessionId, "/help");
  const help = JSON.stringify(editor.updates("agent_message_chunk").at(-1));
  assertEquals(["/status", "/theme", '"```'].map((name) => help.includes(name)), [
    ...[true, false, true],
  ]);
});

Deno.test("acp: the commands of a folder are announced once the user trusts it", async () => {
  using ws = workspace();
  Deno.mkdirSync(ws.at(".claude/commands"), { recursive: true });
  ws.put(".claude/commands/greet.md", "Say hello.\n");
  await using server = strictServer([{ text: "Hello." }]);
  await using editor = editorAt(server.url, ws.dir, "--no-session");
  const kinds: unknown[] = [];
  editor.answer = (method, params) => {
    if (method !== "session/request_permission") return undefined;
    kinds.push((params.options as { kind: string }[]).map(({ kind }) => kind));
    return { outcome: { outcome: "selected", optionId: "allow_once" } };
  };
  const sessionId = await editor.begin(ws.dir);
  await editor.prompt(sessionId, "Hello");
  const announced = editor.updates("available_commands_update").map(({ availableCommands }) =>
    (availableCommands as { name: string }[]).some(({ name }) => name === "greet")
  );
  assertEquals(announced, [false, true]);
  assertEquals(kinds, [["allow_once", "reject_once"]]);
});

Deno.test({
  name: "acp: an editor may start the program without HOME",
  ignore: Deno.build.os === "windows",
  async fn() {
    using ws = workspace();
    const show = { name: "run_bash", arguments: { command: 'test -d "$HOME" && echo fo""und' } };
    await using server = strictServer([{ toolCalls: [show] }, { text: "Done." }]);
    await using editor = new Editor(
      ["--base-url", `${server.url}/v1`, "-m", "test", "--no-session"],
      { cwd: ws.dir, env: { HOME: "" } },
    );
    await editor.prompt(await editor.begin(ws.dir), "Show it");
    assertMatch(JSON.stringify(editor.updates("tool_call_update").at(-1)), /found/);
  },
});
