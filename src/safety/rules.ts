/** Rules that the user writes: matching calls are refused, asked about, or allowed. @module */

import { escapeRegex, globToRegex } from "../text/glob.ts";
import { relative, resolve, SEPARATOR, slashed } from "../text/std_path.ts";
import type { Tool } from "../types/tool.ts";
import { placeOf } from "./places.ts";
import { parseCommandLine } from "./shell/parser.ts";
import type { SimpleCommand, Word } from "./shell/lexer.ts";
import { isOption, programName, runsOthers } from "./shell/wrappers.ts";

/** The effects of rules. If several rules match, the first effect in this list decides. */
export const RULE_EFFECTS = ["deny", "ask", "allow"] as const;
export type RuleEffect = typeof RULE_EFFECTS[number];

export interface Rule {
  effect: RuleEffect;
  text: string;
  /** The name of a tool, an access that tools have (`read`, `write`, `execute`, `network`), or `*`. */
  tool: string;
  /** The words of a command: all of them, or with `isStart` the first ones. */
  command?: { words: readonly string[]; isStart: boolean };
  /** The pattern of paths. Unless the rule allows, it matches paths in Unicode's form NFC. */
  path?: RegExp;
  isAbsolute?: boolean;
  /** The part of such a pattern before its first wildcard, with links followed. */
  start?: string;
  host?: HostPattern;
  /** The argument that a rule about another program's tool covers, and the pattern of its text. */
  argument?: { name: string; value: RegExp };
  /** The source of a rule that is not in the user's settings: "this session", or a file of the folder. */
  origin?: string;
  isForSandbox?: boolean | undefined;
  isKept?: true;
}

/** A host as in URLs, or with `isBelow` all hosts below that name. `port` is empty for the default ones. */
export interface HostPattern {
  name: string;
  isBelow: boolean;
  port?: string;
}

/** A rule that an answer saved: it covers no words that lead out of the folder, or to protected files. */
export interface KeptRule {
  rule: string;
  /** True if it covers only sandboxed commands, false if it also covers those that ask to leave the sandbox. */
  confined?: boolean;
}

export interface OfferedRule extends KeptRule {
  /** The calls that it allows, in words: `npm test …`. */
  words: string;
}

/** Parses a rule that an answer saved. @throws {SyntaxError} like {@linkcode parseRule}. */
export function parseKept({ rule, confined }: KeptRule, above?: string): Rule {
  return {
    ...parseRule("allow", rule, above),
    isKept: true,
    isForSandbox: confined,
  };
}

/**
 * Parses a rule: `TOOL`, `TOOL(GLOB)`, or, for commands, `run_bash(WORDS)` and `run_bash(WORDS *)`. TOOL is a
 * tool's name, `read`, `write`, `execute` or `network` for all tools with that access, or `*`. A tool of an MCP
 * server is `mcp__SERVER__TOOL`, all of its tools are `mcp__SERVER`, with `ARGUMENT: GLOB` in the brackets. For
 * `fetch_url` and `network`, the brackets contain `HOST`, `HOST:PORT` or `*.HOST`. A glob starts with `/`, or is
 * relative to the working directory or to the absolute folder `above`. Words are written as in a shell; unless
 * they end with ` *`, the command must have exactly these.
 *
 * @throws {SyntaxError} for an invalid rule; the message says what to write instead
 */
