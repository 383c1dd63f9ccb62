/**
 * Checks the imports under `src/` against the layers: `deno run -A scripts/check_imports.ts [FOLDER]` prints one
 * line for each import that breaks a rule, and exits with 1 if any does.
 *
 * Type-only and dynamic imports count as well.
 */
import { type Import, importsOf, readModules } from "./modules.ts";

/** Parts of `src/`, lowest layer first: a part imports from the layers below its own. */
const LAYERS = [
  "types attempt config errors server_address exit_codes program_stop".split(" "),
  ["text", "wire", "user_files", "temp_folder", "find_program", "start_program"],
  ["rpc", "models", "models/toolcalls", "tools", "safety", "records", "ui/terminal"],
  ["agent"],
  ["session"],
  ["extensions"],
  ["ui", "ui/terminal/session"],
  ["cli"],
];

/** Parts that import from their own layer; the parts of layer 0 but `types` do so as well. */
const NEIGHBOURS: [from: string, to: string][] = [
  ["safety", "tools"],
  ["records", "models"],
  ["user_files", "text"],
  ["temp_folder", "text"],
  ["temp_folder", "user_files"],
  ["find_program", "text"],
  ["start_program", "find_program"],
  ["start_program", "text"],
  ["wire", "text"],
  ["ui/terminal/session", "ui"],
];

/** Folders that never import from each other, even if the layers allow it: a session knows no terminal. */
const FORBIDDEN: [from: string, to: string][] = [
  ["agent", "ui"],
  ["session", "ui"],
  ["extensions", "ui"],
  ["ui/acp", "ui/print"],
  ["ui/acp", "ui/terminal/session"],
  ["ui/print", "ui/terminal/session"],
  ["ui/terminal/session", "ui/print"],
];

/** Outside modules that `src/` may import. No `npm:`, and `node:` only as `file specifier`, with its reason. */
const OUTSIDE = /^@std\/(cli|fs|path)\/./;
const NODE = [
  // Deno has no way to open a file without waiting at a pipe.
  "src/safety/git_files.ts node:fs",
  // Deno has no way to read the user database.
  "src/cli/run.ts node:os",
  // Deno has no way to send a request over TLS to a given address.
  "src/wire/pinned_get.ts node:http",
  "src/wire/pinned_get.ts node:https",
];

/** Returns one line for each violation in the tree under `root`. */
export async function violations(root: string): Promise<string[]> {
  const imports = importsOf(await readModules(root, ["src", "main.ts"]));
  return [
    ...imports.flatMap((one) => {
      const reason = objection(one);
      return reason
        ? [`${one.from}:${one.line} imports ${one.to ?? one.specifier}: ${reason}`]
        : [];
    }),
    ...cycles(imports),
  ];
}

/** Returns the reason why an import is refused; undefined if it is not. */
function objection({ from, specifier, to }: Import): string | undefined {
  if (from === "main.ts") {
    return to === "src/cli/run.ts" ? undefined : "main.ts imports src/cli/run.ts, nothing more";
  }
  if (to === undefined) {
    if (OUTSIDE.test(specifier) || NODE.includes(`${from} ${specifier}`)) return undefined;
    return "src/ imports subpaths of @std/cli, @std/fs and @std/path, nothing else from outside";
  }
  if (!to.startsWith("src/") || to === "src/mod.ts") return "no file of src/ imports it";
  if (from === "src/mod.ts") return undefined;
  const pair = FORBIDDEN.find(([one, other]) => isIn(one, from) && isIn(other, to));
  if (pair) return `${pair[0]} imports nothing of ${pair[1]}`;
  return objectionOfLayers(partOf(from), partOf(to));
}

function objectionOfLayers(part: string, other: string): string | undefined {
  if (part === other) return undefined;
  const [layer, otherLayer] = [layerOf(part), layerOf(other)];
  if (layer === -1) return `${part} has no layer: add it to the table in check_imports.ts`;
  if (otherLayer === -1) return `${other} has no layer: add it to the table in check_imports.ts`;
  if (part === "types") return "types imports nothing";
  if (otherLayer < layer || layer === 0 && otherLayer === 0) return undefined;
  if (NEIGHBOURS.some(([from, to]) => from === part && to === other)) return undefined;
  return `${part} is in layer ${layer} and ${other} in layer ${otherLayer}, imports point downwards`;
}

function isIn(folder: string, file: string): boolean {
  return file.startsWith(`src/${folder}/`);
}

/** Returns the part of a file, the deepest that has a layer: `src/text/glob.ts` is in `text`. */
function partOf(file: string): string {
  const path = file.replace(/^src\//, "").replace(/\.ts$/, "").split("/");
  for (let length = path.length; length > 1; length--) {
    const part = path.slice(0, length).join("/");
    if (layerOf(part) >= 0) return part;
  }
  return path[0]!;
}

function layerOf(part: string): number {
  return LAYERS.findIndex((parts) => parts.includes(part));
}

/** Returns one line for each import that closes a cycle, type-only and dynamic imports included. */
function cycles(imports: readonly Import[]): string[] {
  const targets = Map.groupBy(imports.filter(({ to }) => to), ({ from }) => from);
  const done = new Set<string>();
  const path: string[] = [];
  const found: string[] = [];
  function visit(file: string): void {
    if (done.has(file)) return;
    const start = path.indexOf(file);
    if (start >= 0) {
      found.push(`import cycle: ${[...path.slice(start), file].join(" -> ")}`);
      return;
    }
    path.push(file);
    for (const { to } of targets.get(file) ?? []) visit(to!);
    path.pop();
    done.add(file);
  }
  for (const file of targets.keys()) visit(file);
  return found;
}

if (import.meta.main) {
  const found = await violations(Deno.args[0] ?? ".");
  for (const line of found) console.error(line);
  if (found.length > 0) Deno.exit(1);
}
