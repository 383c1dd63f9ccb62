/**
 * What the settings come to for a command line. The strictest part of it decides for all of it.
 *
 * @module
 */

import { ALLOW, ask, byRule, pathVerdict, READER, type Scene, WRITER } from "../path_verdict.ts";
import { readsOnly, searchedBy, showsChanges } from "./read_only.ts";
import { allowsCommand, concernsCommand, isFor, parseRule, type Rule } from "../rules.ts";
import { secretKind } from "../protected_paths.ts";
import type { Call, Verdict } from "../settings.ts";
import { parseCommandLine } from "./words.ts";
import type { SimpleCommand, Word } from "./lexer.ts";
import {
  besides,
  isHarmless,
  mayRun,
  programName,
  runsOthers,
  withInput,
  writtenBy,
} from "./wrappers.ts";

/** Of a tool that runs the command line `text`. */
export function commandVerdict(tool: Call["tool"], text: string, scene: Scene): Verdict {
  const rules = scene.rules.filter((rule) => isFor(rule, tool));
  const whole = rules.find((rule) => rule.effect === "deny" && !rule.path && !rule.command);
  if (whole) return byRule(whole);
  const line = parseCommandLine(text);
  if (!line.ok) return ask(`cannot be understood: ${line.reason}`);
  if (line.commands.length === 0) return scene.hasBash ? ALLOW : ask("runs in another shell");
  if (line.commands.flatMap(({ words }) => words).length > MAX_WORDS) {
    return ask(`has more than ${MAX_WORDS} words`);
  }
  const verdicts = line.commands.map((command) => oneCommand(command, rules, scene));
  const strictest = verdicts.find(({ effect }) => effect === "deny") ??
    verdicts.find(({ effect }) => effect === "ask");
  if (strictest) return strictest;
  if (!scene.hasBash) return ask("runs in a shell whose language is not understood");
  const names = line.commands.map(({ words }) => words[0]?.text ?? "");
  const moves = names.some((name) => /^(cd|pushd|popd)$/.test(name));
  // Paths were taken for those of the working directory.
  const counts = verdicts.includes(READS) || names.includes("rm") || hasPathRules(scene) ||
    line.commands.some(({ words }) => words.some(({ kind }) => kind === "pattern"));
  return moves && counts ? ask("names paths in a folder that it changes to") : verdicts[0]!;
}

/** Whether some rule refuses or asks to read paths, or to write them. */
function hasPathRules(
  { rules }: Scene,
  tools: readonly Call["tool"][] = [READER, WRITER],
): boolean {
  return rules.some((rule) =>
    rule.effect !== "allow" && rule.path && tools.some((tool) => isFor(rule, tool))
  );
}

/** Each may be a path that is looked up. */
const MAX_WORDS = 1000;

const READS: Verdict = { effect: "allow", reason: "only reads" };

