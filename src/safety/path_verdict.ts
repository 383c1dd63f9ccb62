/** The verdict on a call that names a path, or neither a path nor a command. @module */

import { basename, dirname, resolve } from "../text/std_path.ts";
import { isWithin } from "../text/paths.ts";
import { isRepository } from "./git_files.ts";
import type { Place } from "./places.ts";
import { ANY_HOME, type PathTable } from "./path_table.ts";
import {
  isFor,
  matchesArgument,
  matchesPath,
  type Rule,
  RULE_EFFECTS,
  type RuleEffect,
} from "./rules.ts";
import type { PolicyCall, Settings, Verdict } from "./settings.ts";
import { accessAt } from "./view.ts";

export interface Scene extends Settings {
  paths: PathTable;
  place: (path: string) => Place;
  root: Place;
  /** Why the git command of a line needs more than the sandbox, with the address of its remote. */
  gitReason?: string | undefined;
}

export function outsideOf({ view: _, ...scene }: Scene): Scene {
  return scene;
}

export function sceneOf(settings: Settings, place: Scene["place"]): Scene {
  const { paths = ANY_HOME } = settings;
  return { ...settings, paths, place, root: place(".") };
}

export const KEPT_READ_ONLY = "writes, and the folder is read-only";
export const ALLOW: Verdict = { effect: "allow", reason: "is allowed" };
export const askBecause = (reason: string): Verdict => ({ effect: "ask", reason });
export const byRule = ({ effect, text }: Rule): Verdict => ({
  effect,
  reason: `matches the rule ${effect} ${text}`,
});

/** Any access to a named file is decided like a call of these tools. */
export const READER = { name: "read_file", access: "read" } as const;
export const WRITER = { name: "write_file", access: "write" } as const;

export function bareVerdict({ tool, args }: PolicyCall, { rules }: Settings): Verdict {
  const bare = rules.filter((rule) =>
    isFor(rule, tool) && !rule.path && !rule.command && !rule.host && matchesArgument(rule, args)
  );
  const [rule] = RULE_EFFECTS.flatMap((effect) => bare.find((one) => one.effect === effect) ?? []);
  if (rule) return byRule(rule);
  if (tool.ruleName !== undefined) return askBecause("is a tool of another program");
  if (tool.access === "read") return ALLOW;
  return askBecause(tool.access === "network" ? "uses the network" : `can ${tool.access}`);
}

/** @param showsNames true if the call shows only names: rules against reading files do not apply */
export function pathVerdict(
  tool: PolicyCall["tool"],
  path: string,
  scene: Scene,
  showsNames?: true,
): Verdict {
  const { rules, paths, place, root } = scene;
  const at = place(path);
  // A link with an allowed name allows nothing, and a link with another name bypasses no rule.
  const matching = (effect: RuleEffect) =>
    rules.find((rule) =>
      rule.effect === effect && (isFor(rule, tool) || !showsNames && isAgainstReading(rule)) &&
      (matchesPath(rule, root.real, at.real) ||
        effect !== "allow" && matchesPath(rule, root.path, at.path))
    );
  const denied = matching("deny");
  if (denied) return byRule(denied);
  const link = at.real === resolve(at.path) ? "" : ` (${at.real})`;
  const secret = secretAt(scene, at);
  if (secret !== undefined) return beyond(`may contain ${secret}${link}`);
  if (tool.access !== "read") {
    const special = paths.protectedKind(at.real) ?? paths.protectedKind(at.path) ??
      paths.configuredKind(root.real, at.real) ?? partOfRepository(root.real, at.real);
    if (special !== undefined) return beyond(`is ${special}${link}`);
  }
  const asked = matching("ask");
  const allowed = asked ? undefined : matching("allow");
  if (allowed) return byRule(allowed);
  const verdict = modeVerdict(tool, at, scene, link);
  // A rule that asks does not open what the view closes.
  return asked ? { ...byRule(asked), isBeyond: verdict.isBeyond === true } : verdict;
}

/** Returns what a path is if, with it, git considers a folder a repository without a work tree. */
export function partOfRepository(root: string, path: string): string | undefined {
  for (let at = path; at !== root && dirname(at) !== at; at = dirname(at)) {
    const folder = dirname(at);
    const isAround = isWithin(folder, root) && isRepository(folder);
    if (isRepository(folder, basename(at)) && !isAround) {
      return `a part of a repository of git, ${folder}, whose settings may run programs`;
    }
  }
  return undefined;
}

const beyond = (reason: string): Verdict => ({ ...askBecause(reason), isBeyond: true });

function modeVerdict(tool: PolicyCall["tool"], at: Place, scene: Scene, link: string): Verdict {
  const { approve, sandbox } = scene;
  const isRead = tool.access === "read";
  // Reading inside the folder needs no view, which closes only secrets there.
  const access = at.isInside && isRead ? "read" : scene.view && accessAt(scene.view(), at.real);
  if (!at.isInside && !(access === "write" || access === "read" && isRead)) {
    // Commands have their own `/tmp` and caches.
    const unseen = access === "own" ? ", where commands do not see it" : "";
    return beyond(`is outside of the working directory${link}${unseen}`);
  }
  if (isRead) return ALLOW;
  if (tool.access !== "write") return askBecause(`can ${tool.access}`);
  if (sandbox === "read-only") {
    return { ...beyond(KEPT_READ_ONLY), isKeptReadOnly: true };
  }
  if (access === "read" || access === "hidden") {
    return beyond(`belongs to git, or a rule covers it${link}`);
  }
  return approve === "auto" ? ALLOW : { ...askBecause(`writes${link}`), isRoutine: link === "" };
}

/** Returns which secret is at a place, by its own name or by that of a link to it; undefined for other places. */
export function secretAt(scene: Scene, { path, real }: Place): string | undefined {
  const { paths } = scene;
  const isTemporary = temporaryIn(scene).some((at) => isWithin(at, real));
  return paths.secretKind(real) ?? paths.secretKind(path) ??
    (isTemporary ? "a file of this program" : undefined);
}

/** Returns the folder of all sessions' temporary files if it is in the working directory. */
export const temporaryIn = ({ paths, root, place }: Scene): string[] =>
  paths.temporary.map((at) => place(at).real).filter((at) => isWithin(root.real, at));

/** True for a rule against reading a file. It applies to each tool that may show a file's contents. */
export function isAgainstReading(rule: Rule): boolean {
  return rule.effect !== "allow" && rule.path !== undefined && isFor(rule, READER);
}
