/** The model's notes about plan mode. The mode itself belongs to the permissions. @module */

import type { ApproveMode } from "../safety/settings.ts";
import { isTyped, notePart, PLAN_NOTE, textOfParts } from "../text/parts.ts";
import { TASKS } from "../tools/tasks.ts";
import type { Part } from "../types/message.ts";
import type { SessionState } from "./extension.ts";

const BEGIN = notePart(
  "[Plan mode: look around, then say step by step what you would change. Write nothing.]",
  PLAN_NOTE,
);

const ACCEPTED = notePart("[The plan is accepted: carry it out.]", PLAN_NOTE);
const DROPPED = notePart("[Plan mode is over; the plan was not accepted.]", PLAN_NOTE);

/** True if the newest note about plan mode in the conversation begins it. */
function knowsOfPlan({ agent }: SessionState): boolean {
  const notes = agent.state.messages.flatMap(({ parts = [] }) =>
    parts.filter((part) => "kind" in part && part.kind === "note" && part.name === PLAN_NOTE)
  );
  return textOfParts(notes.slice(-1)) === textOfParts([BEGIN]);
}

/** Returns a note for the next message if the model does not know of the mode: it is new, or the note is gone. */
export function planNotes(session: SessionState): Part[] {
  const [knows, isPlan] = [knowsOfPlan(session), session.mode?.approve === "plan"];
  if (knows === isPlan || !isPlan && session.pendingParts.includes(ACCEPTED)) return [];
  return [isPlan ? BEGIN : DROPPED];
}

/** True if the newest message is an answer in plan mode. */
export function hasPlanAnswer(session: SessionState): boolean {
  const last = session.agent.state.messages.at(-1);
  return session.mode?.approve === "plan" && knowsOfPlan(session) && last?.role === "assistant" &&
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

/** Changes the mode, by default to the one before plan mode, and notes if the user accepted the plan (`isAccepted`). */
export async function changeMode(
  session: SessionState,
  approve?: ApproveMode,
  isAccepted = false,
): Promise<void> {
  const { permissions, agent: { state: { workingDir } } } = session;
  if (approve !== undefined) permissions.setApprove(approve);
  else await permissions.endPlan(workingDir);
  session.mode = await permissions.mode(workingDir);
  const isPlan = session.mode.approve === "plan";
  if (isPlan) session.pendingParts = session.pendingParts.filter((part) => part !== ACCEPTED);
  else if (isAccepted) session.pendingParts.push(ACCEPTED);
}

export async function isPlanning({ permissions, agent }: SessionState): Promise<boolean> {
  return (await permissions.mode(agent.state.workingDir)).approve === "plan";
}
