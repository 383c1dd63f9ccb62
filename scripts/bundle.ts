/**
 * Bundles the program and its workers into the folder FOLDER, the program in parts and marked so that it
 * starts fast: `deno run -A scripts/bundle.ts FOLDER WORKER...`. It starts the program to see what a start
 * runs; where that fails, the program is one file.
 */
import { basename } from "@std/path/basename";
import { fromFileUrl } from "@std/path/from-file-url";
import { join } from "@std/path/join";
import { toFileUrl } from "@std/path/to-file-url";
import { withParentheses } from "./eager.ts";
import { lintReports } from "./lint_reports.ts";
import type { Member, Use } from "./methods_plugin.ts";
import { splitSources, withLateImports } from "./split.ts";
import { checkModules, type Counts, countStarts } from "./starts.ts";

const root = fromFileUrl(new URL("..", import.meta.url));
/** The names of the workers' files in the bundle, by those in the sources. */
const workerNames = new Map<string, string>();

if (import.meta.main) {
  const [to, ...workers] = Deno.args as [string, ...string[]];
  try {
    for (const worker of workers) await bundleWorker(worker, to);
    await inParts(to).catch(async (error: Error) => {
      console.error(`bundle: in one file, which starts somewhat slower: ${error.message}`);
      await inOneFile("main.ts", join(to, "main.js"));
      await Deno.writeTextFile(join(to, "one_file"), "");
    });
  } catch (error) {
    console.error(`bundle: ${(error as Error).message}`);
    Deno.exit(1);
  }
}

async function inParts(to: string): Promise<void> {
  const folder = await Deno.makeTempDir();
  const [tree, made] = [join(folder, "tree"), join(folder, "made")];
  try {
    const sources = ["--config", join(root, "deno.json"), "--frozen"];
    await splitSources(root, tree, await countStarts(join(root, "main.ts"), sources));
    await bundle(tree, "--code-splitting", "--outdir", made, "main.ts");
    const files = Array.from(Deno.readDirSync(made), ({ name }) => join(made, name));
    for (const file of files) {
      await Deno.writeTextFile(file, finished(withLateImports(await Deno.readTextFile(file))));
    }
    const main = join(made, "main.js");
    const bundled = ["--no-config", "--no-lock"];
    await mark(files, await countStarts(main, bundled));
    // The marked files start, too, and those that no start loads can be loaded.
    await countStarts(main, bundled);
    await checkModules(files.filter((file) => file !== main), folder);
    for (const file of files) await Deno.copyFile(file, join(to, basename(file)));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function inOneFile(source: string, to: string): Promise<void> {
  await bundle(root, "--output", to, source);
  await Deno.writeTextFile(to, finished(await Deno.readTextFile(to)));
}

/** A session that runs starts the worker that it was bundled with, from a file with its hash in the name. */
async function bundleWorker(source: string, to: string): Promise<void> {
  const made = join(to, "worker.js");
  await inOneFile(source, made);
  const hash = await crypto.subtle.digest("SHA-256", await Deno.readFile(made));
  const name = `worker-${new Uint8Array(hash).toHex().slice(0, 8)}.js`;
  await Deno.rename(made, join(to, name));
  workerNames.set(basename(source), name);
}

/** The bundler's output with the workers' names, in ASCII. */
function finished(source: string): string {
  for (const [name, own] of workerNames) source = source.replaceAll(`"./${name}"`, `"./${own}"`);
  return asAscii(source);
}

async function bundle(folder: string, ...args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["bundle", "--quiet", "--minify", "--frozen", ...args],
    cwd: folder,
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr).trim());
}

/**
 * The bundler leaves other characters in regular expressions as they are: V8 would keep the whole source
 * with two bytes for each character, and read it more slowly.
 */
export function asAscii(source: string): string {
  return source.replace(
    /[^\0-\x7f]/g,
    (unit) => "\\u" + unit.charCodeAt(0).toString(16).padStart(4, "0"),
  );
}

async function mark(files: string[], starts: Counts[]): Promise<void> {
  const plugin = new URL("./methods_plugin.ts", import.meta.url);
  const reports = await lintReports(plugin, root, files);
  for (const path of files) {
    const found = reports.filter(({ file }) => join(root, file) === path)
      .map(({ message }): Member | Use => JSON.parse(message));
    const ranges = starts.flatMap((counts) => counts.get(toFileUrl(path).href) ?? []);
    const source = await Deno.readTextFile(path);
    await Deno.writeTextFile(path, withParentheses(source, ranges, found));
  }
}
