/** Commands that only read. @module */

import type { SimpleCommand } from "./lexer.ts";

/** The options and operands with which a program only reads; with any other it is not known to. */
interface ReadOnlyUse {
  /** Letters of options without a value. */
  letters?: string;
  /** Letters of options whose value follows, in the same word or the next. */
  valued?: string;
  /** Names of long options, with or without `=value`; those that end with `=` only with one. */
  long?: string;
  /** True where a number such as `-12` is an option. */
  hasNumber?: boolean;
  /** The most operands that there may be; left out, any number. */
  maxOperands?: number;
}

/**
 * Programs that only read, by name. `diff` is left out: it shows contents of whole folders, secrets
 * among them, that nobody named. Folders that `grep -r` and `rg` show are in {@linkcode searchedBy}.
 */
const PROGRAMS: Readonly<Record<string, ReadOnlyUse>> = {
  ...{ basename: {}, dirname: {}, false: {}, md5sum: {}, rev: {}, sha1sum: {}, sha256sum: {} },
  ...{ tac: {}, true: {}, whoami: {} },
  cat: { letters: "AbeEnstTuv", long: "number show-all" },
  cmp: { letters: "bls" },
  cut: { letters: "s", valued: "bcdf" },
  df: { letters: "ahHiklT" },
  du: { letters: "abchHklsx", valued: "d", long: "max-depth" },
  echo: { letters: "neE" },
  grep: {
    letters: "aEFGHhiLlnoPqrsvwxyZ",
    valued: "ABCem",
    long:
      "color count ignore-case line-number fixed-strings only-matching recursive include= exclude= " +
      "exclude-dir=",
  },
  head: { letters: "qvz", valued: "cn", hasNumber: true, long: "lines bytes" },
  id: { letters: "gGnru" },
  ls: {
    letters: "1aAbBcCdFgGhHiklLmnNopqQrRsStuUvxX",
    long: "all almost-all color human-readable reverse recursive size sort time",
  },
  nl: { valued: "b" },
  pwd: { letters: "LP" },
  readlink: { letters: "efmn" },
  realpath: { letters: "em" },
  // Options that run programs (--pre, -z, --hostname-bin) or follow links are left out.
  rg: {
    letters: "aFHIilnNopPqsSUvwxc0",
    valued: "ABCegjmtTMdr",
    long:
      "count files files-with-matches fixed-strings heading ignore-case json line-number no-heading " +
      "only-matching smart-case stats trim type-list word-regexp color= context= glob= iglob= " +
      "max-count= max-depth= sort= type= type-not=",
  },
  sort: { letters: "bdfghMnrRsuVz", valued: "kt" },
  stat: { letters: "Lt", valued: "c" },
  tail: { letters: "qvz", valued: "cn", hasNumber: true, long: "lines bytes" },
  tr: { letters: "cCdst" },
  tree: { letters: "adfhL", valued: "L" },
  uname: { letters: "aimnoprsv" },
  uniq: { letters: "cdiuz", valued: "fsw", maxOperands: 1 },
  wc: { letters: "clmwL", long: "lines words bytes chars" },
  which: { letters: "a" },
};

const COMMITS =
  "abbrev-commit all author branches cached color date decorate first-parent follow format graph grep " +
  "max-count merges name-only name-status no-color no-ext-diff no-merges no-patch no-textconv numstat " +
  "oneline patch pretty reverse shortstat since staged stat summary tags until word-diff";

/**
 * Subcommands of git that only read. Settings of the folder can make each of them run programs
 * (`core.fsmonitor`, `diff.external`, filters, pagers), so they count only in a trusted folder: options
 * against that cannot be added, as the command that runs is the one that was shown, byte for byte.
 */
const GIT: Readonly<Record<string, ReadOnlyUse>> = {
  blame: { letters: "elsw", valued: "L" },
  branch: { letters: "arv", long: "all list remotes show-current verbose", maxOperands: 0 },
  describe: { long: "always tags" },
  diff: { letters: "bMpswz", valued: "U", long: COMMITS },
  log: { letters: "bMpswz", valued: "GLSU" + "n", hasNumber: true, long: COMMITS },
  "ls-files": { letters: "cdmostz", long: "exclude-standard others" },
  remote: { letters: "v", maxOperands: 0 },
  "rev-parse": { long: "abbrev-ref git-dir is-inside-work-tree short show-toplevel verify" },
  show: { letters: "bMpswz", valued: "U", long: COMMITS },
  status: { letters: "bsvz", long: "branch ignored long porcelain short show-stash" },
};

/** Programs whose `--version` only prints it, where no version manager stands in for them. */
const VERSIONED = "bash curl gcc git java make node perl python python3 ruby".split(" ");

/** Tests of `find` that only read, with the number of words that follow each. */
const FIND: Readonly<Record<string, number>> = {
  ...{ "!": 0, "-not": 0, "-o": 0, "-or": 0, "-a": 0, "-and": 0, "-empty": 0, "-print": 0 },
  ...{ "-print0": 0, "-iname": 1, "-ipath": 1, "-maxdepth": 1, "-mindepth": 1, "-mmin": 1 },
  ...{ "-mtime": 1, "-name": 1, "-newer": 1, "-path": 1, "-size": 1, "-type": 1, "-prune": 0 },
};

