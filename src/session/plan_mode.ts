/** The model's notes about plan mode. The mode itself belongs to the permissions. @module */

import { APPROVE_MODES, type ApproveMode, modeNamed } from "../safety/settings.ts";
import { isTyped, notePart, PLAN_NOTE, textOfParts } from "../text/parts.ts";
import { TASKS } from "../tools/tasks.ts";
import type { SessionState } from "./extension.ts";

const BEGIN = notePart(
  "[Plan mode: look around, then say step by step what you would change. Write nothing.]",
  PLAN_NOTE,
);

const ACCEPTED = notePart("[The plan is accepted: carry it out.]", PLAN_NOTE);
const DROPPED = notePart("[Plan mode is over; the plan was not accepted.]", PLAN_NOTE);
/** The notes about plan mode. The newest one in a session applies. */
const NOTES = new Set([BEGIN, ACCEPTED, DROPPED].map((part) => textOfParts([part])));

export function beginPlan(session: SessionState): void {
  session.pendingParts.push(BEGIN);
}

/** True if the newest message is an answer in plan mode. */
export function hasPlanAnswer({ mode, pendingParts: pending, agent }: SessionState): boolean {
  const last = agent.state.messages.at(-1);
  return mode?.approve === "plan" && !pending.includes(BEGIN) && last?.role === "assistant" &&
    last.standsFor === undefined && last.content.trim() !== "" && !last.toolCalls?.length;
}

const PLAN_STEP = /^\s*(?:\d+[.)]|[-*+])\s+\S/gm;

/** True if that answer is a plan with steps: a list of two or more, or a call of `tasks` in its turn. */
export function hasPlan(session: SessionState): boolean {
  if (!hasPlanAnswer(session)) return false;
  const { messages } = session.agent.state;
  const from = messages.findLastIndex(isTyped);
  const listed = messages.at(-1)!.content.match(PLAN_STEP) ?? [];
  return listed.length >= 2 ||
    messages.slice(from).some(({ toolCalls = [] }) => toolCalls.some(({ name }) => name === TASKS));
}

/**
 * Changes the mode, by default to the one before plan mode, and notes if the user accepted the plan (`isAccepted`).
 * Returns true if plan mode is on.
 */
export async function changeMode(
  session: SessionState,
  approve?: ApproveMode,
  isAccepted = false,
): Promise<boolean> {
  const { permissions, agent: { state } } = session;
  const wasPlan = await isPlanning(session);
  const hadPlan = hasPlanAnswer(session);
  if (approve !== undefined) permissions.setApprove(approve);
  else if (wasPlan) await permissions.endPlan(state.workingDir);
  session.mode = await permissions.mode(state.workingDir);
  const isPlan = session.mode.approve === "plan";
  if (isPlan && !wasPlan) beginPlan(session);
  if (isPlan || !wasPlan) return isPlan;
  // The model does not know of a mode that ends before the next message.
  const wasSent = !session.pendingParts.includes(BEGIN);
  session.pendingParts = session.pendingParts.filter((part) => part !== BEGIN);
  if (wasSent) session.pendingParts.push(isAccepted && hadPlan ? ACCEPTED : DROPPED);
  return isPlan;
}

export async function isPlanning({ permissions, agent }: SessionState): Promise<boolean> {
  return (await permissions.mode(agent.state.workingDir)).approve === "plan";
}

/** Restores the mode of a resumed session, and adds the note if the model does not have it. */
export async function resumeMode(session: SessionState, recorded?: string): Promise<void> {
  const mode = modeNamed(APPROVE_MODES, recorded);
  if (mode === undefined) return;
  await changeMode(session, mode);
  const notes = session.agent.state.messages.flatMap(({ parts = [] }) =>
    parts.filter((part) => part.type === "resource" && part.kind === "note")
      .map((part) => textOfParts([part])).filter((text) => NOTES.has(text))
  );
  const isTold = notes.at(-1) === textOfParts([BEGIN]);
  if (isTold) session.pendingParts = session.pendingParts.filter((part) => part !== BEGIN);
}
