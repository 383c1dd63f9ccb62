import { assertAlmostEquals, assertEquals } from "@std/assert";
import { costOf, dollars } from "../../src/session/prices.ts";
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

Deno.test("dollars", () => {
  assertEquals([dollars(0.00421), dollars(1.2)], ["$0.0042", "$1.20"]);
});
