import { assertEquals } from "@std/assert";
import {
  compatConfig,
  type CopilotConfig,
  copilotConfig,
  hostedConfig,
  localConfig,
} from "../src/config.ts";
import { type ModelTarget, targetOf, withModel } from "../src/models/target.ts";

const settings = { model: "m", contextLength: 9000, maxTokens: 64, apiKey: "k" };

const ROWS: [config: CopilotConfig, target: Partial<ModelTarget>][] = [
  [{ compat: compatConfig({ ...settings, baseUrl: "http://c:1/v1", textTools: true }) }, {
    kind: "compat",
    url: "http://c:1/v1",
    isNative: false,
    textTools: true,
  }],
  [{ local: localConfig({ ...settings, host: "http://l:1" }) }, {
    kind: "local",
    url: "http://l:1",
    isNative: true,
  }],
  [{ local: localConfig({ ...settings, host: "http://l:1", useCompat: true }) }, {
    kind: "local",
    url: "http://l:1",
    isNative: false,
  }],
  [{ hosted: hostedConfig({ ...settings, baseUrl: "http://h:1" }) }, {
    kind: "hosted",
    url: "http://h:1",
    isNative: false,
  }],
];

for (const [config, expected] of ROWS) {
  const { kind, url, isNative } = expected;
  Deno.test(`the model of ${kind}${isNative ? "'s own endpoint" : ""} at ${url}`, () => {
    assertEquals(targetOf(config, false), {
      name: "m",
      isChosen: false,
      contextLength: 9000,
      maxTokens: 64,
      thinkBudget: undefined,
      apiKey: "k",
      fetch: undefined,
      headers: undefined,
      textTools: undefined,
      ...expected,
    } as ModelTarget);

    const before = { maxToolRounds: 7, ...config };
    const after = withModel(before, { model: "other", contextLength: undefined });
    const { name, contextLength } = targetOf(copilotConfig(after));
    assertEquals([name, contextLength, after.maxToolRounds], ["other", undefined, 7]);
    assertEquals(targetOf(after).maxTokens, 64);
    assertEquals(targetOf(before).name, "m");
  });
}

Deno.test("a configuration by itself names its model", () => {
  assertEquals(targetOf({ local: localConfig() }).isChosen, true);
});
