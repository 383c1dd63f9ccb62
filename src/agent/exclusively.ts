import type { CopilotAgent } from "./agent.ts";

const busy = new WeakSet<CopilotAgent>();

/**
 * Runs `work`, during which nothing else may change the agent's conversation.
 *
 * @param action What it is, for the error.
 * @throws {TypeError} when the agent is still busy.
 */
export async function exclusively<T>(
  agent: CopilotAgent,
  action: string,
  work: () => Promise<T>,
): Promise<T> {
  if (busy.has(agent)) {
    throw new TypeError(`Cannot ${action} as the agent is still busy with the turn before`);
  }
  busy.add(agent);
  try {
    return await work();
  } finally {
    busy.delete(agent);
  }
}
