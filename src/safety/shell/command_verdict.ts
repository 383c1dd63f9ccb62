/** The verdict on a command line. Its strictest part decides for the whole line. @module */

import {
  ALLOW,
  askBecause,
  byRule,
  outsideOf,
  pathVerdict,
  READER,
  secretAt,
  WRITER,
} from "../path_verdict.ts";
import type { Scene } from "../path_verdict.ts";
import { allowsCommand, concernsCommand, isFor, parseRule, type Rule } from "../rules.ts";
import type { PolicyCall, Verdict } from "../settings.ts";
import type { Right } from "../../types/confine.ts";
import { isAbsolute } from "../../text/std_path.ts";
import { accessAt } from "../view.ts";
import { enteredFolder, isQuiet, networkGrants, usesNetwork } from "./beginnings.ts";
import { gitNeed, gitOutside, programsOfGit } from "./git_command.ts";
import { parseCommandLine } from "./parser.ts";
import { refusedFolder } from "./refused_folder.ts";
import type { SimpleCommand, Word } from "./lexer.ts";
import {
  ANY,
  besides,
  isHarmless,
  mayRun,
  programName,
  runsOthers,
  withoutTimeout,
  writtenBy,
} from "./wrappers.ts";

/** Returns the verdict on a call that runs a command line, and may ask to leave the sandbox or a part of it. */
export function commandVerdict(call: PolicyCall & { command: string }, scene: Scene): Verdict {
  const verdict = leaveVerdict(call, scene);
  const { effect, right } = verdict;
  const git = effect !== "deny" && right?.kind === "sandbox" && gitOutside(call.command, scene);
  if (!git) return verdict;
  const coversAll = ({ effect, command, path, isForSandbox }: Rule) =>
    effect === "allow" && !command && !path && isForSandbox === false;
  const isCovered = "right" in git && !git.isMade ||
    effect === "allow" && scene.rules.some((rule) => isFor(rule, call.tool) && coversAll(rule));
  const against = scene.rules.filter((rule) => rule.effect !== "allow");
  const given = { ...scene, gitReason: git.reason, ...!isCovered && { rules: against } };
  const found = leaveVerdict(call, given);
  if ("programs" in git) {
    const reason = isCovered ? found.reason : `${git.programs} and ${found.reason}`;
    return { ...found, reason, right };
  }
  const made = git.isMade ? ", and a command may have made this repository" : "";
  const isWhy = found.reason.endsWith(SO_OUTSIDE);
  const reason = isWhy ? found.reason.slice(0, -SO_OUTSIDE.length) : git.reason;
  return { ...found, reason: reason + made, right: git.right };
}

function leaveVerdict(call: PolicyCall & { command: string }, scene: Scene): Verdict {
  const { tool, command, leave } = call;
  const inside = lineVerdict(tool, command, scene);
  // A command that needs more than it asks for is asked about once, and with that.
  const isOpen = leave === "network" && scene.view?.().network;
  if (isOpen || leave && inside.right?.kind === "sandbox") return inside;
  if (scene.view === undefined || inside.effect === "deny") return inside;
  const isGranted = () =>
    networkGrants(command).every(({ text }) => scene.networked?.includes(text));
  if (leave === undefined) {
    // A command that the user granted the network keeps it, even if the model does not ask again.
    const isOnline = inside.effect === "allow" && !inside.right && scene.networked?.length &&
      isGranted();
    return isOnline ? { ...inside, right: { kind: "network" } } : inside;
  }
  // Other rules do not show that the user thought of more than a sandboxed command.
  const isMeant = leave === "network" && usesNetwork(command);
  const rules = scene.rules.filter((rule) =>
    isMeant || rule.effect !== "allow" || rule.isForSandbox === false
  );
  const outside = lineVerdict(tool, command, { ...outsideOf(scene), rules });
  if (outside.effect === "allow") return { ...outside, right: { kind: leave } };
  const networked = leave === "network" && networkGrants(command);
  if (networked && inside.effect === "allow" && isGranted()) {
    return { ...ALLOW, right: { kind: leave } };
  }
  const lacked = leave === "sandbox" && refusedFolder(scene.outputs?.get(command) ?? "", scene);
  const what = leave === "network"
    ? "asks for the network, which the sandbox blocks"
    : lacked
    ? `asks for the folder ${lacked}, which the sandbox blocks`
    : "asks to run outside of the sandbox";
  const because = askBecause(inside.effect === "ask" ? `${what}: it ${inside.reason}` : what);
  const kind = inside.right?.kind === "git" ? "git" : "write";
  const right: Right = lacked ? { kind, folder: lacked } : { kind: leave };
  const isLossy = inside.isLossy === true;
  return { ...because, right, isBeyond: true, isLossy, ...networked && { networked } };
}

