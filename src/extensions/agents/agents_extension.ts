/** Sub-agents: the tool that runs them, and `/agents`. @module */

import type { Extension, SessionState } from "../../session/extension.ts";
import { exploreTool } from "../../tools/explore.ts";
import type { SkillsExtension } from "../skills/skills_extension.ts";
import { agentsCommand } from "./agents_command.ts";
import { SubAgents } from "./sub_agents.ts";

export class AgentsExtension implements Extension {
  #subAgents: SubAgents | undefined;

  /** @param skills has the definitions of the sub-agents */
  constructor(private readonly skills: SkillsExtension) {}

  open(session: SessionState): Promise<void> {
    session.agent.extend(exploreTool({
      hasAgents: () => this.skills.agents.length > 0,
      run: (call, context) => {
        this.#subAgents ??= new SubAgents(session, this.skills);
        return this.#subAgents.run(call, context);
      },
    }));
    return Promise.resolve();
  }

  commands() {
    return [agentsCommand(this.skills)];
  }
}
