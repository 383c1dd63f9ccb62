/** git commands: those that write to the repository, and those that have to leave the sandbox. @module */

import { attempt } from "../../attempt.ts";
import { oneLine, shortened } from "../../text/one_line.ts";
import { dirname, join, relative, resolve } from "../../text/std_path.ts";
import { gitFileTarget, gitFolderOf, hasForeignParts, withoutCredentials } from "../git_files.ts";
import type { Scene } from "../path_verdict.ts";
import { GIT_VALUES } from "../rules.ts";
import type { GitSetting } from "../settings.ts";
import { findProgram } from "../../find_program.ts";
import type { Right } from "../../types/confine.ts";
import { repositoryAround } from "../repositories.ts";
import { accessAt } from "../view.ts";
import { isQuiet } from "./beginnings.ts";
import type { SimpleCommand, Word } from "./lexer.ts";
import { parseCommandLine } from "./parser.ts";
import { isHarmless, mayRun, programName, withoutTimeout } from "./wrappers.ts";

/** Subcommands of git that read, or write elsewhere. All others but those below write to the repository. */
const READING_GIT = new Set(
  ("annotate archive blame cat-file check-attr check-ignore cherry clone count-objects describe diff " +
    "diff-files diff-index diff-tree for-each-ref format-patch fsck grep help init log ls-files ls-remote " +
    "ls-tree merge-base name-rev range-diff rev-list rev-parse shortlog show show-branch show-ref status var " +
    "verify-commit version whatchanged").split(" "),
);
/** Subcommands that only read if their words start so. */
const READING_WORDS: Readonly<Record<string, RegExp>> = {
  branch:
    /^$|^(-[arv]+|--(all|contains|format|list|merged|no-merged|points-at|remotes|show-current|sort))\b/,
  clean: /^(?=(.* )?(-[dfqxX]*n|--dry-run))((-[dfnqxX]+|--dry-run|--|[^-]\S*)( |$))+$/,
  config:
    /^(--(global|local|show-\w+|system|worktree) )*((-l|--(get|list)\S*|get|list)\b|[\w-]+\.[\w.-]+$)/,
  notes: /^(list|show)\b/,
  reflog: /^$|^(-|show\b)/,
  remote: /^$|^(-v|get-url|show)\b/,
  stash: /^(list|show)\b/,
  submodule: /^$|^(foreach|status|summary)\b/,
  tag: /^$|^(-[ln]\d*|--(contains|list|merged|points-at|sort))\b/,
  worktree: /^list\b/,
};
const CHANGES_SETTINGS = "changes the settings of the repository";
/** Why subcommands need more than the repository. Fetching and pushing do not if the remote is a path. */
const NEEDS_MORE: Readonly<Record<string, string>> = {
  config: CHANGES_SETTINGS,
  fetch: "fetches with your credentials",
  lfs: "may use the network with your credentials",
  maintenance: CHANGES_SETTINGS,
  pull: "pulls with your credentials",
  push: "pushes with your credentials",
  remote: CHANGES_SETTINGS,
  "sparse-checkout": CHANGES_SETTINGS,
  submodule: "may fetch with your credentials",
  worktree: "adds, moves or removes a working tree",
};
/** Options of git branch that change the settings, too. */
const BRANCH_SETTINGS =
  /^(-u.*|-[cmCM]|--(set-upstream-to.*|unset-upstream|edit-description|copy|move))$/;
