import { assertEquals, assertMatch } from "@std/assert";
import { TurnView } from "../../../../src/ui/terminal/session/turn_view.ts";
import { type Keymap, keymapOf } from "../../../../src/ui/terminal/line/actions.ts";
import type { Screen } from "../../../../src/ui/terminal/screen/screen.ts";
import type { ToolExecution } from "../../../../src/types/event.ts";

const none = () => {};
const screen = { print: none, stream: none, update: none } as unknown as Screen;

Deno.test("that calls are recovered from the text is said once a session", () => {
  const { view, text } = written();
  for (let turn = 0; turn < 2; turn++) {
    view.begin("waiting");
    for (const id of ["1", "2"]) {
      view.onEvent({ type: "tool_call_recovered", name: "read_file", id });
    }
    view.end();
  }
  assertEquals(text().match(/recovered/g)?.length, 1);
});

function written(isLive = false, keymap?: Keymap): { view: TurnView; text: () => string } {
  let text = "";
  const to = {
    ...screen,
    isLive,
    print: (line: string) => text += `${line}\n`,
    stream: (piece: string) => text += piece,
  } as unknown as Screen;
  const look = { colors: "none", unicode: true } as const;
  const view = new TurnView(to, look, undefined, keymap);
  return { view, text: () => text.replace(/\d+(\.\d)? m?s\b/g, "N s") };
}

const done = (id: string, part: Partial<ToolExecution> = {}) => ({
  type: "tool_done" as const,
  exec: {
    ...{ toolCallId: id, toolName: "x", arguments: {}, result: `result ${id}` },
    ...{ durationMs: 1, isError: false, outcome: "done" as const },
    ...part,
  },
});

Deno.test("a blank line is between text and lines of ours, and none between those", () => {
  const { view, text } = written();
  view.begin("waiting");
  view.onEvent(done("1"));
  view.onEvent(done("2"));
  view.onEvent({ type: "text_delta", text: "One." });
  view.onEvent({ type: "text_delta", text: "\n\nTwo." });
  view.onEvent({ type: "thinking" });
  view.onEvent(done("3"));
  view.note("so");
  view.onEvent({ type: "text_delta", text: "Three." });
  view.end("· over");
  const call = "● Called  x";
  assertEquals(text().split("\n"), [
    ...["", call, call, "", "One.", "", "Two.", "", call, "so", "", "Three.", "", "· over", "", ""],
  ]);
  const before = text().length;
  view.begin("waiting");
  view.onEvent({ type: "text_delta", text: "Four." });
  view.end();
  assertEquals(text().slice(before), "\nFour.\n\n");
});

Deno.test("a call with a body has a blank row before and after it, calls of one row have none between", () => {
  const { view, text } = written();
  const failed = { details: { exitCode: 1, output: { stderr: "no" } } };
  view.begin("waiting");
  view.onEvent(done("1"));
  view.onEvent(done("2"));
  view.onEvent(done("3", failed));
  view.onEvent(done("4", failed));
  view.onEvent(done("5"));
  view.end("· over");
  const rows = text().replace(/ +failed.*/g, "").split("\n");
  const [call, body] = ["● Called  x", ["● Called  x", "  └ no", ""]];
  assertEquals(rows, ["", call, call, "", ...body, ...body, call, "· over", "", ""]);
});

Deno.test("a failed turn says why in a row with a red sign, and below it what to do", () => {
  const { view, text } = written();
  view.begin("waiting");
  view.fail("HOST answered 500: It broke", "Enter sends it again · /doctor");
  assertEquals(text().split("\n").slice(1, 3), [
    ...["✗ HOST answered 500: It broke", "  Enter sends it again · /doctor"],
  ]);
});

Deno.test("a turn that the user stopped says so, with the failure that it waited to ask again after", () => {
  const { view, text } = written(true);
  view.begin("waiting");
  view.stop();
  view.begin("waiting");
  view.onEvent({ type: "retry", attempt: 1, maxAttempts: 3, delayMs: 9000, reason: "no: way" });
  view.stop();
  assertEquals(text().split("\n").filter((row) => row !== ""), [
    "· Stopped by you. Everything so far is kept; say what to do instead.",
    ...["✗ no: way", "  Stopped by you"],
  ]);
});

