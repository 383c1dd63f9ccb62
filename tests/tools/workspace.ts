import { assert } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { join } from "@std/path/join";
import type { ToolContext } from "../../src/types/tool.ts";
import { editFile, writeFile } from "./text_results.ts";

/** A temporary working directory for tools, removed in the end. */
export interface Workspace extends Disposable {
  dir: string;
  context: ToolContext;
  /** The absolute path of a name in it. */
  at(name: string): string;
  /** Writes a file, in a folder that is made for it: text as UTF-8, or bytes. Of a name that ends in / only the folder is made. */
  put(name: string, content?: string | number[] | Uint8Array, mode?: number): string;
  putAll(files: Readonly<Record<string, string | number[]>>): void;
  bytes(name: string): Uint8Array;
  text(name: string): string;
  /** What the model reads of an edit, or of a write. */
  edit(name: string, before: string, after: string, all?: boolean): Promise<string>;
  write(name: string, content: string): Promise<string>;
  /** Every name in a folder, sorted: no temporary file may be left among them. */
  names(folder?: string): string[];
}

export function workspace(settings: Partial<ToolContext> = {}): Workspace {
  // As the system spells it: the temporary folder itself is a link on some systems.
  const dir = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "tools-test-" }));
  const at = (name: string) => join(dir, name);
  const { signal } = new AbortController();
  const context = { workingDir: dir, maxOutputChars: 100_000, signal, ...settings };
  return {
    dir,
    context,
    at,
    edit: (file_path, old_string, new_string, replace_all = false) =>
      editFile({ file_path, old_string, new_string, replace_all }, context),
    write: (file_path, content) => writeFile({ file_path, content }, context),
    put(name, content = "", mode) {
      Deno.mkdirSync(at(name.replace(/[^/]*$/, "")), { recursive: true });
      if (name.endsWith("/")) return at(name);
      const bytes = typeof content === "string"
        ? new TextEncoder().encode(content)
        : Uint8Array.from(content);
      Deno.writeFileSync(at(name), bytes);
      if (mode !== undefined) Deno.chmodSync(at(name), mode);
      return at(name);
    },
    putAll(files) {
      for (const [name, content] of Object.entries(files)) this.put(name, content);
    },
    bytes: (name) => Deno.readFileSync(at(name)),
    text: (name) =>
      new TextDecoder("utf-8", { ignoreBOM: true }).decode(Deno.readFileSync(at(name))),
    names: (folder = ".") => [...Deno.readDirSync(at(folder))].map(({ name }) => name).sort(),
    [Symbol.dispose]: () => Deno.removeSync(dir, { recursive: true }),
  };
}

/** Returns a function that registers a test with a workspace of its own, which is skipped if `ignore` is true. */
export const testUnless =
  (ignore: boolean) => (name: string, run: (ws: Workspace) => void | Promise<void>): void =>
    Deno.test(name, { ignore }, async () => {
      using ws = workspace();
      await run(ws);
    });

export const test: ReturnType<typeof testUnless> = testUnless(false);
export const posixTest: ReturnType<typeof testUnless> = testUnless(Deno.build.os === "windows");
export const linuxTest: ReturnType<typeof testUnless> = testUnless(Deno.build.os !== "linux");

/** Runs a program and returns what it printed; throws when it fails. */
export async function run(program: string, ...args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args, stdin: "null" })
    .output();
  if (!success) throw new Error(`${program}: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}

const CONFIG = fromFileUrl(new URL("../../deno.json", import.meta.url));

/** The command that runs a module with the project's settings. */
export const RUN_MODULE: readonly [string, ...string[]] = [
  Deno.execPath(),
  ...["run", "-A", "--no-check", "--no-lock", `--config=${CONFIG}`],
];

/** Runs a script as a user without rights, in a folder, and returns what it printed. */
export async function runAsNobody(folder: string, script: string): Promise<string> {
  const path = join(folder, "script.ts");
  Deno.writeTextFileSync(path, script);
  Deno.chmodSync(path, 0o644);
  const { success, stdout, stderr } = await new Deno.Command(RUN_MODULE[0], {
    args: [...RUN_MODULE.slice(1), path],
    uid: 65534,
    gid: 65534,
    cwd: folder,
    env: { HOME: folder, DENO_DIR: `${folder}/.deno`, NO_COLOR: "1" },
    stdin: "null",
  }).output();
  assert(success, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

/**
 * True where there is such a user: for root alone, and where the folders of Deno, of the project and
 * for temporary files are not closed to others.
 */
export async function hasNobody(): Promise<boolean> {
  if (Deno.build.os === "windows" || Deno.uid() !== 0) return false;
  using ws = workspace();
  Deno.chmodSync(ws.dir, 0o777);
  return await runAsNobody(ws.dir, "").then(() => true, () => false);
}
