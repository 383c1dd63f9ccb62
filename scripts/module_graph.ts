/** The imports between the project's modules, as Deno resolves them. */
import { fromFileUrl } from "@std/path/from-file-url";
import { relative } from "@std/path/relative";
import { resolve } from "@std/path/resolve";
import { toFileUrl } from "@std/path/to-file-url";
import { walkSync } from "@std/fs/walk";

/** An import, an export from elsewhere, a dynamic import or an imported type. */
export interface Import {
  /** The importing file, relative to the project. */
  from: string;
  /** The line of the import, from 1. */
  line: number;
  specifier: string;
  /** The imported file relative to the project; missing if it is outside. */
  to?: string;
}

/** Returns the TypeScript files below `root`/`folder`, relative to `root`, sorted. */
export function sourceFiles(root: string, folder: string): string[] {
  return [...walkSync(resolve(root, folder), { includeDirs: false, exts: [".ts"] })]
    .map(({ path }) => relative(root, path).replaceAll("\\", "/")).sort();
}

/** Reads the module graph from `deno info`, of a module that imports every file. */
export async function importsOf(root: string, files: readonly string[]): Promise<Import[]> {
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
