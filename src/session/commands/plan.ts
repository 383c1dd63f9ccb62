/**
 * `/plan`: the model only looks, and says what it would do, until the person accepts it.
 *
 * @module
 */

import type { Report } from "../report.ts";
import type { SessionState } from "../state.ts";
import { type Command, done, failed } from "./command.ts";

const BEGIN =
  "[Plan mode: look around with the tools that read, then say step by step what you would change. Write and run nothing.]\n\n";

/** See the module. */
export const planCommand: Command = {
  name: "plan",
  argument: "[off]",
  help: "the model only looks and makes a plan; /plan again accepts it, /plan off drops it",
  run: plan,
  values: () => ["off"],
};

function plan(session: SessionState, argument: string): Report {
  if (argument !== "" && argument !== "off") return failed("/plan takes nothing but off");
  if (!session.isPlanning) {
    if (argument === "off") return failed("There is no plan mode to leave.");
    session.isPlanning = true;
    session.pending += BEGIN;
    return done("Plan mode: the model only looks. /plan accepts what it plans, /plan off leaves.");
  }
  session.isPlanning = false;
  // The model was not told of a mode that ends before a message was sent.
  const wasSent = !session.pending.includes(BEGIN);
  session.pending = session.pending.replace(BEGIN, "");
  if (argument === "off") {
    if (wasSent) session.pending += "[Plan mode is over; the plan was not accepted.]\n\n";
    return done("Plan mode is over.");
  }
  if (wasSent) session.pending += "[The plan is accepted: carry it out.]\n\n";
  return done('The plan is accepted. Say "go on", or what to change.');
}
