/** `/resume`: the earlier sessions of the folder. @module */

import { ago } from "../../text/count.ts";
import { oneLine, shortened } from "../../text/one_line.ts";
import { resumedLines } from "../resumed_lines.ts";
import type { ArgumentChoice, CommandAnswer } from "../data.ts";
import type { Command, SessionState } from "../extension.ts";
import { unknownText } from "./texts.ts";
import { earlierSessions, newestTyped, resumeSession, sessionTitle, wholeOf } from "../record.ts";

const MAX_LABEL_CHARS = 60;

export const resumeCommand: Command = {
  name: "resume",
  group: "Session",
  argument: "[N]",
  help: "list this folder's earlier sessions, or resume one",
  question: "Resume which session?",
  isOfTerminal: true,
  run: resume,
  choices: resumeChoices,
};

async function resume(session: SessionState, argument: string): Promise<CommandAnswer> {
  const sessions = earlierSessions(session.agent);
  if (argument === "") {
    if (sessions.length === 0) return "There are no earlier sessions in this folder.";
    const rows = sessions.map((one, i) => {
      const { started, title } = sessionTitle(one);
      const minute = oneLine(started.slice(0, 16).replace("T", " "));
      return `${`${i + 1}`.padStart(4)}  ${minute}  ${shortened(oneLine(title), MAX_LABEL_CHARS)}`;
    });
    return [...rows, "Resume one with /resume N."].join("\n");
  }
  const listed = sessions[Number(argument) - 1];
  const chosen = listed && wholeOf(listed);
  if (!chosen) return unknownText(`session ${argument}`, "/resume");
  // The check of the server may choose another model.
  await session.probed;
  session.undo?.forget();
  session.usage = undefined;
  const resumed = resumeSession(session, chosen);
  return { type: "resumed", resumed, text: resumedLines(resumed, session.surface.way).join("\n") };
}

function resumeChoices({ agent }: SessionState): ArgumentChoice[] {
  const sessions = earlierSessions(agent);
  const last = sessions.map((one) => shortened(oneLine(newestTyped(one) ?? ""), MAX_LABEL_CHARS));
  const titles = sessions.map(sessionTitle);
  // The age comes first: it distinguishes sessions with the same start in a cut row.
  const ages = titles.map(({ started }) => ago(Date.parse(started)));
  const width = Math.max(...ages.map((age) => age.length));
  return sessions.map(({ used }, at) => ({
    argument: `${at + 1}`,
    label: `${ages[at]!.padEnd(width)}  ${shortened(oneLine(titles[at]!.title), MAX_LABEL_CHARS)}`,
    detail: [used && oneLine(used.model), last[at] && `last: ${last[at]}`].filter(Boolean).join(
      " · ",
    ),
  }));
}
