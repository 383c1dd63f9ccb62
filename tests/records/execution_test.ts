import { assertEquals } from "@std/assert";
import { type ExecutionFacts, factsOf } from "../../src/records/execution.ts";
import { entryLine, headLine, parseRecord } from "../../src/records/format.ts";
import type { ToolExecution } from "../../src/types/event.ts";
import type { Change, SubCall } from "../../src/types/tool.ts";

const change: Change = {
  ...{ path: "f", isNew: true, morePlaces: 0, lineEnd: "adds" as const },
  lines: [{ kind: "+", text: "x", line: 1 }, { kind: " ", text: "y" }],
} as const;
const subCall: SubCall = {
  ...{ toolName: "read_file", outcome: "done", durationMs: 1 },
  ...{ subject: { path: "a", action: "read" }, details: { counts: { files: 1 } } },
};
const details = {
  ...{ exitCode: 3, isTimedOut: true, endedProcesses: ["a"], counts: { files: 2 }, change },
  ...{ usage: { inputTokens: 5, outputTokens: 1 } },
  calls: [subCall],
  ...{ output: { stdout: "out" }, range: { first: 1, last: 2, total: 2, isExact: true } },
  written: { keeps: ["BOM"], isReindented: true, linkedTo: "/g", inPlace: "hard links" },
} as const;
const facts: ExecutionFacts = { durationMs: 5, outcome: "failed", refusal: "no", details };

Deno.test("how a call ended is kept beside its message, and read with the record", () => {
  const about = { toolCallId: "c", toolName: "run_bash", arguments: {}, result: "", isError: true };
  const exec: ToolExecution = { ...about, ...facts };
  assertEquals(factsOf(exec), facts);
  const message = { id: "a", role: "tool", content: "r", toolCallId: "c" } as const;
  const head = headLine({ folder: "/", started: "2026-01-01T00:00:00Z" });
  const record = parseRecord(head + entryLine({ message, execution: facts }));
  assertEquals([record.messages, record.executions.get("c")], [[message], facts]);
});

Deno.test("long output is cut, and a long change left out", () => {
  const lines = Array.from({ length: 6000 }, () => ({ kind: "+", text: "x" } as const));
  const about = { toolCallId: "c", toolName: "t", arguments: {}, result: "", isError: false };
  const long = { output: { stdout: "o".repeat(9000) }, change: { ...change, lines } };
  const kept = factsOf({ ...about, durationMs: 1, outcome: "done", details: long });
  assertEquals(Object.keys(kept.details!), ["output"]);
  assertEquals(kept.details!.output!.stdout!.length <= 4100, true);
  // Of a change, 100 000 characters are kept, with 20 for each line.
  for (const [size, isKept] of [[99_980, true], [99_981, false]] as const) {
    const lines = [{ kind: "+", text: "x".repeat(size) } as const];
    const details = { change: { ...change, lines } };
    const facts = factsOf({ ...about, durationMs: 1, outcome: "done", details });
    assertEquals(facts.details, isKept ? details : {});
  }
});
