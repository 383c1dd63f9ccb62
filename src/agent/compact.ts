/** Makes room in the model's window when the conversation has filled it. @module */

import { BackendError } from "../errors.ts";
import { identify, type SkillPart } from "../text/parts.ts";
import { truncateMiddle } from "../text/truncate.ts";
import type { Compaction, TurnEvent, Usage } from "../types/event.ts";
import type { Message } from "../types/message.ts";
import type { CopilotAgent } from "./agent.ts";
import { askModel } from "./ask_model.ts";
import { exclusively } from "./exclusively.ts";
import { cutNewResults, newestOfPerson, sizeOf, startOfNewest, stubOldResults } from "./shrink.ts";
import type { MessageSize } from "./shrink.ts";
import { isSummary, keptSkills, outline, summaryMessages, summaryRequest } from "./summary.ts";
import { learnFromRefusal, messageTokens, promptLimit, requestTokens } from "./tokens.ts";

/** Options of {@linkcode compact}. */
export interface CompactOptions {
  /** The subject that the summary is to keep above all. */
  focus?: string | undefined;
  /** Called with each event of the work. */
  onEvent?: ((event: TurnEvent) => void) | undefined;
  /** Called for each piece of the summary as the model writes it, about a token. */
  onPiece?: (() => void) | undefined;
  /** Ends it; the conversation is then as it was. */
  signal?: AbortSignal | undefined;
}

/**
 * Makes the conversation shorter: the newest turn is kept, or as much of its end as takes half of what
 * there is now; the rest becomes a summary that the model writes. `processTurn` does so by itself when
 * the model's window is full.
 *
 * @returns A record of the changes; `null` where there is nothing to summarise, or the summary is
 * hardly shorter: the conversation is as it was then.
 * @throws {TypeError} when the agent is busy.
 * @throws {BackendError} when the server fails or gives no summary; the conversation is as it was.
 * @throws whatever `options.signal` was aborted with; the conversation is as it was.
 */
export function compact(
  agent: CopilotAgent,
  options: CompactOptions = {},
): Promise<Compaction | null> {
  const { signal = new AbortController().signal, onEvent: emit = () => {}, ...others } = options;
  const count = ({ inputTokens, outputTokens }: Usage) => {
    agent.state.inputTokens += inputTokens;
    agent.state.outputTokens += outputTokens;
  };
  const all = { ...others, byHand: true, signal, emit, count };
  return exclusively(agent, "compact the conversation", () => makeRoom(agent, all));
}

interface RoomOptions extends Pick<CompactOptions, "focus" | "onPiece"> {
  signal: AbortSignal;
  emit: (event: TurnEvent) => void;
  count: (usage: Usage) => void;
  /** The server's refusal of the request, where that is the reason. */
  refusal?: BackendError | undefined;
  /** Summarises even where there is room. */
  byHand?: boolean;
}

/**
 * Makes the conversation shorter, in one big step, as the server reads all of it anew after each. First,
 * results that were not sent yet are cut to what there is room for; then old results become one line
 * each, down to half of the room; where that is not enough, the model summarises the oldest messages.
 * Results stay with their calls; the newest ones and the person's newest message stay. `null`: nothing
 * was changed, as also when the server's failure or `signal` makes it throw.
 */
export async function makeRoom(
  agent: CopilotAgent,
  options: RoomOptions,
): Promise<Compaction | null> {
  const { emit, byHand, refusal } = options;
  if (refusal) learnFromRefusal(agent, refusal.contextTokens);
  const { messages } = agent.state;
  const newest = new Set(messages.slice(messages.findLastIndex((m) => m.role === "user")));
  const size = (message: Message) => messageTokens(agent, message, newest.has(message));
  const tokensBefore = requestTokens(agent);
  const fixed = tokensBefore - sizeOf(messages, size);
  const limit = Math.min(promptLimit(agent) ?? Infinity, byHand ? tokensBefore : Infinity);
  const most = limit - fixed;
  const wanted = limit / 2 - fixed;
  const [cut, cutResults] = cutNewResults(messages, most, size);
  let [shorter, droppedResults] = stubOldResults(cut, wanted, size);
  let summarized = 0;
  // A conversation just under the limit would fill it again soon.
  if (byHand || sizeOf(shorter, size) > (wanted + most) / 2) {
    const [old, kept] = splitForSummary(cut, wanted * 0.75, size, byHand);
    const dropped = cut.length - kept.length;
    // No summary helps where the messages that stay are too long, nor does a summary of a summary.
    const room = Math.max(wanted / 4, MIN_SUMMARY);
    const replaced = sizeOf(old, size);
    const helps = byHand || sizeOf(kept, size) < most;
    if (helps && dropped > (isSummary(old[0]) ? 2 : 0)) {
      try {
        const under = replaced * (byHand ? MAX_SUMMARY_PART : 1);
        const isLong = (text: string) =>
          tokensOf(text, size) > Math.min(MAX_OVERLENGTH * room, under);
        const limits = { limit, room: Math.min(room, under / 2), isLong };
        const text = await askForSummary(agent, old, limits, options);
        const skills = skillsWithin(old, kept, (promptLimit(agent) ?? Infinity) / 4, size);
        const summary = summaryMessages(upTo(text, room, size), old, agent.tools, skills);
        if (sizeOf(summary, size) < under) {
          [shorter, droppedResults] = stubOldResults([...summary, ...kept], wanted, size);
          summarized = dropped;
        } else if (byHand) {
          emit({ type: "notice", level: "info", code: "no_shorter", message: NO_SHORTER });
          return null;
        }
      } catch (error) {
        if (byHand || options.signal.aborted || sizeOf(shorter, size) > most) throw error;
      }
    }
  }
  if (cutResults + droppedResults + summarized === 0) return null;
  messages.length = 0;
  for (const message of shorter) messages.push(message);
  identify(messages);
  const tokensAfter = requestTokens(agent);
  const done = { tokensBefore, tokensAfter, cutResults, droppedResults, summarized };
  emit({ type: "compaction", ...done });
  emit({ type: "notice", level: "info", code: "compaction", message: inWords(done) });
  return done;
}

