/** Finds earlier sessions, and resumes one. @module */

import type { CopilotAgent } from "../agent/agent.ts";
import { requestTokens } from "../agent/tokens.ts";
import { targetOf } from "../models/target.ts";
import type { ExecutionFacts } from "../records/execution.ts";
import { attempt } from "../attempt.ts";
import { UsageError } from "../errors.ts";
import type { ModelUsed } from "../records/format.ts";
import type { Recorder } from "../records/recorder.ts";
import {
  forkRecord,
  isOfPrint,
  type ListedSession,
  listedSessions,
  MAX_TITLE_CHARS,
  pathsBelow,
  removeSession,
  shortName,
  type StoredSession,
  storedSession,
  wholeSession,
} from "../records/store.ts";
import { oneLine, shortened } from "../text/one_line.ts";
import { isTyped, typedText } from "../text/parts.ts";
import { join } from "../text/std_path.ts";
import { stateFolder } from "../user_files.ts";
import type { CacheWatch } from "./cache_watch.ts";

/** Returns the agent's model, without an address that contains a user name or password. */
export function modelUsedBy({ config }: CopilotAgent): ModelUsed {
  const { name, kind, url } = targetOf(config);
  const { host, username, password } = new URL(url);
  return {
    model: name,
    server: oneLine(host),
    ...!username && !password && { at: { kind, url } },
  };
}

const MAX_LISTED_SESSIONS = 20;
const MAX_WIDE_SESSIONS = 60;
const MAX_LISTED_PRINTS = 5;

/** A session in a list. `mark` is drawn before a branch of one above it. */
type EarlierSession = ListedSession & { mark: string; title: string };

/**
 * Returns the sessions of the folder and the newest ones of `-p` there, or the sessions of all folders, without the
 * current one.
 */
export function earlierSessions(
  { agent, record }: { agent: CopilotAgent; record?: Recorder | undefined },
  isWide = false,
): EarlierSession[] {
  const listed = (most: number, isWanted?: (name: string) => boolean) => [
    ...recordedSessions(isWide ? undefined : agent.state.workingDir, isWanted)
      .filter(({ name }) => name !== record?.name).take(most),
  ];
  const own = listed(isWide ? MAX_WIDE_SESSIONS : MAX_LISTED_SESSIONS);
  return [...asTree(own), ...isWide ? [] : asTree(listed(MAX_LISTED_PRINTS, isOfPrint))];
}

/** Orders branches below their parents. */
export function asTree(sessions: readonly ListedSession[]): EarlierSession[] {
  const parentOf = ({ head: { parent } }: ListedSession) =>
    sessions.find(({ name }) => name === parent);
  const below = Map.groupBy(sessions, parentOf);
  const rows = (of: ListedSession | undefined, margin: string): EarlierSession[] =>
    (below.get(of) ?? []).flatMap((one) => [
      { ...one, title: sessionTitle(one).title, mark: of ? `${margin}└ ` : "" },
      ...rows(one, of ? `${margin}  ` : ""),
    ]);
  return rows(undefined, "");
}

const isOwn = (name: string) => !isOfPrint(name);

/** Returns the newest session of a folder: for `-p` of all, for the user one of their own if there is one. */
export function newestSession(folder: string, isPrint = false): StoredSession | undefined {
  const kinds = isPrint ? [() => true] : [isOwn, isOfPrint];
  const [newest] = kinds.values().flatMap((kind) => recordedSessions(folder, kind)).take(1);
  return newest && wholeSession(newest);
}

/** Returns the sessions of a folder or of all, newest first: by default the user's own. */
export const recordedSessions = (folder?: string, isWanted = isOwn) =>
  listedSessions(recordsRoot(), folder, isWanted);

export const recordedSession = (name: string) => storedSession(recordsRoot(), name);

export const forgetSession = (name: string): boolean => removeSession(recordsRoot(), name);

/** The minimum number of characters of an abbreviated id, and the maximum number of sessions in an error. */
const MIN_ID_CHARS = 4;
const MAX_SIMILAR = 3;

/**
 * Returns the session with the id `id`, which may be shortened.
 * @throws {UsageError} that names the nearest sessions.
 */
export function sessionWithId(id: string): StoredSession {
  const all = pathsBelow(recordsRoot());
  const exact = all.filter(({ name }) => shortName(name) === id || name === `${id}.jsonl`);
  const isLong = id.length >= MIN_ID_CHARS;
  const begun = all.filter(({ name }) => isLong && shortName(name).startsWith(id));
  const meant = exact.length > 0 ? exact : begun;
  const found = meant.length === 1 ? wholeSession(meant[0]!) : undefined;
  if (found) return found;
  const alike = ({ name }: { name: string }) =>
    [...shortName(name)].filter((char, at) => char === id[at]).length;
  const near = all.sort((a, b) => alike(b) - alike(a));
  const shown = (meant.length > 0 ? meant : near).slice(0, MAX_SIMILAR).flatMap((one) => {
    const stored = attempt(() => wholeSession(one));
    // Of a million ids, a few are equal.
    const named = exact.length > 1 ? one.name.replace(".jsonl", "") : shortName(one.name);
    return stored ? `${named} "${shortened(sessionTitle(stored).title, 40)}"` : [];
  });
  const why = meant.length > 1
    ? `Several sessions begin with ${oneLine(id)}`
    : !isLong
    ? `The ID ${oneLine(id)} is too short: it needs ${MIN_ID_CHARS} characters`
    : `There is no session ${oneLine(id)}`;
  const list = shown.length > 0 ? ` There are: ${shown.join(", ")}.` : "";
  const how = "copilot sessions list --all (with -p: runs of copilot -p)";
  throw new UsageError(`${why}.${list} To list all: ${how}`);
}

