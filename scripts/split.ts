// A bundle in one file is read whole at each start, and what Deno keeps of it compiled, too: 0.9 MB and
// 1.2 MB, where a prompt needs a third. So what no start runs is bundled into files of its own, which are
// loaded when they are needed.
import { walk } from "@std/fs/walk";
import { dirname } from "@std/path/dirname";
import { fromFileUrl } from "@std/path/from-file-url";
import { join } from "@std/path/join";
import { relative } from "@std/path/relative";
import type { Counts } from "./starts.ts";

/** Files of modules that a prompt does not need: those of calls, of a start in a terminal, and all others. */
type Part = "calls" | "terminal" | "rest";

const IMPORT = /(?<!typeof |: )\bimport\(\s*"(\.[^"]+)",?\s*\)/g;

/**
 * Writes into the folder `to` the sources at `root` as they are bundled in parts: what a start with a
 * prompt imports in its course becomes a part of the main file, evaluated when it is asked for; the other
 * imports of that kind ask one of three further modules for what they need.
 */
export async function splitSources(
  root: string,
  to: string,
  counts: [prompt: Counts, calls: Counts, terminal: Counts],
): Promise<void> {
  const hasRun = (counts: Counts) => {
    const modules = new Set<string>();
    for (const [url, [module]] of counts) {
      if (module?.count) modules.add(relative(root, fromFileUrl(url)));
    }
    return modules;
  };
  const [prompt, calls, terminal] = counts.map(hasRun) as [Set<string>, Set<string>, Set<string>];
  const parts: Record<Part, Map<string, string>> = {
    calls: new Map(),
    terminal: new Map(),
    rest: new Map(),
  };
  for await (const { path } of walk(join(root, "src"), { exts: [".ts"] })) {
    const source = await Deno.readTextFile(path);
    const file = relative(root, path);
    const changed = source.replace(IMPORT, (_, specifier: string) => {
      const module = join(dirname(file), specifier);
      // A module that is required is evaluated then, not with the file that it is bundled into.
      if (prompt.has(module)) return `Promise.resolve().then(() => require("${specifier}"))`;
      const part: Part = calls.has(module) ? "calls" : terminal.has(module) ? "terminal" : "rest";
      const names = parts[part];
      const name = names.get(module) ?? `m${names.size}`;
      names.set(module, name);
      const steps = "../".repeat(file.split(/[\\/]/).length - 1);
      return `import("${steps}${part}.ts").then((part) => part.${name}())`;
    });
    await Deno.mkdir(dirname(join(to, file)), { recursive: true });
    await Deno.writeTextFile(join(to, file), changed);
  }
  for (const [part, names] of Object.entries(parts)) {
    const lines = [...names].map(([module, name]) =>
      `export const ${name} = () => require("./${module.replaceAll("\\", "/")}");\n`
    );
    // Each part reaches all of the program's own modules: the bundler puts what parts share into a file
    // for each set of parts that do, and a start would load several.
    lines.push('export const program = () => require("./src/cli/run.ts");\n');
    await Deno.writeTextFile(join(to, `${part}.ts`), lines.join(""));
  }
  for (const file of ["main.ts", "deno.json", "deno.lock"]) {
    await Deno.copyFile(join(root, file), join(to, file));
  }
  await Deno.symlink(join(root, "vendor"), join(to, "vendor"));
}

/** The source of a bundled file without names of parts that Deno would load before the program starts. */
export function withLateImports(source: string): string {
  return source.replace(/\bimport\(("\.\/(?:calls|terminal|rest)-[^"]+")\)/g, "import(String($1))");
}
