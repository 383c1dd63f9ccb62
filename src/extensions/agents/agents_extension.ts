/** Sub-agents: the tool that runs them, and `/agents`. Their code is loaded on first use. @module */

import type { Extension, SessionState } from "../../session/extension.ts";
import { exploreTool } from "../../tools/explore.ts";
import type { SkillsExtension } from "../skills/skills_extension.ts";
import type { SubAgents } from "./sub_agents.ts";

export class AgentsExtension implements Extension {
  #subAgents: SubAgents | undefined;

  /** @param skills has the definitions of the sub-agents */
  constructor(private readonly skills: SkillsExtension) {}

  open(session: SessionState): Promise<void> {
    session.agent.extend(exploreTool({
      hasAgents: () => this.skills.agents.length > 0,
      run: async (call, context) => {
        const { SubAgents } = await import("./sub_agents.ts");
        this.#subAgents ??= new SubAgents(session, this.skills);
        return await this.#subAgents.run(call, context);
      },
    }));
    return Promise.resolve();
  }

  async commands() {
    const { agentsCommand } = await import("./agents_command.ts");
    return [agentsCommand(this.skills)];
  }
}
