/** Plug-ins of the user: skills, commands, sub-agents, hooks and servers that others wrote. @module */

import { attempt } from "../../attempt.ts";
import type { Extension, SessionState } from "../../session/extension.ts";
import { reasonOf } from "../../text/reason.ts";
import { userFile } from "../../user_files.ts";
import type { PluginParts } from "./plugin_parts.ts";

export const pluginsOf = (extensions: readonly Extension[]): readonly PluginParts[] =>
  extensions.find((one) => one instanceof PluginsExtension)?.loaded ?? [];

export class PluginsExtension implements Extension {
  /** The approved plug-ins, once the session opened this extension. */
  loaded: readonly PluginParts[] = [];

  async open(session: SessionState, signal: AbortSignal): Promise<void> {
    const { permissions, options: { readsFolder } } = session;
    const file = readsFolder ? userFile("plugins.json", permissions.variables) : undefined;
    if (file === undefined || attempt(() => Deno.statSync(file)) === undefined) return;
    const tell = (line: string) => session.tell("plugins", line);
    try {
      const { loadPlugins } = await import("./plugin_store.ts");
      this.loaded = await loadPlugins(session, tell, signal);
    } catch (error) {
      tell(`plug-ins are not used: ${reasonOf(error)}`);
    }
  }
}
