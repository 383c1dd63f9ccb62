import { assertEquals } from "@std/assert";
import type { Display } from "../../../../src/ui/terminal/session/display.ts";
import { TerminalQuestions } from "../../../../src/ui/terminal/session/terminal_questions.ts";
import { TurnView } from "../../../../src/ui/terminal/session/turn_view.ts";
import type { Approval } from "../../../../src/safety/approval.ts";
import type { Confirmation } from "../../../../src/session/frontend.ts";
import { DEFAULT_KEYMAP, keymapOf } from "../../../../src/ui/terminal/line/actions.ts";
import { LiveScreen } from "../../../../src/ui/terminal/screen/live_screen.ts";
import type { ChoiceList } from "../../../../src/ui/terminal/screen/screen.ts";
import { FakeTerminal } from "../screen/fake_terminal.ts";

const { signal } = new AbortController();

/** A person who answers with these lines in turn, null for Esc, and what they are shown. */
function person(answers: (string | null)[], isLive = true) {
  const seen: string[] = [];
  const screen = {
    notify: (text: string) => void seen.push(`! ${text}`),
    print: (text: string) => void seen.push(text),
    ask(prompt: string, objection: (line: string) => string | undefined) {
      seen.push(prompt);
      const line = answers.shift() ?? null;
      const wrong = line === null ? undefined : objection(line);
      if (wrong !== undefined) seen.push(wrong);
      return Promise.resolve(line);
    },
    choose({ title, hint, items }: ChoiceList<boolean>) {
      seen.push(title, hint!);
      const key = answers.shift();
      return Promise.resolve(items.find((item) => item.key === key)?.value ?? null);
    },
  };
  const view = {
    onAsked(id: string) {
      seen.push(`asked ${id}`);
      return { [Symbol.dispose]: () => void seen.push("answered") };
    },
    print: (text: string) => void seen.push(...text.split("\n").slice(0, 2)),
  };
  const display = {
    isLive,
    columns: 80,
    appearance: { unicode: true },
    paint: (text: string) => text,
    screen,
    view,
  };
  const one = new TerminalQuestions(
    display as unknown as Display,
    () => void seen.push("cancelled"),
  );
  return { one, seen };
}

const approval: Approval = {
  call: { id: "1", name: "run_bash", arguments: { command: "ls" } },
  subject: { action: "run", command: "ls" },
  reason: "executes",
  isRoutine: true,
  isFromUser: false,
  choices: ["once", "refuse"],
};

Deno.test("a question about a call is told of, shown and answered; none typed cancels what goes on", async () => {
  const yes = person(["y"]);
  assertEquals(await yes.one.approve(approval, signal), { choice: "once" });
  const shown = ["asked 1", "! copilot asks: Run this command?", "", "Run this command"];
  assertEquals(yes.seen, [...shown, "Run this command? [y/n/?] ", "answered"]);
  const none = person([null]);
  assertEquals(await none.one.approve(approval, signal), { choice: "refuse", reason: "" });
  assertEquals(none.seen.slice(-2), ["cancelled", "answered"]);
});

/** A question on a live screen of 40 by 12: its rows, its keys, and its answer. */
async function liveQuestion(request: Approval, keymap = DEFAULT_KEYMAP, draft = "") {
  const terminal = new FakeTerminal();
  const screen = new LiveScreen({
    ...{ sgr: () => "", unicode: true, keymap, footer: () => "", activity: () => undefined },
    ...{ history: () => [], onStop() {}, onEnd() {} },
  }, terminal);
  const paint = (text: string) => text;
  const appearance = { unicode: true, colors: "none" } as const;
  const view = new TurnView(screen, appearance);
  const display = { isLive: true, columns: 40, keymap, appearance, paint, screen, view };
  const one = new TerminalQuestions(display as unknown as Display, () => {});
  await terminal.type(draft);
  const answer = one.approve(request, signal);
  await terminal.until((rows) => rows.some((row) => row.includes("Stop typing")));
  await terminal.wait(draft === "" ? 300 : 1000);
  await terminal.until((rows) => !rows.some((row) => row.includes("Stop typing")));
  return { one, terminal, answer, [Symbol.dispose]: () => screen[Symbol.dispose]() };
}

