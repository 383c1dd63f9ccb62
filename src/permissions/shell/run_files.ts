/**
 * The files that a command runs, as far as its words name them: a program or a script given by its path, a
 * script of package.json. What a person allows for longer is bound to what they hold.
 *
 * @module
 */

import { digestOf } from "../../text/digest.ts";
import { attempt } from "../../attempt.ts";
import { isObject } from "../../text/json.ts";
import { dirname, join } from "../../text/std_path.ts";
import type { Scene } from "../path_verdict.ts";
import { rulePathOf } from "../rules.ts";
import { accessAt } from "../view.ts";
import { commandBeginning } from "./beginnings.ts";
import type { Word } from "./lexer.ts";
import { mayRun, programName, runsOthers, writtenBy } from "./wrappers.ts";

/** A file, or one script of a package.json. */
export interface RunFile {
  /** The name in rules: the path, relative where it is in the folder, with `#SCRIPT` for a script. */
  name: string;
  /** The absolute path, links followed. */
  path: string;
  script?: string;
}

/** A larger file is not read: a rule cannot be bound to it. */
const MAX_RUN_BYTES = 16 * 1024 * 1024;
/** A command that names more files is not allowed for longer, as all are read when it is decided on. */
const MAX_RUN_FILES = 20;
const INTERPRETER =
  /^(bash|bun|dash|deno|fish|groovy|julia|ksh|lua|node|nodejs|osascript|perl|php|pwsh|pypy|python|rscript|ruby|scala|sh|tclsh|ts-node|tsx|zsh)[\d.]*$/;
/** The ends that interpreters add to the name of a script; a folder is a script with none. */
const SCRIPT_ENDS = [
  "",
  ..."js cjs mjs json node jsx ts cts mts tsx".split(" ").map((end) => `.${end}`),
];
/** Options behind which the code itself stands. */
const CODE_OPTION = /^(-[a-z]*[ce]|-p|--eval|--print|eval)$/i;

/**
 * The files that a command runs, or hands to a program that may run them; undefined where it runs something
 * of the folder that its words do not tell.
 */
export function filesRun(
  words: readonly Word[],
  { place, root }: Pick<Scene, "place" | "root">,
): RunFile[] | undefined {
  const found = new Map<string, RunFile>();
  const tried = new Map<string, boolean>();
  const add = (name: string) => {
    let isFound = tried.get(name);
    if (isFound !== undefined) return isFound;
    const path = place(name).real;
    tried.set(name, isFound = isFile(path));
    if (isFound) found.set(path, { name: rulePathOf(root.real, path), path });
    return isFound;
  };
  // Its settings, which name programs, may be a command's own work, or came with the folder.
  if (programName(words[0]?.text ?? "") === "git" && isNested(place(".").real, root.real)) {
    return undefined;
  }
  if (commandBeginning(words).kind === "open") {
    const [, option, module] = words;
    if (option?.text === "-m") modulePaths(module?.text ?? "").forEach(add);
    return [...found.values()];
  }
  const runs = mayRun({ words: [...words], assignments: [], redirections: [] });
  for (const [at, [first, ...rest]] of runs.entries()) {
    if (first === undefined) continue;
    const name = programName(first.text);
    const texts = rest.map(({ text }) => text);
    // Behind a wrapper, in a folder that is not known.
    if (at > 0 && /^(cd|pushd|-C.*|-D.*|--chdir.*)$/.test(first.text)) return undefined;
    const script = scriptRun(name, texts);
    if (script !== undefined && (at > 0 || script === "unknown")) return undefined;
    if (script !== undefined) {
      const path = place("package.json").real;
      found.set("", { name: `${rulePathOf(root.real, path)}#${script}`, path, script });
    }
    if (writtenBy([first, ...rest]).length > 0) continue;
    const isProgram = /^\S*\/\S*$/.test(first.text);
    if (isProgram && !add(first.text)) return undefined;
    const named = [...texts, ...texts.flatMap((text) => text.split("=").slice(1))];
    const missing = [...named, ...texts[0] === "-m" ? modulePaths(texts[1] ?? "") : []]
      .filter((text) => text === "" || !add(text));
    // A folder, or a name without its ending, such as `node src`.
    const isRun = INTERPRETER.test(name) && texts.length > 0;
    const isCode = texts.some((text) => CODE_OPTION.test(text));
    const isModule = (text: string) =>
      text.includes("/") ||
      text !== "" && SCRIPT_ENDS.some((end) => isThere(place(text + end).real));
    if (isRun && !isCode && (found.size === 0 || missing.some(isModule))) {
      return undefined;
    }
  }
  return found.size > MAX_RUN_FILES ? undefined : [...found.values()];
}

