/** Prices of requests to the two public APIs. Other servers may send the cost. @module */

import { type CopilotConfig, isDefaultServer } from "../config.ts";
import { targetOf } from "./target.ts";
import type { Usage } from "../types/event.ts";

/**
 * US dollars per million tokens, by prefix of the model's name. Sources: the price lists of openai.com and
 * anthropic.com, early 2026. A model without a row has no known price.
 */
const PRICES: readonly [name: RegExp, input: number, cached: number, output: number][] = [
  [/^gpt-4o-mini/, 0.15, 0.075, 0.6],
  [/^gpt-4o(-20|$)/, 2.5, 1.25, 10],
  [/^gpt-4\.1-nano/, 0.1, 0.025, 0.4],
  [/^gpt-4\.1-mini/, 0.4, 0.1, 1.6],
  [/^gpt-4\.1(-20|$)/, 2, 0.5, 8],
  [/^gpt-5-nano/, 0.05, 0.005, 0.4],
  [/^gpt-5-mini/, 0.25, 0.025, 2],
  [/^gpt-5(-20|$)/, 1.25, 0.125, 10],
  [/^claude-opus-4-[5-9]/, 5, 0.5, 25],
  [/^claude-opus-4(-1)?(-20|$)/, 15, 1.5, 75],
  [/^claude-(sonnet-4|3-7-sonnet|3-5-sonnet)/, 3, 0.3, 15],
  [/^claude-haiku-4-5/, 1, 0.1, 5],
  [/^claude-3-5-haiku/, 0.8, 0.08, 4],
];
/** Anthropic's price of a token written to the cache, relative to an input token. */
const CACHE_WRITE = 1.25;

/** Adds the price of a request to a sum in US dollars, which is undefined until a price is known. */
export function addCost(sum: { cost?: number }, usage: Usage, config: CopilotConfig): void {
  const cost = costOf(usage, config);
  if (cost !== undefined) sum.cost = (sum.cost ?? 0) + cost;
}

/** Returns the price of a request in US dollars; undefined if it is unknown. */
export function costOf(usage: Usage, config: CopilotConfig): number | undefined {
  if (usage.cost !== undefined) return usage.cost;
  const target = targetOf(config);
  if (!isDefaultServer("compat", target.url) && !isDefaultServer("hosted", target.url)) {
    return undefined;
  }
  const row = PRICES.find(([name]) => name.test(target.name));
  if (row === undefined) return undefined;
  const [, input, cached, output] = row;
  const { cachedTokens = 0, cacheWriteTokens = 0 } = usage;
  const plain = usage.inputTokens - cachedTokens - cacheWriteTokens;
  return ((plain + cacheWriteTokens * CACHE_WRITE) * input + cachedTokens * cached +
    usage.outputTokens * output) / 1e6;
}
