/** Pages of the web for the model, if the user can be asked or a rule allows a host, and for messages. @module */

import { outcomeOf } from "../../agent/run_tools.ts";
import type { Extension, SessionState } from "../../session/extension.ts";
import { bareNames } from "../../text/tool_aliases.ts";
import type { Tool, ToolContext } from "../../types/tool.ts";
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

const searchTool = (address: string): Tool =>
  callable({
    name: "search_web",
    description: "Search the web",
    parameters: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
    access: "network",
    slips: { synonyms: { query: bareNames("q search text term keywords") } },
    run: async ({ query }, { signal }) =>
      await (await import("./search_web.ts")).searchWeb(String(query), address, signal),
  });

export class WebExtension implements Extension {
  #session: SessionState | undefined;

  constructor(private readonly search?: string) {}

  async open(session: SessionState): Promise<void> {
    const { agent, permissions, approve } = this.#session = session;
    const mayFetch = await permissions.mayFetch(agent.state.workingDir, approve !== undefined);
    if (mayFetch) agent.extend(fetchTool);
    if (this.search !== undefined) agent.extend(searchTool(this.search));
  }

  /** Returns the page of an address in a message. The user typed it, but a script may have written that of `-p`. */
  attach(name: string, signal: AbortSignal): Promise<string> | undefined {
    return /^https?:\/\//i.test(name)
      ? this.#page({ url: name.replace(/[.,;:!?)]+$/, ""), offset: 0 }, signal)
      : undefined;
  }

  async #page(args: Record<string, unknown>, signal: AbortSignal): Promise<string> {
    const { agent, permissions, approve, policyWith } = this.#session!;
    const { network } = await permissions.sandboxStatus(agent.state.workingDir);
    const isMeant = approve !== undefined || network === true;
    const by = policyWith(isMeant ? () => Promise.resolve({ choice: "once" }) : undefined);
    const context: ToolContext = { ...agent.toolContext(signal), isFromUser: true };
    const decision = await by.decide(fetchTool, args, context);
    if (!decision.allow) throw new Error(decision.explanation ?? decision.reason);
    const { mayBePrivate } = decision;
    const given = { ...context, ...mayBePrivate && { mayBePrivate } };
    return outcomeOf(await fetchTool.run(args, given)).content;
  }
}
