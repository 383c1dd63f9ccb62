/** Hooks of the user, of plug-ins and of the folder, which the user approves. @module */

import { attempt } from "../../attempt.ts";
import { readJsonFile } from "../../user_files.ts";
import { oneLine } from "../../text/one_line.ts";
import { reasonOf } from "../../text/reason.ts";
import type { TrustChange } from "../../safety/folder_trust.ts";
import type { Extension, PendingQuestion, SessionState } from "../../session/extension.ts";
import type { Confirmation } from "../../session/frontend.ts";
import { pluginsOf } from "../plugins/plugins_extension.ts";
import { type DefinitionFile, hookFiles } from "../definition_files.ts";
import { type HookDefinition, hooksIn, hookText } from "./definition.ts";
import type { SessionHooks } from "./session_hooks.ts";

export class HooksExtension implements Extension {
  readonly openQuestions: PendingQuestion[] = [];

  /**
   * Adds the session's hooks after itself, and asks about a folder's.
   * @throws {UsageError} if the user's own file is invalid.
   */
  async start(
    session: SessionState,
    source: "startup" | "resume",
    signal: AbortSignal,
  ): Promise<void> {
    const { agent, permissions, folderTrust, confirm, extensions } = session;
    const { readsFolder, trust } = session.options;
    const files = readsFolder ? hookFiles(agent.state.workingDir, permissions.variables) : [];
    const [definitions, lines]: [HookDefinition[], string[]] = [[], []];
    let all: SessionHooks | undefined = undefined;
    for (const file of files) {
      const isOwn = file.scope === "user";
      let value;
      try {
        value = readJsonFile(file.path);
      } catch (error) {
        if (isOwn) throw error;
        lines.push(reasonOf(error));
      }
      const { hooks, problems, text } = hooksIn(value ?? {}, file);
      lines.push(...problems.map((why) => `${file.path}: ${why}`));
      if (isOwn || trust) definitions.push(...hooks);
      if (hooks.length === 0 || isOwn || trust) continue;
      const name = attempt(() => Deno.realPathSync(file.path)) ?? file.path;
      const brought = { kind: "hooks", root: file.folder ?? name, name, text } as const;
      const save = (isYes: boolean) => folderTrust.save(brought, isYes).catch(() => {});
      const { isApproved: known, change } = await folderTrust.of(brought);
      const question = hooksQuestion(file.path, hooks, change);
      const answer = known ?? await confirm?.(question, signal);
      if (known === undefined && answer !== undefined) await save(answer);
      if (answer) definitions.push(...hooks);
      if (answer !== undefined) continue;
      lines.push(
        `hooks in ${file.path} are not approved yet, so they do not run: a session in the terminal or an editor asks about them`,
      );
      this.openQuestions.push({
        question,
        async decide(isYes, signal) {
          await save(isYes);
          if (isYes) await all?.add(hooks, source, signal);
        },
      });
    }
    if (lines.length > 0) session.tell("hook_files", ...lines);
    definitions.push(...pluginsOf(extensions).flatMap((plugin) => plugin.hooks));
    if (definitions.length + this.openQuestions.length === 0) return;
    const { SessionHooks } = await import("./session_hooks.ts");
    all = new SessionHooks(session);
    extensions.splice(extensions.indexOf(this) + 1, 0, all);
    await all.add(definitions, source, signal);
  }
}

export function hooksQuestion(
  path: string,
  hooks: readonly Omit<HookDefinition, keyof DefinitionFile>[],
  change?: TrustChange,
): Confirmation {
  const rows = hooks.map((hook) => `  ${hookText(hook)}`);
  const changed = change?.type === "changed" ? [{ name: path, lines: rows.length, change }] : [];
  return {
    kind: "hooks",
    text: [
      `Hooks in ${oneLine(path)}: programs that run without asking, in the sandbox:`,
      ...rows,
    ].join("\n"),
    title: "Run these hooks?",
    files: changed,
    path,
  };
}
