import { assertEquals } from "@std/assert";
import { callText, informativeLines, runningText } from "../../src/ui/call_text.ts";
import { callRows, titleRows } from "../../src/ui/terminal/session/call_rows.ts";
import { builtinTools, withJobs } from "../../src/tools/mod.ts";
import type { ToolExecution } from "../../src/types/event.ts";

const EXEC: ToolExecution = {
  ...{ toolCallId: "1", toolName: "run_bash", arguments: { command: "x" } },
  ...{ result: "", durationMs: 5, isError: false, outcome: "done" },
  subject: { command: "x", action: "run" },
};
const rowsOf = (part: Partial<ToolExecution>, columns = 40) => {
  const { title, body } = callRows({ ...EXEC, ...part }, {
    ...{ columns, where: " · Ctrl-O" },
    paint: (text) => text,
  });
  return [...title, ...body];
};

/** A call of a tool, with the subject that the tool gives. */
function called(toolName: string, args: Record<string, unknown>): ToolExecution {
  const tool = withJobs(builtinTools).find(({ name }) => name === toolName)!;
  return { ...EXEC, toolName, arguments: args, subject: tool.subject!(args) };
}

Deno.test("the task of a sub-agent has its name, what it took, and stays in its row", () => {
  const exec: ToolExecution = {
    ...EXEC,
    ...{ toolName: "explore", subject: { action: "explore", task: "Find x", agent: "finder" } },
    ...{ details: { counts: { calls: 2, tokens: 11_500 } }, durationMs: 4800 },
  };
  const { verb, object, counts, isRead: isRead } = callText(exec);
  assertEquals([verb, object, counts, isRead], [
    ...["Explored", "finder: Find x", "2 calls, 11.5k tokens", false],
  ]);
  assertEquals(rowsOf(exec, 60).length, 1);
  const edited = { ...exec, subject: { action: "toString" } } as unknown as ToolExecution;
  assertEquals(callText(edited).verb, "Called");
});

Deno.test("each tool has a verb, and an object that says most", () => {
  const rows: [name: string, args: Record<string, unknown>, running: string, ran: string][] = [
    ["read_file", { file_path: "a\x1b", limit: 2 }, "Reading a␛", "Read a␛"],
    ["list_directory", {}, "Listing .", "Listed ."],
    ["list_directory", { path: "src" }, "Listing src", "Listed src"],
    ["glob_files", { pattern: "*.ts" }, "Finding *.ts", "Found *.ts"],
    ["grep_code", { pattern: "x", path: "src" }, "Searching x in src", "Found x in src"],
    ["grep_code", { pattern: "x", path: "." }, "Searching x", "Found x"],
    ["edit_file", { file_path: "a" }, "Editing a", "Edited a"],
    ["write_file", { file_path: "a", content: "b" }, "Writing a", "Wrote a"],
    ["run_bash", { command: "a\n  b" }, "Running a ↵ b", "Ran a ↵ b"],
    ["run_bash", { command: "a", run_in_background: true }, "Starting a", "Started a"],
    ["job_output", { job: 3 }, "Checking job 3", "Checked job 3"],
  ];
  for (const [name, args, running, ran] of rows) {
    const exec = called(name, args);
    const { verb, object } = callText(exec);
    assertEquals([runningText(exec), `${verb} ${object}`], [running, ran]);
  }
  const { subject: _, ...unknown } = EXEC;
  assertEquals(runningText({ ...unknown, toolName: "x", arguments: { a: 1 } }), "Calling x a=1");
});

Deno.test("what a call found is counted", () => {
  const range = { first: 1, last: 9, total: 9, isExact: true };
  const rows: [Partial<ToolExecution>["details"], string][] = [
    [{ range }, "9 lines"],
    [{ range: { ...range, total: 10 } }, "lines 1–9 of 10"],
    [{ range: { ...range, isExact: false } }, "lines 1–9 of 9+"],
    [{ counts: { matches: 5, files: 2 } }, "5 matches in 2 files"],
    [{ counts: { matches: 0, files: 0 } }, "no matches"],
    [{ counts: { entries: 1 } }, "1 entry"],
    [{ counts: { bytes: 1 } }, ""],
    [{ about: "PNG, 1x1, 9 bytes" }, "PNG, 1x1, 9 bytes"],
    [{ job: 2 }, "job 2"],
    [{}, ""],
  ];
  for (const [details, counts] of rows) {
    assertEquals(callText({ ...EXEC, details: details! }).counts, counts);
  }
});

Deno.test("a call that ended otherwise than well says how, and what of its output tells why", () => {
  const output = { stdout: "a1\n\nb2", stderr: "c3\x1b[m\n" + "漢".repeat(40) };
  const rows: [exec: Partial<ToolExecution>, shown: string[]][] = [
    [{ durationMs: 1000 }, ["● Ran x"]],
    [{ durationMs: 1001 }, ["● Ran x  1.0 s"]],
    [{ details: { exitCode: 0, output: { stdout: "a" } } }, ["● Ran x", "  └ a"]],
    [{ details: { exitCode: 1, output } }, [
      ...["● Ran x  failed · exit 1 · 0.0 s", "  └ a1", "    b2", "    c3␛[m"],
      ...[`    ${"漢".repeat(18)}`, `    ${"漢".repeat(17)}…`],
    ]],
    [{ details: { exitCode: 124, isTimedOut: true }, durationMs: 2000 }, [
      "● Ran x  timed out · 2.0 s",
    ]],
    [{ outcome: "stopped", isError: true, durationMs: 2000 }, ["● Ran x  stopped · 2.0 s"]],
    [{ outcome: "not_run", isError: true }, ["● Run x  not run"]],
    [{ outcome: "refused", isError: true, refusal: "plan\x1b mode" }, [
      ...["● Run x  refused", "  └ plan␛ mode"],
    ]],
    [{ outcome: "refused", isError: true }, ["● Run x  refused"]],
    [{ result: "exit code: 1\nRefused" }, ["● Ran x"]],
    [{ outcome: "failed", isError: true, result: "Refused: so\nmore" }, [
      ...["● Run x  failed", "  └ Refused: so"],
    ]],
  ];
  for (const [part, expected] of rows) assertEquals(rowsOf(part), expected);
});

