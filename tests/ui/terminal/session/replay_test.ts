import { use } from "../../../helpers/strict_server.ts";
import { assert, assertEquals } from "@std/assert";
import { notePart, userMessage } from "../../../../src/text/parts.ts";
import { replay } from "../../../../src/ui/terminal/session/replay.ts";
import type { ExecutionFacts } from "../../../../src/records/execution.ts";
import { interruption } from "../../../../src/agent/model_answer.ts";
import type { Message } from "../../../../src/types/message.ts";
import { sessionCommand, startSession, test } from "../../../helpers/session.ts";

/** What is shown of `messages` at 40 columns, a line each. */
function shown(messages: Message[], executions = new Map<string, ExecutionFacts>()): string[] {
  const lines: string[] = [];
  replay(messages, {
    screen: { print: (text) => lines.push(text), echo: ({ text }) => void lines.push(`> ${text}`) },
    view: {
      begin: () => void lines.push("begin"),
      onEvent(event) {
        if (event.type === "text_delta") lines.push(event.text);
        if (event.type !== "tool_done") return;
        const { toolName, outcome, durationMs } = event.exec;
        lines.push(`${toolName} ${JSON.stringify(event.exec.arguments)} ${outcome} ${durationMs}`);
      },
      end: () => void lines.push("end"),
      stop: () => void lines.push("stop"),
    },
    executions,
    subjectOf: () => undefined,
    columns: 40,
    dim: (text) => text,
  });
  return lines;
}

const user = (content: string, standsFor?: Message["standsFor"]): Message => ({
  role: "user",
  content,
  ...standsFor && { standsFor },
});
const answer = (content: string, more: Partial<Message> = {}): Message => ({
  role: "assistant",
  content,
  ...more,
});

Deno.test("turns are shown as they went: messages, answers, calls with how they ended", () => {
  const call = (id: string, path: string) => ({ id, name: "read_file", arguments: { path } });
  const given = { name: "s__add", arguments: { a: 1 }, b: 2 };
  const ofServer = { id: "c", name: "call_tool", arguments: given };
  const messages: Message[] = [
    user("what went before", "summary"),
    answer("I go on.", { standsFor: "summary" }),
    user("one"),
    answer("I look.", { toolCalls: [call("a", "x"), call("b", "y"), ofServer] }),
    { role: "tool", toolCallId: "a", toolName: "read_file", content: "1" },
    { role: "tool", toolCallId: "b", toolName: "read_file", content: "no", isError: true },
    { role: "tool", toolCallId: "c", toolName: "call_tool", content: "2" },
    answer(""),
    user("ask again", "reminder"),
    answer("Done."),
    userMessage([notePart("[The check failed.\nIts output]")]),
    answer("Mended."),
    { ...user("two\n\n<file>"), parts: [{ type: "text", text: "two" }] },
    answer("[stopped]", { standsFor: "interruption" }),
    user("three"),
    interruption("It is \n"),
    user("four"),
  ];
  const facts = new Map([["a", { durationMs: 7, outcome: "done" }]] as const);
  assertEquals(shown(messages, facts), [
    ...["> one", "begin", "I look.", 'read_file {"path":"x"} done 7'],
    ...['read_file {"path":"y"} failed 0', 's__add {"b":2,"a":1} done 0', "Done.", "end"],
    ...["· The check failed.", "begin", "Mended.", "end"],
    ...["> two", "begin", "stop", "> three"],
    ...["begin", "It is", "stop", "> four"],
  ]);
  assertEquals(shown([]), []);
});

Deno.test("the last turns that fit are shown, after a line on how much came before", () => {
  const turn = (n: number): Message[] => [user(`question ${n}`), answer("a line\n".repeat(60))];
  const lines = shown([1, 2, 3, 4, 5].flatMap(turn));
  assertEquals(lines.filter((line) => /^[·>]/.test(line)), [
    "· 4 earlier messages",
    "> question 3",
    "> question 4",
    "> question 5",
  ]);
  const long = "word ".repeat(100_000);
  assertEquals(shown([user("q"), answer(long)]), ["· 1 earlier message", "begin", long, "end"]);
  assertEquals(shown([user("q"), answer(long), ...turn(2)])[0], "· 2 earlier messages");
  const change = { path: "f", isNew: false, morePlaces: 0 };
  const lined = Array.from({ length: 150 }, () => ({ kind: "+", text: "x" } as const));
  const facts: ExecutionFacts = {
    ...{ durationMs: 1, outcome: "done", details: { change: { ...change, lines: lined } } },
  };
  const edit: Message = { role: "tool", toolCallId: "a", toolName: "edit_file", content: "ok" };
  const edited = [user("one"), edit, user("two"), { ...edit, toolCallId: "b" }];
  assertEquals(shown(edited, new Map([["a", facts], ["b", facts]]))[0], "· 2 earlier messages");
});

for (const columns of [80, 40]) {
  test(`--continue and /resume show the turns as they looked, at ${columns} columns`, async () => {
    await using terminal = await startSession([
      {
        text: "I **change** it.",
        ...use("write_file", { file_path: "f", content: "one\ntwo\n" }),
      },
      use("run_bash", { command: "echo broken; exit 3" }),
      { text: "Changed:\n\n- `f`\n" },
    ], { flags: "--yes", columns, rows: 40 });
    const { server } = terminal;
    const turn = (rows: string[]) => {
      const from = rows.indexOf("> change it");
      const to = rows.findIndex((row, at) => at > from && row.startsWith("• "));
      return rows.slice(from, to + 1);
    };
    await terminal.until("tools");
    await terminal.type("change it\r");
    const isOver = (rows: string[]) => rows.some((row) => row.startsWith("• "));
    const live = turn(await terminal.until(isOver));
    assert(live.some((row) => /2 \+ two/.test(row)), live.join("\n"));
    assert(live.some((row) => row.includes("broken")), live.join("\n"));
    await terminal.type("exit\r");
    await terminal.until("left: 0");
    await terminal.type(`clear; ${sessionCommand(server, "--yes --continue")}\r`);
    await terminal.until((rows) => rows.join(" ").includes("6 messages"));
    assertEquals(turn(await terminal.until(isOver)), live);
    await terminal.type("\x0c/clear\r");
    await terminal.until("The conversation is cleared.");
    await terminal.type("\x0c/resume\r");
    await terminal.until("Resume which session?");
    await terminal.type("\r");
    await terminal.until((rows) => rows.join(" ").includes("6 messages"));
    assertEquals(turn(await terminal.until(isOver)), live);
    await terminal.type("\x0f");
    await terminal.until((rows) => rows.includes("    exit code: 3"));
  });
}
