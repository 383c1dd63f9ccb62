import { assertEquals } from "@std/assert";
import { printedText } from "../../../src/ui/acp/call_updates.ts";
import { ShownCalls } from "../../../src/ui/acp/shown_calls.ts";
import type { ToolExecution } from "../../../src/types/event.ts";

type Update = Record<string, unknown>;

function shown() {
  const told: Update[] = [];
  return { told, calls: new ShownCalls((update) => void told.push(update)) };
}
const brief = (
  { sessionUpdate, toolCallId, status }: Update,
) => [sessionUpdate, toolCallId, status];

const exec = (more: Partial<ToolExecution> = {}): ToolExecution => ({
  ...{ toolCallId: "1", toolName: "write_file", arguments: {}, result: "done", isError: false },
  ...{ outcome: "done", durationMs: 5 },
  ...more,
} as ToolExecution);

Deno.test("acp: a call is begun once, then brought up to date, and ends", () => {
  const { told, calls } = shown();
  const start = { type: "tool_start", name: "read_file", args: {}, id: "1" } as const;
  calls.begin({ toolCallId: "1", status: "pending" });
  calls.start(start as never, "/ws");
  calls.end(exec(), "/ws");
  calls.end(exec({ toolCallId: "2" }), "/ws");
  calls.answer("3", true);
  calls.begin({ toolCallId: "4", status: "pending" });
  calls.answer("4", false);
  calls.begin({ toolCallId: "5", status: "pending" });
  calls.close();
  calls.close();
  assertEquals(told.map(brief), [
    ["tool_call", "1", "pending"],
    ["tool_call_update", "1", "in_progress"],
    ["tool_call_update", "1", "completed"],
    ["tool_call", "2", "pending"],
    ["tool_call_update", "2", "completed"],
    ["tool_call_update", "3", "completed"],
    ["tool_call", "4", "pending"],
    ["tool_call_update", "4", "failed"],
    ["tool_call", "5", "pending"],
    ["tool_call_update", "5", "failed"],
  ]);
});

Deno.test("acp: a change is shown place by place, at its first line", () => {
  const { told, calls } = shown();
  const lines = [
    { kind: " ", text: "a", line: 1 },
    { kind: "-", text: "b" },
    { kind: "+", text: "B", line: 2 },
    { kind: " ", text: "c", line: 3 },
    { kind: " ", text: "x", line: 9 },
    { kind: "-", text: "y" },
  ];
  const change = { path: "f.txt", isNew: false, lines, morePlaces: 0 };
  const subject = { path: "f.txt", action: "write" };
  calls.end(exec({ subject, details: { content: "", change } } as never), "/ws");
  const { content, locations } = told[1]!;
  assertEquals(content, [
    { type: "diff", path: "/ws/f.txt", oldText: "a\nb\nc\n", newText: "a\nB\nc\n" },
    { type: "diff", path: "/ws/f.txt", oldText: "x\ny\n", newText: "x\n" },
  ]);
  assertEquals(locations, [{ path: "/ws/f.txt", line: 2 }]);
  const made = {
    ...change,
    path: "f\x1b[2K.txt",
    isNew: true,
    lines: [{ kind: "+", text: "a", line: 1 }],
  };
  calls.end(exec({ subject, details: { content: "", change: made } } as never), "/ws");
  assertEquals(told[3]!.content, [
    { type: "diff", path: "/ws/f␛[2K.txt", oldText: null, newText: "a\n" },
  ]);
});

Deno.test("acp: what a program printed stands in a fence that it cannot end", () => {
  const rows: [text: string, shown: string][] = [
    ["", ""],
    ["a", "```\na\n```"],
    ["```\na", "````\n```\na\n````"],
    ["  ````` b", "``````\n  ````` b\n``````"],
    ["a ``` b", "```\na ``` b\n```"],
  ];
  for (const [text, shown] of rows) {
    assertEquals(printedText(text), { type: "content", content: { type: "text", text: shown } });
  }
});
