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

/** Exceptions from the rules, each with its reason. An unused exception is a violation. */
export interface Allowed {
  /** Names that several files declare. */
  names: Record<string, string>;
  /** Exports that no other file imports, as `file name`. */
  exports: Record<string, string>;
  /** Longer functions, as `file function`. */
  functions: Record<string, string>;
}

const ALLOWED: Allowed = {
  names: {},
  exports: {},
  functions: {},
};

/** Files whose exports have users outside: the library, and the program's entry. */
const ENTRIES = ["src/mod.ts", "main.ts"];

/** Returns one line for each violation in the tree under `root`. */
export async function nameViolations(root: string, allowed: Allowed = ALLOWED): Promise<string[]> {
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
    ...unless(allowed.names, sharedNames(files)),
    ...unless(allowed.exports, unusedExports(files, importers)),
    ...unless(allowed.functions, longFunctions(files)),
  ].sort();
}

type Files = ReadonlyMap<string, Names>;
/** A violation, with the key that an exception would have. */
type Violation = [key: string, text: string];

/** Returns the violations without an exception, and the exceptions without a violation. */
function unless(rows: Readonly<Record<string, string>>, found: readonly Violation[]): string[] {
  const keys = new Set(found.map(([key]) => key));
  return [
    ...found.filter(([key]) => !Object.hasOwn(rows, key)).map(([, text]) => text),
    ...Object.keys(rows).filter((key) => !keys.has(key)).map((key) =>
      `scripts/check_names.ts allows ${key}, which breaks no rule`
    ),
  ];
}

function sharedNames(files: Files): Violation[] {
  const places = new Map<string, Map<string, number>>();
  for (const [file, { declared }] of files) {
    for (const { name, line } of declared) {
      const all = places.get(name) ?? new Map();
      places.set(name, all.set(file, line));
    }
  }
  return [...places].filter(([, where]) => where.size > 1).map(([name, where]) => {
    const [first, ...others] = [...where].sort().map((at) => at.join(":"));
    return [name, `${first} declares ${name}, as do ${others.join(", ")}`];
  });
}

function unusedExports(files: Files, importers: Files): Violation[] {
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
    exported.map(({ name, line }): Violation => [
      `${file} ${name}`,
      `${file}:${line} exports ${name}, which no other file imports`,
    ])
  ).filter(([key]) => !used.has(key));
}

function longFunctions(files: Files): Violation[] {
  return [...files].flatMap(([file, { functions }]) =>
    functions.filter(({ lines }) => lines > MAX_LINES).map(({ name, line, lines }): Violation => [
      `${file} ${name}`,
      `${file}:${line} ${name} has ${lines} lines: at most ${MAX_LINES}`,
    ])
  );
}

if (import.meta.main) {
  const found = await nameViolations(Deno.args[0] ?? ".");
  for (const line of found) console.error(line);
  if (found.length > 0) Deno.exit(1);
}
