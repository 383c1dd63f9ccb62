// Prints how much longer a sandboxed command takes than the same command without a sandbox: paired,
// alternating, medians. The argument is the folder, by default this project.
import { findSandbox } from "../src/safety/sandbox/probe.ts";
import { openPermissions } from "../src/safety/permissions.ts";
import { runBash } from "../src/tools/shell/run_command.ts";
import type { Confine } from "../src/types/confine.ts";
import { compared, inPairs, median, root, timeOf } from "./bench_tools.ts";

const PAIRS = 41;
const workingDir = await Deno.realPath(Deno.args[0] ?? root);
const { signal } = new AbortController();

/** Runs a command that does nothing. */
async function run(confine?: Confine): Promise<void> {
  const context = { workingDir, maxOutputChars: 1000, signal, ...confine && { confine } };
  const { exitCode, content } = await runBash({ command: "true", timeout_seconds: 60 }, context);
  if (exitCode !== 0) throw new Error(content);
}

const sandbox = await findSandbox();
if (typeof sandbox === "string") console.log(`a sandboxed command    not measured: ${sandbox}`);
else {
  const confine = openPermissions({ sandbox: "workspace-write" }).confine(() => workingDir);
  const preparing: number[] = [];
  const timed: Confine = async (...given) => {
    const start = performance.now();
    const confined = await confine(...given);
    preparing.push(performance.now() - start);
    return confined;
  };
  const rows = await inPairs(PAIRS, () => timeOf(() => run(timed)), () => timeOf(() => run()));
  const look = median(preparing).toFixed(1);
  console.log(
    `a sandboxed command    ${compared(rows, "ms", 1)}, ${look} ms to look at the folder`,
  );
}
// The session's folder for its commands' temporary files is removed at the exit.
Deno.exit();
