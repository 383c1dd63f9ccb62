/** Makes room in the model's window when the conversation has filled it. @module */

import { BackendError } from "../errors.ts";
import { targetOf } from "../models/target.ts";
import { namesAndSchemas } from "../models/reply.ts";
import { count } from "../text/count.ts";
import { identify, textOfParts } from "../text/parts.ts";
import { truncateMiddle } from "../text/truncate.ts";
import type { Compaction, TurnEvent, Usage } from "../types/event.ts";
import { extractToolCallsFromText } from "../models/toolcalls/extract.ts";
import type { Message, Part } from "../types/message.ts";
import { type CopilotAgent, memoryOf } from "./agent.ts";
import { askModel } from "./ask_model.ts";
import type { ModelAnswer } from "./model_answer.ts";
import { cutUnreadResults, newestOfUser, sizeOf, startOfNewest, stubOldResults } from "./shrink.ts";
import type { MessageSize } from "./shrink.ts";
import { carriedParts } from "./carried.ts";
import {
  isNonsense,
  isSummary,
  outline,
  summaryMessages,
  summaryQuestion,
  summaryRequest,
} from "./summary.ts";
import {
  addTokens,
  contextWindow,
  learnFromCount,
  messageTokens,
  promptLimit,
  requestTokens,
} from "./tokens.ts";

/** Options of {@linkcode compact}. */
export interface CompactOptions {
  /** The subject that the summary should focus on. */
  focus?: string | undefined;
  /** Called with each event. */
  onEvent?: ((event: TurnEvent) => void) | undefined;
  /** Called for each piece of the summary and its reasoning, about a token, as the model writes it. */
  onPiece?: (() => void) | undefined;
  /** Ends it and leaves the conversation unchanged. */
  signal?: AbortSignal | undefined;
  /** Calls `ask` with the agent whose model writes the summary. Default: the same agent. */
  summarizer?:
    | ((ask: (by?: CopilotAgent) => Promise<string>, signal: AbortSignal) => Promise<string>)
    | undefined;
}

/**
 * Shortens the conversation: the newest turn stays, or as much of its end as takes half of the current size. The
 * model summarizes the rest. `processTurn` does so when the window is full.
 *
 * @returns A record of the changes; `null` if there is nothing to summarize or the summary is hardly shorter. The
 * conversation is then unchanged.
 * @throws {TypeError} if the agent is busy.
 * @throws {BackendError} if the server fails or gives no summary. The conversation is unchanged.
 * @throws the reason of `options.signal`. The conversation is unchanged.
 */
export function compact(
  agent: CopilotAgent,
  options: CompactOptions = {},
): Promise<Compaction | null> {
  const { signal = new AbortController().signal, onEvent: emit = () => {}, ...others } = options;
  const count = (usage: Usage) => addTokens(usage, agent.state);
  const all = { ...others, byHand: true, signal, emit, count };
  return memoryOf(agent).exclusively("compact the conversation", () => makeRoom(agent, all));
}

interface RoomOptions extends Pick<CompactOptions, "focus" | "onPiece" | "summarizer"> {
  signal: AbortSignal;
  emit: (event: TurnEvent) => void;
  count: (usage: Usage) => void;
  byHand?: boolean;
  by?: CopilotAgent | undefined;
}

interface Sizes {
  limit: number;
  most: number;
  /** The size to which messages are reduced, below the limit, so that the next rounds fit too. */
  wanted: number;
  size: MessageSize;
}

/**
 * Shortens the conversation in one big step, because the server then reads all of it again. First, unread results
 * are cut to the available room. Then old results become one line each, down to half of the room. If that is not
 * enough, the model summarizes the oldest messages. Results stay with their calls, and the newest ones and the
 * user's newest message stay. Returns `null`, and changes nothing, if there is no room to make. If the server fails
 * or `signal` ends it, throws and changes nothing.
 */
