/**
 * Checks the names and functions of `src/` by three rules: `deno run -A scripts/check_names.ts [FOLDER]` prints
 * one line for each violation, and exits with 1 if there is any.
 *
 * - A top-level name is declared in one file: it means one thing in the whole of `src/`.
 * - Another file imports each export: of `src/`, or a test or a script; or `src/mod.ts` re-exports it.
 * - A function has at most 60 lines.
 */
import { existsSync } from "@std/fs/exists";
import { join } from "@std/path/join";
import { type Modules, readModules, targetOf } from "./modules.ts";
import { WHOLE } from "./modules_plugin.ts";

const MAX_LINES = 60;

/** Files whose exports have users outside: the library, and the program's entry. */
const ENTRIES = ["src/mod.ts", "main.ts"];

/** Returns one line for each violation in the tree under `root`. */
export async function nameViolations(root: string): Promise<string[]> {
  const folders = ["src", "main.ts", "tests", "scripts"].filter((name) =>
    existsSync(join(root, name))
  );
  const importers = await readModules(root, folders);
  const files = new Map([...importers].filter(([file]) => !/^(tests|scripts)\//.test(file)));
  return [
    ...sharedNames(files),
    ...unusedExports(files, importers),
    ...longFunctions(files),
  ].sort();
}

function sharedNames(files: Modules): string[] {
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

function unusedExports(files: Modules, importers: Modules): string[] {
  const used = new Set<string>();
  for (const [file, { imports, identifiers }] of importers) {
    for (const { source, names } of imports) {
      const target = targetOf(file, source);
      const all = files.get(target)?.exported ?? [];
      for (const name of names) {
        const meant = name === WHOLE
          ? identifiers
          : name === "*"
          ? all.map((one) => one.name)
          : [name];
        for (const one of meant) used.add(`${target} ${one}`);
      }
    }
  }
  return [...files].filter(([file]) => !ENTRIES.includes(file)).flatMap(([file, { exported }]) =>
    exported.filter(({ name }) => !used.has(`${file} ${name}`)).map(({ name, line }) =>
      `${file}:${line} exports ${name}, which no other file imports`
    )
  );
}

function longFunctions(files: Modules): string[] {
  return [...files].flatMap(([file, { functions }]) =>
    functions.filter(({ lines }) => lines > MAX_LINES).map(({ line, lines }) =>
      `${file}:${line} has a function of ${lines} lines: at most ${MAX_LINES}`
    )
  );
}

if (import.meta.main) {
  const found = await nameViolations(Deno.args[0] ?? ".");
  for (const line of found) console.error(line);
  if (found.length > 0) Deno.exit(1);
}
