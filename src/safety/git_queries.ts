/** Queries of git about repositories, which run no programs of theirs. @module */

import { attempt } from "../attempt.ts";
import { gitFoldersOf, hasCredentials, smallFile, textWithin } from "./git_files.ts";
import { gitFindings } from "./named_files.ts";
import { outputIn, type WaitTime, waitTime } from "./in_place.ts";
import { namesIn } from "./path_table.ts";
import type { Right } from "../types/confine.ts";
import type { GitSetting, Settings } from "./settings.ts";
import { BY_COMMAND, harmlessIfMade, settingVariables } from "./shell/git_command.ts";
import { entryAt, linksOn, realPathOf } from "./places.ts";
import { repositoryAround } from "./repositories.ts";
import { type View, writtenFolders } from "./view.ts";
import { oneLine } from "../text/one_line.ts";
import { isWithin } from "../text/paths.ts";
import { dirname, join, resolve } from "../text/std_path.ts";
import { findProgram, programFolders } from "../find_program.ts";

/** The location of git, and of the user's settings. */
export interface GitSource {
  folder: string;
  /** The working directory. No program in it runs. */
  root: string;
  programs: readonly string[];
  home: string | undefined;
  time: WaitTime;
}

/** Returns git's answers, each of which is asked for once: a call is decided in several steps. */
export function gitQueries(
  usual: Omit<GitSource, "folder" | "time">,
): Omit<NonNullable<Settings["git"]>, "isWritten"> {
  const time = waitTime();
  const answers = new Map<string, { ask: () => unknown; answer: unknown }>();
  const once =
    <A extends unknown[], T>(name: string, query: (source: GitSource, ...given: A) => T) =>
    (folder: string, ...given: A): T => {
      const key = JSON.stringify([name, folder, ...given]);
      const ask = () => query({ ...usual, folder, time }, ...given);
      const known = answers.get(key) ?? { ask, answer: ask() };
      answers.set(key, known);
      return known.answer as T;
    };
  const paths = once("paths", gitPaths);
  const named = once("named", (source) => gitNamed(source, paths(source.folder)));
  return {
    settings: once("settings", (source) => gitSettings(source)),
    named: (folder) => named(folder).flatMap(({ shown }) => shown ?? []),
    submodules: once("submodules", gitSubmodules),
    addresses: once("addresses", gitAddresses),
    folders: (folder) => paths(folder).of.flatMap((path) => realPathOf(path) ?? []),
    changed: once("changed", gitChanged),
    hasChanged: () => {
      Object.assign(time, waitTime());
      return [...answers.values()].some(({ ask, answer }) =>
        JSON.stringify(ask()) !== JSON.stringify(answer)
      );
    },
  };
}

/** Returns git's settings: all in force for the folder, or those that `from` names; undefined if git cannot list them. */
export function gitSettings(
  source: GitSource,
  from: readonly string[] = ["--includes"],
): GitSetting[] | undefined {
  const listed = gitOutput(
    source,
    ["config", ...from, "--list", "--show-scope", "-z"],
    MAX_SETTINGS,
  );
  const fields = listed?.split("\0");
  return fields?.flatMap((scope, at) => {
    if (at % 2 === 1 || scope === "") return [];
    const [name = "", ...value] = (fields[at + 1] ?? "").split("\n");
    // A name without a value means true.
    return [{ scope, name, value: value.length === 0 ? "true" : value.join("\n") }];
  });
}

/**
 * Returns the settings of a repository that a command made, without what git runs or follows, and if that is all of
 * them; undefined if nothing has to be written. git reads a copy, which no program changes.
 *
 * @param text undefined for settings that cannot be read
 * @param own a folder that no program sees
 * @param marks true if they have to say that a command made the repository
 */
export function madeSettings(
  source: GitSource,
  text: string | undefined,
  { own, gitFolder, marks }: { own: string; gitFolder: string; marks: boolean },
): { text: string; isWhole: boolean } | undefined {
  const copy = join(own, crypto.randomUUID());
  const stated = text === undefined ? undefined : attempt(() => {
    Deno.writeTextFileSync(copy, text, { mode: 0o600 });
    return gitSettings({ ...source, folder: "/" }, ["--no-includes", "--file", copy]);
  });
  attempt(() => Deno.removeSync(copy));
  const left = harmlessIfMade(stated ?? [], gitFolder, source.folder);
  const isWhole = left.length === stated?.length;
  const isMarked = !marks || left.some(({ name }) => name === BY_COMMAND);
  if (isWhole && isMarked) return undefined;
  const mark = isMarked ? [] : [{ name: BY_COMMAND, value: "true" }];
  return { text: settingsText([...left, ...mark]), isWhole };
}

