import { changeMode, hasPlanAnswer, isPlanning } from "../plan_mode.ts";
import type { Command, SessionState } from "../extension.ts";
import { keptMode } from "../modes.ts";
import { takesText } from "./texts.ts";

const PLAN_ENDS = ["go", "edits", "off"];

export const planCommand: Command = {
  name: "plan",
  group: "Work",
  argument: "[go|edits|off]",
  help: "only read and plan; go accepts the plan, edits with all edits, off ends",
  run: plan,
  values: () => PLAN_ENDS,
};

async function plan(session: SessionState, argument: string): Promise<string> {
  if (argument !== "" && !PLAN_ENDS.includes(argument)) return takesText("plan", PLAN_ENDS);
  if (!await isPlanning(session)) {
    if (argument !== "") return "Plan mode is off. Start it with /plan.";
    await changeMode(session, "plan");
    return "Plan mode: the model only reads. /plan accepts its plan, /plan off exits.";
  }
  const isAccepted = argument !== "off" && hasPlanAnswer(session);
  if (!isAccepted && argument !== "" && argument !== "off") {
    return "There is no plan yet. Say what to plan, or exit with /plan off.";
  }
  const mode = argument === "edits" ? "auto" : undefined;
  await changeMode(session, mode, isAccepted);
  if (session.mode?.approve === "plan") return keptMode("plan");
  if (isAccepted) return 'Plan accepted. Say "continue", or what to change.';
  return argument === "off"
    ? "Plan mode is off."
    : "Plan mode is off: there was no plan to accept.";
}
