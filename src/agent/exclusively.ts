import type { CopilotAgent } from "./agent.ts";

const busy = new WeakSet<CopilotAgent>();

/** Runs `work` while nothing else changes the conversation. @throws {TypeError} if the agent is busy. */
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
