import { assertAlmostEquals, assertEquals } from "@std/assert";
import { costOf } from "../../src/models/prices.ts";
import { compatConfig, hostedConfig, localConfig } from "../../src/config.ts";

const hosted = (model: string) => ({ hosted: hostedConfig({ apiKey: "k", model }) });
const openai = (model: string) => ({ compat: compatConfig({ apiKey: "k", model }) });
const usage = { inputTokens: 1_000_000, outputTokens: 100_000 };

Deno.test("a request costs what the service's list says", () => {
  assertAlmostEquals(costOf(usage, openai("gpt-4o"))!, 2.5 + 1);
  assertAlmostEquals(costOf({ ...usage, cachedTokens: 400_000 }, openai("gpt-4o"))!, 2 + 1);
  const cached = { ...usage, cachedTokens: 500_000, cacheWriteTokens: 100_000 };
  assertAlmostEquals(
    costOf(cached, hosted("claude-sonnet-4-20250514"))!,
    0.4 * 3 + 0.1 * 3 * 1.25 + 0.5 * 0.3 + 1.5,
  );
});

Deno.test("what is not known costs nothing known", () => {
  assertEquals(costOf(usage, openai("gpt-4o-audio-preview")), undefined);
  assertEquals(costOf(usage, { local: localConfig({ model: "gpt-4o" }) }), undefined);
  const other = compatConfig({ apiKey: "", model: "gpt-4o", baseUrl: "http://127.0.0.1:1/v1" });
  assertEquals(costOf(usage, { compat: other }), undefined);
  assertEquals(costOf({ ...usage, cost: 0.5 }, { compat: other }), 0.5);
});

/** Dollars for a million tokens: input, input from the cache, output. */
const LISTED: [model: string, prices: [number, number, number] | undefined][] = [
  ["gpt-4o-mini", [0.15, 0.075, 0.6]],
  ["gpt-4o", [2.5, 1.25, 10]],
  ["gpt-4o-2024-08-06", [2.5, 1.25, 10]],
  ["gpt-4.1-nano", [0.1, 0.025, 0.4]],
  ["gpt-4.1-mini-2025-04-14", [0.4, 0.1, 1.6]],
  ["gpt-4.1", [2, 0.5, 8]],
  ["gpt-5-nano", [0.05, 0.005, 0.4]],
  ["gpt-5-mini", [0.25, 0.025, 2]],
  ["gpt-5", [1.25, 0.125, 10]],
  ["gpt-5-pro", undefined],
  ["claude-opus-4-5", [5, 0.5, 25]],
  ["claude-opus-4-1", [15, 1.5, 75]],
  ["claude-opus-4-20250514", [15, 1.5, 75]],
  ["claude-3-7-sonnet-20250219", [3, 0.3, 15]],
  ["claude-haiku-4-5", [1, 0.1, 5]],
  ["claude-3-5-haiku-20241022", [0.8, 0.08, 4]],
  ["claude-3-opus", undefined],
];
for (const [model, prices] of LISTED) {
  Deno.test(`the price of ${model}`, () => {
    const config = model.startsWith("gpt") ? openai(model) : hosted(model);
    const of = (inputTokens: number, cachedTokens: number, outputTokens: number) =>
      costOf({ inputTokens, cachedTokens, outputTokens }, config);
    const million = 1_000_000;
    const found = [of(million, 0, 0), of(million, million, 0), of(0, 0, million)];
    if (prices === undefined) assertEquals(found, [undefined, undefined, undefined]);
    else found.forEach((price, at) => assertAlmostEquals(price!, prices[at]!));
  });
}