/** Returns the text of a file with settings. */
export function settingsText(settings: readonly Pick<GitSetting, "name" | "value">[]): string {
  let last = "";
  return settings.map(({ name, value }) => {
    const [, section, part, key] = /^([^.]*)(?:\.(.*))?\.([^.]*)$/.exec(name)!;
    const header = `[${section}${part === undefined ? "" : ` ${JSON.stringify(part)}`}]\n`;
    const shown = header === last ? "" : header;
    last = header;
    return `${shown}\t${key} = ${/^[\w.:/@-]+$/.test(value) ? value : JSON.stringify(value)}\n`;
  }).join("");
}

const HOOK =
  /^(update|(applypatch|commit|fsmonitor|p4|post|pre|prepare|proc|push|reference|sendemail)-[a-z-]+)$/i;

/** A file that git may run or follow: as a question shows it, if that does not show settings, and all that changes with it. */
interface GitNamed {
  shown?: string;
  state: string;
}

/** The folders in which git looks for what it runs, and for further remotes. */
const NAMING = ["hooks", "remotes", "branches"];

/** Returns git's folder and the repository's, and those of {@linkcode NAMING}. */
function gitPaths(source: GitSource): { of: string[]; naming: string[]; isUnclear: boolean } {
  const args = ["--git-dir", "--git-common-dir", ...NAMING.flatMap((kind) => ["--git-path", kind])];
  const listed = gitOutput(source, ["rev-parse", "--path-format=absolute", ...args]);
  const paths = listed?.split("\n").slice(0, -1) ?? [];
  // A name with a line break makes two of a path.
  const isWhole = paths.length === 2 + NAMING.length;
  const [of, naming] = isWhole ? [paths.slice(0, 2), paths.slice(2)] : [[], []];
  return { of, naming, isUnclear: listed !== undefined && !isWhole };
}

/** Returns the hooks that git runs in a folder, the files by which it knows further remotes, and those that settings name. */
export function gitNamed(
  source: GitSource,
  { naming, isUnclear } = gitPaths(source),
): GitNamed[] {
  const [top = source.folder] = repositoryAround(source.folder);
  const stated = gitFindings(join(top, ".git"), top, source).flatMap(({ path, named }) =>
    named === "file" ? { state: wholeState(path) } : []
  );
  const found = NAMING.flatMap((kind, at) => {
    const path = naming[at] ?? "";
    return namesIn(path).sort().filter((name) => {
      const { isFile, mode } = attempt(() => Deno.statSync(join(path, name))) ?? {};
      return isFile && (kind !== "hooks" || HOOK.test(name) && ((mode ?? 0o111) & 0o111) !== 0);
    }).map((name) => ({ shown: oneLine(`${kind}/${name}`), state: wholeState(join(path, name)) }));
  });
  const unclear = isUnclear ? [{ shown: "hooks in a folder with a line break", state: "" }] : [];
  return [...stated, ...found, ...unclear];
}

/** Returns all that changes with a file. A program can set `mtime`, and `ctime` has whole seconds. */
const wholeState = (path: string): string => {
  const { dev, ino, size, mode, mtime, ctime } = attempt(() => Deno.statSync(path)) ?? {};
  return JSON.stringify([path, dev, ino, size, mode, mtime, ctime, smallFile(path)]);
};

/** Returns the addresses of a remote that settings name, as git rewrites them; empty for another remote. */
function gitAddresses(source: GitSource, remote: string, isPush: boolean): string[] {
  const args = ["get-url", "--all", ...isPush ? ["--push"] : [], "--", remote];
  return gitOutput(source, ["remote", ...args])?.split("\n").filter(Boolean) ?? [];
}

function gitSubmodules(source: GitSource): string[] {
  const args = ["-c", "core.fsmonitor=false", "ls-files", "-s", "-z", ":/"];
  return gitOutput(source, args)?.split("\0").flatMap((line) => {
    const at = resolve(source.folder, line.replace(/^.*?\t/, ""));
    return line.startsWith("160000") && entryAt(`${at}/.git`) ? [at] : [];
  }) ?? [];
}

