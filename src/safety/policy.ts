/** The policy: a tool call runs, needs approval, or is refused. @module */

import { escapeRegex } from "../text/glob.ts";
import { isWithin } from "../text/paths.ts";
import type { Grant, HiddenPaths } from "../types/tool.ts";
import { hostRule, hostVerdict, isFetch } from "./host_verdict.ts";
import {
  bareVerdict,
  pathVerdict,
  READER,
  type Scene,
  sceneOf,
  secretAt,
  temporaryIn,
} from "./path_verdict.ts";
import { isFor, matchesPath, type OfferedRule, parseKept, rulePathOf } from "./rules.ts";
import { commandRules } from "./shell/kept_rules.ts";
import { commandVerdict } from "./shell/command_verdict.ts";
import { APPROVE_MODES, type PolicyCall, SANDBOX_MODES, type Strictness } from "./settings.ts";
import { isUsualRight, type Settings, type Verdict } from "./settings.ts";

/**
 * Decides one call. Rules that deny come first, then calls that always ask (secrets, protected files, commands
 * that destroy or cannot be understood), rules that ask, rules that allow, and last the modes. The strictest part
 * of a command line decides for the whole line.
 * @param place resolves paths
 */
export function decide(call: PolicyCall, settings: Settings, place: Scene["place"]): Verdict {
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
    // Sandboxed commands run; all others are refused without a question.
    const runsSandboxed = command !== undefined && settings.view !== undefined &&
      verdict.effect === "allow";
    if (verdict.effect === "deny" || runsSandboxed && verdict.right === undefined) return verdict;
    return { effect: "deny", reason: "is not allowed in plan mode", isPlanned: true };
  }
  if (settings.approve !== "never" || verdict.effect !== "ask") return verdict;
  return { effect: "deny", reason: `${verdict.reason}, and approvals are off (--approve never)` };
}

/** Returns the rules that would always allow this call, for the answer "always"; empty if no rule would. */
export function rulesFor(
  call: PolicyCall,
  settings: Settings,
  place: Scene["place"],
): readonly OfferedRule[] {
  let kept: OfferedRule[] = [];
  const { command } = call;
  // Leaving the sandbox at the model's request is never allowed permanently.
  if (call.leave !== undefined) return [];
  if (command !== undefined) {
    kept = commandRules({ ...call, command }, sceneOf(settings, place));
  } else if (call.path !== undefined) {
    // The link's target: its name allows nothing.
    const name = rulePathOf(place(".").real, place(call.path).real);
    if (/^[\w./-][\w./ -]*$/.test(name)) {
      kept = [{ rule: `${call.tool.name}(${name})`, words: name }];
    }
  }
  if (isFetch(call)) kept = [hostRule(call)];
  const { ruleName, name: words } = call.tool;
  if (ruleName !== undefined) kept = [{ rule: ruleName, words }];
  const rules = [...settings.rules, ...kept.map((rule) => parseKept(rule))];
  const { effect, right } = decide(call, { ...settings, rules }, place);
  if (effect !== "allow") return [];
  const runsSandboxed = command !== undefined && settings.view !== undefined && isUsualRight(right);
  return runsSandboxed ? kept.map((rule) => ({ ...rule, confined: true })) : kept;
}

/**
 * Returns the grant for an allowed call that names a path: the resolved path and, for a search, the files to omit, which
 * are refused or asked about by name. Rules and secrets that cover the path itself do not apply again.
 * @param isAsked false if calls run that would be asked about
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
  const withheld: HiddenPaths = { folder: root.real, paths, absolute };
  // The sandbox hides secrets from commands, even if the user is not asked.
  if ((isAsked || settings.view) && scene.paths.secretKind(at.real) === undefined) {
    withheld.files = scene.paths.secretPattern;
  }
  const own = isAsked || settings.view ? temporaryIn(scene) : [];
  // A readable system folder may contain the home folder, for example.
  const closed = at.isInside
    ? own.map((path) => [path, "hidden"] as const)
    : settings.view?.().places ?? [];
  for (const [path, access] of closed) {
    const isClosed = access === "hidden" || access === "own";
    if (isClosed && isWithin(at.real, path) && path !== at.real) {
      absolute.push(new RegExp(`^${escapeRegex(path.normalize())}/?$`));
    }
  }
  const isSecret = secretAt(scene, at) !== undefined;
  return { realPath: at.real, withheld, ...isSecret && { isSecret } };
}

/** Makes the settings stricter by a project's settings. `ignored` names those that would have loosened them. */
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
