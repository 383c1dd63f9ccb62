/**
 * Whether a call of a tool runs, is asked about, or is refused.
 *
 * @module
 */

import type { Grant, Withheld } from "../types/tool.ts";
import { commandVerdict } from "./shell/command_verdict.ts";
import type { Place } from "./containment.ts";
import { bareVerdict, pathVerdict, READER, type Scene } from "./path_verdict.ts";
import { exactRule, isFor, matchesPath, nameOf, parseRule, type Rule } from "./rules.ts";
import { SECRET_PATH, secretKind } from "./protected_paths.ts";
import {
  APPROVE_MODES,
  type ApproveMode,
  type Call,
  SANDBOX_MODES,
  type SandboxMode,
  type Settings,
  type Verdict,
} from "./settings.ts";

/**
 * Decides one call. Rules that deny come first, then what always asks (secrets, protected files,
 * what destroys, what cannot be understood), rules that ask, rules that allow, and last the
 * modes. The strictest part of a command line decides for all of it.
 *
 * @param place where a path leads; `.` is the working directory
 */
export function decide(call: Call, settings: Settings, place: (path: string) => Place): Verdict {
  const scene: Scene = { ...settings, place, root: place("."), patterns: new Map() };
  const verdict = call.command !== undefined
    ? commandVerdict(call.tool, call.command, scene)
    : call.path !== undefined
    ? pathVerdict(call.tool, call.path, scene)
    : bareVerdict(call.tool, scene);
  if (settings.approve !== "never" || verdict.effect !== "ask") return verdict;
  return { effect: "deny", reason: `${verdict.reason}, and approvals are off` };
}

/**
 * The rule that would allow exactly this call, as a person who says "always" means it; undefined where
 * none would.
 */
export function ruleFor(
  call: Call,
  settings: Settings,
  place: (path: string) => Place,
): string | undefined {
  let rule: string | undefined;
  if (call.command !== undefined) rule = exactRule(call.command);
  else if (call.path !== undefined) {
    // Where it leads: the name of a link allows nothing.
    const name = nameOf(place(".").real, place(call.path).real);
    if (/^[\w./-][\w./ -]*$/.test(name)) rule = `${call.tool.name}(${name})`;
  }
  if (rule === undefined) return undefined;
  const rules = [...settings.rules, parseRule("allow", rule)];
  return decide(call, { ...settings, rules }, place).effect === "allow" ? rule : undefined;
}

/**
 * How far a call that names a path goes, once it is allowed: where the path leads now, and, for a
 * search, without the files that it would not be allowed or would be asked about to read by name.
 * What goes for the path itself was decided with it, and is not left out again.
 *
 * @param isAsked false where what would be asked about simply runs
 */
export function grantOf(
  tool: Call["tool"],
  path: string,
  { rules }: Settings,
  place: (path: string) => Place,
  isAsked: boolean,
): Grant {
  const [at, root] = [place(path), place(".")];
  const out = rules.filter((rule) =>
    rule.path && (rule.effect === "deny" || rule.effect === "ask" && isAsked) &&
    (isFor(rule, tool) || isFor(rule, READER)) &&
    !(rule.effect === "ask" && matchesPath(rule, root.real, at.real))
  );
  const paths = out.filter((rule) => !rule.isAbsolute).map((rule) => rule.path!);
  const absolute = out.filter((rule) => rule.isAbsolute).map((rule) => rule.path!);
  const withheld: Withheld = { folder: root.real, paths, absolute };
  if (isAsked && secretKind(at.real) === undefined) withheld.files = SECRET_PATH;
  return {
    realPath: at.real,
    withheld,
    ...secretKind(at.real) !== undefined && { isSecret: true },
  };
}

/**
 * The settings with what a project adds, which only makes them stricter; `ignored` names what it
 * would have loosened.
 */
export function tighten<S extends Pick<Settings, "approve" | "sandbox" | "rules">>(
  settings: S,
  project: { approve?: ApproveMode; sandbox?: SandboxMode; rules?: readonly Rule[] },
): { settings: S; ignored: string[] } {
  const ignored: string[] = [];
  const stricter = <T>(name: string, order: readonly T[], ours: T, theirs: T | undefined): T => {
    if (theirs === undefined || theirs === ours) return ours;
    if (order.indexOf(theirs) < order.indexOf(ours)) return theirs;
    ignored.push(`${name}: ${theirs}`);
    return ours;
  };
  const rules = (project.rules ?? []).filter((rule) => rule.effect !== "allow");
  for (const rule of project.rules ?? []) {
    if (rule.effect === "allow") ignored.push(`allow: ${rule.text}`);
  }
  const approve = stricter("approve", APPROVE_MODES, settings.approve, project.approve);
  const sandbox = stricter("sandbox", SANDBOX_MODES, settings.sandbox, project.sandbox);
  return {
    settings: { ...settings, approve, sandbox, rules: [...settings.rules, ...rules] },
    ignored,
  };
}
