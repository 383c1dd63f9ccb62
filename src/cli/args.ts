/** The table of command-line flags, its parser, and the text of `--help`. @module */

import type { StoredSession } from "../records/store.ts";
import type { CheckSettings } from "../extensions/checks/checkers.ts";
import type { StatusPart } from "../ui/terminal/session/footer.ts";
import { isSettingError, PROMPT_TIERS, SAMPLINGS, THEMES, THINK_LEVELS } from "../config.ts";
import type { ModelRoles } from "../config.ts";
import { UsageError } from "../errors.ts";
import { FORMATS } from "../ui/print/json_output.ts";
import { APPROVE_MODES, SANDBOX_MODES } from "../safety/settings.ts";
import { shortened } from "../text/one_line.ts";
import { didYouMean, nearest } from "../text/nearest.ts";
import { EXIT_CODES } from "../exit_codes.ts";
import { wrapped } from "../text/wrap.ts";

/** Runs `make`. A rejected setting becomes a usage error that names the flag, or the setting of config.json. */
export function asUsage<T>(make: () => T, { given }: Args = {}): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
    if (!isSettingError(error)) throw new UsageError(error.message);
    const name = flagOfSetting(error.setting);
    const isOfFile = given && !Object.hasOwn(given, name);
    throw new UsageError(
      `Cannot use ${isOfFile ? `"${name}" in config.json` : `--${name}`} as ${error.why}`,
    );
  }
}

