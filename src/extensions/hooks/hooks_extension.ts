/** Hooks of the user, of plug-ins and of the folder. @module */

import type { Extension, PendingQuestion, SessionState } from "../../session/extension.ts";
import { pluginsOf } from "../plugins/plugins_extension.ts";
import { hookFiles } from "../definition_files.ts";

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
    this.pending.push(...await openHooks({ files, ofPlugins }, session, source, this, signal));
  }
}
