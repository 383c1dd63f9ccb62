import { assertEquals } from "@std/assert";
import { shellText } from "../../../src/frontends/terminal/report_text.ts";
import { runBash } from "../../../src/tools/shell/run_bash.ts";
import { workspace } from "../../tools/workspace.ts";

const ROWS: [command: string, shown: string][] = [
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
for (const [command, shown] of ROWS) {
  Deno.test(`a person reads of !${command}`, {
    ignore: Deno.build.os === "windows",
  }, async () => {
    using ws = workspace();
    assertEquals(shellText(await runBash({ command, timeout_seconds: 60 }, ws.context)), shown);
  });
}
