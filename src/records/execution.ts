/** The facts about a call that a record stores, in addition to the model's message, to show it again. @module */

import { LIMIT_KINDS } from "../types/confine.ts";
import { isObject } from "../text/json.ts";
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

type Shape = (value: unknown) => boolean;
const isText: Shape = (value) => typeof value === "string";
const isNumber: Shape = (value) => Number.isFinite(value);
const isFlag: Shape = (value) => typeof value === "boolean";
const isOneOf = (...values: string[]): Shape => (value) => values.includes(value as string);
const isListOf = (shape: Shape): Shape => (value) => Array.isArray(value) && value.every(shape);
const hasFields =
  (needed: Record<string, Shape>, others: Record<string, Shape> = {}): Shape => (value) =>
    isObject(value) && Object.entries(needed).every(([name, is]) => is(value[name])) &&
    Object.entries(others).every(([name, is]) => value[name] === undefined || is(value[name]));

const CHANGE = hasFields({ path: isText, isNew: isFlag, morePlaces: isNumber }, {
  lines: isListOf(hasFields({ kind: isOneOf(" ", "+", "-"), text: isText }, { line: isNumber })),
  replacedBytes: isNumber,
  lineEnd: isOneOf("adds", "removes"),
});
const COUNTS: Shape = (value) => isObject(value) && Object.values(value).every(isNumber);
const RANGE = hasFields({ first: isNumber, last: isNumber, total: isNumber, isExact: isFlag });
const OUTCOME = isOneOf("done", "failed", "refused", "stopped", "not_run");
const textFields = (names: string) =>
  Object.fromEntries(names.split(" ").map((name) => [name, isText]));
const SUBJECT = hasFields({}, {
  ...textFields("path command url query task agent action"),
  job: isNumber,
});
const SUB_CALL = hasFields({ toolName: isText, outcome: OUTCOME, durationMs: isNumber }, {
  subject: SUBJECT,
  details: hasFields({}, { counts: COUNTS, range: RANGE, exitCode: isNumber }),
});
const DETAILS = hasFields({}, {
  calls: isListOf(SUB_CALL),
  usage: hasFields({ inputTokens: isNumber, outputTokens: isNumber }),
  exitCode: isNumber,
  isTimedOut: isFlag,
  limit: hasFields({ kind: isOneOf(...LIMIT_KINDS) }, { path: isText, mayAsk: isFlag }),
  output: hasFields({}, { stdout: isText, stderr: isText }),
  skill: isText,
  about: isText,
  tasks: isListOf(hasFields({ text: isText, isDone: isFlag })),
  endedProcesses: isListOf(isText),
  range: RANGE,
  counts: COUNTS,
  change: CHANGE,
  written: hasFields({}, {
    keeps: isListOf(isOneOf("CRLF", "CR", "BOM")),
    isReindented: isFlag,
    linkedTo: isText,
    inPlace: isText,
  }),
});
const FACTS = hasFields(
  { durationMs: isNumber, outcome: OUTCOME },
  { refusal: isText, repairs: isListOf(isText), details: DETAILS },
);

/** Reads the facts in `value` of a record; undefined if it was edited into something else. */
export function readFacts(value: unknown): ExecutionFacts | undefined {
  return FACTS(value) ? value as ExecutionFacts : undefined;
}
