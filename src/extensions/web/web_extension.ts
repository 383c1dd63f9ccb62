/** Pages of the web for the model, if there is a network or a rule allows a host. @module */

import type { Extension, SessionState } from "../../session/extension.ts";

export class WebExtension implements Extension {
  async open({ agent, permissions, approve }: SessionState): Promise<void> {
    if (!await permissions.mayFetch(agent.state.workingDir, approve !== undefined)) return;
    agent.extend((await import("../../tools/web/fetch_tool.ts")).fetchTool);
  }
}
