// Cases from public threads: one check for the edits of an answer (esengine/DeepSeek-Reasonix#4592), errors that were
// there before the edit (anomalyco/opencode#2156), results that read like a failed edit.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { checkersOf, CHECKS_FORM } from "../../../src/extensions/checks/checkers.ts";
import { EditChecks } from "../../../src/extensions/checks/edit_checks.ts";
import { ChecksExtension } from "../../../src/extensions/checks/checks_extension.ts";
import { schemaObjection } from "../../../src/tools/schema_check.ts";
import { openPermissions } from "../../../src/safety/permissions.ts";
import { findSandbox } from "../../../src/safety/sandbox/probe.ts";
import { fakeSession } from "../../helpers/fake_session.ts";
import { bash, type Step, strictServer, use } from "../../helpers/strict_server.ts";
import { tempFolder } from "../../helpers/temp_folder.ts";
import { posixTest, testUnless } from "../../helpers/test_unless.ts";

const FREE = { isSandboxed: true, mayRun: () => Promise.resolve(true) };
const SANDBOXED = { yes: true, sandbox: "workspace-write" } as const;
const found = await findSandbox();
const sandboxTest = testUnless(typeof found === "string");

const { signal } = new AbortController();
const write = (file_path: string, content: string) => ({
  name: "write_file",
  arguments: { file_path, content },
});
const calls = (...toolCalls: ReturnType<typeof write>[]): Step => ({ toolCalls });

/** A check of text files: each line that begins with "bad" is an error. */
const CHECK = {
  files: "{*,notes/*}.txt",
  command: `echo run >> runs; grep -nH ^bad {} | sed 's/:bad/: bad/'`,
};

/** Runs a turn, and returns the results of its calls, the lines for the user, and the number of checks. */
async function edited(
  steps: Step[],
  files: Record<string, string>,
  settings: ConstructorParameters<typeof ChecksExtension>[0],
  choice = {},
) {
  using temp = tempFolder();
  for (const [name, text] of Object.entries(files)) {
    await Deno.writeTextFile(`${temp.path}/${name}`, text);
  }
  await using server = strictServer([...steps, { text: "That is all." }]);
  const permissions = openPermissions({ yes: true, sandbox: "off", ...choice }, () => undefined);
  const extensions = [new ChecksExtension(settings)];
  await using fake = await fakeSession(server.url, { folder: temp.path, permissions, extensions });
  const { toolExecutions } = await fake.session.prompt("go", signal);
  const runs = await Deno.readTextFile(`${temp.path}/runs`).then(
    (text) => text.length / 4,
    () => 0,
  );
  return { results: toolExecutions.map(({ result }) => result), notices: fake.notices(), runs };
}

posixTest(
  "the model reads which errors its edits added, once for the edits of an answer",
  async () => {
    const steps = [
      calls(
        write("a.txt", "bad one\nbad old\n"),
        write("b$$&.txt", "bad two\nbad two\n"),
        write("c.md", "bad\n"),
      ),
      calls(write("a.txt", "good\nbad old\n"), write("notes/c.txt", `bad${" long".repeat(30)}\n`)),
      calls(write("a.txt", "more\ngood\nbad old\nbad one\n")),
    ];
    const read = use("read_file", { file_path: "a.txt" });
    const files = { "a.txt": "bad old\n" };
    const { results, notices, runs } = await edited([read, ...steps], files, { own: CHECK });
    const [, first, second, third, both, last, again] = results;
    const isChecked = [second, third].map((text) => text!.includes("[The edit was made"));
    assertEquals(isChecked, [false, false]);
    assertStringIncludes(
      first!,
      "\n\n[The edit was made. 3 new errors (own):\na.txt:1: bad one\nb$$&.txt:1: bad two\nb$$&.txt:2: bad two]",
    );
    assertEquals(last!.includes("[The edit"), false);
    // A pattern may name folders.
    assertStringIncludes(both!, "[The edit was made. 1 new error (own):\nnotes/c.txt:1: bad long");
    assertStringIncludes(again!, "[The edit was made. 1 new error (own):\na.txt:4: bad one]");
    assertEquals(notices.filter((line) => line.startsWith("✗")), [
      "✗ 3 new errors · own: a.txt:1: bad one",
      `✗ 1 new error · own: notes/c.txt:1: bad${" long".repeat(23)} …`,
      "✗ 1 new error · own: a.txt:4: bad one",
    ]);
    // Before the first edit of a.txt, and after the edits of each answer.
    assertEquals(runs, 6);
  },
);

