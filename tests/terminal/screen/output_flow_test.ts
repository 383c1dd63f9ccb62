import { assertEquals } from "@std/assert";
import { OutputFlow } from "../../../src/terminal/screen/output_flow.ts";

const ASK_STATUS = "\x1b[5n";

/** A flow with a clock. */
function flow() {
  const clock = { now: 0 };
  return { clock, flow: new OutputFlow(() => clock.now) };
}

Deno.test("a terminal that never told its status is not asked, and gets less where it takes writes slowly", () => {
  const { flow: one } = flow();
  assertEquals([one.wrote(8000, 1), one.isFull(), one.room], ["", false, 8192]);
  one.wrote(8192, 400);
  assertEquals(one.room, 2048);
  one.wrote(100, 400);
  assertEquals(one.room, 256);
  one.wrote(200, 1);
  assertEquals([one.room, one.isAsked], [512, false]);
});

Deno.test("one that answers is asked behind much, and gets no frame while it is slow to answer", () => {
  const { clock, flow: one } = flow();
  one.answered();
  assertEquals([one.room, one.wrote(511, 0), one.isAsked], [1024, "", false]);
  assertEquals([one.wrote(600, 0), one.isAsked, one.isFull()], [ASK_STATUS, true, false]);
  // Some more may follow at once, but no more than a frame's text.
  assertEquals([one.wrote(1024, 0), one.isFull(), one.wrote(1, 0), one.isFull()], [
    ...["", false, "", true],
  ]);
  one.answered();
  assertEquals([one.room, one.isAsked, one.isFull()], [2048, false, false]);
  // What was written since the question counts for the next one.
  assertEquals(one.wrote(1, 0), ASK_STATUS);
  clock.now += 100;
  assertEquals(one.isFull(), false);
  clock.now += 1;
  assertEquals(one.isFull(), true);
  clock.now += 899;
  one.answered();
  assertEquals([one.room, one.isFull()], [256, false]);
  // A slow one is asked behind each frame, until it is fast again.
  assertEquals([one.wrote(30, 0), one.isFull()], [ASK_STATUS, true]);
  one.answered();
  assertEquals([one.wrote(30, 0), one.isAsked, one.isFull()], ["", false, false]);
});

Deno.test("a terminal that tells its status no more is not waited for any longer", () => {
  const { clock, flow: one } = flow();
  one.answered();
  assertEquals(one.wrote(600, 0), ASK_STATUS);
  clock.now += 3000;
  assertEquals(one.isFull(), true);
  clock.now += 1;
  assertEquals([one.isFull(), one.isAsked, one.wrote(600, 0)], [false, false, ""]);
  one.answered();
  assertEquals(one.wrote(1, 0), ASK_STATUS);
});