function lineVerdict(tool: PolicyCall["tool"], text: string, scene: Scene): Verdict {
  const rules = scene.rules.filter((rule) => isFor(rule, tool));
  const whole = rules.find((rule) => rule.effect === "deny" && !rule.path && !rule.command);
  if (whole) return byRule(whole);
  const isConfined = confines(scene);
  const line = parseCommandLine(text);
  const words = line.ok ? line.commands.flatMap((command) => command.words).length : 0;
  const fault = !line.ok
    ? `cannot be understood: ${line.reason}`
    : words > MAX_COMMAND_WORDS && `has more than ${MAX_COMMAND_WORDS} words`;
  if (!line.ok || fault) {
    const mayBeDenied = rules.some((rule) => rule.effect === "deny") || hasPathRules(scene);
    return isConfined && !mayBeDenied ? CONFINED : { ...askBecause(fault || ""), mayBeDenied };
  }
  if (line.commands.length === 0) {
    return scene.hasBash() ? ALLOW : askBecause("runs in a shell other than bash");
  }
  const parts = linePlaces(text, line.commands, scene);
  const verdicts = parts.map((part) => oneCommand(part.command, rules, part.scene));
  const isEntered = parts.at(-1)!.scene !== scene;
  // In another folder, words that were allowed here name other files.
  if (isEntered && isCalm(verdicts[0]!) && !verdicts.some(({ basis }) => basis === "words")) {
    verdicts[0] = { ...verdicts[0]!, basis: "quiet" };
  }
  const moved = movedVerdict(parts.slice(isEntered ? 1 : 0), scene);
  const writesGit = scene.view !== undefined && parts.some(({ command, scene }) => {
    const need = gitNeed(withoutTimeout(command).words, scene);
    return need !== undefined && need.why === undefined;
  });
  const found = strictest(verdicts, scene.hasBash(), moved);
  const verdict: Verdict = writesGit ? { right: { kind: "git" }, ...found } : found;
  if (verdict.effect !== "allow" || !found.right) return verdict;
  // The whole line runs outside of the sandbox with this part.
  const outside = lineVerdict(tool, text, outsideOf(scene));
  return outside.effect === "allow" ? verdict : leaving(outside);
}

function strictest(verdicts: readonly Verdict[], hasBash: boolean, moved?: Verdict): Verdict {
  const loud = verdicts.filter(({ basis }) => basis !== "quiet");
  const counted = loud.length > 0 ? loud : verdicts;
  const asking = counted.filter(({ effect }) => effect === "ask");
  // A part that only runs something must not hide what another part may do.
  const found = verdicts.find(({ effect }) => effect === "deny") ??
    [...counted, ...moved ? [moved] : []].find(({ mayBeDenied }) => mayBeDenied) ??
    asking.find(({ isLossy }) => isLossy) ??
    asking.find(({ isBeyond }) => isBeyond) ?? asking.find(({ isRoutine }) => !isRoutine) ??
    asking[0];
  if (found) return found;
  if (!hasBash) return askBecause("runs in a shell other than bash");
  return moved ?? counted.find(({ right }) => right !== undefined) ?? counted[0]!;
}

const isCalm = ({ effect, isRoutine }: Verdict): boolean =>
  effect === "allow" || isRoutine === true;

