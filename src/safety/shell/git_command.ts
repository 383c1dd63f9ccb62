/** git commands: those that write to the repository, and those that have to leave the sandbox. @module */

import { attempt } from "../../attempt.ts";
import { oneLine, shortened } from "../../text/one_line.ts";
import { dirname, join, relative, resolve } from "../../text/std_path.ts";
import { gitFileTarget, isRepository, withoutCredentials } from "../git_files.ts";
import type { Scene } from "../path_verdict.ts";
import { GIT_VALUES } from "../rules.ts";
import type { GitSetting } from "../settings.ts";
import { accessAt, entryAt, repositoryAround } from "../view.ts";
import type { Word } from "./lexer.ts";
import { programName } from "./wrappers.ts";

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
/** Why subcommands need more than the repository. Fetching and pushing do not if the remote is in the folder. */
const NEEDS_MORE: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    "config maintenance remote sparse-checkout".split(" ").map((name) => [
      name,
      "changes the settings of the repository",
    ]),
  ),
  fetch: "fetches from ADDRESS with your credentials",
  lfs: "may use the network with your credentials",
  pull: "pulls from ADDRESS with your credentials",
  push: "pushes to ADDRESS with your credentials",
  submodule: "may fetch with your credentials",
  worktree: "adds, moves or removes a working tree",
};
/** Options of git branch that change the settings, too. */
const BRANCH_SETTINGS =
  /^(-u.*|-[cmCM]|--(set-upstream-to.*|unset-upstream|edit-description|copy|move))$/;
const SIGNING = new Set("am cherry-pick commit merge rebase revert tag".split(" "));
/** Options before the subcommand that name no other repository, and no setting. */
const PLAIN_OPTIONS = /^(-P|--no-pager|--no-optional-locks|--literal-pathspecs)$/;
/** The settings of a repository by which git runs nothing, and follows no path. */
const HARMLESS_SETTINGS = new RegExp(
  "^(core\\.(repositoryformatversion|bare|filemode|ignorecase|symlinks|precomposeunicode|logallrefupdates|autocrlf|eol|" +
    "safecrlf|quotepath|longpaths|hidedotfiles|abbrev|commentchar|whitespace|sparsecheckout|sparsecheckoutcone|untrackedcache)" +
    "|extensions\\.(objectformat|refstorage|partialclone|worktreeconfig)|index\\.\\w+|submodule\\.active" +
    "|remote\\..*\\.(url|pushurl|fetch|mirror|tagopt|prune|promisor|partialclonefilter|gh-resolved)|remote\\.pushdefault" +
    "|branch\\..*\\.(remote|pushremote|merge|rebase|description|(gh|vscode)-merge-base|github-pr-owner-number)" +
    "|branch\\.\\w+|submodule\\..*\\.(url|active|branch|ignore)|rebase\\.auto\\w+" +
    "|(user|author|committer)\\.(name|email)|user\\.signingkey|init\\.defaultbranch|pull\\.(rebase|ff)" +
    "|push\\.(default|autosetupremote|followtags)|fetch\\.(prune|prunetags|parallel)|merge\\.(ff|conflictstyle|renames)" +
    "|diff\\.(algorithm|renames|colormoved)|gc\\.auto|maintenance\\.auto|(commit|tag|push)\\.gpgsign" +
    "|(advice|color|column|status)\\.\\w+|lfs\\.repositoryformatversion|lfs\\..*\\.(access|locksverify))$",
);
/** An address of a transport that is a program of its own: `ext::sh -c ...`, `ext://...`. */
const OTHER_TRANSPORT = /^[\w.+-]+::|^(?!(https?|ssh|git|git\+ssh|ssh\+git|file):)[\w.+-]+:\/\//;

/** True for a setting of a repository by which git runs nothing. `gitFolder` has the settings. */
export function isHarmlessSetting(
  { name, value }: Pick<GitSetting, "name" | "value">,
  gitFolder: string,
): boolean {
  if (/\p{Cc}|\ufffd/u.test(name + value) || OTHER_TRANSPORT.test(value)) return false;
  if (name === "core.fsmonitor") return /^(true|false|yes|no|on|off|[01]?)$/i.test(value);
  if (/^submodule\..*\.update$/.test(name)) return /^(checkout|merge|rebase|none)$/.test(value);
  if (name !== "core.worktree") return HARMLESS_SETTINGS.test(name);
  // The work tree of a submodule has a file that leads to this repository.
  const tree = resolve(gitFolder, value);
  return attempt(() => Deno.realPathSync(tree)) === tree &&
    gitFileTarget(resolve(tree, ".git")) === gitFolder;
}

/** Further subcommands of git: an alias of such a name does not count. */
const OTHER_GIT = new Set(
  ("add am apply bisect branch bundle checkout checkout-index cherry-pick clean commit commit-tree filter-branch gc " +
    "hash-object merge mergetool mv notes pack-refs prune read-tree rebase reflog repack replace rerere reset " +
    "restore revert rm stash switch symbolic-ref tag update-index update-ref write-tree").split(
      " ",
    ),
);
const isOwnCommand = (name: string): boolean =>
  READING_GIT.has(name) || OTHER_GIT.has(name) || Object.hasOwn(NEEDS_MORE, name);
