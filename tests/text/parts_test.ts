import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import {
  identify,
  imagesOf,
  newCallId,
  newMessageId,
  textOfParts,
  typedText,
  userMessage,
} from "../../src/text/parts.ts";
import type { Message, Part } from "../../src/types/message.ts";

type Kind = "file" | "folder" | "shell" | "stdin" | "note";
const resource = (kind: Kind, name: string, text: string): Part => (
  { type: "resource", kind, name, text }
);
const image: Part = { type: "image", mediaType: "image/png", data: "AA==" };

Deno.test("parts are written into the text as they always were: servers keep what they read", () => {
  const parts: Part[] = [
    resource("shell", 'echo "hi"', "exit code: 0\nstdout:\nhi"),
    resource("note", "", "[The plan is accepted: carry it out.]"),
    { type: "text", text: "see @a.txt and @b" },
    resource("file", 'a "b".txt', "     1\tone\n[lines 1-1 of 1]"),
    image,
    resource("folder", "b", "c.txt  4 bytes"),
    resource("stdin", "", "piped\n"),
    resource("note", "", "[Job 1 is over (sleep): exit code 0. job_output shows what it printed.]"),
  ];
  const text = '<shell command="echo \\"hi\\"">\nexit code: 0\nstdout:\nhi\n</shell>\n\n' +
    "[The plan is accepted: carry it out.]\n\n" +
    "see @a.txt and @b\n\n" +
    '<file path="a \\"b\\".txt">\n     1\tone\n[lines 1-1 of 1]\n</file>\n\n' +
    '<file path="b">\nc.txt  4 bytes\n</file>\n\n' +
    "<stdin>\npiped\n\n</stdin>\n\n" +
    "[Job 1 is over (sleep): exit code 0. job_output shows what it printed.]";
  assertEquals(textOfParts(parts), text);
  const message = userMessage(parts);
  assertEquals(message, { role: "user", content: text, parts });
  assertEquals(typedText(message), "see @a.txt and @b");
  assertEquals(imagesOf(message), [image]);
});

Deno.test("a message of text alone has no parts; half characters are replaced in each part", () => {
  assertEquals(userMessage("hi \ud800"), { role: "user", content: "hi \ufffd" });
  assertEquals(userMessage([{ type: "text", text: "hi" }]), { role: "user", content: "hi" });
  const parts = [resource("stdin", "", "\udc00")];
  const message = userMessage(parts);
  const content = "<stdin>\n\ufffd\n</stdin>";
  assertEquals(message, { role: "user", content, parts: [resource("stdin", "", "\ufffd")] });
  assertEquals(typedText(message), message.content);
});

Deno.test("every message gets an id of its own, and keeps the one it has", () => {
  const frozen: Message = Object.freeze({ role: "user", content: "mine" });
  const messages: Message[] = [
    frozen,
    { role: "assistant", content: "a", id: "1" },
    { role: "user", content: "b", id: "1" },
  ];
  identify(messages);
  const ids = messages.map(({ id }) => id);
  assertEquals(ids[1], "1");
  assertEquals(new Set(ids).size, 3);
  assertNotEquals(ids[0], undefined);
  assertEquals([frozen.id, messages[2]!.content], [undefined, "b"]);
  identify(messages);
  assertEquals(messages.map(({ id }) => id), ids);
});

Deno.test("ids are short, and nothing but letters and digits, as some servers ask for", () => {
  assertMatch(newMessageId(), /^[0-9a-f]{16}$/);
  assertMatch(newCallId(), /^call_[0-9a-f]{24}$/);
});
