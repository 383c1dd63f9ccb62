/**
 * Lays out `vendor/jsr.io/@std/` from the npm package `deno-std`, for networks that do not reach
 * JSR: `deno run --no-config --no-lock -RW layout.ts DENO_STD_FOLDER` in the project's folder.
 *
 * Deno reads a vendored package before any network and does not hold its files against
 * `deno.lock`, so the lock file keeps JSR's own integrity values. The npm package has the real
 * sources compiled to JavaScript, but without types and without `fs`: the types are the `.d.ts`
 * files beside this one, and `fs` is the folder beside it.
 */

/** What is read of `deno.lock`: a package's version, and the range by which each imports others. */
interface Lock {
  specifiers: Record<string, string>;
  jsr: Record<string, { dependencies?: string[] }>;
}

const HERE = import.meta.dirname!;

/** A `.d.ts` file of this folder by subpath: `./join` -> its declarations. */
export function declarations(name: string): Map<string, string> {
  const text = Deno.readTextFileSync(`${HERE}/${name}.d.ts`);
  const parts = text.split(/^\/\/ (\.\/[a-z-]+)\n/m);
  const byPath = new Map<string, string>();
  for (let i = 1; i < parts.length; i += 2) byPath.set(parts[i]!, parts[i + 1]!);
  return byPath;
}

/** Lays out every package of `lock` in the folder `vendor`, from the JavaScript in `source`. */
export async function layOut(lock: Lock, source: string, vendor: string): Promise<void> {
  for (const [id, { dependencies = [] }] of Object.entries(lock.jsr)) {
    const [, name, version] = id.match(/^@std\/(\w+)@(.+)$/)!;
    const files = name === "fs" ? ownFiles() : packageFiles(name!, source);
    const manifest: Record<string, { size: number; checksum: string }> = {};
    for (const [path, text] of files.texts) {
      const bytes = new TextEncoder().encode(withRanges(text, name!, dependencies));
      const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
      manifest[`/${path}`] = { size: bytes.length, checksum: `sha256-${digest.toHex()}` };
      write(`${vendor}/${name}/${version}/${path}`, bytes);
    }
    writeJson(`${vendor}/${name}/${version}_meta.json`, { manifest, exports: files.exports });
    const versions = { [version!]: {} };
    writeJson(`${vendor}/${name}/meta.json`, { scope: "std", name, latest: version, versions });
  }
}

interface Files {
  exports: Record<string, string>;
  texts: Map<string, string>;
}

function ownFiles(): Files {
  const texts = new Map<string, string>();
  const exports: Record<string, string> = { ".": "./mod.ts" };
  for (const { name } of Deno.readDirSync(`${HERE}/fs`)) {
    texts.set(name, Deno.readTextFileSync(`${HERE}/fs/${name}`));
    if (name !== "mod.ts") exports[`./${dashed(name)}`] = `./${name}`;
  }
  return { exports, texts };
}

function packageFiles(name: string, source: string): Files {
  const texts = new Map<string, string>();
  const exports: Record<string, string> = {};
  /** Takes over a module and what it imports of its own package. */
  function copy(path: string): void {
    if (texts.has(path)) return;
    const text = Deno.readTextFileSync(`${source}/${name}/${path}`);
    texts.set(path, text);
    for (const [, relative] of text.matchAll(IMPORT)) {
      const target = new URL(relative!, `file:///${name}/${path}`).pathname;
      if (target.startsWith(`/${name}/`)) copy(target.slice(name.length + 2));
    }
  }
  function entry(subpath: string, path: string, types: string): void {
    copy(`${path}.js`);
    exports[subpath] = `./${path}.js`;
    if (types === "") return;
    const self = `/* @ts-self-types="./${path.split("/").at(-1)}.d.ts" */\n`;
    texts.set(`${path}.js`, self + texts.get(`${path}.js`));
    texts.set(`${path}.d.ts`, types);
  }

  if (name === "internal") { // imported by JavaScript only, so it needs no types
    for (const file of Deno.readDirSync(`${source}/internal`)) {
      const module = file.name.slice(0, -".js".length);
      if (!/^(_.*|mod)$/.test(module)) entry(`./${module.replaceAll("_", "-")}`, module, "");
    }
    return { exports, texts };
  }
  const parts = [...declarations(name)];
  const all = parts.map(([subpath]) => `export * from "${subpath.replaceAll("-", "_")}.d.ts";\n`);
  for (const system of name === "path" ? ["", "posix/", "windows/"] : [""]) {
    for (const [subpath, types] of parts) {
      const path = system + subpath.slice(2);
      entry(`./${path}`, path.replaceAll("-", "_"), types);
    }
    // Of @std/cli one subpath is declared, and its "." would pull in more than that.
    if (name !== "cli") {
      entry(system ? `./${system.slice(0, -1)}` : ".", `${system}mod`, all.join(""));
    }
  }
  return { exports, texts };
}

// An import or export of a relative module, or of a @std package, at the start of a line: the
// examples in doc comments are left as they are.
const IMPORT = /^(?:import|export|\})[^"'*]*(?:\* )?from "([.@][^"]+)"/gm;

/** Turns imports of other packages into the `jsr:` ranges of the lock file. */
function withRanges(text: string, name: string, dependencies: string[]): string {
  return text.replaceAll(IMPORT, (line, path: string) => {
    const [, other, module] = path.match(/^(?:@std|(?:\.\.\/)+)\/?(\w+)\/([\w-]+)(?:\.js)?$/) ?? [];
    const range = dependencies.find((one) => one.startsWith(`jsr:@std/${other}@`));
    if (!range || other === name) return line;
    const target = module === "mod" ? range : `${range}/${dashed(module!)}`;
    return line.replace(`"${path}"`, `"${target}"`);
  });
}

function dashed(file: string): string {
  return file.replace(/\.[jt]s$/, "").replaceAll("_", "-");
}

function writeJson(file: string, value: unknown): void {
  write(file, new TextEncoder().encode(JSON.stringify(value)));
}

/** Writes beside the file and renames, so that a run that is cut short leaves no partial file. */
function write(file: string, bytes: Uint8Array): void {
  Deno.mkdirSync(file.slice(0, file.lastIndexOf("/")), { recursive: true });
  const partial = `${file}.${Deno.pid}`;
  Deno.writeFileSync(partial, bytes);
  Deno.renameSync(partial, file);
}

if (import.meta.main) {
  const lock: Lock = JSON.parse(Deno.readTextFileSync("deno.lock"));
  await layOut(lock, Deno.args[0]!, "vendor/jsr.io/@std");
}