Deno.test("SEC the Enter that was meant for a draft never allows a call; the draft stays visible", async () => {
  using asked = await liveQuestion(approval, DEFAULT_KEYMAP, "also fix b");
  const { terminal, answer } = asked;
  await terminal.until((rows) => rows.includes("draft: also fix b"));
  await terminal.type("\r");
  assertEquals(terminal.rows.includes("▌   y  Yes"), true, terminal.rows.join("\n"));
  await terminal.type("\x1b[B\r");
  assertEquals(await answer, { choice: "once" });
  await terminal.until((rows) => rows.includes("> also fix b"));
});

const long = Array.from({ length: 20 }, (_, n) => `line ${n}`).join("\n");
const LOOK = "▌   see all of it first: Ctrl-O · Esc stop";

Deno.test("CMD-05 what is cut takes no yes before it was seen, unless it is a change that can be taken back", async () => {
  const call = (name: string, args: Record<string, unknown>) => ({
    id: "1",
    name,
    arguments: args,
  });
  const command = { ...approval, call: call("run_bash", { command: long }) };
  const ofServer = { ...approval, subject: {}, call: call("mcp__s__send", { text: long }) };
  for (
    const request of [{ ...command, subject: { command: long, action: "run" as const } }, ofServer]
  ) {
    using asked = await liveQuestion(request);
    await asked.terminal.type("y");
    await asked.terminal.until((rows) => rows.some((row) => row.startsWith(LOOK.slice(0, 32))));
    asked.one.openQuestion!.onSeen();
    await asked.terminal.type("y");
    assertEquals(await asked.answer, { choice: "once" });
  }
  const lines = Array.from(
    { length: 20 },
    (_, n) => ({ kind: "+" as const, text: "x", line: n + 1 }),
  );
  using edit = await liveQuestion({
    ...approval,
    call: call("edit_file", { path: "a.ts" }),
    subject: { action: "edit", path: "a.ts" },
    preview: { path: "a.ts", isNew: false, morePlaces: 0, lines },
  });
  assertEquals(edit.terminal.rows.some((row) => row.includes("hidden · Ctrl-O")), true);
  await edit.terminal.type("y");
  assertEquals(await edit.answer, { choice: "once" });
});

Deno.test("a question names the key that shows all of it; where none does, all stands above it", async () => {
  const request = {
    ...approval,
    subject: {},
    call: { ...approval.call, arguments: { text: long } },
  };
  using other = await liveQuestion(request, keymapOf({ "ctrl-o": null, "f2": "transcript" }));
  assertEquals(other.terminal.rows.some((row) => row.endsWith("hidden · F2")), true);
  using none = await liveQuestion(request, keymapOf({ "ctrl-o": null, "f2 f3": "transcript" }));
  for (const line of long.split("\n")) {
    assertEquals(none.terminal.output.includes(`│ ${line}`), true);
  }
  assertEquals(none.terminal.rows.some((row) => row.includes(" hidden · ")), false);
  await none.terminal.type("y");
  assertEquals(await none.answer, { choice: "once" });
});

Deno.test("a server is confirmed in a list; without a live screen nothing is asked", async () => {
  const question: Confirmation = {
    kind: "server",
    text: 'The MCP server s of /f/.mcp.json:\n  command: ["tool"]',
    title: "Use this server?",
    files: [],
  };
  for (const [key, answer] of [["y", true], ["n", false], [null, undefined]] as const) {
    const { one, seen } = person([key]);
    assertEquals(await one.confirm(question, signal), answer);
    const hint = "y or n · Esc decides later";
    assertEquals(seen, [`${question.text}\nUse this server?`, hint]);
  }
  const check = person([null]);
  const about: Confirmation = { kind: "check", text: "", title: "Does that count?", files: [] };
  assertEquals(await check.one.confirm(about, signal), undefined);
  assertEquals(check.seen, [about.title, "y or n · Esc stops", "cancelled"]);
  const silent = person(["y"], false);
  assertEquals([await silent.one.confirm(question, signal), silent.seen], [undefined, []]);
});
