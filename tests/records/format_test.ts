import { assertEquals, assertThrows } from "@std/assert";
import {
  type AddedMessage,
  entryLine,
  headLine,
  parseRecord,
  type RecordEntry,
} from "../../src/records/format.ts";
import type { Message } from "../../src/types/message.ts";
import { says, user, whole } from "./conversation.ts";

const about = { folder: "/f", started: "2026-01-02T03:04:05.000Z" };
const head = headLine(about);
const chain = (messages: Message[]): AddedMessage[] => messages.map((message) => ({ message }));
const line = (entry: RecordEntry) => `${entryLine(entry)}\n`;
const lines = (entries: AddedMessage[]) => entries.map(line).join("");

Deno.test("SES-02 a session is read up to wherever writing was cut off", () => {
  const text = head + lines(chain(whole));
  for (let end = head.length; end <= text.length; end++) {
    const { messages, lost } = parseRecord(text.slice(0, end));
    assertEquals(messages, whole.slice(0, messages.length));
    const isCut = text[end - 1] !== "\n" && text[end] !== "\n" && end < text.length;
    assertEquals(lost, isCut ? 1 : 0, `at ${end}`);
  }
});

Deno.test("an answer on its way in a record without a message is none", () => {
  const partial = JSON.stringify({ partial: "So" });
  assertEquals(parseRecord(head + partial).messages, []);
  const [question] = whole;
  const { messages } = parseRecord(head + lines(chain([question!])) + partial);
  assertEquals(messages.map(({ role }) => role), ["user", "assistant"]);
});

Deno.test("a message that is lost costs no other one", () => {
  const all = lines(chain(whole)).split("\n");
  for (let i = 0; i < whole.length; i++) {
    const text = head + all.with(i, all[i]!.slice(0, -5)).join("\n");
    const { messages, lost } = parseRecord(text);
    assertEquals([messages, lost], [whole.toSpliced(i, 1), 1]);
  }
});

Deno.test("an entry says which messages are the conversation now", () => {
  const [a, b, c] = [user("a"), says("b"), user("c")] as const;
  const summary = user("summary");
  const ids = (...messages: Message[]) => messages.map(({ id }) => id!);
  const text = head + lines(chain([a, b, c]));
  const undone = text + line({ conversation: ids(a, b) });
  assertEquals(parseRecord(undone).messages, [a, b]);
  assertEquals(parseRecord(undone + line({ conversation: ids(a, b, c) })).messages, [a, b, c]);
  const added = [{ message: summary }];
  const compacted = text + line({ conversation: ids(summary, c), added });
  assertEquals(parseRecord(compacted).messages, [summary, c]);
  const next = user("d");
  const further = compacted + line({ message: next });
  assertEquals(parseRecord(further).messages, [summary, c, next]);
  assertEquals(parseRecord(further + line({ conversation: [] })).messages, []);
  // What is unknown, as its line was lost, is left out.
  assertEquals(parseRecord(text + line({ conversation: ["x", c.id!] })).messages, [c]);
});

// If a line cost the length of the conversation, this would take minutes.
Deno.test("a long record is read in time linear in its length", () => {
  const LONG = 60_000;
  const messages = Array.from({ length: LONG }, (_, i) => ({ ...user(""), id: `${i}` }));
  const text = head + lines(chain(messages)) + line({ conversation: [] }).repeat(LONG);
  const read = parseRecord(text + lines(chain(messages.slice(0, 2))));
  assertEquals([read.messages.length, read.ids.size, read.lost], [2, LONG, 0]);
});

Deno.test("parts are read as they were written, their text only once in the file", () => {
  const message: Message = {
    ...user('see\n\n<file path="a">\nunique text\n</file>'),
    parts: [
      { type: "text", text: "see" },
      { type: "resource", kind: "file", name: "a", text: "unique text" },
      { type: "image", mediaType: "image/png", data: "AA==" },
    ],
  };
  const text = head + line({ message });
  assertEquals(text.split("unique text").length, 2);
  const { messages, first } = parseRecord(text);
  assertEquals([messages, first], [[message], "see"]);
  const other = { ...message, content: "other" };
  assertEquals(parseRecord(head + line({ message: other })).messages, [other]);
});

Deno.test("what is no session is refused, and a torn line passed over", () => {
  for (const text of ["", "x", "[]\n", '{"version":1}\n', '{"version":1,"folder":"/"}\n']) {
    assertThrows(() => parseRecord(text), SyntaxError, "not a copilot session");
  }
  for (const version of [0, 1, 1.5, "2", null]) {
    const text = `${JSON.stringify({ version, ...about })}\n`;
    assertThrows(() => parseRecord(text), SyntaxError, "must be 2: it is");
  }
  const { messages, lost } = parseRecord(`${head}null\n{"message":\n[1]\n`);
  assertEquals([messages, lost], [[], 3]);
});

Deno.test("what a session began with is known after a compaction", () => {
  const [a, b] = [user("a"), user("b")] as const;
  const used = { model: "m", server: "h", tokens: 9, readSpeed: 450 };
  const compacted = line({ conversation: [b.id!], added: [{ message: b }] });
  const { first, used: read } = parseRecord(head + line({ message: a, used }) + compacted);
  assertEquals([first, read], ["a", used]);
});
