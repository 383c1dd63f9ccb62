import { assertEquals } from "@std/assert";
import { Activity } from "../../../../src/ui/terminal/session/activity.ts";
import type { ToolExecution } from "../../../../src/types/event.ts";

/** Runs `body` with a clock that it sets, in milliseconds. */
function atTimes(body: (activity: Activity, at: (ms: number) => void) => void): void {
  const { now } = performance;
  let time = 1000;
  performance.now = () => time;
  try {
    const activity = new Activity((text) => text);
    activity.begin("");
    body(activity, (ms) => time = 1000 + ms);
  } finally {
    performance.now = now;
  }
}

const call = { type: "tool_done", exec: {} as ToolExecution } as const;
const usage = (outputTokens: number) =>
  ({ type: "usage", usage: { inputTokens: 1, outputTokens } }) as const;

Deno.test("a turn is told of from five seconds on, or from one with calls", () => {
  const rows: [ms: number, calls: number, shown: string | undefined][] = [
    [4999, 0, undefined],
    [5000, 0, "Worked 5 s"],
    [999, 1, undefined],
    [1000, 1, "Worked 1 s"],
    [59_499, 1, "Worked 59 s"],
    [60_000, 1, "Worked 1 min 0 s"],
    [125_000, 1, "Worked 2 min 5 s"],
  ];
  for (const [ms, calls, shown] of rows) {
    atTimes((activity, at) => {
      for (let n = 0; n < calls; n++) activity.onEvent(call);
      at(ms);
      assertEquals(activity.summary(), shown);
    });
  }
});

Deno.test("tokens are those that the server counted, else about one a piece", () => {
  atTimes((activity, at) => {
    activity.onEvent({ type: "thinking" });
    at(3000);
    for (let n = 0; n < 10; n++) activity.countTokens();
    at(5000);
    activity.countTokens();
    activity.onEvent(usage(2000));
    at(20_000);
    activity.onEvent({ type: "thinking" });
    for (let n = 0; n < 40; n++) activity.countTokens();
    at(30_000);
    assertEquals(activity.summary(), "Worked 30 s · 2.0k tokens");
    activity.begin("");
    // Some servers do not count the arguments of calls.
    for (let n = 0; n < 5; n++) activity.countTokens();
    activity.onEvent(usage(2));
    at(36_000);
    assertEquals(activity.summary(), "Worked 6 s");
    const details = { usage: { inputTokens: 900, outputTokens: 995 } };
    activity.onEvent({ type: "tool_done", exec: { details } as ToolExecution });
    assertEquals(activity.summary(), "Worked 6 s · 1.0k tokens");
  });
});

Deno.test("the files that were edited are counted once each, with their lines", () => {
  atTimes((activity, at) => {
    const edit = (path: string, ...kinds: ("+" | "-" | " ")[]) => {
      const change = { path, lines: kinds.map((kind) => ({ kind, text: "x" })), morePlaces: 0 };
      activity.onEvent({
        type: "tool_done",
        exec: { details: { change } } as unknown as ToolExecution,
      });
    };
    edit("a", "+", "-", " ");
    at(2000);
    assertEquals(activity.summary(), "Worked 2 s · 1 file edited +1 −1");
    edit("a", "+");
    edit("b", "+");
    assertEquals(activity.summary(), "Worked 2 s · 2 files edited +3 −1");
    activity.begin("");
    activity.onEvent(call);
    at(4000);
    assertEquals(activity.summary(), "Worked 2 s");
  });
});

Deno.test("the time of a question does not count", () => {
  atTimes((activity, at) => {
    at(1000);
    at(60_000);
    activity.exclude(59_000);
    activity.onEvent(call);
    at(63_000);
    assertEquals(activity.summary(), "Worked 4 s");
  });
});
