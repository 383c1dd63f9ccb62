/** The rules that the user can save when a command line needs approval. @module */

import { attempt } from "../../attempt.ts";
import { outsideOf, type Scene } from "../path_verdict.ts";
import { isFed, isFor, type OfferedRule } from "../rules.ts";
import type { PolicyCall } from "../settings.ts";
import { commandBeginning, quoted } from "./beginnings.ts";
import { linePlaces, oneCommand } from "./command_verdict.ts";
import type { SimpleCommand, Word } from "./lexer.ts";
import { parseCommandLine } from "./parser.ts";
import { programName, runsOthers, withoutTimeout } from "./wrappers.ts";

/** The maximum number of rules in a question: users do not read more. */
const MAX_RULES = 4;

/** Returns rules for the parts of a line that no rule allows yet; empty if one of the parts cannot get a rule. */
export function commandRules(call: PolicyCall & { command: string }, scene: Scene): OfferedRule[] {
  const line = parseCommandLine(call.command);
  if (!line.ok) return [];
  const unconfined = outsideOf(scene);
  const rules = scene.rules.filter((rule) => isFor(rule, call.tool));
  const kept = new Map<string, OfferedRule>();
  const parts = linePlaces(call.command, line.commands, unconfined);
  // Changing to a folder of the project first is harmless.
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

/** Shell commands that change the effect of later ones. */
const CHANGING = new Set(
  (". alias cd declare enable eval export function getopts hash let local mapfile popd printf pushd read readarray " +
    "readonly set shopt source trap typeset ulimit umask unset").split(" "),
);

/** Returns the rule for one command: for its start if further words are no code, otherwise for exactly its words. */
function ruleOf(command: SimpleCommand, scene: Scene, isEntered: boolean): OfferedRule | undefined {
  const { words, assignments } = command;
  const { words: beginning, kind } = commandBeginning(words);
  if (assignments.length > 0 || words.length === 0 || kind === "reaching") return undefined;
  // The same words would allow another file in this folder.
  if (isEntered && kind !== "open") return undefined;
  const length = kind === "open" ? beginning.length : scriptLength(words, scene);
  const covered = words.slice(0, length || words.length);
  if (covered.some((word) => word.kind !== "literal" || word.text.includes("\n"))) return undefined;
  if (length === 0 && (isFed(command) || CHANGING.has(words[0]!.text))) return undefined;
  const text = covered.map(quoted).join(" ");
  // Keywords such as `case` appear among a line's commands, so that no rule allows them, but are not commands.
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

/** Returns the number of words up to a file of the folder that is the program or its script; otherwise 0. */
function scriptLength(words: readonly Word[], { place }: Pick<Scene, "place">): number {
  const at = INTERPRETER.test(programName(words[0]!.text)) ? 1 : 0;
  const name = words[at]?.text ?? "";
  // A file may be named like an option or a subcommand: `-e`, `run`.
  const isNamed = /^[^-].*[./]/.test(name) && (at === 1 || name.includes("/"));
  const { real, isInside } = place(name);
  return isNamed && isInside && attempt(() => Deno.statSync(real))?.isFile === true &&
      !runsOthers(words)
    ? at + 1
    : 0;
}
