/** The modules of the project, read by Deno's linter: their names, functions and imports. */
import { dirname } from "@std/path/dirname";
import { fromFileUrl } from "@std/path/from-file-url";
import { join } from "@std/path/join";
import { relative } from "@std/path/relative";
import { resolve } from "@std/path/resolve";
import { toFileUrl } from "@std/path/to-file-url";
import type { Module } from "./modules_plugin.ts";

/** Modules by their file, relative to the project and sorted. */
export type Modules = ReadonlyMap<string, Module>;

/** An import, an export from elsewhere, a dynamic import or an imported type. */
export interface Import {
  /** The importing file, relative to the project. */
  from: string;
  /** The line of the import, from 1. */
  line: number;
  specifier: string;
  /** The imported file relative to the project; missing if it is of a package. */
  to?: string;
}

/** Reads every module under `paths` of the project at `root`. */
export async function readModules(root: string, paths: readonly string[]): Promise<Modules> {
  const reports = await lintReports("modules_plugin.ts", root, paths);
  return new Map(reports.map(({ file, message }) => [file, JSON.parse(message)]));
}

/** Returns every import of `modules`. */
export function importsOf(modules: Modules): Import[] {
  return [...modules].flatMap(([from, { imports }]) =>
    imports.map(({ source, line }) => {
      const to = source.startsWith(".") ? { to: targetOf(from, source) } : {};
      return { from, line, specifier: source, ...to };
    })
  );
}

/** Returns the file that `specifier` means in the file `from`. */
export function targetOf(from: string, specifier: string): string {
  return join(dirname(from), specifier).replaceAll("\\", "/");
}

/**
 * Runs a lint plugin of this folder, and no other rule, over `paths` of the project at `root`. This gives access to
 * the syntax tree without a parser of our own. Files are relative to the project, and sorted.
 */
export async function lintReports(
  plugin: string,
  root: string,
  paths: readonly string[],
): Promise<{ file: string; message: string }[]> {
  const config = await Deno.makeTempFile({ suffix: ".json" });
  try {
    const plugins = [toFileUrl(resolve(import.meta.dirname!, plugin)).href];
    await Deno.writeTextFile(config, JSON.stringify({ lint: { plugins, rules: { tags: [] } } }));
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["lint", "--json", "--config", config, ...paths],
      cwd: root,
    }).output();
    const text = new TextDecoder();
    const output = text.decode(stdout);
    if (output === "") throw new Error(`Cannot lint ${paths.join(" ")}: ${text.decode(stderr)}`);
    const { diagnostics, errors } = JSON.parse(output);
    if (errors.length > 0) throw new Error(`Cannot parse ${JSON.stringify(errors[0])}`);
    const base = resolve(root);
    return diagnostics.map(({ filename, message }: { filename: string; message: string }) => ({
      file: relative(base, fromFileUrl(filename)).replaceAll("\\", "/"),
      message,
    })).sort((a: { file: string }, b: { file: string }) => a.file < b.file ? -1 : 1);
  } finally {
    await Deno.remove(config);
  }
}
