/** The record of a session, and going on with an earlier one. @module */

import { hasUserinfo } from "../server_address.ts";
import type { CopilotAgent } from "../agent/agent.ts";
import { requestTokens } from "../agent/tokens.ts";
import { targetOf } from "../model_target.ts";
import type { ExecutionFacts } from "../records/execution.ts";
import { attempt } from "../attempt.ts";
import type { ApproveMode } from "../permissions/settings.ts";
import type { AnswerPiece, ModelUsed } from "../records/format.ts";
import { openCallsAtCut } from "../records/repair.ts";
import { withStoredImages } from "../records/images.ts";
import { Recorder } from "../records/recorder.ts";
import {
  isOpen,
  type ListedSession,
  listedSessions,
  removeSession,
  type StoredSession,
  storedSession,
  storedSessions,
  wholeSession,
} from "../records/store.ts";
import { typedText } from "../text/parts.ts";
import { join } from "../text/std_path.ts";
import { reasonOf } from "../text/reason.ts";
import { stateFolder } from "../user_files.ts";
import type { TurnEvent } from "../types/event.ts";
import type { CacheWatch } from "./cache_watch.ts";
import { serverOf } from "./model_server.ts";

/** A piece of an answer is on record after this time, in ms, at the latest. */
const MAX_UNRECORDED_MS = 2000;
/** The most characters of an answer that wait for that: a fast answer is not held a second time. */
const MAX_UNRECORDED_CHARS = 16 * 1024;

/** `isBehind`: true where what was said last could not be written. */
export type RecordFile = { path: string; folder: string; isBehind?: boolean };

/** What a session says of its record. */
interface RecordOptions {
  /** They have the mode of asking that the person chose. */
  permissions: { readonly chosenMode: ApproveMode | undefined };
  /** Returns what the server has shown of the conversation's size and of its speed. */
  measured?: () => Pick<ModelUsed, "tokens" | "readSpeed">;
}

/** Records an agent's conversation on disk, where there is a folder for that. */
export class SessionRecord implements Disposable {
  #recorder: Recorder | undefined;
  #hasFailed = false;
  /** What came of the answer since the newest piece on record, and the time at which it is written. */
  #piece: { text: string; reasoning: string } | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * @param executions how calls ended, by their ids
   * @param tell called with the reason when the conversation cannot be recorded, without when it can be again
   */
  constructor(
    private readonly agent: CopilotAgent,
    private readonly executions: ReadonlyMap<string, ExecutionFacts>,
    private readonly options: RecordOptions,
    private readonly tell: (why?: string) => void,
  ) {
    const root = sessionsFolder();
    if (root !== undefined) this.#recorder = new Recorder(root, () => agent.state.workingDir);
  }