const MAX_ALIASES = 10;

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
      } else if (!PLAIN_OPTIONS.test(option)) isPlain = false;
    }
    const [name, ...rest] = texts.slice(at);
    if (name === undefined) return undefined;
    const key = `alias.${name.toLowerCase()}`;
    const alias = isOwnCommand(name) || levels > MAX_ALIASES
      ? undefined
      : git?.settings(folder)?.findLast((one) => one.name === key)?.value.trim();
    if (!alias || alias.startsWith("!")) return { folder, entered, name, rest, isPlain };
    texts = [...alias.split(/\s+/), ...rest];
  }
}

/** Returns undefined if a git command only reads, `{}` if it writes, and `why` if it must leave the sandbox. */
export function gitNeed(
  words: readonly Word[],
  scene: Scene,
): { why?: string; isKeptReadOnly?: true } | undefined {
  const command = gitCommand(words, scene);
  if (command === undefined) return undefined;
  const { name, rest } = command;
  const isReading = READING_GIT.has(name) ||
    Object.hasOwn(READING_WORDS, name) && READING_WORDS[name]!.test(rest.join(" "));
  if (isReading) return undefined;
  const isSetting = name === "branch" && rest.some((word) => BRANCH_SETTINGS.test(word));
  const needing = isSetting ? "config" : name;
  const why = Object.hasOwn(NEEDS_MORE, needing) ? NEEDS_MORE[needing] : undefined;
  if (why !== undefined) {
    const at = remotesOf(command, scene);
    const addressed = why.replace(/ (to|from) ADDRESS/, at && ` $1 ${at.replaceAll("$", "$$$$")}`);
    return isNearRemote(command, scene) ? {} : { why: addressed };
  }
  if (signs(command, scene)) return { why: "signs with your key" };
  const file = replacedFile(command, scene);
  if (file !== undefined) return { why: `replaces ${file}, which no command may write` };
  return scene.sandbox === "read-only"
    ? { why: "writes to the repository", isKeptReadOnly: true }
    : {};
}

/** True if git pushes to or fetches from a repository that commands can write, whose hooks then run in the sandbox. */
function isNearRemote({ folder, name, rest }: GitCommand, { git, place, view }: Scene): boolean {
  if (!/^(push|fetch|pull)$/.test(name)) return false;
  const operand = rest.find((word) => !word.startsWith("-")) ?? "origin";
  const url = git?.settings(folder)?.find((one) => one.name === `remote.${operand}.url`)?.value;
  const address = (url ?? operand).replace(/^file:\/\/(?=\/)/, "");
  if (/^[\w.+-]*(@[^/]*)?:/.test(address) || !/[./]/.test(address)) return false;
  const { real, isInside } = place(resolve(folder, address));
  return isInside ||
    view !== undefined && [real, dirname(real)].some((at) => accessAt(view(), at) === "write");
}

/** Options of git fetch, pull and push that have no value, so that the next word is the remote. */
const PLAIN_REMOTE_OPTIONS =
  /^(-[dfnqtuv]+|--(all|delete|dry-run|ff-only|follow-tags|force|force-with-lease|no-verify|prune|rebase|set-upstream|tags))$/;

/** Returns where a command fetches from or pushes to, in words; empty if that is unknown. */
function remotesOf({ folder, name, rest, isPlain }: GitCommand, scene: Scene): string {
  const words = rest.filter((word) => !PLAIN_REMOTE_OPTIONS.test(word));
  const { git, keepsRemotes } = scene;
  if (!keepsRemotes || !isPlain || words[0]?.startsWith("-")) return "";
  const settings = git?.settings(folder) ?? [];
  const valuesOf = (pattern: RegExp) =>
    settings.filter((one) => pattern.test(one.name)).map(({ value }) => value);
  // Without a word, the current branch decides.
  const usual = () => [
    ...settings.flatMap((one) => /^remote\.(.*)\.(?:push)?url$/.exec(one.name)?.[1] ?? []),
    ...valuesOf(/^(branch\..*\.(push)?remote|remote\.pushdefault)$/),
  ];
  const addresses = (words.length > 0 ? words.slice(0, 1) : usual()).flatMap((remote) => {
    const [pushed, own] = ["pushurl", "url"].map((key) =>
      valuesOf(new RegExp(`^remote\\.${RegExp.escape(remote)}\\.${key}$`))
    );
    const found = name === "push" && pushed!.length > 0 ? pushed! : own!;
    return found.length > 0 ? found : /[/:]/.test(remote) ? [remote] : [];
  });
  const shown = [...new Set(addresses)].map(shownAddress);
  return shown.length > MAX_LISTED_NAMES ? "" : shown.join(" or ");
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
  if (!SIGNING.has(name) || rest.includes("--no-gpg-sign") || rest.includes("--no-sign")) {
    return false;
  }
  const option = name === "tag" ? /^(-[su]|--sign|--local-user)/ : /^(-S|--gpg-sign)/;
  const setting = name === "tag" ? /^tag\.(gpgsign|forcesignannotated)$/ : /^commit\.gpgsign$/;
  const value = git?.settings(folder)?.findLast((one) => setting.test(one.name))?.value ?? "";
  return rest.some((word) => option.test(word)) || !/^(false|no|off|0*)$/i.test(value);
}

