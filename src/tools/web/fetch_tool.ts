/** The tool that reads a web page, for sessions with a network. @module */

import { bareNames } from "../../text/tool_aliases.ts";
import type { Tool } from "../../types/tool.ts";
import { callable } from "../definition.ts";
import { webAddress } from "./web_address.ts";
import { fetchUrl } from "./fetch_url.ts";

/** `fetch_url`: reads a web page as text. Without a policy, the model can reach every public host. */
export const fetchTool: Tool = callable({
  name: "fetch_url",
  description: "Read a web page as text",
  parameters: {
    type: "object",
    properties: {
      url: { type: "string" },
      offset: { type: "integer", minimum: 0, default: 0 },
    },
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
  run: (args, context) => fetchUrl(args, context),
});
