/** The part of a command that a rule or a grant may cover, with any further words after it. @module */

import { shellWord } from "../../text/shell_word.ts";
import { isFed } from "../rules.ts";
import type { Word } from "./lexer.ts";
import { parseCommandLine } from "./parser.ts";
import { isHarmless, mayRun, runsOthers } from "./wrappers.ts";

/** Subcommands whose further words name no code; after the bar, those that use the network or run what they fetch. */
const SUBCOMMANDS: Readonly<Record<string, string>> = {
  cargo: "bench build check clippy doc fmt test tree | add fetch install publish update",
  deno: "fmt lint | add cache install publish update",
  git:
    "add blame cherry-pick commit describe diff grep log ls-files merge revert rev-parse shortlog " +
    "show stash status tag | clone fetch lfs ls-remote pull push remote submodule",
  go: "build fmt list test vet | get install mod",
  npm: "| add audit ci i install outdated publish uninstall update view",
  pip: "| download install list uninstall",
  pip3: "| download install list uninstall",
  pnpm: "| add audit ci i install outdated publish remove update",
  "python -m": "black compileall flake8 isort mypy pytest ruff unittest |",
  uv: "| add lock pip sync",
  yarn: "| add audit install publish remove up upgrade",
};

const PLAIN = new Set(
  "black cat diff du find flake8 grep head isort ls mypy pytest rg ruff stat tail tsc wc which"
    .split(" "),
);
const REACHING = new Set(
  "aria2c curl ftp gh glab http https nc ncat npx pipx rsync scp sftp ssh telnet uvx wget".split(
    " ",
  ),
);

interface Beginning {
  /** The program and its subcommand; all words if it has no subcommand, or if further words may name code. */
  words: readonly Word[];
  /** `open`: any words may follow; `reaching`: it uses the network; `closed`: further words may be unsafe. */
  kind: "open" | "reaching" | "closed";
}

export function commandBeginning(words: readonly Word[]): Beginning {
  const texts = words.map(({ kind, text }) => kind === "literal" ? text : "");
  const [program = ""] = texts;
  const closed: Beginning = { words, kind: REACHING.has(program) ? "reaching" : "closed" };
  if (runsOthers(words)) return closed;
  if (PLAIN.has(program)) return { words: words.slice(0, 1), kind: "open" };
  const isModule = /^python[\d.]*$/.test(program) && texts[1] === "-m";
  const isPip = isModule && texts[2] === "pip";
  const at = isPip ? 3 : isModule ? 2 : 1;
  const name = isPip ? "pip" : isModule ? "python -m" : program;
  const [local, reaching] = (Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name]! : "").split("|")
    .map((names) => names.trim().split(" "));
  const subcommand = texts[at] || undefined;
  if (subcommand === undefined) return closed;
  const beginning = words.slice(0, at + 1);
  if (local!.includes(subcommand)) return { words: beginning, kind: "open" };
  return reaching?.includes(subcommand) ? { words: beginning, kind: "reaching" } : closed;
}

/** Commands that only list, and addresses of servers that may run in the sandbox. */
const LOCAL =
  /^(git (remote( -v)?|submodule( status)?)|pip3? list)$|\blocalhost\b|\b127\.\d|\[::1\]/;

/** True if a command of a line is known to use the network. */
export function usesNetwork(text: string): boolean {
  const line = parseCommandLine(text);
  return line.ok &&
    line.commands.flatMap((command) => mayRun(command)).some((words) =>
      commandBeginning(words).kind === "reaching" && !LOCAL.test(words.map(quoted).join(" "))
    );
}

/** A session's grant of the network: for commands that start with the text, or with `isExact` for exactly this text. */
export interface NetworkGrant {
  text: string;
  isExact: boolean;
}

/** Returns one spelling for the several ways to install from a registry. */
function familyOf(beginning: string): string {
  return beginning.replace(/^python[\d.]* -m pip /, "pip ").replace(/^pip3 /, "pip ")
    .replace(/^(npm|pnpm|yarn) (add|ci|i)$/, "$1 install");
}

/** A word that names a path or an address, and a word that package managers read as a repository or an archive. */
const OTHER_SOURCE = /(^|=)([.~]?\.?\/|\.\.?$)|^file:|:\/\/|^git\+/;
const OTHER_PACKAGE = /^[^@-][^@]*\/|\.(tgz|tar\.gz|whl|zip)$/;

/** Returns the network grants of a line: one per command, or one for the line if its words do not show what runs. */
export function networkGrants(text: string): NetworkGrant[] {
  const line = parseCommandLine(text);
  const texts = new Map<string, boolean>();
  // `| tail -5` uses no network.
  const counted = line.ok &&
    line.commands.filter((command) =>
      !isQuiet(command.words) || command.words.length === 0 || command.assignments.length > 0 ||
      !command.redirections.every(isHarmless)
    );
  for (const command of counted && counted.length > 0 ? counted : [undefined]) {
    const all = command?.words ?? [];
    const { words: beginning, kind } = commandBeginning(all);
    // A path or an address to install from is not the registry that the user allowed.
    const hasRegistry = /^(npm|pnpm|yarn|pip3?|python[\d.]*|uv)$/.test(all[0]?.text ?? "");
    const isElsewhere = all.slice(beginning.length).some(({ kind, text }) =>
      kind !== "literal" || OTHER_SOURCE.test(text) || hasRegistry && OTHER_PACKAGE.test(text)
    );
    const words = isElsewhere ? all : beginning;
    const isExact = kind === "closed" || isElsewhere || REACHING.has(words[0]!.text);
    const isTold = command !== undefined && words.length > 0 && command.assignments.length === 0 &&
      command.redirections.every(isHarmless) &&
      !(isExact && (isFed(command) || words.some((word) => word.kind !== "literal")));
    const covered = words.map(quoted).join(" ");
    texts.set(isTold ? isExact ? covered : familyOf(covered) : text, isExact || !isTold);
  }
  return [...texts].map(([text, isExact]) => ({ text, isExact }));
}

const QUIET = new RegExp(
  "^(:|true|pwd|cat|echo( .*)?|(head|tail)( -(\\d+|[nc] ?[+-]?\\d+))?|wc( -[clmw]+)?|uniq( -[cdiu]+)?" +
    "|sort( -[bdfghinruV]+)*|grep( -([cEFhinovwx]+|[ABCm] ?\\d+))* [^ -][^ ]*)$",
);

/** True for a command that neither opens nor changes a file, apart from its redirections. */
export function isQuiet(words: readonly Word[]): boolean {
  return words.every(({ kind }) => kind === "literal") &&
    QUIET.test(words.map(({ text }) => text.replace(/\s/g, "_")).join(" "));
}

/** Returns the folder that the whole line runs in, as in `cd sub && make`; undefined without one. */
export function enteredFolder(text: string): string | undefined {
  const [start, folder] = /^\s*cd[ \t]+([\w./@+][\w./@+-]*)[ \t]*&&/.exec(text) ?? [];
  if (folder === undefined || /(^|\/)\.\.(\/|$)/.test(folder)) return undefined;
  const rest = text.slice(start!.length);
  return /[;\n]|\|\||(?<![<>&])&(?![&>])/.test(rest) ? undefined : folder;
}

export const quoted = ({ text }: Word): string => shellWord(text);