function oneCommand(command: SimpleCommand, rules: readonly Rule[], scene: Scene): Verdict {
  const { words, assignments, redirections } = command;
  const runs = [words, ...mayRun(withInput(command))];
  const concerned = rules.filter(({ effect }) => effect !== "allow")
    .map((rule) => ({ rule, how: concernsCommand(rule, runs) }));
  const denied = concerned.find(({ rule, how }) => rule.effect === "deny" && how === "yes");
  if (denied) return byRule(denied.rule);
  const named = namedPaths([...runs, ...besides(command)], scene);
  const refused = named.find(({ verdict }) => verdict.effect === "deny") ??
    named.find(({ path }) => secretKind(scene.place(path).real) !== undefined);
  if (refused) {
    const { path, verdict } = refused;
    return { effect: verdict.effect, reason: `names ${path}, which ${verdict.reason}` };
  }
  const asked = concerned.find(({ how }) => how !== "no");
  if (asked) return ask(`may match the rule ${asked.rule.effect} ${asked.rule.text}`);
  const loss = destroys(runs, scene);
  if (loss !== undefined) return ask(loss);
  const harmful = redirections.find((one) => !isHarmless(one));
  if (harmful) return ask(`redirects with ${harmful.operator} ${harmful.target.text}`);
  const allowed = rules.find((rule) =>
    rule.effect === "allow" &&
    (allowsCommand(rule, command) || allowsCommand(rule, withoutTimeout(command)))
  );
  const isVague = words.some(({ kind }) => kind !== "literal");
  if (allowed && isVague && hasPathRules(scene)) return ask("may name what a rule is about");
  const open = allowed && words.find((word) => comesToSecrets(word, scene));
  if (open) return ask(`names ${open.text}, which may come to secrets`);
  if (allowed) return byRule(allowed);
  if (assignments.length > 0) return ask(`sets ${assignments[0]!.name}`);
  const plain = withoutTimeout(command);
  const name = plain.words[0]?.text;
  if (name === undefined) return ask("redirects only");
  if (runsOthers(plain.words)) return ask(`runs others with ${name}`);
  const isKnown = scene.approve === "auto" &&
    ![words[0]!.text, name].some((one) => scene.isBrought?.(one));
  const spelled = isKnown ? spelledOut(plain, scene) : plain;
  const reads = isKnown ? readsOnly(spelled, scene.isTrusted, scene.isSystem) : undefined;
  if (reads === undefined) {
    if (isKnown && name === "git" && readsOnly(spelled, true)) {
      return ask("runs git, which heeds settings of this folder that can run programs");
    }
    if (isVague) return ask(`runs ${name} with words that are known only when it runs`);
    return { ...ask(`runs ${name}, which no rule allows`), isRoutine: true };
  }
  for (const path of reads) {
    const { effect, reason } = pathVerdict(READER, path, scene);
    if (effect !== "allow") return { effect, reason: `names ${path}, which ${reason}` };
  }
  const searched = searchedBy(spelled) ?? [];
  if ((searched.length > 0 || showsChanges(spelled)) && hasPathRules(scene, [READER])) {
    return ask("may show what a rule is about");
  }
  const unsafe = searched.find((path) => scene.mayHoldSecrets?.(scene.place(path).real) ?? true);
  return unsafe === undefined ? READS : ask(`searches ${unsafe}, which may hold secrets`);
}

/** Whether a word is a pattern that bash may make the name of a secret of. */
function comesToSecrets(word: Word, scene: Scene): boolean {
  if (word.kind !== "pattern" || scene.matchesOf === undefined) return false;
  return expanded(word, scene)?.some((path) =>
    secretKind(scene.place(path).path) ?? secretKind(scene.place(path).real)
  ) ?? true;
}

/** Each may have many folders listed. */
const MAX_PATTERNS = 20;

/** What bash makes of a pattern; undefined where that cannot be said. */
function expanded({ text }: Word, { place, matchesOf, patterns }: Scene): string[] | undefined {
  if (patterns.has(text) || patterns.size >= MAX_PATTERNS) return patterns.get(text);
  const start = text.slice(0, text.lastIndexOf("/", text.search(VAGUE)) + 1);
  const paths = matchesOf?.(place(start || ".").real, text.slice(start.length))
    ?.map((path) => start + path);
  patterns.set(text, paths);
  return paths;
}

/**
 * A command with what bash makes of its patterns in their place, as far as that is known. What of them
 * was quoted is not: `*` and `?` come to that as well, brackets may not.
 */
