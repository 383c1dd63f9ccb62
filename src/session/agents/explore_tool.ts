/** The tool by which a model has a sub-agent do a task. What it does is loaded on its first use. @module */

import type { Tool, ToolContext, ToolOutcome } from "../../types/tool.ts";

/** The name of the tool, and of the sub-agent that no file defines. */
export const EXPLORE = "explore";

interface ExploreOptions {
  /** True where files define sub-agents, which a call may name. */
  hasAgents(): boolean;
  run(
    call: { task: string; agent?: string },
    context: ToolContext,
  ): Promise<ToolOutcome>;
}

/** The tool. Its parameters change with the sub-agents, which the model is told of with the same change. */
export function exploreTool(
  { hasAgents, run }: ExploreOptions,
): Tool & { isForSmall: true } {
  return {
    name: EXPLORE,
    description: "Delegate a long search: only its answer comes back.",
    get parameters() {
      const text = { type: "string" };
      const properties = { task: text, ...hasAgents() && { agent: text } };
      return { type: "object", properties, required: ["task"] };
    },
    // What its calls touch is decided call by call.
    access: "read",
    isForSmall: true,
    subject: ({ task, agent }) => ({
      action: "explore",
      ...typeof task === "string" && { task },
      ...agentNamed(agent),
    }),
    run: ({ task, agent }, context) => run({ task: String(task), ...agentNamed(agent) }, context),
  };
}

/** The sub-agent of a file that an argument names; none for the one that no file defines. */
function agentNamed(agent: unknown): { agent?: string } {
  const name = typeof agent === "string" ? agent.trim().toLowerCase() : "";
  return name === "" || name === EXPLORE ? {} : { agent: name };
}
