import { bash } from "../../../helpers/strict_server.ts";
import { asksAboutCall } from "../../../helpers/tmux.ts";
import { notePart, userMessage } from "../../../../src/text/parts.ts";
import { assert, assertEquals } from "@std/assert";
import { transcriptModal } from "../../../../src/ui/terminal/session/transcript.ts";
import type { OpenQuestion } from "../../../../src/ui/terminal/session/terminal_questions.ts";
import { WholeConversation } from "../../../../src/ui/terminal/session/whole_conversation.ts";
import type { ExecutionFacts } from "../../../../src/records/execution.ts";
import { painter } from "../../../../src/ui/terminal/style.ts";
import type { Message } from "../../../../src/types/message.ts";
import { startSession, test } from "../../../helpers/session.ts";

function shown(
  messages: readonly Message[],
  { columns = 40, rows = 60, executions = new Map<string, ExecutionFacts>() } = {},
  conversation = new WholeConversation(),
  openQuestion?: OpenQuestion,
): string[] {
  const appearance = { colors: "none", unicode: true } as const;
  const modal = transcriptModal({
    ...{ conversation, executions, messages: () => messages },
    subjectOf: (_, args) => ({ path: `${args.path}`, action: "edit" }),
    display: { appearance, paint: painter(appearance), sgr: () => "" },
    openQuestion: () => openQuestion,
  });
  const frame = modal.layout({ columns, rows });
  assertEquals(frame.rows.every((row) => row.length <= columns), true);
  return frame.rows.map((row) => row.map(({ text }) => text).join("").trimEnd())
    .filter((row, at, all) => row !== "" || all[at + 1] !== "");
}

const call = (id: string) => ({ id, name: "edit_file", arguments: { path: "src/a.ts" } });
const change = {
  ...{ path: "src/a.ts", isNew: false, morePlaces: 0 },
  lines: [{ kind: "-" as const, text: "old", line: 1 }, {
    kind: "+" as const,
    text: "a new line that is too long for its row",
    line: 1,
  }],
};

Deno.test("a transcript has all the steps of a list", () => {
  const tasks = Array.from({ length: 12 }, (_, n) => ({ text: `s${n}`, isDone: n < 11 }));
  const executions = new Map(
    [["1", { outcome: "done", durationMs: 1, details: { tasks } }]] as const,
  );
  const messages: Message[] = [
    { role: "assistant", content: "", toolCalls: [call("1")] },
    { role: "tool", content: "11 of 12 done", toolCallId: "1", toolName: "tasks" },
  ];
  const rows = shown(messages, { executions }).slice(2, -2);
  assertEquals(rows, tasks.map(({ text, isDone }) => `    ${isDone ? "✔" : "▸"} ${text}`));
});

Deno.test("a question that is open stands whole at the end of the transcript", () => {
  let seen = 0;
  const asked = {
    text: (columns: number) => `wants ${columns}:\n${"│ row\n".repeat(30)}end`,
    onSeen: () => void seen++,
  };
  const rows = shown([{ role: "user", content: "go" }], { rows: 40 }, undefined, asked);
  assertEquals(rows.slice(0, 5), ["", "> go", "", "wants 40:", "│ row"]);
  assertEquals([rows.filter((row) => row === "│ row").length, rows.includes("end")], [30, true]);
  assertEquals(seen, 1);
  const low = shown([{ role: "user", content: "go" }], { rows: 10 }, undefined, asked);
  assertEquals([low.slice(0, 3), seen], [["", "wants 40:", "│ row"], 1]);
});

Deno.test("a transcript has messages, reasoning, results and changes whole", () => {
  const edited = "1 line changed\n\n[1 new error (own):\na.ts:1: no]";
  const messages: Message[] = [
    {
      role: "user",
      content: "",
      parts: [
        { type: "text", text: "Look at this file, which has more to it\nand go on" },
        { type: "resource", kind: "file", name: "b\x1b.txt", text: "its\x07 text\n" },
        { type: "resource", kind: "note", name: "", text: "for the model alone" },
        { type: "image", mediaType: "image/png", data: "", name: "p.png" },
      ],
    },
    {
      role: "assistant",
      content: "I **see**.",
      reasoning: "Deep thoughts.",
      toolCalls: [call("1")],
    },
    { role: "tool", content: edited, toolCallId: "1", toolName: "edit_file" },
    { role: "assistant", content: "[stopped]", standsFor: "interruption" },
    { role: "assistant", content: "", toolCalls: [call("2")] },
    {
      ...{ role: "tool", toolCallId: "2", toolName: "x", isError: true },
      content: "[Your call was read as: file as path; x as nothing]\nNo such file\nmore",
    },
    { role: "assistant", content: "[none]", standsFor: "empty_answer" },
    userMessage([notePart("[The check failed.\nIts output]")]),
  ];
  const executions = new Map(
    [
      ["1", { outcome: "done", durationMs: 1, details: { change }, repairs: ["f as path"] }],
      ["2", { outcome: "failed", durationMs: 1, repairs: ["file as path", "x as nothing"] }],
    ] satisfies [string, ExecutionFacts][],
  );
  assertEquals(shown(messages, { executions }), [
    ...["", "> Look at this file, which has more to", "  it", "  and go on"],
    ...["● with b␛.txt", "    its␇ text", "● with the image p.png"],
    ...["", "· thought", "    Deep thoughts.", "", "I see."],
    ...["", "● Edited src/a.ts  +1 −1", "    read f as path"],
    ...["      - old", "    1 + a new line that is too long for", "        its row"],
    ...["    [1 new error (own):", "    a.ts:1: no]"],
    ...["", "· interrupted"],
    ...[
      "",
      "● Edit src/a.ts  failed",
      "    read file as path",
      "    read x as nothing",
      "    No such file",
      "    more",
      ...["", "· sent to the model", "    The check failed.", "    Its output"],
      "",
      "end · / searches · q closes",
    ],
  ]);
});

