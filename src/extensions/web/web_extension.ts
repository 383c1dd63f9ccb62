/** Pages of the web for the model, if there is a network or a rule allows a host. @module */

import type { Extension, SessionState } from "../../session/extension.ts";
import { fetchTool } from "../../tools/web/fetch_tool.ts";

export class WebExtension implements Extension {
  async open({ agent, permissions, approve }: SessionState): Promise<void> {
    if (!await permissions.mayFetch(agent.state.workingDir, approve !== undefined)) return;
    agent.extend(fetchTool);
  }
}
