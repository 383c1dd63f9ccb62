/** Plan mode, as the model is told of it: the mode itself is one of the permissions. @module */

import type { ApproveMode } from "../permissions/settings.ts";
import { notePart } from "../text/parts.ts";
import type { SessionState } from "./state.ts";

const BEGIN = notePart(
  "[Plan mode: look around, then say step by step what you would change. Write nothing.]",
);

/** Tells the model, with the next message, that plan mode is in force. */
export function beginPlan(session: SessionState): void {
  session.pending.push(BEGIN);
}

/**
 * Changes the mode; without `approve` plan mode ends with the mode before it. `isAccepted`: the model is to
 * carry out its plan. Returns whether plan mode was in force before, and is now.
 */
export async function changeMode(
  session: SessionState,
  approve?: ApproveMode,
  isAccepted = false,
): Promise<{ wasPlan: boolean; isPlan: boolean }> {
  const { permissions, agent: { state } } = session;
  const wasPlan = await isPlanning(session);
  if (approve !== undefined) permissions.setApprove(approve);
  else if (wasPlan) await permissions.endPlan(state.workingDir);
  session.mode = await permissions.mode(state.workingDir);
  const isPlan = session.mode.approve === "plan";
  if (isPlan && !wasPlan) beginPlan(session);
  if (isPlan || !wasPlan) return { wasPlan, isPlan };
  // The model was not told of a mode that ends before a message was sent.
  const wasSent = !session.pending.includes(BEGIN);
  session.pending = session.pending.filter((part) => part !== BEGIN);
  const end = isAccepted
    ? "[The plan is accepted: carry it out.]"
    : "[Plan mode is over; the plan was not accepted.]";
  if (wasSent) session.pending.push(notePart(end));
  return { wasPlan, isPlan };
}

/** True where plan mode is in force in the folder that is worked in. */
export async function isPlanning({ permissions, agent }: SessionState): Promise<boolean> {
  return (await permissions.mode(agent.state.workingDir)).approve === "plan";
}
