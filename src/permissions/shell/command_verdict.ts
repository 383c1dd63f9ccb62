/** The verdict on a command line. Its strictest part decides for all of it. @module */

import {
  ALLOW,
  askBecause,
  byRule,
  pathVerdict,
  READER,
  secretAt,
  WRITER,
} from "../path_verdict.ts";
import type { Scene } from "../path_verdict.ts";
import { readsOnly, searchedBy, showsChanges } from "./read_only.ts";
import { allowsCommand, concernsCommand, isFor, parseRule, type Rule } from "../rules.ts";
import type { PolicyCall, Verdict } from "../settings.ts";
import { parseCommandLine } from "./parser.ts";
import { type SimpleCommand, type Word, wordOf } from "./lexer.ts";
import { besides, isHarmless, mayRun, programName, runsOthers, writtenBy } from "./wrappers.ts";

export function commandVerdict(tool: PolicyCall["tool"], text: string, scene: Scene): Verdict {
  const rules = scene.rules.filter((rule) => isFor(rule, tool));
  const whole = rules.find((rule) => rule.effect === "deny" && !rule.path && !rule.command);
  if (whole) return byRule(whole);
  const line = parseCommandLine(text);
  if (!line.ok) return askBecause(`cannot be understood: ${line.reason}`);
  if (line.commands.length === 0) {
    return scene.hasBash ? ALLOW : askBecause("runs in another shell");
  }
  if (line.commands.flatMap(({ words }) => words).length > MAX_COMMAND_WORDS) {
    return askBecause(`has more than ${MAX_COMMAND_WORDS} words`);
  }
  const verdicts = line.commands.map((command) => oneCommand(command, rules, scene));
  const strictest = verdicts.find(({ effect }) => effect === "deny") ??
    verdicts.find(({ effect }) => effect === "ask");
  if (strictest) return strictest;
  if (!scene.hasBash) return askBecause("runs in a shell whose language is not understood");
  const names = line.commands.map(({ words }) => words[0]?.text ?? "");
  const moves = names.some((name) => /^(cd|pushd|popd)$/.test(name));
  // The paths were looked up in the working directory, and mean others after a change of folder.
  const counts = verdicts.includes(READS) || names.includes("rm") || hasPathRules(scene) ||
    line.commands.some(({ words }) => words.some(({ kind }) => kind === "pattern"));
  return moves && counts ? askBecause("names paths in a folder that it changes to") : verdicts[0]!;
}

/** True where some rule refuses, or asks about, paths that are read or written. */
function hasPathRules({ rules }: Scene, tools: PolicyCall["tool"][] = [READER, WRITER]): boolean {
  const against = rules.filter((rule) => rule.effect !== "allow" && rule.path);
  return against.some((rule) => tools.some((tool) => isFor(rule, tool)));
}

/** A command with more words is asked about: each may be a path that is looked up. */
const MAX_COMMAND_WORDS = 1000;
const READS: Verdict = { effect: "allow", reason: "only reads" };
type NamedPath = { path: string; verdict: Verdict };

