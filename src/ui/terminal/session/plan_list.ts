/** The list after a turn in plan mode: what to do with the plan. @module */

import type { Session } from "../../../session/session.ts";
import type { TextPart } from "../../../types/message.ts";
import type { Display } from "./display.ts";

const CHOICES = [
  { label: "Yes", detail: "carry out the plan in the previous mode", value: "go" },
  { label: "Yes, auto-accept edits", detail: "carry out the plan in auto mode", value: "edits" },
  { label: "Revise the plan", detail: "say what to change", value: "change" },
] as const;

export const CARRY_OUT: TextPart = { type: "text", text: "Carry out the plan." };

/** Asks what to do with the plan. Returns true if it is carried out; otherwise, the user types the next message. */
export async function acceptsPlan(
  session: Session,
  display: Display,
  signal: AbortSignal,
): Promise<boolean> {
  const { screen, isLive } = display;
  if (!isLive) {
    display.say("· /plan accepts this plan, /plan off discards it");
    return false;
  }
  screen.notify("copilot asks: ready to start?");
  const choice = await screen.choose(
    {
      title: "Ready to start?",
      items: CHOICES,
      isNumbered: true,
      hint: "Enter to select · type what to change · Esc to keep planning",
      isBarred: true,
      passesText: true,
    },
    signal,
    { waits: true, yields: true },
  );
  if (choice === null || choice === "change") return false;
  const answer = await session.command("plan", choice, signal);
  // Settings of the folder may enforce plan mode.
  const isAccepted = session.status.mode?.approve !== "plan";
  if (!isAccepted) display.say(String(answer));
  return isAccepted && !signal.aborted;
}
