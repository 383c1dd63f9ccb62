/**
 * The record of a session, and going on with one.
 *
 * @module
 */

import type { CopilotAgent } from "../agent/agent.ts";
import { isSummary } from "../agent/summary.ts";
import { targetOf } from "../model_target.ts";
import type { Used } from "../records/format.ts";
import { cutOf } from "../records/repair.ts";
import { type Kept, openRecorder, storedSessions } from "../records/store.ts";
import { DIM, type Painter } from "../terminal/style.ts";
import { count } from "../text/count.ts";
import { join } from "../text/std_path.ts";
import type { Message } from "../types/message.ts";
import type { ModelFit } from "./fit_model.ts";
import { serverOf } from "./model_server.ts";
import { oneLine } from "../text/one_line.ts";
import { stateFolder } from "../user_files.ts";

/** Keeps a conversation on disk. */
export interface SessionRecord {
  /** To be called whenever the conversation has grown. */
  sync(): void;
  /** The conversation is that of another session now. */
  goesOn(from: Kept): void;
}

/** Keeps the agent's conversation on disk. `warn` is told once. */
export function recordSession(
  agent: CopilotAgent,
  warn: (message: string) => void,
): SessionRecord {
  const root = sessionsFolder();
  if (root === undefined) return { sync() {}, goesOn() {} };
  const recorder = openRecorder(root, () => agent.state.workingDir);
  let failed = false;
  return {
    sync() {
      if (failed) return;
      try {
        recorder.sync(agent.state.messages, usedBy(agent));
      } catch (error) {
        failed = true;
        warn(`· the session cannot be kept: ${oneLine((error as Error).message)}`);
      }
    },
    goesOn: (from) => recorder.goesOn(from.messages, { continues: from.name, title: nameOf(from) }),
  };
}

/** What the agent asks: never how, as addresses may hold keys. */
function usedBy({ config }: CopilotAgent): Used {
  return {
    model: targetOf(config).name,
    server: serverOf(config),
  };
}

/** At most so many sessions are listed. */
const MAX_LISTED = 20;

/** The sessions of the agent's folder, newest first. */
export function sessionsHere(agent: CopilotAgent): Kept[] {
  const root = sessionsFolder();
  if (root === undefined) return [];
  return [...storedSessions(root, agent.state.workingDir).take(MAX_LISTED)];
}

/** What goes on with a session. */
export interface Continuing {
  readonly agent: CopilotAgent;
  readonly fit: ModelFit;
  record?: SessionRecord | undefined;
}

/** So much of what was said last is shown, in characters. */
const MAX_ASKED = 200;
const MAX_ANSWER = 300;

/** Goes on with a session, with its model where that is at hand; what to say of it. */
export function goOn(
  { agent, fit, record }: Continuing,
  stored: Kept,
  paint: Painter = (text) => text,
): string {
  const { head, messages, lost } = stored;
  agent.state.messages = [...messages];
  agent.state.seenFiles.clear();
  record?.goesOn(stored);
  const unread = lost > 0 ? `; ${count(lost, "line")} could not be read` : "";
  const cut = cutOf(messages);
  return [
    `Goes on from ${when(head.started)}: ${count(messages.length, "message")}${unread}`,
    ...lastExchange(messages).map((text) => `  ${paint(text, DIM)}`),
    ...cut ? [`The last turn was cut off: ${cut}.`] : [],
    ...sameModel(agent, fit.isChosen, stored),
  ].join("\n");
}

/** Goes on with the newest session of the agent's folder; what to say of it. */
export function goOnWithNewest(session: Continuing, paint?: Painter): string {
  const [newest] = sessionsHere(session.agent);
  return newest ? goOn(session, newest, paint) : "There is no earlier session of this folder.";
}

function lastExchange(messages: readonly Message[]): string[] {
  const at = messages.findLastIndex((one) => one.role === "user" && !isSummary(one));
  const answer = messages.slice(at + 1).findLast(({ role, content }) =>
    role === "assistant" && content.trim() !== "" && !content.startsWith("[Interrupted")
  );
  return [
    ...at < 0 ? [] : [`> ${beginning(typed(messages[at]!.content), MAX_ASKED)}`],
    ...answer ? [beginning(answer.content, MAX_ANSWER)] : [],
  ];
}

/** The model stays what it was; the server that is asked is never another than the person said. */
function sameModel(agent: CopilotAgent, isChosen: boolean, { used }: Kept): string[] {
  const now = usedBy(agent);
  const machine = ({ server }: Used) => server.replace(/:\d+$/, "");
  if (!used || used.model === now.model && machine(used) === machine(now)) return [];
  const [before, here] = [used, now].map(({ model, server }) =>
    `${oneLine(model)} at ${oneLine(server)}`
  );
  if (used.server !== now.server || isChosen) {
    return [`It was with ${before}, and is with ${here} now.`];
  }
  agent.setModel(used.model);
  return [`With ${oneLine(used.model)}, as before (/model).`];
}

/** A session in one line: when, and how it began. */
export function titleOf(stored: Kept): string {
  return `${when(stored.head.started)}  ${beginning(nameOf(stored), 60)}`;
}

/** What the person typed first. */
function nameOf({ head, first }: Kept): string {
  return head.title ?? typed(first).slice(0, MAX_ASKED);
}

/** A message without what went along with it. */
function typed(content: string): string {
  const text = content
    .replace(
      /^(?:<shell command=.*>\n[^]*?\n<\/shell>\n\n|\[(?:Plan mode|The plan is)[^\]]*\]\n\n)+/,
      "",
    )
    .replace(/\n\n<(?:file path=|stdin>)[^]*$/, "");
  return text.trim() === "" ? content : text;
}

function beginning(text: string, max: number): string {
  const line = oneLine(text);
  return line.length > max ? `${line.slice(0, max - 1).toWellFormed()}…` : line;
}

function when(started: string): string {
  return oneLine(started.slice(0, 16).replace("T", " "));
}

function sessionsFolder(): string | undefined {
  const folder = stateFolder();
  return folder && join(folder, "sessions");
}
