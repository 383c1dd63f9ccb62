import { assertEquals } from "@std/assert";
import { callText, runningText } from "../../src/ui/call_text.ts";
import { jobEnded, progressLine } from "../../src/ui/progress.ts";
import type { ToolExecution, TurnEvent } from "../../src/types/event.ts";
import type { Job } from "../../src/types/tool.ts";

const CALLS: [name: string, args: Record<string, unknown>, shown: string][] = [
  ["read_file", { file_path: "src/a.ts", limit: 80 }, "read_file src/a.ts limit=80"],
  ["edit_file", { file_path: "a", old_string: "b", new_string: "c" }, "edit_file a"],
  ["write_file", { file_path: "a", content: "b" }, "write_file a"],
  ["x\x1b", { a: "b\nc", d: null, e: ["f"] }, 'x␛ b c d=null e=["f"]'],
  [
    "run_bash",
    { command: "npm ci", leave: "network", reason: "to install" },
    'run_bash npm ci leave=network reason="to install"',
  ],
  ["x", {}, "x"],
  ["x", { a: "b".repeat(98) }, `x ${"b".repeat(98)}`],
  ["x", { a: "b".repeat(99) }, `x ${"b".repeat(97)}…`],
];
for (const [name, args, shown] of CALLS) {
  Deno.test(`a call in one line: ${shown}`, () => {
    assertEquals(runningText({ toolName: name, arguments: args }), `Calling ${shown}`);
  });
}

const EVENTS: [event: TurnEvent, line: string | undefined][] = [
  [{ type: "text_delta", text: "a" }, undefined],
  [{ type: "thinking" }, undefined],
  [
    { type: "tool_call_recovered", name: "x\x1b", id: "1" },
    "· the call of x␛ was recovered from the answer's text",
  ],
  [
    { type: "retry", attempt: 1, maxAttempts: 3, delayMs: 1500, reason: "a\nb." },
    "· a b · next try in 2 s (2 of 3)",
  ],
  [{ type: "loading", model: "m\x1b" }, "· the server is loading m␛"],
  [{ type: "queued" }, "· queued behind another request"],
  [{ type: "notice", level: "info", message: "a\nb" }, "· a b"],
  [
    { type: "notice", level: "warning", code: "max_rounds", message: "a." },
    '· a. Say "go on" to continue.',
  ],
];
for (const [event, line] of EVENTS) {
  Deno.test(`a line of progress: ${event.type}`, () => assertEquals(progressLine(event), line));
}

const EXEC: ToolExecution = {
  ...{ toolCallId: "1", toolName: "run_bash", arguments: { command: "x" } },
  ...{ result: "", durationMs: 5, isError: false, outcome: "done" },
};

Deno.test("why a call failed is the first line of its result, up to 300 characters", () => {
  const line = (result: string) =>
    progressLine({ type: "tool_done", exec: { ...EXEC, outcome: "failed", result } });
  assertEquals(line("a\x1b\nmore"), "· Call run_bash x · failed · a␛");
  assertEquals(line("a".repeat(300)), `· Call run_bash x · failed · ${"a".repeat(300)}`);
  assertEquals(line("a".repeat(301)), `· Call run_bash x · failed · ${"a".repeat(299)}…`);
});

Deno.test("a command that the sandbox made fail says what it lacked", () => {
  const details = { exitCode: 6, limit: { kind: "network" } as const };
  assertEquals(
    progressLine({ type: "tool_done", exec: { ...EXEC, details } }),
    "· Called run_bash x · failed · exit 6 · 0.0 s · no network in the sandbox: --network",
  );
  const refused = {
    toolName: "b",
    outcome: "refused",
    refusal: "it writes",
    durationMs: 1,
  } as const;
  const calls = [{ ...refused, outcome: "done" } as const, refused];
  assertEquals(
    progressLine({ type: "tool_done", exec: { ...EXEC, details: { calls } } }),
    "· Called run_bash x\n· Call b · refused · it writes",
  );
  const job = { number: 1, exitCode: 6, command: "a\nb\x1b", limit: details.limit } as Job;
  assertEquals(jobEnded(job), "Job 1 failed (exit 6): a b␛ (no network in the sandbox: --network)");
});

Deno.test("a failure is told without what the model is told of its call", () => {
  const repairs = ["path as file_path"];
  const result = "[Your call was read as: path as file_path]\nCannot edit a: no such text\nmore";
  const exec: ToolExecution = { ...EXEC, outcome: "failed", isError: true, repairs, result };
  assertEquals(
    progressLine({ type: "tool_done", exec }),
    "· Call run_bash x · failed · Cannot edit a: no such text",
  );
  assertEquals(callText(exec).reason, "Cannot edit a: no such text");
});
