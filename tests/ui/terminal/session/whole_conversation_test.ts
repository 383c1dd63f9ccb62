import { assertEquals } from "@std/assert";
import { WholeConversation } from "../../../../src/ui/terminal/session/whole_conversation.ts";
import type { Message } from "../../../../src/types/message.ts";

let count = 0;
const message = (role: Message["role"], content: string, more: Partial<Message> = {}): Message => ({
  ...{ id: `${count++}`, role, content },
  ...more,
});
const result = (id: string, content: string) => message("tool", content, { toolCallId: id });
const summary = () => [
  message("user", "sum", { standsFor: "summary" }),
  message("assistant", "on", { standsFor: "summary" }),
];
const texts = (conversation: WholeConversation, messages: Message[]) =>
  conversation.of(messages).map(({ content }) => content);

Deno.test("what a summary stands for is kept, and results as they were; /clear forgets all", () => {
  const conversation = new WholeConversation();
  const old = [message("user", "one"), result("a", "long"), message("assistant", "two")];
  const kept = [message("user", "three"), result("b", "longer")];
  assertEquals(texts(conversation, [...old, ...kept]), ["one", "long", "two", "three", "longer"]);
  const cut = [old[0]!, result("a", "cut"), old[2]!, ...kept];
  assertEquals(texts(conversation, cut), ["one", "long", "two", "three", "longer"]);
  const now = [...summary(), kept[0]!, result("b", "short")];
  assertEquals(texts(conversation, now), ["one", "long", "two", "three", "longer"]);
  now.push(message("assistant", "four"));
  const later = [...summary(), now.at(-1)!];
  assertEquals(texts(conversation, now).at(-1), "four");
  assertEquals(texts(conversation, later), ["one", "long", "two", "three", "longer", "four"]);
  assertEquals(texts(conversation, later.slice(0, 2)), ["one", "long", "two", "three", "longer"]);
  assertEquals(texts(conversation, []), []);
  texts(conversation, old);
  assertEquals(texts(conversation, [...summary(), message("user", "x")]), ["sum", "on", "x"]);
});

Deno.test("the oldest results that the model no longer has are cut", () => {
  const conversation = new WholeConversation();
  const results = Array.from({ length: 5 }, (_, i) => result(`${i}`, `${i}`.repeat(600_000)));
  const lengths = (messages: Message[]) => texts(conversation, messages).map((text) => text.length);
  assertEquals(lengths(results), results.map(() => 600_000));
  assertEquals(lengths([...summary(), results[4]!]), [1000, 600_000, 600_000, 600_000, 600_000]);
  assertEquals(lengths([...summary(), result("4", "cut")]), [
    1000,
    1000,
    600_000,
    600_000,
    600_000,
  ]);
});

Deno.test("what was taken back is gone", () => {
  const conversation = new WholeConversation();
  const all = [message("user", "one"), message("assistant", "two"), message("user", "three")];
  texts(conversation, all);
  assertEquals(texts(conversation, all.slice(0, 2)), ["one", "two"]);
});

Deno.test("the answer that is written is shown until it is a message, calls as long as they run", () => {
  const conversation = new WholeConversation();
  conversation.onEvent({ type: "reasoning_delta", text: "Hm" }, []);
  conversation.onEvent({ type: "text_delta", text: "wrong" }, []);
  conversation.onEvent({ type: "text_retracted" }, []);
  conversation.onEvent({ type: "text_delta", text: "I " }, []);
  conversation.onEvent({ type: "text_delta", text: "look" }, []);
  assertEquals(conversation.written, { reasoning: "Hm", text: "I look", running: [] });
  // The answer is a message while its call is asked about.
  conversation.of([message("assistant", "I look")]);
  assertEquals(conversation.written.text, "");
  conversation.onEvent({ type: "tool_start", name: "x", args: {}, id: "1" }, []);
  conversation.onEvent({ type: "tool_start", name: "y", args: {}, id: "2" }, []);
  assertEquals([
    conversation.written.text,
    conversation.written.running.map(({ toolName }) => toolName),
  ], ["", ["x", "y"]]);
  const exec = { toolCallId: "1", toolName: "x", arguments: {}, result: "", durationMs: 0 };
  conversation.onEvent(
    { type: "tool_done", exec: { ...exec, isError: false, outcome: "done" } },
    [],
  );
  assertEquals(conversation.written.running.map(({ toolName }) => toolName), ["y"]);
  conversation.onEvent({ type: "thinking" }, []);
  assertEquals(conversation.written, { reasoning: "", text: "", running: [] });
});
