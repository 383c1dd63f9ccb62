import { assertEquals } from "@std/assert";
import { outputText, shellText } from "../../../../src/ui/terminal/session/command_runner.ts";
import { runBash } from "../../../../src/tools/shell/run_bash.ts";
import { workspace } from "../../../tools/workspace.ts";

const SHELL: [command: string, shown: string][] = [
  ["echo a", "a"],
  ["echo a; echo b >&2", "a\nstderr:\nb"],
  ["echo b >&2", "stderr:\nb"],
  ["true", "no output"],
  ["echo 'exit code: 0'", "exit code: 0"],
  ["echo a; exit 2", "exit code: 2\nstdout:\na"],
  [
    "sleep 60 & echo a",
    "exit code: 0\nended processes it left in the background: 1 (sleep)\nstdout:\na",
  ],
];
for (const [command, shown] of SHELL) {
  Deno.test(`a person reads of !${command}`, {
    ignore: Deno.build.os === "windows",
  }, async () => {
    using ws = workspace();
    assertEquals(shellText(await runBash({ command, timeout_seconds: 60 }, ws.context)), shown);
  });
}

Deno.test("of a command that printed nothing to stdout, stderr is shown", () => {
  assertEquals(outputText({}), "no output");
  assertEquals(outputText({ stderr: "" }), "stderr:\n");
  assertEquals(outputText({ stdout: "a" }), "a");
});
