/** The hooks, programs and files that settings of git and ssh, variables, and the user's hooks and servers name. @module */

import { attempt } from "../attempt.ts";
import { dirname, join, resolve } from "../text/std_path.ts";
import type { Finding } from "./folder_looks.ts";
import { foldersOf, gitFoldersOf, settingsIn, smallFile } from "./git_files.ts";
import { entryAt } from "./places.ts";

const MAX_INCLUDED = 100;

/** A setting with a command that git runs by itself, and the path of its program or script. */
const RUN =
  /^(?:askpass|clean|cmd|command|difffilter|driver|editor|external|fsmonitor|helper|pager|process|program|smudge|sshcommand|textconv) [!\s]*(?:(?:\w*sh|python[\d.]*|node|perl|ruby)\s+(?=[\w.])|(?=[\w.-]*\/))([\w./-]+)/;
/** The maximum number of words of a file that are looked for as files: 50 ms. */
const MAX_SETTING_WORDS = 2000;
/** A value whose further words may be the scripts of an interpreter. */
const INTERPRETED = /(?:^|[^\w.-])(?:(?:ba|da|k|z)?sh|python[\d.]*|node|perl|ruby|php|lua)\s/;
/** A variable in a command line, with the text that the shell uses without it. */
const LINE_VARIABLE = /\$(?:(\w+)|\{(\w+)(?!\w)(:?[-=])?([^{}]*)\})/g;
const NO_PROGRAM = /^(merge|remote|rebase|url|fetch|push|pushurl|name|email|description)$/;

/** Separates the words of a command line, or the command lines of a list such as BROWSER. */
const BETWEEN = /[\s`$();:|&<>=!]+/;
const QUOTED_WORD = /(?:"[^"]*"|'[^']*'|\\.|[^\s"'\\`$();:|&<>=!])+/g;

