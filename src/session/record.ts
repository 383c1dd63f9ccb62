/** Records a session, and resumes an earlier one. @module */

import { hasUserinfo } from "../server_address.ts";
import type { CopilotAgent } from "../agent/agent.ts";
import { requestTokens } from "../agent/tokens.ts";
import { targetOf } from "../models/target.ts";
import type { ExecutionFacts } from "../records/execution.ts";
import { attempt } from "../attempt.ts";
import { UsageError } from "../errors.ts";
import type { ApproveMode } from "../safety/settings.ts";
import type { AnswerPiece, ModelUsed } from "../records/format.ts";
import { openCallsAtCut } from "../records/repair.ts";
import { withStoredImages } from "../records/images.ts";
import { Recorder } from "../records/recorder.ts";
import {
  forkRecord,
  isOfPrint,
  isOpen,
  type ListedSession,
  listedSessions,
  MAX_TITLE_CHARS,
  removeSession,
  retitle,
  sessionsLike,
  shortName,
  type StoredSession,
  storedSession,
  storedSessions,
  wholeSession,
} from "../records/store.ts";
import { oneLine, shortened } from "../text/one_line.ts";
import { typedText } from "../text/parts.ts";
import { join } from "../text/std_path.ts";
import { reasonOf } from "../text/reason.ts";
import { stateFolder } from "../user_files.ts";
import type { Message } from "../types/message.ts";
import type { TurnEvent } from "../types/event.ts";
import { branchOf } from "../safety/repositories.ts";
import type { CacheWatch } from "./cache_watch.ts";
import { serverOf } from "../models/model_server.ts";

const MAX_UNRECORDED_MS = 2000;
/** The maximum number of characters that wait, so that little of a fast answer is pending. */
const MAX_UNRECORDED_CHARS = 16 * 1024;

/** `isBehind`: true if the newest messages could not be written. */
export type RecordFile = { path: string; folder: string; isBehind?: boolean };

interface RecordOptions {
  permissions: { readonly chosenMode: ApproveMode | undefined };
  isPrint?: boolean | undefined;
  /** Returns what the server has reported about the context's size and its speed. */
  measured?: () => Pick<ModelUsed, "tokens" | "readSpeed" | "writeSpeed">;
}

