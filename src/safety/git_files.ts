/** git's files and folders. @module */

import { attempt } from "../attempt.ts";
import { basename, dirname, join, resolve } from "../text/std_path.ts";
import { isRepositoryWith } from "./folder_looks.ts";
import { runInPlace } from "./in_place.ts";
import { entryAt } from "./places.ts";

/** A setting with its name and value. A comment may have been one. */
const LINE = /^([#; \t]*(?:\[[^\]\n]*\][ \t]*)?([a-z][a-z\d-]*)[ \t]*=)((?:\\\r?\n|.)*)/gim;
const SECRET_NAME = /extraheader|pass|secret|token|api-?key/i;
const SECRET_VALUE =
  /authorization|\bbearer\s|sshpass|(pass(word|wd)?|secret|token|api-?key)["']?\s*[:=]\s*(?!\*\*\*)\S|--(pass(word|wd)?|token)\s|\s(-u|--(proxy-)?(user|auth))[\s=]*["']?(?!\d+:\d)[\w.-]{1,99}:[^\s/]|\b(gh[opsru]|github_pat|glpat)[-_]\w{16}/i;
/** Passwords before a host, which may have slashes or spaces. Lengths are limited, because a command may write the text. */
const PASSWORD =
  /:\/\/[^\s"'@/:=]{1,200}:((?:(?!:\/\/)[^\s"']){0,1000}|(?!\d+\/)(?:(?!:\/\/)[^\n]){0,100})@/g;
/** The same in an address without a scheme. */
const PLAIN_PASSWORD = /(^|[\s="'])[^\s"'@/:=]{1,200}:(?!\/\/)[^\s"':]{0,300}@(?=[\w.-]{1,255}:)/gm;
const QUERY_SECRET =
  /([?&;][\w.-]{0,60}(?:token|key|secret|pass|auth|sig)[\w.-]{0,60}=)[^\s&;"'#]+/gi;

export const withoutPasswords = (text: string): string =>
  text.replace(/(?<![\w+])([\w+]{1,30}):\/\/([^\s/"]*)@/g, (address, scheme, user) =>
    // The name of a user of SSH is no secret.
    /ssh/.test(scheme) && !user.includes(":") ? address : `${scheme}://***@`)
    .replace(PASSWORD, "://***@")
    .replace(PLAIN_PASSWORD, "$1***@")
    .replace(QUERY_SECRET, "$1***");

export const withoutCredentials = (text: string): string =>
  withoutPasswords(text).replace(
    LINE,
    (line, start, name, value) =>
      SECRET_NAME.test(name) || SECRET_VALUE.test(value) ||
        /^proxy$/i.test(name) && /[^*]@/.test(value)
        ? start
        : line,
  );

export const hasCredentials = (value: string): boolean => {
  const line = `a = ${value.replace(/\s+/g, " ")}`;
  return withoutCredentials(line) !== line;
};

/**
 * Returns the folders in which git stores the data of a `.git` that is a file: the worktree's or submodule's
 * folder, and the repository's. A command may have written the file, so a folder counts only if git wrote there
 * that it belongs to this `.git`.
 */
export function gitFoldersOf(dotGit: string): string[] {
  const named = gitFileTarget(dotGit);
  const folder = named && realPathIn(named);
  if (!folder) return [];
  const back = pathIn(join(folder, "gitdir"));
  const [, worktree] = settingsIn(join(folder, "config")).findLast(([key]) => key === "worktree") ??
    [];
  const isWorktree = back !== "" && realPathIn(resolve(folder, back)) === realPathIn(dotGit);
  const isSubmodule = worktree !== undefined &&
    realPathIn(resolve(folder, worktree)) === realPathIn(dirname(dotGit));
  if (!isWorktree && !isSubmodule) return [];
  const common = realPathIn(resolve(folder, pathIn(join(folder, "commondir"))));
  // A worktree's folder is REPOSITORY/worktrees/NAME.
  const isTied = common === dirname(dirname(folder)) && isRepository(common);
  return isTied ? [folder, common] : [folder];
}

export const gitFolderOf = (tree: string): string | undefined =>
  realPathIn(gitFileTarget(join(tree, ".git")) ?? join(tree, ".git"));

/** True for the folder of a linked work tree, whose objects are those of the repository. */
export const isLinkedTree = (gitFolder: string): boolean =>
  basename(dirname(gitFolder)) === "worktrees" && entryAt(join(gitFolder, "gitdir")) !== undefined;

/** Prints a link or pipe in a folder of git that git itself follows, or a folder that cannot be listed. */
const FIND_OTHER = "find . '(' -path ./lfs -o -path ./annex -o -path ./hooks ')' -prune -o " +
  "'(' -type l -o -type p -o -type d ! -perm -500 ')' -print -quit";

/** True for a repository that may use files elsewhere, by links or as its objects. */
export function hasForeignParts(repository: string): boolean {
  const { output, fault } = runInPlace(repository, FIND_OTHER);
  return fault !== undefined || output !== "" ||
    ["objects/info/alternates", "objects/info/http-alternates", "info/grafts"]
      .some((name) => {
        const path = join(repository, name);
        return entryAt(path) !== undefined && textWithin(path, MAX_GIT_FILE)?.trim() !== "";
      });
}

/** True for a `.git` file of a worktree or submodule of a repository for which `isKnown` is true. */
export function leadsIntoKnown(dotGit: string, isKnown: (repository: string) => boolean): boolean {
  const folder = gitFileTarget(dotGit);
  // A link on the way may lead elsewhere later.
  return folder !== undefined && gitFoldersOf(dotGit)[0] === folder && isPartOf(folder, isKnown);
}

function isPartOf(folder: string, isKnown: (repository: string) => boolean): boolean {
  let above = dirname(folder);
  while (above !== "/" && !isRepository(above)) above = dirname(above);
  // Commands may write all else in git's folder.
  return /^\/(worktrees\/[^/]+|modules\/.+)$/.test(folder.slice(above.length)) &&
    (isKnown(above) || isPartOf(above, isKnown));
}

/** True if `..` follows a name in a path: the system leaves the target of a link there, and `resolve` the link. */
export const leavesName = (path: string): boolean =>
  /(^|\/)\.\.(\/|$)/.test(path.replace(/^(\.{1,2}(\/+|$))+/, ""));

/** Returns the path in a `.git` that is a file; undefined if it has no path, or one that git may read differently. */
export function gitFileTarget(dotGit: string): string | undefined {
  const named = /^gitdir: ([^\0\ufffd]+)$/.exec(pathIn(dotGit))?.[1];
  return named && !leavesName(named) ? resolve(dirname(dotGit), named) : undefined;
}

/** True for a folder that git considers a repository, also if that takes an entry `more`. */
export function isRepository(folder: string, more = ""): boolean {
  return isRepositoryWith((name) =>
    name.toLowerCase() === more.toLowerCase() || entryAt(join(folder, name)) !== undefined
  );
}

export function isInsideGit(folder: string): boolean {
  return isRepository(folder) || dirname(folder) !== folder && isInsideGit(dirname(folder));
}

const MAX_GIT_FILE = 1_000_000;
const MAX_PATH_FILE = 4096;

/** Opens files without waiting at a pipe. Loading it takes 40 ms. */
let nodeFs: typeof import("node:fs") | undefined;

/** Prepares for programs that run meanwhile, and may put a pipe in the place of a file. */
export const expectPipes = async (): Promise<void> => {
  nodeFs ??= await import("node:fs");
};

/** Returns the bytes of a file; undefined if it is larger, or cannot be read. */
const bytesWithin = (path: string, maxBytes = Infinity): Uint8Array | undefined =>
  attempt(() => {
    const { isFile, size } = Deno.statSync(path);
    if (!isFile || size > maxBytes) return undefined;
    if (nodeFs === undefined) return Deno.readFileSync(path);
    const { constants, openSync, fstatSync, readFileSync, closeSync } = nodeFs;
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      return fstatSync(file).isFile() ? readFileSync(file) : undefined;
    } finally {
      closeSync(file);
    }
  });

/** Returns the text of a file; undefined if it is larger, or cannot be read. For git, a mark of UTF-8 is text. */
export const textWithin = (path: string, maxBytes?: number): string | undefined => {
  const bytes = bytesWithin(path, maxBytes);
  return bytes && new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
};

export const smallFile = (path: string): string => textWithin(path, MAX_GIT_FILE) ?? "";

export const pathFile = (path: string): string => textWithin(path, MAX_PATH_FILE) ?? "";

/** Returns the text of a file without the line breaks at its end, as git reads a path: spaces are part of it. */
const pathIn = (path: string): string => pathFile(path).replace(/(?<![\r\n])[\r\n]+$/, "");

/** Returns the branch, or the commit, that HEAD in git's folder names; undefined for another text. */
export function headName(gitFolder: string): string | undefined {
  // A branch, in characters that a terminal shows as they are, or a commit.
  const head = /^(?:ref: refs\/(?:heads\/)?([^\s\p{Cc}\p{Bidi_C}\ufffd]+)|([\da-f]{40,64}))\n*$/u;
  const [, branch, commit] = head.exec(pathFile(join(gitFolder, "HEAD"))) ?? [];
  return branch ?? commit?.slice(0, 7);
}

const MAX_INNER_LEVELS = 5;

/** Returns the folders of submodules and further work trees in git's folder. */
export const foldersOf = (repository: string, levels = MAX_INNER_LEVELS): string[] =>
  ["modules", "worktrees"].flatMap((name) => foldersBelow(join(repository, name), levels));

function foldersBelow(folder: string, levels: number): string[] {
  const entries = levels > 0 && attempt(() => [...Deno.readDirSync(folder)]) || [];
  return entries.filter(({ isDirectory }) => isDirectory).map(({ name }) => join(folder, name))
    .flatMap((at) =>
      isRepository(at) ? [at, ...foldersOf(at, levels - 1)] : foldersBelow(at, levels - 1)
    );
}

/** A setting on one line. Section names may precede it. */
const SETTING =
  /^\ufeff?[ \t]*(?:\[(?:"(?:\\.|[^"\\\n])*"|[^\]"\n])*\][ \t]*)*([a-z][a-z0-9-]*)[ \t]*=[ \t]*((?:"(?:\\.|[^"\\\n])*"|\\.|[^"\\#;\n])*)/gim;

/** Returns the settings in a file of git: the last word of each name, in small letters, and its value. */
export const settingsIn = (file: string): [key: string, value: string][] =>
  [...smallFile(file).replace(/\\\r?\n/g, "").matchAll(SETTING)].map(([, name, text]) => [
    name!.toLowerCase(),
    text!.trimEnd().replace(/\\(.)|"/g, "$1"),
  ]);

const realPathIn = (path: string): string | undefined => attempt(() => Deno.realPathSync(path));
