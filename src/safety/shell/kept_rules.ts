/** The rules that a person may have kept when they are asked about a command line. @module */

import { attempt } from "../../attempt.ts";
import { outsideOf, type Scene } from "../path_verdict.ts";
import { isFed, isFor, type OfferedRule } from "../rules.ts";
import type { PolicyCall } from "../settings.ts";
import { commandBeginning, quoted } from "./beginnings.ts";
import { linePlaces, oneCommand, withoutTimeout } from "./command_verdict.ts";
import type { SimpleCommand, Word } from "./lexer.ts";
import { parseCommandLine } from "./parser.ts";
import { programName, runsOthers } from "./wrappers.ts";

/** The most rules of one question: more are not read. */
const MAX_RULES = 4;

/** The rules that would allow the parts of a line that none allows yet; none where a part is never kept. */
export function commandRules(call: PolicyCall & { command: string }, scene: Scene): OfferedRule[] {
  const line = parseCommandLine(call.command);
  if (!line.ok) return [];
  const unconfined = outsideOf(scene);
  const rules = scene.rules.filter((rule) => isFor(rule, call.tool));
  const kept = new Map<string, OfferedRule>();
  const parts = linePlaces(call.command, line.commands, unconfined);
  // What changes to a folder of the project first is harmless.
  const isEntered = parts.at(-1)?.scene !== unconfined;
  for (const { command, scene: at } of parts.slice(isEntered ? 1 : 0)) {
    const { effect, basis } = oneCommand(command, rules, at);
    if (effect === "allow" || basis === "quiet") continue;
    const rule = ruleOf(withoutTimeout(command), at, isEntered);
    if (rule === undefined) return [];
    kept.set(JSON.stringify(rule), rule);
  }
  return kept.size > MAX_RULES ? [] : [...kept.values()];
}

/** Commands of the shell that change what those behind them do. */
const CHANGING = new Set(
  (". alias cd declare enable eval export function getopts hash let local mapfile popd printf pushd read readarray " +
    "readonly set shopt source trap typeset ulimit umask unset").split(" "),
);

/** The rule for one command: for what it begins with where more words are no code, else for its very words. */
function ruleOf(
  command: SimpleCommand,
  scene: Scene,
  isEntered: boolean,
): OfferedRule | undefined {
  const { words, assignments } = command;
  const { words: beginning, kind } = commandBeginning(words);
  if (assignments.length > 0 || words.length === 0 || kind === "reaching") return undefined;
  // The very words would allow another file in this folder.
  if (isEntered && kind !== "open") return undefined;
  const length = kind === "open" ? beginning.length : scriptLength(words, scene);
  const covered = words.slice(0, length || words.length);
  if (covered.some((word) => word.kind !== "literal" || word.text.includes("\n"))) return undefined;
  if (length === 0 && (isFed(command) || CHANGING.has(words[0]!.text))) return undefined;
  const text = covered.map(quoted).join(" ");
  // Grammar, such as `case`, is no command, and stands among the commands of a line so that no rule allows it.
  const read = parseCommandLine(text);
  const isSame = read.ok && read.commands.length === 1 &&
    read.commands[0]!.words.map((word) => word.text).join("\n") ===
      covered.map((word) => word.text).join("\n");
  if (!isSame) return undefined;
  const rule = `run_bash(${text}${length === 0 ? "" : " *"})`;
  const shown = length === 0 ? text : `${text} …`;
  return { rule, words: shown };
}

const INTERPRETER =
  /^(bash|bun|dash|deno|fish|groovy|julia|ksh|lua|node|nodejs|osascript|perl|php|pwsh|pypy|python|rscript|ruby|scala|sh|tclsh|ts-node|tsx|zsh)[\d.]*$/;

/** The words up to a file of the folder that is the program, or its script, so that no other word is code; or 0. */
function scriptLength(words: readonly Word[], { place }: Pick<Scene, "place">): number {
  const at = INTERPRETER.test(programName(words[0]!.text)) ? 1 : 0;
  const name = words[at]?.text ?? "";
  // A file may be called as an option or a subcommand is: `-e`, `run`.
  const isNamed = /^[^-].*[./]/.test(name) && (at === 1 || name.includes("/"));
  const { real, isInside } = place(name);
  return isNamed && isInside && attempt(() => Deno.statSync(real))?.isFile === true &&
      !runsOthers(words)
    ? at + 1
    : 0;
}
