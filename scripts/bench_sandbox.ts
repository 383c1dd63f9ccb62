// Prints how much longer a sandboxed command takes than the same command without a sandbox: paired,
// alternating, medians. The argument is the folder, by default this project.
import { findSandbox } from "../src/safety/sandbox/probe.ts";
import { openPermissions } from "../src/safety/permissions.ts";
import { runBash } from "../src/tools/shell/run_bash.ts";
import type { Confine } from "../src/types/confine.ts";
import { inPairs, median, root } from "./bench_tools.ts";

const PAIRS = 41;
const workingDir = await Deno.realPath(Deno.args[0] ?? root);
const { signal } = new AbortController();

/** Returns the milliseconds of a command that does nothing. */
async function time(confine?: Confine): Promise<number> {
  const start = performance.now();
  const context = { workingDir, maxOutputChars: 1000, signal, ...confine && { confine } };
  const { exitCode, content } = await runBash({ command: "true", timeout_seconds: 60 }, context);
  if (exitCode !== 0) throw new Error(content);
  return performance.now() - start;
}

async function compare(what: string): Promise<void> {
  const permissions = openPermissions({ sandbox: "workspace-write" });
  const preparing: number[] = [];
  const inner = permissions.confine(() => workingDir);
  const confine: Confine = async (...given) => {
    const start = performance.now();
    const confined = await inner(...given);
    preparing.push(performance.now() - start);
    return confined;
  };
  const rows = await inPairs(PAIRS, () => time(confine), () => time());
  const ms = (values: number[]) => median(values).toFixed(1);
  const ratio = median(rows.map(([a, b]) => a / b)).toFixed(2);
  console.log(
    `${what} ${ms(rows.map(([a]) => a))} ms against ${ms(rows.map(([, b]) => b))} ` +
      `(${ratio}x), ${ms(rows.map(([a, b]) => a - b))} ms more, ${ms(preparing)} of them to look ` +
      "at the folder",
  );
}

const sandbox = await findSandbox();
if (typeof sandbox === "string") console.log(`a sandboxed command     not measured: ${sandbox}`);
else await compare("a sandboxed command     ");
// The session's folder for its commands' temporary files is removed at the exit.
Deno.exit();
