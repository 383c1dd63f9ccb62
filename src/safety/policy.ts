/** The policy: a call of a tool runs, is asked about, or is refused. @module */

import { escapeRegex } from "../text/glob.ts";
import { isWithin } from "../text/paths.ts";
import type { Grant, Withheld } from "../types/tool.ts";
import { hostRule, hostVerdict, isFetch } from "./host_verdict.ts";
import { bareVerdict, pathVerdict, READER, type Scene, sceneOf, secretAt } from "./path_verdict.ts";
import { isFor, matchesPath, type OfferedRule, parseKept, rulePathOf } from "./rules.ts";
import { commandRules } from "./shell/kept_rules.ts";
import { commandVerdict } from "./shell/command_verdict.ts";
import { APPROVE_MODES, type PolicyCall, SANDBOX_MODES, type Strictness } from "./settings.ts";
import type { Settings, Verdict } from "./settings.ts";

/**
 * Decides one call. Rules that deny come first, then the calls that always ask (secrets, protected
 * files, commands that destroy or cannot be understood), rules that ask, rules that allow, and last the
 * modes. The strictest part of a command line decides for all of it. `place` resolves paths.
 */
export function decide(
  call: PolicyCall,
  settings: Settings,
  place: Scene["place"],
): Verdict {
  const scene = sceneOf(settings, place);
  const { command } = call;
  const verdict = command !== undefined
    ? commandVerdict({ ...call, command }, scene)
    : call.path !== undefined
    ? pathVerdict(call.tool, call.path, scene, call.showsNames)
    : isFetch(call)
    ? hostVerdict(call, scene)
    : bareVerdict(call, scene);
  if (settings.approve === "plan" && call.tool.access !== "read") {
    // Only what the sandbox holds runs, and nobody is asked about the rest.
    const isHeld = command !== undefined && settings.view !== undefined &&
      verdict.effect === "allow";
    if (verdict.effect === "deny" || isHeld && verdict.leave === undefined) return verdict;
    return { effect: "deny", reason: "is not done in plan mode", isPlanned: true };
  }
  if (settings.approve !== "never" || verdict.effect !== "ask") return verdict;
  return { effect: "deny", reason: `${verdict.reason}, and approvals are off` };
}

/** The rules that would allow this call from now on, for an "always"; none where nothing would. */
export function rulesFor(
  call: PolicyCall,
  settings: Settings,
  place: Scene["place"],
): readonly OfferedRule[] {
  let kept: OfferedRule[] = [];
  const { command } = call;
  // Nothing that leaves the sandbox as its model asks is allowed for good.
  if (call.leave !== undefined) return [];
  if (command !== undefined) {
    kept = commandRules({ ...call, command }, sceneOf(settings, place));
  } else if (call.path !== undefined) {
    // The place that the path leads to: the name of a link allows nothing.
    const name = rulePathOf(place(".").real, place(call.path).real);
    if (/^[\w./-][\w./ -]*$/.test(name)) {
      kept = [{ rule: `${call.tool.name}(${name})`, words: name }];
    }
  }
  if (isFetch(call)) kept = [hostRule(call)];
  const { ruleName, name: words } = call.tool;
  if (ruleName !== undefined) kept = [{ rule: ruleName, words }];
  const rules = [...settings.rules, ...kept.map((rule) => parseKept(rule))];
  const { effect, leave } = decide(call, { ...settings, rules }, place);
  if (effect !== "allow") return [];
  const isConfined = command !== undefined && settings.view !== undefined &&
    (leave === undefined || leave === "git");
  return isConfined ? kept.map((rule) => ({ ...rule, confined: true })) : kept;
}

/**
 * The grant of an allowed call that names a path: the place that the path leads to now and, for a
 * search, the files to leave out, as reading them by name would be refused or asked about. Rules and
 * secrets that the path itself falls under were decided with it, and are not left out again.
 *
 * @param isAsked false where calls that would be asked about simply run
 */
export function grantOf(
  tool: PolicyCall["tool"],
  path: string,
  settings: Settings,
  place: Scene["place"],
  isAsked: boolean,
): Grant {
  const scene = sceneOf(settings, place);
  const { rules, root } = scene;
  const at = place(path);
  const out = rules.filter((rule) =>
    rule.path && (rule.effect === "deny" || rule.effect === "ask" && isAsked) &&
    (isFor(rule, tool) || isFor(rule, READER)) &&
    !(rule.effect === "ask" && matchesPath(rule, root.real, at.real))
  );
  const paths = out.filter((rule) => !rule.isAbsolute).map((rule) => rule.path!);
  const absolute = out.filter((rule) => rule.isAbsolute).map((rule) => rule.path!);
  const withheld: Withheld = { folder: root.real, paths, absolute };
  // Confined, secrets are hidden from commands, whoever is asked.
  if ((isAsked || settings.view) && scene.paths.secretKind(at.real) === undefined) {
    withheld.files = scene.paths.secretPattern;
  }
  // Below a folder of the system's that can be read there may be the home folder, for example.
  for (const [path, access] of at.isInside ? [] : settings.view?.().places ?? []) {
    const isClosed = access === "none" || access === "own";
    if (isClosed && isWithin(at.real, path) && path !== at.real) {
      absolute.push(new RegExp(`^${escapeRegex(path.normalize())}/?$`));
    }
  }
  const isSecret = secretAt(scene, at) !== undefined;
  return { realPath: at.real, withheld, ...isSecret && { isSecret } };
}

/** The settings made stricter by a project's; `ignored` names those that would have loosened them. */
export function tighten<S extends Strictness>(
  settings: S,
  project: Partial<Strictness>,
): { settings: S; ignored: string[] } {
  const ignored: string[] = [];
  const stricter = <T>(name: string, order: readonly T[], ours: T, theirs: T | undefined): T => {
    if (theirs === undefined) return ours;
    const [mine, other] = [order.indexOf(ours), order.indexOf(theirs)];
    if (other > mine) ignored.push(`${name}: ${theirs}`);
    return order[Math.min(mine, other)]!;
  };
  const rules = [...settings.rules];
  for (const rule of project.rules ?? []) {
    if (rule.effect === "allow") ignored.push(`allow: ${rule.text}`);
    else rules.push(rule);
  }
  const approve = stricter("approve", APPROVE_MODES, settings.approve, project.approve);
  const sandbox = stricter("sandbox", SANDBOX_MODES, settings.sandbox, project.sandbox);
  return { settings: { ...settings, approve, sandbox, rules }, ignored };
}
