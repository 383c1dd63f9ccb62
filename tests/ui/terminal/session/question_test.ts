import { assertEquals, assertMatch } from "@std/assert";
import {
  answersHelp,
  asciiApproval,
  askUser,
  questionText,
  requestText as requestOf,
  ruleAdded,
} from "../../../../src/ui/terminal/session/question.ts";
import type { Approval, ApprovalAnswer, ApprovalChoice } from "../../../../src/safety/approval.ts";
import { ALL_EDITS } from "../../../../src/safety/call_policy.ts";
import { withSigns } from "../../../../src/text/signs.ts";
import { graphemeWidth } from "../../../../src/text/width.ts";
import { builtinTools } from "../../../../src/tools/mod.ts";
import type { Tool } from "../../../../src/types/tool.ts";
import { type Workspace, workspace } from "../../../tools/workspace.ts";

const bash = builtinTools.find((tool) => tool.name === "run_bash")!;

function approvalOf(
  tool: Tool,
  args: Record<string, unknown>,
  more: Partial<Approval> = {},
): Approval {
  const choices: ApprovalChoice[] = ["once", "refuse", "session", "folder", "edit"];
  return {
    call: { id: "1", name: tool.name, arguments: args },
    subject: tool.subject?.(args) ?? {},
    reason: "writes",
    isRoutine: true,
    isFromUser: false,
    choices,
    ...more,
  };
}

const requestText = (tool: Tool, args: Record<string, unknown>, columns: number): string =>
  requestOf(approvalOf(tool, args), columns);

Deno.test("a question names the sub-agent that wants the call", () => {
  const asked = approvalOf(bash, { command: "ls" }, { subAgent: "writer" });
  assertMatch(requestOf(asked, 80), /^Run this command\nfor the sub-agent writer\n/);
});

Deno.test("CMD-05 a request is shown whole, every row of it behind a bar", () => {
  const command = `touch x #${" ".repeat(200)}Run this command\n  command: git status`;
  for (const columns of [40, 80, 200]) {
    const [title, blank, ...rows] = requestText(bash, { command }, columns).split("\n");
    assertEquals([title, blank], ["Run this command", ""]);
    for (const row of rows) assertMatch(row, /^ {2}[│┆] /);
    for (const row of rows) assertEquals(row.length <= columns, true);
    assertEquals(rows.map((row) => row.slice(4)).join(""), command.replace("\n", ""));
  }
});

Deno.test("CMD-05 no row of a request is wider than the terminal, whatever it is written in", () => {
  for (const wide of ["漢", "\t", "ᄀ", "👍", "ｙ"]) {
    for (const size of [1, 30, 40, 60, 75, 500]) {
      const command = `${wide.repeat(size)}Run this? [y/n] y`;
      const rows = requestText(bash, { command }, 80).split("\n").slice(2);
      for (const row of rows) {
        assertEquals(row.includes("\t"), false);
        const columns = Array.from(row, graphemeWidth).reduce((sum, width) => sum + width);
        assertEquals(columns <= 80, true, row);
      }
      for (const row of rows) assertMatch(row, /^ {2}[│┆] /);
      const shown = rows.map((row) => row.replace(/^ {2}[│┆] /, "")).join("");
      assertEquals(shown.replace(/[ ␉]/g, ""), command.replace(/[ \t]/g, ""));
    }
  }
});

Deno.test("CMD-05 what bash tells apart looks different: ends of lines, folds, blanks", () => {
  const rows = (command: string) => requestText(bash, { command }, 30).split("\n").slice(2);
  assertEquals(rows(`echo ${"a".repeat(19)}\nrm x`), [`  │ echo ${"a".repeat(19)}`, "  │ rm x"]);
  assertEquals(rows(`echo ${"a".repeat(19)}rm x`), ["  │ echo ", `  ┆ ${"a".repeat(19)}rm x`]);
  assertEquals(rows(`${"a".repeat(24)}rm x`), [`  │ ${"a".repeat(24)}`, "  ┆ rm x"]);
  // A backslash at the end of a line joins it with the next; before a blank it does not.
  assertEquals(rows("echo \\ \nrm x"), ["  │ echo \\␠", "  │ rm x"]);
  assertEquals(rows("cat <<-E\n\tE\nrm x"), ["  │ cat <<-E", "  │ ␉   E", "  │ rm x"]);
});

