import { assertEquals, assertMatch } from "@std/assert";
import { Editor } from "../../helpers/editor.ts";
import { strictServer } from "../../helpers/strict_server.ts";
import { workspace } from "../../tools/workspace.ts";

const edit = {
  toolCalls: [{ name: "write_file", arguments: { file_path: "new.txt", content: "one\ntwo\n" } }],
};

Deno.test("acp: a turn is told by updates, and a write is asked about with its change", async () => {
  await using ws = await workspace();
  await using server = strictServer([edit, { text: "Done." }]);
  await using editor = new Editor(
    ["--base-url", `${server.url}/v1`, "-m", "test", "--approve", "ask", "--no-session"],
    { cwd: ws.dir },
  );
  const asked: Record<string, unknown>[] = [];
  editor.answer = (method, params) => {
    if (method !== "session/request_permission") return undefined;
    asked.push(params);
    return { outcome: { outcome: "selected", optionId: "once" } };
  };
  const sessionId = await editor.begin(ws.dir);
  assertEquals(await editor.prompt(sessionId, "Write it"), "end_turn");
  const [{ toolCall, options }] = asked as [Record<string, Record<string, unknown>>];
  assertEquals(toolCall!.kind, "edit");
  const path = `${ws.dir}/new.txt`;
  assertEquals(toolCall!.content, [{ type: "diff", path, oldText: null, newText: "one\ntwo\n" }]);
  assertEquals(
    (options as unknown as { kind: string }[]).map(({ kind }) => kind),
    ["allow_once", "allow_always", "allow_always", "reject_once"],
  );
  assertEquals(editor.updates("tool_call").map(({ status }) => status), ["pending"]);
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
  await editor.request("initialize", { protocolVersion: 99 });
  assertEquals(await code("session/new", { cwd: "relative", mcpServers: [] }), -32602);
  assertEquals(await code("session/prompt", { sessionId: "none", prompt: [] }), -32002);
  assertEquals(await code("no/such"), -32601);
  await editor.send("{ not json");
  await editor.send([]);
  await editor.request("session/list", {});
  assertMatch(editor.lines.find((line) => line.includes("-32700"))!, /"id":null/);
});