export class SessionRecord implements Disposable {
  #recorder: Recorder | undefined;
  #hasFailed = false;
  /** The answer since the newest written piece, and the time of the next write. */
  #piece: { text: string; reasoning: string } | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * `tell` is called with the reason if the session cannot be recorded, and without it when recording works
   * again.
   */
  constructor(
    private readonly agent: CopilotAgent,
    private readonly executions: ReadonlyMap<string, ExecutionFacts>,
    private readonly options: RecordOptions,
    private readonly tell: (why?: string) => void,
  ) {
    const root = sessionsFolder();
    if (root !== undefined) {
      this.#recorder = new Recorder(
        root,
        () => agent.state.workingDir,
        branchOf,
        options.isPrint,
      );
    }
  }

  /** The file, and its working directory; undefined before the first message. */
  get file(): RecordFile | undefined {
    const file = this.#recorder?.file;
    return file && { path: file.path, folder: file.folder, isBehind: this.#hasFailed };
  }

  get name(): string | undefined {
    return this.#recorder?.name;
  }

  /** Writes what is new. Call it after each change of the messages or of the user's mode. */
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

  /** Handles an event of a turn: writes what is new before each request and call, and pieces of an answer. */
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

  continueFrom(session: StoredSession): void {
    this.#recorder?.continueFrom(session, sessionTitle(session).title);
  }

  /** Copies the session, up to before a message, into a new one. @throws {Error} if either cannot be written. */
  copy(before?: Message): StoredSession {
    this.sync();
    const { file, name } = this;
    const stored = file && !file.isBehind && wholeSession({ name: name!, path: file.path });
    if (!stored) throw new Error("The session cannot be copied because it is not saved");
    const end = stored.messages.findIndex(({ id }) => id === before?.id);
    return forkSession(stored, end === -1 ? undefined : end);
  }

  /** {@linkcode copy}, in which the session continues. */
  fork(before?: Message): StoredSession {
    const copy = this.copy(before);
    const messages = withStoredImages(copy.path, copy.messages);
    this.continueFrom({ ...copy, messages });
    return { ...copy, messages };
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

  /** A failure is reported when the message of the piece is written. */
  #write(piece: AnswerPiece | null): void {
    attempt(() => this.#recorder?.piece(piece));
  }

  #dropPiece(): void {
    clearTimeout(this.#timer);
    this.#timer = this.#piece = undefined;
  }
}

/** Returns the agent's model, without an address that contains a user name or password. */
function modelUsedBy(
  { config }: CopilotAgent,
  { measured }: Partial<RecordOptions> = {},
): ModelUsed {
  const { name, kind, url } = targetOf(config);
  return {
    model: name,
    server: serverOf(config),
    ...!hasUserinfo(url) && { at: { kind, url } },
    ...measured?.(),
  };
}

const MAX_LISTED_SESSIONS = 20;
const MAX_WIDE_SESSIONS = 60;
/** The maximum number of sessions of `-p` in the list of a folder. */
const MAX_LISTED_PRINTS = 5;

/** A session in a list; `mark` is drawn before a branch of one above it. */
type EarlierSession = ListedSession & { mark: string };

/**
 * Returns the sessions of the folder and the newest ones of `-p` there, or the sessions of all folders, without the
 * current one.
 */
export function earlierSessions(
  { agent, record }: { agent: CopilotAgent; record?: SessionRecord | undefined },
  isWide = false,
): EarlierSession[] {
  const folder = isWide ? undefined : agent.state.workingDir;
  const listed = (kind: "own" | "print", most: number) => [
    ...Iterator.from(recordedSessions(folder, kind)).filter(({ name }) => name !== record?.name)
      .take(most),
  ];
  const own = listed("own", isWide ? MAX_WIDE_SESSIONS : MAX_LISTED_SESSIONS);
  const continued = new Set(own.map(({ head }) => head.continues));
  const printed = isWide ? [] : listed("print", MAX_LISTED_PRINTS);
  return [
    ...asTree(own),
    ...printed.filter(({ name }) => !continued.has(name)).map((one) => ({ ...one, mark: "" })),
  ];
}

/** Orders branches below their parents. */
export function asTree(sessions: readonly ListedSession[]): EarlierSession[] {
  // A parent is older, so that files that were edited by hand form no circle.
  const below = Map.groupBy(
    sessions,
    ({ head: { parent, started } }) =>
      sessions.find(({ name, head }) =>
        (name === parent || head.continues === parent && parent) && head.started < started
      ),
  );
  const rows = (of: ListedSession | undefined, margin: string): EarlierSession[] =>
    (below.get(of) ?? []).flatMap((one) => [
      { ...one, mark: of ? `${margin}└ ` : "" },
      ...rows(one, of ? `${margin}  ` : margin),
    ]);
  return rows(undefined, "");
}

export const changedFiles = ({ executions }: ListedSession): Set<string> =>
  new Set([...executions.values()].flatMap(({ details }) => details?.change?.path ?? []));

/** Returns the newest session of a folder: for `-p` of all, for the user one of their own if there is one. */
function newestOf<T>(
  list: (root: string, folder: string, isWanted?: (name: string) => boolean) => Iterator<T>,
  folder: string,
  isPrint = false,
): T | undefined {
  const first = (isWanted?: (name: string) => boolean) =>
    inSessions((root) => list(root, folder, isWanted).next().value as T | undefined);
  return isPrint ? first() : first(isOwn) ?? first(isOfPrint);
}

const isOwn = (name: string) => !isOfPrint(name);

export const newestSession = (folder: string, isPrint?: boolean): StoredSession | undefined =>
  newestOf(storedSessions, folder, isPrint);

export const newestListed = (folder: string, isPrint?: boolean): ListedSession | undefined =>
  newestOf(listedSessions, folder, isPrint);

export const wholeOf: typeof wholeSession = wholeSession;

/** Returns the sessions of a folder or of all, newest first: the user's own, those of `-p`, or both. */
export const recordedSessions = (
  folder?: string,
  kind: "own" | "print" | "all" = "own",
): Iterable<ListedSession> => {
  const isWanted = { own: isOwn, print: isOfPrint, all: undefined }[kind];
  return inSessions((root) => listedSessions(root, folder, isWanted)) ?? [];
};

/** Returns the session with this id, or the newest one that continues it. */
export const recordedSession = (name: string): StoredSession | undefined =>
  inSessions((root) => storedSession(root, name));

/** The maximum number of sessions that an error about an id names. */
const MAX_SIMILAR = 3;

/**
 * Returns the session with the id `id`, which may be shortened, or the newest one that continues it.
 * @throws {UsageError} that names the nearest sessions.
 */
export function sessionWithId(id: string): StoredSession {
  const { meant, similar } = inSessions((root) => sessionsLike(root, id)) ??
    { meant: [], similar: [] };
  const found = meant.length === 1 ? recordedSession(meant[0]!) : undefined;
  if (found) return found;
  const near = (meant.length > 1 ? meant : similar).slice(0, MAX_SIMILAR).flatMap((name) => {
    const stored = attempt(() => recordedSession(name));
    return stored ? [`${shortName(name)} "${shortened(sessionTitle(stored).title, 40)}"`] : [];
  });
  const why = meant.length > 1
    ? `${oneLine(id)} is the beginning of several sessions: `
    : `There is no session ${oneLine(id)}: `;
  throw new UsageError(
    why + (near.length === 0 ? "" : `${near.join(", ")}; `) + "copilot sessions list shows them",
  );
}

/** Copies a session up to its message `end` into a new one, which names it as its parent. @throws {Error} */
export const forkSession = (session: StoredSession, end?: number): StoredSession =>
  forkRecord(sessionsFolder()!, session, end);

export const retitleSession = (name: string, title: string): boolean =>
  inSessions((root) => retitle(root, name, title)) === true;

export const forgetSession = (name: string): boolean =>
  inSessions((root) => removeSession(root, name)) === true;

export function sessionTitle({ head, first }: Pick<StoredSession, "head" | "first">) {
  return { started: head.started, title: head.title ?? first.slice(0, MAX_TITLE_CHARS) };
}

/** The model of an earlier session, and the current one, if it has a name. `isTakenUp`: the agent switches back. */
type TakenUp = {
  before: ModelUsed;
  now: Pick<ModelUsed, "server"> & { model?: string };
  isTakenUp: boolean;
};

export interface Resumed {
  started: string;
  title: string;
  messages: number;
  lostLines: number;
  /** The id of the session that gets new messages, if another program has this one open. */
  separateId?: string;
  lastTyped?: string;
  lastAnswer?: string;
  /** Open calls when its last turn was interrupted: 0 before an answer; missing if it was not interrupted. */
  openCalls?: number;
  model?: TakenUp;
  /** The tokens that the server has to process if they are not cached, and the time, if the speed is known. */
  reading?: { tokens: number; seconds?: number };
}

const MIN_READING = 2000;

const lastOfUser = (messages: StoredSession["messages"]): number =>
  messages.findLastIndex((one) => one.role === "user" && one.standsFor === undefined);

/** Resumes a session, with its model if that is available and the user named no other. */
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
  // Since it was read, another program may have added to it and ended.
  const isInUse = record !== undefined && record.file?.path !== session.path &&
    attempt(() => isOpen(session.path) || Deno.statSync(session.path).size !== session.size);
  const openCalls = openCallsAtCut(messages);
  const model = takeUpModel(agent, { ...fit, isModelKnown }, session.used);
  const tokens = session.used?.tokens ?? requestTokens(agent);
  const isReading = tokens >= MIN_READING && targetOf(agent.config).kind !== "hosted";
  const isOther = model !== undefined && !model.isTakenUp;
  if (cache && !isOther) cache.readSpeed ??= session.used?.readSpeed;
  const speed = isOther ? undefined : cache?.readSpeed;
  const at = lastOfUser(messages);
  const answer = messages.slice(at + 1).findLast(({ role, content, standsFor = "" }) =>
    role === "assistant" && content.trim() !== "" &&
    !["interruption", "lost_answer"].includes(standsFor)
  );
  return {
    ...sessionTitle(session),
    messages: messages.length,
    lostLines: lost,
    ...(isInUse && { separateId: shortName(record.name!) }),
    ...(at !== -1 && { lastTyped: typedText(messages[at]!) }),
    ...(answer && { lastAnswer: typedText(answer) }),
    ...(openCalls !== undefined && { openCalls }),
    ...(model && { model }),
    ...(isReading && { reading: { tokens, ...(speed && { seconds: tokens / speed }) } }),
  };
}

/** Keeps the model. Only the server that the user configured is ever asked. */
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

function inSessions<T>(use: (root: string) => T): T | undefined {
  const root = sessionsFolder();
  return root === undefined ? undefined : use(root);
}

function sessionsFolder(): string | undefined {
  const folder = stateFolder();
  return folder && join(folder, "sessions");
}
