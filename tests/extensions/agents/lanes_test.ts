import { assertEquals, assertRejects } from "@std/assert";
import { Lanes } from "../../../src/extensions/agents/lanes.ts";

const never = new AbortController().signal;

Deno.test("lanes: one without slots, else one for each, and one who works alone waits for all", async () => {
  const one = new Lanes([]);
  const order: string[] = [];
  const work = async (lanes: Lanes, name: string, isAlone = false) => {
    using lane = await lanes.enter(isAlone, never);
    order.push(`${name}+${lane.slot ?? ""}`);
    for (let i = 0; i < 50; i++) await Promise.resolve();
    order.push(`${name}-`);
  };
  await Promise.all([work(one, "a"), work(one, "b")]);
  assertEquals(order.splice(0), ["a+", "a-", "b+", "b-"]);
  const two = new Lanes([5, 7]);
  await Promise.all([work(two, "a"), work(two, "b"), work(two, "c", true), work(two, "d")]);
  assertEquals(order, ["a+5", "b+7", "a-", "b-", "c+5", "c-", "d+5", "d-"]);
});

Deno.test("lanes: who is stopped while waiting leaves the queue, and holds nobody up", async () => {
  const lanes = new Lanes([1]);
  const first = await lanes.enter(false, never);
  const stop = new AbortController();
  const second = lanes.enter(true, stop.signal);
  const third = lanes.enter(false, never);
  stop.abort(new Error("stopped"));
  await assertRejects(() => second, Error, "stopped");
  await assertRejects(() => lanes.enter(false, stop.signal), Error, "stopped");
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  using lane = await third;
  assertEquals(lane.slot, 1);
});
