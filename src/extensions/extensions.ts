/** The extensions of a session, in order. @module */

import type { Extension } from "../session/extension.ts";
import { AgentsExtension } from "./agents/agents_extension.ts";
import { ChecksExtension } from "./checks/checks_extension.ts";
import { HooksExtension } from "./hooks/hooks_extension.ts";
import { InstructionsExtension } from "./instructions/instructions_extension.ts";
import type { McpDefinition } from "./mcp/definition.ts";
import { McpExtension } from "./mcp/mcp_extension.ts";
import { PluginsExtension } from "./plugins/plugins_extension.ts";
import { SkillsExtension } from "./skills/skills_extension.ts";
import { UntilExtension } from "./until/until_extension.ts";
import { WebExtension } from "./web/web_extension.ts";

/**
 * Returns new extensions for a session. Tools are offered in this order.
 *
 * @param servers MCP servers in addition to those of files. The caller has approved them.
 * @param skills the skills, for callers that list them
 * @param until the check at the end of turns
 * @param checks the programs that check edits
 * @param web the pages of the web, and a search
 */
export function allExtensions(
  servers: readonly McpDefinition[] = [],
  skills: SkillsExtension = new SkillsExtension(),
  until: UntilExtension = new UntilExtension(),
  checks: ChecksExtension = new ChecksExtension(),
  web: WebExtension = new WebExtension(),
): Extension[] {
  return [
    new PluginsExtension(),
    new InstructionsExtension(skills),
    skills,
    new AgentsExtension(skills),
    web,
    new McpExtension(servers),
    new HooksExtension(),
    checks,
    until,
  ];
}