export function parseRule(effect: RuleEffect, text: string, above?: string): Rule {
  const wrong = (constraint: string): never => {
    throw new SyntaxError(
      `Cannot use the rule ${JSON.stringify(text)} as ${constraint}: write, for example, ` +
        "read_file(docs/**), run_bash(git status) or run_bash(git log *)",
    );
  };
  const [, tool, inner] = /^([\w-]{1,80}|\*)(?:\(([^]*)\))?$/.exec(text.trim()) ??
    wrong("it must be the name of a tool, and what it applies to in brackets");
  const rule: Rule = { effect, text: text.trim(), tool: tool! };
  if (inner === undefined || inner.trim() === "*") return rule;
  if (inner.trim() === "") wrong("its brackets must not be empty");
  if (tool!.startsWith(PLUGGED)) {
    const [, name, glob] = /^\s*([^\s:]+)\s*:\s*(.+?)\s*$/.exec(inner) ??
      wrong(
        "its brackets must contain an argument and its pattern, as in mcp__git__push(branch: feature/*)",
      );
    return { ...rule, argument: { name: name!, value: textPattern(glob!) } };
  }
  const isOfHosts = tool === "fetch_url" || tool === "network";
  if (isOfHosts) return { ...rule, host: hostPattern(inner.trim()) ?? wrong(HOST_FORM) };
  if (tool !== "run_bash" && tool !== "execute") {
    if (/(^|\/)\.\.(\/|$)|^~/.test(inner)) wrong("its path must have neither .. nor ~");
    // `//` and `/./` are `/`, as in paths.
    let glob = inner.replace(DOUBLED, "/").replace(/(?<=.)\/\.?$/, "").replace(/^\.\//, "");
    let base = "";
    if (above !== undefined && !ABSOLUTE.test(glob)) {
      base = slashed(above).replace(/\/?$/, glob === "." ? "" : "/") || "/";
      if (glob === ".") glob = "";
      rule.text = `${tool}(${base}${glob})`;
    }
    if (base !== "" || ABSOLUTE.test(glob)) rule.isAbsolute = true;
    // Files below these two folders do not start with the folder's name, so the patterns are widened.
    if (effect !== "allow" && glob === ".") glob = "{,?**}";
    if (effect !== "allow" && base + glob === "/") glob += "**";
    try {
      const { pattern, start } = rule.isAbsolute
        ? resolved(effect, base, glob)
        : { pattern: glob, start: undefined };
      const path = globToRegex(effect === "allow" ? pattern : pattern.normalize());
      return { ...rule, path, ...start && { start } };
    } catch (error) {
      wrong(`its glob pattern does not work (${(error as Error).message})`);
    }
  }
  const line = parseCommandLine(inner.trim());
  if (!line.ok) return wrong(`its command cannot be understood (${line.reason})`);
  const [command, ...more] = line.commands;
  if (command === undefined || more.length > 0) return wrong("it must be for one command");
  const { words, assignments, redirections } = command;
  if (assignments.length + redirections.length > 0) {
    wrong("its command must neither set variables nor redirect");
  }
  const isStart = words.at(-1)?.kind === "pattern" && words.at(-1)?.text === "*";
  const plain = isStart ? words.slice(0, -1) : words;
  if (plain.some(({ kind }) => kind !== "literal")) {
    wrong("its words must be plain, except for a * at the end");
  }
  return { ...rule, command: { words: plain.map((word) => word.text), isStart } };
}

const HOST_FORM =
  "its brackets must contain a host, as in fetch_url(docs.python.org), fetch_url(*.python.org) or fetch_url(localhost:8000)";

function hostPattern(text: string): HostPattern | undefined {
  const [, below, host] = /^(\*\.)?([^*/?#@\s\\]+)$/.exec(text) ?? [];
  const url = host === undefined
    ? null
    : URL.parse(`http://${host.replace(/(?<!\.)\.+(?=:|$)/, "")}`);
  if (!url || url.pathname !== "/") return undefined;
  const port = /:(\d+)$/.exec(host!.replace(/^\[.*\]/, ""))?.[1];
  return {
    name: url.hostname,
    isBelow: below !== undefined,
    ...port !== undefined && { port: /^0*(80|443)$/.test(port) ? "" : url.port },
  };
}

/** The start of an absolute path: `/`, or on Windows a drive letter. */
const ABSOLUTE = SEPARATOR === "/" ? /^\// : /^(\/|[a-z]:)/i;
/** Slashes that equal one slash. On Windows, two at the start introduce the name of another computer. */
const DOUBLED = SEPARATOR === "/" ? /\/(\.?\/)+/g : /(?<=.)\/(\.?\/)+/g;

/**
 * Returns an absolute glob pattern after the literal folder `base`. Unless the rule allows, it also matches the
 * current targets of the links in its folders. Links in an allowing rule are not followed: a command may have
 * created them to extend the rule.
 */
function resolved(effect: RuleEffect, base: string, glob: string) {
  const named = /^(?:[^*?[\]{}\\/]*(?:\/|$))*/.exec(glob)![0];
  const start = base + named;
  const end = start.endsWith("/") ? "/" : "";
  const place = realFolder(start);
  const real = slashed(place).replace(/\/?$/, end);
  const [asked, led] = [start, real].map((path) => path.replace(/[\\*?[\]{},]/g, "\\$&"));
  const isSame = effect === "allow" || real === start;
  const pattern = `${isSame ? asked : `{${asked},${led}}`}${glob.slice(named.length)}`;
  return { pattern, start: place };
}

export function realFolder(path: string): string {
  return placeOf("/", resolve(path)).real;
}

export type RuledTool = Pick<Tool, "name" | "access" | "ruleName">;

export const PLUGGED = "mcp__";

/** Returns a pattern for any text: `*` matches any characters, all others match themselves. */
function textPattern(glob: string): RegExp {
  return new RegExp(`^${glob.split("*").map(escapeRegex).join("[^]*")}$`, "u");
}

export function isFor(rule: Rule, { name, access, ruleName }: RuledTool): boolean {
  // Another program's tool may have the name of one of ours.
  if (ruleName !== undefined) {
    // The name of a server has no `__`: a rule for one tool is for no other whose name starts with its own.
    const isServers = /^mcp__(?!.*__)/.test(rule.tool) && ruleName.startsWith(`${rule.tool}__`);
    if (isServers || rule.tool === ruleName) return true;
  } else if (rule.tool === name) return true;
  return rule.tool === "*" || rule.tool === access;
}

/** True if the rule is about no argument, or if its argument matches in `args`. */
export function matchesArgument(
  { argument }: Rule,
  args: Readonly<Record<string, unknown>> | undefined,
): boolean {
  if (argument === undefined) return true;
  const value = args && Object.hasOwn(args, argument.name) ? args[argument.name] : undefined;
  return /^(string|number|boolean)$/.test(typeof value) && argument.value.test(String(value));
}

/** Returns the absolute `path` as rules name it, with `/`: relative if it is at or below `root`. */
export function rulePathOf(root: string, path: string): string {
  const way = slashed(relative(root, path));
  return way === ".." || way.startsWith("../") ? slashed(path) : way || ".";
}

/** True if a path rule matches the absolute path `at`, or, unless it allows, a folder above it. */
export function matchesPath(rule: Rule, root: string, at: string): boolean {
  if (rule.path === undefined) return rule.command === undefined;
  const regex = rule.path;
  let path = rule.isAbsolute ? slashed(resolve(at)) : rulePathOf(root, at);
  // `**` means all of the working directory, not all of the disk.
  const isApart = !rule.isAbsolute && ABSOLUTE.test(path);
  if (rule.effect === "allow") return !isApart && regex.test(path);
  // An empty path keeps the folder itself from matching `.*`, which is for hidden files.
  path = path === "." ? "" : path.normalize();
  // `secret/**` covers the folder itself as well.
  if (regex.test(path) || regex.test(`${path}/`)) return true;
  for (let at = path.length; (at = path.lastIndexOf("/", at - 1)) > 0;) {
    if (regex.test(path.slice(0, at))) return true;
  }
  return false;
}

/** True if an allow rule covers a command: exactly its words, known before it runs, with no other input. */
export function allowsCommand(rule: Rule, command: SimpleCommand): boolean {
  const { words, assignments } = command;
  if (assignments.length > 0 || words.length === 0) return false;
  const { words: wanted, isStart } = rule.command ?? { words: [], isStart: true };
  if (rule.path !== undefined || words.length < wanted.length) return false;
  const begins = wanted.every((text, i) => words[i]!.kind === "literal" && words[i]!.text === text);
  if (!begins || !isStart) return begins && words.length === wanted.length && !isFed(command);
  return words[0]!.kind === "literal" && words.every(isSteady) && !runsOthers(words);
}

/** True for a command that may read input from another command or from the line. */
export function isFed({ isPiped, redirections }: SimpleCommand): boolean {
  return isPiped === true ||
    redirections.some(({ operator, target }) =>
      operator.startsWith("<") && target.text !== "/dev/null"
    );
}

/** True for a literal word, or for a pattern that matches neither options nor hidden files. */
function isSteady({ text, kind }: Word): boolean {
  if (kind === "literal") return true;
  return kind === "pattern" && !/^[-*?[~]|\{|(^|\/)\.(?!\/)|[:=]~/.test(text);
}

/** Returns if a rule that refuses or asks covers one of `runs`; `maybe` if that depends on expansions. */
export function concernsCommand(
  rule: Rule,
  runs: readonly (readonly Word[])[],
): "yes" | "maybe" | "no" {
  const { command, path } = rule;
  if (path !== undefined) return "no";
  if (command === undefined) return "yes";
  const found = new Set(runs.map((words) => matchesLoosely(command, words)));
  return found.has("yes") ? "yes" : found.has("maybe") ? "maybe" : "no";
}

/** Options of git before its subcommand whose value is the next word. */
export const GIT_VALUES =
  "-C -c --git-dir --work-tree --namespace --exec-path --config-env --attr-source --super-prefix"
    .split(" ");
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  "-f": ["--force"],
  "-r": ["-R", "--recursive"],
  "--force": ["-f"],
  "--recursive": ["-r", "-R"],
};

/** Compares words as programs read them: options in any position, the others in order, the program by name. */
function matchesLoosely(
  { words: [program, ...wanted], isStart }: { words: readonly string[]; isStart: boolean },
  words: readonly Word[],
): "yes" | "maybe" | "no" {
  const name = words[0]?.kind === "literal" ? programName(words[0].text) : undefined;
  if (name === undefined || name !== programName(program ?? "")) return "no";
  // The value of an option before the subcommand may be several words if it is not quoted: `git -C $x`.
  const rest = words.slice(1).filter(({ kind, isOne }, i) =>
    name !== "git" || !GIT_VALUES.includes(words[i]!.text) || words[i]!.kind !== "literal" ||
    kind !== "literal" && !isOne
  );
  const unsure = rest.some(({ kind }) => kind !== "literal");
  const given = rest.filter(({ text }) => text.startsWith("-") && text !== "-");
  const others = rest.filter((word) => !given.includes(word));
  const isValue = (word: Word | undefined) =>
    word !== undefined && given.includes(rest[rest.indexOf(word) - 1]!);
  const operands = wanted.filter((text) => !text.startsWith("-"));
  if (!isStart && rest.length !== wanted.length && !unsure) return "no";
  const options = wanted.filter((text) => text.startsWith("-")).flatMap((text) =>
    text.startsWith("--") ? [text] : [...text.slice(1)].map((letter) => `-${letter}`)
  );
  const isGiven = (option: string) =>
    [option, ...SYNONYMS[option] ?? []].some((one) =>
      given.some(({ text }) => isOption(text, one))
    );
  let at = 0;
  for (const text of operands) {
    const isIt = (word: Word | undefined) => word?.kind === "literal" && word.text === text;
    // A word may be an option's value, as in `kubectl -n x delete`.
    while (name !== "git" && !isIt(others[at]) && isValue(others[at])) at++;
    const other = others[at++];
    if (isIt(other)) continue;
    // The arguments of a different subcommand do not matter, as in `git add *.py`.
    const until = other === undefined ? rest : rest.slice(0, rest.indexOf(other) + 1);
    return until.every(({ kind }) => kind === "literal") ? "no" : "maybe";
  }
  return options.every(isGiven) ? "yes" : rest.every(isSteady) ? "no" : "maybe";
}