export function flagOfSetting(setting: string): string {
  if (setting === "maxToolRounds") return "max-turns";
  return setting.replace(/Ms$/, "").replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

export interface Flag {
  group?: string;
  name: string;
  short?: string;
  /** The name of its value in the help; missing for a switch. */
  value?: string;
  /**
   * True if the next word is the value, even one like a flag; `word` for one unlike a flag. Otherwise it is
   * empty.
   */
  optional?: true | "word";
  /** True if it may be given more than once: its value has a line for each. */
  isList?: true;
  /** The values it accepts: words, folders or files; missing if it accepts any text. */
  values?: readonly string[] | "folders" | "files";
  help: string;
}

export const FLAGS = [
  {
    group: "Prompt and output",
    name: "print",
    short: "p",
    value: "PROMPT",
    optional: true,
    help: "answer one prompt and exit; piped text is context, or the prompt if -p comes last",
  },
  {
    name: "image",
    short: "i",
    value: "FILE",
    isList: true,
    values: "files",
    help: "with -p: attach an image; may be repeated",
  },
  { name: "output", value: "FORMAT", values: FORMATS, help: "with -p: text, json or stream-json" },
  {
    name: "output-last-message",
    short: "o",
    value: "FILE",
    values: "files",
    help: "with -p: also write the answer to FILE",
  },
  {
    name: "json-schema",
    value: "SCHEMA",
    values: "files",
    help:
      "with -p: require an answer that matches this JSON Schema, a file or text that starts with {; otherwise the exit code is 1",
  },
  { name: "stdin", help: "with -p: wait for piped text, however long it takes" },
  {
    name: "until",
    value: "COMMAND",
    help:
      "after each turn that changes files, run COMMAND in the sandbox; the model continues until it passes; with -p, the exit code is 5 if it does not",
  },
  { name: "rounds", value: "N", help: "with --until: the maximum number of runs in a turn (5)" },
  { name: "until-timeout", value: "SECONDS", help: "the time limit for a run of --until (600)" },
  {
    name: "until-may-edit",
    help: "count a check as passed although the model changed the tests or their configuration",
  },
  { name: "system-prompt", value: "TEXT", help: "replace the system prompt" },
  { name: "append-system-prompt", value: "TEXT", help: "add TEXT to the system prompt" },
  { name: "working-dir", short: "C", value: "DIR", values: "folders", help: "work in this folder" },
  { group: "Sessions", name: "continue", short: "c", help: "continue the folder's newest session" },
  {
    name: "resume",
    value: "ID",
    optional: "word",
    help: "resume the session with this ID, printed at its end; without ID, choose from a list",
  },
  {
    name: "fork-session",
    help: "with --resume ID or --continue: continue in a copy of the session",
  },
  { name: "no-session", help: "do not record the session" },
  { name: "from", value: "N", help: "with replay: use --model from your message N on" },
  { name: "as-exam", value: "NAME", help: "with replay and --until: make a task of copilot exam" },
  { group: "Permissions", name: "yes", short: "y", help: "run edits and commands without asking" },
  {
    name: "approve",
    value: "MODE",
    values: [...APPROVE_MODES, "edits"],
    help:
      "ask: before edits and commands; auto, also called edits: not before edits in this folder and sandboxed commands (in a session with a sandbox); never: refuse instead of asking; plan: write nothing",
  },
  {
    name: "sandbox",
    value: "MODE",
    values: SANDBOX_MODES,
    help:
      "what sandboxed commands may write: workspace-write (in a session), read-only, or off for no sandbox",
  },
  {
    name: "allow",
    value: "RULE",
    isList: true,
    help:
      'run calls that match RULE without asking, such as "run_bash(npm test *)"; may be repeated, as --deny',
  },
  { name: "deny", value: "RULE", isList: true, help: "refuse calls that match RULE" },
  {
    name: "add-dir",
    value: "DIR",
    isList: true,
    values: "folders",
    help: "read and write files in DIR, too",
  },
  { name: "network", help: "allow sandboxed commands and fetch_url to use the network" },
  { name: "env", value: "NAMES", help: "more variables for commands, such as GH_TOKEN,AWS_*" },
  {
    name: "trust",
    help: "use the folder's instructions, such as AGENTS.md, for this run without asking",
  },
  { name: "mcp-config", value: "FILE", values: "files", help: "use a JSON file's MCP servers" },
  {
    group: "Server and model",
    name: "model",
    short: "m",
    value: "NAME",
    help: "the model (gpt-4o; local: qwen3)",
  },
  { name: "local", help: "use an Ollama server" },
  {
    name: "base-url",
    value: "URL",
    help:
      "the address of an OpenAI-style server, up to /v1; over https the key is read from OPENAI_API_KEY",
  },
  { name: "hosted", help: "use Anthropic's API; the key is read from ANTHROPIC_API_KEY" },
  { name: "host", value: "URL", help: "the Ollama server's address (http://localhost:11434)" },
  { name: "use-compat", help: "with --local: use the server's /v1/chat/completions" },
  { name: "api-key", value: "KEY", help: 'the key; others see it: prefer "keys" in config.json' },
  { name: "port", value: "N", help: "with serve: the port (a free one)" },
  {
    name: "allow-host",
    value: "NAME",
    isList: true,
    help: "with serve: accept this name of a tunnel as the host, such as pc.example.ts.net",
  },
  { name: "demo", help: "try it without a model: a tour; with -p, a look at this folder" },
  {
    group: "Sampling and limits",
    name: "think",
    value: "HOW",
    values: ["on", "off", ...THINK_LEVELS.map(String)],
    help: "how much the model thinks, if the server can set it: on, off, low, medium, high",
  },
  {
    name: "context-length",
    value: "N",
    help: "the context window in tokens (with --local: the model's own, at most 32768)",
  },
  {
    name: "max-tokens",
    value: "N",
    help:
      "the maximum tokens of an answer (the room in the model's window; --local: 32768, --hosted: 8192)",
  },
  { name: "max-turns", value: "N", help: "the maximum rounds of tool calls in a turn (50)" },
  { name: "think-budget", value: "N", help: "tokens of thinking (a quarter of --max-tokens)" },
  { name: "temperature", value: "T", help: "temperature (the model's own; --hosted: 0.1)" },
  { name: "top-p", value: "P", help: "the share of probability to sample from, 0 to 1" },
  { name: "top-k", value: "N", help: "sample from the N likeliest tokens" },
  { name: "min-p", value: "P", help: "a token's minimum probability, relative to the likeliest" },
  { name: "repeat-penalty", value: "R", help: "penalty for repetition (the model's own)" },
  {
    name: "sampling",
    value: "MODE",
    values: SAMPLINGS,
    help:
      "sampling if no flag sets it: server: send nothing; auto: with --local, temperature 0.1 if the server has none",
  },
  { name: "text-tools", help: "describe the tools in the prompt, and read calls from the answer" },
  { name: "keep-alive", value: "TIME", help: "with --local: how long to keep the model (30m)" },
  {
    name: "prompt-tier",
    value: "TIER",
    values: PROMPT_TIERS,
    help:
      "the size of the system prompt: lean, full or auto: lean for windows under 16384 and models under 8B",
  },
  { name: "connect-timeout", value: "SECONDS", help: "the time limit for connecting (10)" },
  {
    name: "first-token-timeout",
    value: "SECONDS",
    help: "the time limit for the start of an answer, including loading the model (600)",
  },
  {
    name: "idle-timeout",
    value: "SECONDS",
    help: "the time limit for silence within an answer (120; in a call: --first-token-timeout)",
  },
  {
    group: "Terminal",
    name: "theme",
    value: "THEME",
    values: THEMES,
    help: "colours: dark, light, none, or auto: as the terminal says",
  },
  { name: "vim", help: "vim keys in the input line; docs/keys.md: how to rebind them" },
  { name: "no-notify", help: "do not notify when a long turn ends in an unfocused terminal" },
  {
    name: "completions",
    value: "SHELL",
    values: ["bash", "zsh", "fish"],
    help: "print completions for bash, zsh or fish",
  },
  { name: "json", help: "with doctor, exam, sessions list: print JSON; with -p: --output json" },
  { name: "version", short: "V", help: "print the version" },
  { name: "help", short: "h", help: "print this help" },
] as const satisfies readonly Flag[];

type FlagRow = typeof FLAGS[number];
type Switch = Exclude<FlagRow, { value: string }>["name"];

/** The given flags: `true` for a switch, otherwise the value; "" for an optional value that is missing. */
export type Args =
  & { [K in Switch]?: true }
  & { [K in Exclude<FlagRow["name"], Switch>]?: string }
  & { message?: string }
  & { bindings?: { path: string; keys: Record<string, unknown> } }
  & { resumes?: StoredSession }
  & { status?: readonly StatusPart[] }
  & { checks?: CheckSettings; search?: string }
  & { roles?: ModelRoles }
  /** The flags of the command line alone. */
  & { given?: Args }
  /** Permission flags that come from config.json. permissions.json overrides them. */
  & { usual?: { approve?: string; sandbox?: string; network?: true } };

export const COMMANDS = [
  { name: "doctor", takes: "[flags]", help: "test the model server" },
  { name: "acp", takes: "[flags]", help: "serve an editor (Agent Client Protocol)" },
  { name: "serve", takes: "[flags]", help: "serve browsers of this machine: docs/serve.md" },
  { name: "mcp", takes: "COMMAND", help: "manage MCP servers: copilot mcp --help" },
  { name: "plugin", takes: "COMMAND", help: "manage plug-ins: copilot plugin --help" },
  { name: "sessions", takes: "COMMAND", help: "list, show, rename, delete, export sessions" },
  { name: "replay", takes: "ID [flags]", help: "play a session again: copilot replay --help" },
  { name: "exam", takes: "[flags]", help: "test how good a model is: copilot exam --help" },
] as const;
/** The words and flags of other agents, with our name for each, or what to do. */
const FLAGS_ELSEWHERE: ReadonlyMap<string, string> = new Map(
  ([
    ["--output-format", "--output"],
    ["--allowedTools --allowed-tools", "--allow"],
    ["--disallowedTools --disallowed-tools", "--deny"],
    ["--cd --cwd", "--working-dir"],
    ["--permission-mode", "--approve"],
    ["--session-id", "JSON output has session_id, and --resume ID continues that session"],
    ["--input-format", "pipe text, or use copilot acp for a conversation on stdin and stdout"],
    [
      "--yolo --full-auto --dangerously-skip-permissions --dangerously-bypass-approvals-and-sandbox",
      "--yes runs edits and commands without asking",
    ],
    ["run exec", 'for one answer on stdout, run copilot -p "PROMPT"'],
    ["setup", "to choose a model, run copilot and type /setup"],
    ["resume continue", "--continue resumes the newest session, and --resume lists the others"],
    ["login logout", "there is no account: /setup in a session chooses a server and its key"],
    ["update upgrade", "update it as you installed it: see the README"],
    ["version", "copilot --version prints it"],
  ] as const).flatMap(([names, ours]) => names.split(" ").map((name) => [name, ours] as const)),
);
const OTHER_MODES = new Map([["default", "ask"], ["acceptEdits", "auto"], ["dontAsk", "never"]]);
/** The commands that take the flags of a session. The others read their words themselves. */
type CommandName = Exclude<typeof COMMANDS[number]["name"], "mcp" | "plugin" | "exam" | "sessions">;
export const COMMAND_NAMES: readonly string[] = COMMANDS.map(({ name }) => name);

/**
 * Parses a command line. A value is the next word, even one with a dash, or follows `=`; only a flag behind `-p`
 * stays one. One word may belong to no flag, and after `--` it may be any word: the message, or the missing value of
 * `--print`. Throws a {@linkcode UsageError} for unknown flags and for further words.
 */
export function parseArgs(words: readonly string[]): Args & { command?: CommandName } {
  const args: Record<string, string | true> = {};
  if (words.length === 1 && words[0] === "help") return { help: true };
  const [first = ""] = words;
  if (COMMAND_NAMES.includes(first)) args.command = first;
  for (let i = args.command ? 1 : 0; i < words.length; i++) {
    const word = words[i]!;
    if (word === "--") {
      for (const operand of words.slice(i + 1)) takeOperand(args, operand);
      break;
    }
    if (!word.startsWith("-")) {
      const advice = FLAGS_ELSEWHERE.get(word);
      if (advice !== undefined) throw unexpected(word, advice);
      const meant = /\s/.test(word) ? undefined : nearest(word, COMMAND_NAMES);
      if (meant === word) throw unexpected(word, `it comes first: copilot ${word} ...`);
      if (meant !== undefined) throw unexpected(word, `did you mean copilot ${meant}?`);
      takeOperand(args, word);
      continue;
    }
    const flag = findFlag(word);
    const before = args[flag.name];
    if (before !== undefined && !flag.isList) {
      throw new UsageError(`--${flag.name} is given twice`);
    }
    const given = word.includes("=") ? word.slice(word.indexOf("=") + 1) : undefined;
    if (flag.value === undefined) {
      if (given !== undefined) throw new UsageError(`--${flag.name} takes no value`);
      args[flag.name] = true;
    } else if (given !== undefined) {
      args[flag.name] = given;
    } else {
      const value = words[++i];
      if (!flag.optional && (value === undefined || value === "--" || flagOf(value))) {
        throw new UsageError(`--${flag.name} needs a value: --${flag.name} ${flag.value}`);
      }
      const isFlag = flag.optional === "word"
        ? value?.startsWith("-")
        : flag.optional && value !== undefined && isFlagBehindPrint(value);
      if (isFlag) i--;
      args[flag.name] = isFlag ? "" : value ?? "";
    }
    if (before !== undefined) args[flag.name] = `${before}\n${args[flag.name]}`;
    if (flag.name === "approve") takeMode(args);
    if (args[flag.name] !== undefined) checkValue(flag, `${args[flag.name]}`);
  }
  const { print, message, ...others } = args as Args;
  if (print === undefined || message === undefined) return args as Args;
  if (print !== "") throw unexpected(message);
  return { ...others, print: message };
}

function checkValue(flag: Flag, value: string): void {
  if (Array.isArray(flag.values) && !flag.values.includes(value)) {
    throw wrongValue(flag.name, `one of ${flag.values.join(", ")}`, value);
  }
  if (takesNumber(flag) && !isNumber(value)) throw wrongValue(flag.name, "a number", value);
}

export const takesNumber = ({ value = "" }: Flag): boolean => /^(?:[NTPR]|SECONDS)$/.test(value);
export const isNumber = (text: string): boolean => Number.isFinite(Number(text.trim() || NaN));

/** Flags that may follow `-p`. Others choose a server or give rights, which a word of strangers must not. */
const BEHIND_PRINT = new Set(
  "output json-schema output-last-message until rounds until-timeout max-turns model no-session"
    .split(" "),
);

/** True for a word behind `-p` that is a flag, not the prompt. @throws {UsageError} for one that goes before it. */
function isFlagBehindPrint(word: string): boolean {
  if (word === "--") return true;
  const flag = word.includes("=") ? undefined : flagOf(word);
  if (flag === undefined || BEHIND_PRINT.has(flag.name)) return flag !== undefined;
  throw new UsageError(`${word} goes before -p (to send it as the prompt, write -p=${word})`);
}

function takeMode(args: Record<string, string | true>): void {
  args.approve = OTHER_MODES.get(`${args.approve}`) ?? args.approve!;
  if (args.approve !== "bypassPermissions") return;
  delete args.approve;
  args.yes = true;
}

function takeOperand(args: Record<string, string | true>, word: string): void {
  const { command, print, message } = args;
  if (command && command !== "replay" || print || message !== undefined) {
    throw unexpected(word, command ? `copilot ${command} takes only flags` : flagNote(print));
  }
  args.message = word;
}

/** Returns a note on a prompt that may be meant as a flag. It stays a prompt: a script may pass any text on. */
export const flagNote = (prompt: string | true = ""): string | undefined =>
  /^--?[a-z]\S*$/i.test(`${prompt}`)
    ? `the prompt is ${quotedWord(`${prompt}`)}: flags go before -p`
    : undefined;

/** Returns the value of `--output` in a command line that may be invalid. */
export function outputAsked(words: readonly string[]): string | undefined {
  const at = words.findIndex((word) => flagOf(word)?.name === "output");
  return at === -1 ? undefined : words[at]!.split("=")[1] ?? words[at + 1];
}

function flagOf(word: string): Flag | undefined {
  const flags: readonly Flag[] = FLAGS;
  const given = word.split("=", 1)[0]!;
  const name = FLAGS_ELSEWHERE.get(given) ?? given;
  return flags.find((flag) =>
    name === `--${flag.name}` || flag.short !== undefined && name === `-${flag.short}`
  );
}

function findFlag(word: string): Flag {
  const found = flagOf(word);
  if (found) return found;
  const name = word.split("=", 1)[0]!;
  const names = FLAGS.map((flag) => flag.name);
  const bare = name.replace(/^-+/, "");
  const hint = FLAGS_ELSEWHERE.get(name) ??
    didYouMean(bare, names, "--help lists the flags", (near) => `--${near}`);
  throw new UsageError(`Unknown flag ${quotedWord(name)}: ${hint}`);
}

function unexpected(word: string, advice = 'give one message, in quotes: "..."'): UsageError {
  return new UsageError(`Unexpected argument ${quotedWord(word)}: ${advice}`);
}

export function wrongValue(flag: string, wanted: string, text: string): UsageError {
  return new UsageError(`--${flag} must be ${wanted}: it is ${JSON.stringify(text.slice(0, 60))}`);
}

/** @throws {UsageError} if `text`, the value of a flag, is no whole number from `min` to `max`. */
export function wholeFlag(flag: string, text: string, min: number, max = 0): number {
  const value = Number(text.trim() || NaN);
  if (Number.isInteger(value) && value >= min && value <= (max || 2 ** 31 - 1)) return value;
  throw wrongValue(flag, `a whole number from ${min}${max ? ` to ${max}` : ""}`, text);
}

function quotedWord(text: string): string {
  return JSON.stringify(shortened(text, 60));
}

export function usageText(): string {
  const left = FLAGS.map((flag: Flag) => {
    const value = flag.value ? ` ${flag.optional ? `[${flag.value}]` : flag.value}` : "";
    return `  ${flag.short ? `-${flag.short}, ` : "    "}--${flag.name}${value}`;
  });
  const width = Math.max(...left.map((text) => text.length)) + 2;
  const rows = FLAGS.map((flag: Flag, i) =>
    (flag.group ? `\n${flag.group}:\n` : "") + left[i]!.padEnd(width) +
    wrapped(flag.help, 80 - width).replaceAll("\n", `\n${" ".repeat(width)}`)
  );
  const commands = COMMANDS.map(({ name, takes, help }) =>
    `  ${`copilot ${name} ${takes}`.padEnd(32)}${help}`
  );
  return `copilot: a terminal coding agent for models that you run yourself

Usage:
  copilot                         a session; the first one lists the models
  copilot [flags] ["MESSAGE"]     a session that starts with MESSAGE
  copilot [flags] -- "MESSAGE"    the same for a MESSAGE that starts with a dash
  copilot [flags] -p "PROMPT"     one answer on stdout, progress on stderr
  command | copilot [flags] -p "PROMPT"
  command | copilot [flags] -p    piped text is the prompt
${commands.join("\n")}

Parentheses in the list of flags show the default.
${rows.join("\n")}

Exit codes:
${wrapped(`  ${EXIT_CODES.map(([code, text]) => `${code} ${text}`).join(", ")}`, 78)}

Examples:
  copilot "Fix the failing test"
  copilot --demo -p "What does this project do?"
  copilot --until "npm test" -p "Fix the failing tests"
  copilot --local --model qwen3:8b
  copilot --base-url http://localhost:8080/v1 -p "Where are the tests?"
`;
}