/**
 * The paths that a command reads, if it is known to do nothing else: every word of it that may be a
 * path. Undefined for all other commands. Redirections are not looked at. `isTrusted` is about the git
 * settings of the folder, `isSystem` true for a program of the system's own folders.
 */
export function readsOnly(
  command: SimpleCommand,
  isTrusted: boolean,
  isSystem: (program: string) => boolean = () => false,
): string[] | undefined {
  if (command.assignments.length > 0) return undefined;
  if (command.words.some(({ kind }) => kind !== "literal")) return undefined;
  const [program = "", ...args] = command.words.map(({ text }) => text);
  if (args.length === 1 && args[0] === "--version" && VERSIONED.includes(program)) {
    return isSystem(program) ? [] : undefined;
  }
  if (program === "find") return findOperands(args);
  // `sed -n 1,20p FILE` is the one form of sed that only reads.
  const printsLines = args[0] === "-n" && /^\d+(,(\d+|\$))?p$/.test(args[1] ?? "");
  if (program === "sed") return printsLines ? pathsOf(args.slice(2), {}) : undefined;
  // Other operands of date set the clock.
  if (program === "date") return args.every((arg) => /^(\+|-u$)/.test(arg)) ? [] : undefined;
  if (Object.hasOwn(PROGRAMS, program)) return pathsOf(args, PROGRAMS[program]!);
  if (program !== "git") return undefined;
  if (args[0] === "--no-pager") args.shift();
  const [subcommand = "", ...rest] = args;
  if (!isTrusted || !Object.hasOwn(GIT, subcommand)) return undefined;
  // A path may stand after a commit, as in HEAD:src/a.ts.
  return pathsOf(rest, GIT[subcommand]!)?.flatMap((one) => [one, ...one.split(":").slice(1)]);
}

/**
 * What a command that {@linkcode readsOnly} knows searches through; nothing for one that shows only
 * files that it names. `rg` searches hidden files, too: a file of the folder can make it heed them.
 */
export function searchedBy({ words }: SimpleCommand): string[] {
  const [program = "", ...args] = words.map(({ text }) => text);
  const isRecursive = args.some((arg) => /^-[^-]*r|^--recursive$/.test(arg));
  if (program !== "rg" && !(program === "grep" && isRecursive)) return [];
  const { operands = [] } = readArgs(args, PROGRAMS[program]!) ?? {};
  const hasPattern = args.some((arg) => /^-[^-]*e/.test(arg));
  // Without a folder it is the working directory that is searched; one too many does no harm.
  return [...operands.slice(hasPattern ? 0 : 1), ...operands.length < 2 ? ["."] : []];
}

/** True for a command of git, known to {@linkcode readsOnly}, that shows lines of files it does not name. */
export function showsChanges({ words }: SimpleCommand): boolean {
  const [program, subcommand, ...args] = words.map(({ text }) => text)
    .filter((text) => text !== "--no-pager");
  if (program !== "git") return false;
  if (args.some((arg) => /^-[^-GS]*[pUL]|^--(patch|word-diff)/.test(arg))) return true;
  if (subcommand === "status") return args.some((arg) => /^-[^-]*v/.test(arg));
  const showsNamed = subcommand === "show" && args.length > 0 &&
    args.every((arg) => /^[^-].*:/.test(arg));
  return !showsNamed && ["diff", "show"].includes(subcommand!) &&
    !args.some((arg) => /^(-s|--(\w*stat|name-\w+|no-patch|summary))$/.test(arg));
}

function pathsOf(args: readonly string[], allowed: ReadOnlyUse): string[] | undefined {
  const { operands, values } = readArgs(args, allowed) ?? {};
  return operands && [...operands, ...values!].filter((one) => one !== "" && one !== "-");
}

function readArgs(
  args: readonly string[],
  allowed: ReadOnlyUse,
): { operands: string[]; values: string[] } | undefined {
  const { letters = "", valued = "", long = "", hasNumber = false, maxOperands } = allowed;
  const names = new Set(long.split(" "));
  const operands: string[] = [];
  const values: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!;
    if (arg === "--") {
      operands.push(...args.slice(i + 1));
      break;
    }
    if (!arg.startsWith("-") || arg === "-") operands.push(arg);
    else if (arg.startsWith("--")) {
      const [name, ...value] = arg.slice(2).split("=");
      if (!names.has(name!) && !(value.length > 0 && names.has(`${name}=`))) return undefined;
      values.push(...value);
    } else if (!(hasNumber && /^-\d+$/.test(arg))) {
      const at = [...arg].findIndex((letter, n) => n > 0 && !letters.includes(letter));
      if (at < 0) continue;
      if (!valued.includes([...arg][at]!)) return undefined;
      values.push([...arg].slice(at + 1).join("") || args[++i] || "");
    }
  }
  if (maxOperands !== undefined && operands.length > maxOperands) return undefined;
  return { operands, values };
}

function findOperands(args: readonly string[]): string[] | undefined {
  const start = args.findIndex((arg) => /^[-!()]/.test(arg));
  const paths = start < 0 ? args : args.slice(0, start);
  const values: string[] = [];
  for (let i = paths.length; i < args.length; i++) {
    if (!Object.hasOwn(FIND, args[i]!)) return undefined;
    if (FIND[args[i]!]! > 0) values.push(args[++i] ?? "");
  }
  return [...paths, ...values].filter((one) => one !== "");
}
