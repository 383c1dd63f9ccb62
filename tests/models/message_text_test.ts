import { assertEquals } from "@std/assert";
import { bodyEndingIn, MessageTexts } from "../../src/models/message_text.ts";
import type { Message } from "../../src/types/message.ts";

Deno.test("the text of a message is made once, and again from a message on that was changed", () => {
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
  // The changed one twice: to see that it was, and with those behind it.
  assertEquals(made, 7);
});

Deno.test("a list is the same however it came about: longer, shorter, with others in it", () => {
  const convert = ({ content }: Message) => content === "" ? [] : [{ content }];
  const texts = new MessageTexts(convert);
  const said = (content: string): Message => ({ role: "user", content });
  const [a, b, c, none] = [said("a"), said("b"), said("c"), said("")] as const;
  const lists = [
    [],
    [a],
    [a, b],
    [none, a],
    [a, none, b],
    [said("a"), none, b, c],
    [said("z"), c],
    [b],
  ];
  for (const list of lists) {
    assertEquals(texts.list(list), JSON.stringify(list.flatMap(convert)));
    list[0] &&= { ...list[0], content: `${list[0].content}!` };
    assertEquals(texts.list(list), JSON.stringify(list.flatMap(convert)));
  }
  b.content = "changed";
  assertEquals(texts.list([a, b, c]), JSON.stringify([a, b, c].flatMap(convert)));
});

Deno.test("a body ends in its messages", () => {
  assertEquals(bodyEndingIn({ model: "m" }, "[1]"), '{"model":"m","messages":[1]}');
  assertEquals(bodyEndingIn({ left: undefined }, "[]"), '{"messages":[]}');
});
