import { assertEquals } from "@std/assert";
import { turnView } from "../../src/cli/turn_view.ts";
import type { Screen } from "../../src/terminal/screen.ts";
import { runBash } from "../../src/tools/run_bash.ts";
import { run, workspace } from "../tools/workspace.ts";

const none = () => {};
const screen = { print: none, stream: none, update: none } as unknown as Screen;

Deno.test("a command that takes long shows what it printed last", {
  ignore: Deno.build.os === "windows",
}, async () => {
  using ws = workspace();
  const gates = ["a", "b", "c"].map((name) => ws.at(name));
  await run("mkfifo", ...gates);
  const view = turnView(screen, { colors: "none", unicode: false });
  const doing = () => view.activity()?.replace(/^.* stops · /, "");
  view.begin("waiting");
  const args = {
    command: `printf 'a\\033[31m\\n1%%\\r2%%' >&2; : > a; : < b; echo two; : > c; : < b`,
    timeout_seconds: 60,
  };
  view.onEvent({ type: "tool_start", name: "run_bash", args, id: "1" });
  const running = runBash(args, { ...ws.context, onOutput: view.onOutput });
  /** Until the output that was written before the gate was read, too. */
  const until = async (text: string) => {
    while (doing() !== text) await new Promise((resolve) => setTimeout(resolve, 1));
  };
  (await Deno.open(gates[0]!)).close();
  assertEquals(doing()?.startsWith("run_bash printf"), true); // it has not taken long
  const { now } = performance;
  performance.now = () => now.call(performance) + 3000;
  try {
    await until("run_bash: 2%");
    (await Deno.open(gates[1]!, { write: true })).close();
    (await Deno.open(gates[2]!)).close();
    await until("run_bash: two");
  } finally {
    performance.now = now;
    (await Deno.open(gates[1]!, { write: true })).close();
  }
  const result = await running;
  const exec = { toolCallId: "1", toolName: "run_bash", arguments: args, result };
  view.onEvent({ type: "tool_done", exec: { ...exec, durationMs: 1, isError: false } });
  assertEquals(doing(), "waiting");
});
