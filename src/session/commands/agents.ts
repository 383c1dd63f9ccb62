/** `/agents`: lists the sub-agents that files define, and has one do a task. @module */

import { aboutTokens } from "../../text/count.ts";
import { nearest } from "../../text/nearest.ts";
import { oneLine } from "../../text/one_line.ts";
import { EXPLORE } from "../agents/explore_tool.ts";
import type { PlugIn } from "../plugins/load.ts";
import { type Report, sentence } from "../report.ts";
import type { Command, SessionState } from "../state.ts";

const NO_AGENTS =
  "No file defines a sub-agent: one in .agents/agents or ~/.config/copilot/agents does.";

export const agentsCommand: Command = {
  name: "agents",
  argument: "[NAME TASK]",
  help: "list the sub-agents that files define, or have one do a task",
  run(session, argument) {
    const agents = namedAgents(session);
    const [, name = "", task = ""] = /^(\S*)\s*(.*)$/s.exec(argument) ?? [];
    if (agents.length === 0) return sentence(NO_AGENTS);
    if (name === "") return agentRows(agents);
    const found = agents.find((one) => one.name === name.toLowerCase());
    if (found === undefined) {
      const near = nearest(name, agents.map((one) => one.name));
      const which = near === undefined ? "/agents lists them" : `did you mean ${near}?`;
      return sentence(`There is no sub-agent ${oneLine(name)}: ${which}`);
    }
    if (task === "") return agentRows([found]);
    if (!session.agent.offered.some((tool) => tool.name === EXPLORE)) {
      return sentence(
        "The first request has no room left for the tool explore: fewer skills, sub-agents or MCP servers make some.",
      );
    }
    const text = `Have the sub-agent ${found.name} do this, by the tool ${EXPLORE}: ${task}`;
    return { type: "turn", parts: [{ type: "text", text }] };
  },
  values: (session) =>
    namedAgents(session).map((one) => ({
      argument: `${one.name} `,
      label: one.name,
      detail: `${oneLine(one.description)} · ${agentFacts(one)}`,
    })),
};

const namedAgents = ({ plugged }: SessionState): readonly PlugIn[] => plugged?.agents ?? [];

function agentRows(agents: readonly PlugIn[]): Report {
  const tools = agents.map((one) => ({
    name: one.name,
    description: `${oneLine(one.description)} · ${agentFacts(one)}`,
  }));
  return { type: "tools", tools };
}

/** The cost of a sub-agent's prompt, and its limits. */
function agentFacts({ body, limits, path }: PlugIn): string {
  const { tools, without = [], isReader, model } = limits ?? {};
  return [
    `about ${aboutTokens(body)} tokens when it is used`,
    ...tools ? [`tools: ${tools.join(", ") || "none"}`] : [],
    ...without.length > 0 ? [`not ${without.join(", ")}`] : [],
    ...isReader ? ["only reads"] : [],
    ...model === undefined ? [] : [`model ${model}`],
    path,
  ].map(oneLine).join(" · ");
}
