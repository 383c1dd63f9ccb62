/** The tokens of a request, estimated and corrected by the server's earlier counts. @module */

import type { ContextTokens } from "../errors.ts";
import type { Usage } from "../types/event.ts";
import type { Message } from "../types/message.ts";
import type { Tool } from "../types/tool.ts";
import { targetOf } from "../models/target.ts";
import { CHARS_PER_TOKEN } from "../text/count.ts";
import { imagesOf } from "../text/parts.ts";
import { type CopilotAgent, memoryOf } from "./agent.ts";
import type { LearnedModel } from "./memory.ts";
import { exactTokens } from "./exact_count.ts";

/** Adds the tokens of a request to each of `sums`. */
export function addTokens(
  { inputTokens, outputTokens }: TokenSum,
  ...sums: readonly TokenSum[]
): void {
  for (const sum of sums) {
    sum.inputTokens += inputTokens;
    sum.outputTokens += outputTokens;
  }
}

export type TokenSum = Pick<Usage, "inputTokens" | "outputTokens">;

function modelOf(agent: CopilotAgent): LearnedModel {
  const { url, name, contextLength, isNative } = targetOf(agent.config);
  const key = [url, name, contextLength, isNative].join(" ");
  const { models } = memoryOf(agent);
  const model = models.get(key) ?? { ratio: 1, thinks: true };
  models.set(key, model);
  return model;
}

/** Copies to the agent `to` what `from` learned about its model: its count, and its window. */
export function inheritCounts(from: CopilotAgent, to: CopilotAgent): void {
  // The largest request belongs to its own conversation.
  for (const [key, { largest: _, ...model }] of memoryOf(from).models) {
    memoryOf(to).models.set(key, model);
  }
}

/** A part of the next request, and its estimated tokens. */
interface ContextPart {
  name: "tools" | Message["role"];
  tokens: number;
}

/** Returns the parts of the next request, which add up to `usage`, and the model's window if it is known. */
export function contextParts(
  agent: CopilotAgent,
  usage?: Usage,
): { parts: ContextPart[]; window?: number } {
  const { ratio, thinks } = modelOf(agent);
  const window = contextWindow(agent);
  const { reasoning, ...rough } = roughParts(agent);
  if (thinks) rough.assistant += reasoning;
  const { used } = usedTokens(agent, usage);
  const scale = used > 0 ? used / sum(Object.values(rough)) : ratio;
  const parts = Object.entries(rough).map(([name, tokens]) =>
    ({ name, tokens: Math.round(tokens * scale) }) as ContextPart
  );
  return { parts, ...(window !== undefined && { window }) };
}

/** Returns the model's room for prompt and answer together, in tokens; `undefined` if unknown. */
export function contextWindow(agent: CopilotAgent): number | undefined {
  const { contextLength = Infinity } = targetOf(agent.config);
  const window = Math.min(contextLength, modelOf(agent).window ?? Infinity);
  return window === Infinity ? undefined : window;
}

/** Returns the maximum tokens of a request, so that an answer fits as well; `undefined` if unknown. */
export function promptLimit(agent: CopilotAgent): number | undefined {
  const { maxTokens } = targetOf(agent.config);
  const window = contextWindow(agent);
  // The limit of an answer is often as high as the window: a quarter must be enough.
  return window && window - Math.min(maxTokens ?? Infinity, Math.floor(window / 4));
}

/** The minimum room of an answer, in tokens, if the estimate is lower. */
const MIN_ROOM = 256;
const MAX_ANSWER = 32_768;
/** In a smaller window, an answer without a limit takes at most half of it. */
const SMALL_WINDOW = 16_384;
/** The share of the prompt that stays free, because the estimate may be too low. */
const RESERVE = 0.02;
/** The share of the answer's room for thinking, without a setting. */
const THINKING_SHARE = 1 / 4;
/** A smaller budget would end the thinking of each answer in a small window. */
const MIN_THINKING = 512;

/** Returns the maximum tokens of the answer to `messages` or the conversation; undefined for an unknown window. */
export function answerRoom(agent: CopilotAgent, messages?: readonly Message[]): number | undefined {
  const window = contextWindow(agent);
  if (!window) return undefined;
  const prompt = messages
    ? sum(messages.map((message) => messageTokens(agent, message, true)))
    : requestTokens(agent);
  const usual = window < SMALL_WINDOW ? Math.floor(window / 2) : MAX_ANSWER;
  const { maxTokens = usual } = targetOf(agent.config);
  if (window - prompt >= maxTokens) return maxTokens;
  return stepBelow(Math.max(MIN_ROOM, window - Math.ceil(prompt * (1 + RESERVE))));
}

