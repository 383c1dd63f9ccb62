/** The facts about a call that a record stores, in addition to the model's message, to show it again. @module */

import { truncateMiddle } from "../text/truncate.ts";
import type { ToolExecution } from "../types/event.ts";

export type ExecutionFacts = Pick<
  ToolExecution,
  "durationMs" | "outcome" | "refusal" | "repairs" | "details"
>;

/** The maximum characters of each output stream of a command, and of the lines of a change. */
const MAX_STREAM_CHARS = 4000;
const MAX_CHANGE_CHARS = 100_000;

/** Returns the facts to store about `execution`. Long output is cut, and long changes are dropped. */
export function factsOf(execution: ToolExecution): ExecutionFacts {
  const { durationMs, outcome, refusal, repairs, details } = execution;
  const { output, change, ...others } = details ?? {};
  const size = change?.lines?.reduce((sum, { text }) => sum + text.length + 20, 0) ?? 0;
  const cut = (text: string) => truncateMiddle(text, MAX_STREAM_CHARS);
  return {
    durationMs,
    outcome,
    ...refusal !== undefined && { refusal },
    ...repairs && { repairs },
    ...details && {
      details: {
        ...others,
        ...change && size <= MAX_CHANGE_CHARS && { change },
        ...output && {
          output: Object.fromEntries(
            Object.entries(output).map(([name, text]) => [name, cut(text)]),
          ),
        },
      },
    },
  };
}
