import { assertEquals } from "@std/assert";
import type { Display } from "../../../src/frontends/terminal/display.ts";
import { Person } from "../../../src/frontends/terminal/person.ts";
import type { Approval, ServerQuestion } from "../../../src/session/frontend.ts";

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
    look: { unicode: true },
    paint: (text: string) => text,
    screen,
    view,
  };
  const one = new Person(display as unknown as Display, () => void seen.push("cancelled"));
  return { one, seen };
}

const approval: Approval = {
  call: { id: "1", name: "run_bash", arguments: { command: "ls" } },
  subject: { action: "run", command: "ls" },
  reason: "executes",
  isRoutine: true,
  isOfPerson: false,
  choices: ["once", "refuse"],
};

Deno.test("a question about a call is told of, shown and answered; none typed cancels what goes on", async () => {
  const yes = person(["y"]);
  assertEquals(await yes.one.approve(approval, signal), { choice: "once" });
  const shown = ["asked 1", "! copilot asks: Run this?", "", "The model wants to run a command:"];
  assertEquals(yes.seen, [...shown, "Run this? [y/n/?] ", "answered"]);
  const none = person([null]);
  assertEquals(await none.one.approve(approval, signal), { choice: "refuse", reason: "" });
  assertEquals(none.seen.slice(-2), ["cancelled", "answered"]);
});

Deno.test("a server is confirmed with a line; nobody is asked where nobody types", async () => {
  const question: ServerQuestion = {
    ...{ type: "server", name: "s", file: "/f/.mcp.json" },
    ...{ definition: { command: ["tool"] }, variables: [] },
  };
  for (const [line, answer] of [["y", true], ["no", false], [null, undefined]] as const) {
    const { one, seen } = person([line]);
    assertEquals(await one.confirm(question, signal), answer);
    assertEquals(seen, [
      'The MCP server s of /f/.mcp.json:\n  command: ["tool"]',
      "Use this server? [y/n] ",
    ]);
  }
  const changed = person(["maybe"]);
  await changed.one.confirm({ ...question, changes: [] }, signal);
  assertEquals(changed.seen.slice(1), [
    "Offer these tools to the model? [y/n] ",
    "  y or n; Esc decides later",
  ]);
  const silent = person(["y"], false);
  assertEquals([await silent.one.confirm(question, signal), silent.seen], [undefined, []]);
});
