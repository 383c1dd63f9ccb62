/** Notices prompts that a server read again though it had most of them in its cache. @module */

import type { CopilotAgent } from "../agent/agent.ts";
import type { SlotTasks } from "../backends/local/slots.ts";
import { targetOf } from "../model_target.ts";
import type { Message } from "../types/message.ts";
import type { TurnEvent, Usage } from "../types/event.ts";
import { addressOf } from "./model_server.ts";

/** A prompt of which the server read a part again. */
export interface CacheLoss {
  /** The tokens that should have come from the cache. */
  tokens: number;
  /** The time that reading them again took; left out where no speed is known. */
  seconds?: number;
  /**
   * Why: the server was restarted, another program (or, where there is one slot, likely another program) used
   * the slot, a sub-agent of this session did, or the server cut the prompt to fit its context.
   */
  cause?: "restart" | "slot" | "only_slot" | "sub_agent" | "cut";
}

/** A loss of fewer tokens or seconds is not worth a line. */
const MIN_LOST = 1000;
const MIN_SECONDS = 1;
/** Reading fewer tokens says nothing about the speed. */
const MIN_READ = 200;

/** The request before this one, as far as the next one repeats it. */
interface Sent {
  /** The server, the model and what comes before the messages. */
  beginning: readonly unknown[];
  messages: number;
  last: Message | undefined;
  tokens: number;
  /** The tokens of the first request since the newest message of the person. */
  turnTokens: number;
}

/** Watches the requests of one conversation. */
export class CacheWatch {
  /** The newest measured speed at which the server reads prompts, in tokens per second. */
  readSpeed: number | undefined;
  /** Prompt tokens of all requests of which the server counted those from its cache. */
  readonly counted = { inputTokens: 0, cachedTokens: 0 };
  #sent: Sent | undefined;
  /** When the request was sent and its first token came; undefined where that measures something else. */
  #startedAt: number | undefined;
  #firstAt: number | undefined;
  #hadSubAgent = false;
  /** True where this turn has reported a loss: a server without a cache has one in each request. */
  #isReported = false;
  #slots: Promise<SlotTasks> | undefined;

  /**
   * @param onLoss called after the request that lost the cache
   * @param slots asks a server of llama.cpp for its slots; undefined where nobody waits for the cause
   */
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
        // The usage of a summary comes without an answer before it.
        if (this.#firstAt !== undefined) this.#onAnswer(event.usage, agent);
    }
  }

  #onAnswer(usage: Usage, agent: CopilotAgent): void {
    const { inputTokens, cachedTokens } = usage;
    const speed = this.#speedOf(usage);
    const before = this.#slots;
    // Only llama.cpp states its speed.
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

  /** The tokens with which this request and the one before begin alike; 0 where they do not. */
  #sharedTokens(tokens: number, { config, offered, systemPrompt, state }: CopilotAgent): number {
    const { url, name, textTools, contextLength } = targetOf(config);
    const beginning = [url, name, textTools, contextLength, offered, systemPrompt];
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

  /** The speed of this request; undefined where too little was read. */
  #speedOf({ inputTokens, cachedTokens, readSpeed }: Usage): number | undefined {
    if (cachedTokens === undefined || inputTokens - cachedTokens < MIN_READ) return undefined;
    const seconds = (this.#firstAt! - (this.#startedAt ?? NaN)) / 1000;
    const measured = seconds > 0 ? (inputTokens - cachedTokens) / seconds : undefined;
    return this.readSpeed = readSpeed ?? measured ?? this.readSpeed;
  }
}

/** Asks the agent's server for its slots; none where it has none, or fails. */
export async function slotsOf({ config }: CopilotAgent, signal: AbortSignal): Promise<SlotTasks> {
  const { slotTasks } = await import("../backends/local/slots.ts");
  return await slotTasks({ ...addressOf(targetOf(config)), signal }).catch(() => []);
}

/** Why a slot lost its prompt, from its tasks after the request before and after this one. */
function causeOf(before: SlotTasks = [], after: SlotTasks = []): CacheLoss["cause"] {
  const newest = (tasks: SlotTasks) => tasks.toSorted((a, b) => b.task - a.task)[0];
  const [own, now] = [newest(before), newest(after)];
  if (own === undefined || now === undefined) return undefined;
  // The numbers of tasks count up while the server runs.
  if (now.task < own.task) return "restart";
  const { task } = after.find(({ slot }) => slot === own.slot) ?? own;
  if (task !== own.task && now.slot !== own.slot) return "slot";
  return after.length === 1 ? "only_slot" : undefined;
}
