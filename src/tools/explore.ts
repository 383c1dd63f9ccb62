import type { Tool, ToolContext, ToolOutcome } from "../types/tool.ts";

/** The name of the tool, and of the built-in sub-agent. */
export const EXPLORE = "explore";

interface ExploreOptions {
  /** True if files define sub-agents, which a call may name. */
  hasAgents(): boolean;
  run(call: { task: string; agent?: string }, context: ToolContext): Promise<ToolOutcome>;
}

/** The tool. Its parameters change with the sub-agents, in the same step as the model's list of them. */
export function exploreTool({ hasAgents, run }: ExploreOptions): Tool & { isForSmall: true } {
  return {
    name: EXPLORE,
    description: "Delegate a long search: only its answer comes back.",
    get parameters() {
      const text = { type: "string" };
      const properties = { task: text, ...hasAgents() && { agent: text } };
      return { type: "object", properties, required: ["task"] };
    },
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

function agentNamed(agent: unknown): { agent?: string } {
  const name = typeof agent === "string" ? agent.trim().toLowerCase() : "";
  return name === "" || name === EXPLORE ? {} : { agent: name };
}
