import { assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { wait } from "../../src/wire/wait.ts";
import { type Limit, Watchdog } from "../../src/wire/watchdog.ts";
import { leakTest as test } from "./http_helper.ts";

/** A clock that stands still until it is moved; `sleep` moves it without a timer firing on time. */
class FakeClock {
  #now = 0;
  readonly #timers = new Set<{ at: number; callback: () => void }>();

  now(): number {
    return this.#now;
  }
  once(ms: number, callback: () => void): () => void {
    const timer = { at: this.#now + ms, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }
  /** Moves the clock on by `ms` to `end`, each timer firing when it is due. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const [next] = [...this.#timers].sort((a, b) => a.at - b.at);
      if (next === undefined || next.at > end) break;
      this.#now = Math.max(this.#now, next.at);
      this.#timers.delete(next);
      next.callback();
    }
    this.#now = end;
  }
  /** Moves the clock on by `ms`; the timers that are due fire at the next move. */
  sleep(ms: number): void {
    this.#now += ms;
  }
}

/** A watch over a fake clock; `reached` lists each limit that was reached, with its time. */
function watched(firstTokenTimeoutMs: number, idleTimeoutMs: number) {
  const clock = new FakeClock();
  const reached: [Limit, number][] = [];
  const watch = new Watchdog({ firstTokenTimeoutMs, idleTimeoutMs }, (limit) => {
    reached.push([limit, clock.now()]);
    watch.stop();
  }, clock);
  return { clock, watch, reached };
}

/** The time for which a limit that is reached waits for bytes that were not read yet. */
const LAST_READ_MS = 100;

Deno.test("NET-12 watchdog tells which limit was reached, and when", () => {
  const rows: [
    firstTokenTimeoutMs: number,
    idleTimeoutMs: number,
    feed: (watch: Watchdog) => void,
    limit: Limit,
    ms: number,
  ][] = [
    [20, 1e6, () => {}, "first token", 20 + LAST_READ_MS],
    // Silence before the answer begins is the first-token limit's alone.
    [20, 10, () => {}, "first token", 20 + LAST_READ_MS],
    [20, 20, (watch) => watch.bytes(), "first token", 20 + LAST_READ_MS],
    [1e6, 20, (watch) => watch.bytes(), "idle", 20 + LAST_READ_MS],
    [20, 1e6, (watch) => (watch.bytes(), watch.progress()), "progress", 20 + LAST_READ_MS],
    // A complete answer has its grace to the millisecond.
    [1e6, 1e6, (watch) => (watch.bytes(), watch.done(20)), "done", 20],
    [1e6, 1e6, (watch) => (watch.bytes(), watch.done(5_000)), "done", 5_000],
  ];
  for (const [firstTokenTimeoutMs, idleTimeoutMs, feed, limit, ms] of rows) {
    const { clock, watch, reached } = watched(firstTokenTimeoutMs, idleTimeoutMs);
    feed(watch);
    clock.advance(ms - 1);
    assertEquals(reached, [], limit);
    clock.advance(1e7);
    assertEquals(reached, [[limit, ms]]);
  }
});

Deno.test("NET-12 watchdog: a machine that slept is given its limits anew", () => {
  const rows: [sleepMs: number, ms: number][] = [
    [3_600_000, 3_600_000 + 60 + LAST_READ_MS],
    [60 + 5_001, 60 + 5_001 + 60 + LAST_READ_MS],
    // A process that was only slow has no more time than others.
    [60 + 5_000, 60 + 5_000 + LAST_READ_MS],
  ];
  for (const [sleepMs, ms] of rows) {
    const { clock, reached } = watched(60, 1e6);
    clock.sleep(sleepMs);
    clock.advance(1e6);
    assertEquals(reached, [["first token", ms]]);
  }
});

Deno.test("NET-12 watchdog: what came while the process was kept waiting counts", () => {
  const { clock, watch, reached } = watched(20, 1e6);
  clock.sleep(60);
  clock.advance(0); // the limit is noticed, and then the bytes that had come are read
  watch.bytes();
  watch.progress();
  clock.advance(1e6);
  assertEquals(reached, [["progress", 60 + 20 + LAST_READ_MS]]);
});

Deno.test("watchdog: a pause does not count, and ends with all limits anew", async () => {
  for (const feed of [() => {}, (watch: Watchdog) => watch.bytes()]) {
    const { clock, watch, reached } = watched(20, 20);
    feed(watch);
    const { promise, resolve } = Promise.withResolvers<void>();
    watch.pause(promise);
    clock.advance(1_000);
    assertEquals(reached, []);
    resolve();
    await promise.then(() => {});
    clock.advance(19);
    assertEquals(reached, []);
    clock.advance(1e6);
    assertEquals(reached.length, 1);
  }
});

test("NET-12 watchdog keeps its limits by the system's clock, and leaves no timer", async () => {
  const { promise, resolve } = Promise.withResolvers<Limit>();
  const watch = new Watchdog({ firstTokenTimeoutMs: 20, idleTimeoutMs: 1e6 }, resolve);
  assertEquals(await promise, "first token");
  watch.stop();
});

test("NET-10 wait ends at once with the signal's reason, and leaves no timer behind", async () => {
  await wait(1, undefined);
  const reason = new Error("user");
  assertStrictEquals(await assertRejects(() => wait(1e6, AbortSignal.abort(reason))), reason);
  const controller = new AbortController();
  const waiting = assertRejects(() => wait(1e6, controller.signal));
  controller.abort(reason);
  assertStrictEquals(await waiting, reason);
});