export async function makeRoom(
  agent: CopilotAgent,
  options: RoomOptions,
): Promise<Compaction | null> {
  const { emit, byHand, focus = "", signal } = options;
  await agent.beforeCompact?.(byHand ? "manual" : "auto", focus, signal);
  const { messages } = agent.state;
  const newest = new Set(messages.slice(messages.findLastIndex((m) => m.role === "user")));
  const size = (message: Message) => messageTokens(agent, message, newest.has(message));
  const tokensBefore = requestTokens(agent);
  const fixed = tokensBefore - sizeOf(messages, size);
  const limit = Math.min(promptLimit(agent) ?? Infinity, byHand ? tokensBefore : Infinity);
  const sizes = { limit, most: limit - fixed, wanted: limit / 2 - fixed, size };
  const [cut, cutResults] = cutUnreadResults(messages, sizes.most, size);
  let [shorter, droppedResults] = stubOldResults(cut, sizes.wanted, size);
  let summarized = 0;
  const summary = await summaryOf(agent, cut, shorter, sizes, options);
  if (summary === "no_shorter") {
    emit({ type: "notice", level: "info", code: "no_shorter", message: NO_SHORTER });
    return null;
  }
  if (summary) {
    [shorter, droppedResults] = stubOldResults(summary.messages, sizes.wanted, size);
    ({ summarized } = summary);
  }
  if (cutResults + droppedResults + summarized === 0) return null;
  // The request for the summary may have shown that tokens were underestimated.
  const isDenser = requestTokens(agent) > tokensBefore;
  messages.length = 0;
  for (const message of shorter) messages.push(message);
  identify(messages);
  const tokensAfter = requestTokens(agent);
  const done = { tokensBefore, tokensAfter, cutResults, droppedResults, summarized };
  emit({ type: "compaction", ...done });
  emit({ type: "notice", level: "info", code: "compaction", message: inWords(done) });
  if (!byHand && isDenser && tokensAfter > limit * STILL_FULL) await makeRoom(agent, options);
  return done;
}

/** Above this share of the limit, room is made again if the first estimate was too low. */
const STILL_FULL = 0.85;
/** A summary must save this share of the messages' room if they fit without one. */
const MIN_GAIN = 1 / 5;

/**
 * Returns `messages` with a summary in place of the oldest ones; undefined if a summary is not worth its request,
 * because `shorter`, the same messages without old results, is enough. "no_shorter": a requested summary is not
 * clearly shorter.
 */
async function summaryOf(
  agent: CopilotAgent,
  messages: readonly Message[],
  shorter: readonly Message[],
  sizes: Sizes,
  options: RoomOptions,
): Promise<{ messages: readonly Message[]; summarized: number } | "no_shorter" | undefined> {
  const { limit, most, wanted, size } = sizes;
  const { byHand } = options;
  const total = sizeOf(shorter, size);
  // A conversation just under the limit would soon fill it again.
  if (!byHand && total <= (wanted + most) / 2) return undefined;
  const [old, kept] = splitForSummary(messages, wanted * 0.75, size, byHand);
  const summarized = messages.length - kept.length;
  // A summary does not help if the remaining messages are too long, nor does a summary of a summary.
  if (!byHand && sizeOf(kept, size) >= most) return undefined;
  if (summarized <= (isSummary(old[0]) ? 2 : 0)) return undefined;
  const room = Math.max(wanted / 4, MIN_SUMMARY);
  const parts = carriedParts(old, kept, agent.tools, limit, size);
  const stays = kept.map((message) => shorter[messages.indexOf(message)]!);
  const after = sizeOf(stays, size) + room + tokensOf(textOfParts(parts), size);
  const isNeeded = byHand || total > most;
  if (!isNeeded && total - after < most * MIN_GAIN) return undefined;
  try {
    const summary = await writtenSummary(agent, old, parts, { limit, room, size }, options);
    if (summary) return { messages: [...summary, ...kept], summarized };
    if (byHand) return "no_shorter";
  } catch (error) {
    if (isNeeded || options.signal.aborted) throw error;
  }
  return undefined;
}

/**
 * Returns a summary of `old` in about `room` tokens, with `parts` verbatim behind it; undefined if both together are
 * hardly shorter than `old`.
 */