Deno.test("a turn that takes long has its message and time in the rule", () => {
  const { now } = performance;
  let time = 0;
  performance.now = () => time;
  try {
    const { view } = written();
    view.begin("waiting", "Fix the tests");
    time = 14_999;
    assertEquals(view.caption, undefined);
    time = 134_000;
    assertEquals(view.caption, { text: "Fix the tests", time: "2:14" });
    view.end();
    assertEquals(view.caption, undefined);
  } finally {
    performance.now = now;
  }
});

Deno.test("reasoning is folded when something else comes, and blank reasoning is none", () => {
  const rows: (() => Parameters<TurnView["onEvent"]>[0] | undefined)[] = [
    () => ({ type: "text_delta", text: "Hi" }),
    () => ({ type: "tool_start", name: "x", args: {}, id: "1" }),
    () => done("1"),
    () => undefined, // the end
  ];
  for (const next of rows) {
    const { view, text } = written(true);
    view.begin("waiting");
    view.onEvent({ type: "reasoning_delta", text: " " });
    view.note("a");
    assertEquals(text(), "\na\n");
    for (const part of ["Hm", "m."]) view.onEvent({ type: "reasoning_delta", text: part });
    const event = next();
    if (event) view.onEvent(event);
    view.end();
    assertEquals(text().match(/thought for/g)?.length, 1);
    assertEquals(text().startsWith("\na\n· thought for N s (Ctrl-O shows it)\n"), true, text());
  }
});

Deno.test("a row says what a person decided about its call, and a look that was asked about stands alone", () => {
  const { view, text } = written(true);
  view.begin("waiting");
  view.onDecided("1", "allowed once");
  view.onDecided("2", "allowed once");
  view.onEvent(looked("1", "read", ".env", 2));
  view.onEvent(done("2", { durationMs: 2000 }));
  view.onEvent(done("3"));
  const [, look, long, other] = text().split("\n");
  assertMatch(look!, /^● Read {4}\.env · 2 lines +allowed once$/);
  assertMatch(long!, /^● Called {2}x +N s · allowed once$/);
  assertEquals(other, "● Called  x");
});

Deno.test("a change is shown below its call, but where its question stands above", () => {
  const change = {
    lines: [{ kind: "+" as const, text: "new", line: 1 }],
    ...{ path: "new", morePlaces: 0, isNew: true },
  };
  const exec = { details: { change, written: { inPlace: "so" } }, result: "for the model" };
  const { view, text } = written();
  const shown = (id: string) => {
    const before = text().length;
    view.onEvent(done(id, exec));
    return text().slice(before);
  };
  using _ = view.onAsked("1");
  assertEquals(shown("1"), "● Called  x  +1\n");
  assertEquals(shown("2"), "\n● Called  x  +1\n    1 + new\n");
  view.end();
  assertEquals(shown("1"), "● Called  x  +1\n    1 + new\n");
  exec.result += "\n\n[1 new error (own):\na:1: no\x1b]";
  assertMatch(shown("2"), /1 \+ new\n {4}\[1 new error \(own\):\n {4}a:1: no␛\]\n$/);
  // A live screen takes the question away.
  const live = written(true);
  using _asked = live.view.onAsked("1");
  live.view.onEvent(done("1", exec));
  assertMatch(live.text(), /1 \+ new/);
});

const looked = (id: string, action: "read" | "search", object: string, n: number) =>
  done(id, {
    subject: action === "read" ? { path: object, action } : { query: object, action },
    details: action === "read"
      ? { range: { first: 1, last: n, total: n, isExact: true } }
      : { counts: { matches: n, files: 1 } },
  });

Deno.test("what is left out says that Ctrl-O shows it, where there is a screen for that", () => {
  const lines = Array.from({ length: 50 }, () => ({ kind: "+" as const, text: "new", line: 1 }));
  const change = { lines, ...{ path: "new", morePlaces: 0, isNew: true } };
  const output = { stdout: "line\n".repeat(9) };
  for (const [isLive, where] of [[true, " · Ctrl-O"], [false, ""]] as const) {
    const { view, text } = written(isLive);
    view.onEvent(done("1", { details: { change } }));
    view.onEvent(done("2", { details: { exitCode: 1, output } }));
    const rows = text().split("\n").filter((row) => row.includes("more line"));
    assertEquals(rows, [`    … 40 more lines${where}`, `    … 4 more lines${where}`]);
  }
});

