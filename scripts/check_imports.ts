/**
 * Holds the imports under `src/` to the layers: `deno run -A scripts/check_imports.ts [FOLDER]`
 * prints one line for each import or folder that breaks a rule, and exits with 1 if any does.
 *
 * Deno's own module graph is what is checked, so type-only and dynamic imports count as well.
 */
import { toFileUrl } from "@std/path/to-file-url";
import { fromFileUrl } from "@std/path/from-file-url";
import { walkSync } from "@std/fs/walk";
import { relative } from "@std/path/relative";
import { resolve } from "@std/path/resolve";

/** Parts of `src/`, lowest layer first: a part imports from the layers below its own. */
const LAYERS = [
  ["types", "config", "errors", "model_target"],
  ["text", "wire"],
  ["rpc", "backends", "toolcalls", "tools", "permissions", "records", "terminal", "user_files"],
  ["mcp", "agent"],
  ["session"],
  ["frontends"],
  ["cli"],
];

/** Parts that import from their own layer: `importer imported`. */
const NEIGHBOURS: string[] = ["permissions user_files", "records user_files"];

/** Parts below which a part does not import: the session and all under it know no terminal. */
const FORBIDDEN = ["agent terminal", "session terminal"];

/** Modules from elsewhere. No `npm:`, and `node:` only as `file specifier`, with its reason. */
const OUTSIDE = /^@std\/(cli|fs|path)\/./;
const NODE: string[] = [];

interface Import {
  from: string;
  line: number;
  specifier: string;
  /** The target relative to the project, where it is a file of it. */
  to?: string;
}

/** Every rule that the tree under `root` breaks, one line each. */
export async function violations(root: string): Promise<string[]> {
  const files = sources(root);
  const imports = await importsOf(root, files);
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

function sources(root: string): string[] {
  const paths = [...walkSync(resolve(root, "src"), { includeDirs: false, exts: [".ts"] })]
    .map(({ path }) => relative(root, path).replaceAll("\\", "/"));
  return [...paths.sort(), "main.ts"];
}

/** Reads the module graph from `deno info`, by way of a module that imports every file. */
async function importsOf(root: string, files: string[]): Promise<Import[]> {
  const base = toFileUrl(resolve(root)).href;
  const entry = await Deno.makeTempFile({ suffix: ".ts" });
  try {
    await Deno.writeTextFile(entry, files.map((file) => `import "${base}/${file}";\n`).join(""));
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["info", "--json", "--config", resolve(root, "deno.json"), entry],
    }).output();
    const text = new TextDecoder();
    if (code !== 0) throw new Error(`Cannot read the module graph: ${text.decode(stderr)}`);
    return JSON.parse(text.decode(stdout)).modules.flatMap((module: Module) => {
      const from = inside(base, module.specifier);
      if (from === undefined) return [];
      return (module.dependencies ?? []).map(({ specifier, code, type }) => {
        const target = code ?? type;
        const to = inside(base, target?.specifier ?? "");
        const line = (target?.span?.start.line ?? 0) + 1;
        return { from, line, specifier, ...(to === undefined ? {} : { to }) };
      });
    });
  } finally {
    await Deno.remove(entry);
  }
}

interface Target {
  specifier?: string;
  span?: { start: { line: number } };
}
interface Module {
  specifier: string;
  dependencies?: { specifier: string; code?: Target; type?: Target }[];
}

function inside(base: string, url: string): string | undefined {
  if (!url.startsWith(`${base}/`)) return undefined;
  return relative(fromFileUrl(base), fromFileUrl(url)).replaceAll("\\", "/");
}

/** `src/text/glob.ts` -> `text`, `src/mod.ts` -> `mod`, `main.ts` -> `main`. */
function partOf(file: string): string {
  return file.replace(/^src\//, "").split("/")[0]!.replace(/\.ts$/, "");
}

/** Why an import is refused, if it is. */
function objection({ from, specifier, to }: Import): string | undefined {
  const part = partOf(from);
  if (from === "main.ts") {
    return to === "src/cli/run.ts" ? undefined : "main.ts imports src/cli/run.ts, nothing more";
  }
  if (to === undefined) {
    if (OUTSIDE.test(specifier) || NODE.includes(`${from} ${specifier}`)) return undefined;
    return "src/ imports subpaths of @std/cli, @std/fs and @std/path, nothing else from outside";
  }
  const other = partOf(to);
  if (part === other) return undefined;
  if (!to.startsWith("src/") || other === "mod") return "no file of src/ imports it";
  const layer = layerOf(part);
  const otherLayer = layerOf(other);
  if (part === "mod") return undefined;
  if (layer === -1) return `${part} has no layer: add it to the table in check_imports.ts`;
  if (otherLayer === -1) return `${other} has no layer: add it to the table in check_imports.ts`;
  const pair = `${part} ${other}`;
  if (FORBIDDEN.includes(pair)) return `${part} imports nothing of ${other}`;
  if (NEIGHBOURS.includes(pair)) return undefined;
  if (part === "types") return "types imports nothing";
  if (otherLayer < layer || (layer === 0 && otherLayer === 0)) return undefined;
  return `${part} is in layer ${layer} and ${other} in layer ${otherLayer}, imports point downwards`;
}

function layerOf(part: string): number {
  return LAYERS.findIndex((parts) => parts.includes(part));
}

/** One line for each import that closes a cycle, type-only and dynamic imports included. */
function cycles(imports: Import[]): string[] {
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
