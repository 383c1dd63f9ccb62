import { assertEquals } from "@std/assert";
import { ToolSilence } from "../../src/models/tool_silence.ts";
import type { ToolExecution, TurnResult } from "../../src/types/event.ts";

const turn = (response: string, more: Partial<TurnResult> = {}): TurnResult => ({
  ...{ response, toolExecutions: [], inputTokens: 1, outputTokens: 1, stopReason: "done" },
  ...more,
});
const code = turn("Write this:\n```ts\nconst a = 1;\n```\n");

Deno.test("a model that shows code and calls no tool is told of once, with the fifth turn", () => {
  const silence = new ToolSilence();
  const said = ["Hello.", "Use `ls`."].map((text) => silence.isNews("m", turn(text)));
  const news = [1, 2, 3, 4, 5, 6].map(() => silence.isNews("m", code));
  assertEquals([said, news], [[false, false], [false, false, false, false, true, false]]);
  assertEquals([1, 2, 3, 4, 5].map(() => silence.isNews("other", code)).at(-1), true);
});

Deno.test("a model that has called a tool is not told of, nor are turns that were stopped", () => {
  const silence = new ToolSilence();
  const stopped = { ...code, stopReason: "aborted" } as const;
  assertEquals([1, 2, 3, 4, 5, 6].some(() => silence.isNews("m", stopped)), false);
  silence.isNews("m", turn("Read it.", { toolExecutions: [{} as ToolExecution] }));
  assertEquals([1, 2, 3, 4, 5, 6].some(() => silence.isNews("m", code)), false);
});