Deno.test("a list of steps is shown once, then the step at work in the title, until other steps are listed", () => {
  const { view, text } = written(true);
  const planned = (...steps: [text: string, isDone: boolean][]) => {
    const before = text().length;
    const tasks = steps.map(([text, isDone]) => ({ text, isDone }));
    view.onEvent(done("1", { subject: { action: "plan" }, details: { tasks } }));
    return text().slice(before).split("\n").filter((row) => row.startsWith("  "));
  };
  assertEquals(planned(["a", true], ["b", false]), ["  └ ✔ a", "    ▸ b"]);
  assertEquals(planned(["a", false], ["b", true]), []);
  assertEquals(text().trimEnd().endsWith("● Plan    a"), true, text());
  assertEquals(planned(["a", true], ["b", true]), []);
  assertEquals(planned(["a", true], ["c", true]), ["  └ ✔ a", "    ✔ c"]);
});

Deno.test("calls that only look are one row of each verb, which stays open for more", () => {
  const { view, text } = written();
  view.begin("waiting");
  view.onEvent({ type: "text_delta", text: "One." });
  view.onEvent(looked("1", "read", "a", 2));
  view.onEvent(looked("2", "search", "x", 1));
  view.onEvent({ type: "thinking" });
  view.onEvent(looked("3", "read", "b", 1));
  const rows = ["● Read    a (2 lines) · b (1 line)", "● Found   x · 1 match in 1 file"];
  assertEquals(text(), "\nOne.\n");
  assertEquals(view.liveRows()!.slice(0, 3), ["", ...rows]);
  view.onEvent({ type: "text_delta", text: "Two and more " });
  view.onEvent({ type: "text_delta", text: "text." });
  view.end();
  assertEquals(text(), `\nOne.\n\n${rows.join("\n")}\n\nTwo and more text.\n\n`);
  assertEquals(view.liveRows(), undefined);
});

Deno.test("a call that failed ends the open row; so does a dozen", () => {
  const { view, text } = written();
  view.begin("waiting");
  view.onEvent(looked("1", "read", "a", 2));
  view.onEvent(done("2", { outcome: "failed", isError: true, result: "No such file\nmore" }));
  assertEquals(text().split("\n"), [
    ...["", "● Read    a · 2 lines", ""],
    `● Call    x${" ".repeat(63)}failed`,
    ...["  └ No such file", ""],
  ]);
  for (let n = 0; n < 12; n++) view.onEvent(looked("4", "read", `${n}`, 1));
  assertEquals(text().includes(" 11 "), true);
});

Deno.test("while a table is written, that is said", () => {
  const { view } = written();
  view.begin("waiting");
  view.onEvent({ type: "text_delta", text: "Hi\n\n" });
  assertMatch(view.activity.rows(60)?.[0]!, /^. answering /);
  view.onEvent({ type: "text_delta", text: "| a | b |\n|---|---|\n| c |" });
  assertMatch(view.activity.rows(60)?.[0]!, /^. writing a table /);
});

Deno.test("what is said before a call is whole before the call begins", () => {
  const { view, text } = written();
  view.begin("waiting");
  view.onEvent({ type: "text_delta", text: "I look at it" });
  assertEquals(text(), "\nI look at");
  view.onEvent({ type: "call_delta", name: "read_file", text: "" });
  assertEquals(text(), "\nI look at it\n");
});

