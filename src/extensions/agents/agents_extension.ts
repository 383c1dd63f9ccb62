/** Sub-agents: the tool that runs them, and `/agents`. @module */

import type { Command, Extension, SessionState } from "../../session/extension.ts";
import { exploreTool } from "../../tools/explore.ts";
import type { SkillsExtension } from "../skills/skills_extension.ts";
import type { SubAgents } from "./sub_agents.ts";
import { aboutTokens } from "../../text/count.ts";
import { specName } from "../../models/model_server.ts";
import { oneLine } from "../../text/one_line.ts";
import type { PromptFile } from "../skills/load.ts";
import { table } from "../../text/table.ts";

export class AgentsExtension implements Extension {
  #subAgents: SubAgents | undefined;

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

  commands(): Command[] {
    const run: Command["run"] = ({ surface }) => {
      const rows = this.skills.agents.map((one) => [one.name, describedAgent(one)]);
      if (rows.length > 0) return table(rows, surface.columns);
      return "No sub-agents are defined. Add a file to .agents/agents or ~/.config/copilot/agents.";
    };
    return [{ name: "agents", group: "Work", help: "list the sub-agents", run }];
  }
}

function describedAgent({ description, body, limits, path }: PromptFile): string {
  const { tools, without = [], isReader, isIsolated, model } = limits ?? {};
  return [
    description,
    `about ${aboutTokens(body)} tokens when used`,
    ...tools ? [`tools: ${tools.join(", ") || "none"}`] : [],
    ...without.length > 0 ? [`not ${without.join(", ")}`] : [],
    ...isReader ? ["only reads"] : [],
    ...isIsolated ? ["in a worktree"] : [],
    ...model === undefined ? [] : [`model ${specName(model)}`],
    path,
  ].map(oneLine).join(" · ");
}