posixTest("an edit is compared with the files before it, whoever changed them", async () => {
  const read = use("read_file", { file_path: "a.txt" });
  const steps = [
    calls(write("a.txt", "bad\n"), write("a.txt", "bad\n2\n")),
    ...[bash("echo good > a.txt"), read, calls(write("a.txt", "bad\n"))],
    ...[bash("echo bad by hand >> a.txt"), read, calls(write("a.txt", "bad\nbad by hand\n3\n"))],
    calls(write("a.txt", "bad\nbad by hand\nbad end\n")),
  ];
  // Of a file, which is new at first, and of a project.
  for (const [target, runs] of [["{}", 6], ["*.txt", 7]] as const) {
    const own = { ...CHECK, command: CHECK.command.replace("{}", `${target} -s`) };
    const checked = await edited(steps, {}, { own });
    assertEquals(checked.notices.filter((line) => line.startsWith("✗")), [
      "✗ 1 new error · own: a.txt:1: bad",
      "✗ 1 new error · own: a.txt:1: bad",
      "✗ 1 new error · own: a.txt:3: bad end",
    ]);
    // After the edits of each answer, and before those that follow another change.
    assertEquals(checked.runs, runs);
  }
});

sandboxTest(
  "edits are checked where commands run unasked, and a check that takes too long is dropped",
  async () => {
    const steps = [calls(write("a.txt", "bad\n"))];
    const asked = await edited(steps, {}, { own: CHECK }, { yes: undefined, approve: "ask" });
    assertEquals([asked.runs, (await edited(steps, {}, false)).runs], [0, 0]);
    const level = { allow: ["write(**)"], deny: [], sandboxWrite: [] };
    const denied = { level: { ...level, deny: ["run_bash(*)"] } };
    const never = { yes: undefined, approve: "never", sandbox: "workspace-write", level };
    for (const choice of [denied, { ...denied, sandbox: "workspace-write" }, never]) {
      const { runs, results } = await edited(steps, {}, { own: CHECK }, choice);
      assertEquals([runs, results], [0, ["Created a.txt: wrote 4 bytes"]]);
    }
    const ask = { ...never, approve: "ask" };
    assertEquals((await edited(steps, {}, { own: CHECK }, ask)).runs, 1);
    const told: string[] = [];
    const slow = checkersOf({ slow: { files: "*.txt", command: "sleep 60" } });
    // An edit waits for the end of the check, which comes before this limit.
    const limits = { file: 500, project: 60_000, first: 500 };
    const checks = new EditChecks(slow, (line) => told.push(line), limits);
    using temp = tempFolder();
    const context = { ...FREE, workingDir: temp.path, maxOutputChars: 1000, signal };
    for (const name of ["a.txt", "b.txt"]) {
      await Deno.writeTextFile(`${temp.path}/${name}`, "");
      await checks.before(`${temp.path}/${name}`, context);
    }
    assertEquals(told, ["slow takes over 0.5 s: it is not used again in this session"]);
  },
);