/** Returns the question about a line that changes its folder: its paths were resolved in the previous one. */
function movedVerdict(
  parts: readonly { command: SimpleCommand }[],
  scene: Scene,
): Verdict | undefined {
  const names = parts.map(({ command }) => command.words[0]?.text ?? "");
  if (!names.some((name) => /^(cd|pushd|popd)$/.test(name))) return undefined;
  const hasPattern = parts.some(({ command }) =>
    command.words.some(({ kind }) => kind === "pattern")
  );
  const counts = hasPathRules(scene) ||
    !confines(scene) && (names.includes("rm") || hasPattern);
  if (!counts) return undefined;
  const mayBeDenied = !confines(scene) && hasPathRules(scene);
  return { ...askBecause("changes its folder, so its paths may lead elsewhere"), mayBeDenied };
}

export function linePlaces(
  text: string,
  commands: readonly SimpleCommand[],
  scene: Scene,
): { command: SimpleCommand; scene: Scene }[] {
  const folder = enteredFolder(text);
  const isInside = folder !== undefined && scene.place(folder).isInside;
  const place: Scene["place"] = (path) =>
    scene.place(isAbsolute(path) ? path : `${folder}/${path}`);
  const inner = isInside ? { ...scene, place } : scene;
  return commands.map((command, at) => ({ command, scene: at === 0 ? scene : inner }));
}

function hasPathRules({ rules }: Scene): boolean {
  const against = rules.filter((rule) => rule.effect !== "allow" && rule.path);
  return against.some((rule) => [READER, WRITER].some((tool) => isFor(rule, tool)));
}

/** True if a command runs without a question, because the sandbox protects everything else. */
function confines(scene: Scene): boolean {
  const { view, approve } = scene;
  return view !== undefined && approve !== "ask" && approve !== "never" &&
    (!hasPathRules(scene) || view().isComplete);
}

const MAX_COMMAND_WORDS = 1000;
const CONFINED: Verdict = { effect: "allow", reason: "runs in the sandbox" };
type NamedPath = { path: string; verdict: Verdict };

