/** Definitions of hooks, in the JSON of Claude Code. Pure. @module */

import { attempt } from "../../attempt.ts";
import { isObject, objectOr } from "../../text/json.ts";
import { oneLine } from "../../text/one_line.ts";
import { sanitize } from "../../text/sanitize.ts";
import type { DefinitionFile } from "../definition_files.ts";

const HOOK_EVENTS = [
  ...["SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest"] as const,
  ...["PostToolUse", "PostToolUseFailure", "Notification", "PreCompact"] as const,
  ...["SubagentStop", "Stop", "SessionEnd"] as const,
];
export type HookEvent = (typeof HOOK_EVENTS)[number];

export interface HookDefinition extends DefinitionFile {
  event: HookEvent;
  /** The tool names that it is for, as in the file; missing for all. */
  matcher?: string;
  /** The shell command; for an unsupported kind of hook, its JSON. */
  command: string;
  timeoutMs: number;
  /** True if a hook of the user runs without the sandbox. */
  isOutside?: true;
  problem?: string;
}

const DEFAULT_TIMEOUT_S = 60;
const MAX_TIMEOUT_S = 600;

/**
 * Returns the hooks in a file's JSON, with or without the outer `hooks`, and the text that an approval is bound to.
 * Events of other agents are reported.
 */
export function hooksIn(value: Record<string, unknown>, file: DefinitionFile) {
  const isWrapped = isObject(value.hooks);
  // A settings file may have no hooks.
  const isSettings = /settings[^/\\]*\.json$/.test(file.path);
  const events = isWrapped ? value.hooks as Record<string, unknown> : isSettings ? {} : value;
  const hooks: HookDefinition[] = [];
  const problems: string[] = [];
  for (const [key, value] of Object.entries(events)) {
    const event = HOOK_EVENTS.find((one) => one === key);
    const groups = Array.isArray(value) ? value : [value];
    if (event === undefined) {
      if (groups.some(isObject)) problems.push(`hooks do not run at ${oneLine(key)}`);
      continue;
    }
    for (const group of groups) {
      const { hooks: given, matcher } = objectOr(group);
      const inGroup = Array.isArray(given) ? given : [group];
      hooks.push(...inGroup.map((hook) => hookOf(hook, matcher, { ...file, event })));
    }
  }
  return { hooks, problems, text: JSON.stringify(events, null, 2) };
}

/** Returns one hook. An invalid one has a `problem`: a guard that cannot run refuses the call. */
function hookOf(
  value: unknown,
  matcher: unknown,
  place: DefinitionFile & Pick<HookDefinition, "event">,
): HookDefinition {
  const { type = "command", command, timeout, sandbox } = objectOr(value);
  const isCommand = type === "command" && typeof command === "string" && command.trim() !== "";
  const seconds = typeof timeout === "number" && timeout > 0 ? timeout : DEFAULT_TIMEOUT_S;
  const isAll = matcher === undefined || matcher === "" || matcher === "*";
  const problem = !isCommand
    ? `it must have "type": "command" and a "command"`
    : isAll || typeof matcher === "string" && attempt(() => new RegExp(matcher))
    ? undefined
    : "its matcher is not a regular expression";
  return {
    ...place,
    ...!isAll && { matcher: String(matcher) },
    command: isCommand ? command : JSON.stringify(value) ?? "",
    ...place.scope === "user" && sandbox === "off" && { isOutside: true },
    timeoutMs: Math.min(seconds, MAX_TIMEOUT_S) * 1000,
    ...problem !== undefined && { problem },
  };
}

/** True if a hook is for one of `names`. A hook with an invalid matcher is for all. */
export function matchesHook(
  { matcher, problem }: HookDefinition,
  names: readonly string[],
): boolean {
  if (matcher === undefined || problem !== undefined || names.length === 0) return true;
  const pattern = new RegExp(`^(?:${matcher})$`);
  return names.some((name) => pattern.test(name));
}

export function hookText(
  { event, matcher, command, timeoutMs }: Omit<HookDefinition, keyof DefinitionFile>,
): string {
  const on = matcher === undefined ? event : `${event} ${oneLine(matcher)}`;
  // No line of a command looks like a row of its own.
  const shown = sanitize(command).replaceAll("\n", "\n  │ ");
  return `${on}: ${shown} (at most ${timeoutMs / 1000} s)`;
}
