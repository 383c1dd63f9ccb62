import { assertEquals } from "@std/assert";
import { wait } from "../../src/wire/wait.ts";

Deno.test("a wait whose time is over ends at once, and Deno has nothing to warn of", async () => {
  const { setTimeout } = globalThis;
  const times: number[] = [];
  globalThis.setTimeout = ((then: () => void, ms = 0) => {
    times.push(ms);
    return setTimeout(then, 0);
  }) as typeof setTimeout;
  try {
    for (const ms of [-0.008, -5, 0, 3]) await wait(ms, undefined);
  } finally {
    globalThis.setTimeout = setTimeout;
  }
  assertEquals(times, [0, 0, 0, 3]);
});
