import { assertEquals } from "@std/assert";
import { AnswerStream } from "../../src/agent/answer_stream.ts";
import { AnswerSplitter } from "../../src/models/answer_splitter.ts";
import { ToolCallFilter } from "../../src/models/toolcalls/extract.ts";
import { readLocalResponse } from "../models/replies.ts";
import { forEveryTextSplit, randomTexts } from "../helpers/split.ts";
import type { TurnEvent } from "../../src/types/event.ts";
import type { Tool } from "../../src/types/tool.ts";

const tools = [{ name: "echo" } as Tool];

/** What a person sees of `pieces`, and what the stream makes of them in the end. */
function stream(pieces: string[], type: "text" | "reasoning" = "text") {
  const events: TurnEvent[] = [];
  let runaway = false;
  const answer = new AnswerStream({
    tools,
    emit: (event) => events.push(event),
    onRunaway: () => runaway = true,
  });
  for (const text of pieces) answer.push({ type, text });
  const end = answer.end();
  const shown = (kind: string) =>
    events.map((e) => e.type === kind && "text" in e ? e.text : "").join("");
  return {
    ...end,
    shown: shown("text_delta"),
    thought: shown("reasoning_delta"),
    retracted: events.some((e) => e.type === "text_retracted"),
    runaway,
  };
}

Deno.test("a lone end tag takes back what was shown", async () => {
  const events: TurnEvent[] = [];
  const emit = (event: TurnEvent) => events.push(event);
  const answer = new AnswerStream({ tools, emit, onRunaway: () => {} });
  answer.push({ type: "text", text: "Let me think. " });
  await Promise.resolve();
  answer.push({ type: "text", text: "So. </think>Yes." });
  assertEquals(answer.end(), { text: "Yes.", reasoning: "Let me think. So.", calls: [] });
  assertEquals(events.map((e) => e.type), [
    "text_delta",
    "text_retracted",
    "reasoning_delta",
    "text_delta",
  ]);
});

Deno.test("end tags before any text take nothing back", () => {
  assertEquals(stream(["</think>\n", "</think>\n", "Yes."]).retracted, false);
});

Deno.test("a runaway is cut with a warning, in the answer and in reasoning", () => {
  const text = "So it goes. " + "on and on ".repeat(500);
  const got = stream(text.split(/(?<= )/));
  assertEquals(got.runaway, true);
  assertEquals(got.text, got.shown);
  assertEquals(got.text.endsWith("[Warning: repetitive output truncated]"), true);
  assertEquals(got.text.length < 300, true);
  assertEquals(stream([text], "reasoning").runaway, true);
});

Deno.test("half a character at the end of a piece waits for its other half", async () => {
  const shown: string[] = [];
  const answer = new AnswerStream({
    tools,
    emit: (event) => event.type === "text_delta" && shown.push(event.text),
    onRunaway: () => {},
  });
  for (const piece of ["x\ud83d", "\ude00b"]) {
    answer.push({ type: "text", text: piece });
    await Promise.resolve();
  }
  answer.end();
  assertEquals(shown, ["x", "\u{1f600}b"]);
});

Deno.test("what is shown is what goes into the conversation, of random texts on every split", () => {
  const tool_calls = [{ id: "x", function: { name: "echo", arguments: {} } }];
  // deno-fmt-ignore
  const parts = [
    "<think>", "</think>", "<reasoning>", "</reasoning>",
    '<toolcall>{"name":"echo","arguments":{"text":"</think>"}}</toolcall>', "<toolcall>",
    '```json\n{"name":"echo","arguments":{}}\n```\n', "```\n", "`", "\n", "\n\n", " ", "    ",
    "> ", "| ", '"', "<pre>", "</pre>", "a", "<",
  ];
  for (const content of randomTexts(parts, 12)) {
    for (const more of [{}, { thinking: "hm" }, { tool_calls }]) {
      const { message } = readLocalResponse(
        { message: { content, ...more }, done: true, done_reason: "stop" },
        ["echo"],
      );
      const written = message.reasoning?.replace(/^hm(\n\n)?/, "") ?? "";
      forEveryTextSplit(content, (pieces) => {
        // As the stream does it, but for its watch on repetition, which takes long to set up.
        const shown = { text: "", reasoning: "" };
        const splitter = new AnswerSplitter({
          calls: new ToolCallFilter({ tools: ["echo"] }),
          onPiece: (kind, piece) => shown[kind] += piece,
          onRetracted: () => shown.text = "",
        });
        if ("thinking" in more) splitter.push({ type: "reasoning", text: "hm" });
        for (const text of pieces) splitter.push({ type: "text", text });
        if ("tool_calls" in more) splitter.push({ type: "tool_call", name: "echo" });
        splitter.end();
        const thought = shown.reasoning.replace(/^hm(\n\n)?/, "").trim();
        assertEquals([shown.text, thought], [message.content, written.trim()], content);
      });
    }
  }
});
