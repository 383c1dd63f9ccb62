import { assertEquals, assertMatch } from "@std/assert";
import { Activity } from "../../../src/frontends/terminal/activity.ts";
import { TurnView } from "../../../src/frontends/terminal/turn_view.ts";
import { SessionHistory } from "../../../src/frontends/terminal/typed_history.ts";
import type { Screen } from "../../../src/terminal/screen/screen.ts";
import { runBash } from "../../../src/tools/shell/run_bash.ts";
import type { ToolExecution } from "../../../src/types/event.ts";
import { run, workspace } from "../../tools/workspace.ts";

const none = () => {};
const screen = { print: none, stream: none, update: none } as unknown as Screen;

Deno.test("a command that takes long shows what it printed last", {
  ignore: Deno.build.os === "windows",
}, async () => {
  using ws = workspace();
  const gates = ["a", "b", "c"].map((name) => ws.at(name));
  await run("mkfifo", ...gates);
  const view = new TurnView(screen, { colors: "none", unicode: false });
  const doing = () => view.activity.line()?.replace(/^.* stops · /, "");
  view.begin("waiting");
  const args = {
    command: `printf 'a\\033[31m\\n1%%\\r2%%' >&2; : > a; : < b; echo two; : > c; : < b`,
    timeout_seconds: 60,
  };
  view.onEvent({ type: "tool_start", name: "run_bash", args, id: "1" });
  const running = runBash(args, {
    ...ws.context,
    onOutput: (newest) => view.activity.toolPrints(newest),
  });
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
  const exec = { toolCallId: "1", toolName: "run_bash", arguments: args, result: result.content };
  view.onEvent({
    type: "tool_done",
    exec: { ...exec, durationMs: 1, isError: false, outcome: "done" },
  });
  assertEquals(doing(), "waiting");
});

Deno.test("a call that ended otherwise than well says how in a line, and what it printed last", () => {
  const rows: [exec: Partial<ToolExecution>, shown: string[]][] = [
    [{ details: { exitCode: 0, output: { stdout: "a" } } }, ["· run_bash x (2.0 s)"]],
    [
      {
        details: {
          exitCode: 1,
          output: { stdout: "a\n\nb", stderr: "c\x1b[m\n" + "漢".repeat(40) },
        },
      },
      ["· run_bash x (exit code 1, 2.0 s)", "    b", "    c␛[m", `    ${"漢".repeat(17)}…`],
    ],
    [{ details: { exitCode: 2, output: {} } }, ["· run_bash x (exit code 2, 2.0 s)"]],
    [
      { outcome: "stopped", isError: true, details: { output: { stdout: "a" } } },
      ["· run_bash x (stopped, 2.0 s)"],
    ],
    [{ outcome: "not_run", isError: true }, ["· run_bash x (not run)"]],
    [
      { outcome: "refused", isError: true, refusal: "plan\x1b mode" },
      ["· run_bash x (refused: plan␛ mode)"],
    ],
    [{ outcome: "refused", isError: true }, ["· run_bash x (refused)"]],
    // What a result says in words is nobody's business.
    [{ result: "exit code: 1\nRefused" }, ["· run_bash x (2.0 s)"]],
    [
      { outcome: "failed", isError: true, result: "Refused: so\nmore" },
      ["· run_bash x (failed: Refused: so)"],
    ],
  ];
  for (const [part, expected] of rows) {
    const shown: string[] = [];
    const print = (text: string) => void shown.push(...text.split("\n"));
    const at40 = stub40();
    try {
      const view = new TurnView({ ...screen, print } as Screen, { colors: "none", unicode: false });
      view.onEvent({
        type: "tool_done",
        exec: {
          ...{ toolCallId: "1", toolName: "run_bash", arguments: { command: "x" } },
          ...{ result: "", durationMs: 2000, isError: false, outcome: "done" as const },
          ...part,
        },
      });
    } finally {
      at40();
    }
    assertEquals(shown, expected);
  }
});

/** A terminal of 40 columns, until it is called. */
function stub40(): () => void {
  const { consoleSize } = Deno;
  Deno.consoleSize = () => ({ columns: 40, rows: 24 });
  return () => Deno.consoleSize = consoleSize;
}

Deno.test("that calls are recovered from the text is said once a session", () => {
  const shown: string[] = [];
  const print = (text: string) => void shown.push(text);
  const view = new TurnView({ ...screen, print } as Screen, { colors: "none", unicode: false });
  for (let turn = 0; turn < 2; turn++) {
    view.begin("waiting");
    for (const id of ["1", "2"]) {
      view.onEvent({ type: "tool_call_recovered", name: "read_file", id });
    }
    view.end();
  }
  assertEquals(shown.filter((text) => text.includes("recovered")).length, 1);
});

Deno.test("a history that cannot be written is told of once, and kept for the session", () => {
  const folder = Deno.makeTempDirSync();
  const before = Deno.env.get("XDG_STATE_HOME");
  try {
    Deno.mkdirSync(`${folder}/copilot`);
    // There is nothing to read, and nowhere to write.
    Deno.symlinkSync(`${folder}/missing/file`, `${folder}/copilot/history.jsonl`);
    Deno.env.set("XDG_STATE_HOME", folder);
    const told: string[] = [];
    const history = new SessionHistory(() => folder, (message) => told.push(message));
    history.add("one");
    history.add("two");
    assertMatch(told.join("\n"), /^· the history cannot be kept: .*$/);
  } finally {
    if (before === undefined) Deno.env.delete("XDG_STATE_HOME");
    else Deno.env.set("XDG_STATE_HOME", before);
    Deno.removeSync(folder, { recursive: true });
  }
});

Deno.test("the speed of an answer is shown once it tells something", () => {
  const activity = new Activity((text) => text, false);
  const { now } = performance;
  let ms = 0;
  performance.now = () => ms;
  try {
    assertEquals(activity.line(), undefined);
    activity.begin("waiting");
    assertEquals(activity.line(), "| 0 s · Esc stops · waiting");
    for (let i = 0; i < 20; i++) activity.token("answering");
    ms = 2000;
    assertEquals(activity.line(), "| 2 s · 20 tokens · Esc stops · answering");
    activity.token("answering");
    assertEquals(activity.line(), "| 2 s · 21 tokens · 11/s · Esc stops · answering");
    activity.request();
    assertEquals(activity.line(), "| 2 s · Esc stops · answering");
    activity.end();
    assertEquals(activity.line(), undefined);
  } finally {
    performance.now = now;
  }
});
