import type { ModelUsed } from "../records/format.ts";
import { aboutSeconds, ago, count, thousands } from "../text/count.ts";
import { oneLine, shortened } from "../text/one_line.ts";
import { modelNaming, serverNaming, type UiKind } from "./hint_text.ts";
import type { ResumedSession } from "./record.ts";

const SHOWN_TITLE_CHARS = 60;
const SHOWN_TYPED_CHARS = 200;
const SHOWN_ANSWER_CHARS = 300;

export function resumedLines(
  resumed: ResumedSession | undefined,
  ui: UiKind,
  dim: (text: string) => string = (text) => text,
  now = Date.now(),
): string[] {
  if (!resumed) {
    const start = ui === "flags" ? ", so the conversation starts here" : "";
    return [`There is no earlier session in this folder${start}.`];
  }
  const { started, title, messages, lostLines, lastTyped, lastAnswer, model } = resumed;
  const { separateId, isOfPrint, reading } = resumed;
  const unread = lostLines > 0 ? `; ${count(lostLines, "line")} could not be read` : "";
  const said = [
    ...lastTyped === undefined ? [] : [`> ${excerptLine(lastTyped, SHOWN_TYPED_CHARS)}`],
    ...lastAnswer === undefined ? [] : [excerptLine(lastAnswer, SHOWN_ANSWER_CHARS)],
  ];
  return [
    `Continuing "${excerptLine(title, SHOWN_TITLE_CHARS)}": ${
      count(messages, "message")
    }, started ${ago(Date.parse(started), now)}${unread}`,
    ...said.map((text) => `  ${dim(text)}`),
    separateId &&
    `New messages go to the session ${separateId}, as this one is ${
      isOfPrint ? "of copilot -p" : "open elsewhere"
    }.`,
    model && modelLine(model, ui),
    reading && readingLine(reading),
  ].filter((line) => typeof line === "string");
}

function readingLine({ tokens, seconds }: NonNullable<ResumedSession["reading"]>): string {
  const time = seconds === undefined ? "" : `, about ${aboutSeconds(seconds)}`;
  const unless = "unless the server still has them in its cache";
  return `${thousands(tokens)} tokens have to be read again${time}, ${unless}.`;
}

function modelLine(
  { before, now, isRestored }: NonNullable<ResumedSession["model"]>,
  ui: UiKind,
): string {
  const naming = modelNaming(ui);
  if (isRestored) return `Using ${oneLine(before.model)}, as before (${naming} changes it).`;
  const at = ({ model, server }: typeof now) =>
    model === undefined ? oneLine(server) : `${oneLine(model)} at ${oneLine(server)}`;
  const back = modelNamingOf(before, ui, before.server === now.server);
  const how = back === undefined ? "" : ` Switch back with ${oneLine(back)}.`;
  return `The session used ${at(before)}; now it uses ${at(now)}.${how}`;
}

/** Returns the command or the flags for the model of a session; undefined without the address of another server. */
function modelNamingOf({ model, at }: ModelUsed, ui: UiKind, isSame: boolean): string | undefined {
  const isPlain = !/\s/.test(model);
  const named = isPlain || ui !== "flags" ? model : JSON.stringify(model);
  if (isSame) return `${modelNaming(ui)} ${named}`;
  // In a session, a name with a space cannot follow a flag.
  if (at === undefined || ui !== "flags" && !isPlain) return undefined;
  return serverNaming(at.kind, at.url, ui, ` --model ${named}`);
}

const excerptLine = (text: string, maxChars: number) => shortened(oneLine(text), maxChars);
