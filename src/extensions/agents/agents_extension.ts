/** Sub-agents: the tool that runs them, and `/agents`. @module */

import type { Command, Extension, SessionState } from "../../session/extension.ts";
import { EXPLORE, exploreTool } from "../../tools/explore.ts";
import type { SkillsExtension } from "../skills/skills_extension.ts";
import type { SubAgents } from "./sub_agents.ts";
import { aboutTokens } from "../../text/count.ts";
import { specName } from "../../models/model_server.ts";
import { oneLine } from "../../text/one_line.ts";
import type { PromptFile } from "../skills/load.ts";
import { nearest } from "../../text/nearest.ts";
import { table } from "../../text/table.ts";
import { unknownText } from "../../session/commands/texts.ts";

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

  commands() {
    return [agentsCommand(this.skills)];
  }
}

const agentsCommand = (skills: SkillsExtension): Command => ({
  name: "agents",
  group: "Work",
  argument: "[NAME TASK]",
  help: "list the sub-agents, or run one",
  run(session, argument) {
    const { agents } = skills;
    const [, name = "", task = ""] = /^(\S*)\s*(.*)$/s.exec(argument) ?? [];
    if (agents.length === 0) {
      return "No sub-agents are defined. Add a file to .agents/agents or ~/.config/copilot/agents.";
    }
    const rows = (some: readonly PromptFile[]) =>
      table(some.map((one) => [one.name, describedAgent(one)]), session.surface.columns);
    if (name === "") return rows(agents);
    const found = skills.subAgent(name);
    const meant = nearest(name, agents.map((one) => one.name));
    if (found === undefined) return unknownText(`sub-agent ${name}`, "/agents", meant);
    if (task === "") return rows([found]);
    if (!session.agent.offered.some((tool) => tool.name === EXPLORE)) {
      return "The tool explore does not fit into the first request: remove some skills, sub-agents or MCP servers.";
    }
    const text = `Have the sub-agent ${found.name} do this, by the tool ${EXPLORE}: ${task}`;
    return { type: "turn", parts: [{ type: "text", text }] };
  },
  values: () =>
    skills.agents.map((one) => ({
      argument: `${one.name} `,
      label: one.name,
      detail: describedAgent(one),
    })),
});

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
