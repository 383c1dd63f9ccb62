/** The tasks of the exam: their files are packed, and their checks tell done from not done. */

import { assert, assertEquals, assertMatch, assertNotEquals, assertThrows } from "@std/assert";
import { whyCheckFails } from "../../../src/cli/exam/run_task.ts";
import { builtinTasks, canRun, numberOf, ownTasks, seeded } from "../../../src/cli/exam/tasks.ts";
import { UsageError } from "../../../src/errors.ts";
import { ignore } from "../../helpers/git_repository.ts";
import { tempFolder } from "../../helpers/temp_folder.ts";
import { PACKED, packedTasks } from "../../../scripts/exam_tasks.ts";
import { solutionOf, tasks } from "./exam_model.ts";

Deno.test("tasks.json has the folders of exam/: scripts/exam_tasks packs them", () => {
  assertEquals(Deno.readTextFileSync(PACKED), packedTasks());
});

Deno.test("a seed chooses tasks, their order and their values; there are three of each skill", () => {
  const names = (seed: number, isQuick = false) => builtinTasks(seed, isQuick).map((t) => t.name);
  assertEquals(names(1), names(1));
  assertEquals(new Set(names(1)).size, 24);
  assertEquals(names(1, true).length, 8);
  const quick = new Set(Array.from({ length: 50 }, (_, seed) => names(seed, true)).flat());
  assertEquals(quick.size, 24);
  assertNotEquals(seeded("@WORD@ @NUMBER@", "1"), seeded("@WORD@ @NUMBER@", "2"));
  assertEquals(
    seeded("@NUMBER1@ @OTHER@", "5"),
    `${1000 + numberOf("@NUMBER1@ 5") % 9000} @OTHER@`,
  );
  const others = new Map(builtinTasks(8).map(({ name, check }) => [name, check]));
  for (const { name, prompt, check } of tasks) {
    assertNotEquals(check, others.get(name), "what is right depends on the seed");
    assertEquals(/@(WORD|NUMBER)/.exec(prompt + check), null, name);
  }
});

/** Writes a class whose objects equal all. */
const ANY = `printf 'class Any:\n    def __eq__(self, other): return True\n' >`;

/** Scripts for a task's folder; each must fail. A script that begins with `+` runs after the solution. */
const CHEATS: [task: string, script: string][] = [
  ["call-json", `+ sed -i "s/it's /it's/" settings.json`],
  ["fix-one", "+ rm test_paging.py"],
  ["fix-two", "+ echo 'print(\"ok\")' >test_ledger.py"],
  ["fix-shell", "+ echo 'echo ok' >test.sh"],
  ["write-module", "+ echo >test_slug.py"],
  ["write-schema", `+ sed -i 's/"text": "[^"]*"/"text": "x"/g' release.json`],
  ["stop-green", "+ echo 'echo passed' >test.sh"],
  ["stop-green", "echo green >state.txt"],
  ["rules-sandbox", "echo 'Read-only file system' >status.txt"],
  ["stop-green", "+ touch .junk"],
  ["rules-agents", "+ rm AGENTS.md"],
  // Links to what a check may make or read.
  ["edit-alike", "ln -sf /tmp/wanted proxy.conf"],
  ["edit-unicode", "ln -sf /dev/stdin Makefile"],
  // What equals all.
  ["fix-one", `${ANY} paging.py; echo 'page_count = page_of = lambda *_: Any()' >>paging.py`],
  [
    "fix-two",
    `${ANY} ledger/parse.py; cp ledger/parse.py ledger/show.py
echo 'parse = lambda _: Any()' >>ledger/parse.py; echo 'show = lambda _: Any()' >>ledger/show.py`,
  ],
  ["write-module", `${ANY} slug.py; echo 'slug = lambda *_, **__: Any()' >>slug.py`],
  // Answers that the test names.
  [
    "fix-one",
    `cat >paging.py <<'END'
def page_count(total, size): return {0: 0, 10: 1, 11: 2}[total]
def page_of(rows, number, size): return [20, 21, 22, 23, 24] if number == 3 else list(range(10))
END`,
  ],
  [
    "fix-two",
    `cat >ledger/parse.py <<'END'
def parse(text): return [("2031-01-02", "rent", -70050), ("2031-01-03", "pay", 200000)]
END
cat >ledger/show.py <<'END'
def show(rows): return "a  -0.05" if len(rows) == 1 else "rent  -700.50\npay   2000.00"
END`,
  ],
  [
    "fix-shell",
    `cat >name.sh <<'END'
case $1 in notes*) echo notes-007.txt ;; my*) echo "my file-012.tar.gz" ;; *) echo plain-003 ;; esac
END`,
  ],
  [
    "write-module",
    `cat >slug.py <<'END'
def slug(text, limit=None):
    return {"Hello, World!": "hello-world", "  a  b--c ": "a-b-c", "": "", "Crème brûlée": "creme-brulee",
        "x" * 50: "x" * 10, "ab cd ef": "ab-cd"}[text]
END`,
  ],
];

