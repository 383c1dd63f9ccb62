import { assertEquals } from "@std/assert";
import { endingWith, wait } from "../../src/wire/wait.ts";

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

Deno.test("a controller ends with another signal until it is disposed of, and by itself", () => {
  const outer = new AbortController();
  const own = endingWith(outer.signal);
  const late = endingWith(outer.signal);
  late[Symbol.dispose]();
  const alone = endingWith(outer.signal);
  alone.abort("its own");
  outer.abort("all");
  assertEquals([own.signal.reason, late.signal.aborted], ["all", false]);
  assertEquals(alone.signal.reason, "its own");
});
