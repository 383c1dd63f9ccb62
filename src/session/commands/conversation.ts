/** Commands about the conversation: what was said, what it used, going back and on, planning. @module */

import { contextParts } from "../../agent/tokens.ts";
import { ago, count } from "../../text/count.ts";
import { oneLine, shortened } from "../../text/one_line.ts";
import { changeMode, hasPlan, isPlanning } from "../plan_mode.ts";
import type { ArgumentChoice, Report } from "../report.ts";
import type { Command, SessionState } from "../state.ts";

/** The most characters of a message or a title in a list. */
const MAX_LABEL_CHARS = 60;

/** The commands, in the order of the help. */
export const conversationCommands: readonly Command[] = [
  {
    name: "clear",
    help: "forget the conversation",
    run(session) {
      const { state } = session.agent;
      state.messages.length = 0;
      state.seenFiles.clear();
      session.undo?.leave();
      session.pending = [];
      session.usage = undefined;
      return { type: "cleared" };
    },
  },
  {
    name: "resume",
    argument: "[N]",
    help: "list this folder's earlier sessions, or continue one",
    run: resume,
    choices: resumeChoices,
  },
  {
    name: "undo",
    argument: "[N]",
    help: "undo the newest N messages, and what they changed in files",
    run: undoMessages,
    // A single message needs no list: it can be brought back.
    choices: (session) => {
      const choices = undoChoices(session);
      return choices.length > 1 ? choices : [];
    },
  },
  {
    name: "rewind",
    argument: "[N]",
    help: "go back to before a message, picked from a list",
    run: undoMessages,
    choices: undoChoices,
  },
  {
    name: "redo",
    help: "redo what was undone",
    run: redoMessage,
  },
  {
    name: "compact",
    argument: "[TEXT]",
    help: "summarise the conversation to make room; TEXT: what must stay",
    isSlow: true,
    run: compactConversation,
  },
  {
    name: "context",
    help: "what fills the model's context",
    run: ({ agent, cache: { counted } }) => ({ type: "context", counted, ...contextParts(agent) }),
  },
  {
    name: "history",
    help: "list what you typed",
    run: ({ agent }) => ({ type: "history", entries: [...agent.state.history] }),
  },
  {
    name: "tokens",
    help: "tokens used so far, and what they cost where that is known",
    run({ agent: { state: { inputTokens, outputTokens } }, cost, usage: last }) {
      return { type: "tokens", inputTokens, outputTokens, cost, last };
    },
  },
];

async function resume(session: SessionState, argument: string): Promise<Report> {
  const { earlierSessions, resumeSession, sessionTitle, wholeOf } = await import("../record.ts");
  const sessions = earlierSessions(session.agent);
  if (argument === "") return { type: "sessions", sessions: sessions.map(sessionTitle) };
  const listed = sessions[Number(argument) - 1];
  const chosen = listed && wholeOf(listed);
  if (!chosen) return { type: "unknown", what: "session", name: argument };
  // The look at the server may choose another model.
  await session.looked;
  session.undo?.forget();
  session.usage = undefined;
  return { type: "resumed", resumed: resumeSession(session, chosen) };
}

async function resumeChoices({ agent }: SessionState): Promise<ArgumentChoice[]> {
  const { earlierSessions, newestTyped, sessionTitle } = await import("../record.ts");
  const sessions = earlierSessions(agent);
  const last = sessions.map((one) => shortened(oneLine(newestTyped(one) ?? ""), MAX_LABEL_CHARS));
  const titles = sessions.map(sessionTitle);
  // The age comes first: it tells sessions that begin alike apart where a row is cut.
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

async function undoMessages(session: SessionState, argument: string): Promise<Report> {
  const steps = argument === "" ? 1 : Number(argument);
  const most = session.undo?.messages.length ?? 0;
  if (most === 0) {
    const isContinued = session.agent.state.messages.length > 0;
    return { type: "undone", way: "undo", undone: undefined, ...isContinued && { isContinued } };
  }
  if (argument !== "" && !(Number.isInteger(steps) && steps > 0 && steps <= most)) {
    return { type: "undo_bound", most };
  }
  const undone = await session.undo?.undo(session.agent, steps);
  session.usage = undefined;
  return { type: "undone", way: "undo", undone };
}

function undoChoices({ undo }: SessionState): ArgumentChoice[] {
  return (undo?.messages ?? []).map(({ text, files }, at) => ({
    argument: `${at + 1}`,
    label: shortened(oneLine(text), MAX_LABEL_CHARS),
    ...files > 0 && { detail: count(files, "file") },
  }));
}

async function redoMessage(session: SessionState): Promise<Report> {
  const undone = await session.undo?.redo(session.agent);
  if (undone !== undefined) session.usage = undefined;
  return { type: "undone", way: "redo", undone };
}

async function compactConversation(
  session: SessionState,
  focus: string,
  signal: AbortSignal,
): Promise<Report> {
  let message: string | undefined;
  let tokens = 0;
  try {
    const { compact } = await import("../../agent/compact.ts");
    await compact(session.agent, {
      focus,
      signal,
      onPiece: () => session.emit({ type: "command_progress", tokens: ++tokens }),
      onEvent: (event) => event.type === "notice" && (message = event.message),
    });
    session.usage = undefined;
    return { type: "compacted", ...message !== undefined && { message } };
  } catch (error) {
    if (signal.aborted) return { type: "not_compacted" };
    const { toldFailure } = await import("../hints.ts");
    return { type: "not_compacted", ...toldFailure(error, session.agent.config) };
  }
}

/** In plan mode the model only reads and says what it would do, until the person accepts it. */
export const planCommand: Command = {
  name: "plan",
  argument: "[go|edits|off]",
  help:
    "the model only reads, and makes a plan; /plan again (or go) accepts it, edits also lets edits run unasked, off drops it",
  run: plan,
  values: () => PLAN_ENDS,
};

const PLAN_ENDS = ["go", "edits", "off"];

async function plan(session: SessionState, argument: string): Promise<Report> {
  if (argument !== "" && !PLAN_ENDS.includes(argument)) {
    return { type: "bad_argument", command: "plan", takes: PLAN_ENDS };
  }
  if (!await isPlanning(session)) {
    if (argument !== "") return { type: "plan", state: "not_on" };
    await changeMode(session, "plan");
    return { type: "plan", state: "begun" };
  }
  const isAccepted = argument !== "off" && hasPlan(session);
  if (!isAccepted && argument !== "" && argument !== "off") {
    return { type: "plan", state: "no_plan" };
  }
  const { isPlan } = await changeMode(
    session,
    argument === "edits" ? "edits" : undefined,
    isAccepted,
  );
  if (isPlan) return { type: "plan", state: "stays" };
  if (isAccepted) return { type: "plan", state: "accepted" };
  return { type: "plan", state: argument === "off" ? "dropped" : "over" };
}
