/** Pages of the web for the model, if there is a network or a rule allows a host. @module */

import type { Extension, SessionState } from "../../session/extension.ts";
import { bareNames } from "../../text/tool_aliases.ts";
import type { Tool } from "../../types/tool.ts";
import { callable } from "../../tools/definition.ts";
import { webAddress } from "./web_address.ts";

/** `fetch_url`: reads a web page as text. Without a policy, the model can reach every public host. */
export const fetchTool: Tool = callable({
  name: "fetch_url",
  description: "Read a web page as text",
  parameters: {
    type: "object",
    properties: { url: { type: "string" }, offset: { type: "integer", minimum: 0, default: 0 } },
    required: ["url"],
  },
  access: "network",
  subject: ({ url }) => ({ action: "fetch", url: webAddress(String(url)).href }),
  slips: {
    synonyms: {
      url: bareNames("uri link address href page website webpage target"),
      offset: bareNames("start from begin startindex"),
    },
  },
  run: async (args, context) => await (await import("./fetch_url.ts")).fetchUrl(args, context),
});

export class WebExtension implements Extension {
  async open({ agent, permissions, approve }: SessionState): Promise<void> {
    if (!await permissions.mayFetch(agent.state.workingDir, approve !== undefined)) return;
    agent.extend(fetchTool);
  }
}
