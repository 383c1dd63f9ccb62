/**
 * The record of a session, and going on with one.
 *
 * @module
 */

import type { CopilotAgent } from "../agent/agent.ts";
import type { Stored } from "../sessions/format.ts";
import { openRecorder, storedSessions } from "../sessions/store.ts";
import { count } from "../text/count.ts";
import { join } from "../text/std_path.ts";
import { oneLine } from "./present.ts";
import { stateFolder } from "./user_files.ts";

/** Keeps the agent's conversation on disk: to be called whenever it has grown. `warn` is told once. */
export function recordSession(agent: CopilotAgent, warn: (message: string) => void): () => void {
  const root = sessionsFolder();
  if (root === undefined) return () => {};
  const recorder = openRecorder(root, () => agent.state.workingDir);
  let failed = false;
  return () => {
    if (failed) return;
    try {
      recorder.sync(agent.state.messages);
    } catch (error) {
      failed = true;
      warn(`· the session cannot be kept: ${oneLine((error as Error).message)}`);
    }
  };
}

/** At most so many sessions are listed. */
const MAX_LISTED = 20;

/** The sessions of the agent's folder, newest first. */
export function sessionsHere(agent: CopilotAgent): Stored[] {
  const root = sessionsFolder();
  if (root === undefined) return [];
  return [...storedSessions(root, agent.state.workingDir).take(MAX_LISTED)];
}

/** Goes on with a session; what to say of it. */
export function goOn(agent: CopilotAgent, { head, messages, lost }: Stored): string {
  agent.state.messages = [...messages];
  agent.state.seenFiles.clear();
  const cut = lost > 0 ? `; ${count(lost, "line")} could not be read` : "";
  return `Goes on from ${when(head.started)}: ${count(messages.length, "message")}${cut}`;
}

/** A session in one line: when, and how it began. */
export function titleOf({ head, messages }: Stored): string {
  const asked = oneLine(messages[0]?.content ?? "");
  return `${when(head.started)}  ${asked.slice(0, 60).toWellFormed()}`;
}

function when(started: string): string {
  return oneLine(started.slice(0, 16).replace("T", " "));
}

function sessionsFolder(): string | undefined {
  const folder = stateFolder();
  return folder && join(folder, "sessions");
}
