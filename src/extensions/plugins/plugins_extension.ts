/** Plug-ins of the user: skills, commands, sub-agents, hooks and servers that others wrote. @module */

import { attempt } from "../../attempt.ts";
import type { Extension, SessionState } from "../../session/extension.ts";
import { reasonOf } from "../../text/reason.ts";
import { join } from "../../text/std_path.ts";
import { replaceUserFile, userFile } from "../../user_files.ts";
import type { PluginParts } from "./plugin_parts.ts";

export const pluginsOf = (extensions: readonly Extension[]): readonly PluginParts[] =>
  extensions.find((one) => one instanceof PluginsExtension)?.loaded ?? [];

export class PluginsExtension implements Extension {
  /** The approved plug-ins, once the session opened this extension. */
  loaded: readonly PluginParts[] = [];

  async open(session: SessionState, signal: AbortSignal): Promise<void> {
    const { confirm, permissions: { variables: env } } = session;
    const file = session.readsFolder ? userFile("plugins.json", env) : undefined;
    if (file === undefined) return;
    const tell = (line: string) => session.tell("plugins", line);
    if (attempt(() => Deno.statSync(file)) === undefined) {
      const others = join(env("HOME") ?? "/", ".claude/plugins/installed_plugins.json");
      if (!confirm || attempt(() => Deno.statSync(others)) === undefined) return;
      // The record exists from now on, so this is offered once.
      await replaceUserFile(file, "{}\n").catch(() => {});
      return tell(
        "Claude Code has plug-ins in ~/.claude/plugins/cache: copilot plugin add PATH copies one",
      );
    }
    try {
      const { loadPlugins } = await import("./plugin_store.ts");
      this.loaded = await loadPlugins(session, tell, signal);
    } catch (error) {
      tell(`plug-ins are not used: ${reasonOf(error)}`);
    }
  }
}
