import { assertEquals } from "@std/assert";
import { AnswerSplitter } from "../../src/models/answer_splitter.ts";

Deno.test("an answer that is over stays as it is", () => {
  const pieces: string[] = [];
  const splitter = new AnswerSplitter({
    onPiece: (kind, piece) => pieces.push(`${kind} ${piece}`),
  });
  splitter.push({ type: "text", text: "<think>a</think>b" });
  const whole = splitter.end();
  splitter.push({ type: "text", text: "late" });
  splitter.push({ type: "reasoning", text: "late" });
  assertEquals([whole, splitter.end()], [
    { text: "b", reasoning: "a", calls: [] },
    { text: "b", reasoning: "a", calls: [] },
  ]);
  assertEquals(pieces, ["reasoning a", "text b"]);
});

Deno.test("reasoning that comes apart follows that of the text in a paragraph of its own", () => {
  const split = (...deltas: [type: "text" | "reasoning", text: string][]) => {
    const splitter = new AnswerSplitter();
    for (const [type, text] of deltas) splitter.push({ type, text });
    const { text, reasoning } = splitter.end();
    return [text, reasoning];
  };
  assertEquals(split(["text", "<think>a</think>"], ["reasoning", "b"]), ["", "a\n\nb"]);
  assertEquals(split(["reasoning", " "], ["reasoning", "b"], ["reasoning", " c"]), ["", " b c"]);
  assertEquals(split(["reasoning", " "], ["text", "b"]), ["b", ""]);
});

Deno.test("text that turns out to be reasoning is taken back, if there was any", () => {
  const split = (...pieces: string[]) => {
    const seen: string[] = [];
    const splitter = new AnswerSplitter({
      onPiece: (kind, piece) => seen.push(`${kind} ${piece}`),
      onRetracted: () => seen.push("retracted"),
    });
    for (const text of pieces) splitter.push({ type: "text", text });
    splitter.end();
    return seen;
  };
  assertEquals(split("x", "</think>b"), ["text x", "retracted", "reasoning x", "text b"]);
  assertEquals(split("a</think>b"), ["reasoning a", "text b"]);
});
