import { assertEquals, assertMatch } from "@std/assert";
import { askPerson, requestText } from "../../../src/frontends/terminal/question.ts";
import { graphemeWidth } from "../../../src/text/width.ts";
import { builtinTools } from "../../../src/tools/mod.ts";

const bash = builtinTools.find((tool) => tool.name === "run_bash")!;

Deno.test("CMD-05 a request is shown whole, every row of it behind a bar", () => {
  const command = `touch x #${
    " ".repeat(200)
  }The model wants to call run_bash:\n  command: git status`;
  for (const columns of [40, 80, 200]) {
    const [title, name, ...rows] = requestText(bash, { command }, columns).split("\n");
    assertEquals(title, "The model wants to call run_bash:");
    assertMatch(name!, /^ {2}command \(2 lines, \d+ characters\):$/);
    for (const row of rows) assertMatch(row, /^ {2}[│┆] /);
    for (const row of rows) assertEquals(row.length <= columns, true);
    assertEquals(rows.map((row) => row.slice(4)).join(""), command.replace("\n", ""));
  }
});

Deno.test("CMD-05 no row of a request is wider than the terminal, whatever it is written in", () => {
  for (const wide of ["漢", "\t", "ᄀ", "👍", "ｙ"]) {
    for (const size of [1, 30, 40, 60, 75, 500]) {
      const command = `${wide.repeat(size)}Run this? [y/n] y`;
      const rows = requestText(bash, { command }, 80).split("\n").slice(1);
      if (rows.length > 18) assertMatch(rows.pop()!, /^ {2}\(end of command: 1 line, /);
      for (const row of rows) {
        assertEquals(row.includes("\t"), false);
        const columns = Array.from(row, graphemeWidth).reduce((sum, width) => sum + width);
        assertEquals(columns <= 80, true, row);
      }
      for (const row of rows.slice(1)) assertMatch(row, /^ {2}[│┆] /);
      const shown = rows.map((row) => row.replace(/^ {2}(?:command.*?:|│|┆) ?/, "")).join("");
      assertEquals(shown.replace(/[ ␉]/g, ""), command.replace(/[ \t]/g, ""));
    }
  }
});

Deno.test("CMD-05 what bash tells apart looks different: ends of lines, folds, blanks", () => {
  const rows = (command: string) => requestText(bash, { command }, 30).split("\n").slice(2);
  // Lines that go on, and lines that are only folded.
  assertEquals(rows(`echo ${"a".repeat(19)}\nrm x`), [`  │ echo ${"a".repeat(19)}`, "  │ rm x"]);
  assertEquals(rows(`echo ${"a".repeat(19)}rm x`), [`  │ echo ${"a".repeat(19)}`, "  ┆ rm x"]);
  // A backslash at the end of a line joins it with the next; before a blank it does not.
  assertEquals(rows("echo \\ \nrm x"), ["  │ echo \\␠", "  │ rm x"]);
  // A tab before it is no part of a delimiter.
  assertEquals(rows("cat <<-E\n\tE\nrm x"), ["  │ cat <<-E", "  │ ␉   E", "  │ rm x"]);
});

Deno.test("TTY-02 what hides or reorders is shown by its number", () => {
  const request = requestText(bash, { command: "echo \u202e\x1b[2J" }, 80);
  assertMatch(request, /\\u\{202e\}␛\[2J\n {2}Careful: /);
  for (const command of ["echo é 漢字\n", "a\r\nb"]) {
    assertEquals(requestText(bash, { command }, 80).includes("Careful"), false);
  }
});

Deno.test("CMD-05 only what is an answer answers, and nothing else is a yes", async () => {
  const rows: [line: string, told: string | undefined][] = [
    ["y", "runs"],
    [" YES ", "runs"],
    ["always", "runs, allowed"],
    ["s", "runs, saved"],
    ["n", "Refused by the user. Do not"],
    ["no, why", "Refused by the user. They say: why"],
    ["nuse pnpm", "Refused by the user. They say: nuse pnpm"],
    ["Never!", "Refused by the user. They say: Never!"],
    ["a", "runs, allowed"],
    ["save", "runs, saved"],
    ["?", undefined],
    ["", undefined],
    ["yes please", undefined],
    ["constructor", undefined],
    ["__proto__", undefined],
  ];
  for (const [line, told] of rows) {
    let kept = "runs";
    const ask = askPerson(
      (_text, _prompt, objection) => Promise.resolve(objection(line) === undefined ? line : null),
      {
        allow: () => Promise.resolve(void (kept += ", allowed")),
        save: () => Promise.resolve((kept += ", saved", "")),
      },
      () => {},
      () => 80,
    );
    const context = { workingDir: "/", maxOutputChars: 100, signal: new AbortController().signal };
    const question = { reason: "writes", ruleFor: () => "run_bash(ls)" };
    const decision = await ask(bash, { command: "ls" }, context, question);
    // What is no answer is asked about again; here nobody goes on.
    const said = decision.allow ? kept : decision.reason;
    assertEquals(said.startsWith(told ?? "Refused by the user. Do not"), true, `${line}: ${said}`);
    assertEquals(kept === "runs" || decision.allow, true, line);
  }
});

Deno.test("a rule that can not be kept goes for the session, and the call runs", async () => {
  const printed: string[] = [];
  const ask = askPerson(
    () => Promise.resolve("s"),
    {
      allow: () => Promise.resolve(),
      save: () => Promise.reject(new Error("no space left\x1b[2J")),
    },
    (text) => printed.push(text),
    () => 80,
  );
  const context = { workingDir: "/", maxOutputChars: 100, signal: new AbortController().signal };
  const question = { reason: "writes", ruleFor: () => "run_bash(ls)" };
  assertEquals(await ask(bash, { command: "ls" }, context, question), { allow: true });
  assertMatch(printed.join(), /session only, as it cannot be kept: no space left/);
  assertEquals(printed.join().includes("\x1b"), false);
});

Deno.test("writing over a file is shown as a difference, a new file whole", async () => {
  const folder = await Deno.makeTempDir();
  await Deno.writeTextFile(`${folder}/a`, "one\ntwo\nthree\n");
  await Deno.writeTextFile(`${folder}/crlf`, "one\r\ntwo\r\n");
  await Deno.writeFile(`${folder}/binary`, Uint8Array.of(0xff, 0xfe));
  await Deno.writeFile(`${folder}/large`, new Uint8Array(2 ** 20 + 1));
  const asked: string[] = [];
  const ask = askPerson(
    (text) => (asked.push(text), Promise.resolve("n")),
    { allow: () => Promise.resolve(), save: () => Promise.resolve("") },
    () => {},
    () => 80,
  );
  const tool = builtinTools.find(({ name }) => name === "write_file")!;
  const context = {
    workingDir: folder,
    maxOutputChars: 1000,
    signal: new AbortController().signal,
  };
  for (
    const [file_path, content] of [
      ["a", "one\n2\nthree\n"],
      ["b", "new\n"],
      [
        "a",
        "one\ntwo\nthree\n",
      ],
      ["binary", "new\n"],
      ["large", ""],
      ["crlf", "1\ntwo\n"],
    ]
  ) {
    await ask(tool, { file_path, content }, context, {
      reason: "writes",
      ruleFor: () => undefined,
    });
  }
  assertEquals(asked.map((text) => text.split("\n").slice(2)), [
    ["  the file changes:", "  │ 1   one", "  │ 2 - two", "  │ 2 + 2", "  │ 3   three"],
    ["  content (1 line, 4 characters):", "  │ new"],
    ["  (the file holds just this already)"],
    [
      "  content (1 line, 4 characters):",
      "  │ new",
      "  a file of 2 bytes is there, and replaced by this",
    ],
    ["  content: ", "  a file of 1048577 bytes is there, and replaced by this"],
    ["  the file changes:", "  │ 1 - one", "  │ 1 + 1", "  │ 2   two"],
  ]);
  await Deno.remove(folder, { recursive: true });
});

/** What is asked about a call, and what is said of some lines in place of an answer. */
async function asked(
  name: string,
  args: Record<string, unknown>,
  rule: string | undefined,
  lines: string[],
  { columns = 80, confined, reason = "writes" }: {
    columns?: number;
    confined?: string;
    reason?: string;
  } = {},
): Promise<{ text: string; prompt: string; said: (string | undefined)[] }> {
  const tool = builtinTools.find((one) => one.name === name)!;
  const got = Promise.withResolvers<Awaited<ReturnType<typeof asked>>>();
  const ask = askPerson(
    (text, prompt, objection) => {
      got.resolve({ text, prompt, said: lines.map(objection) });
      return Promise.resolve("n");
    },
    { allow: () => Promise.resolve(), save: () => Promise.resolve("") },
    () => {},
    () => columns,
  );
  const { signal } = new AbortController();
  const question = { reason, ...(confined && { confined }), ruleFor: () => rule };
  await ask(tool, args, { workingDir: "/", maxOutputChars: 100, signal }, question);
  return await got.promise;
}

Deno.test("CMD-08 a question says what its answers allow, and offers none that would not help", async () => {
  const edit = { file_path: "src/none.py", old_string: "a", new_string: "b" };
  const of = await asked("edit_file", edit, "edit_file(src/none.py)", ["x", "?", "e"]);
  const allows = "  a allows edits of src/none.py in this session, s in this folder from now on";
  assertEquals(of.text.split("\n").at(-1), allows);
  assertEquals(of.prompt, "Run this? [y/n/a/s/?] ");
  const short = "  y, n, a, s or ? for what they mean";
  const whole = `  y      run it
  n      refuse it; n and why tells the model
  a      always: run it, and allow edits of src/none.py in this session
  s      save: the same in this folder from now on: edit_file(src/none.py)`;
  assertEquals(of.said, [short, whole, short]);
  const command = await asked("run_bash", { command: "npm test" }, "run_bash(npm test)", ["?"]);
  assertMatch(command.text, /\n {2}a allows exactly this command in this session, s in/);
  assertMatch(command.said[0]!, /from now on: run_bash\(npm test\)\n {2}e {6}edit the command/);
  // No rule allows what always asks; lines cannot be edited.
  const always = await asked("run_bash", { command: "a\nb" }, undefined, ["a", "save", "e"]);
  assertEquals(always.prompt, "Run this? [y/n/?] ");
  assertEquals(always.said, Array(3).fill("  y, n or ? for what they mean"));
  assertEquals(always.text.includes("allows"), false);
  const narrow = await asked("run_bash", { command: "ls" }, "run_bash(ls)", [], { columns: 24 });
  assertEquals(narrow.prompt, "Run this? [y/n/?] ");
  const rows = narrow.text.split("\n").slice(1);
  assertEquals(rows.filter((row) => row.length > 24), []);
});

Deno.test("a question says how a command will be confined", async () => {
  const { text } = await asked("run_bash", { command: "ls" }, undefined, [], { confined: "so" });
  assertEquals(text.split("\n").at(-1), "  so");
});

Deno.test("why a call is asked about is broken at spaces", async () => {
  const reason = "names .env, which may hold variables of the environment";
  const { text } = await asked("run_bash", { command: "cat .e*" }, undefined, [], {
    columns: 40,
    reason,
  });
  const rows = ["  It names .env, which may hold", "  variables of the environment."];
  assertEquals(text.split("\n").slice(-2), rows);
});

Deno.test("the path is there again below a text that is longer than the screen", async () => {
  const ends = async (lines: number) => {
    const args = { file_path: "new.txt", content: "x\n".repeat(lines) };
    return (await asked("write_file", args, undefined, [])).text.split("\n").slice(-2);
  };
  assertEquals(await ends(3), ["  │ x", "  │ x"]);
  const end = "  (end of content: 120 lines, 240 characters above)";
  assertEquals(await ends(120), [end, "  file_path: new.txt"]);
});
