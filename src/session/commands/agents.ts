/** `/agents`: lists the sub-agents that files define, and has one do a task. @module */

import { aboutTokens } from "../../text/count.ts";
import { oneLine } from "../../text/one_line.ts";
import { EXPLORE } from "../agents/explore_tool.ts";
import type { PromptFile } from "../prompt_files/load.ts";
import type { Report } from "../report.ts";
import type { Command, SessionState } from "../state.ts";
import { unknownReport } from "./unknown.ts";

export const agentsCommand: Command = {
  name: "agents",
  argument: "[NAME TASK]",
  help: "list the sub-agents that files define, or have one do a task",
  run(session, argument) {
    const agents = namedAgents(session);
    const [, name = "", task = ""] = /^(\S*)\s*(.*)$/s.exec(argument) ?? [];
    if (agents.length === 0 || name === "") return agentRows(agents);
    const found = session.plugged?.subAgent(name);
    if (found === undefined) return unknownReport("agent", name, agents.map((one) => one.name));
    if (task === "") return agentRows([found]);
    if (!session.agent.offered.some((tool) => tool.name === EXPLORE)) {
      return { type: "no_room_for_agents" };
    }
    const text = `Have the sub-agent ${found.name} do this, by the tool ${EXPLORE}: ${task}`;
    return { type: "turn", parts: [{ type: "text", text }] };
  },
  values: (session) =>
    namedAgents(session).map((one) => ({
      argument: `${one.name} `,
      label: one.name,
      detail: describedAgent(one),
    })),
};

const namedAgents = ({ plugged }: SessionState): readonly PromptFile[] => plugged?.agents ?? [];

function agentRows(agents: readonly PromptFile[]): Report {
  const described = agents.map((one) => ({
    name: one.name,
    description: describedAgent(one),
  }));
  return { type: "agents", agents: described };
}

/** A row of `/agents` for one sub-agent: its description, the tokens of its prompt, its tools and its model. */
function describedAgent({ description, body, limits, path }: PromptFile): string {
  const { tools, without = [], isReader, model } = limits ?? {};
  return [
    description,
    `about ${aboutTokens(body)} tokens when it is used`,
    ...tools ? [`tools: ${tools.join(", ") || "none"}`] : [],
    ...without.length > 0 ? [`not ${without.join(", ")}`] : [],
    ...isReader ? ["only reads"] : [],
    ...model === undefined ? [] : [`model ${model}`],
    path,
  ].map(oneLine).join(" · ");
}