/** Returns which programs of a repository git may run outside of the sandbox, in words, if any. */
export function programsOfGit(words: readonly Word[], scene: Scene): string | undefined {
  const command = gitCommand(words, scene);
  const { git } = scene;
  if (command === undefined || git === undefined) return undefined;
  if (!command.isPlain) return "may run programs that its options name";
  const { name, rest } = command;
  const isPush = [name, rest[0]].some((word) => /^(push|send-pack)$/.test(word ?? ""));
  const isLocal = gitNeed(words, scene) === undefined;
  const folders = [command.folder];
  // A push to a repository of this machine runs its hooks.
  const found = isPush
    ? ["origin", ...rest].filter((word) => isRepositoryAt(folders[0]!, word)).map(hooksOf)
    : [];
  for (const folder of folders) {
    if (folders.length > MAX_SUBMODULES) {
      return `may run programs of over ${MAX_SUBMODULES} submodules`;
    }
    const settings = git.settings(folder);
    if (settings === undefined) return "may run programs that unreadable settings name";
    const gitFolder = gitFileTarget(join(repositoryAround(folder)[0] ?? folder, ".git")) ?? "";
    const suspect = settings.filter((one) =>
      !/^(global|system)$/.test(one.scope) &&
      (!isHarmlessSetting(one, gitFolder) || isPush && namesPath(one, settings))
    );
    const shown = suspect.map((one) =>
      isPush && namesPath(one, settings) ? hooksOf(one.value) : shownSetting(one)
    );
    // What they name is compared after the question, too.
    const named = git.named(folder);
    found.push(...shown, ...isLocal ? [] : named);
    const inner = isLocal && !/^(diff|status)$/.test(name) ? [] : git.submodules(folder);
    folders.push(...inner.filter((at) => entryAt(`${at}/.git`) !== undefined));
    const paths = [...command.entered, folder, ...inner].flatMap(gitPathsAt);
    const written = paths.find(git.isWritten);
    if (written) found.unshift(`${written}, which a running command can write`);
  }
  const [shown, more] = [
    [...new Set(found)].slice(0, MAX_LISTED_NAMES),
    new Set(found).size - MAX_LISTED_NAMES,
  ];
  if (more > 0) shown.push(`${more} more`);
  return found.length === 0
    ? undefined
    : `may run programs that this repository names: ${shown.join(", ")}`;
}

/** Returns the paths, some missing, by which git finds the repository of a folder. */
function gitPathsAt(folder: string): string[] {
  const [top = "/", ...further] = repositoryAround(folder);
  const paths = further;
  for (let at = folder;; at = dirname(at)) {
    const path = join(at, ".git");
    paths.push(path, gitFileTarget(path) ?? path);
    if (at === top || dirname(at) === at) return paths;
  }
}

const MAX_SUBMODULES = 50;
const MAX_LISTED_NAMES = 6;

function shownSetting({ name, value }: GitSetting): string {
  const key = name.slice(name.lastIndexOf(".") + 1);
  const shown = withoutCredentials(`${key} = ${value.replace(/\s+/g, " ")}`).slice(key.length + 3);
  return shortened(oneLine(`${withoutCredentials(name)}=${shown || "…"}`), 100);
}

const shownAddress = (text: string): string => shortened(oneLine(withoutCredentials(text)), 100);
const hooksOf = (address: string): string => `the hooks of ${shownAddress(address)}`;

/** True for the address of a repository on this machine, and for a word that may be one. */
const isOnMachine = (address: string) => /^file:|^[^:]*(\/|$)/.test(address);

/** True if git takes a word for a repository of this machine. */
function isRepositoryAt(folder: string, word: string): boolean {
  const address = word.replace(/^--?\w+=/, "");
  const at = resolve(folder, address);
  const isHere = ["", ".git", "/.git"].some((end) => isRepository(at + end)) ||
    entryAt(`${at}/.git`) !== undefined;
  return isOnMachine(address) && (isHere || address.startsWith("file:"));
}

/** True for a setting that names a repository of this machine as a remote. */
function namesPath({ name, value }: GitSetting, settings: readonly GitSetting[]): boolean {
  const isName = /^(branch\..*\.(push)?remote|remote\.pushdefault)$/.test(name);
  if (!isName && !/^remote\..*\.(push)?url$/.test(name)) return false;
  const isKnown = value === "." || settings.some((one) => one.name === `remote.${value}.url`);
  return isOnMachine(value) && !(isName && isKnown);
}
