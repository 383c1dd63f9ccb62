/** Answers that claim a change in a turn without one, or announce a step without a call. @module */

import type { ToolExecution } from "../types/event.ts";
import type { Tool } from "../types/tool.ts";

/** The questions to a model that claims a change, and to one that announces a step. */
export const UNFOUNDED_QUESTIONS = {
  claim:
    "[Nothing was changed: no tool wrote or ran anything in this turn. Make the change with your tools now, or say why nothing needs to be done.]",
  step:
    "[Nothing happened: you said what you would do next, and called no tool. Call the tool now, or give your answer.]",
} as const;

/** An imperative: at the start of a sentence or a clause, or after a word that asks. */
const ORDER =
  /(?:^|[.!;:,\n]\s*(?:[-*]\s+|\d+[.)]\s+)?|\b(?:please|and|then|now|just|you|you to|in [^\s,]+)\s+)(?:fix|add|append|insert|create|make|write|change|edit|set|let|rename|implement|refactor|remove|delete|update|move|extract|split|replace|convert)\b/i;
/** The first words of a question, which asks for words even without its mark. */
const QUESTION =
  /\?\s*$|^\s*(?:what|why|how|which|who|where|when|is|are|does|did|should|explain|describe|show|tell)\b/i;
/** Words of a request that asks for no change, or not yet. */
const NOT_YET = /\b(?:plan|propose|suggest|(?:do not|don['’]t|without|before) \w+)\b/i;
const CLAIM =
  /\b(?<!\b(?:be|to) )(?:done|fixed|updated|added|created|changed|implemented|renamed|removed|deleted|moved|replaced|converted|refactored|rewritten|(?:has|have) been)\b/i;
/** Words that make a sentence no claim: nothing was needed or possible, or the tense differs. */
const DENIAL =
  /\b(?:already|nothing|none|no (?:changes?|need)|unable|refused|cannot|failed|will|would|should|could|if|once|(?:is|was|are|were|has|have|had|can|did|do|does)(?: not|n['’]t))\b|\?\s*$/i;
/** The start of a sentence about the speaker's own next step, up to its verb. */
const STEP =
  /^(?:[-*#>\s]|(?:ok(?:ay)?|sure|great|good|now|next|first|then|so)\b[,.!]?\s)*(?:let me|let['’]s|I['’]ll|I will|I(?:['’]m| am) going to|I need to)\s+(?:(?:now|first|also|then|start|begin|by|just|proceed|go ahead|and|to)\s+)*(\w+)/i;
const LOOKING_VERB = /^(?:look|read|see|check|search|find|examin|inspect|explor|list|open|view)/i;
/** Verbs of sentences that really end an answer. */
const STAYING =
  /^(?:know|be|wait|stop|leave|not|never|keep|assume|explain|summari[sz]e|say|need)$/i;
/** Words of a sentence that leaves the step to the user, or to a condition. */
const ON_CONDITION = /\b(?:if|once|when|until|unless|after|you|your|otherwise)\b/i;
/** The length of the text in which the last sentence of an answer is searched, in characters. */
const END_CHARS = 400;

/** Returns which of these an answer does that says what did not happen; undefined for other answers. */
export function unfoundedIn(
  { answer, request, executions, tools, isReadOnly }: {
    answer: string;
    request: string;
    executions: readonly ToolExecution[];
    tools: readonly Tool[];
    isReadOnly: boolean;
  },
): keyof typeof UNFOUNDED_QUESTIONS | undefined {
  const isForWords = () => isReadOnly || QUESTION.test(request) || NOT_YET.test(request);
  if (tools.length > 0 && announcesStep(answer, isForWords)) return "step";
  const isClaim = !isReadOnly && claimsChange(request, answer) && changedNothing(executions, tools);
  return isClaim ? "claim" : undefined;
}

/** True if an answer ends with a step that the model is about to take; with `forWords`, only with a look. */
export function announcesStep(answer: string, forWords: () => boolean): boolean {
  const end = answer.trimEnd().slice(-END_CHARS);
  const last = end.split(/(?<=[.!?。])\s+|\n/).at(-1)!.trim();
  if (ON_CONDITION.test(last)) return false;
  if (/[:：]$/.test(last)) return true;
  const [, verb] = STEP.exec(last) ?? [];
  if (verb === undefined || STAYING.test(verb) || last.endsWith("?")) return false;
  return !forWords() || LOOKING_VERB.test(verb);
}

export function claimsChange(request: string, answer: string): boolean {
  if (QUESTION.test(request)) return false;
  const sentences = answer.replace(/```[^]*?(?:```|$)/g, "\n").split(/(?<=[.!?])\s+|\n/);
  // A question at the end leaves the next step to the user.
  if (sentences.findLast((one) => one.trim() !== "")?.trimEnd().endsWith("?")) return false;
  // In this order, as V8 takes 0.6 ms to compile ORDER.
  return sentences.some((one) => CLAIM.test(one) && !DENIAL.test(one)) && ORDER.test(request);
}

/** Commands that change nothing, with any arguments. */
const LOOKING_COMMAND =
  /^\s*(?:ls|cat|head|tail|grep|rg|pwd|wc|tree|git (?:status|diff|log|show))\b[^>;|&]*$/;

/** True if a turn could have changed something, was refused nothing, and changed nothing. */
function changedNothing(executions: readonly ToolExecution[], tools: readonly Tool[]): boolean {
  const acting = tools.filter(({ access }) => access !== "read").map(({ name }) => name);
  const calls = executions.flatMap((one) => [one, ...one.details?.calls ?? []]);
  // Failing tests also run before a change.
  const hasActed = calls.some(({ toolName, outcome, subject, details }) =>
    acting.includes(toolName) && (outcome === "refused" || outcome === "done" &&
        (details?.exitCode ?? 0) === 0 && !LOOKING_COMMAND.test(subject?.command ?? ""))
  );
  return acting.length > 0 && !hasActed;
}
