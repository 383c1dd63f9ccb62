/** Lines about earlier sessions. Pure. @module */

import type { ModelUsed } from "../records/format.ts";
import type { Resumed, SessionTitle } from "../session/record.ts";
import { count } from "../text/count.ts";
import { oneLine, shortened } from "../text/one_line.ts";

/** The most characters shown of a title, of the last prompt, of its answer. */
const SHOWN_TITLE_CHARS = 60;
const SHOWN_TYPED_CHARS = 200;
const SHOWN_ANSWER_CHARS = 300;

/** The lines about the session that goes on, if there is one; `dim` styles its last exchange. */
export function resumedLines(
  resumed: Resumed | undefined,
  dim: (text: string) => string = (text) => text,
): string[] {
  if (!resumed) return ["There is no earlier session of this folder."];
  const { started, messages, lostLines, lastTyped, lastAnswer, openCalls, model } = resumed;
  const unread = lostLines > 0 ? `; ${count(lostLines, "line")} could not be read` : "";
  const said = [
    ...lastTyped === undefined ? [] : [`> ${excerptLine(lastTyped, SHOWN_TYPED_CHARS)}`],
    ...lastAnswer === undefined ? [] : [excerptLine(lastAnswer, SHOWN_ANSWER_CHARS)],
  ];
  return [
    `Goes on from ${minuteOf(started)}: ${count(messages, "message")}${unread}`,
    ...said.map((text) => `  ${dim(text)}`),
    ...openCalls === undefined ? [] : [`The last turn was cut off: ${openCallsText(openCalls)}.`],
    ...model ? [modelLine(model)] : [],
  ];
}

function openCallsText(openCalls: number): string {
  if (openCalls === 0) return "before the answer";
  return `its open ${openCalls === 1 ? "call is" : "calls are"} answered as interrupted`;
}

function modelLine({ before, now, isTakenUp }: NonNullable<Resumed["model"]>): string {
  if (isTakenUp) return `With ${oneLine(before.model)}, as before (/model).`;
  const at = ({ model, server }: ModelUsed) => `${oneLine(model)} at ${oneLine(server)}`;
  return `It was with ${at(before)}, and is with ${at(now)} now.`;
}

/** A session in one line: when it began, and with what. */
export function sessionLine({ started, title }: SessionTitle): string {
  return `${minuteOf(started)}  ${excerptLine(title, SHOWN_TITLE_CHARS)}`;
}

function excerptLine(text: string, maxChars: number): string {
  return shortened(oneLine(text), maxChars);
}

function minuteOf(started: string): string {
  return oneLine(started.slice(0, 16).replace("T", " "));
}
