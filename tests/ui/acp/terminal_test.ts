import { assertEquals, assertMatch } from "@std/assert";
import { Editor } from "../../helpers/editor.ts";
import { strictServer } from "../../helpers/strict_server.ts";
import { workspace } from "../../tools/workspace.ts";

type Json = Record<string, unknown>;

class Terminals {
  readonly asked: string[] = [];
  readonly #made = new Map<string, Deno.ChildProcess>();
  onWait = () => {};

  answer = async (method: string, params: Json): Promise<Json | undefined> => {
    this.asked.push(method);
    if (method === "session/request_permission") {
      return { outcome: { outcome: "selected", optionId: "once" } };
    }
    if (method === "terminal/create") return this.#create(params);
    const made = this.#made.get(String(params.terminalId));
    if (made === undefined) return undefined;
    if (method === "terminal/wait_for_exit") {
      this.onWait();
      const { code } = await made.status;
      return { exitCode: code };
    }
    if (method === "terminal/kill") made.kill("SIGKILL");
    if (method !== "terminal/output") return {};
    const { code, signal } = await made.status;
    const text = new TextDecoder().decode((await made.output()).stdout);
    const exitStatus = signal === null ? { exitCode: code } : { exitCode: null, signal };
    return { output: text, truncated: false, exitStatus };
  };

  #create({ command, args, cwd, env }: Json): Json {
    const pairs = (env as { name: string; value: string }[]).map((
      { name, value },
    ) => [name, value]);
    const child = new Deno.Command(String(command), {
      args: args as string[],
      cwd: String(cwd),
      env: { ...Object.fromEntries(pairs), IN_EDITOR: "yes" },
      stdout: "piped",
      stderr: "null",
    }).spawn();
    const terminalId = `t${this.#made.size}`;
    this.#made.set(terminalId, child);
    return { terminalId };
  }
}

const command = (text: string, more: Json = {}) => ({
  toolCalls: [{ name: "run_bash", arguments: { command: text, ...more } }],
});
const flagsFor = (url: string, ...more: string[]) => [
  ...["--base-url", `${url}/v1`, "-m", "test", "--approve", "ask", "--no-session"],
  ...["--sandbox", "off", ...more],
];
const env = { MY_API_TOKEN: "hidden" };

Deno.test("acp: commands run in the editor's terminal, which the call shows to its end", async () => {
  using ws = workspace();
  const text = "pwd; echo $IN_EDITOR; echo [$MY_API_TOKEN]; exit 3";
  await using server = strictServer([command(text), { text: "Done." }]);
  await using editor = new Editor(flagsFor(server.url), { cwd: ws.dir, env });
  const terminals = new Terminals();
  editor.answer = terminals.answer;
  const id = await editor.begin(ws.dir, { terminal: true });
  assertEquals(await editor.prompt(id, "Go"), "end_turn");
  assertEquals(terminals.asked.slice(0, 5), [
    "session/request_permission",
    "terminal/create",
    "terminal/wait_for_exit",
    "terminal/output",
    "terminal/release",
  ]);
  const updates = editor.updates("tool_call_update");
  const content = [{ type: "terminal", terminalId: "t0" }];
  assertEquals(updates.slice(-2).map((update) => update.content), [content, content]);
  const { rawOutput } = updates.at(-1) as { rawOutput: Json };
  assertEquals(rawOutput.exitCode, 3);
  assertEquals(rawOutput.output, `exit code: 3\noutput:\n${ws.dir}\nyes\n[]`);
});

Deno.test("acp: a command in the editor's terminal is ended at its limit, and with its turn", async () => {
  using ws = workspace();
  const steps = [command("echo begun; exec sleep 1000", { timeout_seconds: 1 }), { text: "Done." }];
  await using server = strictServer([...steps, command("echo begun; exec sleep 1000")]);
  await using editor = new Editor(flagsFor(server.url), { cwd: ws.dir });
  const terminals = new Terminals();
  editor.answer = terminals.answer;
  const id = await editor.begin(ws.dir, { terminal: true });
  assertEquals(await editor.prompt(id, "Go"), "end_turn");
  const { rawOutput } = editor.updates("tool_call_update").at(-1) as { rawOutput: Json };
  assertMatch(
    String(rawOutput.output),
    /^exit code: unknown \(ended by SIGKILL\)\ntimed_out: true/,
  );
  terminals.onWait = () => editor.notify("session/cancel", { sessionId: id });
  assertEquals(await editor.prompt(id, "Again"), "cancelled");
  assertEquals(terminals.asked.filter((method) => method === "terminal/kill").length, 2);
});

Deno.test("acp: an editor that makes no terminal has the command fail, and the turn go on", async () => {
  using ws = workspace();
  await using server = strictServer([command("echo hi"), { text: "Done." }]);
  await using editor = new Editor(flagsFor(server.url), { cwd: ws.dir });
  editor.answer = (method) =>
    method === "session/request_permission"
      ? { outcome: { outcome: "selected", optionId: "once" } }
      : method === "terminal/create"
      ? {}
      : undefined;
  const id = await editor.begin(ws.dir, { terminal: true });
  assertEquals(await editor.prompt(id, "Go"), "end_turn");
  const failed = editor.updates("tool_call_update").findLast(({ status }) => status === "failed");
  assertMatch(JSON.stringify(failed), /created no terminal/);
});
