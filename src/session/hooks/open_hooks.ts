/** Reads the files of hooks, and asks about those of a folder. @module */

import { attempt } from "../../attempt.ts";
import { readJsonFile } from "../../user_files.ts";
import type { Frontend, HooksQuestion } from "../frontend.ts";
import type { Permissions } from "../permissions.ts";
import { HookApprovals } from "./approval.ts";
import { type HookDefinition, hooksIn } from "./definition.ts";
import type { HookFile } from "./hook_files.ts";

interface HookOptions {
  permissions: Permissions;
  frontend: Pick<Frontend, "confirm">;
  /** True uses a folder's hooks this time, unseen. */
  trust: boolean;
  signal: AbortSignal;
}

interface OpenedHooks {
  hooks: HookDefinition[];
  problems: { path: string; why: string }[];
  /** The files whose hooks nobody approved. */
  pending: HookFile[];
}

/** The hooks that may run. @throws {UsageError} when the person's own file makes no sense. */
export async function openHooks(
  files: readonly HookFile[],
  { permissions, frontend, trust, signal }: HookOptions,
): Promise<OpenedHooks> {
  const state = permissions.stateFolder;
  const approvals = new HookApprovals(state && `${state}/hooks`);
  const opened: OpenedHooks = { hooks: [], problems: [], pending: [] };
  for (const file of files) {
    // Of a folder's file only its hooks are shown, as it may be a link to anything.
    const isOwn = file.scope === "user";
    const value = isOwn
      ? readJsonFile(file.path)
      : attempt(() => readJsonFile(file.path, false)) ?? {};
    const { hooks, problems, text } = hooksIn(value ?? {}, file);
    opened.problems.push(...problems);
    if (hooks.length === 0) continue;
    const path = attempt(() => Deno.realPathSync(file.path)) ?? file.path;
    const ask = async () => {
      const known = await approvals.of(path, text);
      const answer = known ?? await frontend.confirm?.(questionOf(file, hooks), signal);
      if (known === undefined && answer !== undefined) await approvals.keep(path, text, answer);
      if (answer === undefined) opened.pending.push(file);
      return answer === true;
    };
    if (isOwn || trust || await ask()) opened.hooks.push(...hooks);
  }
  return opened;
}

function questionOf({ path }: HookFile, hooks: readonly HookDefinition[]): HooksQuestion {
  return {
    type: "hooks",
    file: path,
    hooks: hooks.map(({ event, matcher, command, timeoutMs }) => ({
      event,
      ...matcher !== undefined && { matcher },
      command,
      timeoutMs,
    })),
  };
}
