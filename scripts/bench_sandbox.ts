// Prints how much longer a confined command takes than the same command unconfined: paired, alternating,
// medians. Once where its sandbox was made ready while a model answered, which the pauses stand for, and
// once, as for the first command of a session, where it was not. In the folder that is the argument: this
// project where there is none.
import { fromFileUrl } from "@std/path/from-file-url";
import { findSandbox } from "../src/permissions/sandbox/probe.ts";
import { openPermissions } from "../src/session/permissions.ts";
import { runBash } from "../src/tools/shell/run_bash.ts";
import type { Confine } from "../src/types/confine.ts";
import { median } from "./bench_median.ts";

const PAIRS = 41;
/** A short answer of a model, in milliseconds. */
const ANSWER_MS = 200;
const workingDir = await Deno.realPath(Deno.args[0] ?? fromFileUrl(new URL("..", import.meta.url)));
const { signal } = new AbortController();

/** Milliseconds of a command that does nothing. */
async function time(confine?: Confine): Promise<number> {
  const start = performance.now();
  const context = { workingDir, maxOutputChars: 1000, signal, ...confine && { confine } };
  const { exitCode, content } = await runBash({ command: "true", timeout_seconds: 60 }, context);
  if (exitCode !== 0) throw new Error(content);
  return performance.now() - start;
}

async function compare(what: string, keepsSpare: boolean): Promise<void> {
  const permissions = await openPermissions({ sandbox: "workspace-write", keepsSpare });
  const preparing: number[] = [];
  const inner = permissions.confine(() => workingDir);
  const confine: Confine = async (...given) => {
    const start = performance.now();
    const confined = await inner(...given);
    preparing.push(performance.now() - start);
    return confined;
  };
  const answer = () => new Promise((resolve) => setTimeout(resolve, keepsSpare ? ANSWER_MS : 0));
  const timed = async (confine?: Confine) => (await answer(), await time(confine));
  await time(confine), await time(); // warm the disk, the modules and the settings
  const rows: [confined: number, plain: number][] = [];
  for (let i = 0; i < PAIRS; i++) {
    const first = i % 2 ? await timed(confine) : undefined;
    const plain = await timed();
    rows.push([first ?? await timed(confine), plain]);
  }
  const ms = (values: number[]) => median(values).toFixed(1);
  const ratio = median(rows.map(([a, b]) => a / b)).toFixed(2);
  console.log(
    `${what} ${ms(rows.map(([a]) => a))} ms against ${ms(rows.map(([, b]) => b))} ` +
      `(${ratio}x), ${ms(rows.map(([a, b]) => a - b))} ms more, ${ms(preparing)} of them to look ` +
      "at the folder",
  );
}

const sandbox = await findSandbox();
if (typeof sandbox === "string") console.log(`a confined command      not measured: ${sandbox}`);
else {
  await compare("a confined command      ", true);
  await compare("the first of a session  ", false);
}
// A session ends the folder of temporary files of its commands with the program.
Deno.exit();