Deno.test("endings stand in a column where there is room", () => {
  const part = { details: { exitCode: 1, output: { stdout: "a\nb\nc\nd\ne\nf\n" } } };
  const head = `Ran     x${" ".repeat(46)}failed`;
  assertEquals(rowsOf(part, 80)[0], `● ${head} · exit 1 · 0.0 s`);
  const long = { subject: { command: "word ".repeat(20), action: "run" as const } };
  for (const columns of [20, 40, 60, 80, 120]) {
    const rows = rowsOf({ ...long, ...part }, columns);
    for (const row of rows) assertEquals(row.length <= columns, true, row);
    assertEquals(rows[1]!.startsWith(columns < 60 ? "  word" : "          word"), columns < 120);
  }
  const read = (object: string) => ({ ...callText(EXEC), object, counts: "26 lines" });
  const look = { columns: 40, paint: (text: string) => text };
  assertEquals(titleRows("Read", [read("src/cart.py"), read("src/cli.py")], look), [
    "● Read src/cart.py (26 lines)",
    "  src/cli.py (26 lines)",
  ]);
});

Deno.test("of a command's output, its first and last lines are shown, and those of failures before", () => {
  const telling = (stdout: string, exitCode: number) =>
    informativeLines({ ...EXEC, details: { exitCode, output: { stdout } } });
  const numbers = Array.from({ length: 9 }, (_, n) => `line ${n}`).join("\n");
  const ends = ["line 0", "line 1", "line 6", "line 7", "line 8"];
  const shown = [...ends.slice(0, 2), 4, ...ends.slice(2)];
  assertEquals([telling(numbers, 0), telling(numbers, 1)], [shown, shown]);
  const amid = numbers.replace("line 4", "error: x");
  // Each gap has a row, unless it is a single line.
  assertEquals(telling(amid, 1), ["line 0", "line 1", 2, "error: x", 2, "line 7", "line 8"]);
  assertEquals(telling(amid, 0), shown);
  const tests = `FF..
=====
FAIL: test_one
-----
Traceback (most recent call last):
  File "t.py", line 15, in test_one
    self.assertEqual(f(), 1)
AssertionError: 2 != 1

-----
Ran 2 tests in 0.001s

FAILED (failures=1)
`;
  assertEquals(telling(tests, 1), [
    ...["FAIL: test_one", "Traceback (most recent call last):", 2, "AssertionError: 2 != 1"],
    ...["Ran 2 tests in 0.001s", "FAILED (failures=1)"],
  ]);
  assertEquals(telling("..\n---\nRan 2 tests\n\nOK\n", 0), ["Ran 2 tests", "OK"]);
  assertEquals([telling("---\n", 0), telling("", 1)], [["---"], []]);
  const frames = "  raise Error\n  main()\n".repeat(6);
  assertEquals(telling(`${frames}shop.Broken: no stock\n`, 1).at(-1), "shop.Broken: no stock");
});

Deno.test("a reason takes three rows, and says that it is cut", () => {
  const refused = (refusal: string) =>
    rowsOf({ outcome: "refused", isError: true, refusal }).slice(1);
  const row = "some word ".repeat(3) + "other ";
  const rows = [`  └ ${row}`, `    ${row}`, "    some word some word some word end"];
  assertEquals(refused(`${row}${row}${"some word ".repeat(3)}end`), rows);
  assertEquals(refused(row.repeat(4)), [...rows.slice(0, 2), `    ${row.slice(0, -1)}…`]);
  assertEquals(refused(row.repeat(2) + "some words and a-word-that-is-too-long-here").slice(2), [
    "    some words and a-word-that-is-too-l…",
  ]);
});

Deno.test("a line of an error takes two rows, a line of a success one", () => {
  const line = "error: the file that was named is not there, nor in the parents";
  const of = (exitCode: number) =>
    rowsOf({ details: { exitCode, output: { stdout: line } } }).slice(1);
  assertEquals(of(1), [
    "  └ error: the file that was named is ",
    "    not there, nor in the parents",
  ]);
  assertEquals(of(0), ["  └ error: the file that was named is n…"]);
});

Deno.test("the row of a failed call says why, without what is meant for the model", () => {
  const rows: [result: string, reason: string][] = [
    [
      "Cannot read a as b.ts as it does not exist: list_directory shows what there is",
      "b.ts as it does not exist",
    ],
    ["Cannot read a.ts as it does not exist: did you mean b.ts?", "it does not exist"],
    [
      "Cannot edit a.ts as old_string was not found.\nThe closest lines: 1",
      "the old text was not found",
    ],
    [
      "Cannot edit a.ts as old_string appears 2 times (lines 1 and 9): add lines",
      "the old text appears 2 times (lines 1 and 9)",
    ],
    ["Cannot read a.ts: permission denied", "Cannot read a.ts: permission denied"],
    ["it broke", "it broke"],
  ];
  for (const [result, reason] of rows) {
    const exec = { outcome: "failed", isError: true, result } as const;
    assertEquals(callText({ ...EXEC, ...exec }).reason, reason);
  }
});
