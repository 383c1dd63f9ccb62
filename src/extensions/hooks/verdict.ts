/** Reads the verdict of a hook from its exit code and its output. Pure. @module */

import { isObject, jsonOrUndefined, objectOr } from "../../text/json.ts";
import { oneLine, shortened } from "../../text/one_line.ts";
import type { HookDefinition } from "./definition.ts";

/** The end of a hook. `failure` says why it did not finish, and `limit` what it lacked in the sandbox. */
export type HookEnd = { failure: string } | {
  code: number;
  stdout: string;
  stderr: string;
  isSandboxed?: boolean;
  limit?: string;
};

export interface HookVerdict {
  /** Why the call or message is refused; at the end of a turn, why the turn continues. */
  block?: string;
  /**
   * `ask` asks the user about the call; `allow` runs it without a question, and `allowUsual` if it is a plain edit or
   * command: the hook was sandboxed, and a program that commands changed may have written its output.
   */
  decision?: "allow" | "allowUsual" | "ask";
  reason?: string;
  updatedInput?: Record<string, unknown>;
  context?: string;
  stop?: string;
  /** The reason for the user, in place of `block`. */
  shown?: string;
  messages: string[];
}

const MAX_CONTEXT_CHARS = 10_000;
const SHOWN_COMMAND_CHARS = 60;
/** The first exit code of a shell that cannot start the program. Those of signals are higher. */
const NOT_RUN_CODE = 126;

/** Returns the verdict of one hook. A call is refused if its guard cannot run. */
export function verdictOf(hook: HookDefinition, end: HookEnd): HookVerdict {
  const hookName = `the hook ${shortened(oneLine(hook.command), SHOWN_COMMAND_CHARS)}`;
  if ("failure" in end) return failed(hook, `${hookName} cannot run: ${end.failure}`);
  const { code, stdout, stderr, limit } = end;
  const said = shortened(stderr.trim(), MAX_CONTEXT_CHARS);
  const words = [oneLine(said), limit ?? ""].filter(Boolean).map((one) => `: ${one}`).join("");
  if (code === 2) {
    const block = said === "" ? `${hookName} gave no reason` : said;
    return isOnlyTold(hook) ? { messages: [`${hookName} said${words}`] } : { block, messages: [] };
  }
  if (code >= NOT_RUN_CODE) {
    return failed(hook, `${hookName} cannot run: exit code ${code}${words}`);
  }
  if (code !== 0) return { messages: [`${hookName} ended with exit code ${code}${words}`] };
  const text = stdout.trim();
  if (!text.startsWith("{")) {
    const isContext = hook.event === "SessionStart" || hook.event === "UserPromptSubmit";
    const context = shortened(text, MAX_CONTEXT_CHARS);
    return { ...isContext && text !== "" && { context }, messages: [] };
  }
  const value = jsonOrUndefined(text);
  if (!isObject(value)) return failed(hook, `${hookName} printed what is not JSON`);
  const verdict = verdictIn(value, hook, hookName);
  if (end.isSandboxed && verdict.decision === "allow") verdict.decision = "allowUsual";
  return verdict;
}

const isOnlyTold = ({ event }: HookDefinition) =>
  ["SessionStart", "SessionEnd", "PreCompact", "Notification"].includes(event);

function failed({ event }: HookDefinition, why: string): HookVerdict {
  return event === "PreToolUse" ? { block: why, messages: [] } : { messages: [why] };
}

function verdictIn(
  value: Record<string, unknown>,
  hook: HookDefinition,
  hookName: string,
): HookVerdict {
  const { hookSpecificOutput: given, systemMessage, decision, stopReason } = value;
  const more = objectOr(given);
  const { permissionDecision, permissionDecisionReason, updatedInput, additionalContext } = more;
  const answer = hook.event === "PermissionRequest" && isObject(more.decision)
    ? more.decision
    : undefined;
  const isGuard = hook.event === "PreToolUse";
  const text = (one: unknown) =>
    typeof one === "string" && one !== "" ? shortened(one, MAX_CONTEXT_CHARS) : undefined;
  const said = isGuard ? permissionDecision ?? decision : answer?.behavior ?? decision;
  const reason = text(permissionDecisionReason) ?? text(answer?.message) ?? text(value.reason);
  const verdict: HookVerdict = { messages: [] };
  if (value.continue === false) verdict.stop = text(stopReason) ?? `${hookName} stopped it`;
  const context = text(additionalContext);
  if (context !== undefined) verdict.context = context;
  if (isGuard && isObject(updatedInput)) verdict.updatedInput = updatedInput;
  if (reason !== undefined) verdict.reason = reason;
  const shown = text(systemMessage);
  if (said === "deny" || said === "block") {
    if (!isOnlyTold(hook)) verdict.block = reason ?? shown ?? `${hookName} gave no reason`;
  } else if ((isGuard || answer) && (said === "allow" || said === "approve")) {
    verdict.decision = "allow";
  } else if (isGuard && said === "ask") verdict.decision = "ask";
  else if (isGuard && said !== undefined && said !== "defer") {
    verdict.block = `${hookName} decided ${oneLine(JSON.stringify(said))}, which is not a decision`;
  }
  if (isGuard && verdict.stop !== undefined) verdict.block ??= verdict.stop;
  if (shown === undefined) return verdict;
  if (verdict.block === undefined) verdict.messages.push(oneLine(shown));
  else verdict.shown = shown;
  return verdict;
}

const JOINED = ["block", "context", "stop", "reason", "shown"] as const;

/** Joins verdicts: deny before ask, ask before allow. */
export function joinedVerdicts(
  each: readonly { hook: HookDefinition; verdict: HookVerdict }[],
): HookVerdict {
  const verdicts = each.map(({ verdict }) => verdict);
  const lines = JOINED.flatMap((key) => {
    const texts = new Set(verdicts.flatMap((one) => one[key] ?? []));
    return texts.size > 0 ? [[key, [...texts].join("\n")]] : [];
  });
  // Other guards have not seen the changed call, and a folder's hooks never answer for the user.
  const changed = each.findLast(({ hook, verdict }) =>
    hook.scope === "user" && verdict.updatedInput
  );
  const decisions = each.flatMap(({ hook, verdict: { decision } }) =>
    hook.scope === "user" || decision === "ask" ? decision : []
  );
  const decision = (["ask", "allow", "allowUsual"] as const).find((one) => decisions.includes(one));
  return {
    messages: verdicts.flatMap(({ messages }) => messages),
    ...Object.fromEntries(lines),
    ...changed && { updatedInput: changed.verdict.updatedInput! },
    ...decision && { decision },
  };
}
