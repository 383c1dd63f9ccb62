/** The tokens that a request takes, estimated with what the server counted of earlier ones. @module */

import type { ContextTokens } from "../errors.ts";
import type { Usage } from "../types/event.ts";
import type { Message } from "../types/message.ts";
import { targetOf } from "../model_target.ts";
import { CHARS_PER_TOKEN } from "../text/count.ts";
import { imagesOf } from "../text/parts.ts";
import type { CopilotAgent } from "./agent.ts";

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

type TokenSum = Pick<Usage, "inputTokens" | "outputTokens">;

/** The facts that an agent has learnt of one model on one server. */
interface Model {
  /** The server's count divided by the rough count, of the newest request. */
  ratio: number;
  /** True where reasoning that is sent back counts: many servers and templates leave it out. */
  thinks: boolean;
  /** The largest request since the conversation last became shorter, without reasoning. */
  largest?: { rough: number; counted: number };
  /** The size of its context in tokens, where the server has shown it. */
  window?: number;
}

/** Agents are few, and so are the models that one goes through. */
const models = new WeakMap<CopilotAgent, Map<string, Model>>();

function modelOf(agent: CopilotAgent): Model {
  const { url, name, contextLength, isNative } = targetOf(agent.config);
  const key = [url, name, contextLength, isNative].join(" ");
  const known = models.get(agent) ?? new Map<string, Model>();
  const model = known.get(key) ?? { ratio: 1, thinks: true };
  models.set(agent, known.set(key, model));
  return model;
}

/** Gives the agent `to` what `from` learned of its model: how it counts tokens, and its window. */
export function inheritCounts(from: CopilotAgent, to: CopilotAgent): void {
  const known = [...models.get(from) ?? []];
  // The largest request is of its own conversation.
  models.set(to, new Map(known.map(([key, { largest: _, ...model }]) => [key, model])));
}

/** A part of what the next request holds, and its estimated tokens. */
interface ContextPart {
  name: "tools" | Message["role"];
  tokens: number;
}

/** The parts of the next request, and the size of the model's window where it is known. */
export function contextParts(agent: CopilotAgent): { parts: ContextPart[]; window?: number } {
  const { ratio, thinks } = modelOf(agent);
  const window = contextWindow(agent);
  const { reasoning, ...rough } = roughParts(agent);
  if (thinks) rough.assistant += reasoning;
  const parts = Object.entries(rough).map(([name, tokens]) =>
    ({ name, tokens: Math.round(tokens * ratio) }) as ContextPart
  );
  return { parts, ...(window !== undefined && { window }) };
}

/** The tokens that the model has room for, prompt and answer together; `undefined` if not known. */
export function contextWindow(agent: CopilotAgent): number | undefined {
  const { contextLength = Infinity } = targetOf(agent.config);
  const window = Math.min(contextLength, modelOf(agent).window ?? Infinity);
  return window === Infinity ? undefined : window;
}

/** The most tokens of a request that leaves room for an answer; `undefined` if not known. */
export function promptLimit(agent: CopilotAgent): number | undefined {
  const { maxTokens } = targetOf(agent.config);
  const window = contextWindow(agent);
  // The limit of an answer is often as high as the window: a quarter must do.
  return window && window - Math.min(maxTokens ?? Infinity, Math.floor(window / 4));
}

/** The least room that an answer is given, in tokens, where the estimate leaves less or none. */
const MIN_ROOM = 256;
/** The most tokens of an answer where no setting limits it. */
const MAX_ANSWER = 32_768;
/** In a smaller window, an answer without a limit takes at most half of it. */
const SMALL_WINDOW = 16_384;
/** The part of the prompt that is kept free, as the estimate may be too low. */
const RESERVE = 0.02;
/** The part of the answer's room that is for thinking, where no setting says otherwise. */
const THINKING_SHARE = 1 / 4;
/** A smaller budget would end the thinking of each answer in a small window. */
const MIN_THINKING = 512;

/**
 * The most tokens of the answer to `messages`, or to the conversation, by the room in the window;
 * `undefined` if the window is not known.
 */
