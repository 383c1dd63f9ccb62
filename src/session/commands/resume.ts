import { attempt } from "../../attempt.ts";
import {
  isOfPrint,
  isOpen,
  type ListedSession,
  retitle,
  shortName,
  type StoredSession,
  wholeSession,
} from "../../records/store.ts";
import { ago, count } from "../../text/count.ts";
import { oneLine, shortened } from "../../text/one_line.ts";
import { isTyped, typedText } from "../../text/parts.ts";
import { resumedLines } from "../resumed_lines.ts";
import type { ArgumentChoice, CommandAnswer } from "../data.ts";
import type { Command, SessionState } from "../extension.ts";
import { changeFolder } from "./cd.ts";
import { factTexts, MIN_FACTS_COLUMNS, unknownText } from "./texts.ts";
import {
  earlierSessions,
  forgetSession,
  recordedFolder,
  resumeSession,
  sessionTitle,
  sessionWithId,
} from "../record.ts";

const MAX_LABEL_CHARS = 60;
const MIN_LABEL_CHARS = 30;
/** A longer name of a branch may be shortened to this. With less room, the list has no branches. */
const MIN_BRANCH_CHARS = 10;
/** The columns of a row without its label and its facts. */
const ROW_COLUMNS = 4;
const MAX_PREVIEW_CHARS = 200;

export const resumeCommand: Command = {
  name: "resume",
  group: "Session",
  argument: "[ID]",
  help: "list this folder's earlier sessions, or resume one",
  question: "Resume which session?",
  isOfTerminal: true,
  run: resume,
  choices: resumeChoices,
  listKeys: [
    { key: "tab", does: "widen", help: "Tab all folders" },
    { key: "ctrl-r", does: "rename", help: "Ctrl-R rename" },
    { key: "ctrl-x", does: "delete", help: "Ctrl-X delete" },
  ],
};

async function resume(session: SessionState, argument: string): Promise<CommandAnswer> {
  if (argument === "") {
    const choices = resumeChoices(session);
    if (choices.length === 0) return "There are no earlier sessions in this folder.";
    const rows = choices.map(({ label, detail }, i) =>
      `${`${i + 1}`.padStart(4)}  ${label}  ${detail}`
    );
    return [...rows, "Resume one with /resume N."].join("\n");
  }
  const sessions = earlierSessions(session);
  const [, verb, word = "", title = ""] =
    /^(?:(delete|rename) )?(\S+)(?: ([^]*))?$/.exec(argument) ??
      [];
  const listed = sessions[Number(word) - 1] ?? attempt(() => sessionWithId(word));
  if (listed && verb !== undefined) return changeSession(listed, verb, title).text;
  const chosen = listed && title === "" ? wholeSession(listed) : undefined;
  if (!chosen) return unknownText(`session ${verb ? word : argument}`, "/resume");
  const folder = recordedFolder(chosen);
  const isElsewhere = folder !== session.agent.state.workingDir;
  const before = isElsewhere ? await changeFolder(session, folder) : undefined;
  if (isElsewhere && folder !== session.agent.state.workingDir) return before!;
  // The check of the server may choose another model.
  await session.probed;
  session.undo?.forget();
  session.usage = undefined;
  const resumed = resumeSession(session, chosen);
  const text = resumedLines(resumed, session.surface.kind).join("\n");
  return { type: "resumed", resumed, ...before !== undefined && { before }, text };
}

/** Renames or deletes a session, unless another program has it open. */
export function changeSession(
  session: ListedSession | StoredSession,
  verb: string,
  given: string,
): { isDone?: boolean; text: string } {
  const { name, path } = session;
  const named = `"${shortened(oneLine(sessionTitle(session).title), MAX_LABEL_CHARS)}"`;
  const title = oneLine(given);
  if (isOpen(path)) return { text: `Another copilot has ${named} open.` };
  if (verb !== "delete" && title === "") return { text: `Name the title of ${named}, too.` };
  const isDone = verb === "delete"
    ? forgetSession(name)
    : attempt(() => (retitle(path, title), true)) === true;
  const done = verb === "delete" ? `Deleted ${named}.` : `Renamed ${named} to "${title}".`;
  const failed = `Cannot ${verb} ${named}: its file is gone, or another copilot opened it`;
  return { isDone, text: isDone ? done : failed };
}

function resumeChoices(session: SessionState, _?: AbortSignal, isWide?: boolean): ArgumentChoice[] {
  const { workingDir } = session.agent.state;
  const { columns } = session.surface;
  const isNarrow = columns < MIN_FACTS_COLUMNS;
  const sessions = earlierSessions(session, isWide);
  const rows = sessions.map((one) => {
    const { folder } = one.head;
    const other = isWide && folder !== workingDir ? oneLine(folder) : "";
    return sessionFacts(one).toSpliced(isNarrow ? Infinity : 1, 0, other);
  });
  const roomBeside = (facts: readonly string[]) =>
    columns - ROW_COLUMNS - Math.max(0, ...facts.map(({ length }) => length));
  const branches = sessions.map(({ head: { branch = "" } }) => oneLine(branch));
  const most = isNarrow ? Infinity : roomBeside(factTexts(rows, columns)) - MIN_LABEL_CHARS - 2;
  const hasRoom = branches.every(({ length }) => Math.min(length, MIN_BRANCH_CHARS) <= most);
  const shown = branches.map((branch) => hasRoom ? shortened(branch, most) : "");
  const facts = factTexts(rows.map((row, at) => [...row, shown[at]!]), columns);
  // On a narrow screen, a list shows the facts of one row below it.
  const label = isNarrow ? columns - ROW_COLUMNS : Math.max(MIN_LABEL_CHARS, roomBeside(facts));
  const maxTitle = Math.min(MAX_LABEL_CHARS, label);
  return sessions.map((one, at) => {
    const { name, mark, title } = one;
    return {
      argument: shortName(name),
      label: mark + shortened(oneLine(title), maxTitle - mark.length),
      ...isOfPrint(name) && { group: "Runs of copilot -p" },
      detail: facts[at]!,
      preview: previewOf(one),
    };
  });
}

function sessionFacts(one: ListedSession): string[] {
  const { messages, executions } = one;
  const changed = [...executions.values()].flatMap(({ details }) => details?.change?.path ?? []);
  const files = new Set(changed).size;
  return [
    ago(Date.parse(one.updated)),
    one.isCut ? "" : count(messages.length, "message"),
    files === 0 ? "" : `${count(files, "file")} changed`,
  ];
}

function previewOf({ messages, used }: ListedSession): string {
  const typed = messages.findLast(isTyped);
  const answer = messages.findLast(({ role, content }) => role === "assistant" && content.trim());
  const texts = [typed && `> ${typedText(typed)}`, answer?.content, used?.model];
  return texts.flatMap((text) => text ? [shortened(oneLine(text), MAX_PREVIEW_CHARS)] : []).join(
    "\n",
  );
}