function oneCommand(command: SimpleCommand, rules: readonly Rule[], scene: Scene): Verdict {
  const { words, assignments, redirections } = command;
  const runs = [words, ...mayRun(command)];
  const concerned = rules.filter(({ effect }) => effect !== "allow")
    .map((rule) => ({ rule, how: concernsCommand(rule, runs) }));
  const denied = concerned.find(({ rule, how }) => rule.effect === "deny" && how === "yes");
  if (denied) return byRule(denied.rule);
  const named = namedPathVerdicts([...runs, ...besides(command)], scene);
  const refused = named.find(({ verdict }) => verdict.effect === "deny") ??
    named.find(({ path }) => secretAt(scene, scene.place(path)) !== undefined);
  if (refused) return asNamed(refused);
  const asked = concerned.find(({ how }) => how !== "no");
  if (asked) return askBecause(`may match the rule ${asked.rule.effect} ${asked.rule.text}`);
  const loss = destroys(runs, scene);
  if (loss !== undefined) return askBecause(loss);
  const harmful = redirections.find((one) => !isHarmless(one));
  if (harmful) return askBecause(`redirects with ${harmful.operator} ${harmful.target.text}`);
  const allowed = rules.find((rule) =>
    rule.effect === "allow" &&
    (allowsCommand(rule, command) || allowsCommand(rule, withoutTimeout(command)))
  );
  const isVague = words.some(({ kind }) => kind !== "literal");
  if (allowed && isVague && hasPathRules(scene)) return askBecause("may name what a rule is about");
  const open = allowed && words.find((word) => mayMatchSecrets(word, scene));
  if (open) return askBecause(`names ${open.text}, which may come to secrets`);
  if (allowed) return byRule(allowed);
  if (assignments.length > 0) return askBecause(`sets ${assignments[0]!.name}`);
  const plain = withoutTimeout(command);
  const name = plain.words[0]?.text;
  if (name === undefined) return askBecause("redirects only");
  if (runsOthers(plain.words)) return askBecause(`runs others with ${name}`);
  const isKnown = scene.approve === "auto" &&
    ![words[0]!.text, name].some((one) => scene.isBrought?.(one));
  const spelled = isKnown ? spelledOut(plain, scene) : plain;
  const reads = isKnown ? readsOnly(spelled, scene.isTrusted, scene.isSystem) : undefined;
  if (reads === undefined) {
    if (isKnown && name === "git" && readsOnly(spelled, true)) {
      return askBecause("runs git, which heeds settings of this folder that can run programs");
    }
    if (isVague) return askBecause(`runs ${name} with words that are known only when it runs`);
    return { ...askBecause(`runs ${name}, which no rule allows`), isRoutine: true };
  }
  for (const path of reads) {
    const verdict = pathVerdict(READER, path, scene);
    if (verdict.effect !== "allow") return asNamed({ path, verdict });
  }
  const searched = searchedBy(spelled);
  if ((searched.length > 0 || showsChanges(spelled)) && hasPathRules(scene, [READER])) {
    return askBecause("may show what a rule is about");
  }
  const unsafe = searched.find((path) => scene.mayHoldSecrets?.(scene.place(path).real) ?? true);
  return unsafe === undefined ? READS : askBecause(`searches ${unsafe}, which may hold secrets`);
}

function asNamed({ path, verdict: { effect, reason } }: NamedPath): Verdict {
  return { effect, reason: `names ${path}, which ${reason}` };
}

function mayMatchSecrets(word: Word, scene: Scene): boolean {
  if (word.kind !== "pattern" || scene.expandPattern === undefined) return false;
  return matchesIn(word, scene)
    ?.some((path) => secretAt(scene, scene.place(path)) !== undefined) ?? true;
}

/** More patterns of one command line are not expanded: many folders may be listed for each. */
const MAX_PATTERNS = 20;

/** The paths that a pattern matches; undefined for too many to list. */
function matchesIn({ text }: Word, scene: Scene): string[] | undefined {
  const { place, expandPattern, patterns } = scene;
  if (patterns.has(text) || patterns.size >= MAX_PATTERNS) return patterns.get(text);
  const start = text.slice(0, text.lastIndexOf("/", text.search(VAGUE)) + 1);
  const paths = expandPattern?.(place(start || ".").real, text.slice(start.length))
    ?.map((path) => start + path);
  patterns.set(text, paths);
  return paths;
}

/**
 * A command with its patterns replaced by the paths that they match, where these are known. Of a
 * pattern it is not known which signs were quoted: as `*` and `?` also match themselves, more is
 * replaced than bash would; patterns with brackets, which may not, stay.
 */
