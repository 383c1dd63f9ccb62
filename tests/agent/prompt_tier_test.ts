import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { CopilotAgent } from "../../src/agent/agent.ts";
import { processTurn } from "../../src/agent/turn.ts";
import { compatBody } from "../../src/models/openai/request.ts";
import { hostedBody } from "../../src/models/anthropic/request.ts";
import { localBody } from "../../src/models/ollama/request.ts";
import {
  compatConfig,
  hostedConfig,
  localConfig,
  type PromptTier,
  type Thinking,
} from "../../src/config.ts";
import { jobStore } from "../../src/tools/shell/jobs.ts";
import { tasksTool } from "../../src/tools/tasks.ts";
import type { Jobs } from "../../src/types/tool.ts";
import { strictServer } from "../helpers/strict_server.ts";

const ROWS: [model: string, contextLength: number | undefined, isLean: boolean][] = [
  ["qwen3:4b", undefined, true],
  ["llama3.2:1b", 131_072, true],
  ["Qwen2.5-Coder-7B-Instruct", undefined, true],
  ["gemma3n:e4b", undefined, true],
  ["deepseek-r1:1.5b", undefined, true],
  ["qwen3:8b", undefined, false],
  ["qwen3:8b", 8192, true],
  ["qwen3:8b", 16_384, false],
  ["mixtral:8x7b", undefined, false],
  ["gpt-oss:20b", 32_768, false],
  ["qwen3", undefined, false],
  ["model-2b3", undefined, false],
];

for (const [model, contextLength, isLean] of ROWS) {
  Deno.test(`prompt tier of ${model}, ${contextLength ?? "any"} tokens`, () => {
    const agent = new CopilotAgent({ local: localConfig({ model, contextLength }) }, ".");
    assertEquals(agent.offered !== agent.tools, isLean);
  });
}

Deno.test("prompt tiers: the setting counts before the model, hosted ones have room", () => {
  const tier = (promptTier: PromptTier) =>
    new CopilotAgent({ promptTier, local: localConfig({ model: "m:1b" }) }, ".");
  assert(tier("full").offered === tier("full").tools);
  assert(tier("lean").systemPrompt.length < tier("full").systemPrompt.length);
  const hosted = { hosted: hostedConfig({ apiKey: "k", model: "claude-1b" }) };
  assert(new CopilotAgent(hosted, ".").offered.length === 7);
  assert(new CopilotAgent(hosted, ".").systemPrompt === tier("full").systemPrompt);
  assertThrows(() => tier("small" as PromptTier), RangeError, "auto, lean, full");
});

Deno.test("the first request of a lean tier has at most 3 KB, of a full one at most 5 KB", async () => {
  for (const [promptTier, most] of [["lean", 3000], ["full", 5000]] as const) {
    await using server = strictServer([{ text: "a" }, { text: "b" }, { text: "c" }]);
    const configs = [
      { local: localConfig({ host: server.url, model: "test" }) },
      { local: localConfig({ host: server.url, model: "test", useCompat: true }) },
      { compat: compatConfig({ baseUrl: `${server.url}/v1`, model: "test", apiKey: "k" }) },
    ];
    await using jobs = jobStore();
    for (const config of configs) {
      await processTurn(
        new CopilotAgent({ promptTier, ...config }, "/", { jobs, keepsTasks: true }),
        "hi",
      );
    }
    for (const { text } of server.requests) {
      // This parameter is for the server alone: it is no token of the prompt.
      const { length } = text.replace('"return_progress":true,', "");
      assert(length <= most, `${length}`);
    }
  }
});