/** Returns the folder of a session. @throws {UsageError} if a link, which a command may have made, leads elsewhere */
export function recordedFolder({ head: { folder } }: Pick<StoredSession, "head">): string {
  if ((attempt(() => Deno.realPathSync(folder)) ?? folder) === folder) return folder;
  throw new UsageError(
    `The session's folder ${oneLine(folder)} was replaced by a link: --working-dir names another`,
  );
}

/** Copies a session into a new one that names it. @throws {Error} */
export const forkSession = (session: StoredSession, isPrint = false): StoredSession =>
  forkRecord(recordsRoot(), session, isPrint);

type Titled = Pick<StoredSession, "name" | "head" | "first" | "messages">;

/** Returns the title of a session. A branch starts like its parent: its id and its last message are its title. */
export function sessionTitle({ name, head, first, messages }: Titled) {
  const last = head.parent && messages[lastOfUser(messages)];
  const id = () => shortName(name).slice(0, MIN_ID_CHARS);
  const text = last ? `branch ${id()}: ${typedText(last)}` : first;
  return { started: head.started, title: head.title ?? text.slice(0, MAX_TITLE_CHARS) };
}

/** The model of an earlier session, and the current one, if it has a name. `isRestored`: the agent switches back. */
type ModelsOfResumed = {
  before: ModelUsed;
  now: Pick<ModelUsed, "server"> & { model?: string };
  isRestored: boolean;
};

export interface ResumedSession {
  started: string;
  title: string;
  messages: number;
  lostLines: number;
  /** The id of the session that gets new messages, if this one is open elsewhere, or the user continues one of `-p`. */
  separateId?: string;
  isOfPrint?: boolean;
  lastTyped?: string;
  lastAnswer?: string;
  model?: ModelsOfResumed;
  /** The tokens that the server has to process if they are not cached, and the time, if the speed is known. */
  reading?: { tokens: number; seconds?: number };
}

const MIN_READING = 2000;

const lastOfUser = (messages: StoredSession["messages"]): number => messages.findLastIndex(isTyped);

/** Resumes a session, with its model if that is available and the user named no other. */
export function resumeSession(
  { agent, fit, record, executions, cache, isModelKnown = true, surface }: {
    agent: CopilotAgent;
    surface?: { kind: string };
    isModelKnown?: boolean;
    executions: Map<string, ExecutionFacts>;
    fit: { isChosen: boolean };
    record?: Recorder;
    cache?: Pick<CacheWatch, "readSpeed">;
  },
  session: StoredSession,
): ResumedSession {
  const { lost, messages } = session;
  agent.state.messages = [...messages];
  agent.state.seenFiles.clear();
  for (const [call, facts] of session.executions) executions.set(call, facts);
  // An editor's settings give the same flags to all sessions: they are not a choice for this one.
  const isChosen = fit.isChosen && surface?.kind !== "editor";
  const model = restoreModel(agent, { isChosen, isModelKnown }, session.used);
  record?.continueFrom(session, sessionTitle(session).title);
  const isSeparate = record !== undefined && record.file?.path !== session.path;
  const tokens = session.used?.tokens ?? requestTokens(agent);
  const isReading = tokens >= MIN_READING && targetOf(agent.config).kind !== "hosted";
  const isOther = model !== undefined && !model.isRestored;
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
    ...isSeparate && {
      separateId: shortName(record.name),
      isOfPrint: isOfPrint(session.name) && !isOfPrint(record.name),
    },
    ...(at !== -1 && { lastTyped: typedText(messages[at]!) }),
    ...(answer && { lastAnswer: typedText(answer) }),
    ...(model && { model }),
    ...(isReading && { reading: { tokens, ...(speed && { seconds: tokens / speed }) } }),
  };
}

/** Switches to the model of an earlier session, if it had the same server and the user named no model. */
function restoreModel(
  agent: CopilotAgent,
  { isChosen, isModelKnown }: { isChosen: boolean; isModelKnown: boolean },
  before?: ModelUsed,
): ModelsOfResumed | undefined {
  const { model, server } = modelUsedBy(agent);
  const machine = (one: string) => one.replace(/:\d+$/, "");
  if (!before || before.model === model && machine(before.server) === machine(server)) {
    return undefined;
  }
  const isRestored = before.server === server && !isChosen;
  if (isRestored) agent.setModel(before.model);
  const now = { server, ...(isChosen || isModelKnown) && { model } };
  return { before, now, isRestored };
}

export function sessionsFolder(): string | undefined {
  const folder = stateFolder();
  return folder && join(folder, "sessions");
}

/** The folder of all records. Without a home folder, it is a folder without records. */
const recordsRoot = (): string => sessionsFolder() ?? "/dev/null";
