/** What sandboxed commands leave for the user's git to run or follow is put aside. @module */

import { attempt } from "../../attempt.ts";
import { isWithin } from "../../text/paths.ts";
import { basename, dirname, join, resolve } from "../../text/std_path.ts";
import {
  gitFileTarget,
  headName,
  isRepository,
  leavesName,
  pathFile,
  textWithin,
} from "../git_files.ts";
import { runInPlaces, type WaitTime } from "../in_place.ts";
import { AS_NAME } from "../../tools/files/in_folder.ts";
import { isGitName } from "../folder_looks.ts";
import { entryAt } from "../places.ts";

export interface GitAnswers {
  /** The time for them and for the search of git folders. */
  time: WaitTime;
  /**
   * The settings of a new repository without what git runs or follows, and if that is all of them; undefined if nothing
   * has to be written.
   */
  madeSettings(file: string, marks: boolean): { text: string; isWhole: boolean } | undefined;
  /** Returns what the user's own settings name in a work tree, or links that lead there. */
  namedIn(tree: string): string[];
  /** True if a stash changes only files that commands may write. */
  mayApply(gitFolder: string, stash: string): boolean;
  /** True if a checkout of the index may write files of git's own, or outside of the work tree. */
  indexMayLeadAway(gitFolder: string): boolean;
  /** A folder that no program sees. */
  own: string;
}

/** A line for each change, and false if something could not be looked at or changed: the next command tries again. */
export interface Mended {
  lines: string[];
  isDone: boolean;
}

export const allMended = (...all: readonly Mended[]): Mended => ({
  lines: all.flatMap(({ lines }) => lines),
  isDone: all.every(({ isDone }) => isDone),
});

/** A path to put aside, with the text to write in its place; with `isSilent`, the text has all that git uses of it. */
type Fault = readonly [path: string, content?: string | undefined, isSilent?: boolean];

