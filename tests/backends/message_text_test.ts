import { assertEquals } from "@std/assert";
import { bodyEndingIn, MessageTexts } from "../../src/backends/message_text.ts";
import type { Message } from "../../src/types/message.ts";

Deno.test("the text of a message is made once, and again where the message was changed", () => {
  let made = 0;
  const texts = new MessageTexts(({ role, content, toolCalls = [] }) => {
    made++;
    return content === "" ? [] : [{ role, content }, ...toolCalls];
  });
  const messages: Message[] = [
    { role: "user", content: "a\ud800" },
    { role: "user", content: "" },
    { role: "assistant", content: "b", toolCalls: [{ id: "1", name: "t", arguments: {} }] },
  ];
  const first = texts.list(messages);
  assertEquals(
    first,
    '[{"role":"user","content":"a\ufffd"},{"role":"assistant","content":"b"},{"id":"1","name":"t","arguments":{}}]',
  );
  assertEquals([texts.list(messages), made], [first, 3]);
  messages[0]!.content = "c";
  messages[2]!.toolCalls = [];
  assertEquals(JSON.parse(texts.list(messages)), [
    { role: "user", content: "c" },
    { role: "assistant", content: "b" },
  ]);
  assertEquals(made, 5);
});

Deno.test("a body ends in its messages", () => {
  assertEquals(bodyEndingIn({ model: "m" }, "[1]"), '{"model":"m","messages":[1]}');
  assertEquals(bodyEndingIn({ left: undefined }, "[]"), '{"messages":[]}');
});