/** True if a checkout of the index of `gitFolder` may write files of git's own, or outside of the work tree. */
export function indexMayLeadAway(source: GitSource, gitFolder: string): boolean {
  // The settings may name another work tree, of which the folder is a part.
  const where = ["-c", "core.fsmonitor=false", "--work-tree", ".", "--git-dir", gitFolder];
  const names = gitOutput(source, [...where, "ls-files", "-s", "-z"]);
  return names === undefined || /[\t/](|\.\.?|\.git|git~1)(\/|\0)/i.test(names);
}

/** Git loads missing objects by any transport that a repository names. Here it uses no transport. */
const WITHOUT_TRANSPORT = { GIT_ALLOW_PROTOCOL: "none", GIT_NO_LAZY_FETCH: "1" };

/** The maximum number of bytes of an answer, and of all settings. A repository of a few bytes may have long ones. */
const MAX_GIT_ANSWER = 20_000_000;
const MAX_SETTINGS = 1_000_000;
/** Prints what a program prints, up to `$1` bytes, and `$0` if it succeeded. */
const LIMITED = 'max=$1; shift; { "$@" && printf %s "$0"; } | head -c "$max"';

function gitOutput(
  source: GitSource,
  args: readonly string[],
  max?: number,
): string | undefined {
  const bytes = gitBytes(source, args, max);
  return bytes && new TextDecoder().decode(bytes);
}

function gitBytes(
  source: GitSource,
  args: readonly string[],
  max = MAX_GIT_ANSWER,
): Uint8Array | undefined {
  const mark = crypto.randomUUID();
  // A shell takes milliseconds, and git's own paths are short.
  const isLimited = Deno.build.os !== "windows" && args[0] !== "rev-parse";
  const limited = isLimited ? ["/bin/sh", "-c", LIMITED, mark, `${max + mark.length}`] : [];
  const ran = runWithGit(source, (git) => [...limited, git, "-C", source.folder, ...args]);
  if (!isLimited) return ran?.success ? ran.stdout : undefined;
  const end = (ran?.stdout.length ?? 0) - mark.length;
  const isWhole = new TextDecoder().decode(ran?.stdout.subarray(Math.max(end, 0))) === mark;
  return isWhole ? ran!.stdout.subarray(0, end) : undefined;
}

/** Runs git. A file of the repository may be a pipe without a writer. */
function runWithGit(
  { root, programs, home, time }: GitSource,
  wordsFor: (git: string) => readonly string[],
): Deno.CommandOutput | undefined {
  const folders = programFolders(root, programs.join(":"));
  const [git, timeout] = ["git", "timeout"].map((name) => findProgram(name, folders, root));
  const config = Deno.env.get("XDG_CONFIG_HOME");
  const env = {
    ...WITHOUT_TRANSPORT,
    PATH: folders.join(":"),
    ...home && { HOME: home },
    ...config && { XDG_CONFIG_HOME: config },
  };
  return git === undefined ? undefined : outputIn(time, timeout, wordsFor(git), env);
}

interface IndexedFile {
  blob: string;
  size: number;
  /** Its inode, size and time, in ms, when git saw that it has the content of the blob. */
  seen: string;
}

const INDEXED =
  /\d+ (\S+) \d\t([^\0]*)\0.*\n {2}mtime: (\d+):(\d+)\n {2}dev: \d+\tino: (\d+)\n.*\n {2}size: (\d+).*\n/gy;

/** Returns the files of the folder that the index has, by their relative paths. No filter runs. */
export function gitIndexed(source: GitSource): Map<string, IndexedFile> {
  const args = ["-c", "core.fsmonitor=false", "ls-files", "-s", "-z", "--debug"];
  const files = new Map<string, IndexedFile>();
  const ran = runWithGit(source, (git) => [git, "-C", source.folder, ...args]);
  for (const found of new TextDecoder().decode(ran?.stdout).matchAll(INDEXED)) {
    const [, blob = "", path = "", seconds, ns, ino, size] = found;
    const seen = [ino, size, Number(seconds) * 1000 + Math.floor(Number(ns) / 1e6)].join(":");
    // A coarse clock does not show that a file changed since.
    if (ns !== "0") files.set(path, { blob, size: Number(size), seen });
  }
  return files;
}