Deno.test("a transcript without messages says so", () => {
  assertEquals(shown([]), [
    ...["", "· there is no message yet", "", "end · / searches · q closes"],
  ]);
});

Deno.test("an answer that is being written, and calls that run, stand at the end", () => {
  const conversation = new WholeConversation();
  conversation.onEvent({ type: "text_delta", text: "I look" }, []);
  assertEquals(shown([], {}, conversation)[1], "I look");
  const subject = { path: "a", action: "read" as const };
  conversation.onEvent({ type: "tool_start", name: "x", args: {}, id: "1", subject }, []);
  assertEquals(shown([], {}, conversation)[0], "● Reading a");
});

Deno.test("long texts are cut into pieces without losing any of them", () => {
  const long = Array.from({ length: 3000 }, (_, n) => `line ${n}`);
  const messages: Message[] = [
    { role: "user", content: "x".repeat(40_000) },
    { role: "tool", content: long.join("\n"), toolName: "x", toolCallId: "1" },
  ];
  const all = shown(messages, { rows: 20_000, columns: 80 });
  assertEquals(all.join("").match(/x/g)!.length >= 40_000, true);
  for (const n of [0, 500, 999, 1000, 1999, 2999]) {
    assertEquals(all.filter((row) => row === `    line ${n}`).length, 1, `${n}`);
  }
});

for (const [columns, rows] of [[80, 24], [40, 24]] as const) {
  const gate = Promise.withResolvers<void>();
  test(`Ctrl-O shows all on a screen of its own, and leaves the other as it was, at ${columns} by ${rows}`, async () => {
    await using terminal = await startSession([
      { text: "I look first", reasoning: "Deep thoughts.", ...bash("seq 30") },
      { text: "Done." },
      async () => (await gate.promise, { text: "Again." }),
    ], { flags: "--yes", columns, rows });
    await terminal.type("go\r");
    await terminal.until("Done.");
    await terminal.type("draft");
    const before = await terminal.until((rows) => rows.includes("> draft"));
    await terminal.type("\x0f");
    const end = await terminal.until("q closes");
    assert(end.includes("    30") && end.includes("Done."), end.join("\n"));
    await terminal.type("\x1b[H");
    const top = await terminal.until((rows) => rows[1] === "> go");
    assertEquals(top.slice(1, 7), [
      "> go",
      "",
      "· thought",
      "    Deep thoughts.",
      "",
      "I look first",
    ]);
    await terminal.type("q");
    assertEquals(await terminal.until((rows) => rows.includes("> draft")), before);
    await terminal.type("\r");
    await terminal.until("waiting for test");
    await terminal.type("\x0f");
    await terminal.until("q closes");
    gate.resolve();
    await terminal.until((rows) => rows.includes("Again."));
    await terminal.type("/go\rn\x0f");
    const after = await terminal.until((rows) => rows.includes("Again.") && rows.at(-2) === ">");
    assertEquals(after.filter((row) => row === "Again.").length, 1);
    await terminal.type("/clear\r");
    await terminal.until("The conversation is cleared.");
    await terminal.type("\x0f");
    assertEquals((await terminal.until("q closes"))[1], "· there is no message yet");
    await terminal.type("\x1b");
    await terminal.until("The conversation is cleared.");
  });
}

test("a question takes the place of the transcript, which may be opened above it", async () => {
  await using terminal = await startSession([bash("touch ran"), { text: "Done." }]);
  await terminal.type("go\r\x0f");
  const asked = await terminal.until(asksAboutCall);
  assert(asked.some((row) => row.includes("touch ran")));
  await terminal.type("\x0f");
  await terminal.until("q closes");
  await terminal.resize(40, 20);
  await terminal.until((rows) => rows.at(-1)!.startsWith("end · "));
  await terminal.type("\x0f");
  await terminal.until(asksAboutCall);
  await terminal.type("y");
  await terminal.until("Done.");
});