/** Returns the largest 2^n or 1.5 × 2^n up to `count`: a limit that rarely changes keeps requests equal. */
function stepBelow(count: number): number {
  const power = 2 ** Math.floor(Math.log2(count));
  return power * 1.5 <= count ? power * 1.5 : power;
}

/** Returns the maximum tokens of thinking in an answer that has `room`; `undefined` for the hosted API. */
export function thinkBudget(agent: CopilotAgent, room = MAX_ANSWER): number | undefined {
  const { thinkBudget, kind } = targetOf(agent.config);
  // The hosted API has its own budgets.
  if (thinkBudget !== undefined || kind === "hosted") return thinkBudget;
  return Math.max(MIN_THINKING, Math.floor(room * THINKING_SHARE));
}

/** Returns the tokens of the conversation, as the server counted them or estimated. */
export function usedTokens(agent: CopilotAgent, usage: Usage | undefined) {
  const isCounted = usage !== undefined && usage.inputTokens > 0;
  const estimate = () => agent.state.messages.length > 0 ? requestTokens(agent) : 0;
  return { used: isCounted ? usage.inputTokens + usage.outputTokens : estimate(), isCounted };
}

export function requestTokens(agent: CopilotAgent): number {
  const { ratio, thinks } = modelOf(agent);
  const { reasoning, ...parts } = roughParts(agent);
  return Math.round((sum(Object.values(parts)) + (thinks ? reasoning : 0)) * ratio);
}

/** An estimate that differs from the limit by more than this share needs no count. */
const NEAR_LIMIT = 0.15;

/** True if the next request is over its limit. Near the limit, a server that can count is asked. */
export async function isOverLimit(agent: CopilotAgent, signal: AbortSignal): Promise<boolean> {
  const limit = promptLimit(agent);
  if (limit === undefined) return false;
  const estimated = requestTokens(agent);
  if (Math.abs(estimated - limit) < limit * NEAR_LIMIT) {
    const ratio = (await exactTokens(agent, signal) ?? estimated) / estimated;
    if (ratio >= 1 / MAX_RATIO && ratio <= MAX_RATIO) {
      modelOf(agent).ratio *= ratio;
      return requestTokens(agent) > limit;
    }
  }
  return estimated > limit;
}

/** Returns the estimated tokens of a message for the current server. `thinks` adds its reasoning. */
export function messageTokens(agent: CopilotAgent, message: Message, thinks = false): number {
  const model = modelOf(agent);
  const rough = roughMessage(message) +
    (thinks && model.thinks ? roughReasoning(message) : 0);
  return Math.ceil(rough * model.ratio);
}

/** Below this number of tokens, a low count does not mean that the prompt was cut. */
const MIN_WINDOW = 512;
/** If a request grew by this many tokens and the server's count did not, the server cut the prompt. */
const SHOWN_GROWTH = 1000;
/** A count below 0.4 of our estimate means that the server cut the prompt. */
const MIN_RATIO = 0.4;
/** A count of more than 4 times our estimate counts something else. */
const MAX_RATIO = 4;

/**
 * Learns from the server's count of the request that was just answered. It must be called before the answer joins
 * the conversation. True if the count is too low, or equals the window: the server then read only a part. That
 * count is then used as the window.
 */
export function learnFromUsage(agent: CopilotAgent, { inputTokens: counted }: Usage): boolean {
  const model = modelOf(agent);
  const { reasoning, ...parts } = roughParts(agent);
  const rough = sum(Object.values(parts));
  // The server counts reasoning if its count is nearer to the estimate with it.
  if (reasoning > MIN_WINDOW) model.thinks = counted > (rough + reasoning / 2) * model.ratio;
  const ratio = counted / (rough + (model.thinks ? reasoning : 0));
  const now = { rough, counted: rough * ratio };
  const { largest } = model;
  const least = MIN_RATIO * Math.min(1, model.ratio);
  const isLonger = largest !== undefined && rough >= largest.rough;
  // Some servers count only uncached tokens.
  if (isLonger && now.counted < largest.counted / 2) return false;
  const more = isLonger ? rough - largest.rough : 0;
  const grew = !isLonger || now.counted - largest.counted >= least * more;
  const isCut = isLonger ? !grew && more > SHOWN_GROWTH : now.counted < least * rough;
  const window = contextWindow(agent) ?? Infinity;
  // A prompt that filled the window would have left no room for an answer: it was cut to fit.
  if (counted >= MIN_WINDOW && (isCut && counted < window || counted === window)) {
    const isNews = model.window === undefined;
    model.window = Math.round(Math.max(counted, largest?.counted ?? 0));
    model.ratio = Math.max(model.ratio, ratio);
    return isNews;
  }
  // A count that is far off comes from a server that does not count, or counts something else.
  if (grew && ratio >= 1 / MAX_RATIO && ratio <= MAX_RATIO) {
    Object.assign(model, { ratio, largest: now });
  }
  return false;
}