async function writtenSummary(
  agent: CopilotAgent,
  old: readonly Message[],
  parts: readonly Part[],
  { limit, room, size }: { limit: number; room: number; size: MessageSize },
  options: RoomOptions,
): Promise<Message[] | undefined> {
  const under = sizeOf(old, size) * (options.byHand ? MAX_SUMMARY_PART : 1);
  const isLong = (text: string) => tokensOf(text, size) > Math.min(MAX_OVERLENGTH * room, under);
  const limits = { limit, room: Math.min(room, under / 2), isLong };
  const message = `The context is full: the model sums up ${old.length} messages to go on from.`;
  if (!options.byHand) {
    options.emit({ type: "notice", level: "info", code: "summarizing", message });
  }
  // Another server has nothing of the conversation in its cache.
  const ask = (by?: CopilotAgent) =>
    askForSummary(agent, old, limits, { ...options, by }, by === undefined);
  const text = await (options.summarizer?.(ask, options.signal) ?? ask());
  const summary = summaryMessages(upTo(text, room, size), parts);
  return sizeOf(summary, size) < under ? summary : undefined;
}

const MIN_SUMMARY = 300;
/** A requested summary must be shorter than this share of what it replaces. */
const MAX_SUMMARY_PART = 0.8;
const NO_SHORTER = "The conversation stays as it was: the summary was not clearly shorter";
/** A summary is stopped at this multiple of its room. */
const MAX_OVERLENGTH = 1.5;
/** An average over languages. */
const WORDS_PER_TOKEN = 0.7;
/** The share of the room for the text to summarize: for a new model the estimate is rough. */
const SHOWN_PART = 0.7;

function splitForSummary(
  messages: readonly Message[],
  room: number,
  size: MessageSize,
  byHand = false,
): [old: readonly Message[], kept: readonly Message[]] {
  const newest = newestOfUser(messages);
  const budget = byHand ? Math.min(room, sizeOf(messages.slice(newest), size)) : room;
  const start = startOfNewest(messages, budget, size);
  const kept = messages.slice(start);
  const request = start > newest && messages[newest];
  return [messages.slice(0, start), request ? [request, ...kept] : kept];
}

/** Returns the request that quotes `old`, in at most `SHOWN_PART` of `limit` tokens. */
function quotedRequest(
  agent: CopilotAgent,
  old: readonly Message[],
  limit: number,
  focus: string | undefined,
  words: number,
): Message[] {
  const whole = summaryRequest(old, Infinity, focus, words);
  const tokens = messageTokens(agent, whole[1]!);
  const shown = limit * SHOWN_PART;
  const maxChars = Math.floor(whole[1]!.content.length * shown / tokens);
  return tokens <= shown ? whole : summaryRequest(old, maxChars, focus, words);
}

/** The share of the window that stays free, because an estimate may be too low. */
const SPARE_PART = 0.05;

/**
 * Returns the conversation with `question` appended, whose prefix is in the server's cache; undefined if there is
 * no room for a summary of `room` tokens, or if `old` ends after its last answer.
 */
function askedWithin(
  agent: CopilotAgent,
  old: readonly Message[],
  question: Message,
  room: number,
  byHand = false,
): Message[] | undefined {
  const { state: { messages }, config, systemPrompt } = agent;
  const isAnswer = ({ role, toolCalls }: Message) => role === "assistant" && !toolCalls?.length;
  const end = messages.findLastIndex(isAnswer) + 1;
  // A window that was learned from a refusal has no room left.
  const isSet = byHand || targetOf(config).contextLength !== undefined;
  const window = isSet ? contextWindow(agent) ?? Infinity : 0;
  const size = (message: Message) => messageTokens(agent, message);
  const tokens = requestTokens(agent) - sizeOf(messages.slice(end), size) + size(question);
  if (end < old.length || tokens + MAX_OVERLENGTH * room > window * (1 - SPARE_PART)) return;
  return [{ role: "system", content: systemPrompt }, ...messages.slice(0, end), question];
}

/**
 * Returns the model's summary of `old`, or an outline if the model cannot write one. The request has at most
 * `limit` tokens and the summary about `room`. The model is stopped once `isLong` is true for the text.
 */
