import { assertEquals, assertStringIncludes } from "@std/assert";
import { readCall, runTools } from "../../src/agent/run_tools.ts";
import { RefusedError } from "../../src/tools/call_errors.ts";
import { builtinTools } from "../../src/tools/mod.ts";
import type { ToolExecution } from "../../src/types/event.ts";
import type { Decision } from "../../src/types/policy.ts";
import type { NewestOutput, Tool, ToolContext } from "../../src/types/tool.ts";
import { cpuTime } from "../helpers/cpu_time.ts";
import { readingTool, TEXT } from "../helpers/tool.ts";
import { posixTest, test, type Workspace } from "../tools/workspace.ts";

const ALLOW: Decision = { allow: true };

/** Runs one call of a tool by its name. */
async function runOne(
  ws: Workspace,
  name: string,
  args: Record<string, unknown>,
  { decide = () => ALLOW, tools = builtinTools, context = ws.context }: {
    decide?: () => Decision;
    tools?: readonly Tool[];
    context?: ToolContext;
  } = {},
): Promise<ToolExecution> {
  const given = { id: "call-1", name, arguments: args };
  const { call, error } = readCall(given, tools, context.workingDir);
  const errors = new Map([[call.id, error]]);
  const [exec] = await runTools([call], { tools, policy: { decide }, context, errors, emit() {} });
  return exec!;
}

const tool = (run: Tool["run"]): Tool => ({ ...readingTool("own", {}, run), access: "execute" });

test("the facts of a result are beside its text", async (ws) => {
  ws.put("a.txt", "one\ntwo\nthree\n");
  const rows: [name: string, args: Record<string, unknown>, details: ToolExecution["details"]][] = [
    ["read_file", { file_path: "a.txt", offset: 2, limit: 1 }, {
      range: { first: 2, last: 2, total: 3, isExact: true },
    }],
    ["glob_files", { pattern: "*" }, { counts: { files: 1 } }],
    ["grep_code", { pattern: "t" }, { counts: { matches: 2, files: 1 } }],
    ["list_directory", {}, { counts: { entries: 1 } }],
    ["write_file", { file_path: "b", content: "b" }, {
      counts: { bytes: 1 },
      change: {
        ...{ path: "b", isNew: true, morePlaces: 0 },
        lines: [{ kind: "+", text: "b", line: 1 }],
      },
    }],
  ];
  if (Deno.build.os !== "windows") {
    rows.push(
      ["run_bash", { command: "echo 1; echo 2 >&2; exit 3" }, {
        exitCode: 3,
        output: { stdout: "1", stderr: "2" },
      }],
      ["run_bash", { command: "sleep 60", timeout_seconds: 0.1 }, {
        exitCode: 124,
        isTimedOut: true,
        output: {},
      }],
      ["run_bash", { command: "sleep 60 & echo" }, {
        exitCode: 0,
        output: { stdout: "" },
        endedProcesses: ["sleep"],
      }],
    );
  }
  for (const [name, args, details] of rows) {
    const exec = await runOne(ws, name, args);
    assertEquals([exec.outcome, exec.isError], ["done", false], exec.result);
    assertEquals(exec.details, details);
  }
});

test("how a call ended is a field", async (ws) => {
  const failing = (error: Error) => [tool(() => Promise.reject(error))];
  const outcome = async (...args: Parameters<typeof runOne>) => {
    const { outcome, isError, refusal } = await runOne(...args);
    return [outcome, isError, refusal];
  };
  const refuse: Decision = { allow: false, reason: "no", summary: "so" };
  const own = (error: Error, more = {}) =>
    outcome(ws, "own", {}, { tools: failing(error), ...more });
  assertEquals(await outcome(ws, "read_file", { file_path: "none" }), ["failed", true, undefined]);
  assertEquals(await outcome(ws, "none", {}), ["failed", true, undefined]);
  assertEquals(await own(new Error("Refused: by a server")), ["failed", true, undefined]);
  assertEquals(await own(new RefusedError("so")), ["refused", true, "so"]);
  assertEquals(await own(new Error(), { decide: () => refuse }), ["refused", true, "so"]);
  for (const thrown of [Object.create(null), { message: 1 }, undefined]) {
    const own = tool(() => {
      throw thrown;
    });
    const { outcome, result } = await runOne(ws, "own", {}, { tools: [own] });
    assertEquals([outcome, result !== ""], ["failed", true]);
  }
  for (const isBefore of [true, false]) {
    const controller = new AbortController();
    const context = { ...ws.context, signal: controller.signal };
    if (isBefore) controller.abort();
    const own = tool(() => {
      controller.abort();
      throw controller.signal.reason;
    });
    const [ended] = await outcome(ws, "own", {}, { tools: [own], context });
    assertEquals(ended, isBefore ? "not_run" : "stopped");
  }
});

posixTest("a command that is stopped says what it printed, in words and as data", async (ws) => {
  const controller = new AbortController();
  const context = {
    ...ws.context,
    signal: controller.signal,
    onOutput: (newest: NewestOutput) => {
      const look = () => newest() === "" ? setTimeout(look, 1) : controller.abort();
      look();
    },
  };
  const exec = await runOne(ws, "run_bash", { command: "echo begun; sleep 60" }, { context });
  assertEquals(exec.outcome, "stopped");
  assertEquals(exec.details, { output: { stdout: "begun" } });
  assertStringIncludes(exec.result, "did not finish. It printed so far:\nstdout:\nbegun");
});

test("a tool of others may return a text, an outcome or anything", async (ws) => {
  const rows: [result: unknown, text: string, details: unknown][] = [
    ["text", "text", undefined],
    [{ content: "text" }, "text", undefined],
    [{ content: "text", exitCode: 0 }, "text", { exitCode: 0 }],
    [{ content: 1 }, '{"content":1}', undefined],
    [[1], "[1]", undefined],
    [undefined, "(no output)", undefined],
  ];
  for (const [result, text, details] of rows) {
    const exec = await runOne(ws, "own", {}, { tools: [tool(() => result as string)] });
    assertEquals([exec.result, exec.details], [text, details]);
  }
});

test("thousands of calls that write are compared in linear time", async (ws) => {
  const own = readingTool("own", { a: TEXT }, () => "x");
  const calls = Array.from({ length: 4000 }, (_, i) => (
    { id: `${i}`, name: "own", arguments: { a: "x".repeat(1000) + i % 3999 } }
  ));
  const tools = [{ ...own, access: "write" as const }];
  const options = { tools, policy: { decide: () => ALLOW }, context: ws.context, emit() {} };
  const start = cpuTime();
  const all = await runTools(calls, options);
  assertEquals(cpuTime() - start < 5000, true);
  assertEquals(all.filter(({ repairs }) => repairs).map(({ toolCallId }) => toolCallId), ["3999"]);
});
