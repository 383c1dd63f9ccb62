/** The tasks of the exam: their files are packed, and their checks tell done from not done. */

import { assertEquals, assertMatch, assertNotEquals, assertThrows } from "@std/assert";
import { checkFault, examPermissions } from "../../../src/cli/exam/run_task.ts";
import { builtinTasks, numberOf, ownTasks, seeded } from "../../../src/cli/exam/tasks.ts";
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
  assertNotEquals(seeded("@WORD@ @NUMBER@", 1), seeded("@WORD@ @NUMBER@", 2));
  assertEquals(seeded("@NUMBER1@ @OTHER@", 5), `${1000 + numberOf("@NUMBER1@ 5") % 9000} @OTHER@`);
  for (const { name, prompt, check } of tasks) {
    assertEquals(/@(WORD|NUMBER)/.exec(prompt + check), null, name);
  }
});

Deno.test("no check passes on an untouched folder, and each passes on the solution", {
  ignore,
}, async (t) => {
  for (const task of tasks) {
    await t.step(task.name, async () => {
      using temp = tempFolder();
      await task.copyTo(temp.path);
      // Without the sandbox, which takes longer than all of them.
      const run = async (script: string) =>
        (await new Deno.Command("bash", { args: ["-c", script], cwd: temp.path }).output()).code;
      assertNotEquals(await run(task.check), 0);
      assertEquals(await run(`set -e\n${solutionOf(task.name)}`), 0);
      assertEquals(await run(task.check), 0);
    });
  }
});

Deno.test("a module that ends the test early does not pass, nor one in place of a library", {
  ignore,
}, async () => {
  const { signal } = new AbortController();
  const { looks } = examPermissions();
  const cheats: Record<string, string> = {
    "write-module": "slug.py",
    "fix-one": "paging.py",
    "write-schema": "json.py",
  };
  for (const [name, file] of Object.entries(cheats)) {
    using temp = tempFolder();
    const task = tasks.find((one) => one.name === name)!;
    await task.copyTo(temp.path);
    Deno.writeTextFileSync(
      `${temp.path}/${file}`,
      'import os\nprint("ok", flush=True)\nos._exit(0)\n',
    );
    Deno.writeTextFileSync(`${temp.path}/release.json`, "{}");
    assertMatch(
      await checkFault(task.check, temp.path, signal, looks) ?? "",
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
    assertThrows(ownTasks, UsageError, `Cannot use the task ${at} as it needs the file prompt.md`);
    put("prompt.md", "Do @WORD@.\n");
    put("check.sh", "false\n");
    assertEquals(ownTasks().map(({ name, skill, prompt }) => [name, skill, prompt]), [
      ["mine", "own", "Do @WORD@.\n"],
    ]);
    put("exam.json", '{"seconds": "5"}');
    assertThrows(ownTasks, UsageError, '"seconds" in ');
    put("exam.json", '{"second": 5}');
    assertThrows(ownTasks, UsageError, "there are skill: a string, ");
    put("exam.json", '{"needs": "no-such-program"}');
    assertEquals(ownTasks(), []);
  } finally {
    if (before === undefined) Deno.env.delete("XDG_CONFIG_HOME");
    else Deno.env.set("XDG_CONFIG_HOME", before);
  }
});
