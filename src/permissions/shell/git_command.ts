/** Commands of git: whether they write to the repository, and what they run. @module */

import { isWithin } from "../../text/paths.ts";
import { basename, dirname, join, resolve } from "../../text/std_path.ts";
import { gitPrograms } from "../git_programs.ts";
import type { Scene } from "../path_verdict.ts";
import type { Word } from "./lexer.ts";
import { programName } from "./wrappers.ts";

/** Subcommands of git that read, or write elsewhere; any other but those below writes to `.git`. */
const READING_GIT = new Set(
  ("annotate archive blame cat-file check-attr check-ignore cherry clone count-objects describe diff " +
    "diff-files diff-index diff-tree for-each-ref format-patch fsck grep help init log ls-files ls-remote " +
    "ls-tree merge-base name-rev range-diff rev-list rev-parse shortlog show show-branch show-ref status var " +
    "verify-commit version whatchanged").split(" "),
);
/** Subcommands that read with words that begin so. */
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

/** True for a command of git that writes to the repository. */
export function writesRepository([program, ...args]: readonly Word[]): boolean {
  if (programName(program?.text ?? "") !== "git") return false;
  const texts = args.map(({ text }) => text);
  const at = subcommandAt(texts);
  const [name, ...rest] = texts.slice(at);
  return name !== undefined && !READING_GIT.has(name) &&
    !(Object.hasOwn(READING_WORDS, name) && READING_WORDS[name]!.test(rest.join(" ")));
}

/** The index of the subcommand: `-C FOLDER` and `-c NAME=VALUE` stand before it. */
function subcommandAt(texts: readonly string[]): number {
  let at = 0;
  while (texts[at]?.startsWith("-")) at += /^-[cC]$/.test(texts[at]!) ? 2 : 1;
  return at;
}

/** Options before the subcommand that name no other repository, and no setting. */
const PLAIN_OPTIONS = /^(-P|--no-pager|--no-optional-locks|--literal-pathspecs)$/;

/** What a command of git runs beside itself, in words; undefined for nothing, or another program. */
export function programsOfGit(
  words: readonly Word[],
  { place, paths, hasJobs, left, view = left }: Scene,
): string | undefined {
  if (programName(words[0]?.text ?? "") !== "git") return undefined;
  const texts = words.slice(1).map(({ text }) => text);
  const at = subcommandAt(texts);
  let folder = place(".").real;
  for (let i = 0; i < at; i++) {
    if (texts[i] === "-C") folder = place(resolve(folder, texts[++i] ?? "")).real;
    else if (!PLAIN_OPTIONS.test(texts[i]!)) return RUN_BY_GIT.settings;
  }
  const runsHooks = writesRepository(words) && !HOOKLESS.has(texts[at] ?? "");
  const repositories = [...view?.().places.keys() ?? []].filter((path) =>
    basename(path) === ".git"
  );
  const nested = repositories.map(dirname).filter((at) => at !== folder && isWithin(folder, at));
  const found = gitPrograms(folder, runsHooks, paths.home, nested);
  if (found) return RUN_BY_GIT[found];
  // Where none is protected, a job may make one between this look and the start of git.
  return view && hasJobs && !repositories.includes(join(folder, ".git"))
    ? "what a job in the background may change"
    : undefined;
}

/** Subcommands that run none of the hooks but those about the index and about names. */
const HOOKLESS = new Set("add mv reset restore rm stash tag".split(" "));
const RUN_BY_GIT = {
  hooks: "the hooks of this repository",
  settings: "programs that the settings of git name",
} as const;