/**
 * Learns from a server that refused the request as too long and may have named the sizes. Returns true if only
 * the limit of the answer was too high for the window: the request can be sent again.
 */
export function learnFromRefusal(agent: CopilotAgent, sizes: ContextTokens = {}): boolean {
  const { window, prompt } = sizes;
  const model = modelOf(agent);
  const known = contextWindow(agent) ?? Infinity;
  const ratio = model.ratio * (prompt ?? 0) / requestTokens(agent);
  if (ratio >= 1 / MAX_RATIO && ratio <= MAX_RATIO) model.ratio = ratio;
  const estimated = requestTokens(agent);
  model.window = Math.min(window ?? estimated, known);
  if (model.window < known && (prompt ?? estimated) <= promptLimit(agent)!) {
    return window !== undefined;
  }
  // A refused request that fits the estimate shows that the estimate, or the window, is wrong.
  const limit = promptLimit(agent)!;
  if (estimated <= limit) model.ratio = Math.min(MAX_RATIO, model.ratio * 1.05 * limit / estimated);
  model.window = Math.min(model.window, requestTokens(agent));
  return false;
}

/** A count that is only slightly higher than the estimate teaches nothing. */
const MIN_RAISE = 1.05;

/**
 * Learns from a server's count of `messages` outside the conversation. Returns true if they have more tokens than
 * estimated. A lower count may be of a cut prompt.
 */
export function learnFromCount(
  agent: CopilotAgent,
  messages: readonly Message[],
  counted = 0,
): boolean {
  const model = modelOf(agent);
  const ratio = counted / sum(messages.map((message) => roughMessage(message)));
  if (ratio < model.ratio * MIN_RAISE || ratio > MAX_RATIO) return false;
  model.ratio = ratio;
  return true;
}

/** Tokens of an image, as common models count approximately. */
const IMAGE_TOKENS = 1200;
/** Tokens of a message, and of a call, in addition to its text. */
const MESSAGE_TOKENS = 8;

/** Rough counts. `reasoning` is that since the user's newest message: templates drop older reasoning. */
function roughParts(agent: CopilotAgent): Record<ContextPart["name"] | "reasoning", number> {
  const { offered: tools, state } = agent;
  // Separate variables: adding to a field with the role's name takes five times as long.
  let [system, user, assistant, tool, reasoning] = [roughTokens(agent.systemPrompt), 0, 0, 0, 0];
  const { sizes } = memoryOf(agent);
  const { messages } = state;
  for (let i = 0; i < messages.length; i++) {
    const message = messages[i]!;
    let known = sizes[i];
    if (known?.message !== message || known.length !== message.content.length) {
      known = { message, length: message.content.length, size: roughMessage(message) };
      sizes[i] = known;
    }
    const { role } = message;
    if (role === "tool") tool += known.size;
    else if (role === "assistant") assistant += known.size;
    else if (role === "system") system += known.size;
    else {
      user += known.size;
      reasoning = 0;
    }
    if (message.reasoning !== undefined) reasoning += roughReasoning(message);
  }
  sizes.length = messages.length;
  return { system, tools: roughTools(tools), user, assistant, tool, reasoning };
}

function sum(parts: readonly number[]): number {
  return parts.reduce((all, part) => all + part, 0);
}

/** Reasoning is sent back with the calls that it led to. */
function roughReasoning({ toolCalls, reasoning = "" }: Message): number {
  return toolCalls ? reasoning.length / CHARS_PER_TOKEN : 0;
}

function roughTools(tools: readonly Tool[]): number {
  return roughTokens(
    JSON.stringify(
      tools.map(({ name, description, parameters }) => [name, description, parameters]),
    ),
  );
}

function roughMessage(message: Message): number {
  const { content, toolCalls = [] } = message;
  const calls = toolCalls.map(({ name, arguments: args, invalid }) =>
    roughTokens(name + (invalid?.text ?? JSON.stringify(args))) + MESSAGE_TOKENS
  );
  return sum(calls) + roughTokens(content) + IMAGE_TOKENS * imagesOf(message).length +
    MESSAGE_TOKENS;
}

/**
 * Returns the approximate tokens of `text`: a quarter for an ASCII character, more for others, and almost nothing
 * for a repeated one, because tokenizers have whole rows of spaces and dashes.
 */
function roughTokens(text: string): number {
  let sixteenths = 0; // integers, for which the engine allocates no objects
  let before = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    sixteenths += char === before ? 1 : char < 0x80 ? 4 : char < 0x2e80 ? 8 : 12;
    before = char;
  }
  return sixteenths / 16;
}