Deno.test("a lean tier offers no jobs, and none are offered where nobody keeps them", async () => {
  await using jobs = jobStore();
  const offered = (promptTier: PromptTier, options: { jobs?: Jobs }) =>
    JSON.stringify(
      new CopilotAgent({ promptTier, local: localConfig({ model: "m" }) }, ".", options).offered
        .map(({ name, description, parameters }) => ({ name, description, parameters })),
    );
  assertEquals(offered("lean", { jobs }), offered("lean", {}));
  assert(offered("full", { jobs }).includes('"job_output"'));
  // A command waits for its end unless its call says otherwise.
  assertMatch(offered("full", { jobs }), /"run_in_background":\{"type":"boolean","default":false,/);
  for (const word of ["job", "run_in_background"]) assert(!offered("full", {}).includes(word));
});

Deno.test("a lean tier has no room for the list of steps, which others get where it is shown", () => {
  const offered = (promptTier: PromptTier, keepsTasks: boolean) =>
    new CopilotAgent({ promptTier, local: localConfig({ model: "m" }) }, ".", { keepsTasks })
      .offered.some(({ name }) => name === "tasks");
  assertEquals([offered("lean", true), offered("full", true), offered("full", false)], [
    false,
    true,
    false,
  ]);
});

Deno.test("one more tool of its own: not for a lean tier, and the others make room for it", () => {
  const tool = { ...tasksTool, name: "more" };
  const agent = (promptTier: PromptTier) => {
    const made = new CopilotAgent({ promptTier, local: localConfig({ model: "m" }) }, ".");
    made.plug([{ ...tasksTool, name: "of_others" }]);
    made.extend(tool);
    return made;
  };
  const { offered, tools } = agent("full");
  assertEquals(offered.map(({ name }) => name).slice(-2), ["more", "of_others"]);
  assertEquals(offered.map(({ name }) => name), tools.map(({ name }) => name));
  assert(!JSON.stringify(offered).includes('"minimum"'));
  assert(!agent("lean").offered.some(({ name }) => name === "more"));
  assertThrows(() => agent("full").extend(tool), TypeError, "two tools");
});

Deno.test("keep_alive and think go along where they are set", async () => {
  await using server = strictServer(Array.from({ length: 4 }, () => ({ text: "a" })));
  const host = server.url;
  const rows = [
    {},
    { keepAlive: "", think: false },
    { keepAlive: "-1m", think: true },
    { useCompat: true, think: false },
  ];
  for (const settings of rows) {
    const local = localConfig({ host, model: "test", ...settings });
    await processTurn(new CopilotAgent({ local }, "/"), "hi");
  }
  assertEquals(
    server.requests.map(({ body }) => [body.keep_alive, body.think, body.chat_template_kwargs]),
    [
      ["30m", undefined, undefined],
      [undefined, false, undefined],
      ["-1m", true, undefined],
      [undefined, undefined, { enable_thinking: false }],
      // A server that does not know it, as this one, is asked without.
      [undefined, undefined, undefined],
    ],
  );
  assertThrows(() => localConfig({ keepAlive: "soon" }), RangeError, "30m");
});

Deno.test("how much a model is to think goes along in the form of each server", () => {
  const bodyOf = (think: Thinking) => [
    JSON.parse(compatBody(compatConfig({ apiKey: "k", model: "m", think }), [], [], true)),
    JSON.parse(localBody(localConfig({ model: "m", think }), [], [], true)),
    JSON.parse(hostedBody(hostedConfig({ apiKey: "k", model: "m", think }), [], [], true)),
  ];
  const rows = [
    [false, undefined, { enable_thinking: false }, undefined],
    [true, undefined, { enable_thinking: true }, 8192],
    ["low", "low", { enable_thinking: true, reasoning_effort: "low" }, 2048],
    ["high", "high", { enable_thinking: true, reasoning_effort: "high" }, 24_576],
  ] as const;
  for (const [think, effort, kwargs, budget] of rows) {
    const [compat, local, hosted] = bodyOf(think);
    assertEquals([compat.reasoning_effort, compat.chat_template_kwargs], [effort, kwargs]);
    assertEquals(local.think, think);
    assertEquals(hosted.thinking, budget && { type: "enabled", budget_tokens: budget });
    assertEquals(hosted.max_tokens, 8192 + (budget ?? 0));
    assertEquals("temperature" in hosted, budget === undefined);
  }
  // Refused by name, it is left out.
  const config = hostedConfig({ apiKey: "k", model: "m", think: "low" });
  const plain = JSON.parse(hostedBody(config, [], [], true, new Set(["thinking"])));
  assertEquals([plain.thinking, plain.max_tokens], [undefined, 8192]);
  assertThrows(() => localConfig({ model: "m", think: "much" as Thinking }), TypeError, "think");
});

Deno.test("prompts of two folders differ in their end alone, also with a person's instructions", () => {
  for (const promptTier of ["lean", "full"] as const) {
    for (const instructions of ["", "Instructions of the user:\nbe brief"]) {
      const folders = [Deno.makeTempDirSync(), Deno.makeTempDirSync()];
      const [one, other] = folders.map((folder) => {
        const agent = new CopilotAgent({ promptTier, local: localConfig({ model: "m" }) }, folder);
        agent.state.instructions = instructions;
        const { workingDir } = agent.state;
        assert(agent.systemPrompt.endsWith(`\nFolder: ${workingDir}\n`), agent.systemPrompt);
        assert(agent.systemPrompt.includes(instructions));
        return agent.systemPrompt.slice(0, -workingDir.length - 1);
      });
      assertEquals(one, other);
      for (const folder of folders) Deno.removeSync(folder);
    }
  }
});
