/**
 * One call of a tool, decided: by the settings, and where they leave it to a person, by them. Loaded
 * with the first call.
 *
 * @module
 */

import type { Settings, Verdict } from "../permissions/settings.ts";
import { oneLine, shortened } from "../text/one_line.ts";
import type { Decision } from "../types/policy.ts";
import type { Tool } from "../types/tool.ts";
import { type Approver, askForApproval } from "./approvals.ts";
import { CallJudge, type DecidedCall } from "./call_judge.ts";

/** Who decides what the settings leave open. */
interface Deciding {
  /** What would be asked about simply runs. */
  yes: boolean;
  /** Who is asked; undefined where nobody is there. */
  approver: Approver | undefined;
  onRefused(): void;
  /** What the system keeps commands from; undefined where it does not. */
  confined(): Promise<string | undefined>;
}

/**
 * Decides one call.
 *
 * @throws {Error} when it would fail anyway; the message is for the model.
 */
export async function decideCall(
  { tool, args, context }: DecidedCall,
  settings: Settings,
  { yes, approver, onRefused, confined }: Deciding,
): Promise<Decision> {
  const { workingDir } = context;
  if (isReplaced(workingDir)) {
    const explanation =
      `the working directory ${workingDir} was replaced by a link. The user can change to it with /cd`;
    return { allow: false, reason: `Refused: ${explanation}`, explanation };
  }
  const judge = new CallJudge(tool, workingDir, settings);
  let verdict = judge.verdict(args);
  const grant = judge.grant(args, !yes);
  const within = { ...context, ...grant && { grant } };
  if (verdict.effect === "allow" || verdict.effect === "ask" && yes) {
    return { allow: true, ...grant && { grant } };
  }
  if (verdict.effect === "ask" && approver) {
    const limits = tool.subject?.(args).command === undefined ? undefined : await confined();
    const call = { tool, args, context: within };
    const decision = await askForApproval(call, judge, verdict, limits, approver);
    if ("allow" in decision) return decision;
    verdict = decision;
  }
  onRefused();
  const how = verdict.effect === "deny"
    ? ""
    : judge.rule(args)
    ? "; --yes, or a rule, allows it"
    : "; --yes allows it";
  const summary = `it ${shortened(oneLine(verdict.reason), 100)}${how}`;
  return { allow: false, ...refusal(tool, verdict), summary };
}

/** Whether a folder, which had no links in its path, has some now. */
function isReplaced(folder: string): boolean {
  try {
    return Deno.realPathSync(folder) !== folder;
  } catch {
    return false; // It is gone, and each tool says so in its own words.
  }
}

function refusal(
  { name, access }: Tool,
  { effect, reason }: Verdict,
): { reason: string; explanation: string } {
  const what = access === "execute" ? "this command" : name;
  const isDenied = effect === "deny";
  const explanation = isDenied
    ? `${what} is not allowed: it ${reason}.`
    : `${what} needs an approval, as it ${reason}, and nobody is there to give it.`;
  const how = isDenied
    ? ""
    : " (The user can allow it by starting copilot with --yes, or with a rule.)";
  return {
    explanation,
    reason:
      `Refused: ${explanation} Do not try another way; answer with what you can read, and say what you would have done.${how}`,
  };
}
