import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { type Limit, wait, type Watchdog, watchdog } from "../../src/wire/watchdog.ts";
import { leakTest } from "./http_helper.ts";

/** Which limit a watch reaches. */
function reached(
  limits: { firstTokenTimeoutMs: number; idleTimeoutMs: number },
  feed: (watch: Watchdog) => void,
): Promise<Limit> {
  return new Promise((resolve) => {
    const watch = watchdog(limits, (limit) => {
      watch.stop();
      resolve(limit);
    });
    feed(watch);
  });
}

leakTest("NET-12 watchdog tells which limit was reached", async () => {
  const rows: [
    firstTokenTimeoutMs: number,
    idleTimeoutMs: number,
    feed: (watch: Watchdog) => void,
    limit: Limit,
  ][] = [
    [20, 1e6, () => {}, "first token"],
    // Silence before the answer begins is the first-token limit's alone.
    [20, 10, () => {}, "first token"],
    [1e6, 20, (watch) => watch.bytes(), "idle"],
    [20, 1e6, (watch) => watch.bytes(), "first token"],
    [20, 1e6, (watch) => (watch.bytes(), watch.progress()), "progress"],
    [1e6, 1e6, (watch) => (watch.bytes(), watch.done(20)), "done"],
  ];
  for (const [firstTokenTimeoutMs, idleTimeoutMs, feed, limit] of rows) {
    assertEquals(await reached({ firstTokenTimeoutMs, idleTimeoutMs }, feed), limit);
  }
});

leakTest(
  "NET-12 watchdog: bytes keep an answer alive, but without progress not for ever",
  async () => {
    let bytes = 0;
    let watch: Watchdog | undefined;
    const pings = setInterval(() => {
      watch?.bytes();
      bytes++;
    }, 5);
    const limit = await reached({ firstTokenTimeoutMs: 300, idleTimeoutMs: 150 }, (w) => watch = w);
    clearInterval(pings);
    assertEquals(limit, "first token");
    assertEquals(bytes > 5, true);
  },
);

leakTest("NET-12 watchdog: a machine that slept is given its limits anew", async () => {
  const real = performance.now;
  let shift = 0;
  performance.now = () => real.call(performance) + shift;
  try {
    const begin = real.call(performance);
    const limit = await reached(
      { firstTokenTimeoutMs: 60, idleTimeoutMs: 1e6 },
      () => shift = 3_600_000,
    );
    assertEquals(limit, "first token");
    assertEquals(real.call(performance) - begin >= 110, true); // 60 ms twice
  } finally {
    performance.now = real;
  }
});

leakTest(
  "NET-10 wait ends at once with the signal's reason, and leaves no timer behind",
  async () => {
    await wait(1, undefined);
    const reason = new Error("user");
    assertStrictEquals(await assertRejects(() => wait(1e6, AbortSignal.abort(reason))), reason);
    const controller = new AbortController();
    const waiting = assertRejects(() => wait(1e6, controller.signal));
    controller.abort(reason);
    assertStrictEquals(await waiting, reason);
  },
);

leakTest("NET-12 watchdog: what came while the process was kept waiting counts", async () => {
  const limit = await reached({ firstTokenTimeoutMs: 20, idleTimeoutMs: 1e6 }, (watch) => {
    setTimeout(() => watch.progress(), 30);
    for (const end = performance.now() + 60; performance.now() < end;);
  });
  assertEquals(limit, "progress");
});

leakTest("watchdog: a pause does not count, and ends with all limits anew", async () => {
  for (const feed of [() => {}, (watch: Watchdog) => watch.bytes()]) {
    let resumed = 0;
    const limit = await reached({ firstTokenTimeoutMs: 20, idleTimeoutMs: 20 }, (watch) => {
      feed(watch);
      const { promise, resolve } = Promise.withResolvers<void>();
      watch.pause(promise);
      setTimeout(() => {
        resumed = performance.now();
        resolve();
      }, 100);
    });
    assert(resumed > 0 && performance.now() - resumed >= 19, `${limit} after ${resumed}`);
  }
});