/** Returns the words of a shell's command line, with the values of variables, and then those that quotes make. */
function wordsOfLine(line: string, home: string, max?: number): string[] {
  const text = line.replace(LINE_VARIABLE, (_, name, braced = name, sign, usual) =>
    // git and the shell set it to the work tree.
    (braced === "HOME" ? home : braced === "PWD" ? "" : Deno.env.get(braced)) ??
      (sign ? usual : ""));
  // No shell reads some lines, as that of GIT_SSH: all of it is a path.
  const whole = [text, ...text.match(QUOTED_WORD) ?? []]
    .map((word) => word.replace(/["']|\\(?=.)/g, "")).filter((word) => BETWEEN.test(word));
  return [...text.replace(/["']/g, "").split(BETWEEN, max), ...whole].slice(0, max);
}

/** Returns the path that a word names. `..` after a name stays in it: where it leads changes with what has that name. */
function pathFrom(folder: string, word: string, home: string): string {
  const path = word.replace(/^~(?=\/)/, home);
  const names = path.split("/");
  const leaves = names.some((name, i) => name === ".." && /[^.]/.test(names[i - 1] ?? ""));
  if (!leaves) return resolve(folder, path);
  return path.startsWith("/") ? path : `${folder}/${path}`;
}

/** Returns the files that words name. A path after what only the shell knows starts in `folder`, as most do. */
const filesAmong = (words: string[], folder: string, home: string, isRun = true): string[] =>
  // A first word without a slash is a program of PATH.
  words.filter((word, i) => word.includes("/") || isRun && i > 0 && word).flatMap((word) => [
    pathFrom(folder, word, home),
    ...word.startsWith("/") ? [join(folder, word)] : [],
  ]).filter(isFile);

/** Variables with command lines that this program, git or others of the user start. */
const COMMAND_VARIABLE =
  /^(EDITOR|VISUAL|BROWSER|PAGER|GIT_\w*(SSH|COMMAND|EDITOR|PAGER|DIFF|CONFIG_\w+)|\w+_ASKPASS)$/;

/** Returns the files that the user's hooks and MCP servers name which have more rights than commands. */
function filesOfOwn(own: readonly string[], folder: string, home: string): string[] {
  const files: string[] = [];
  const add = (definition: unknown) => {
    const words: string[] = [""];
    JSON.stringify(definition, (_, value) => {
      if (typeof value === "string") words.push(...wordsOfLine(value, home));
      return value;
    });
    // Such as that of `cwd`, or one that a command line enters.
    const folders = words.map((word) => pathFrom(folder, word, home)).filter(leadsToFolder);
    for (const at of new Set(folders)) files.push(...filesAmong(words, at, home));
  };
  for (const path of own.flatMap((at) => [join(at, "hooks.json"), join(at, "mcp.json")])) {
    attempt(() =>
      JSON.parse(smallFile(path).replace(/^\ufeff/, ""), (_, value) => {
        if (value?.sandbox === "off" || value?.network === true || value?.env) add(value);
        return value;
      })
    );
  }
  return files;
}

/** Returns the files that variables, or hooks and servers with more rights than commands, name. */
export const variableFindings = (
  folder: string,
  { home = "~", own = [] }: { home?: string | undefined; own?: readonly string[] } = {},
): Finding[] =>
  Object.entries(Deno.env.toObject()).filter(([name]) => COMMAND_VARIABLE.test(name))
    .flatMap(([, line]) => filesAmong(wordsOfLine(line, home), folder, home))
    .concat(filesOfOwn(own, folder, home))
    .map((path) => ({ path, access: "read", named: "file" }));

const SSH_INCLUDE = /^[ \t]*include[ \t=]+(.*)$/gim;

/** Returns what the user's settings of ssh include, and the files that they name: a push uses them with the keys. */
export function sshFindings(home = "~"): Finding[] {
  const folder = join(home, ".ssh");
  const [files, folders] = [new Set([join(folder, "config")]), new Set<string>()];
  const programs: string[] = [];
  for (const file of files) {
    if (files.size > MAX_INCLUDED) break;
    const text = smallFile(file);
    programs.push(...filesAmong(wordsOfLine(text, home, MAX_SETTING_WORDS), folder, home, false));
    const lines = [...text.matchAll(SSH_INCLUDE)].map(([, line]) => line!);
    for (const word of lines.flatMap((line) => line.match(/"[^"]*"|[^\s"]+/g) ?? [])) {
      const path = resolve(folder, word.replaceAll('"', "").replace(/^~(?=\/)/, home));
      const around = path.replace(/\/[^/]*[*?[].*/, "");
      // New files may match a pattern, too.
      if (around !== path) folders.add(around);
      const names = around === path ? [""] : entriesOf(around).map(({ name }) => name);
      for (const name of names) files.add(join(around, name));
    }
  }
  const access = "read";
  return [
    ...[...files, ...programs].map((path) => ({ path, access, named: "file" } as const)),
    ...[...folders].map((path) => ({ path, access, named: "hooks" } as const)),
  ];
}

/**
 * Returns git's files, and the hooks, programs and files that its settings name, the user's own included. Without the
 * path of a `.git`, only the user's own settings count.
 */
export function gitFindings(
  path: string | undefined,
  worktree: string,
  { home = "~", own = [] }: { home?: string | undefined; own?: readonly string[] } = {},
): Finding[] {
  const folders = path === undefined ? [] : [path, ...gitFoldersOf(path)];
  const known = [
    ...folders.flatMap((at) => [at, ...foldersOf(at)]).flatMap((
      at,
    ) => [join(at, "config"), join(at, "config.worktree")]),
    ...["/etc/gitconfig", join(home, ".gitconfig"), Deno.env.get("GIT_CONFIG_GLOBAL") ?? []].flat(),
    ...own.map((at) => join(dirname(at), "git/config")),
  ].filter(entryAt);
  const settings = new Set(known);
  const hooks = [
    ...folders.map((at) => join(at, "hooks")).filter((at) => entryAt(at)?.isSymlink),
    ...[Deno.env.get("GIT_TEMPLATE_DIR") ?? []].flat(),
  ];
  const programs: string[] = [];
  for (const file of settings) {
    if (settings.size > MAX_INCLUDED + known.length) break;
    let left = MAX_SETTING_WORDS;
    for (const [key, value] of settingsIn(file)) {
      const from = (folder: string, word: string) => pathFrom(folder, word, home);
      // Includes are relative to the file that names them, hooks and programs to the work tree.
      if (key === "path") settings.add(from(dirname(file), value));
      else if (/^(hookspath|templatedir)$/.test(key)) hooks.push(from(worktree, value));
      else if (!NO_PROGRAM.test(key)) {
        const words = wordsOfLine(value, home, left);
        left -= words.length;
        // For a new work tree, the branch in `co = checkout main` is no program `main`.
        const isRun = path !== undefined || INTERPRETED.test(value);
        programs.push(...filesAmong(words, worktree, home, isRun));
        const [, run] = RUN.exec(`${key} ${words.join(" ")}`) ?? [];
        if (run) programs.push(from(worktree, run));
      }
    }
  }
  const linked = [...folders.map((at) => join(at, "hooks")), ...hooks].flatMap(hookLinks);
  const included = [...settings].slice(known.length);
  const access = "read";
  return [
    ...folders.map((one) => ({ path: one, access, isGitFolder: true } as const)),
    // An existing one keeps git from reading settings beside a broken repository.
    ...[join(worktree, "commondir")].filter(entryAt).map((one) => ({ path: one, access } as const)),
    ...known.map((one) => ({ path: one, access, isSettings: true } as const)),
    ...included.map((one) => ({ path: one, access, named: "file", isSettings: true } as const)),
    ...[...linked, ...programs].map((one) => ({ path: one, access, named: "file" } as const)),
    ...hooks.map((one) => ({ path: one, access, named: "hooks" } as const)),
  ];
}

const isFile = (path: string): boolean => attempt(() => Deno.statSync(path))?.isFile === true;
const leadsToFolder = (path: string): boolean =>
  attempt(() => Deno.statSync(path))?.isDirectory === true;
const entriesOf = (folder: string) => attempt(() => [...Deno.readDirSync(folder)]) ?? [];
const hookLinks = (folder: string): string[] =>
  entriesOf(folder).filter(({ isSymlink }) => isSymlink).map(({ name }) => join(folder, name));