async function askForSummary(
  agent: CopilotAgent,
  old: readonly Message[],
  limits: { limit: number; room: number; isLong(text: string): boolean },
  options: RoomOptions,
  mayAskWithin: boolean,
): Promise<string> {
  const { signal, emit, count, focus, byHand, by: writer = agent, onPiece = () => {} } = options;
  const { room, isLong } = limits;
  const limit = options.by && promptLimit(options.by) || limits.limit;
  const words = room * WORDS_PER_TOKEN;
  const question = summaryQuestion(focus, words);
  const within = mayAskWithin ? askedWithin(agent, old, question, room, byHand) : undefined;
  const messages = within ?? quotedRequest(writer, old, limit, focus, words);
  const askQuoted = () => askForSummary(agent, old, limits, options, false);
  const enough = new AbortController();
  let text = "";
  try {
    const answer = await askModel(writer, {
      signal: AbortSignal.any([signal, enough.signal]),
      messages,
      ...!within && { tools: [] },
      emit(event) {
        if (event.type === "retry") emit(event);
        if (event.type === "text_retracted") text = "";
        if (event.type === "text_delta") text += event.text;
        if (event.type === "text_delta" || event.type === "reasoning_delta") onPiece();
        // Longer text would be cut again.
        if (isLong(text)) enough.abort();
      },
    });
    if (answer.usage) {
      count(answer.usage);
      if (writer !== agent) addTokens(answer.usage, writer.state);
      if (!within) learnFromCount(writer, messages, answer.usage.inputTokens);
    }
    signal.throwIfAborted();
    if (enough.signal.aborted) return text;
    // A model that repeats itself, continues its work or repeats the request has summarized nothing.
    const { content } = answer.message;
    const why = uselessness(answer, old, agent);
    if (why === undefined) return content;
    if (within && callsTool(answer, agent)) return await askQuoted();
    throw new BackendError(`The model gave no summary: ${why}`, { kind: "protocol" });
  } catch (error) {
    // A piece of a summary is not an answer.
    if (error instanceof BackendError) error.partialText = "";
    const isTooLong = error instanceof BackendError && error.kind === "context_too_long";
    if (within && isTooLong && !signal.aborted) return await askQuoted();
    const { prompt } = error instanceof BackendError && error.contextTokens || {};
    // The estimate was too low: the next request shows less of the conversation.
    if (learnFromCount(writer, messages, prompt)) {
      return await askForSummary(agent, old, limits, options, mayAskWithin);
    }
    const cannot = isTooLong || error instanceof BackendError && error.kind === "protocol";
    if (byHand || signal.aborted || !cannot) throw error;
    return outline(old);
  }
}

/** Returns why an answer is not a summary, in a few words; undefined if it is one. */
function uselessness(
  answer: ModelAnswer,
  old: readonly Message[],
  agent: CopilotAgent,
): string | undefined {
  const { message: { content, standsFor }, stopReason } = answer;
  if (stopReason === "loop") return "it repeated itself";
  if (isNonsense(content, old)) return "it repeated what it was to sum up";
  if (callsTool(answer, agent)) return "it called a tool instead";
  return standsFor === "empty_answer" ? "its answer was empty" : undefined;
}

function callsTool({ message: { content, toolCalls } }: ModelAnswer, agent: CopilotAgent): boolean {
  if (toolCalls?.length) return true;
  return extractToolCallsFromText(content, namesAndSchemas(agent.offered))[1] !== null;
}

function upTo(text: string, tokens: number, size: MessageSize): string {
  return truncateMiddle(text, Math.floor(text.length * tokens / tokensOf(text, size)));
}

const tokensOf = (text: string, size: MessageSize) => size({ role: "user", content: text });

function inWords(done: Compaction): string {
  const changes = ([
    [done.cutResults, "unread result", "cut to fit"],
    [done.droppedResults, "old result", "left out"],
    [done.summarized, "message", "summarized"],
  ] as const).flatMap(([n, what, how]) => n === 0 ? [] : `${count(n, what)} ${how}`).join(", ");
  const tokens = `about ${done.tokensBefore} tokens became ${done.tokensAfter}`;
  return `Made room in the context: ${changes}; ${tokens}.`;
}