  /** The file that is written, and the folder it is of; undefined before the first message. */
  get file(): RecordFile | undefined {
    const file = this.#recorder?.file;
    return file && { path: file.path, folder: file.folder, isBehind: this.#hasFailed };
  }

  /** The name by which the record is found again; undefined where none can be written. */
  get name(): string | undefined {
    return this.#recorder?.name;
  }

  /** Writes what is new: to be called whenever the conversation, or the mode that a person chose, has changed. */
  sync(): void {
    this.#dropPiece();
    if (!this.#recorder) return;
    try {
      this.#writeNew();
      if (this.#hasFailed) this.tell();
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed) this.tell(`${reasonOf(error)} (in ${sessionsFolder()})`);
      this.#hasFailed = true;
    }
  }

  /** An event of a turn: before a request and before a call, what is new is written, and of an answer its pieces. */
  onEvent(event: TurnEvent): void {
    switch (event.type) {
      case "thinking":
      case "tool_start":
        return this.sync();
      case "text_delta":
        return this.#add("text", event.text);
      case "reasoning_delta":
        return this.#add("reasoning", event.text);
      case "text_retracted":
        this.#writePiece();
        return this.#write({ isRetracted: true });
      case "retry":
        this.#dropPiece();
        return this.#write(null);
    }
  }

  /** The conversation is that of an earlier session now. */
  continueFrom(session: StoredSession): void {
    this.#recorder?.continueFrom(session, sessionTitle(session).title);
  }

  [Symbol.dispose](): void {
    this.#dropPiece();
    if (this.#hasFailed) attempt(() => this.#writeNew());
    this.#recorder?.[Symbol.dispose]();
  }

  #writeNew(): void {
    const used = modelUsedBy(this.agent, this.options);
    const { chosenMode } = this.options.permissions;
    this.#recorder?.sync(this.agent.state.messages, used, this.executions, chosenMode);
  }

  #add(kind: "text" | "reasoning", piece: string): void {
    if (!this.#recorder) return;
    this.#piece ??= { text: "", reasoning: "" };
    this.#piece[kind] += piece;
    const { text, reasoning } = this.#piece;
    if (text.length + reasoning.length >= MAX_UNRECORDED_CHARS) return this.#writePiece();
    this.#timer ??= setTimeout(() => this.#writePiece(), MAX_UNRECORDED_MS);
  }

  #writePiece(): void {
    const { text = "", reasoning = "" } = this.#piece ?? {};
    this.#dropPiece();
    const piece = { ...reasoning !== "" && { reasoning }, ...text !== "" && { text } };
    if (text + reasoning !== "") this.#write(piece);
  }

  /** A failure is said when the message is written, which the piece is of. */
  #write(piece: AnswerPiece | null): void {
    attempt(() => this.#recorder?.piece(piece));
  }

  #dropPiece(): void {
    clearTimeout(this.#timer);
    this.#timer = this.#piece = undefined;
  }
}

/** The model that an agent asks; an address with a user name or password in it is left out. */
function modelUsedBy(
  { config }: CopilotAgent,
  { measured }: Partial<RecordOptions> = {},
): ModelUsed {
  const { name, kind, url } = targetOf(config);
  return {
    ...{ model: name, server: serverOf(config) },
    ...!hasUserinfo(url) && { at: { kind, url } },
    ...measured?.(),
  };
}

/** The most sessions in a list, and the most characters of a title. */
const MAX_LISTED_SESSIONS = 20;
const MAX_TITLE_CHARS = 200;

/** The sessions of the agent's folder, newest first: what a list shows of them. */
export function earlierSessions(agent: CopilotAgent): ListedSession[] {
  return [...Iterator.from(recordedSessions(agent.state.workingDir)).take(MAX_LISTED_SESSIONS)];
}

/** The newest session of the agent's folder. */
export function newestSession(agent: CopilotAgent): StoredSession | undefined {
  const root = sessionsFolder();
  return root && storedSessions(root, agent.state.workingDir).next().value || undefined;
}

/** A session of a list, all of it; undefined where it was removed since. */
export const wholeOf: (session: ListedSession) => StoredSession | undefined = wholeSession;

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
type SessionTitle = { started: string; title: string };

export function sessionTitle({ head, first }: Pick<StoredSession, "head" | "first">): SessionTitle {
  return { started: head.started, title: head.title ?? first.slice(0, MAX_TITLE_CHARS) };
}

/**
 * The model of an earlier session, and the one until now, which has no name where the server has still to
 * say which it has; `isTakenUp`: `before` is asked again.
 */
type TakenUp = {
  before: ModelUsed;
  now: Pick<ModelUsed, "server"> & { model?: string };
  isTakenUp: boolean;
};

/** An earlier session with which an agent goes on. */
export interface Resumed {
  /** When it began: ISO 8601. */
  started: string;
  /** The text that was typed first. */
  title: string;
  /** The number of its messages. */
  messages: number;
  /** Lines of its record that could not be read. */
  lostLines: number;
  /** True where another program has it open: what is said here is a session of its own. */
  isInUse?: true;
  /** The text that was typed last, and the newest answer to it; left out where there is none. */
  lastTyped?: string;
  lastAnswer?: string;
  /** Calls that were open when its last turn was cut off: 0 before an answer; left out where it was not. */
  openCalls?: number;
  /** Left out where the model is the same. */
  model?: TakenUp;
  /** The tokens that the server has to read unless it still has them, and the time, where a speed is known. */
  reading?: { tokens: number; seconds?: number };
}

/** Reading fewer tokens is not worth a line. */
const MIN_READING = 2000;

/** The index of the last message that a person typed; -1 for none. */
const lastOfPerson = (messages: StoredSession["messages"]): number =>
  messages.findLastIndex((one) => one.role === "user" && one.standsFor === undefined);

/** The text that was typed last in a session; undefined where that is what it began with. */
export function newestTyped({ messages, first }: ListedSession): string | undefined {
  const at = lastOfPerson(messages);
  const text = at === -1 ? first : typedText(messages[at]!);
  return text === first ? undefined : text;
}

/** Goes on with a session, and with its model where that is at hand and the person named no other. */
export function resumeSession(
  { agent, fit, record, executions, cache, isModelKnown = true }: {
    agent: CopilotAgent;
    isModelKnown?: boolean;
    executions: Map<string, ExecutionFacts>;
    fit: { isChosen: boolean };
    record?: SessionRecord;
    cache?: Pick<CacheWatch, "readSpeed">;
  },
  session: StoredSession,
): Resumed {
  const { lost } = session;
  const messages = withStoredImages(session.path, session.messages);
  agent.state.messages = [...messages];
  agent.state.seenFiles.clear();
  for (const [call, facts] of session.executions) executions.set(call, facts);
  record?.continueFrom({ ...session, messages });
  const isInUse = record?.file?.path !== session.path && attempt(() => isOpen(session.path));
  const openCalls = openCallsAtCut(messages);
  const model = takeUpModel(agent, { ...fit, isModelKnown }, session.used);
  const tokens = session.used?.tokens ?? requestTokens(agent);
  const isReading = tokens >= MIN_READING && targetOf(agent.config).kind !== "hosted";
  const isOther = model !== undefined && !model.isTakenUp;
  if (cache && !isOther) cache.readSpeed ??= session.used?.readSpeed;
  const speed = isOther ? undefined : cache?.readSpeed;
  const at = lastOfPerson(messages);
  const answer = messages.slice(at + 1).findLast(({ role, content, standsFor = "" }) =>
    role === "assistant" && content.trim() !== "" &&
    !["interruption", "lost_answer"].includes(standsFor)
  );
  return {
    ...sessionTitle(session),
    messages: messages.length,
    lostLines: lost,
    ...(isInUse && { isInUse }),
    ...(at !== -1 && { lastTyped: typedText(messages[at]!) }),
    ...(answer && { lastAnswer: typedText(answer) }),
    ...(openCalls !== undefined && { openCalls }),
    ...(model && { model }),
    ...(isReading && { reading: { tokens, ...(speed && { seconds: tokens / speed }) } }),
  };
}

/** The model stays what it was; the server that is asked is never another than the person said. */
function takeUpModel(
  agent: CopilotAgent,
  { isChosen, isModelKnown }: { isChosen: boolean; isModelKnown: boolean },
  before?: ModelUsed,
): TakenUp | undefined {
  const { model, server } = modelUsedBy(agent);
  const machine = (one: string) => one.replace(/:\d+$/, "");
  if (!before || before.model === model && machine(before.server) === machine(server)) {
    return undefined;
  }
  const isTakenUp = before.server === server && !isChosen;
  if (isTakenUp) agent.setModel(before.model);
  const now = { server, ...(isChosen || isModelKnown) && { model } };
  return { before, now, isTakenUp };
}

function sessionsFolder(): string | undefined {
  const folder = stateFolder();
  return folder && join(folder, "sessions");
}
