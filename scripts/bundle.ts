/**
 * Bundles the program and its workers into FOLDER: `deno run -A scripts/bundle.ts FOLDER WORKER...`.
 * The program is one file, in which the functions that an answer to one prompt calls are marked for V8.
 */
import { basename } from "@std/path/basename";
import { join } from "@std/path/join";
import { resolve } from "@std/path/resolve";
import { root, startServer } from "./bench_tools.ts";
import { withParentheses } from "./eager.ts";

/** The names of the workers' files in the bundle, by their names in the sources. */
const workerNames = new Map<string, string>();

if (import.meta.main) {
  const [to, ...workers] = Deno.args as [string, ...string[]];
  try {
    for (const worker of workers) await bundleWorker(worker, to);
    const main = resolve(to, "main.js");
    await bundle("main.ts", main);
    await markStart(main);
  } catch (error) {
    console.error(`bundle: ${(error as Error).message}`);
    Deno.exit(1);
  }
}

async function bundle(source: string, to: string): Promise<void> {
  const args = ["bundle", "--quiet", "--minify", "--frozen", "--output", to, source];
  const command = new Deno.Command(Deno.execPath(), { args, cwd: root });
  const { success, stderr } = await command.output();
  if (!success) throw new Error(new TextDecoder().decode(stderr).trim());
  let text = await Deno.readTextFile(to);
  for (const [name, own] of workerNames) text = text.replaceAll(`"./${name}"`, `"./${own}"`);
  await Deno.writeTextFile(to, asAscii(text));
}

/** Bundles a worker into a file with its hash in the name: a running session keeps its own version. */
async function bundleWorker(source: string, to: string): Promise<void> {
  const made = join(to, "worker.js");
  await bundle(source, made);
  const hash = await crypto.subtle.digest("SHA-256", await Deno.readFile(made));
  const name = `worker-${new Uint8Array(hash).toHex().slice(0, 8)}.js`;
  await Deno.rename(made, join(to, name));
  workerNames.set(basename(source), name);
}

/**
 * Escapes the characters that the bundler leaves in regular expressions: with one of them, V8 stores
 * the whole source with two bytes per character, and reads it more slowly.
 */
export function asAscii(source: string): string {
  return source.replace(
    /[^\0-\x7f]/g,
    (unit) => "\\u" + unit.charCodeAt(0).toString(16).padStart(4, "0"),
  );
}

/** Marks the functions that a start of the file `main` calls. Without loopback the file stays as it is. */
async function markStart(main: string): Promise<void> {
  const folder = await Deno.makeTempDir();
  const flags = ["run", "-A", "--quiet", "--no-config", "--no-lock"];
  try {
    await using server = await startServer();
    const coverage = join(folder, "coverage");
    const start = async (program: string, env: Record<string, string>) => {
      const { success, stderr } = await new Deno.Command(Deno.execPath(), {
        args: [...flags, program, "--base-url", server.url, "--model", "m", "-p", "hello"],
        cwd: folder,
        clearEnv: true,
        env: { HOME: folder, PATH: Deno.env.get("PATH") ?? "", COPILOT_API_KEY: "none", ...env },
        stdin: "null",
        signal: AbortSignal.timeout(60_000),
      }).output();
      if (!success) throw new Error(new TextDecoder().decode(stderr).trim());
    };
    await start(main, { DENO_COVERAGE_DIR: coverage });
    const [file] = [...Deno.readDirSync(coverage)];
    const { functions } = JSON.parse(await Deno.readTextFile(join(coverage, file!.name)));
    const marked = join(folder, basename(main));
    const source = await Deno.readTextFile(main);
    await Deno.writeTextFile(marked, withParentheses(source, functions));
    await start(marked, {});
    await Deno.copyFile(marked, main);
  } catch (error) {
    console.error(
      `bundle: starts somewhat slower, as nothing was marked: ${(error as Error).message}`,
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