function spelledOut(command: SimpleCommand, scene: Scene): SimpleCommand {
  const [program, ...rest] = command.words;
  const words = rest.flatMap((word) => {
    const isKnown = word.kind === "pattern" && !/[[{~]/.test(word.text);
    const names = isKnown ? matchesIn(word, scene) : undefined;
    // A name that begins with a dash would be an option, and may belong to the word after it.
    if (names === undefined || names.some((name) => name.startsWith("-"))) return [word];
    // bash leaves a pattern that matches nothing as it is.
    return [word.text, ...names].map(wordOf);
  });
  return { ...command, words: program ? [program, ...words] : [] };
}

/** Each word, or part of one, that may be a path, with the verdict on reading, or one against writing it. */
function namedPathVerdicts(runs: readonly (readonly Word[])[], scene: Scene): NamedPath[] {
  const isMore = hasPathRules(scene);
  const pathsOf = (words: readonly Word[]) => [
    ...new Set(words.flatMap((word) => [
      ...pathsIn(word),
      ...isMore && word.kind === "pattern" ? matchesIn(word, scene) ?? [] : [],
    ])),
  ];
  const read = pathsOf(runs.flatMap((words) => words.slice(1)))
    .map((path) => ({ path, verdict: pathVerdict(READER, path, scene) }));
  // Rules without a path are about the tool that writes, not about commands.
  const about = { ...scene, rules: scene.rules.filter(({ path }) => path !== undefined) };
  const written = pathsOf(runs.flatMap(writtenBy))
    .map((path) => ({ path, verdict: pathVerdict(WRITER, path, about) }));
  return [...read, ...written.filter(({ verdict }) => verdict.effect === "deny")];
}

/** Signs whose meaning is known only when a command runs. */
const VAGUE = /[$`*?[{~<>]/;

/** The paths that a word may name; of one that is known only when it runs, the folder it begins with. */
function pathsIn({ kind, text }: Word): string[] {
  if (text.length >= 4096 || text.includes("\n")) return [];
  const vague = kind === "literal" ? -1 : text.search(VAGUE);
  const known = vague < 0 ? text : text.slice(0, text.lastIndexOf("/", vague) + 1);
  // The value of an option, as in `-fsecret/x`: a slash or a dot cannot be a letter of others.
  const attached = /^-\w(?=\.|.*\/)/.test(known) ? [known.slice(2)] : [];
  return [known, ...attached, ...known.split(/[=:@]/).slice(1)]
    .filter((path) => path !== "" && !path.startsWith("-"));
}

/** The command that `timeout SECONDS` runs, as only its time is bounded; any other command as it is. */
function withoutTimeout(command: SimpleCommand): SimpleCommand {
  const [program, limit, ...words] = command.words;
  const isTimed = program?.kind === "literal" && program.text === "timeout" &&
    limit?.kind === "literal" && /^\d+[smh]?$/.test(limit.text);
  return isTimed ? { ...command, words } : command;
}

/** Commands that are asked about in every mode, whatever rules allow. */
const DESTRUCTIVE: readonly Rule[] = [
  ...["reset --hard", "clean", "push --force", "push --mirror", "push --delete", "checkout --"],
  ...["checkout .", "restore", "branch -D", "stash drop", "stash clear", "reflog expire"],
  "update-ref -d",
].map((words) => `git ${words}`).concat("dd", "mkfs", "mkswap", "shred", "wipefs", "truncate")
  .map((words) => parseRule("ask", `run_bash(${words} *)`));

/** The loss that a command may cause, in words; undefined for none known. */
function destroys(runs: readonly (readonly Word[])[], { place, root }: Scene): string | undefined {
  const rule = DESTRUCTIVE.find((one) => concernsCommand(one, runs) !== "no");
  if (rule) return `can destroy work, as ${rule.command!.words.join(" ")} does`;
  for (const [first, ...rest] of runs) {
    const name = programName(first?.text ?? "");
    if (name.startsWith("mkfs")) return "makes a file system";
    const has = (pattern: RegExp) => rest.some(({ text }) => pattern.test(text));
    if (name === "find" && has(/^-delete$/)) return "deletes what it finds";
    if (name === "git" && has(/^\+/)) return "pushes with force";
    if (name !== "rm" || !has(/^-[^-]*[rR]|^--r/)) continue;
    const wide = rest.find(({ kind, text }) => {
      if (kind !== "literal") return true;
      if (text.startsWith("-")) return false;
      const at = place(text);
      return !at.isInside || at.real === root.real;
    });
    if (wide) return `removes all of ${wide.text}`;
  }
  return undefined;
}