Deno.test("while a file is written its name, its lines and the newest of them are shown", () => {
  const subjectOf = (_: string, { file_path: path }: Record<string, unknown>) =>
    ({ action: "write", ...typeof path === "string" && { path } }) as const;
  const view = new TurnView(screen, { colors: "none", unicode: true }, subjectOf);
  view.begin("waiting");
  const rows = (text: string) => {
    view.onEvent({ type: "call_delta", name: "write_file", text });
    return view.liveRows()!.map((row) => row.replace(/^. \d+ s/, "N s"));
  };
  assertEquals(rows(""), ["◐ Writing ", "", "N s · 1 token · Esc stops"]);
  assertEquals(rows('{"file_path": "a.ts"')[0], "◐ Writing a.ts");
  assertEquals(rows(', "content": "1\\n2\\n3\\n4\\n5\\n\\u001b6'), [
    ...["◐ Writing a.ts · 6 lines", "  └ 2", "    3", "    4", "    5", "    ␛6", ""],
    "N s · 3 tokens · Esc stops",
  ]);
  assertEquals(rows("")[0], "◐ Writing ");
  // The frame of the spinner changes with the time.
  const still = (rows: readonly string[] = []) =>
    rows.map((row) => row.replace(/^\S \d+ s/, "N s"));
  view.onEvent({ type: "thinking" });
  assertEquals(still(view.liveRows()), still(view.activity.rows(60)?.slice(0, 1)));
  view.note("so");
  assertEquals(still(view.liveRows()), ["", ...still(view.activity.rows(60)?.slice(0, 1))]);
});

Deno.test("a request that is repeated is told of in rows that change, and in lines elsewhere", () => {
  const retry = (attempt: number) =>
    ({ type: "retry", attempt, maxAttempts: 3, delayMs: 9000, reason: "it broke" }) as const;
  const { view, text } = written(true);
  view.begin("waiting");
  for (const attempt of [1, 2]) view.onEvent(retry(attempt));
  assertEquals(view.activity.rows(60)?.map((row) => row.slice(2)), [
    "it broke",
    "next try in 9 s (3 of 3) · Esc stops",
  ]);
  view.onEvent({ ...retry(1), reason: "the server answered 429: rate limit, ".repeat(3) });
  assertEquals(view.activity.rows(40)?.map((row) => row.slice(2)), [
    "the server answered 429: rate limit, ",
    "the server answered 429: rate limit, ",
    "the s…",
    "next try in 9 s (2 of 3) · Esc stops",
  ]);
  view.onEvent({ type: "text_delta", text: "a" });
  assertMatch(view.activity.rows(60)?.[0]!, /^. answering /);
  assertEquals(text(), "\n");
  const plain = written();
  for (const attempt of [1, 2]) plain.view.onEvent(retry(attempt));
  assertEquals(plain.text().match(/\([23] of 3\)/g)?.length, 2);
});

Deno.test("a folded text names the key that shows it, if there is one", () => {
  for (const [bound, ending] of [["f2", " (F2 shows it)"], ["f2 f3", ""]] as const) {
    const keymap = keymapOf({ "ctrl-o": null, [bound]: "transcript" });
    const { view, text } = written(true, keymap);
    view.onEvent({ type: "reasoning_delta", text: "So it is." });
    view.end();
    assertEquals(text().split("\n")[0], `· thought for N s${ending}`);
  }
});

Deno.test("a row below a command says what the sandbox withheld, and how to grant it", () => {
  const { view, text } = written();
  view.begin("waiting");
  const limit = { kind: "network", mayAsk: true } as const;
  view.onEvent(done("1", {
    ...{ toolName: "run_bash", subject: { action: "run", command: "curl -s a" } },
    details: { exitCode: 6, output: { stderr: "no" }, limit },
  }));
  view.end();
  assertMatch(
    text(),
    /Ran +curl -s a +failed · exit 6 · N s\n {2}└ no\n {4}no network in the sandbox: say yes if the model asks, or use --network\n/,
  );
});

Deno.test("Ctrl-B is named as the key that moves a command, unless it has another meaning", () => {
  const { now } = performance;
  let time = 1000;
  performance.now = () => time;
  try {
    for (const action of [undefined, "kill-line"] as const) {
      const live = { ...screen, isLive: true } as Screen;
      const subject = { action: "run", command: "a" } as const;
      const keymap = keymapOf(action ? { "ctrl-b": action } : {});
      const view = new TurnView(live, { colors: "none", unicode: true }, undefined, keymap);
      view.begin("waiting");
      view.onEvent({ type: "tool_start", name: "run_bash", args: {}, id: "1", subject });
      time += 2000;
      const named = view.activity.rows(80)?.[0]?.includes("Ctrl-B moves it");
      assertEquals(named, action === undefined);
    }
  } finally {
    performance.now = now;
  }
});
