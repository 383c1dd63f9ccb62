/** Answers that claim a change in a turn that changed nothing. @module */

import type { ToolExecution } from "../types/event.ts";
import type { Tool } from "../types/tool.ts";

/** The message that asks for the change, once. */
export const NOTHING_CHANGED =
  "[Nothing was changed: no tool wrote or ran anything in this turn. Make the change with your tools now, or say why nothing needs to be done.]";

/** An imperative: at the start of a sentence or a clause, or behind a word that asks. */
const ORDER =
  /(?:^|[.!;:,\n]\s*(?:[-*]\s+|\d+[.)]\s+)?|\b(?:please|and|then|now|just|you|you to)\s+)(?:fix|add|create|write|change|rename|implement|refactor|remove|delete|update|move|replace|convert)\b/i;
/** The first words of a question, which asks for words even without its mark. */
const QUESTION =
  /\?\s*$|^\s*(?:what|why|how|which|who|where|when|is|are|does|did|should|explain|describe|show|tell)\b/i;
const CLAIM =
  /\b(?<!\b(?:be|to) )(?:done|fixed|updated|added|created|changed|implemented|renamed|removed|deleted|moved|replaced|converted|refactored|rewritten|(?:has|have) been)\b/i;
/** What makes a sentence no claim: nothing was needed or possible, or the tense is another. */
const DENIAL =
  /\b(?:already|nothing|none|no (?:changes?|need)|unable|refused|cannot|failed|will|would|should|could|if|once|(?:is|was|are|were|has|have|had|can|did|do|does)(?: not|n['’]t))\b|\?\s*$/i;

/** True where `asked` is for a change, and `answer` claims that it was made. */
export function claimsChange(asked: string, answer: string): boolean {
  if (QUESTION.test(asked) || !ORDER.test(asked)) return false;
  const sentences = answer.replace(/```[^]*?(?:```|$)/g, "\n").split(/(?<=[.!?])\s+|\n/);
  // A question at the end leaves the next step to the person.
  if (sentences.findLast((one) => one.trim() !== "")?.trimEnd().endsWith("?")) return false;
  return sentences.some((one) => CLAIM.test(one) && !DENIAL.test(one));
}

/** True where a turn could have changed something, was refused nothing, and changed nothing. */
export function changedNothing(
  executions: readonly ToolExecution[],
  tools: readonly Tool[],
): boolean {
  const acting = tools.filter(({ access }) => access !== "read").map(({ name }) => name);
  const calls = executions.flatMap((one) => [one, ...one.details?.calls ?? []]);
  return acting.length > 0 &&
    !calls.some(({ toolName, outcome }) =>
      outcome === "refused" || outcome === "done" && acting.includes(toolName)
    );
}
