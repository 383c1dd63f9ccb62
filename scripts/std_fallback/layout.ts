/**
 * Lays out `vendor/jsr.io/@std/` from the npm package `deno-std`, for networks that do not reach
 * JSR: `deno run --no-config --no-lock -RW layout.ts DENO_STD_FOLDER` in the project's folder.
 *
 * Deno reads a vendored package before any network and does not hold its files against
 * `deno.lock`, so the lock file keeps JSR's own integrity values. The npm package has the real
 * sources compiled to JavaScript, but without types and without `fs`: the types are the `.d.ts`
 * files beside this one, and `fs` is the folder beside it.
 */

/** The part of `deno.lock` that is read: each package's version, and the ranges of its imports. */
interface Lock {
  jsr: Record<string, { dependencies?: string[] }>;
}

/** SHA-256 of the modules taken from deno-std@1.4.0: npm reports no error on a cut-short install. */
const SOURCES = "67d1e7fd6c3c1bd9bfee529949479c93a56f1a7bfd5044097d5e39dc593bd0ed";

const HERE = import.meta.dirname!;

/** The types that stand in for a package, by module: `posix/is_glob` -> its declarations. */
export function types(name: string): Map<string, string> {
  const parts = Deno.readTextFileSync(`${HERE}/${name}.d.ts`).split(/^\/\/ \.\/([a-z-]+)\n/m);
  const modules = new Map<string, string>();
  let all = "";
  for (let i = 1; i < parts.length; i += 2) {
    const module = parts[i]!.replaceAll("-", "_");
    modules.set(module, parts[i + 1]!);
    all += `export * from "./${module}.d.ts";\n`;
  }
  // One module of @std/cli is declared, and its mod.js would pull in more than that one.
  if (name !== "cli") modules.set("mod", all);
  if (name === "path") {
    for (const [module, text] of [...modules]) {
      modules.set(`posix/${module}`, text).set(`windows/${module}`, text);
    }
  }
  return modules;
}

/** The subpath under which a module is imported: `posix/is_glob` -> `./posix/is-glob`. */
export function subpath(module: string): string {
  return `./${module}`.replaceAll("_", "-").replace(/\/mod$/, "");
}

/**
 * Lays out every package of `lock` in the folder `vendor`, from the JavaScript in `source`.
 *
 * @throws {Error} when the JavaScript is not that of the version this was written for.
 */
export async function layOut(lock: Lock, source: string, vendor: string): Promise<void> {
  const sources = new Map<string, string>();
  const packages = Object.entries(lock.jsr).map(([id, { dependencies = [] }]) => {
    const [, name, version] = id.match(/^@std\/(\w+)@(.+)$/)! as string[];
    const files = name === "fs" ? ownFiles() : packageFiles(name!, source, sources);
    return { name, version, dependencies, ...files };
  });
  const digest = await sha256(JSON.stringify([...sources].sort()));
  if (digest !== SOURCES) {
    throw new Error(`Cannot lay out ${source} as its digest must be ${SOURCES}: it is ${digest}`);
  }
  for (const { name, version, dependencies, exports, texts } of packages) {
    const manifest: Record<string, { size: number; checksum: string }> = {};
    for (const [path, text] of texts) {
      const module = withRanges(text, dependencies);
      const size = new TextEncoder().encode(module).length;
      manifest[`/${path}`] = { size, checksum: `sha256-${await sha256(module)}` };
      write(`${vendor}/${name}/${version}/${path}`, module);
    }
    write(`${vendor}/${name}/${version}_meta.json`, JSON.stringify({ manifest, exports }));
    const meta = { scope: "std", name, latest: version, versions: { [version!]: {} } };
    write(`${vendor}/${name}/meta.json`, JSON.stringify(meta));
  }
}

async function sha256(text: string): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)))
    .toHex();
}

interface Files {
  exports: Record<string, string>;
  texts: Map<string, string>;
}

function ownFiles(): Files {
  const texts = new Map<string, string>();
  const exports: Record<string, string> = {};
  for (const { name } of Deno.readDirSync(`${HERE}/fs`)) {
    texts.set(name, Deno.readTextFileSync(`${HERE}/fs/${name}`));
    exports[subpath(name.replace(/\.ts$/, ""))] = `./${name}`;
  }
  return { exports, texts };
}

function packageFiles(name: string, source: string, sources: Map<string, string>): Files {
  const texts = new Map<string, string>();
  const exports: Record<string, string> = {};

  /** Takes over a module, and the modules of its package that it imports. */
  function copy(path: string): void {
    if (texts.has(path)) return;
    const text = Deno.readTextFileSync(`${source}/${name}/${path}`);
    texts.set(path, text);
    sources.set(`${name}/${path}`, text);
    for (const [, relative] of text.matchAll(IMPORT)) {
      const target = new URL(relative!, `file:///${name}/${path}`).pathname;
      if (target.startsWith(`/${name}/`)) copy(target.slice(name.length + 2));
    }
  }

  for (const [module, text] of name === "internal" ? untyped(source) : types(name)) {
    copy(`${module}.js`);
    exports[subpath(module)] = `./${module}.js`;
    if (text === "") continue;
    const file = `${module.split("/").at(-1)}.d.ts`;
    texts.set(`${module}.js`, `/* @ts-self-types="./${file}" */\n${texts.get(`${module}.js`)}`);
    texts.set(`${module}.d.ts`, text);
  }
  return { exports, texts };
}

/** The modules of @std/internal: only JavaScript imports them, so they need no types. */
function untyped(source: string): Map<string, string> {
  const files = [...Deno.readDirSync(`${source}/internal`)].map(({ name }) => name);
  const modules = files.filter((name) => !/^(_.*|mod\.js)$/.test(name));
  return new Map(modules.map((name) => [name.replace(/\.js$/, ""), ""]));
}

// An import or export of a relative module, or of a @std package, at the start of a line: the
// examples in doc comments are left as they are.
const IMPORT = /^(?:import|export|\})[^"'*]*(?:\* )?from "([.@][^"]+)"/gm;

/** Turns imports of other packages into the `jsr:` ranges of the lock file. */
function withRanges(text: string, dependencies: string[]): string {
  return text.replaceAll(IMPORT, (line, path: string) => {
    const [, other, module] = path.match(/^(?:@std|(?:\.\.\/)+)\/?(\w+)\/([\w-]+)(?:\.js)?$/) ?? [];
    const range = dependencies.find((one) => one.startsWith(`jsr:@std/${other}@`));
    return range ? line.replace(`"${path}"`, `"${range}${subpath(module!).slice(1)}"`) : line;
  });
}

/** Writes beside the file and renames, so that a run that is cut short leaves no partial file. */
function write(file: string, text: string): void {
  Deno.mkdirSync(file.slice(0, file.lastIndexOf("/")), { recursive: true });
  const partial = `${file}.${Deno.pid}`;
  Deno.writeTextFileSync(partial, text);
  Deno.renameSync(partial, file);
}

if (import.meta.main) {
  const lock: Lock = JSON.parse(Deno.readTextFileSync("deno.lock"));
  await layOut(lock, Deno.args[0]!, "vendor/jsr.io/@std");
}