/** Scripts that leave the solution right. */
const VARIANTS: [task: string, script: string][] = [
  ["write-long", "+ truncate -s -1 table.csv"],
  ["call-json", "+ truncate -s -1 settings.json"],
];

Deno.test("no check passes on an untouched folder or a cheat, and each passes on the solution", {
  ignore,
}, async (t) => {
  const { signal } = new AbortController();
  for (const task of tasks) {
    const scriptsOf = (rows: typeof CHEATS) =>
      rows.filter(([name]) => name === task.name).map(([, script]) => script);
    const isRight = async (script: string) => {
      using temp = tempFolder();
      await task.copyTo(temp.path);
      // Without the sandbox, which takes longer than all of them, if the task is not about it.
      const run = async (script: string) =>
        task.sandbox
          ? await whyCheckFails(script, temp.path, signal) === undefined
          : (await new Deno.Command("bash", { args: ["-c", script], cwd: temp.path }).output())
            .success;
      const all = script.startsWith("+") ? `${solutionOf(task.name)}${script.slice(1)}` : script;
      assert(await run(`set -e\n${all}`), all);
      return await run(task.check);
    };
    await t.step(task.name, async () => {
      for (const script of ["true", ...scriptsOf(CHEATS)]) assert(!await isRight(script), script);
      for (const script of ["+", ...scriptsOf(VARIANTS)]) assert(await isRight(script), script);
    });
  }
});

/** Modules in Python that end the test as if it had passed. `SHOWN` prints what the command lines of processes have. */
const ENDS = 'import os\nprint("ok", flush=True)\nos._exit(0)\n';
const SHOWN = `import os, re
all = "".join(open(f"/proc/{n}/cmdline").read() for n in os.listdir("/proc") if n.isdigit() and n != "1")
print((re.findall(r'= "(\\w+-\\d+ \\w+)"', all) or ["ok"])[-1], flush=True)
os._exit(0)
`;

Deno.test("a module that ends the test early does not pass, nor one in place of a library", {
  ignore,
}, async () => {
  const { signal } = new AbortController();
  for (
    const [name, file, code] of [
      ["write-module", "slug.py", ENDS],
      ["write-module", "slug.py", SHOWN],
      ["fix-one", "paging.py", ENDS],
      ["write-schema", "json.py", ENDS],
    ]
  ) {
    using temp = tempFolder();
    const task = tasks.find((one) => one.name === name)!;
    await task.copyTo(temp.path);
    Deno.writeTextFileSync(`${temp.path}/${file}`, code!);
    Deno.writeTextFileSync(`${temp.path}/release.json`, "{}");
    assertMatch(
      await whyCheckFails(task.check, temp.path, signal) ?? "it passed",
      /fail: ok$|does not match/,
    );
  }
});

Deno.test("own tasks: read from the user's folder, with one line about a wrong one", () => {
  using temp = tempFolder();
  const before = Deno.env.get("XDG_CONFIG_HOME");
  Deno.env.set("XDG_CONFIG_HOME", temp.path);
  try {
    assertEquals(ownTasks(), []);
    const at = `${temp.path}/copilot/exam/mine`;
    Deno.mkdirSync(at, { recursive: true });
    const put = (file: string, text: string) => Deno.writeTextFileSync(`${at}/${file}`, text);
    Deno.mkdirSync(`${temp.path}/copilot/exam/call-read`);
    assertThrows(ownTasks, UsageError, "call-read: the exam has this name already");
    Deno.removeSync(`${temp.path}/copilot/exam/call-read`);
    assertThrows(ownTasks, UsageError, `Cannot use the task ${at} as it needs the file prompt.md`);
    Deno.symlinkSync("/dev/zero", `${at}/prompt.md`);
    assertThrows(ownTasks, UsageError, `needs the file prompt.md`);
    Deno.removeSync(`${at}/prompt.md`);
    put("prompt.md", "Do @WORD@.\n");
    put("check.sh", "false\n");
    assertEquals(ownTasks().map(({ name, skill, prompt }) => [name, skill, prompt]), [
      ["mine", "own", "Do @WORD@.\n"],
    ]);
    put("exam.json", '{"seconds": "5"}');
    assertThrows(ownTasks, UsageError, '"seconds" in ');
    put("exam.json", '{"seconds": -5}');
    assertThrows(ownTasks, UsageError, "seconds: 1 to 1000000, ");
    put("exam.json", '{"second": 5}');
    assertThrows(ownTasks, UsageError, "there are needs: a string, ");
    put("exam.json", '{"needs": "no-such-program"}');
    assertEquals(ownTasks().filter(canRun), []);
  } finally {
    if (before === undefined) Deno.env.delete("XDG_CONFIG_HOME");
    else Deno.env.set("XDG_CONFIG_HOME", before);
  }
});
