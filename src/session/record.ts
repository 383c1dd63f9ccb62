/** The record of a session, and going on with an earlier one. @module */

import type { CopilotAgent } from "../agent/agent.ts";
import { isSummary } from "../agent/summary.ts";
import { targetOf } from "../model_target.ts";
import type { ExecutionFacts } from "../records/execution.ts";
import type { ApproveMode } from "../permissions/settings.ts";
import type { ModelUsed } from "../records/format.ts";
import { openCallsAtCut } from "../records/repair.ts";
import {
  type ListedSession,
  listedSessions,
  Recorder,
  removeSession,
  type StoredSession,
  storedSession,
  storedSessions,
} from "../records/store.ts";
import { typedText } from "../text/parts.ts";
import { join } from "../text/std_path.ts";
import { stateFolder } from "../user_files.ts";
import { serverOf } from "./model_server.ts";

/** Records an agent's conversation on disk, where there is a folder for that. */
export class SessionRecord {
  #recorder: Recorder | undefined;

  /**
   * @param executions how calls ended, by their ids
   * @param warn called once with the reason why the conversation cannot be recorded any more
   */
  constructor(
    private readonly agent: CopilotAgent,
    private readonly executions: ReadonlyMap<string, ExecutionFacts>,
    private readonly warn: (reason: string) => void,
  ) {
    const root = sessionsFolder();
    if (root !== undefined) this.#recorder = new Recorder(root, () => agent.state.workingDir);
  }

  /** The file that is written, and the folder it is of; undefined before the first message. */
  get file(): { path: string; folder: string } | undefined {
    return this.#recorder?.file;
  }

  /** The name by which the record is found again; undefined where none can be written. */
  get name(): string | undefined {
    return this.#recorder?.name;
  }

  /** Writes what is new: to be called whenever the conversation, or the mode that a person chose, has changed. */
  sync(mode?: ApproveMode): void {
    try {
      const { messages } = this.agent.state;
      this.#recorder?.sync(messages, modelUsedBy(this.agent), this.executions, mode);
    } catch (error) {
      this.#recorder = undefined;
      this.warn((error as Error).message);
    }
  }

  /** The conversation is that of an earlier session now. */
  continueFrom(session: StoredSession): void {
    const origin = { continues: session.name, title: sessionTitle(session).title };
    this.#recorder?.continueFrom([...session.messages], origin, session.mode);
  }
}

/** The model that an agent asks: never its address, which may hold keys. */
function modelUsedBy({ config }: CopilotAgent): ModelUsed {
  return { model: targetOf(config).name, server: serverOf(config) };
}

/** The most sessions in a list, and the most characters of a title. */
const MAX_LISTED_SESSIONS = 20;
const MAX_TITLE_CHARS = 200;

/** The sessions of the agent's folder, newest first. */
export function earlierSessions(agent: CopilotAgent): StoredSession[] {
  const root = sessionsFolder();
  if (root === undefined) return [];
  return [...storedSessions(root, agent.state.workingDir).take(MAX_LISTED_SESSIONS)];
}

/** The sessions of a folder, or of all, newest first, with the time of their last change. */
export function recordedSessions(folder?: string): Iterable<ListedSession> {
  const root = sessionsFolder();
  return root === undefined ? [] : listedSessions(root, folder);
}

/** The session that a record's name stands for: it, or the newest that goes on from it. */
export function recordedSession(name: string): StoredSession | undefined {
  const root = sessionsFolder();
  return root === undefined ? undefined : storedSession(root, name);
}

/** Forgets a session and those that it goes on from; false where there is none. */
export function forgetSession(name: string): boolean {
  const root = sessionsFolder();
  return root !== undefined && removeSession(root, name);
}

/** An earlier session in a list: when it began (ISO 8601), and the text that was typed first. */
export type SessionTitle = { started: string; title: string };

export function sessionTitle({ head, first }: StoredSession): SessionTitle {
  return { started: head.started, title: head.title ?? first.slice(0, MAX_TITLE_CHARS) };
}

/** The model of an earlier session, and the one until now; `isTakenUp`: `before` is asked again. */
type TakenUp = { before: ModelUsed; now: ModelUsed; isTakenUp: boolean };

/** An earlier session with which an agent goes on. */
export interface Resumed {
  /** When it began: ISO 8601. */
  started: string;
  /** The number of its messages. */
  messages: number;
  /** Lines of its record that could not be read. */
  lostLines: number;
  /** The text that was typed last, and the newest answer to it; left out where there is none. */
  lastTyped?: string;
  lastAnswer?: string;
  /** Calls that were open when its last turn was cut off: 0 before an answer; left out where it was not. */
  openCalls?: number;
  /** Left out where the model is the same. */
  model?: TakenUp;
}

/** Goes on with a session, and with its model where that is at hand and the person named no other. */
export function resumeSession(
  { agent, fit, record, executions }: {
    agent: CopilotAgent;
    executions: Map<string, ExecutionFacts>;
    fit: { isChosen: boolean };
    record?: SessionRecord;
  },
  session: StoredSession,
): Resumed {
  const { head, messages, lost } = session;
  agent.state.messages = [...messages];
  agent.state.seenFiles.clear();
  for (const [call, facts] of session.executions) executions.set(call, facts);
  record?.continueFrom(session);
  const openCalls = openCallsAtCut(messages);
  const model = takeUpModel(agent, fit.isChosen, session.used);
  const at = messages.findLastIndex((one) => one.role === "user" && !isSummary(one));
  const answer = messages.slice(at + 1).findLast(({ role, content, standsFor = "" }) =>
    role === "assistant" && content.trim() !== "" &&
    !["interruption", "lost_answer"].includes(standsFor)
  );
  return {
    started: head.started,
    messages: messages.length,
    lostLines: lost,
    ...(at >= 0 && { lastTyped: typedText(messages[at]!) }),
    ...(answer && { lastAnswer: answer.content }),
    ...(openCalls !== undefined && { openCalls }),
    ...(model && { model }),
  };
}

/** The model stays what it was; the server that is asked is never another than the person said. */
function takeUpModel(agent: CopilotAgent, isModelChosen: boolean, before?: ModelUsed) {
  const now = modelUsedBy(agent);
  const machine = ({ server }: ModelUsed) => server.replace(/:\d+$/, "");
  if (!before || before.model === now.model && machine(before) === machine(now)) return undefined;
  const isTakenUp = before.server === now.server && !isModelChosen;
  if (isTakenUp) agent.setModel(before.model);
  return { before, now, isTakenUp };
}

function sessionsFolder(): string | undefined {
  const folder = stateFolder();
  return folder && join(folder, "sessions");
}