/** The newest skills of `old` that are not in `kept`, as far as they take at most `most` tokens. */
function skillsWithin(
  old: readonly Message[],
  kept: readonly Message[],
  most: number,
  size: MessageSize,
): SkillPart[] {
  const still = new Set(keptSkills(kept).map(({ name }) => name));
  let room = most;
  return keptSkills(old).filter(({ name, text }) =>
    !still.has(name) && (room -= tokensOf(text, size)) >= 0
  );
}

/** The tokens that a summary may have in the smallest window. */
const MIN_SUMMARY = 300;
/** A summary that a person asked for must be shorter than this part of what it replaces. */
const MAX_SUMMARY_PART = 0.8;
const NO_SHORTER = "The conversation stays as it was: the summary was not clearly shorter";
/** A summary is stopped at this multiple of the tokens it has room for. */
const MAX_OVERLENGTH = 1.5;
/** An average over languages. */
const WORDS_PER_TOKEN = 0.7;
/** The part of the room that the text to summarise may take: of a new model the estimate is rough. */
const SHOWN_PART = 0.7;

function splitForSummary(
  messages: readonly Message[],
  room: number,
  size: MessageSize,
  byHand = false,
): [old: readonly Message[], kept: readonly Message[]] {
  const newest = newestOfPerson(messages);
  const budget = byHand ? Math.min(room, sizeOf(messages.slice(newest), size)) : room;
  const start = startOfNewest(messages, budget, size);
  const kept = messages.slice(start);
  const person = start > newest && messages[newest];
  return [messages.slice(0, start), person ? [person, ...kept] : kept];
}

/**
 * The model's summary of `old`, or an outline where it can write none. The request has at most `limit`
 * tokens, the summary should have `room`, and the model is stopped once `isLong` is true of the text.
 */
async function askForSummary(
  agent: CopilotAgent,
  old: readonly Message[],
  { limit, room, isLong }: { limit: number; room: number; isLong(text: string): boolean },
  { signal, emit, count, focus, byHand, onPiece = () => {} }: RoomOptions,
): Promise<string> {
  const message = `The context is full: the model sums up ${old.length} messages to go on from.`;
  if (!byHand) emit({ type: "notice", level: "info", code: "summarizing", message });
  const words = room * WORDS_PER_TOKEN;
  const whole = summaryRequest(old, Infinity, focus, words);
  const request = whole[1]!;
  const tokens = messageTokens(agent, request);
  const shown = limit * SHOWN_PART;
  const maxChars = Math.floor(request.content.length * shown / tokens);
  const messages = tokens <= shown ? whole : summaryRequest(old, maxChars, focus, words);
  const enough = new AbortController();
  let text = "";
  try {
    const answer = await askModel(agent, {
      signal: AbortSignal.any([signal, enough.signal]),
      messages,
      tools: [],
      emit(event) {
        if (event.type === "retry") emit(event);
        if (event.type === "text_retracted") text = "";
        if (event.type === "text_delta") text += event.text;
        if (event.type === "text_delta" || event.type === "reasoning_delta") onPiece();
        // Longer text would be cut again.
        if (isLong(text)) enough.abort();
      },
    });
    if (answer.usage) count(answer.usage);
    signal.throwIfAborted();
    if (enough.signal.aborted) return text;
    if (answer.message.standsFor !== "empty_answer") return answer.message.content;
    throw new BackendError("The model gave no summary", { kind: "protocol" });
  } catch (error) {
    // A piece of a summary is no answer.
    if (error instanceof BackendError) error.partialText = "";
    const cannot = error instanceof BackendError &&
      (error.kind === "context_too_long" || error.kind === "protocol");
    if (byHand || signal.aborted || !cannot) throw error;
    return outline(old);
  }
}

/** `text`, its middle left out where it has more than about `tokens`. */
function upTo(text: string, tokens: number, size: MessageSize): string {
  return truncateMiddle(text, Math.floor(text.length * tokens / tokensOf(text, size)));
}

const tokensOf = (text: string, size: MessageSize) => size({ role: "user", content: text });

function inWords(done: Compaction): string {
  const changes = [
    [done.cutResults, "new results were cut to fit"],
    [done.droppedResults, "old results were left out"],
    [done.summarized, "messages were summarised"],
  ].filter(([count]) => count !== 0).map(([count, what]) => `${count} ${what}`).join(", ");
  const tokens = `about ${done.tokensBefore} tokens became ${done.tokensAfter}`;
  return `Made room in the context: ${changes}; ${tokens}.`;
}
