/**
 * Checks the names and functions of `src/` by three rules: `deno run -A scripts/check_names.ts [FOLDER]` prints
 * one line for each violation, and exits with 1 if there is any.
 *
 * - A top-level name is declared in one file: it means one thing in the whole of `src/`.
 * - Another file imports each export: of `src/`, or a test or a script; or `src/mod.ts` re-exports it.
 * - A function has at most 60 lines.
 */
import { dirname } from "@std/path/dirname";
import { existsSync } from "@std/fs/exists";
import { join } from "@std/path/join";
import { lintReports } from "./lint_reports.ts";
import type { Names } from "./names_plugin.ts";

const MAX_LINES = 60;

/** Files whose exports have users outside: the library, and the program's entry. */
const ENTRIES = ["src/mod.ts", "main.ts"];

/** Returns one line for each violation in the tree under `root`. */
export async function nameViolations(root: string): Promise<string[]> {
  const plugin = new URL("./names_plugin.ts", import.meta.url);
  const folders = ["src", "main.ts", "tests", "scripts"].filter((name) =>
    existsSync(join(root, name))
  );
  const reports = await lintReports(plugin, root, folders);
  const importers = new Map(
    reports.map(({ file, message }): [string, Names] => [file, JSON.parse(message)]),
  );
  const files = new Map([...importers].filter(([file]) => !/^(tests|scripts)\//.test(file)));
  return [
    ...sharedNames(files),
    ...unusedExports(files, importers),
    ...longFunctions(files),
  ].sort();
}

type Files = ReadonlyMap<string, Names>;
function sharedNames(files: Files): string[] {
  const places = new Map<string, Map<string, number>>();
  for (const [file, { declared }] of files) {
    for (const { name, line } of declared) {
      const all = places.get(name) ?? new Map();
      places.set(name, all.set(file, line));
    }
  }
  return [...places].filter(([, where]) => where.size > 1).map(([name, where]) => {
    const [first, ...others] = [...where].sort().map((at) => at.join(":"));
    return `${first} declares ${name}, as do ${others.join(", ")}`;
  });
}

function unusedExports(files: Files, importers: Files): string[] {
  const used = new Set<string>();
  for (const [file, { imported, namespaces, identifiers }] of importers) {
    const target = (source: string) => join(dirname(file), source).replaceAll("\\", "/");
    const add = (source: string, name: string) => used.add(`${target(source)} ${name}`);
    for (const { source, name } of imported) {
      if (name !== "*") add(source, name);
      else for (const one of files.get(target(source))?.exported ?? []) add(source, one.name);
    }
    for (const source of namespaces) for (const name of identifiers) add(source, name);
  }
  return [...files].filter(([file]) => !ENTRIES.includes(file)).flatMap(([file, { exported }]) =>
    exported.filter(({ name }) => !used.has(`${file} ${name}`)).map(({ name, line }) =>
      `${file}:${line} exports ${name}, which no other file imports`
    )
  );
}

function longFunctions(files: Files): string[] {
  return [...files].flatMap(([file, { functions }]) =>
    functions.filter(({ lines }) => lines > MAX_LINES).map(({ name, line, lines }) =>
      `${file}:${line} ${name} has ${lines} lines: at most ${MAX_LINES}`
    )
  );
}

if (import.meta.main) {
  const found = await nameViolations(Deno.args[0] ?? ".");
  for (const line of found) console.error(line);
  if (found.length > 0) Deno.exit(1);
}