/** The settings of a repository by which git runs nothing, and follows no path. */
const HARMLESS_SETTINGS = new RegExp(
  "^(core\\.(repositoryformatversion|bare|filemode|ignorecase|symlinks|precomposeunicode|logallrefupdates|autocrlf|eol|" +
    "safecrlf|quotepath|longpaths|hidedotfiles|abbrev|commentchar|whitespace|sparsecheckout|sparsecheckoutcone|untrackedcache)" +
    "|extensions\\.(objectformat|refstorage|worktreeconfig)|index\\.\\w+|submodule\\.active" +
    "|remote\\..*\\.(url|pushurl|fetch|mirror|tagopt|prune|promisor|partialclonefilter|gh-resolved)|remote\\.pushdefault" +
    "|branch\\..*\\.(remote|pushremote|merge|rebase|description|(gh|vscode)-merge-base|github-pr-owner-number)" +
    "|branch\\.\\w+|submodule\\..*\\.(url|active|branch|ignore)|rebase\\.auto\\w+" +
    "|(user|author|committer)\\.(name|email)|user\\.signingkey|init\\.defaultbranch|pull\\.(rebase|ff)" +
    "|push\\.(default|autosetupremote|followtags)|fetch\\.(prune|prunetags|parallel)|merge\\.(ff|conflictstyle|renames)" +
    "|diff\\.(algorithm|renames|colormoved)|gc\\.auto|maintenance\\.auto|(commit|tag|push)\\.gpgsign" +
    "|(advice|color|column|status)\\.\\w+|lfs\\.repositoryformatversion|lfs\\..*\\.(access|locksverify)|copilot\\.made)$",
);
/** The setting of a repository that a command made. Later commands cannot change it; the user may. */
export const BY_COMMAND = "copilot.made";
/** An address of a transport that is a program of its own: `ext::sh -c ...`, `ext://...`. */
const OTHER_TRANSPORT = /^[\w.+-]+::|^(?!(https?|ssh|git|git\+ssh|ssh\+git|file):)[\w.+-]+:\/\//;

/** The name of a remote that git does not take for an option. */
const REMOTE_NAME = /^\w[\w./-]*$/;
/** True for a setting of a repository by which git runs nothing. `gitFolder` has the settings. */
export function isHarmlessSetting(
  { name, value }: Pick<GitSetting, "name" | "value">,
  gitFolder: string,
): boolean {
  if (/\p{Cc}|\ufffd/u.test(name + value) || OTHER_TRANSPORT.test(value)) return false;
  // git passes names of remotes and branches to its own commands, which take these for options.
  if (/^remote\..*\.tagopt$/.test(name)) return /^--(no-)?tags$/.test(value);
  if (/\.-/.test(name) || value.startsWith("-")) return false;
  if (name === "extensions.partialclone") return REMOTE_NAME.test(value);
  if (name === "core.fsmonitor") return /^(true|false|yes|no|on|off|[01]?)$/i.test(value);
  if (/^submodule\..*\.update$/.test(name)) return /^(checkout|merge|rebase|none)$/.test(value);
  if (name !== "core.worktree") return HARMLESS_SETTINGS.test(name);
  // The work tree of a submodule has a file that leads to this repository.
  const tree = resolve(gitFolder, value);
  return attempt(() => Deno.realPathSync(tree)) === tree &&
    gitFileTarget(resolve(tree, ".git")) === gitFolder;
}

const MAX_MADE_VALUE = 1000;

/**
 * Returns the settings of a repository that a command made, by which the user's git also reaches no other repository of
 * a command, and nothing without being asked to: it loads missing objects from a promisor. The repository of `folder`
 * is protected.
 */