/** Prints the objects that the arguments from `$3` on name, up to `$2` bytes. `$0` is git. */
const PRINT_OBJECTS = `folder=$1 max=$2; shift 2
printf '%s\\n' "$@" | "$0" -C "$folder" cat-file --batch | head -c "$max"`;

/** Returns a reader of files in the index: undefined for one that a filter or a command has changed. */
export function indexReader(source: GitSource) {
  const asked: IndexedFile[] = [];
  let read: Promise<Map<string, Uint8Array<ArrayBuffer>>>;
  return async (file: IndexedFile): Promise<Uint8Array | undefined> => {
    const { blob, size } = file;
    // One process reads all that are asked for at once.
    if (asked.push(file) === 1) read = blobsOf(source, asked);
    const bytes = (await read).get(blob);
    const named = await new Blob([`blob ${size}\0`, bytes ?? ""]).arrayBuffer();
    const digest = await crypto.subtle.digest(blob.length === 40 ? "SHA-1" : "SHA-256", named);
    return new Uint8Array(digest).toHex() === blob ? bytes : undefined;
  };
}

async function blobsOf(source: GitSource, asked: IndexedFile[]) {
  await undefined; // until all of them are known
  const files = asked.splice(0);
  const max = files.reduce((sum, { size }) => sum + size, MAX_SETTINGS);
  const given = [source.folder, `${max}`, ...files.map(({ blob }) => blob)];
  const ran = runWithGit(
    { ...source, time: waitTime() },
    (git) => ["/bin/sh", "-c", PRINT_OBJECTS, git, ...given],
  );
  const blobs = new Map<string, Uint8Array<ArrayBuffer>>();
  for (let rest = ran?.stdout ?? new Uint8Array(); rest.includes(10);) {
    const line = new TextDecoder().decode(rest.subarray(0, rest.indexOf(10) + 1));
    // A missing one has no size.
    const [blob = "", , size = "-1"] = line.split(" ");
    const end = line.length + Number(size);
    blobs.set(blob, rest.slice(line.length, end));
    rest = rest.subarray(end + 1);
  }
  return blobs;
}

