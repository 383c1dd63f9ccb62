import { assertEquals } from "@std/assert";
import { Activity } from "../../../../src/ui/terminal/session/activity.ts";
import type { PromptProgress } from "../../../../src/types/event.ts";

/** Runs `body` with an activity, and a clock that it moves. */
function atTimes(
  body: (activity: Activity, at: (ms: number) => string | undefined) => void,
): void {
  const { now } = performance;
  let time = 100_000;
  performance.now = () => time;
  try {
    const activity = new Activity((text) => text);
    const begun = time;
    body(activity, (ms) => {
      time = begun + ms;
      return activity.rows(60)?.[0]?.replace(/^(. )(.*) · (\d+ s.*) · Esc stops$/, "$1$3: $2");
    });
  } finally {
    performance.now = now;
  }
}

Deno.test("the speed is shown after twenty tokens and a second of them", () => {
  atTimes((activity, at) => {
    activity.begin("a");
    at(5000);
    for (let n = 0; n < 21; n++) activity.token("b");
    assertEquals(at(6000)!.slice(2), "6 s · 21 tokens: b");
    assertEquals(at(6001)!.slice(2), "6 s · 21 tokens · 21 tok/s: b");
    assertEquals(at(8000)!.slice(2), "8 s · 21 tokens · 7 tok/s: b");
    activity.onEvent({ type: "thinking" });
    activity.token("c");
    assertEquals(at(8100)!.slice(2), "8 s · 1 token: c");
    activity.begin("/compact");
    activity.countTokens(3);
    assertEquals(at(8200)!.slice(2), "0 s · 3 tokens: /compact");
  });
});

Deno.test("a silence after the answer has begun is a call that is being written", () => {
  atTimes((activity, at) => {
    activity.begin("waiting");
    activity.onEvent({ type: "thinking" });
    assertEquals(at(9000)!.slice(2), "9 s: waiting");
    activity.token("answering");
    assertEquals(at(12_000)!.slice(2), "12 s · 1 token: answering");
    assertEquals(at(12_001)!.slice(2), "12 s · 1 token: writing a call");
    activity.onEvent({ type: "reasoning_delta", text: "Hm" });
    assertEquals(at(12_500)!.slice(2), "12 s · 2 tokens: thinking");
    assertEquals(at(16_000)!.slice(2), "16 s · 2 tokens: writing a call");
    activity.onEvent(started);
    activity.onEvent(done);
    assertEquals(at(20_000)!.slice(2), "20 s · 2 tokens: waiting");
  });
});

const started = { type: "tool_start", name: "read_file", args: {}, id: "1" } as const;
const exec = {
  ...{ toolCallId: "1", toolName: "read_file", arguments: {}, result: "", isError: false },
  ...{ durationMs: 0, outcome: "done" as const },
};
const done = { type: "tool_done", exec } as const;

const PLAIN = { columns: 60, paint: (text: string) => text };

Deno.test("reasoning fills four rows with whole words, then the later ones move up below a mark", () => {
  atTimes((activity) => {
    activity.begin("a");
    const shown = (delta: string) => {
      activity.onEvent({ type: "reasoning_delta", text: delta });
      return activity.callRows({ ...PLAIN, columns: 22 });
    };
    activity.onEvent({ type: "reasoning_delta", text: "from before" });
    activity.token("answering");
    activity.onEvent({ type: "reasoning_delta", text: "x\n" });
    assertEquals(shown("y"), ["  x"]);
    assertEquals(shown(" and more "), ["  x y and more"]);
    assertEquals(shown("w\x1bords of it"), ["  x y and more w␛ords", "  of"]);
    assertEquals(shown("s and of others "), ["  x y and more w␛ords", "  of its and of others"]);
    const last = ["  of its and of others", "  日日日日日日日日日日", "  b"];
    assertEquals(shown("日日日日日日日日日日 b "), ["  x y and more w␛ords", ...last]);
    const newest = ["… of its and of others", last[1], "  b and more than that", "  is"];
    assertEquals(shown("and more than that is "), newest);
    assertEquals(activity.rows(60), ["⠸ thinking · 0 s · 9 tokens · Esc stops"]);
    activity.token("answering");
    assertEquals(activity.callRows(PLAIN), []);
  });
});

Deno.test("that the model loads is shown until the next look is overdue, or a token comes", () => {
  atTimes((activity, at) => {
    activity.begin("a");
    activity.onEvent({ type: "loading", model: "m\x1b", nextLookMs: 1000 });
    assertEquals([2999, 3000].map((ms) => at(ms)!.slice(2)), ["2 s: loading m␛", "3 s: a"]);
    activity.onEvent({ type: "loading", model: "m" });
    assertEquals(at(1_000_000)!.slice(2), "1000 s: loading m");
    activity.token("b");
    assertEquals(at(1_000_000)!.slice(2), "1000 s · 1 token: b");
    activity.onEvent({ type: "loading", model: "m" });
    activity.begin("c");
    assertEquals(at(1_000_000)!.slice(2), "0 s: c");
  });
});

