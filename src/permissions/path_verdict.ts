/** The verdict on a call of a tool that names a path, or neither a path nor a command. @module */

import type { Place } from "./places.ts";
import { ANY_HOME, type PathTable } from "./path_table.ts";
import { isFor, matchesPath, type Rule, RULE_EFFECTS, type RuleEffect } from "./rules.ts";
import type { PolicyCall, Settings, Verdict } from "./settings.ts";

/** The settings, with the folder in which one call is decided. */
export interface Scene extends Settings {
  paths: PathTable;
  /** Resolves a path to the place that it leads to. */
  place: (path: string) => Place;
  root: Place;
  /** The paths that patterns of the call matched, by pattern; undefined for too many. */
  patterns: Map<string, string[] | undefined>;
}

export function sceneOf(settings: Settings, place: Scene["place"]): Scene {
  const { paths = ANY_HOME } = settings;
  return { ...settings, paths, place, root: place("."), patterns: new Map() };
}

export const ALLOW: Verdict = { effect: "allow", reason: "is allowed" };
export const askBecause = (reason: string): Verdict => ({ effect: "ask", reason });
export const byRule = ({ effect, text }: Rule): Verdict => ({
  effect,
  reason: `matches the rule ${effect} ${text}`,
});

/** Reading and writing a file by name, wherever it happens, are decided as calls of these tools. */
export const READER = { name: "read_file", access: "read" } as const;
export const WRITER = { name: "write_file", access: "write" } as const;

/** The verdict on a call that names neither a path nor a command. */
export function bareVerdict(tool: PolicyCall["tool"], { rules }: Settings): Verdict {
  const bare = rules.filter((rule) => isFor(rule, tool) && !rule.path && !rule.command);
  const [rule] = RULE_EFFECTS.flatMap((effect) => bare.find((one) => one.effect === effect) ?? []);
  if (rule) return byRule(rule);
  return tool.access === "read" ? ALLOW : askBecause(`can ${tool.access}`);
}

export function pathVerdict(tool: PolicyCall["tool"], path: string, scene: Scene): Verdict {
  const { approve, sandbox, rules, paths, place, root } = scene;
  const at = place(path);
  // A link with an allowed name allows nothing, and one with another name evades nothing.
  const matching = (effect: RuleEffect) =>
    rules.find((rule) =>
      rule.effect === effect && (isFor(rule, tool) || isAgainstReading(rule, tool)) &&
      (matchesPath(rule, root.real, at.real) ||
        effect !== "allow" && matchesPath(rule, root.path, at.path))
    );
  const denied = matching("deny");
  if (denied) return byRule(denied);
  const secret = secretAt(scene, at);
  if (secret !== undefined) return askBecause(`may hold ${secret}`);
  const special = paths.protectedKind(at.real) ?? paths.protectedKind(at.path);
  if (tool.access !== "read" && special !== undefined) return askBecause(`is ${special}`);
  const rule = matching("ask") ?? matching("allow");
  if (rule) return byRule(rule);
  if (!at.isInside) {
    const link = at.real === at.path ? "" : ` (${at.real})`;
    return askBecause(`is outside of the working directory${link}`);
  }
  if (tool.access === "read") return ALLOW;
  if (tool.access !== "write") return askBecause(`can ${tool.access}`);
  if (sandbox === "read-only") return askBecause("writes, and the sandbox is read-only");
  return approve === "edits" || approve === "auto"
    ? ALLOW
    : { ...askBecause("writes"), isRoutine: true };
}

/** The secret at a place, by its own name or by that of a link to it; undefined for none known. */
export function secretAt({ paths }: Scene, { path, real }: Place): string | undefined {
  return paths.secretKind(real) ?? paths.secretKind(path);
}

/** Tools that show the names of files alone: rules against reading a file do not hold for them. */
const NAMES_ONLY = ["glob_files", "list_directory"];

/** True for a rule against reading a file, which holds for each tool that may show what a file holds. */
function isAgainstReading(rule: Rule, { name }: PolicyCall["tool"]): boolean {
  return !NAMES_ONLY.includes(name) && rule.effect !== "allow" && rule.path !== undefined &&
    isFor(rule, READER);
}
