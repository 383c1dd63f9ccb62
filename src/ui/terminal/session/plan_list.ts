/** The list after a turn in plan mode: what to do with the plan. @module */

import type { Session } from "../../../session/session.ts";
import type { TextPart } from "../../../types/message.ts";
import type { Display } from "./display.ts";

type PlanChoice = "go" | "edits" | "change";

const CHOICES: readonly { label: string; detail: string; value: PlanChoice }[] = [
  { label: "Yes", detail: "carry out the plan in the previous mode", value: "go" },
  { label: "Yes, auto-accept edits", detail: "carry out the plan in auto mode", value: "edits" },
  { label: "Revise the plan", detail: "say what to change", value: "change" },
];

/** Asks what to do with the plan. Returns the next message; undefined if the user types it. */
export async function askAboutPlan(
  session: Session,
  display: Display,
  signal: AbortSignal,
): Promise<TextPart | undefined> {
  const { screen, isLive } = display;
  if (!isLive) {
    display.say("· /plan accepts this plan, /plan off discards it");
    return undefined;
  }
  screen.notify("copilot asks: ready to start?");
  const { showsTasks } = display;
  display.showsTasks = true;
  const choice = await screen.choose<PlanChoice | { change: string }>(
    {
      title: "Ready to start?",
      items: CHOICES,
      isNumbered: true,
      hint: "Enter to select · Esc to keep planning",
      isBarred: true,
      other: { hint: "Enter sends your changes", value: (change) => ({ change }) },
    },
    signal,
    { waits: true, yields: true, hasPanel: true },
  ).finally(() => display.showsTasks = showsTasks);
  if (typeof choice === "object" && choice) return { type: "text", text: choice.change };
  if (choice === null) return undefined;
  if (choice === "change") {
    const text = await screen.ask("What should change? ", () => undefined, signal, "", {
      waits: false,
    });
    return text?.trim() ? { type: "text", text } : undefined;
  }
  const answer = await session.command("plan", choice, signal);
  // Settings of the folder may enforce plan mode.
  if (session.status.mode?.approve !== "plan") return { type: "text", text: "Carry out the plan." };
  display.say(String(answer));
}
