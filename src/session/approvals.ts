/**
 * Asks a frontend about a call that the settings leave to a person.
 *
 * @module
 */

import type { Verdict } from "../permissions/settings.ts";
import { isObject } from "../text/json.ts";
import type { Decision } from "../types/policy.ts";
import type { Prepared, Tool, ToolContext } from "../types/tool.ts";
import type { CallJudge, DecidedCall } from "./call_judge.ts";
import type { Approval, ApprovalChoice, Frontend } from "./frontend.ts";

/** Who is asked, and what becomes of the answers. */
export interface Approver {
  frontend: Required<Pick<Frontend, "approve">> & Pick<Frontend, "onEvent">;
  /** Adds a rule for the rest of the session. */
  allow(rule: string, folder: string): Promise<void>;
  /** Adds a rule for good; where it is stored. */
  save(rule: string, folder: string): Promise<string>;
}

/**
 * Asks until there is an answer. A command that the person edits is decided anew: it is asked about
 * again, unless it is denied.
 *
 * @param verdict why it is asked about
 * @param confinedTo see {@linkcode Approval.confinedTo}
 * @returns the decision, or the verdict that denies what the person made of it
 * @throws {Error} when the call would fail; the message is for the model
 */
export async function askForApproval(
  { tool, args, context }: DecidedCall,
  judge: CallJudge,
  verdict: Verdict,
  confinedTo: string | undefined,
  approver: Approver,
): Promise<Decision | Verdict> {
  let given = args;
  for (;;) {
    const prepared = await preparedFor({ tool, args: given, context }, judge.mayRead(given));
    const approval = approvalOf({ tool, args: given, context }, judge, verdict, prepared);
    const answer = await approver.frontend.approve(
      { ...approval, ...confinedTo !== undefined && { confinedTo } },
      context.signal,
    );
    context.signal.throwIfAborted();
    if (answer.choice === "refuse") return refusalByPerson(answer.reason);
    if (answer.choice === "edit") {
      given = withCommand(given, approval.subject.command, answer.command);
      verdict = judge.verdict(given);
      if (verdict.effect === "deny") return verdict;
      if (verdict.effect === "allow") verdict = { ...verdict, isRoutine: true };
      continue;
    }
    if (approval.rule) await remember(approval.rule.text, answer.choice, context, approver);
    return {
      allow: true,
      ...given !== args && { args: given },
      ...context.grant && { grant: context.grant },
      ...prepared && { prepared },
    };
  }
}

/**
 * What the tool prepares; undefined where that fails and nobody may be told why.
 *
 * @param mayTell true where the model may read what the call's path leads to
 */
async function preparedFor(
  { tool, args, context }: DecidedCall,
  mayTell: boolean,
): Promise<Prepared | undefined> {
  if (mayTell) return await tool.prepare?.(args, context);
  try {
    // What an error quotes counts as seen, and here the model does not get to see it.
    const seenFiles = context.seenFiles && new Map(context.seenFiles);
    return await tool.prepare?.(args, { ...context, ...seenFiles && { seenFiles } });
  } catch {
    context.signal.throwIfAborted();
    return undefined;
  }
}

function approvalOf(
  { tool, args, context }: DecidedCall,
  judge: CallJudge,
  { reason, isRoutine }: Verdict,
  prepared: Prepared | undefined,
): Approval {
  const subject = tool.subject?.(args) ?? {};
  const rule = judge.rule(args);
  // The terminal's line editor holds one line.
  const isEditable = subject.command !== undefined && !/[\n\r]/.test(subject.command);
  const choices: ApprovalChoice[] = [
    ...["once", "refuse"] as const,
    ...rule ? ["session", "folder"] as const : [],
    ...isEditable ? ["edit"] as const : [],
  ];
  return {
    call: { id: context.callId ?? "", name: tool.name, arguments: withoutDefaults(tool, args) },
    subject,
    reason,
    isRoutine: isRoutine === true,
    isOfPerson: context.isOfPerson === true,
    choices,
    ...prepared?.change && { preview: prepared.change },
    ...rule && { rule },
  };
}

/** `args` without those that are as they would be if left out. */
function withoutDefaults(
  { parameters: { properties } }: Tool,
  args: Record<string, unknown>,
): Record<string, unknown> {
  const defaultOf = (name: string) => {
    const schema = isObject(properties) ? properties[name] : undefined;
    return isObject(schema) ? schema.default : undefined;
  };
  return Object.fromEntries(
    Object.entries(args).filter(([name, value]) => value !== defaultOf(name)),
  );
}

/** `args` with another command in the place of theirs. */
function withCommand(
  args: Record<string, unknown>,
  command: string | undefined,
  edited: string,
): Record<string, unknown> {
  const entries = Object.entries(args);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, value === command ? edited : value]),
  );
}

function refusalByPerson(reason: string): Decision {
  const why = reason === ""
    ? "Do not try another way; ask what they want instead."
    : `They say: ${reason}`;
  return { allow: false, reason: `Refused by the user. ${why}`, explanation: "you said no" };
}

/** Adds the rule as far as the answer says, and reports that. */
async function remember(
  rule: string,
  choice: "once" | "session" | "folder",
  { workingDir }: ToolContext,
  { frontend, allow, save }: Approver,
): Promise<void> {
  if (choice === "once") return;
  if (choice === "session") {
    await allow(rule, workingDir);
    return frontend.onEvent({ type: "rule_added", rule });
  }
  try {
    frontend.onEvent({ type: "rule_added", rule, path: await save(rule, workingDir) });
  } catch (error) {
    frontend.onEvent({ type: "rule_added", rule, error: (error as Error).message });
  }
}