/** Returns the commit, the folder of objects and the files of a work tree; or why it cannot be copied: "it ...". */
export function gitWorkTree(source: GitSource) {
  const ask = (...args: string[]) => gitOutput(source, ["-c", "core.fsmonitor=false", ...args]);
  const named = ask("rev-parse", "--path-format=absolute", "--git-path", "objects")?.trim();
  const objects = named && realPathOf(named);
  if (!objects || /[\n"#]/.test(objects)) return "is in no repository that git can read";
  const commit = ask("rev-parse", "-q", "--verify", "HEAD^{commit}")?.trim();
  if (!commit) return "has no commit yet";
  const [index, names] = ["-s", "-co"].map((which) =>
    ask("ls-files", "-z", which, "--exclude-standard")?.split("\0").filter(Boolean)
  );
  if (!index || !names) return "is too large";
  if (index.some((entry) => entry.startsWith("160000"))) return "has submodules";
  return { commit, objects, names: [...new Set(names)] };
}

/** Makes a repository in a new folder, with a commit and the objects of another one. @throws {Error} if git fails. */
export function makeRepository(source: GitSource, from: Record<"commit" | "objects", string>) {
  const { commit, objects } = from;
  const format = commit.length > 40 ? "1\n[extensions]\n\tobjectFormat = sha256" : "0";
  const files = {
    HEAD: `${commit}\n`,
    config: `[core]\n\trepositoryFormatVersion = ${format}\n`,
    "objects/info/alternates": `${objects}\n`,
    "refs/heads/.keep": "",
    "packed-refs": gitOutput({ ...source, folder: objects }, ["show-ref"]) ?? "",
  };
  for (const [name, text] of Object.entries(files)) {
    const path = join(source.folder, ".git", name);
    Deno.mkdirSync(dirname(path), { recursive: true });
    Deno.writeTextFileSync(path, text);
  }
  const quiet = "-c core.fsmonitor=false -c core.hooksPath=/dev/null read-tree".split(" ");
  if (gitOutput(source, [...quiet, commit]) === undefined) throw new Error("git cannot read HEAD");
}

/** Returns the absolute paths of files that change if a subcommand goes to a revision, or applies it. */
function gitChanged(source: GitSource, name: string, revision: string): string[] {
  const [root = source.folder] = repositoryAround(source.folder);
  const from = /^(cherry-pick|revert)$/.test(name) ? ["--root", "--no-commit-id"] : ["HEAD"];
  const args = ["diff-tree", "-r", "--name-only", "-z", ...from, revision, "--"];
  const names = gitOutput(source, ["-c", "core.fsmonitor=false", ...args])?.split("\0") ?? [];
  return names.filter(Boolean).map((path) => join(root, path));
}

/** Returns the absolute paths of files that a stash changes; undefined if that is not certain. */
export function gitStashed(
  source: GitSource,
  gitFolder: string,
  tree: string,
  stash: string,
): string[] | undefined {
  if (!/^[\da-f]{40,64}$/.test(stash)) return undefined;
  const ask = (...args: string[]) => gitOutput(source, ["--git-dir", gitFolder, ...args]);
  // A third parent has files that git did not know.
  const parents = ask("rev-list", "--parents", "-n1", stash)?.trim().split(" ").slice(1);
  if (parents?.length !== 2) return undefined;
  return ask("diff-tree", "-r", "--name-only", "-z", parents[0]!, stash, "--")?.split("\0")
    .filter(Boolean).map((path) => join(tree, path));
}

/** Lets pushed branches track the remote's: `git push -u` cannot, as the sandbox protects the settings. */
export function trackPushed(
  source: GitSource,
  { tracks, gitFolder = "" }: Partial<Right>,
): string[] {
  if (tracks === undefined) return [];
  const ask = (...args: string[]) => gitOutput(source, ["--git-dir", gitFolder, ...args]);
  const [remote = "origin", ...refs] = tracks;
  const head = ask("symbolic-ref", "--short", "-q", "HEAD")?.trim();
  const nameOf = (ref: string) => ref === "HEAD" ? head ?? ref : ref.replace(/^refs\/heads\//, "");
  return (refs.length > 0 ? refs : ["HEAD"]).flatMap((ref) => {
    const [from = "", to = from] = ref.split(":");
    const [branch, merged] = [nameOf(from), nameOf(to)];
    const isSet = ask("branch", `--set-upstream-to=${remote}/${merged}`, branch) !== undefined;
    return isSet ? [`${branch} tracks ${merged} of ${remote}`] : [];
  });
}

const SHARED =
  /^(author|committer|user)\.(name|email)$|^(alias|diff|filter|merge|rebase|rerere|column|color|i18n|safe|init)\.|^core\.(abbrev|autocrlf|commentchar|eol|filemode|precomposeunicode|quotepath|safecrlf|whitespace)$|^(branch|pull|status|tag|log)\.\w+$/;

/** The paths of files in the sandbox with the patterns of what git ignores, and with a setting that names one. */
const IGNORE_FILE = "/dev/gitignore";
const IGNORE_SETTING = "/dev/gitconfig";

const globOf = (path: string): string => path.replace(/[*?[\]\\\0- ]/g, "?");

/**
 * Returns the files with the patterns of what git ignores in the sandbox, and the settings that name them: the user's,
 * and in its repository what is hidden, which git cannot add, and the paths `made` for the sandbox. Returns undefined
 * if the repository has a file of its own for that.
 */
function ignoredTexts(
  settings: readonly GitSetting[],
  view: View,
  { home = "/", made = [] }: { home: string | undefined; made: readonly string[] | undefined },
): { texts: [path: string, text: string][]; named: [name: string, value: string][] } | undefined {
  const usual = `${Deno.env.get("XDG_CONFIG_HOME") || "~/.config"}/git/ignore`;
  const { scope = "global", value = usual } =
    settings.findLast(({ name }) => name === "core.excludesfile") ?? {};
  const file = resolve(view.folder, value.replace(/^~(?=\/)/, home));
  if (!/^(global|system)$/.test(scope)) return undefined;
  // A command may put a link to a hidden file there.
  const isSafe = !writtenFolders(view).some((root) =>
    isWithin(root, file) || isWithin(root, realPathOf(file) ?? root) ||
    linksOn(root, file).length > 0
  );
  const textOf = (...paths: string[]) =>
    [isSafe ? smallFile(file) : "", ...paths.map(globOf)].join("\n").replaceAll("\ufffd", "*");
  const repositories = (view.repositories ?? []).toSorted((a, b) => b.length - a.length);
  const hidden = [...view.places].flatMap(([path, access]) => access === "hidden" ? path : []);
  const around = (path: string) =>
    repositories.find((at) => isWithin(dirname(at), path) && dirname(at) !== path) ?? "/";
  const inTree = (path: string) => path.slice(dirname(around(path)).length);
  const texts: [string, string][] = [[IGNORE_FILE, textOf(...made.map(inTree))]];
  const named: [string, string][] = [["core.excludesFile", IGNORE_FILE]];
  const { "/": _, ...groups } = Object.groupBy(hidden, around);
  for (const [at, paths = []] of Object.entries(groups)) {
    const [path, setting] = [IGNORE_FILE, IGNORE_SETTING].map((name) => name + named.length);
    texts.push([path!, textOf(...[...made, ...paths].map(inTree))]);
    texts.push([setting!, `[core]\n\texcludesFile = ${path}\n`]);
    const folder = globOf(gitFoldersOf(at)[0] ?? realPathOf(at) ?? at);
    named.push([`includeIf.gitdir:${folder}.path`, setting!]);
  }
  return { texts, named };
}

/** The maximum size of an index that is searched, in bytes, and of files in it that commands see. */
const MAX_INDEX = 50_000_000;
const MAX_TRACKED = 20;
const searchedIndexes = new Map<string, { state: string; texts: [string, Uint8Array][] }>();

/**
 * Returns the hidden files that the index of a repository has, with its contents, which commands can read anyway. git
 * would fail if it could not open them. It takes them for unchanged, and adds no change that is hidden.
 */
function trackedTexts(
  source: GitSource,
  { places, repositories = [] }: View,
  isWritten: (path: string) => boolean,
): [path: string, text: Uint8Array][] {
  const hidden = [...places].flatMap(([path, access]) => access === "hidden" ? path : []);
  return repositories.flatMap((at) => {
    const tree = `${dirname(at)}/`;
    const names = hidden.filter((path) => path.startsWith(tree)).map((path) =>
      path.slice(tree.length)
    );
    const info = names.length > 0 ? entryAt(`${at}/index`) : undefined;
    // A program that writes it may lead it to the user's objects elsewhere.
    if (!info?.isFile || info.size > MAX_INDEX || isWritten(at)) return [];
    const state = JSON.stringify([names, info.size, info.ino, info.mtime]);
    const last = searchedIndexes.get(at);
    if (last?.state === state) return last.texts;
    const index = textWithin(`${at}/index`) ?? "";
    const tracked = names.filter((name) => index.includes(`${name}\0`)).slice(0, MAX_TRACKED);
    const texts = tracked.flatMap((name): [string, Uint8Array][] => {
      const args = ["-c", "core.fsmonitor=false", "--git-dir", at, "cat-file", "blob", `:${name}`];
      const text = gitBytes(source, args);
      return text === undefined ? [] : [[tree + name, text]];
    });
    searchedIndexes.set(at, { state, texts });
    return texts;
  });
}

/**
 * Returns the files, with their texts, and the variables that git gets in the sandbox.
 *
 * @param stated the settings for a command of git
 */
export function gitInputs(
  source: GitSource,
  view: View,
  { stated, made, isWritten }: {
    stated?: readonly GitSetting[] | undefined;
    made?: readonly string[] | undefined;
    isWritten: (path: string) => boolean;
  },
): { seen: View; texts: Map<string, string | Uint8Array>; variables: Record<string, string> } {
  const ignored = stated && ignoredTexts(stated, view, { home: source.home, made });
  return {
    seen: view,
    texts: new Map([
      ...[...view.texts ?? [], ...trackedTexts(source, view, isWritten)],
      ...ignored?.texts ?? [],
    ]),
    variables: stated ? gitVariables(stated, ignored?.named) : {},
  };
}

function gitVariables(
  settings: readonly GitSetting[],
  more: readonly (readonly [name: string, value: string])[] = [],
): Record<string, string> {
  const shared = settings.filter(({ scope, name, value }) =>
    scope === "global" && SHARED.test(name) && name !== "tag.gpgsign" &&
    !(name.startsWith("alias.") && /^\s*[!-]/.test(value)) && !hasCredentials(value)
  );
  // git gc would fail to write a list in `info`, which only servers without git need.
  const always = [["repack.updateServerInfo", "false"]] as const;
  return settingVariables([...shared.map(({ name, value }) => [name, value]), ...always, ...more]);
}
