/**
 * What the settings come to for a call of a tool that names a path, or nothing.
 *
 * @module
 */

import type { Place } from "./containment.ts";
import { type Effect, isFor, matchesPath, type Rule } from "./rules.ts";
import { protectedKind, secretKind } from "./protected_paths.ts";
import type { Call, Settings, Verdict } from "./settings.ts";

/** The settings, and where they are applied. */
export interface Scene extends Settings {
  place: (path: string) => Place;
  root: Place;
  /** What patterns come to, as far as it was looked for. */
  patterns: Map<string, string[] | undefined>;
}

export const ALLOW: Verdict = { effect: "allow", reason: "is allowed" };

export const ask = (reason: string): Verdict => ({ effect: "ask", reason });

export const byRule = ({ effect, text }: Rule): Verdict => ({
  effect,
  reason: `matches the rule ${effect} ${text}`,
});

/** The tool that reading a file by name is decided as. */
export const READER = { name: "read_file", access: "read" } as const;

/** The tool that writing a file by name is decided as. */
export const WRITER = { name: "write_file", access: "write" } as const;

/** Of a tool that names neither a path nor a command. */
export function bareVerdict(tool: Call["tool"], { rules }: Settings): Verdict {
  for (const effect of ["deny", "ask", "allow"] as const) {
    const rule = rules.find((one) =>
      one.effect === effect && isFor(one, tool) && one.path === undefined &&
      one.command === undefined
    );
    if (rule) return byRule(rule);
  }
  return tool.access === "read" ? ALLOW : ask(`can ${tool.access}`);
}

export function pathVerdict(tool: Call["tool"], path: string, scene: Scene): Verdict {
  const { approve, sandbox, rules, place, root } = scene;
  const at = place(path);
  // A link with an allowed name allows nothing, and one with another name evades nothing.
  const matching = (effect: Effect) =>
    rules.find((rule) =>
      rule.effect === effect && (isFor(rule, tool) || isAgainstReading(rule, tool)) &&
      (matchesPath(rule, root.real, at.real) ||
        effect !== "allow" && matchesPath(rule, root.path, at.path))
    );
  const denied = matching("deny");
  if (denied) return byRule(denied);
  const secret = secretKind(at.real) ?? secretKind(at.path);
  if (secret !== undefined) return ask(`may hold ${secret}`);
  const special = protectedKind(at.real) ?? protectedKind(at.path);
  if (tool.access !== "read" && special !== undefined) return ask(`is ${special}`);
  const rule = matching("ask") ?? matching("allow");
  if (rule) return byRule(rule);
  if (!at.isInside) {
    const link = at.real === at.path ? "" : ` (${at.real})`;
    return ask(`is outside of the working directory${link}`);
  }
  if (tool.access === "read") return ALLOW;
  if (tool.access !== "write") return ask(`can ${tool.access}`);
  if (sandbox === "read-only") return ask("writes, and the sandbox is read-only");
  return approve === "edits" || approve === "auto" ? ALLOW : { ...ask("writes"), isRoutine: true };
}

/** Whether a rule against reading a file holds for the tool, which shows what a file holds, too. */
function isAgainstReading(rule: Rule, { name }: Call["tool"]): boolean {
  return ["edit_file", "write_file", "grep_code"].includes(name) && rule.effect !== "allow" &&
    rule.path !== undefined && isFor(rule, READER);
}
