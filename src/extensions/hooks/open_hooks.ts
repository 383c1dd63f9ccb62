/** Reads the files of hooks, and asks about those of a folder. @module */

import { attempt } from "../../attempt.ts";
import { readJsonFile } from "../../user_files.ts";
import { sanitize } from "../../text/sanitize.ts";
import type { FolderTrust, TrustChange } from "../../safety/folder_trust.ts";
import type { Confirmation, Frontend } from "../../session/frontend.ts";
import { type HookDefinition, hooksIn } from "./definition.ts";
import type { HookFile } from "./hook_files.ts";
import { hookText } from "./hook_text.ts";

interface HookOptions {
  folderTrust: FolderTrust;
  frontend: Pick<Frontend, "confirm">;
  /** True uses a folder's hooks for this run without approval. */
  trust: boolean;
  signal: AbortSignal;
}

interface OpenedHooks {
  hooks: HookDefinition[];
  problems: { path: string; why: string }[];
  /** The files whose hooks have no answer yet. */
  pending: HookFile[];
}

/** Returns the hooks that may run. @throws {UsageError} if the user's own file is invalid. */
export async function openHooks(
  files: readonly HookFile[],
  { folderTrust, frontend, trust, signal }: HookOptions,
): Promise<OpenedHooks> {
  const opened: OpenedHooks = { hooks: [], problems: [], pending: [] };
  for (const file of files) {
    // Only the hooks of a folder's file are shown, because it may link to any file.
    const isOwn = file.scope === "user";
    const value = isOwn
      ? readJsonFile(file.path)
      : attempt(() => readJsonFile(file.path, false)) ?? {};
    const { hooks, problems, text } = hooksIn(value ?? {}, file);
    opened.problems.push(...problems);
    if (hooks.length === 0) continue;
    const path = attempt(() => Deno.realPathSync(file.path)) ?? file.path;
    const brought = { kind: "hooks", root: file.folder ?? path, name: path, text } as const;
    const ask = async () => {
      const { isApproved: known, change } = await folderTrust.of(brought);
      const question = () => hooksQuestion(file.path, hooks, change);
      const answer = known ?? await frontend.confirm?.(question(), signal);
      if (known === undefined && answer !== undefined) {
        await folderTrust.save(brought, answer).catch(() => {});
      }
      if (answer === undefined) opened.pending.push(file);
      return answer === true;
    };
    if (isOwn || trust || await ask()) opened.hooks.push(...hooks);
  }
  return opened;
}

/** Asks whether to run the hooks of a file of a folder. */
export function hooksQuestion(
  path: string,
  hooks: readonly Pick<HookDefinition, "event" | "matcher" | "command" | "timeoutMs">[],
  change?: TrustChange,
): Confirmation {
  const rows = hooks.map((hook) => `  ${hookText(hook)} (at most ${hook.timeoutMs / 1000} s)`);
  const changed = change?.type === "changed" ? [{ name: path, lines: rows.length, change }] : [];
  return {
    kind: "hooks",
    text: [
      `Hooks in ${sanitize(path)}: programs that run without asking, in the sandbox:`,
      ...rows,
    ].join("\n"),
    title: "Run these hooks?",
    heading: "Run the hooks of this folder?",
    files: changed,
    path,
    data: hooks.map(({ event, matcher, command, timeoutMs }) => ({
      event,
      ...matcher !== undefined && { matcher },
      command,
      timeoutMs,
    })),
  };
}
