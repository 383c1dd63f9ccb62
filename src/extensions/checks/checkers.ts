/** The programs that check files after an edit, and the setting `"checks"` of `config.json`. @module */

import { globToRegex } from "../../text/glob.ts";
import { shellWord } from "../../text/shell_word.ts";

/** False for no checks; otherwise by name, false for one that is off, or a command for certain files. */
export type CheckSettings =
  | false
  | Readonly<Record<string, false | { files: string; command: string; format?: boolean }>>;

export interface Checker {
  name: string;
  files: RegExp;
  /** The shell command, in which the file replaces `{}`. */
  command: string;
  /** The program, which has to exist; missing for a command of the user. */
  program?: string;
  /** Names of files, such as `tsconfig.json`. The program runs in the nearest folder with one, or not at all. */
  project?: readonly string[];
  /** True also for a program of the project, in `node_modules/.bin`. */
  isLocal?: true;
  format?: boolean;
  /** Matches an error: groups `text`, and `file` and `line` if it states them. */
  error: RegExp;
  /** Errors that come from the surroundings, such as a missing library. */
  ignores?: RegExp;
}

/** `FILE:LINE:COLUMN: TEXT`, as most programs write it. */
const USUAL_ERROR =
  /^(?:vet: )?(?<file>[^\s:#][^:\n]*):(?<line>\d+)(?::\d+)*:? (?:error: )?(?!warning|note)(?<text>\S.*)$/gm;
const DENO_ERROR =
  /^(?<text>(?:TS\d+ \[ERROR\]|error: (?:SyntaxError|The module's source code could not be parsed)): .*)(?:\n.*){0,12}?\n? {0,9}at file:\/\/(?<file>\S+?):(?<line>\d+)/gm;
const TSC_ERROR = /^(?<file>\S.*?)\((?<line>\d+),\d+\): error (?<text>.*)$/gm;
const NODE_ERROR = /^(?<file>\/.*):(?<line>\d+)\n(?:.*\n){0,20}?(?<text>SyntaxError: .*)$/gm;
const PYRIGHT_ERROR = /^ *(?<file>\/.*?):(?<line>\d+):\d+ - error: (?<text>.*)$/gm;
const PHP_ERROR =
  /^(?:PHP )?(?:Parse|Fatal) error: +(?<text>.*) in (?<file>\S.*) on line (?<line>\d+)$/gm;

const PYTHON = `import sys
f = sys.argv[1]
try: compile(open(f, "rb").read(), f, "exec")
except SyntaxError as e: print("%s:%s: %s" % (f, e.lineno or 1, e.msg))`;

const JS = /\.[cm]?js$/;
const TS = /\.[cm]?tsx?$/;
const JS_OR_TS = /\.[cm]?[jt]sx?$/;
const PY = /\.pyi?$/;
const C = /\.(c|cc|cpp|cxx)$/;

type CheckerRow = [string, RegExp, string, RegExp, Partial<Checker>?];
const ROWS: readonly CheckerRow[] = [
  ["deno check", JS_OR_TS, "deno check --quiet {}", DENO_ERROR, {
    project: ["deno.json", "deno.jsonc"],
  }],
  ["tsc", TS, "tsc --noEmit --pretty false", TSC_ERROR, {
    project: ["tsconfig.json"],
    isLocal: true,
  }],
  ["node --check", JS, "node --check {}", NODE_ERROR, {
    ignores: /outside a module|Unexpected token 'export'|import\.meta/,
  }],
  ["python3", PY, `python3 -c ${shellWord(PYTHON)} {}`, USUAL_ERROR],
  // Errors, not style: undefined names, wrong comparisons and formats.
  [
    "ruff",
    PY,
    "ruff check --no-cache --quiet --output-format concise --select F63,F7,F82 {}",
    USUAL_ERROR,
  ],
  ["pyright", PY, "pyright {}", PYRIGHT_ERROR, {
    project: ["pyrightconfig.json"],
    isLocal: true,
    ignores: /reportMissing(Module|Imports)/,
  }],
  ["cargo check", /\.rs$/, "cargo check --quiet --offline --message-format short", USUAL_ERROR, {
    project: ["Cargo.toml"],
  }],
  ["go vet", /\.go$/, "go vet ./...", USUAL_ERROR, {
    project: ["go.mod"],
    ignores: /no required module provides|cannot find (package|module)/,
  }],
  ["gofmt", /\.go$/, "gofmt -e -l {}", USUAL_ERROR],
  ["cc", C, "cc -fsyntax-only {}", USUAL_ERROR, { ignores: /file not found|No such file/ }],
  ["shellcheck", /\.(sh|bash)$/, "shellcheck -S error -f gcc {}", USUAL_ERROR],
  ["php -l", /\.php$/, "php -l {}", PHP_ERROR],
  ["ruby -c", /\.rb$/, "ruby -c {}", USUAL_ERROR],
  ["javac", /\.java$/, "javac -proc:none -implicit:none -d /tmp {}", USUAL_ERROR, {
    ignores: /does not exist|cannot find symbol|cannot be resolved/,
  }],
];

export function checkersOf(settings: CheckSettings): Checker[] {
  if (settings === false) return [];
  const usual = ROWS.filter(([name]) => !Object.hasOwn(settings, name)).map((
    [name, files, command, error, more],
  ) => ({ name, files, command, error, program: command.split(" ", 1)[0]!, ...more }));
  const own = Object.entries(settings).flatMap(([name, one]) =>
    one ? [{ ...one, name, files: globToRegex(one.files), error: USUAL_ERROR }] : []
  );
  return [...usual, ...own];
}

const TEXT = { type: "string" };
const COMMAND_FORM = {
  type: "object",
  required: ["files", "command"],
  properties: { files: TEXT, command: TEXT, format: { type: "boolean" } },
};
const OFF_OR_COMMAND = { anyOf: [{ const: false }, COMMAND_FORM] };

/** The schema of the setting: the programs above can be turned off. */
export const CHECKS_FORM = {
  description:
    'be false, or like {"tsc": false, "codespell": {"files": "*.md", "command": "codespell {}"}}',
  anyOf: [{ const: false }, {
    type: "object",
    properties: Object.fromEntries(ROWS.map(([name]) => [name, OFF_OR_COMMAND])),
    additionalProperties: COMMAND_FORM,
  }],
};
