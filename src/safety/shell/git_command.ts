/** git commands: those that write to the repository, and those that have to leave the sandbox. @module */

import { isWithin } from "../../text/paths.ts";
import { resolve } from "../../text/std_path.ts";
import type { Scene } from "../path_verdict.ts";
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
  config: /^(--(global|local|show-\w+|system|worktree) )*(-l|--(get|list)\S*|get|list)\b/,
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
  fetch: "fetches with your credentials",
  lfs: "may use the network with your credentials",
  pull: "pulls with your credentials",
  push: "pushes with your credentials",
  submodule: "may fetch with your credentials",
  worktree: "makes or removes a folder elsewhere",
};
/** Subcommands that may sign their result. */
const SIGNING = new Set("am cherry-pick commit merge rebase revert tag".split(" "));
/** Options before the subcommand that name no other repository, and no setting. */
const PLAIN_OPTIONS = /^(-P|--no-pager|--no-optional-locks|--literal-pathspecs)$/;
/** Settings of a repository that name programs. */
const NAMING =
  /^(core\.(fsmonitor|sshcommand|gitproxy|alternaterefscommand)|hook\..*|(filter|merge|diff)\..*\.(clean|smudge|process|driver|command|textconv)|remote\..*\.(uploadpack|receivepack|vcs)|submodule\..*\.update)$/;
const IS_OFF = /^(false|true|0|1|no|yes|on|off|checkout|merge|rebase|none|)$/i;

interface GitCommand {
  /** The folder in which git runs. */
  folder: string;
  /** The subcommand, and the words after it. */
  name: string;
  rest: string[];
  /** True if its options name no repository or setting. */
  isPlain: boolean;
}

function gitCommand([program, ...args]: readonly Word[], { place }: Scene): GitCommand | undefined {
  if (programName(program?.text ?? "") !== "git") return undefined;
  const texts = args.map(({ text }) => text);
  let folder = place(".").real;
  let isPlain = true;
  let at = 0;
  for (; texts[at]?.startsWith("-"); at++) {
    if (texts[at] === "-C") folder = place(resolve(folder, texts[++at] ?? "")).real;
    else if (!PLAIN_OPTIONS.test(texts[at]!)) isPlain = false;
    if (texts[at] === "-c") at++;
  }
  const [name, ...rest] = texts.slice(at);
  return name === undefined ? undefined : { folder, name, rest, isPlain };
}

/**
 * Returns what a git command needs: the repository to `write`, or more, with the reason; undefined if it only
 * reads.
 */
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
  const why = Object.hasOwn(NEEDS_MORE, name) ? NEEDS_MORE[name] : undefined;
  if (why !== undefined) return isNearRemote(command, scene) ? {} : { why };
  if (signs(command, scene)) return { why: "signs with your key" };
  return scene.sandbox === "read-only"
    ? { why: "writes to the repository", isKeptReadOnly: true }
    : {};
}

/** True if git pushes to or fetches from a repository in the folder, whose hooks then run in the sandbox. */
function isNearRemote({ folder, name, rest }: GitCommand, { git, root }: Scene): boolean {
  if (!/^(push|fetch|pull)$/.test(name)) return false;
  const operand = rest.find((word) => !word.startsWith("-")) ?? "origin";
  const url = git?.settings(folder)?.find((one) => one.name === `remote.${operand}.url`)?.value;
  const address = url ?? operand;
  return !/^[\w.+-]*(@[^/]*)?:/.test(address) && /[./]/.test(address) &&
    isWithin(root.real, resolve(folder, address));
}

function signs({ folder, name, rest }: GitCommand, { git }: Scene): boolean {
  if (!SIGNING.has(name) || rest.includes("--no-gpg-sign") || rest.includes("--no-sign")) {
    return false;
  }
  const option = name === "tag" ? /^(-[su]|--sign|--local-user)/ : /^(-S|--gpg-sign)/;
  const setting = name === "tag" ? /^tag\.(gpgsign|forcesignannotated)$/ : /^commit\.gpgsign$/;
  return rest.some((word) => option.test(word)) ||
    git?.settings(folder)?.findLast((one) => setting.test(one.name))?.value === "true";
}

/**
 * Returns which programs git runs outside of the sandbox, in words; otherwise undefined, also for other programs.
 */
export function programsOfGit(words: readonly Word[], scene: Scene): string | undefined {
  const command = gitCommand(words, scene);
  if (command === undefined || scene.git === undefined) return undefined;
  const settings = scene.git.settings(command.folder);
  const isNamed = settings?.some(({ scope, name, value }) =>
    scope !== "global" && scope !== "system" && NAMING.test(name) && !IS_OFF.test(value)
  );
  if (!command.isPlain || settings === undefined || isNamed) {
    return "programs that the settings of git name";
  }
  const hooks = gitNeed(words, scene) ? scene.git.hooks(command.folder) : [];
  return hooks.length === 0 ? undefined : `the hooks of this repository: ${hooks.join(", ")}`;
}