export function answerRoom(
  agent: CopilotAgent,
  messages?: readonly Message[],
): number | undefined {
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

/** The largest power of two, or one and a half times one, that is not above `count`: a limit that rarely changes keeps requests alike. */
function stepBelow(count: number): number {
  const power = 2 ** Math.floor(Math.log2(count));
  return power * 1.5 <= count ? power * 1.5 : power;
}

/** The most tokens of thinking in an answer that has `room`; `undefined` for the hosted API. */
export function thinkBudget(agent: CopilotAgent, room = MAX_ANSWER): number | undefined {
  const { thinkBudget, kind } = targetOf(agent.config);
  // The hosted API has budgets of its own.
  if (thinkBudget !== undefined || kind === "hosted") return thinkBudget;
  return Math.max(MIN_THINKING, Math.floor(room * THINKING_SHARE));
}

export function requestTokens(agent: CopilotAgent): number {
  const { ratio, thinks } = modelOf(agent);
  const { reasoning, ...parts } = roughParts(agent);
  return Math.round((sum(Object.values(parts)) + (thinks ? reasoning : 0)) * ratio);
}

/** An estimate that is off by more than this part of the limit needs no count. */
const NEAR_LIMIT = 0.15;

/** True where the next request is over its limit; near that, a server that counts is asked, and learnt from. */
export async function isOverLimit(agent: CopilotAgent, signal: AbortSignal): Promise<boolean> {
  const limit = promptLimit(agent);
  if (limit === undefined) return false;
  const estimated = requestTokens(agent);
  if (Math.abs(estimated - limit) < limit * NEAR_LIMIT) {
    const { exactTokens } = await import("./exact_count.ts");
    const ratio = (await exactTokens(agent, signal) ?? estimated) / estimated;
    if (ratio >= 1 / MAX_RATIO && ratio <= MAX_RATIO) {
      modelOf(agent).ratio *= ratio;
      return requestTokens(agent) > limit;
    }
  }
  return estimated > limit;
}

/** The estimated tokens of a message, as the server in use counts; `thinks` adds its reasoning. */
export function messageTokens(agent: CopilotAgent, message: Message, thinks = false): number {
  const model = modelOf(agent);
  const rough = roughMessage(message) + (thinks && model.thinks ? roughReasoning(message) : 0);
  return Math.ceil(rough * model.ratio);
}

/** Counts below this number of tokens are not taken as a cut prompt. */
const MIN_WINDOW = 512;
/** When a request grew by this many tokens and the server's count did not, the server cut it. */
const SHOWN_GROWTH = 1000;
/** A count below 0.4 of our estimate means that the server cut the prompt. */
const MIN_RATIO = 0.4;
/** A count of over 4 times our estimate counts something else. */
const MAX_RATIO = 4;

/**
 * Learns from what the server counted of the request that was just answered; call it before the
 * answer goes into the conversation. True when the server read only a part of the request and said
 * nothing, as a count shows that is too low, or just the window: this is then taken to be the most
 * that it counted.
 */
export function learnFromUsage(agent: CopilotAgent, { inputTokens: counted }: Usage): boolean {
  const model = modelOf(agent);
  const { reasoning, ...parts } = roughParts(agent);
  const rough = sum(Object.values(parts));
  // The server counts reasoning where its count is nearer to that with it.
  if (reasoning > MIN_WINDOW) model.thinks = counted > (rough + reasoning / 2) * model.ratio;
  const ratio = counted / (rough + (model.thinks ? reasoning : 0));
  const now = { rough, counted: rough * ratio };
  const { largest } = model;
  const least = MIN_RATIO * Math.min(1, model.ratio);
  const isLonger = largest !== undefined && rough >= largest.rough;
  // Some servers count only what was not in their cache.
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
  // A count that is far off is of a server that does not count, or counts something else.
  if (grew && ratio >= 1 / MAX_RATIO && ratio <= MAX_RATIO) {
    Object.assign(model, { ratio, largest: now });
  }
  return false;
}

/**
 * Learns from a server that refused the request as too long, and may have named the sizes. True where only
 * the limit of the answer was too high for the window that is known now: the request is to be sent again.
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
  // A request that was refused though the estimate fits shows that the estimate, or the window, is wrong.
  const limit = promptLimit(agent)!;
  if (estimated <= limit) model.ratio = Math.min(MAX_RATIO, model.ratio * 1.05 * limit / estimated);
  model.window = Math.min(model.window, requestTokens(agent));
  return false;
}

/** A count that is higher than the estimate by less teaches nothing. */
const MIN_RAISE = 1.05;

/**
 * Learns from a server's count of `messages`, which are not the conversation: true where they have more
 * tokens than was estimated. A lower count may be of what the server had cut.
 */
export function learnFromCount(
  agent: CopilotAgent,
  messages: readonly Message[],
  counted = 0,
): boolean {
  const model = modelOf(agent);
  const ratio = counted / sum(messages.map(roughMessage));
  if (ratio < model.ratio * MIN_RAISE || ratio > MAX_RATIO) return false;
  model.ratio = ratio;
  return true;
}

/** Tokens of an image, as common models count about. */
const IMAGE_TOKENS = 1200;
/** Tokens of a message, and of a call, beside its text. */
const MESSAGE_TOKENS = 8;

/** Rough counts; `reasoning` is that since the person's newest message: templates drop older. */
function roughParts(agent: CopilotAgent): Record<ContextPart["name"] | "reasoning", number> {
  const { offered: tools, state } = agent;
  // Numbers of their own: adding to a field with the role's name takes five times as long.
  let [system, user, assistant, tool, reasoning] = [roughSystem(agent), 0, 0, 0, 0];
  const sizes = sizesOf(agent);
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

/** The messages of a conversation in their order with their sizes: in a long one, looking each up takes longer. */
type ListedSizes = { message: Message; length: number; size: number }[];
const listedSizes = new WeakMap<CopilotAgent, ListedSizes>();

function sizesOf(agent: CopilotAgent): ListedSizes {
  const known = listedSizes.get(agent) ?? [];
  listedSizes.set(agent, known);
  return known;
}

function sum(parts: readonly number[]): number {
  return parts.reduce((all, part) => all + part, 0);
}

/** Reasoning goes back to the model with the calls that it led to. */
function roughReasoning({ toolCalls, reasoning = "" }: Message): number {
  return toolCalls ? reasoning.length / CHARS_PER_TOKEN : 0;
}

const systemSizes = new WeakMap<CopilotAgent, { text: string; size: number }>();

function roughSystem(agent: CopilotAgent): number {
  const { systemPrompt: text } = agent;
  let known = systemSizes.get(agent);
  if (known?.text !== text) systemSizes.set(agent, known = { text, size: roughTokens(text) });
  return known.size;
}

const toolSizes = new WeakMap<object, number>();

function roughTools(tools: CopilotAgent["tools"]): number {
  const known = toolSizes.get(tools);
  if (known !== undefined) return known;
  const shown = tools.map(({ name, description, parameters }) => [name, description, parameters]);
  const size = roughTokens(JSON.stringify(shown));
  toolSizes.set(tools, size);
  return size;
}

/** Sizes by message, with the length of the text that was counted, which callers may change. */
const messageSizes = new WeakMap<Message, { length: number; size: number }>();

function roughMessage(message: Message): number {
  const { content, toolCalls = [] } = message;
  const known = messageSizes.get(message);
  if (known?.length === content.length) return known.size;
  const calls = toolCalls.map(({ name, arguments: args, invalid }) =>
    roughTokens(name + (invalid?.text ?? JSON.stringify(args))) + MESSAGE_TOKENS
  );
  const size = sum(calls) + roughTokens(content) + IMAGE_TOKENS * imagesOf(message).length +
    MESSAGE_TOKENS;
  messageSizes.set(message, { length: content.length, size });
  return size;
}

/**
 * Roughly the tokens of `text`: a quarter of one for an ASCII character, more for others, next to
 * nothing for one that repeats the one before, as tokenizers have whole rows of spaces and dashes.
 */
function roughTokens(text: string): number {
  let sixteenths = 0; // whole numbers, of which the engine makes no objects
  let before = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    sixteenths += char === before ? 1 : char < 0x80 ? 4 : char < 0x2e80 ? 8 : 12;
    before = char;
  }
  return sixteenths / 16;
}