export function oneCommand(command: SimpleCommand, rules: readonly Rule[], scene: Scene): Verdict {
  const { words, assignments, redirections } = command;
  const runs = [words, ...mayRun(command)];
  const concerned = rules.filter(({ effect }) => effect !== "allow")
    .map((rule) => ({ rule, how: concernsCommand(rule, runs) }));
  const denied = concerned.find(({ rule, how }) => rule.effect === "deny" && how === "yes");
  if (denied) return byRule(denied.rule);
  const named = namedPathVerdicts([...runs, ...besides(command)], scene);
  const refused = named.find(({ verdict }) => verdict.effect === "deny") ??
    named.find(({ path }) => secretAt(scene, scene.place(path)) !== undefined);
  const isConfined = confines(scene);
  const asked = askedByRule(concerned, runs.includes(ANY));
  // The sandbox hides secrets: a command that reads one has to leave it.
  if (refused) {
    const { path, verdict: { effect, reason } } = refused;
    const said: Verdict = { ...asked, effect, reason: `names ${path}, which ${reason}` };
    return isConfined && said.effect === "ask" ? leaving(said) : said;
  }
  const plain = withoutTimeout(command);
  // In every mode: even with an approval or --yes, the command would fail in the sandbox.
  const need = scene.view && gitNeed(plain.words, scene);
  if (asked) return need?.why ? leaving(asked) : asked;
  const loss = destroys(runs, scene);
  if (loss !== undefined) return lossVerdict(loss, command, scene);
  const harmful = redirections.find((one) => !isHarmless(one));
  if (harmful && !isConfined) {
    return askBecause(`redirects with ${harmful.operator} ${harmful.target.text}`);
  }
  // An option may make a program write there; some programs expand `~/x` and `$HOME/x` themselves.
  const isAway = words.some(({ text }) => /(^|[=:,])~|\$[\w{(]/.test(text)) ||
    named.map(({ path }) => scene.place(path))
      .some(({ isInside, real }) => !isInside || scene.paths.protectedKind(real) !== undefined);
  const allowed = coverOf([command, plain], rules, isAway, scene);
  const isVague = !isConfined && words.some(({ kind }) => kind !== "literal");
  const vague = askBecause(`runs ${words[0]?.text} with arguments that the shell expands`);
  const mayBeDenied = !isConfined && hasPathRules(scene) && runs.flat().some(isUnknownPath);
  if (isVague && allowed || mayBeDenied) return { ...vague, mayBeDenied };
  if (need?.why) {
    const verdict = leaving(allowed ? byRule(allowed) : askBecause(need.why));
    return { ...verdict, ...need.isKeptReadOnly && { isKeptReadOnly: true } };
  }
  if (isConfined) return CONFINED;
  // A rule about a command does not cover programs that git runs; a rule that allows all commands does.
  const programs = !scene.view && !(allowed && !allowed.command) &&
    programsOfGit(plain.words, scene);
  if (programs) return askBecause(programs);
  if (allowed) {
    const { words: [first = ""], isStart = true } = allowed.command ?? { words: [] };
    // These words name another file in another folder.
    return { ...byRule(allowed), ...(!isStart || first.includes("/")) && { basis: "words" } };
  }
  if (assignments.length > 0) return askBecause(`sets ${assignments[0]!.name}`);
  const name = plain.words[0]?.text;
  if (name === undefined) return askBecause("only redirects");
  if (runsOthers(plain.words)) return askBecause(`runs another program with ${name}`);
  if (isVague) return vague;
  const unruled = { ...askBecause(`runs ${name}, which no rule allows`), isRoutine: true };
  return isQuiet(plain.words) ? { ...unruled, basis: "quiet" } : unruled;
}

/** Returns the question about a loss, which may lie outside of the sandbox. */
function lossVerdict(loss: string, command: SimpleCommand, scene: Scene): Verdict {
  const { words } = withoutTimeout(command);
  const { view } = scene;
  const why = view && gitNeed(words, scene)?.why;
  if (why) return leaving({ ...askBecause(`${loss} and ${why}`), isLossy: true });
  const isBeyond = view !== undefined && words.slice(1).some(({ text }) => {
    if (text.length >= 4096 || text.includes("\n")) return false;
    const { real, isInside } = scene.place(text.replace(/^~(?=\/)/, scene.paths.home ?? "~"));
    return !isInside && !/write|own/.test(accessAt(view(), real));
  });
  return { ...askBecause(loss), isLossy: true, ...isBeyond && { isBeyond } };
}

/** Returns the question about a command that a rule asks about or may refuse; otherwise undefined. */
function askedByRule(
  concerned: readonly { rule: Rule; how: ReturnType<typeof concernsCommand> }[],
  isAny: boolean,
): Verdict | undefined {
  const found = concerned.filter(({ rule, how }) => how !== "no" || isAny && rule.command);
  const { rule } = found.find(({ rule }) => rule.effect === "deny") ?? found[0] ?? {};
  if (rule === undefined) return undefined;
  const { effect, text } = rule;
  return { ...askBecause(`may match the rule ${effect} ${text}`), mayBeDenied: effect === "deny" };
}

function coverOf(
  commands: readonly SimpleCommand[],
  rules: readonly Rule[],
  isAway: boolean,
  scene: Scene,
): Rule | undefined {
  return rules.find((rule) =>
    rule.effect === "allow" && !(rule.isForSandbox && !scene.view) &&
    !(rule.isKept && rule.command?.isStart && isAway) &&
    commands.some((command) => allowsCommand(rule, command))
  );
}

const SO_OUTSIDE = ", so it runs outside of the sandbox";
const leaving = (verdict: Verdict): Verdict => ({
  ...verdict,
  reason: verdict.reason + SO_OUTSIDE,
  right: { kind: "sandbox" },
  isBeyond: true,
});

/** Returns what may be a path in the words, with the verdict on reading, or a refusal to write it. */
function namedPathVerdicts(runs: readonly (readonly Word[])[], scene: Scene): NamedPath[] {
  const pathsOf = (words: readonly Word[]) => [...new Set(words.flatMap(pathsIn))];
  const read = pathsOf(runs.flatMap((words) => words.slice(1)))
    .map((path) => ({ path, verdict: pathVerdict(READER, path, scene) }));
  // Rules without a path are about the tool that writes, not about commands.
  const about = { ...scene, rules: scene.rules.filter(({ path }) => path !== undefined) };
  const written = pathsOf(runs.flatMap(writtenBy))
    .map((path) => ({ path, verdict: pathVerdict(WRITER, path, about) }));
  return [...read, ...written.filter(({ verdict }) => verdict.effect === "deny")];
}

/** True for a word that may lead to any path: the shell expands it, or the kernel follows a link of a process. */
const isUnknownPath = ({ kind, text }: Word): boolean =>
  kind !== "literal" || /^\/(proc|dev\/fd)\//.test(text);

/** Characters that the shell expands when a command runs. */
const VAGUE = /[$`*?[{~<>]/;

/** Returns the paths that a word may name. If the shell expands it, returns the folder that it starts with. */
function pathsIn({ kind, text }: Word): string[] {
  if (text.length >= 4096 || text.includes("\n")) return [];
  const vague = kind === "literal" ? -1 : text.search(VAGUE);
  const known = vague < 0 ? text : text.slice(0, text.lastIndexOf("/", vague) + 1);
  // An option's value, as in `-fsecret/x`: a slash or a dot cannot be another option's letter.
  const attached = /^-\w(?=\.|.*\/)/.test(known) ? [known.slice(2)] : [];
  return [known, ...attached, ...known.split(/[=:@]/).slice(1)]
    .filter((path) => path !== "" && !path.startsWith("-"));
}

/** Returns the names of the programs that a line starts; empty if it cannot be parsed. */
export function programNames(text: string): string[] {
  const line = parseCommandLine(text);
  const runs = line.ok ? line.commands.flatMap((one) => [one.words, ...mayRun(one)]) : [];
  return [...new Set(runs.flatMap(([first]) => first?.kind === "literal" ? [first.text] : []))];
}

const CHOOSERS = /^(PATH|BASH_ENV|(GIT|LD|DYLD)_\w+)\+?=/;

/** Returns the word of a line by which its programs are not those that their names lead to, if any. */
export function chosenPrograms(text: string): string | undefined {
  const line = parseCommandLine(text);
  const words = (line.ok ? line.commands : []).flatMap((one) => [
    ...one.assignments.map(({ name, value }) => `${name}=${value.text}`),
    ...[one.words, ...mayRun(one)].flat().map((word) => word.text),
  ]);
  return words.find((word) => CHOOSERS.test(word));
}

let parsedRules: readonly Rule[] | undefined;
/** Returns rules for commands that need approval in every mode, even if a rule allows them. Parsing them takes 2 ms. */
const destructive = (): readonly Rule[] =>
  parsedRules ??= [
    ...["reset --hard", "clean", "push --force", "push --mirror", "push --delete", "checkout --"],
    ...["checkout .", "restore", "branch -D", "stash drop", "stash clear", "reflog expire"],
    ...["update-ref -d", "checkout -f", "switch -f", "switch --discard-changes", "branch -f"],
  ].map((words) => `git ${words}`).concat("dd", "mkfs", "mkswap", "shred", "wipefs", "truncate")
    .map((words) => parseRule("ask", `run_bash(${words} *)`));

/** Returns the loss that a command may cause, in words; undefined if no loss is known. */
function destroys(runs: readonly (readonly Word[])[], scene: Scene): string | undefined {
  const { place, root } = scene;
  // `git clean -n` only lists.
  const lossy = runs.filter((words) =>
    programName(words[0]?.text ?? "") !== "git" || words.some(({ kind }) => kind !== "literal") ||
    gitNeed(words, scene) !== undefined
  );
  const rule = destructive().find((one) => concernsCommand(one, lossy) !== "no");
  if (rule) return `can destroy work (${rule.command!.words.join(" ")})`;
  for (const [first, ...rest] of runs) {
    const name = programName(first?.text ?? "");
    if (name.startsWith("mkfs")) return "makes a file system";
    const has = (pattern: RegExp) => rest.some(({ text }) => pattern.test(text));
    if (name === "find" && has(/^-delete$/)) return "deletes what it finds";
    if (name === "git" && has(/^\+/)) return "pushes with force";
    if (name === "git" && has(/^push$/) && has(/^(:.|-\w*d\w*$|--(delete|force-with-lease))/)) {
      return "deletes or replaces branches of the remote";
    }
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
