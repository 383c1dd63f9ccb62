/** Reads the files of hooks, and asks about those of a folder. @module */

import { attempt } from "../../attempt.ts";
import { readJsonFile } from "../../user_files.ts";
import { oneLine } from "../../text/one_line.ts";
import type { TrustChange } from "../../safety/folder_trust.ts";
import type { SessionState } from "../../session/extension.ts";
import type { Confirmation } from "../../session/frontend.ts";
import { defined } from "../mcp/definition.ts";
import { type HookDefinition, hooksIn, hookText } from "./definition.ts";
import type { DefinitionFile } from "../definition_files.ts";

interface OpenedHooks {
  definitions: HookDefinition[];
  problems: { path: string; why: string }[];
  /** The files whose hooks have no answer yet. `save` stores it. */
  pending: {
    definitions: readonly HookDefinition[];
    question: Confirmation;
    save(isYes: boolean): Promise<void>;
  }[];
}

/** Returns the hooks that may run, and asks about others. @throws {UsageError} if the user's own file is invalid. */
export async function openHooks(
  files: readonly DefinitionFile[],
  { folderTrust, confirm, trust }: Pick<SessionState, "folderTrust" | "confirm" | "trust">,
  signal: AbortSignal,
): Promise<OpenedHooks> {
  const opened: OpenedHooks = { definitions: [], problems: [], pending: [] };
  for (const file of files) {
    // A folder's file may be a link to anything, so an error shows nothing of it.
    const isOwn = file.scope === "user";
    const value = isOwn ? readJsonFile(file.path) : attempt(() => readJsonFile(file.path, false));
    const { hooks, problems, text } = hooksIn(value ?? {}, file);
    opened.problems.push(...problems);
    if (hooks.length === 0) continue;
    if (isOwn || trust) {
      opened.definitions.push(...hooks);
      continue;
    }
    const name = attempt(() => Deno.realPathSync(file.path)) ?? file.path;
    const brought = { kind: "hooks", root: file.folder ?? name, name, text } as const;
    const save = (isYes: boolean) => folderTrust.save(brought, isYes).catch(() => {});
    const { isApproved: known, change } = await folderTrust.of(brought);
    const question = hooksQuestion(file.path, hooks, change);
    const answer = known ?? await confirm?.(question, signal);
    if (known === undefined && answer !== undefined) await save(answer);
    if (answer) opened.definitions.push(...hooks);
    else if (answer === undefined) opened.pending.push({ definitions: hooks, question, save });
  }
  return opened;
}

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
      `Hooks in ${oneLine(path)}: programs that run without asking, in the sandbox:`,
      ...rows,
    ].join("\n"),
    title: "Run these hooks?",
    heading: "Run the hooks of this folder?",
    files: changed,
    path,
    data: hooks.map(({ event, matcher, command, timeoutMs }) =>
      defined({ event, matcher, command, timeoutMs })
    ),
  };
}