Deno.test("a tool that runs for more than half a second shows its newest lines, if it has some", () => {
  atTimes((activity, at) => {
    activity.begin("a");
    at(5000);
    const subject = { command: "ls", action: "run" } as const;
    activity.onEvent({ ...started, name: "run_bash", args: { command: "ls" }, subject });
    let newest = `x\x1b\n${"y".repeat(20)}`;
    activity.toolPrints(() => newest);
    const shown = (ms: number) => (at(ms), activity.callRows({ ...PLAIN, columns: 14 }));
    assertEquals([shown(5500), shown(5501)], [["◐ Running ls"], [
      ...["◐ Running ls", "  └ x␛", "    yyyyyyyyyy"],
    ]]);
    assertEquals(at(7001)!.slice(2), "running · Esc stops · Ctrl-B moves it to the background");
    newest = "1\n2\n3\n4\n5\n6";
    const rows = ["  └ … 1 earlier line", ...[2, 3, 4, 5, 6].map((n) => `    ${n}`)];
    assertEquals(activity.callRows(PLAIN).slice(1), rows);
    newest = " ";
    assertEquals(activity.callRows(PLAIN), [`◐ Running ls${" ".repeat(45)}2 s`]);
    newest = "y";
    activity.onEvent(done);
    assertEquals([activity.callRows(PLAIN), at(7001)!.slice(5)], [[], ": waiting"]);
  });
});

Deno.test("a call that only reads has a row of its own once it takes long", () => {
  atTimes((activity, at) => {
    activity.begin("a");
    const subject = { path: "a.ts", action: "read" } as const;
    activity.onEvent({ ...started, subject });
    assertEquals([at(400)!.slice(2), activity.callRows(PLAIN)], ["0 s: Reading a.ts", []]);
    at(600);
    assertEquals(activity.callRows(PLAIN), ["◐ Reading a.ts"]);
  });
});

Deno.test("how much of the prompt was read is shown until the answer begins", () => {
  atTimes((activity, at) => {
    activity.begin("a");
    activity.onEvent({ type: "loading", model: "m" });
    activity.onEvent({ type: "prompt_progress", processed: 8100, total: 13_000, cached: 5000 });
    assertEquals(at(0)!.slice(2), "0 s: reading 62 % · 8.1k of 13.0k");
    activity.onEvent({ type: "prompt_progress", processed: 900, total: 900, cached: 0, ms: 1000 });
    assertEquals(at(0)!.slice(2), "0 s: reading 100 % · 900 of 900 · 900 tok/s");
    activity.onEvent({
      type: "prompt_progress",
      processed: 300,
      total: 900,
      cached: 0,
      ms: 60_000,
    });
    const ages = [0, 100_000, 120_000];
    assertEquals(ages.map((ms) => at(ms)!.replace(/.*tok/, "tok")), [
      "tok/s · 2 min left",
      "tok/s · 20 s left",
      "tok/s",
    ]);
    activity.token("b");
    assertEquals(at(0)!.slice(2), "0 s · 1 token: b");
  });
});

Deno.test("of how much of the prompt was read, a terminal shows what fits, the time first of all", () => {
  const half = { processed: 10_100, total: 20_000, cached: 2000, ms: 18_000 };
  const start = { processed: 0, total: 20_000, cached: 0 };
  const slow = { processed: 2048, total: 4000, cached: 2000, ms: 10_000 };
  const rows: [progress: PromptProgress, columns: number, row: string][] = [
    [half, 120, "reading 50 % · 10.1k of 20.0k (2.0k cached) · 450 tok/s · 22 s left"],
    [half, 87, "reading 50 % · 10.1k of 20.0k (2.0k cached) · 450 tok/s · 22 s left"],
    [half, 86, "reading 50 % · 10.1k of 20.0k · 450 tok/s · 22 s left"],
    [half, 40, "reading 50 % · 450 tok/s · 22 s left"],
    [half, 30, "reading 50 % · 22 s left"],
    [half, 20, "reading 50 %"],
    [start, 40, "reading 0 % · 0 of 20.0k"],
    [slow, 40, "reading 51 % · 4.8 tok/s · 7 min left"],
  ];
  atTimes((activity) => {
    activity.begin("a");
    for (const [progress, columns, row] of rows) {
      activity.onEvent({ type: "prompt_progress", ...progress });
      const [first = ""] = activity.rows(columns)!;
      assertEquals([first.length <= columns, first.replace(/^. | · 0 s · Esc stops$/g, "")], [
        true,
        row,
      ]);
    }
  });
});

Deno.test("on a narrow terminal what goes on has a row of its own, above the numbers", () => {
  atTimes((activity) => {
    activity.begin("a");
    activity.token("writing");
    assertEquals(activity.rows(60), ["⠸ writing · 0 s · 1 token · Esc stops"]);
    assertEquals(activity.rows(59), ["⠸ writing", "  0 s · 1 token · Esc stops"]);
    activity.end();
    assertEquals(activity.rows(59), undefined);
  });
});