/** The words by which git notes how it merges later, without other programs and files. */
const PLAIN_OPTION = new RegExp(
  "^(\\[options\\]|=|true|false|[\\dA-F]+|strategy|strategy-option|(-X|--)?(ort|recursive|resolve|octopus|ours|theirs|" +
    "subtree|patience|histogram|(no-)?renormalize|no-renames|diff-algorithm=\\w+|find-renames(=\\d+%?)?|ignore-[\\w-]+)" +
    "|-[Cp]\\d+|--whitespace=[\\w-]+|--reject|--(in|ex)clude=[\\w./*-]+|no-commit|edit|allow-(empty|empty-message|ff|rerere-auto)" +
    "|(drop|keep)-redundant-commits|signoff|record-origin|mainline|gpg-sign|default-msg-cleanup|verbatim|whitespace|strip|scissors)$",
);
const plainOptions = (text: string): string =>
  text.split(/[\s']+/).every((word) => word === "" || PLAIN_OPTION.test(word)) ? text : "";
const COMMAND = /(?<![^\n])[ \t]*(exec|x)(?![^ \t\r\n])[^\n]*/g;
/**
 * The texts by which git runs programs or writes elsewhere later, as it continues a rebase or the like, and what stays of
 * one. `known` has the lines from before. Those without a function name a stash.
 */
const RUN_LATER: readonly (readonly [
  name: string,
  left?: (text: string, known: ReadonlySet<string>) => string,
])[] = [
  ["MERGE_AUTOSTASH"],
  ["rebase-merge/autostash"],
  ["rebase-apply/autostash"],
  // It names files which git writes without a look at their paths.
  ["MERGE_RR", () => ""],
  // As a rebase continues, its list has fewer of the user's lines.
  [
    "rebase-merge/git-rebase-todo",
    (text, known) => text.replace(COMMAND, (line) => known.has(line) ? line : ""),
  ],
  ["rebase-merge/strategy", plainOptions],
  ["rebase-merge/strategy_opts", plainOptions],
  ["rebase-apply/apply-opt", plainOptions],
  ["sequencer/opts", plainOptions],
];
/** The maximum size of a file that is compared, or searched for commands, in bytes. */
const MAX_COMPARED = 10_000_000;

/** True for a line of `alternates` that git neither unquotes nor skips, and reads as `resolve` does. */
const isPlain = (line: string): boolean =>
  line !== "" && !/["#\p{Cc}\ufffd]/u.test(line) && !leavesName(line);
const textIfFile = (path: string): string | undefined =>
  entryAt(path)?.isFile ? textWithin(path, MAX_COMPARED) : undefined;

const linksIn = (folder: string): string[] =>
  attempt(() => [...Deno.readDirSync(folder)].flatMap((one) => one.isSymlink ? one.name : [])) ??
    [];

export const gitState = (folder: string) => ({
  head: pathFile(join(folder, "HEAD")),
  later: RUN_LATER.map(([name]) => textIfFile(join(folder, name))),
  links: linksIn(folder),
});
export type GitState = ReturnType<typeof gitState>;

/** Folders that git deletes at the end. What is put aside goes beside them. */
const DELETED = /^(rebase-(merge|apply)|sequencer)$/;
/** The path is moved first: on a full disk, there is no space for what replaces it. */
const PUT_ASIDE = `chmod u+rwx . && from=./$1 new=./$2.new || exit
set -C
[ -n "$4" ] || { [ ! -e "$from" ] && [ ! -L "$from" ]; } || mv -f${AS_NAME} "$from" "./$2" || exit
[ -n "$3" ] && cat -- "$3" >"$new" || { rm -f "$new"; exit $4; }
mv -f${AS_NAME} "$new" "$from"`;

/** Puts faults aside. `own` is a folder that no program sees. */
export function putAside(faults: Iterable<Fault>, own: string): Mended {
  const moves = [...faults].map(([path, content, isSilent = false]) => {
    const to = DELETED.test(basename(dirname(path))) ? "../" : "";
    const id = crypto.randomUUID();
    const aside = `${to}${basename(path)}.untrusted-${id.slice(0, 8)}`;
    return { path, aside, file: fileFor(join(own, id), content), isSilent };
  });
  const ran = runInPlaces(
    PUT_ASIDE,
    moves.map(({ path, aside, file, isSilent }) => [
      dirname(path),
      [basename(path), aside, file, isSilent ? "1" : ""],
    ]),
  );
  const lines = moves.flatMap(({ path, aside, file, isSilent }, at) => {
    if (file) removeFile(file);
    if (isSilent && !ran[at]!.fault) return [];
    const done = ran[at]!.fault ? "could not be moved away" : `was moved to ${aside}`;
    return `${path} ${done} as git would run or follow what it names`;
  });
  return { lines, isDone: moves.every(({ path }, at) => !ran[at]!.fault || !entryAt(path)) };
}

/** Writes a file, and returns its path; "" for no text. A file that could not be written as a whole is removed. */
function fileFor(path: string, text: string | undefined): string {
  if (text === undefined) return "";
  if (!attempt(() => (Deno.writeTextFileSync(path, text), true))) removeFile(path);
  return path;
}

const removeFile = (path: string) => attempt(() => Deno.removeSync(path));

/** A command can close a folder to hide something in it. One that cannot be entered hides nothing. */
const OPEN = 'exec 4<. && cd -- "$0" && [ .. -ef /dev/fd/4 ] && chmod u+rwx .';
const OPENING = ["-type d ! -perm -500 -execdir /bin/sh -c".split(" "), OPEN, "{}", ";", "-o"]
  .flat();
/** The folders that git needs, in place of what a command put there; then all else that `find` is given. */
const MEND = `chmod u+rwx . || exit
while [ "$1" != find ]; do
  if [ ! -d "./$1" ] || [ -L "./$1" ]; then rm -f "./$1"; mkdir "./$1" || exit; fi
  shift
done
"$@"`;
/**
 * Moves files with a further name away: a later command could write them by it. `git clone` links objects and
 * what it knows of them.
 */
const UNLINK = [
  ..."-type f -links +1 ! ( -path */objects/* ! -name *alternates ) -ls -execdir".split(" "),
  ...["/bin/sh", "-c", `chmod u+rwx . && mv -f${AS_NAME} "$0" "$0.untrusted-$$"`, "{}", ";", "-o"],
];
/** A file, a link with its target, or a pipe or device, in the output of `find`. */
const LISTED = /^ *\d+ +\d+ ([-lpbc])\S+ .*? \.(\/.*?)(?: -> (.*))?$/gm;

/**
 * Makes the folders that git folders need, and removes all links in them, through which git writes, and pipes and
 * devices, for which it waits, but for those of `others`.
 *
 * @param neededIn missing for new folders, in which no file has a further name, either
 */
export function removeLinks(
  folders: readonly string[],
  othersIn: (folder: string) => readonly string[],
  time: WaitTime,
  neededIn?: (folder: string) => readonly string[],
): Mended {
  // find works in opened folders, and names all bytes.
  const all = (folder: string) => [
    ...["find", ".", ...othersIn(folder).flatMap((name) => ["-path", `./${name}`, "-prune", "-o"])],
    ...OPENING,
    ...neededIn ? [] : UNLINK,
    ..."( -type l -o -type p -o -type b -o -type c ) -ls -execdir /bin/sh -c".split(" "),
    ...['chmod u+rwx . && rm -f -- "$@"', "sh", "{}"],
    Deno.build.os === "darwin" ? ";" : "+",
  ];
  const ran = runInPlaces(
    MEND,
    folders.map((folder) => [folder, [...neededIn?.(folder) ?? [], ...all(folder)]]),
    time,
  );
  return allMended(...ran.map(({ output, fault }, at) => {
    const folder = folders[at]!;
    const links = [...output.matchAll(LISTED)].map(([, type, path, to]) =>
      type === "-"
        ? `${folder}${path}, a hard link, was renamed as git would use what is written to the other one`
        : to === undefined
        ? `${folder}${path}, a pipe or device, was removed as git would wait for it`
        : `${folder}${path}, a link to ${to}, was removed as git would write there`
    );
    if (fault && (neededIn || time.left > 0)) {
      links.push(`${folder} could not be looked through (${fault}): do not use git there`);
    }
    return { lines: links, isDone: !fault };
  }));
}

/** Selects what leads git to a repository: its HEAD, `.git`, and links that may lead into an unsearched one. */
const LEADS = "( -iname HEAD -o -iname .git -o " +
  "-type l ! -name *.untrusted-* ( -ilname *.git/* -o -lname *copilot-sandbox-* -o -lname */caches/* ) -newerct";
/** Arguments: the name, what is appended to it, and the time since when it or the repository changed. */
const TURN_OFF = `at=
case $0 in (*/[Hh][Ee][Aa][Dd]) [ -e objects ] || [ -e commondir ] || exit; at=. ;; esac
[ "$(find $at "$0" -prune -newerct "$2")" ] || exit
mv -f${AS_NAME} "$0" "$0.$1" || { chmod u+rwx . && mv -f${AS_NAME} "$0" "$0.$1"; } ||
  { echo not; exit; }
echo moved`;
const MAX_MENDED_CHARS = 500_000;

/**
 * Moves away what leads git to a repository in `root`, as not all there could be looked at, except in those that are
 * `mended` and in all that is `known`. What has not changed since a time, in ms since 1970, stays.
 */
export function turnOffNew(
  root: string,
  { since, mended, known }: { since: number; mended: readonly string[]; known: readonly string[] },
): Mended {
  const aside = `untrusted-${crypto.randomUUID().slice(0, 8)}`;
  const except = (path: string, ...inside: string[]) => {
    const at = `.${path.slice(root.length)}`.replace(/[*?[\]\\]/g, "\\$&");
    return ["", ...inside].flatMap((more) => ["!", "-path", at + more]);
  };
  const time = new Date(since || 0).toISOString();
  const kept = mended.join("").length < MAX_MENDED_CHARS ? mended : [];
  const words = [
    ...["find", ".", ...OPENING, "!", "-type", "d"],
    ...[...LEADS.split(" "), time, ")"],
    ...kept.flatMap((at) => except(at, "/HEAD")),
    ...known.filter((at) => isWithin(root, at)).flatMap((at) => except(at, "/*")),
    ...["-execdir", "/bin/sh", "-c", TURN_OFF, "{}", aside, time, ";"],
  ];
  const { output, fault } = runInPlaces(MEND, [[root, words]], { left: 60_000 })[0]!;
  const count = output.match(/moved/g)?.length ?? 0;
  const line =
    `Not all that is new in ${root} could be looked at: ${count} files by which git finds ` +
    `repositories there were moved to NAME.${aside}`;
  return { lines: count > 0 ? [line] : [], isDone: !fault && !output.includes("not") };
}

/** True if git may take another object for the one that it names. */
function mayReplace(folder: string): boolean {
  const shared = resolve(folder, pathFile(`${folder}/commondir`).replace(/\n$/, ""));
  const packed = `${shared}/packed-refs`;
  return ["refs/replace", "reftable"].some((name) => entryAt(join(shared, name))) ||
    entryAt(packed) !== undefined && textIfFile(packed)?.includes(" refs/replace/") !== false;
}

/** Returns what changed in a folder of git, all of which may have if nothing is known from before. */
export function changedFaults(
  at: string,
  git: GitAnswers,
  { head = "ref: refs/heads/main\n", later = [] }: Partial<GitState> = {},
): Map<string, Fault[1]> {
  const faults = new Map<string, Fault[1]>();
  const headPath = `${at}/HEAD`;
  if (headName(at) === undefined) faults.set(headPath, head);
  for (const [i, [name, leftOf]] of RUN_LATER.entries()) {
    const path = join(at, name);
    const text = textIfFile(path);
    const isSame = text !== undefined && text === later[i];
    if (isSame && (leftOf || !mayReplace(at))) continue;
    const isStash = text && !leftOf && git.mayApply(at, text.trim());
    const left = isStash ? text : text && leftOf?.(text, new Set(later[i]?.split("\n")));
    if (left !== text || text === undefined && entryAt(path)?.isFile) faults.set(path, left);
  }
  const path = `${at}/index`;
  const isFile = entryAt(path)?.isFile;
  if (isFile !== undefined && (!isFile || git.indexMayLeadAway(at))) faults.set(path, undefined);
  return faults;
}

/** Puts aside what git would run or follow in `repositories` in `root`, which commands made, while there is time. */
export function mendRepositories(
  repositories: readonly string[],
  root: string,
  git: GitAnswers,
): Mended {
  const folders = repositories.filter((at) => entryAt(at)?.isDirectory !== false);
  const links = removeLinks(folders, () => ["hooks"], git.time);
  const mended = (faultsIn: (at: string) => Iterable<Fault>) =>
    putAside(
      repositories.flatMap((at): Fault[] => {
        const faults = git.time.left > 0 && attempt(() => [...faultsIn(at)]);
        if (git.time.left <= 0) return [];
        return faults || (entryAt(at) ? [[at]] : []);
      }),
      git.own,
    );
  return allMended(
    links,
    mended((at) => faultsOf(at, repositories, root, git)),
    // git reads the index with the settings that are left.
    mended((at) => {
      const faults = entryAt(at)?.isDirectory ? [...changedFaults(at, git)] : [];
      // Without that, it is no repository.
      return faults.filter(([path]) => path !== `${at}/HEAD` || entryAt(path));
    }),
    { lines: [], isDone: git.time.left > 0 },
  );
}

function faultsOf(
  at: string,
  repositories: readonly string[],
  root: string,
  git: GitAnswers,
): Iterable<Fault> {
  const { isDirectory, isSymlink, nlink } = Deno.lstatSync(at);
  // No link on the way may lead elsewhere later.
  const realIn = (...names: string[]) => {
    const path = resolve(at, ...names);
    return attempt(() => Deno.realPathSync(path)) === path ? path : undefined;
  };
  const tree = isGitName(basename(at)) ? dirname(at) : at;
  // The user's settings apply to all repositories.
  const ofUser = [...new Set(git.namedIn(tree))].filter((path) =>
    path !== tree && entryAt(path) && (tree === at || !isWithin(at, path))
  ).map((path): Fault => [path]);
  if (!isDirectory) {
    const named = isSymlink ? attempt(() => Deno.readLinkSync(at)) : gitFileTarget(at);
    const target = named && !leavesName(named) ? realIn("..", named) : undefined;
    // Commands can hide a repository where this program does not look for one, or in a closed folder.
    const isChecked = target && repositories.includes(target) && isRepository(target);
    return [...ofUser, ...isChecked && nlink === 1 ? [] : [[at] as const]];
  }
  const common = `${at}/commondir`;
  const leadsTo = pathFile(common);
  const isOfOther = /^\.\.\/\.\.\n?$/.test(leadsTo) && repositories.includes(dirname(dirname(at)));
  const isWorktree = isOfOther || /^\.\n?$/.test(leadsTo);
  const faults: Fault[] = [];
  if (entryAt(common) && !isWorktree) faults.push([common]);
  for (const name of ["config", "config.worktree"]) {
    const path = join(at, name);
    // A linked work tree uses the settings of its repository, which have the mark.
    const marks = name === "config" && !isOfOther;
    const isThere = entryAt(path) !== undefined || marks && isRepository(at);
    const left = isThere ? git.madeSettings(path, marks) : undefined;
    if (left) faults.push([path, left.text, left.isWhole]);
  }
  // They name remotes as settings do.
  for (const name of ["remotes", "branches"]) {
    const path = join(at, name);
    if (entryAt(path) && attempt(() => [...Deno.readDirSync(path)])?.length !== 0) {
      faults.push([path]);
    }
  }
  const [hooks, others] = [`${at}/hooks`, `${at}/objects/info/alternates`];
  const isNear = (line: string) => {
    const objects = isPlain(line) ? realIn("objects", line) : undefined;
    // Its objects may be elsewhere, too.
    return isWithin(root, objects ?? "/") && !entryAt(`${objects}/info/alternates`)?.size;
  };
  const isEmpty = entryAt(others)?.size === 0;
  const areNear = isEmpty || pathFile(others).replace(/\n$/, "").split("\n").every(isNear);
  if (entryAt(others) && !areNear) faults.push([others]);
  const names = entryAt(hooks)?.isDirectory && attempt(() => [...Deno.readDirSync(hooks)]);
  const areSamples = names && names.every(({ name }) => name.endsWith(".sample"));
  if (entryAt(hooks) && !areSamples) faults.push([hooks]);
  return [...ofUser, ...faults];
}
