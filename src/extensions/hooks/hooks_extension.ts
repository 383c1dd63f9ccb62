/** Hooks of the user and of the folder. @module */

import type { Extension, PendingQuestion, SessionState } from "../../session/extension.ts";
import { pluginsOf } from "../plugins/plugins_extension.ts";
import { hookFiles } from "./hook_files.ts";

export class HooksExtension implements Extension {
  readonly pending: PendingQuestion[] = [];

  async start(
    session: SessionState,
    source: "startup" | "resume",
    signal: AbortSignal,
  ): Promise<void> {
    const { agent, permissions, readsFolder } = session;
    const files = readsFolder ? hookFiles(agent.state.workingDir, permissions.variables) : [];
    const ofPlugins = pluginsOf(session.extensions).flatMap((plugin) => plugin.hooks);
    if (files.length + ofPlugins.length === 0) return;
    const { openHooks } = await import("./open_hooks.ts");
    const { definitions, problems, pending } = await openHooks(files, session, signal);
    const lines = [
      ...problems.map(({ path, why }) => `${path}: ${why}`),
      ...pending.map(({ question: { path } }) =>
        `hooks in ${path} are not approved yet, so they do not run: a session in the terminal or an editor asks about them`
      ),
    ];
    if (lines.length > 0) session.tell("hook_files", ...lines);
    definitions.push(...ofPlugins);
    if (definitions.length + pending.length === 0) return;
    const { SessionHooks } = await import("./session_hooks.ts");
    const hooks = new SessionHooks(session);
    session.extensions.splice(session.extensions.indexOf(this) + 1, 0, hooks);
    await hooks.add(definitions, source, signal);
    this.pending.push(...pending.map(({ question, save, definitions }): PendingQuestion => ({
      question,
      async decide(isYes, signal) {
        await save(isYes);
        if (isYes) await hooks.add(definitions, "startup", signal);
      },
    })));
  }
}