/** The words up to a file of the folder that is the program, or its script, so that no other word is code; or 0. */
export function scriptLength(words: readonly Word[], { place }: Pick<Scene, "place">): number {
  const at = INTERPRETER.test(programName(words[0]!.text)) ? 1 : 0;
  const name = words[at]?.text ?? "";
  // A file may be called as an option or a subcommand is: `-e`, `run`.
  const isNamed = /^[^-].*[./]/.test(name) && (at === 1 || name.includes("/"));
  const { real, isInside } = place(name);
  return isNamed && isInside && isFile(real) && !runsOthers(words) ? at + 1 : 0;
}

/** The files that `python -m` looks for, in the folder first. */
const modulePaths = (module: string): string[] =>
  [".py", "/__init__.py", "/__main__.py"].map((end) => module.replaceAll(".", "/") + end);

/** The script of package.json that a command runs; `unknown` for one that its words do not tell. */
function scriptRun(name: string, texts: readonly string[]): string | undefined {
  if (!/^(npm|pnpm|yarn|bun)$/.test(name)) return undefined;
  const end = texts.indexOf("--");
  const given = (end < 0 ? texts : texts.slice(0, end)).filter((text) =>
    !/^(-s|--silent)$/.test(text)
  );
  // `--prefix`, `-w` and the like choose another package, or another shell.
  if (given.some((text) => text.startsWith("-"))) return "unknown";
  const [subcommand, script] = given;
  if (/^(run|run-script)$/.test(subcommand ?? "")) return script ?? "unknown";
  if (name !== "bun" && /^(test|start|stop)$/.test(subcommand ?? "")) return subcommand;
  return name === "npm" || name === "bun" || subcommand === undefined ? "unknown" : subcommand;
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

function isThere(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}

/**
 * The program of a command that leaves the sandbox, where commands in the sandbox may have made it: what PATH
 * finds in a folder that they write. With it go programs that it finds by its name, such as `git-lfs`.
 */
export function writtenProgram(
  [first]: readonly Word[],
  { programs = [], left, hasJobs }: Pick<Scene, "programs" | "left" | "hasJobs">,
): string | undefined {
  const name = first?.text ?? "";
  if (left === undefined || name.includes("/")) return undefined;
  const view = left();
  const written = programs.filter((folder) => {
    const real = attempt(() => Deno.realPathSync(folder));
    return real !== undefined && accessAt(view, real) === "write";
  });
  // A job may make one between this look and the start.
  if (hasJobs && written.length > 0) return join(written[0]!, name);
  return written.flatMap((folder) => {
    const entries = attempt(() => [...Deno.readDirSync(folder)]) ?? [];
    return entries.filter((one) => one.name === name || one.name.startsWith(`${name}-`))
      .map((one) => join(folder, one.name));
  })[0];
}

/** True where git in the folder `at`, at or below `root`, works in another repository than in `root`. */
function isNested(at: string, root: string): boolean {
  for (; at !== root && dirname(at) !== at; at = dirname(at)) {
    if ([".git", "HEAD"].some((name) => isThere(join(at, name)))) return true;
  }
  return false;
}

/** The SHA-256 in hex of what each file holds, by its name; without those that cannot be read. */
export async function digestsOf(files: readonly RunFile[]): Promise<Map<string, string>> {
  const digests = new Map<string, string>();
  for (const { name, path, script } of files) {
    try {
      const { size } = Deno.statSync(path);
      // A read of a file of the system without a size, such as /proc/kmsg, may wait without end.
      if (size > MAX_RUN_BYTES) continue;
      const bytes = runContent(size > 0 ? await Deno.readFile(path) : new Uint8Array(), script);
      if (bytes === undefined) continue;
      digests.set(name, await digestOf(bytes));
    } catch {
      // What cannot be read, or is no JSON, has no digest: no rule covers it.
    }
  }
  return digests;
}

/** The bytes of a file, or of a script and those that run before and behind it; undefined for no script. */
function runContent(bytes: Uint8Array<ArrayBuffer>, script?: string) {
  if (script === undefined) return bytes;
  const { scripts } = JSON.parse(new TextDecoder().decode(bytes));
  if (!isObject(scripts) || typeof scripts[script] !== "string") return undefined;
  const texts = [`pre${script}`, script, `post${script}`].map((name) => scripts[name] ?? null);
  return new TextEncoder().encode(JSON.stringify(texts));
}
