/** `/plan`: the model only looks, and says what it would do, until the person accepts it. @module */

import type { Part } from "../../types/message.ts";
import { type Report, sentence } from "../report.ts";
import type { Command, SessionState } from "../state.ts";

const note = (text: string): Part => ({ type: "resource", kind: "note", name: "", text });
const BEGIN = note(
  "[Plan mode: look around with the tools that read, then say step by step what you would change. Write and run nothing.]",
);

export const planCommand: Command = {
  name: "plan",
  argument: "[off]",
  help: "the model only looks and makes a plan; /plan again accepts it, /plan off drops it",
  run: plan,
  values: () => ["off"],
};

function plan(session: SessionState, argument: string): Report {
  if (argument !== "" && argument !== "off") return sentence("/plan takes nothing but off");
  if (!session.isPlanning) {
    if (argument === "off") return sentence("There is no plan mode to leave.");
    session.isPlanning = true;
    session.pending.push(BEGIN);
    return sentence(
      "Plan mode: the model only looks. /plan accepts what it plans, /plan off leaves.",
    );
  }
  session.isPlanning = false;
  // The model was not told of a mode that ends before a message was sent.
  const wasSent = !session.pending.includes(BEGIN);
  session.pending = session.pending.filter((part) => part !== BEGIN);
  if (argument === "off") {
    if (wasSent) session.pending.push(note("[Plan mode is over; the plan was not accepted.]"));
    return sentence("Plan mode is over.");
  }
  if (wasSent) session.pending.push(note("[The plan is accepted: carry it out.]"));
  return sentence('The plan is accepted. Say "go on", or what to change.');
}