function spelledOut(command: SimpleCommand, scene: Scene): SimpleCommand {
  const [program, ...rest] = command.words;
  const words = rest.flatMap((word) => {
    const isKnown = word.kind === "pattern" && !/[[{~]/.test(word.text);
    const names = isKnown ? expanded(word, scene) : undefined;
    // In which order bash gives what may be options, nobody knows.
    if (names === undefined || names.some((name) => name.startsWith("-"))) return [word];
    // One that nothing matches stays as it is.
    return [word.text, ...names].map((text): Word => ({ text, kind: "literal" }));
  });
  return { ...command, words: program ? [program, ...words] : [] };
}

/**
 * Every word or part of one that may be a path, and what reading it would come to, or writing where that
 * is known and refused.
 */
function namedPaths(
  runs: readonly (readonly Word[])[],
  scene: Scene,
): { path: string; verdict: Verdict }[] {
  const isMore = hasPathRules(scene);
  const pathsOf = (words: readonly Word[]) => [
    ...new Set(words.flatMap((word) => [
      ...pathsIn(word),
      ...isMore && word.kind === "pattern" ? expanded(word, scene) ?? [] : [],
    ])),
  ];
  const read = pathsOf(runs.flatMap((words) => words.slice(1)))
    .map((path) => ({ path, verdict: pathVerdict(READER, path, scene) }));
  // A tool that is refused altogether says nothing of commands.
  const about = { ...scene, rules: scene.rules.filter(({ path }) => path !== undefined) };
  const written = pathsOf(runs.flatMap(writtenBy))
    .map((path) => ({ path, verdict: pathVerdict(WRITER, path, about) }));
  return [...read, ...written.filter(({ verdict }) => verdict.effect === "deny")];
}

/** What stands for what is known only when a command runs. */
const VAGUE = /[$`*?[{~<>]/;

/** What a word may name; where that is known only when it runs, the folder that it surely begins with. */
function pathsIn({ kind, text }: Word): string[] {
  if (text.length >= 4096 || text.includes("\n")) return [];
  const vague = kind === "literal" ? -1 : text.search(VAGUE);
  const known = vague < 0 ? text : text.slice(0, text.lastIndexOf("/", vague) + 1);
  // As in `-fsecret/x`, which is no row of letters.
  const attached = /^-\w(?=\.|.*\/)/.test(known) ? [known.slice(2)] : [];
  return [known, ...attached, ...known.split(/[=:@]/).slice(1)]
    .filter((path) => path !== "" && !path.startsWith("-"));
}

/** What `timeout SECONDS` runs, as it changes nothing but how long that may take; else the command. */
function withoutTimeout(command: SimpleCommand): SimpleCommand {
  const [program, limit, ...words] = command.words;
  const isTimed = program?.kind === "literal" && program.text === "timeout" &&
    limit?.kind === "literal" && /^\d+[smh]?$/.test(limit.text);
  return isTimed ? { ...command, words } : command;
}

/** What asks in every mode, whatever is allowed. */
const DESTRUCTIVE: readonly Rule[] = [
  ...["reset --hard", "clean", "push --force", "push --mirror", "push --delete", "checkout --"],
  ...[
    "checkout .",
    "restore",
    "branch -D",
    "stash drop",
    "stash clear",
    "reflog expire",
    "update-ref -d",
  ],
].map((words) => `git ${words}`).concat("dd", "mkfs", "mkswap", "shred", "wipefs", "truncate")
  .map((words) => parseRule("ask", `run_bash(${words} *)`));

/** What a command destroys, in words; undefined when it is not known to. */
function destroys(
  runs: readonly (readonly Word[])[],
  { place, root }: Scene,
): string | undefined {
  const rule = DESTRUCTIVE.find((one) => concernsCommand(one, runs) !== "no");
  if (rule) return `can destroy work, as ${rule.command!.words.join(" ")} does`;
  for (const [first, ...rest] of runs) {
    const name = programName(first?.text ?? "");
    if (name.startsWith("mkfs")) return "makes a file system";
    if (name === "find" && rest.some(({ text }) => text === "-delete")) {
      return "deletes what it finds";
    }
    if (name === "git" && rest.some(({ text }) => text.startsWith("+"))) return "pushes with force";
    if (name !== "rm" || !rest.some(({ text }) => /^-[^-]*[rR]|^--r/.test(text))) continue;
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
