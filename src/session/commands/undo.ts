import { attempt } from "../../attempt.ts";
import { shortName } from "../../records/store.ts";
import { count } from "../../text/count.ts";
import { oneLine, shortened } from "../../text/one_line.ts";
import type { ArgumentChoice, CommandAnswer } from "../data.ts";
import type { Command, SessionState } from "../extension.ts";
import type { UndoneFile, UndoReport } from "../undo.ts";

const MAX_MESSAGE_CHARS = 60;
/** The maximum number of files in a report, of which those that failed come first. */
const MAX_UNDONE_FILES = 20;

export const undoCommands: readonly Command[] = [
  {
    name: "undo",
    group: "Session",
    argument: "[N]",
    help: "take back the last message and its file changes; /undo 3: last 3",
    isSlow: true,
    run: (session, argument, signal) => undoMessages(session, argument, signal, false),
  },
  {
    name: "rewind",
    group: "Session",
    argument: "[N]",
    help: "rewind to before a message from a list",
    question: "Rewind to before which message?",
    isSlow: true,
    run: (session, argument, signal) => undoMessages(session, argument, signal, true),
    choices: undoChoices,
  },
  {
    name: "redo",
    group: "Session",
    help: "redo what was undone",
    isSlow: true,
    async run(session, _, signal) {
      const undone = await session.undo?.redo(session.agent, signal);
      if (undone === undefined) return "There is nothing to redo.";
      session.usage = undefined;
      return { type: "undone", line: "", text: undoText(undone) };
    },
  },
];

/** `isKept`: what is undone stays as a session of its own. */
async function undoMessages(
  session: SessionState,
  argument: string,
  signal: AbortSignal,
  isKept: boolean,
): Promise<CommandAnswer> {
  const steps = argument === "" ? 1 : Number(argument);
  const most = session.undo?.messages.length ?? 0;
  if (most === 0) {
    return session.agent.state.messages.length > 0
      ? "There is nothing to undo: --continue, /resume and /fork N end what /undo knows."
      : "There is nothing to undo.";
  }
  if (argument !== "" && !(Number.isInteger(steps) && steps > 0 && steps <= most)) {
    return `/${isKept ? "rewind" : "undo"} takes a number of messages, at most ${most} now`;
  }
  // The rewind is worth more than the copy, which may fail.
  const copy = isKept ? attempt(() => session.record?.fork(undefined, false)) : undefined;
  const undone = await session.undo!.undo(session.agent, steps, signal);
  session.usage = undefined;
  const branch = copy && `\n/resume ${shortName(copy.name)} returns to what was there before.`;
  return { type: "undone", line: undone!.text, text: undoText(undone!) + (branch ?? "") };
}

function undoChoices({ undo }: SessionState): ArgumentChoice[] {
  return (undo?.messages ?? []).map(({ text, files }, at) => ({
    argument: `${at + 1}`,
    label: shortened(oneLine(text), MAX_MESSAGE_CHARS),
    ...files > 0 && { detail: `${count(files, "file")} changed` },
  }));
}

export function undoText(
  { way, text, messages, files, left, hasConversation, commands, isFollowed }: UndoReport,
): string {
  const title = `"${shortened(oneLine(text), MAX_MESSAGE_CHARS)}"`;
  const [taken, back] = way === "redo"
    ? [`Restored ${title}.`, ""]
    : messages === 1
    ? [`Undid ${title}.`, " /redo restores it."]
    : [`Undid ${messages} messages, back to ${title}.`, " /redo restores them one by one."];
  const they = commands === 1 ? "it" : "they";
  const where = isFollowed ? " elsewhere, in ignored files, in .git or in the background" : "";
  const failures = files.filter(({ result }) => result === "failed");
  const shown = [...new Set([...failures, ...files])].slice(0, MAX_UNDONE_FILES);
  const more = files.length - shown.length;
  const none = files.length + commands === 0 ? " No files were changed." : "";
  return [
    taken + none + back,
    ...shown.map((file) => `  ${undoneFileText(file, way)}`),
    ...more > 0 ? [`  and ${count(more, "more file")}`] : [],
    ...left > 0 ? [`Stopped: ${count(left, "file is", "files are")} as before.`] : [],
    ...hasConversation ? [] : ["The conversation has changed since, and was not restored."],
    ...commands > 0
      ? [`${count(commands, "shell command")} ran; what ${they} changed${where} stays.`]
      : [],
  ].join("\n");
}

function undoneFileText({ path, result, reason = "" }: UndoneFile, way: UndoReport["way"]): string {
  const after = {
    failed: ` was not changed: ${oneLine(reason)}`,
    removed: ": removed",
    recreated: ": restored",
    restored: way === "undo" ? ": restored" : ": changed again",
  };
  return `${oneLine(path)}${after[result]}`;
}
