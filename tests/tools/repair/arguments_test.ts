import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { bareName } from "../../../src/text/bare_name.ts";
import { builtinTools } from "../../../src/tools/mod.ts";
import { fitArguments } from "../../../src/tools/repair/arguments.ts";
import type { ToolArgs } from "../../../src/tools/schema.ts";
import { readingTool, TEXT } from "../../helpers/tool.ts";

const address = readingTool("fetch_url", { url: TEXT });
const properties = { url: TEXT, offset: { type: "integer", minimum: 1 } };
const fetchTool = { ...address, parameters: { ...address.parameters, properties } };

function fit(name: string, given: ToolArgs, called = name) {
  const tool = [...builtinTools, fetchTool].find((one) => one.name === name)!;
  return fitArguments(tool, given, { name: bareName(called), folder: "/ws" });
}

const A = { file_path: "a" };
const RANGE = "a range of lines as offset and limit";
const LAST_LINE = "the last line as a limit";
const MILLISECONDS = "milliseconds as timeout_seconds";
const BLOCKS = "SEARCH and REPLACE as old_string and new_string";
const searchAs = (pattern: string) => `the search as the pattern ${pattern}`;
/** A call, what is read of it, and what is said of the repair. */
// deno-fmt-ignore
const ROWS: [tool: string, given: ToolArgs, args: ToolArgs, repairs: string, called?: string][] = [
  // Wrappers.
  ["read_file", { input: A }, A, "what is in input as the arguments"],
  ["read_file", { input: A, reason: "x" }, A, "what is in input as the arguments"],
  ["read_file", { readFile: '{"file_path": "a"}' }, A, "what is in readFile as the arguments"],
  [
    "read_file",
    { args: { input: { data: A } } },
    A,
    ["args", "input", "data"].map((key) => `what is in ${key} as the arguments`).join("|"),
  ],
  ["read_file", { payload: "a" }, A, "payload as file_path"],
  ["fetch_url", { arguments: "http://a" }, { url: "http://a" }, "arguments as url"],
  ["read_file", { payload: "[1]" }, {}, "payload as nothing: there is no such argument"],
  ["read_file", { payload: 5 }, {}, "payload as nothing: there is no such argument"],
  // Lines.
  ["read_file", { ...A, view_range: [2, 5] }, { ...A, offset: 2, limit: 4 }, RANGE],
  ["read_file", { ...A, lines: "2-5" }, { ...A, offset: 2, limit: 4 }, RANGE],
  ["read_file", { ...A, lines: "3..3" }, { ...A, offset: 3, limit: 1 }, RANGE],
  ["read_file", { ...A, range: [0, -1] }, { ...A, offset: 1 }, RANGE],
  ["read_file", { ...A, start: 3, end: "3" }, { ...A, offset: 3, limit: 1 }, LAST_LINE],
  ["read_file", { ...A, end_line: 4 }, { ...A, offset: 1, limit: 4 }, LAST_LINE],
  ["read_file", { ...A, start_line: 0, end_line: 4 }, { ...A, offset: 1, limit: 5 }, LAST_LINE],
  ["read_file", { ...A, start_line: 5, end_line: 4 }, { ...A, offset: 5 }, LAST_LINE],
  ["read_file", { ...A, offset: 2, end_line: 4 }, { ...A, offset: 2, limit: 3 }, LAST_LINE],
  ["read_file", { ...A, limit: 2, end_line: 4 }, { ...A, limit: 2 }, ""],
  ["read_file", { ...A, end_line: "z" }, A, ""],
  ["read_file", { ...A, should_read_entire_file: true }, A, ""],
  ...[0, 1].map((given): typeof ROWS[number] => [
    "edit_file",
    { ...A, old_string: "a", new_string: "b", replace_all: given },
    { ...A, old_string: "a", new_string: "b", replace_all: given === 1 },
    `replace_all ${given} as ${given === 1}`,
  ]),
  // Times.
  ["run_bash", { command: "a", timeout_ms: 5000 }, { command: "a", timeout_seconds: 5 }, MILLISECONDS],
  ["run_bash", { command: "a", yield_time_ms: "1500" }, { command: "a", timeout_seconds: 1.5 }, MILLISECONDS],
  ["run_bash", { command: "a", timeout_seconds: 9, timeout_ms: 5000 }, { command: "a", timeout_seconds: 9 }, MILLISECONDS],
  ["run_bash", { command: "a", timeout: 999 }, { command: "a", timeout_seconds: 999 }, "timeout as 999 seconds"],
  ["run_bash", { command: "a", timeout: 1 }, { command: "a", timeout_seconds: 1 }, "timeout as 1 seconds"],
  ["run_bash", { command: "a", timeout: 0 }, { command: "a" }, "timeout as none given"],
  ["run_bash", { command: "a", timeout: "86401" }, { command: "a", timeout_seconds: 86.401 }, "timeout as 86.401 seconds"],
  ["run_bash", { command: "a", timeout: 5000 }, { command: "a", timeout_seconds: 5 }, "timeout as 5 seconds", "Bash"],
  // Folders.
  ["run_bash", { command: "a", cwd: "/ws/" }, { command: "a" }, ""],
  ["run_bash", { command: "a", dir: "$PWD" }, { command: "a" }, ""],
  ["run_bash", { command: "a", cwd: " " }, { command: "a" }, ""],
  // Searches.
  ["grep_code", { pattern: "a", ignore_case: true }, { pattern: "(?i)a" }, searchAs("(?i)a")],
  ["grep_code", { pattern: "(?i)a", "-i": true }, { pattern: "(?i)a" }, searchAs("(?i)a")],
  ["grep_code", { query: "a", match_case: false }, { pattern: "(?i)a" }, searchAs("(?i)a")],
  ["grep_code", { pattern: "a", case_sensitive: true, "-n": true, head_limit: 3 }, { pattern: "a" }, ""],
  ["grep_code", { pattern: "a.b", is_regex: false }, { pattern: "a\\.b" }, searchAs("a\\.b")],
  ["grep_code", { pattern: "a.b", regex: false }, { pattern: "a\\.b" }, searchAs("a\\.b")],
  ["grep_code", { pattern: "a.b", fixed_strings: true }, { pattern: "a\\.b" }, searchAs("a\\.b")],
  ["grep_code", { pattern: "a.b", literal: false, is_regex: true }, { pattern: "a.b" }, ""],
  ["grep_code", { pattern: "a", "-A": 2, "-B": "3" }, { pattern: "a", context_lines: 3 }, ""],
  ["grep_code", { pattern: "a", "-C": 2 }, { pattern: "a", context_lines: 2 }, ""],
  ["grep_code", { "-i": true }, {}, ""],
  ["glob_files", { query: "cart" }, { pattern: "**/*cart*" }, "cart as the pattern **/*cart*", "file_search"],
  ["glob_files", { pattern: "*.ts" }, { pattern: "**/*.ts" }, "*.ts as the pattern **/*.ts", "find"],
  ["glob_files", { pattern: "**" }, { pattern: "**" }, "", "find"],
  ["glob_files", { pattern: "src/a" }, { pattern: "src/a" }, "", "find"],
  ["glob_files", { query: "cart" }, { pattern: "cart" }, "query as pattern"],
  // Names.
  ["read_file", { filePath: "a" }, A, "filePath as file_path"],
  ["read_file", { file_path: null, path: "a" }, A, "path as file_path"],
  ["read_file", { ...A, path: "a" }, A, ""],
  ["read_file", { ...A, wat: 1 }, A, "wat as nothing: there is no such argument"],
  ["read_file", { ...A, goal: 1, wat: "" }, A, ""],
  [
    "edit_file",
    { command: "str_replace", ...A, old_str: "a", new_str: "b" },
    { ...A, old_string: "a", new_string: "b" },
    "old_str as old_string|new_str as new_string",
    "str_replace_editor",
  ],
  ["edit_file", { ...A, edits: [{ old_string: "a", newText: "b" }] }, {
    ...A,
    old_string: "a",
    new_string: "b",
  }, "the one edit of a list as the edit|newText as new_string"],
  ["edit_file", { ...A, diff: "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE" }, { ...A, old_string: "a", new_string: "b" }, BLOCKS],
  ["edit_file", { ...A, diff: "<<<<<<< SEARCH\na\n=======\n>>>>>>> REPLACE" }, { ...A, old_string: "a\n", new_string: "" }, BLOCKS],
];