Deno.test("errors are read from the output of each known program", () => {
  const outputs: Record<string, [output: string, file: string, line: string, text: string]> = {
    "deno check": [
      `TS2322 [ERROR]: Type 'string' is not assignable to type 'number'.\nexport const a: number = "";\n             ^\n    at file:///p/a.ts:1:14\n`,
      "/p/a.ts",
      "1",
      "TS2322 [ERROR]: Type 'string' is not assignable to type 'number'.",
    ],
    tsc: ["src/a.ts(2,7): error TS1005: ';' expected.\n", "src/a.ts", "2", "TS1005: ';' expected."],
    "node --check": [
      "/p/a.js:3\nfoo(;\n    ^\n\nSyntaxError: Unexpected token ';'\n    at x\n",
      "/p/a.js",
      "3",
      "SyntaxError: Unexpected token ';'",
    ],
    python3: ["/p/a.py:4: '(' was never closed\n", "/p/a.py", "4", "'(' was never closed"],
    ruff: ["a.py:1:1: F821 Undefined name `x`\n", "a.py", "1", "F821 Undefined name `x`"],
    pyright: [
      '/p/a.py\n  /p/a.py:3:5 - error: "x" is not defined (reportUndefinedVariable)\n',
      "/p/a.py",
      "3",
      '"x" is not defined (reportUndefinedVariable)',
    ],
    "cargo check": [
      "src/main.rs:2:5: error[E0425]: cannot find value `x`\n",
      "src/main.rs",
      "2",
      "error[E0425]: cannot find value `x`",
    ],
    "go vet": ["# m\nvet: ./a.go:3:2: undefined: x\n", "./a.go", "3", "undefined: x"],
    gofmt: ["/p/a.go:3:1: expected declaration\n", "/p/a.go", "3", "expected declaration"],
    cc: ["/p/a.c:3:5: error: expected ';'\n1 error generated.\n", "/p/a.c", "3", "expected ';'"],
    shellcheck: [
      "a.sh:3:1: error: Couldn't parse this. [SC1073]\n",
      "a.sh",
      "3",
      "Couldn't parse this. [SC1073]",
    ],
    "php -l": [
      "PHP Parse error:  syntax error, unexpected token in a.php on line 3\n",
      "a.php",
      "3",
      "syntax error, unexpected token",
    ],
    "ruby -c": [
      "a.rb:3: syntax error, unexpected end-of-input\n",
      "a.rb",
      "3",
      "syntax error, unexpected end-of-input",
    ],
    javac: ["A.java:3: error: ';' expected\n    int a\n", "A.java", "3", "';' expected"],
  };
  assertEquals(checkersOf(false), []);
  const checkers = checkersOf({});
  assertEquals(Object.keys(outputs), checkers.map(({ name }) => name));
  for (const { name, error } of checkers) {
    const [output, ...parts] = outputs[name]!;
    const [found] = [...output.matchAll(error)];
    assertEquals([found?.groups?.file, found?.groups?.line, found?.groups?.text], parts);
  }
});

Deno.test("the setting of checks is false, or names checks with commands", () => {
  const own = { files: "*.ts", command: "x {}" };
  const right = [false, {}, { tsc: false, own }];
  const fault = (value: unknown) => typeof schemaObjection(CHECKS_FORM, value);
  assertEquals(right.map(fault), Array(3).fill("undefined"));
  const wrong = [true, null, [], { tsc: true }, { own: { files: "*" } }, { pyton3: false }, {
    own: { ...own, format: 1 },
  }];
  assertEquals(wrong.map(fault), Array(7).fill("string"));
  assertEquals(
    checkersOf({ tsc: false, own }).filter(({ name }) => /tsc|own/.test(name)).map(({ name }) =>
      name
    ),
    ["own"],
  );
});

