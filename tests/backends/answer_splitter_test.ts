import { assertEquals } from "@std/assert";
import { AnswerSplitter } from "../../src/backends/answer_splitter.ts";

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
