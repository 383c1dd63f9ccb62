/** Detects a model that repeats the same calls with the same results. @module */

import { sortedJson } from "../text/json.ts";
import { truncateMiddle } from "../text/truncate.ts";
import type { ToolExecution } from "../types/event.ts";

/** The model is warned at the third equal round and stopped at the fifth. */
const TELL_AT = 3;
const STOP_AT = 5;
/** The numbers of consecutive rounds without a successful call at which the model is warned, and stopped. */
const TELL_FAILED_AT = 6;
const STOP_FAILED_AT = 12;

/** A round that repeats the previous one, or one of many that all failed. */
interface Loop {
  /** The reason for the stop, which completes "Stopped: ". */
  why: string;
  nudge: string;
  /** True if the warning did not help. */
  isOver: boolean;
}

/**
 * Watches the rounds of one turn. A round with another call or another result than the previous one is progress,
 * as is a file that is read again after an edit. If all calls fail with the same message, beside the same answer
 * text, different arguments are no progress.
 */
export function loopGuard(): (
  text: string,
  executions: readonly ToolExecution[],
) => Loop | undefined {
  let before: string[] = [];
  let times = 0;
  let failed = 0;
  return (text, executions) => {
    const hasFailed = executions.every(({ isError }) => isError);
    failed = hasFailed ? failed + 1 : 0;
    const fails = text.trim() !== "" && hasFailed;
    // Equal calls of one answer count once: they do not know each other's results.
    const shown = executions.map(({ toolName, arguments: args, result }) =>
      `${toolName}\n${fails ? text : sortedJson(args)}\n${result}`
    );
    const round = [...new Set(shown)].sort();
    const isSame = round.length === before.length && round.every((one, i) => one === before[i]);
    times = isSame ? times + 1 : 1;
    before = round;
    if (times >= TELL_AT) {
      const why = `the same call gave the same result ${times} times in a row`;
      return { why, isOver: times >= STOP_AT, nudge: nudge(times, executions.at(-1)!) };
    }
    if (failed !== TELL_FAILED_AT && failed < STOP_FAILED_AT) return undefined;
    const why = `no call worked in ${failed} rounds in a row`;
    return { why, isOver: failed >= STOP_FAILED_AT, nudge: `\n\n[${FAILED} ${failed} rounds.]` };
  };
}

const FAILED =
  "Read what the errors say, and do something else, or answer: no call worked in the last";

function nudge(times: number, { toolName, result }: ToolExecution): string {
  const said = truncateMiddle(result.replace(/\s+/g, " ").trim(), 200, () => " ... ");
  return `\n\n[This was done already: ${toolName} was called ${times} times in a row like this, and ` +
    `each time the result was the same: "${said}". Do not call it like this again: use the result, ` +
    "do something else, or answer.]";
}