sandboxTest(
  "an edited file is formatted if the settings say so, and the model reads how; a link in its place is not read",
  async () => {
    using temp = tempFolder();
    using other = tempFolder();
    await Deno.writeTextFile(`${other.path}/key`, "secret\n");
    const edit = { file_path: "a.txt", old_string: "let a = 1", new_string: "let  b = 1" };
    await using server = strictServer([
      calls(write("a.txt", "let  a =  1\n")),
      use("edit_file", edit),
      calls(write("b.md", "let b\n")),
      { text: "That is all." },
    ]);
    const permissions = openPermissions(SANDBOXED, () => undefined);
    const spaces = { files: "*.txt", command: 'sed -i "s/  */ /g" {}', format: true };
    const swap = { files: "*.md", command: `ln -sf ${other.path}/key {}`, format: true };
    const extensions = [new ChecksExtension({ spaces, swap })];
    const options = { folder: temp.path, permissions, extensions };
    await using fake = await fakeSession(server.url, options);
    const { toolExecutions } = await fake.session.prompt("go", signal);
    const [written, , linked] = toolExecutions.map(({ result }) => result);
    const how = "\n\n[spaces formatted a.txt:\n-1: let  a =  1\n+1: let a = 1]";
    assertStringIncludes(written!, how);
    const told = fake.notices().filter((line) => line.includes("formatted"));
    assertEquals(told, ["spaces formatted a.txt", "spaces formatted a.txt"]);
    assertEquals(await Deno.readTextFile(`${temp.path}/a.txt`), "let b = 1\n");
    assertEquals(linked, "Created b.md: wrote 6 bytes");
    assertStringIncludes((await fake.command("/undo"))!, "a.txt");
    assertEquals([...Deno.readDirSync(temp.path)].map(({ name }) => name).includes("a.txt"), false);
  },
);

posixTest(
  "a check that cannot run says so once, and a first run that is late is not awaited",
  async () => {
    const steps = [calls(write("a.txt", "1\n")), calls(write("b.txt", "1\n"))];
    const broken = { files: "*.txt", command: "no-such-checker {}" };
    const { notices } = await edited(steps, {}, { broken });
    const told = notices.filter((line) => line.startsWith("broken"));
    assertEquals(told.length, 1);
    assertStringIncludes(told[0]!, "broken cannot check (exit code 127): ");
    using temp = tempFolder();
    const [compile] = checkersOf({ compile: { files: "*.txt", command: "" } }).slice(-1);
    await Deno.writeTextFile(`${temp.path}/project`, "");
    const slow = { ...compile!, command: "exec sleep 60", project: ["project"] };
    const limits = { file: 100, project: 100, first: 60_000 };
    const late: string[] = [];
    const checks = new EditChecks([slow], (line) => late.push(line), limits);
    const end = new AbortController();
    const context = { ...FREE, workingDir: temp.path, maxOutputChars: 1000, signal: end.signal };
    const file = `${temp.path}/a.txt`;
    await checks.before(file, context);
    assertEquals([await checks.after(new Set([file]), context), late], [[], []]);
    end.abort();
  },
);

posixTest("in a project, the errors of another file and of a new one are its own", async () => {
  using temp = tempFolder();
  const text = (name: string, content: string) =>
    Deno.writeTextFileSync(`${temp.path}/${name}`, content);
  for (const [name, content] of [["project", ""], ["a.txt", ""], ["b.txt", "bad old\n"]] as const) {
    text(name, content);
  }
  const [check] = checkersOf({ check: CHECK }).slice(-1);
  const told: string[] = [];
  const checks = new EditChecks([{ ...check!, project: ["project"] }], (line) => told.push(line));
  const context = { ...FREE, workingDir: temp.path, maxOutputChars: 1000, signal };
  for (
    const [name, content] of [["a.txt", "1"], ["b.txt", "bad old\n2"], ["c.txt", "bad"]] as const
  ) {
    await checks.before(`${temp.path}/${name}`, context);
    text(name, content);
    const errors = await checks.after(new Set([`${temp.path}/${name}`]), context);
    assertEquals(errors.map(({ text }) => text), name === "c.txt" ? ["bad"] : []);
  }
  assertEquals(told, []);
});