for (const [name, given, args, repairs, called] of ROWS) {
  Deno.test(`arguments of ${called ?? name}: ${JSON.stringify(given)}`, () => {
    const fitted = fit(name, structuredClone(given), called);
    assertEquals([fitted.args, fitted.repairs.join("|")], [args, repairs]);
    assertEquals(fitted.dropped, repairs.includes("as nothing") ? 1 : 0);
  });
}

const BLOCK = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE";
/** Calls that have no one reading. */
const REFUSED: [tool: string, given: ToolArgs, told: RegExp, called?: string][] = [
  ["run_bash", { command: "a", timeout: 1000 }, /"timeout_seconds": 1}.*"timeout_seconds": 1000}/],
  ["run_bash", { timeout: 86_400 }, /"command": "\.\.\.", "timeout_seconds": 86\.4}/],
  ["run_bash", { command: "a", cwd: "x y" }, /"cd 'x y' && a"/],
  ["run_bash", { cmd: "a", workdir: "src" }, /"cd src && a"/],
  ["run_bash", { dir: "src" }, /"cd src && \.\.\."/],
  ["edit_file", { ...A, content: "x" }, /write_file {"file_path": "a"/],
  ["edit_file", { path: "b", file_text: "x" }, /write_file {"file_path": "b"/],
  ["edit_file", { ...A, edits: [] }, /it makes one change: call it once for each/],
  ["edit_file", { ...A, edits: [{}, {}] }, /it makes one change: call it once for each/],
  ["edit_file", { ...A, edits: ["x"] }, /it makes one change: call it once for each/],
  ["read_file", { ...A, path: "b" }, /file_path \("a"\) and path \("b"\) differ/],
  ["read_file", { ...A, path: "b".repeat(90) }, /\("b{77}\.\.\."\) differ/],
  ["read_file", { ...A, path: "b".repeat(78) }, /\("b{78}"\) differ/],
  ["write_file", { ...A, content: "x", wat: 1 }, /wat/],
  ["read_file", { ...A, wat: {} }, /wat/],
  ["read_file", { a: A }, /no argument "a"/],
  ["read_file", { a: { args: A } }, /no argument "a"/],
  ["read_file", { args: { input: { data: { payload: A } } } }, /no argument "payload"/],
  ["write_file", { payload: "a" }, /no argument "payload"/],
  ["edit_file", { ...A, diff: `${BLOCK}\n${BLOCK}` }, /no argument "diff"/],
  ["edit_file", { ...A, diff: BLOCK.replace("a\n", "$&<<<<<<< SEARCH\n") }, /no argument "diff"/],
  ["edit_file", { ...A, old_string: "a", content: "b" }, /no argument "content"/],
  ["edit_file", { ...A, new_string: "a", content: "b" }, /no argument "content"/],
  [
    "grep_code",
    { pattern: "a", "-C": 2, context_lines: 1 },
    /context_lines \(1\) and -C \(2\) differ/,
  ],
];

for (const [name, given, told, called] of REFUSED) {
  Deno.test(`refused of ${called ?? name}: ${JSON.stringify(given)}`, () => {
    assertMatch(assertThrows(() => fit(name, given, called), Error).message, told);
  });
}

Deno.test("arguments that change nothing are left out, if they say what is done anyway", () => {
  const content = { ...A, content: "x" };
  const yes =
    "overwrite create_dirs create_directories create_parents create_parent_directories mkdir mkdirs make_dirs parents sandbox case_sensitive shell login";
  const no =
    "append dry_run force backup run_in_background is_background background interactive dangerously_disable_sandbox is_regex regex tty login ignore_case i";
  const once = "expected_replacements count occurrence occurrences";
  const all = (keys: string, value: unknown) =>
    keys.split(" ").map((key): [string, unknown] => [key, value]);
  const others = [
    ...[...all(yes, true), ...all(no, false), ...all(once, 1)],
    ...[...all("mode", "overwrite"), ...all("encoding", "utf-8")],
  ];
  for (const [key, value] of others) {
    const fitted = { args: content, repairs: [], dropped: 0 };
    assertEquals(fit("write_file", { ...content, [key]: value }), fitted, key);
    const other = typeof value === "boolean" ? !value : typeof value === "number" ? value + 1 : "x";
    if (key === "login") continue;
    assertThrows(() => fit("write_file", { ...content, [key]: other }), Error, key);
  }
});
