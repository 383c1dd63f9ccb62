/** Detects prompts that a server processed again although most of them should have been in its cache. @module */

import type { CopilotAgent } from "../agent/agent.ts";
import { type SlotTasks, slotTasks } from "../models/ollama/slots.ts";
import { targetOf } from "../models/target.ts";
import type { Message } from "../types/message.ts";
import type { TurnEvent, Usage } from "../types/event.ts";
import { addressOf } from "../models/model_server.ts";

export interface CacheLoss {
  tokens: number;
  seconds?: number;
  /** The slot: of another program, which is likely if it is the only one. `cut`: the prompt was too long. */
  cause?: "restart" | "slot" | "only_slot" | "sub_agent" | "cut";
}

/** Losses of fewer tokens or seconds are not reported. */
const MIN_LOST = 1000;
const MIN_SECONDS = 1;
const MIN_READ = 200;
/** Shorter answers do not measure a speed, in tokens and milliseconds. */
const MIN_WRITTEN = 20;
const MIN_WRITTEN_MS = 500;

/** The part of the previous request that the next one repeats. */
interface Sent {
  beginning: readonly unknown[];
  messages: number;
  last: Message | undefined;
  tokens: number;
  /** The tokens of the first request after the newest user message. */
  turnTokens: number;
}

export class CacheWatch {
  /** The newest measured speed of prompt processing, in tokens per second. */
  readSpeed: number | undefined;
  /** The newest measured speed of a long answer, in tokens per second. */
  writeSpeed: number | undefined;
  readonly counted = { inputTokens: 0, cachedTokens: 0 };
  #sent: Sent | undefined;
  /** The times of the request and of its first token; undefined if they measure something else. */
  #startedAt: number | undefined;
  #firstAt: number | undefined;
  #hadSubAgent = false;
  /** True if this turn has reported a loss. A server without a cache has one per request. */
  #isReported = false;
  #slots: Promise<SlotTasks> | undefined;

  /** `slots` asks a llama.cpp server for its slots; undefined if the cause is not needed. */
  constructor(
    private readonly onLoss: (loss: CacheLoss) => void,
    private readonly slots?: ((agent: CopilotAgent) => Promise<SlotTasks>) | undefined,
    private readonly now: () => number = () => performance.now(),
  ) {}

  onEvent(event: TurnEvent, agent: CopilotAgent): void {
    switch (event.type) {
      case "thinking":
        this.#startedAt = this.now();
        this.#firstAt = undefined;
        return;
      case "text_delta":
      case "reasoning_delta":
      case "call_delta":
        this.#firstAt ??= this.now();
        return;
      case "retry":
      case "loading":
      case "queued":
        this.#startedAt = undefined;
        return;
      case "tool_done":
        this.#hadSubAgent ||= event.exec.details?.usage !== undefined;
        return;
      case "notice":
        if (event.code === "request_adjusted") this.#sent = undefined;
        return;
      case "compaction":
        this.#sent = undefined;
        return;
      case "usage":
        // The usage of a summary has no answer before it.
        if (this.#firstAt !== undefined) this.#onAnswer(event.usage, agent);
    }
  }

  #onAnswer(usage: Usage, agent: CopilotAgent): void {
    const { inputTokens, cachedTokens, outputTokens } = usage;
    const writtenMs = this.now() - this.#firstAt!;
    if (outputTokens >= MIN_WRITTEN && writtenMs >= MIN_WRITTEN_MS) {
      this.writeSpeed = 1000 * outputTokens / writtenMs;
    }
    const speed = this.#speedOf(usage);
    const before = this.#slots;
    // Only llama.cpp reports its speed.
    this.#slots = usage.readSpeed === undefined ? undefined : this.slots?.(agent);
    const shared = this.#sharedTokens(inputTokens, agent);
    const hadSubAgent = this.#hadSubAgent;
    this.#hadSubAgent = false;
    if (cachedTokens === undefined) return;
    this.counted.inputTokens += inputTokens;
    this.counted.cachedTokens += cachedTokens;
    const tokens = Math.min(shared, inputTokens) - cachedTokens;
    const seconds = speed === undefined ? undefined : tokens / speed;
    if (tokens < MIN_LOST || cachedTokens > shared / 2 || this.#isReported) return;
    if (seconds !== undefined && seconds < MIN_SECONDS) return;
    this.#isReported = true;
    const loss: CacheLoss = { tokens, ...seconds !== undefined && { seconds } };
    if (inputTokens < shared) return this.onLoss({ ...loss, cause: "cut" });
    if (hadSubAgent) return this.onLoss({ ...loss, cause: "sub_agent" });
    void Promise.all([before, this.#slots]).then(([then, now]) => {
      const cause = causeOf(then, now);
      this.onLoss({ ...loss, ...cause && { cause } });
    });
  }

  /** Returns the tokens of the common prefix of this request and the previous one; 0 without one. */
  #sharedTokens(tokens: number, { config, offered, systemPrompt, state }: CopilotAgent): number {
    const { url, name, textTools, contextLength } = targetOf(config);
    const beginning = [url, name, textTools, contextLength, JSON.stringify(offered), systemPrompt];
    const { messages } = state;
    const sent = this.#sent;
    const known = sent?.messages ?? 0;
    const isNewTurn = messages.slice(known).some(({ role }) => role === "user");
    if (isNewTurn) this.#isReported = false;
    const turnTokens = sent && !isNewTurn ? sent.turnTokens : tokens;
    const last = messages.at(-1);
    this.#sent = { beginning, messages: messages.length, last, tokens, turnTokens };
    const isSame = sent !== undefined && messages[known - 1] === sent.last &&
      beginning.every((one, at) => one === sent.beginning[at]);
    if (!isSame) return 0;
    // Templates drop the reasoning of earlier turns.
    const drops = isNewTurn && messages.slice(0, known).some(({ reasoning = "" }) => reasoning);
    return drops ? sent.turnTokens : sent.tokens;
  }

  /** Returns the speed of this request; undefined if too little was processed. */
  #speedOf({ inputTokens, cachedTokens, readSpeed }: Usage): number | undefined {
    if (cachedTokens === undefined || inputTokens - cachedTokens < MIN_READ) return undefined;
    const seconds = (this.#firstAt! - (this.#startedAt ?? NaN)) / 1000;
    const measured = seconds > 0 ? (inputTokens - cachedTokens) / seconds : undefined;
    return this.readSpeed = readSpeed ?? measured ?? this.readSpeed;
  }
}

export async function slotsOf({ config }: CopilotAgent, signal: AbortSignal): Promise<SlotTasks> {
  return await slotTasks({ ...addressOf(targetOf(config)), signal }).catch(() => []);
}

/** Returns why a slot lost its prompt, from its tasks after the previous request and after this one. */
function causeOf(before: SlotTasks = [], after: SlotTasks = []): CacheLoss["cause"] {
  const newest = (tasks: SlotTasks) => tasks.toSorted((a, b) => b.task - a.task)[0];
  const [own, now] = [newest(before), newest(after)];
  if (own === undefined || now === undefined) return undefined;
  // Task numbers increase while the server runs.
  if (now.task < own.task) return "restart";
  const { task } = after.find(({ slot }) => slot === own.slot) ?? own;
  if (task !== own.task && now.slot !== own.slot) return "slot";
  return after.length === 1 ? "only_slot" : undefined;
}