export function harmlessIfMade(
  all: readonly GitSetting[],
  gitFolder: string,
  folder: string,
): GitSetting[] {
  const isNear = (address: string) => {
    const path = address.replace(/^file:\/\//, "");
    const isOwn = path.startsWith(folder) && /^(\/\.?)*$/.test(path.slice(folder.length));
    return !isOwn && !REMOTE_HOST.test(address);
  };
  const isAddress = (name: string) => /^remote\..*\.(push)?url$/.test(name);
  const far = new Set(all.flatMap(({ name, value }) => isNear(value) ? [] : name));
  return all.filter((setting) => {
    const { name, value } = setting;
    const isRemote = REMOTE_SETTING.test(name) && value !== "." && !far.has(`remote.${value}.url`);
    return value.length <= MAX_MADE_VALUE && isHarmlessSetting(setting, gitFolder) &&
      !/^extensions\.partialclone$|^remote\..*\.(promisor|partialclonefilter)$/.test(name) &&
      !((isAddress(name) || isRemote) && isNear(value));
  });
}

/** Further subcommands of git: an alias of such a name does not count. */
const OTHER_GIT = new Set(
  ("add am apply bisect branch bundle checkout checkout-index cherry-pick clean commit commit-tree filter-branch gc " +
    "hash-object merge mergetool mv notes pack-refs prune read-tree rebase reflog repack replace rerere reset restore " +
    "revert rm stash switch symbolic-ref tag update-index update-ref write-tree").split(" "),
);
const isOwnCommand = (name: string): boolean =>
  READING_GIT.has(name) || OTHER_GIT.has(name) || Object.hasOwn(NEEDS_MORE, name);

interface GitCommand {
  folder: string;
  entered: string[];
  name: string;
  rest: string[];
  /** True if its options name no repository or setting. */
  isPlain: boolean;
}

function gitCommand(
  [program, ...args]: readonly Word[],
  { place, git }: Scene,
): GitCommand | undefined {
  if (programName(program?.text ?? "") !== "git") return undefined;
  let texts = args.map(({ text }) => text);
  let { real: folder, path } = place(".");
  const entered = [path];
  let isPlain = true;
  for (let levels = 0;; levels++) {
    let at = 0;
    for (; texts[at]?.startsWith("-"); at++) {
      const option = texts[at]!;
      const value = GIT_VALUES.includes(option) ? texts[++at] ?? "" : "";
      if (option === "-C") {
        ({ real: folder, path } = place(resolve(folder, value)));
        entered.push(path);
      } else if (!/^(-P|--no-pager|--no-optional-locks|--literal-pathspecs)$/.test(option)) {
        isPlain = false;
      }
    }
    const [name, ...rest] = texts.slice(at);
    if (name === undefined) return undefined;
    const key = `alias.${name.toLowerCase()}`;
    const alias = isOwnCommand(name) || levels > 10
      ? undefined
      : git?.settings(folder)?.findLast((one) => one.name === key)?.value.trim();
    if (!alias || alias.startsWith("!")) return { folder, entered, name, rest, isPlain };
    texts = [...alias.split(/\s+/), ...rest];
  }
}

const isReading = (name: string, rest: readonly string[]): boolean =>
  READING_GIT.has(name) ||
  Object.hasOwn(READING_WORDS, name) && READING_WORDS[name]!.test(rest.join(" "));

/** Returns undefined if a git command only reads, `{}` if it writes, and `why` if it must leave the sandbox. */
export function gitNeed(
  words: readonly Word[],
  scene: Scene,
): { why?: string; isKeptReadOnly?: true } | undefined {
  const command = gitCommand(words, scene);
  if (command === undefined) return undefined;
  const { name, rest } = command;
  if (isReading(name, rest)) {
    const isFar = name === "ls-remote" && isInKnownForm(command, scene);
    return isFar ? { why: scene.gitReason ?? "asks a remote with your credentials" } : undefined;
  }
  const isSetting = name === "branch" && rest.some((word) => BRANCH_SETTINGS.test(word));
  const needing = isSetting ? "config" : name;
  const why = Object.hasOwn(NEEDS_MORE, needing) ? NEEDS_MORE[needing] : undefined;
  // In the sandbox, git runs the hooks of a repository that is a path.
  const isNear = /^(push|fetch|pull)$/.test(name) && scene.git !== undefined &&
    !remoteAddresses(command, scene).some((at) => REMOTE_HOST.test(at));
  if (why !== undefined && !isNear) return { why: scene.gitReason ?? why };
  if (signs(command, scene)) return { why: "signs with your key" };
  const file = replacedFile(command, scene);
  if (file !== undefined) return { why: `replaces ${file}, which no command may write` };
  return scene.sandbox === "read-only"
    ? { why: "writes to the repository", isKeptReadOnly: true }
    : {};
}

/** An address of another machine, by a transport that runs no program of the repository. */
const REMOTE_HOST = /^(https?|ssh):\/\/|^[^/:]+:(?!:|\/\/)/;
/** One whose host is certain to a reader, too: it is shown as a whole, and no letter resembles another. */
const PLAIN_ADDRESS =
  /^(?!-)(?=[ -~]{1,200}$)(?:(https?|ssh):\/\/([^/?#@=\\\s]*@)?[^/?#@=\\\s]+(\/[^?#@\\]*)?|([^/?#@:=\\\s]+@)?[^/?#@:=\\\s]+:(?!\/\/)[^?#@:\\]*)$/;
/** The settings that name the remote of a branch, and of all of them. */
const REMOTE_SETTING = /^(branch|remote)\.(.*\.)?(push)?(remote|default)$/;
const MAX_SHOWN_ADDRESSES = 3;

/** Returns the addresses of the remotes, or if settings have no addresses, their names: git takes these for paths. */
function remoteAddresses({ folder, name, rest }: GitCommand, { git }: Scene): readonly string[] {
  const settings = git?.settings(folder) ?? [];
  const [named] = rest.filter((word) => !/^-|^\d+$/.test(word));
  const all = settings.flatMap((one) => /^remote\.(.*)\.[^.]*$/.exec(one.name)?.[1] ?? []);
  const usual = settings.flatMap((one) => REMOTE_SETTING.test(one.name) ? one.value : []);
  // The current branch may have no remote of its own.
  if (usual.length === 0 || all.includes("origin")) usual.push("origin");
  // git loads missing objects from a promisor, which two settings may name.
  const promisors = settings.flatMap((one) =>
    one.name === "extensions.partialclone"
      ? one.value
      : /^remote\.(.*)\.(?:promisor|partialclonefilter)$/.exec(one.name)?.[1] ?? []
  );
  const remotes = new Set([
    ...rest.includes("--all") ? all : named ? [named] : usual,
  ]);
  const addressesOf = (remote: string, isPush: boolean) => {
    const found = git?.addresses(folder, remote, isPush) ?? [];
    return found.length > 0 ? found : [remote];
  };
  return [
    ...[...remotes].flatMap((remote) => addressesOf(remote, name === "push")),
    // It is asked at the address to fetch from.
    ...promisors.flatMap((remote) => addressesOf(remote, false)),
  ];
}

/** Returns a file that git would replace, but cannot: it would leave the work tree half changed, and succeed. */
function replacedFile({ folder, name, rest }: GitCommand, { git, view }: Scene) {
  const isMoving = name === "reset"
    ? rest.some((word) => /^--(hard|merge|keep)$/.test(word))
    : /^(checkout|switch|merge|rebase|cherry-pick|revert)$/.test(name) ||
      name === "stash" && /^(pop|apply)$/.test(rest[0] ?? "");
  if (!isMoving || git === undefined || view === undefined) return undefined;
  const words = name === "stash"
    ? ["stash@{0}"]
    : rest.map((word) => word === "-" ? "@{-1}" : word);
  const files = words.filter((word) => !word.startsWith("-"))
    .flatMap((word) => git.changed(folder, name, word));
  const file = files.find((path) => accessAt(view(), path) !== "write");
  return file && shortened(oneLine(relative(folder, file)), 60);
}

function signs({ folder, name, rest }: GitCommand, { git }: Scene): boolean {
  const mayChange = /^(am|cherry-pick|commit|merge|rebase|revert|tag)$/.test(name);
  if (!mayChange || rest.includes("--no-gpg-sign") || rest.includes("--no-sign")) {
    return false;
  }
  const option = name === "tag" ? /^(-[su]|--sign|--local-user)/ : /^(-S|--gpg-sign)/;
  const setting = name === "tag" ? /^tag\.(gpgsign|forcesignannotated)$/ : /^commit\.gpgsign$/;
  const value = git?.settings(folder)?.findLast((one) => setting.test(one.name))?.value ?? "";
  return rest.some((word) => option.test(word)) || !/^(false|no|off|0*)$/i.test(value);
}

/** The options of git with the right `credentials`. */
const KNOWN_OPTIONS: Readonly<Record<string, RegExp>> = {
  fetch: /^(-[fnpqtv]+|--(all|depth=\d+|force|no-tags|prune|quiet|tags|unshallow|verbose))$/,
  "ls-remote": /^(-[htq]+|--(exit-code|heads|quiet|refs|symref|tags))$/,
  push:
    /^(-[dfnquv]+|--(delete|dry-run|follow-tags|force|force-with-lease|quiet|set-upstream|tags|verbose))$/,
};
const ANY_PROGRAM = "may run any program as you, by settings and hooks of repositories,";

export const settingVariables = (
  settings: readonly (readonly string[])[],
): Record<string, string> =>
  Object.fromEntries([
    ["GIT_CONFIG_COUNT", `${settings.length}`],
    ...settings.flatMap(([name, value], at) => [
      [`GIT_CONFIG_KEY_${at}`, name],
      [`GIT_CONFIG_VALUE_${at}`, value],
    ]),
  ]);

/** No repository changes these settings, and its submodules run nothing. */
const SETTINGS_WITH_CREDENTIALS = settingVariables([
  ["core.fsmonitor", "false"],
  ["core.hooksPath", "/dev/null"],
  // It may lead to objects elsewhere.
  ["core.multiPackIndex", "false"],
  ["push.gpgSign", "false"],
  ["submodule.recurse", "false"],
  ["fetch.recurseSubmodules", "no"],
  ["fetch.all", "false"],
  ["push.recurseSubmodules", "no"],
  // A collection of garbage would outlive the command.
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
]);

/**
 * Returns for a line with git that needs more than the sandbox the programs that it may run, in words, and what it does
 * with which remote. If it runs no program, it gets a right that a rule may cover.
 */
export function gitOutside(text: string, scene: Scene):
  | { programs: string; reason?: string }
  | { reason: string; right: Right; isMade: boolean }
  | undefined {
  const line = parseCommandLine(text);
  const isGit = ([first]: readonly Word[]) =>
    first !== undefined && (first.kind !== "literal" || programName(first.text) === "git");
  if (line.ok && !line.commands.some((one) => mayRun(one).some(isGit))) return undefined;
  const isBare = ({ assignments, redirections }: SimpleCommand) =>
    assignments.length === 0 && redirections.every(isHarmless);
  const [only, ...more] = (line.ok ? line.commands : [])
    .filter((one) => !isBare(one) || !isQuiet(one.words));
  const words = only && isBare(only) && more.length === 0 ? withoutTimeout(only).words : [];
  const isSpelledOut = words[0]?.text === "git" && words.every(({ kind }) => kind === "literal");
  const command = isSpelledOut ? gitCommand(words, scene) : undefined;
  const [gitFolder, repository] = (command && scene.git?.folders(command.folder)) ?? [];
  const [at] = command && gitFolder ? repositoryAround(command.folder) : [];
  if (
    !command || !at || !gitFolder || !repository || gitFolder !== gitFolderOf(at) ||
    !isInKnownForm(command, scene) || hasForeignParts(repository)
  ) return { programs: ANY_PROGRAM };
  const { name, rest } = command;
  const addresses = new Set(remoteAddresses(command, scene).map(withoutCredentials));
  const shown = [...addresses].map((one) => shortened(oneLine(one), 200)).join(" or ");
  const does = name === "push" ? "pushes to" : name === "fetch" ? "fetches from" : "reads from";
  const reason = `${does} ${shown} with your credentials`;
  const programs = programsOf(command, scene);
  if (programs) return { programs, reason };
  const operands = rest.filter((word) => !word.startsWith("-"));
  const tracks = name === "push" && rest.some((word) => /^(-\w*u\w*|--set-upstream)$/.test(word));
  const right: Right = {
    kind: "credentials",
    variables: { ...SETTINGS_WITH_CREDENTIALS, GIT_ALLOW_PROTOCOL: "http:https:ssh" },
    ...tracks && operands.length > 0 && { tracks: operands },
    gitFolder,
    repository,
  };
  const isMade =
    scene.git?.settings(command.folder)?.some((one) => one.name === BY_COMMAND) === true;
  return { reason, right, isMade };
}

/** A branch or tag of this repository that fetching may update. */
const FETCHED = /^(?!refs\/)|^refs\/(heads|remotes|tags)\//;

/** True for a word or setting of `git fetch` by which branches are lost, or other references are written. */
function isLossy(refspec: string, isOperand: boolean, hasForce: boolean): boolean {
  const [, to] = refspec.split(":");
  if (!isOperand) return to !== undefined && !/^refs\/(remotes|tags)\//.test(to);
  return /^\+|^[^:]*:.*\*/.test(refspec) || to !== undefined && (hasForce || !FETCHED.test(to));
}

/** True if git's options are in the list, and its remotes have names, and addresses on other machines. */
function isInKnownForm(command: GitCommand, scene: Scene): boolean {
  const { name, rest, entered, isPlain, folder } = command;
  const known = Object.hasOwn(KNOWN_OPTIONS, name) ? KNOWN_OPTIONS[name] : undefined;
  const operands = rest.filter((word) => !known?.test(word));
  const [remote = "", ...refs] = operands;
  const hasForce = rest.some((word) => /^-(\w*[fp]|-[fp])/.test(word));
  const settings = scene.git?.settings(folder) ?? [];
  const isReplacing = name === "fetch" && (refs.some((ref) => isLossy(ref, true, hasForce)) ||
    settings.some((one) =>
      /^remote\..*\.fetch$/.test(one.name) && isLossy(one.value, false, false)
    ));
  const isUnclear = isReplacing || operands.some((word) => /^-|^\d+$/.test(word)) ||
    !/^([\w-][\w.-]*)?$/.test(remote) ||
    settings.some(({ name, value }) => {
      const [, of, key] = /^remote\.(?:([^]*)\.)?([^]*)$/.exec(name) ?? [];
      return key === "mirror" || of !== undefined && !REMOTE_NAME.test(of) ||
        REMOTE_SETTING.test(name) && !REMOTE_NAME.test(value) && !PLAIN_ADDRESS.test(value);
    }) ||
    // It would print the address with its password.
    name === "ls-remote" && remote === "" &&
      !rest.some((word) => /^(-\w*q\w*|--quiet)$/.test(word));
  const addresses = remoteAddresses(command, scene);
  // With -C, the user's own helpers would start in a folder that commands write.
  return known !== undefined && isPlain && !isUnclear && entered.length === 1 &&
    scene.place(entered[0]!).isInside &&
    addresses.length <= MAX_SHOWN_ADDRESSES && addresses.every((at) => PLAIN_ADDRESS.test(at));
}

/** Returns which programs of a repository git may run without a sandbox, in words; undefined if it runs no program. */
export function programsOfGit(words: readonly Word[], scene: Scene): string | undefined {
  const command = gitCommand(words, scene);
  if (command === undefined || scene.git === undefined) return undefined;
  const isFar = !command.isPlain || Object.hasOwn(NEEDS_MORE, command.name);
  return isFar && !isInKnownForm(command, scene) ? ANY_PROGRAM : programsOf(command, scene);
}

function programsOf({ folder, entered, name, rest }: GitCommand, scene: Scene) {
  const { git, place, programs = [], view } = scene;
  const settings = git?.settings(folder);
  if (git === undefined || settings === undefined) {
    return "may run programs that unreadable settings name";
  }
  const gitFolder = gitFileTarget(join(repositoryAround(folder)[0] ?? folder, ".git")) ?? "";
  const written = [...entered, folder].flatMap(gitPathsAt).find(git.isWritten);
  const own = [findProgram("git", programs, undefined) ?? []].flat().map(place)
    .find((at) => at.isInside || view && accessAt(view(), at.real) === "write");
  const found = [
    ...written ? [`${written}, which a running command can write`] : [],
    ...own ? [`${own.real}, which commands can write`] : [],
    ...settings.filter(({ scope }) => !/^(global|system)$/.test(scope))
      .filter((one) => !isHarmlessSetting(one, gitFolder)).map(shownSetting),
    // The files that hooks and settings name are compared again after the question.
    ...isReading(name, rest) ? [] : git.named(folder),
    ...Object.hasOwn(NEEDS_MORE, name) ? [] : git.submodules(folder),
  ];
  const shown = shortened([...new Set(found)].join(", "), 400);
  return shown && `may run programs that this repository names (${shown})`;
}

/** Returns the paths, some missing, by which git finds the repository of a folder. */
function gitPathsAt(folder: string): string[] {
  const [top, ...further] = repositoryAround(folder);
  const [path, above] = [join(folder, ".git"), dirname(folder)];
  const rest = folder === top || folder === above ? further : gitPathsAt(above);
  return [path, gitFileTarget(path) ?? path, ...rest];
}

function shownSetting({ name, value }: GitSetting): string {
  const key = name.slice(name.lastIndexOf(".") + 1);
  const shown = withoutCredentials(`${key} = ${value.replace(/\s+/g, " ")}`).slice(key.length + 3);
  return shortened(oneLine(`${withoutCredentials(name)}=${shown || "…"}`), 100);
}