Deno.test("TTY-02 what hides or reorders is shown by its number", () => {
  const request = requestText(bash, { command: "echo \u202e\x1b[2J" }, 80);
  assertMatch(request, /\\u\{202e\}␛\[2J\n {2}⚠ Careful: /);
  for (const command of ["echo é 漢字\n", "a\r\nb"]) {
    assertEquals(requestText(bash, { command }, 80).includes("Careful"), false);
  }
});

Deno.test("TTY-02 without UTF-8, signs of a request are shown by their numbers, and none stands in for them", () => {
  const command = "echo ● “─” \u202e\x1b[2J;\tx │ \\ ";
  const rules = [{ rule: "run_bash(echo ●)", words: "echo ● …" }];
  const approval = asciiApproval(approvalOf(bash, { command }, { rules }));
  const shown = withSigns(questionText(approval, 200, (text) => text, true), false);
  assertMatch(shown, /^[\n\x20-\x7e]*$/);
  assertEquals(
    shown.split("\n")[2],
    "  | echo \\u{25cf} \\u{201c}\\u{2500}\\u{201d} \\u{202e}^[[2J;^I   x \\u{2502} \\\\u{20}",
  );
  assertMatch(shown, /Careful/);
  const words = (rule: string, text: string) =>
    asciiApproval(approvalOf(bash, { command }, { rules: [{ rule, words: text }] })).rules![0]!
      .words;
  assertEquals(words("run_bash(npm test *)", "npm test …"), "npm test ...");
  assertEquals(words("run_bash(echo …)", "echo …"), "echo \\u{2026}");
  assertEquals(approvalOf(bash, { command }).subject.command, command);
});

Deno.test("CMD-05 only what is an answer answers, and nothing else is a yes", async () => {
  const rows: [line: string, expected: ApprovalAnswer | undefined][] = [
    ["y", { choice: "once" }],
    [" YES ", { choice: "once" }],
    ["always", { choice: "session" }],
    ["s", { choice: "folder" }],
    ["n", { choice: "refuse", reason: "" }],
    ["no, why", { choice: "refuse", reason: "why" }],
    ["nuse pnpm", { choice: "refuse", reason: "nuse pnpm" }],
    ["Never!", { choice: "refuse", reason: "Never!" }],
    ["a", { choice: "session" }],
    ["save", { choice: "folder" }],
    ["?", undefined],
    ["", undefined],
    ["yes please", undefined],
    ["constructor", undefined],
    ["__proto__", undefined],
  ];
  const { signal } = new AbortController();
  for (const [line, expected] of rows) {
    const approve = askUser(
      (_text, _prompt, objection) => Promise.resolve(objection(line) === undefined ? line : null),
      () => 80,
    );
    const answer = await approve(approvalOf(bash, { command: "ls" }), signal);
    assertEquals(answer, expected ?? { choice: "refuse", reason: "" }, line);
  }
});

Deno.test("a command is edited, and stays as it was where nothing is typed", async () => {
  const { signal } = new AbortController();
  for (const [typed, command] of [["ls -l", "ls -l"], [" ", "ls"], [null, "ls"]] as const) {
    const begun: (string | undefined)[] = [];
    const approve = askUser(
      (_text, prompt, _objection, _signal, start) => {
        begun.push(start?.text);
        return Promise.resolve(prompt === "command: " ? typed : "e");
      },
      () => 80,
    );
    const answer = await approve(approvalOf(bash, { command: "ls" }), signal);
    assertEquals([answer, begun], [{ choice: "edit", command }, [undefined, "ls"]]);
  }
});

Deno.test("what is said of a rule that was added drives no terminal", () => {
  const rule = "run_bash(ls\x1b[2J)";
  const type = "rule_added" as const;
  const ls = { type, rule: "run_bash(ls *)", words: "ls …" };
  assertEquals(ruleAdded(ls), "· Won't ask again for `ls …` in this session");
  assertEquals(
    ruleAdded({ ...ls, path: "/p.json" }),
    "· Won't ask again for `ls …` in this folder (saved in /p.json)",
  );
  assertEquals(
    ruleAdded({ type, ...ALL_EDITS }),
    "· Won't ask again for all edits in this folder in this session",
  );
  const failed = ruleAdded({ type, rule, words: rule, error: "no space left\x1b[2J" });
  assertMatch(failed, / in this session; it cannot be saved: no space left/);
  for (const text of [failed, ruleAdded({ type, rule, words: rule })]) {
    assertEquals(text.includes("\x1b"), false);
  }
});

async function rowsBelowPath(
  ws: Workspace,
  name: string,
  args: Record<string, unknown>,
): Promise<string[]> {
  const tool = builtinTools.find((one) => one.name === name)!;
  const prepared = await Promise.resolve(tool.prepare!(args, ws.context)).catch(() => undefined);
  const preview = prepared?.change;
  const approval = approvalOf(tool, args, preview ? { preview } : {});
  return requestOf(approval, 80).split("\n").slice(2);
}

Deno.test("writing over a file is shown as a difference, a new file whole", async () => {
  using ws = workspace();
  ws.put("a", "one\ntwo\nthree\n");
  ws.put("crlf", "one\r\ntwo\r\n");
  ws.put("binary", [0xff, 0xff]);
  ws.put("large", new Uint8Array(2 ** 20 + 1));
  const rows: [path: string, content: string, expected: string[]][] = [
    ["a", "one\n2\nthree\n", [
      ...["  changes to the file:", "    1   one", "      - two", "    2 + 2", "    3   three"],
    ]],
    ["b", "new\n", ["    1 + new"]],
    ["a", "one\ntwo\nthree\n", ["    (no change)"]],
    ["binary", "new\n", [
      "  content (1 line, 4 characters):",
      "  │ new",
      "  this replaces a file of 2 bytes",
    ]],
    ["large", "", ["  content: ", "  this replaces a file of 1048577 bytes"]],
    ["crlf", "1\ntwo\n", ["  changes to the file:", "      - one", "    1 + 1", "    2   two"]],
    ["crlf", "one\r\ntwo\n", [
      ...["  changes to the file:", "    1   one␍", "      - two␍", "    2 + two"],
    ]],
  ];
  for (const [file_path, content, expected] of rows) {
    assertEquals(await rowsBelowPath(ws, "write_file", { file_path, content }), expected);
  }
});

/** What is asked about a call, and what is said of some lines in place of an answer. */
async function asked(
  name: string,
  args: Record<string, unknown>,
  more: Partial<Approval>,
  lines: string[] = [],
  columns = 80,
): Promise<{ text: string; prompt: string; said: (string | undefined)[] }> {
  const tool = builtinTools.find((one) => one.name === name)!;
  const got = Promise.withResolvers<Awaited<ReturnType<typeof asked>>>();
  const approve = askUser(
    (text, prompt, objection) => {
      got.resolve({ text, prompt, said: lines.map(objection) });
      return Promise.resolve("n");
    },
    () => columns,
  );
  await approve(approvalOf(tool, args, more), new AbortController().signal);
  return await got.promise;
}

Deno.test("CMD-08 a question says what its answers allow, and offers none that would not help", async () => {
  const edit = { file_path: "src/none.py", old_string: "a", new_string: "b" };
  const choices: ApprovalChoice[] = ["once", "refuse", "session", "folder"];
  const rules = [{ rule: "edit_file(src/none.py)", words: "src/none.py" }];
  const of = await asked("edit_file", edit, { rules, rulePath: "src/none.py", choices }, [
    "x",
    "?",
    "e",
  ]);
  const allows = "  a allows edits of src/none.py in this session, s in this folder from now on";
  assertEquals(of.text.split("\n").at(-1), allows);
  assertEquals(of.prompt, "Edit src/none.py? [y/n/a/s/?] ");
  const short = "  y, n, a, s or ? for help";
  const whole = `  y  yes, this once
  a  always: yes, and allow edits of src/none.py in this session
  s  save: yes, and allow in this folder from now on: edit_file(src/none.py)
  n  no; the model reads what you write after it`;
  assertEquals(of.said, [short, whole, short]);
  const tool = builtinTools.find((one) => one.name === "edit_file")!;
  const listed = { rules, rulePath: "src/none.py", choices: [...choices, "edit" as const] };
  assertEquals(
    answersHelp(approvalOf(tool, edit, listed), 50),
    `  y  yes, this once
  a  always: yes, and allow edits of src/none.py
  in this session
  s  save: yes, and allow in this folder from now
  on: edit_file(src/none.py)
  n  no; the model reads what you write after it
  e  edit the command first`,
  );
  assertEquals(
    questionText(approvalOf(tool, edit, listed), 40, (text) => text, true).split("\n").slice(-2),
    ["  a allows edits of src/none.py in this", "  session, s in this folder from now on"],
  );
  const networked = [{ text: "npm install", isExact: false }];
  const network = await asked("run_bash", { command: "npm install a" }, { networked }, ["?"]);
  assertMatch(
    network.said[0]!,
    /^ {2}y {2}yes, with network access, also for its later calls in this session$/m,
  );
  const command = await asked(
    "run_bash",
    { command: "npm test" },
    { rules: [{ rule: "run_bash(npm test)", words: "npm test" }] },
    ["?"],
  );
  assertMatch(command.text, /\n {2}a allows exactly this in this session, s in/);
  assertMatch(
    command.said[0]!,
    /from now on: run_bash\(npm test\)\n {2}n {2}no; [^\n]*\n {2}e {2}edit the command/,
  );
  const always = await asked(
    "run_bash",
    { command: "a\nb" },
    { choices: ["once", "refuse"] },
    ["a", "save", "e"],
  );
  assertEquals(always.prompt, "Run this command? [y/n/?] ");
  assertEquals(always.said, Array(3).fill("  y, n or ? for help"));
  assertEquals(always.text.includes("allows"), false);
  const narrow = await asked(
    "run_bash",
    { command: "ls" },
    { rules: [{ rule: "run_bash(ls *)", words: "ls …" }] },
    [],
    24,
  );
  assertEquals(narrow.prompt, "Run this command? [y/n/?] ");
  const rows = narrow.text.split("\n").slice(1);
  assertEquals(rows.filter((row) => row.length > 24), []);
});

Deno.test("a file that a message names is asked about in other words than a call", async () => {
  const file = { file_path: ".env" };
  const of = await asked(
    "read_file",
    file,
    {
      isFromUser: true,
      isRoutine: false,
      isDanger: true,
      reason: "is secret",
      choices: ["once", "refuse"],
    },
    ["?"],
  );
  assertEquals(of.text, "Attach .env\n  ⚠ It is secret.");
  assertEquals(of.prompt, "Attach .env? [y/n/?] ");
  const help = "  y  attach it\n  n  do not attach it: the model only sees the name";
  assertEquals(of.said, [help]);
});

Deno.test("the arguments of a call: short ones in a row, others below it, the background in words", () => {
  const rows = (args: Record<string, unknown>, columns = 40) =>
    requestText(bash, args, columns).split("\n").slice(2);
  assertEquals(rows({ command: "ls", run_in_background: true }), [
    ...["  │ ls", "  in the background (/jobs stops it)"],
  ]);
  assertEquals(rows({ command: "ls", run_in_background: false, timeout_seconds: 5 }), [
    ...["  │ ls", "  run in background: false", "  timeout seconds: 5"],
  ]);
  assertEquals(rows({ command: "a".repeat(12) }, 5).slice(-2), [`  │ ${"a".repeat(10)}`, "  ┆ aa"]);
  const reason = (size: number) => rows({ command: "ls", reason: "a".repeat(size) }).slice(1);
  assertEquals(reason(28), [`  reason: ${"a".repeat(28)}`]);
  assertEquals(reason(29), ["  reason (1 line, 29 characters):", `  │ ${"a".repeat(29)}`]);
});
