import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { CopilotAgent } from "../../src/agent/agent.ts";
import { processTurn } from "../../src/agent/turn.ts";
import { compatConfig, hostedConfig, localConfig, type PromptTier } from "../../src/config.ts";
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
      const agent = new CopilotAgent({ promptTier, ...config }, "/", { jobs, keepsTasks: true });
      await processTurn(agent, "hi");
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
  const found = [offered("lean", true), offered("full", true), offered("full", false)];
  assertEquals(found, [false, true, false]);
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
