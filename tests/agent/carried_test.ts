import { assertEquals } from "@std/assert";
import { carriedParts } from "../../src/agent/carried.ts";
import { transcript } from "../../src/agent/summary.ts";
import { notePart, PLAN_NOTE, userMessage } from "../../src/text/parts.ts";
import { builtinTools } from "../../src/tools/mod.ts";
import type { Message, Part } from "../../src/types/message.ts";
import type { Tool } from "../../src/types/tool.ts";
import { readingTool, TEXT } from "../helpers/tool.ts";

/** Here a token is a character. */
const size = ({ content }: Message) => content.length;
const user = (content: string): Message => ({ role: "user", content });
const filler = (length: number): Message => ({ role: "assistant", content: "x".repeat(length) });
/** An answer with these calls. */
const calling = (...calls: [name: string, args: object][]): Message => {
  const toolCalls = calls.map(([name, args], i) => ({ id: `${i}`, name, arguments: { ...args } }));
  return { role: "assistant", content: "", toolCalls };
};
const reading = (...paths: string[]) =>
  calling(...paths.map((file_path): [string, object] => ["read_file", { file_path }]));
const skill = (name: string, text: string): Message => {
  const parts: Part[] = [{ type: "resource", kind: "skill", name, text }];
  return { role: "tool", toolCallId: name, content: text, parts };
};
const textsOf = (parts: readonly Part[], named: string) =>
  parts.flatMap((part) => part.type === "resource" && part.name === named ? [part.text] : []);
const said = (old: Message[], limit: number, kept: Message[] = []) =>
  textsOf(carriedParts(old, kept, [], limit, size), "said");

Deno.test("of what the person said the first message and the newest go on, as many as there is room for", () => {
  const old = [user("task"), filler(4000), ...["one", "two", "three"].map(user)];
  const line = (text: string) => `[The person said] ${text}`;
  const all = ["task", "one", "two", "three"].map(line);
  const room = all.join("").length;
  // The least room is 200 tokens, more is a twelfth of the limit.
  assertEquals([room, said(old, 1200)], [87, all]);
  const long = [user("task"), filler(9000), user("o".repeat(100)), user("n".repeat(100))];
  const whole = [line("task"), line("o".repeat(100)), line("n".repeat(100))];
  const most = whole.join("").length;
  assertEquals(most, 258);
  assertEquals(said(long, 12 * most), whole);
  assertEquals(said(long, 12 * most - 1), [whole[0], whole[2]]);
  // The first alone has a room of its own, and is shortened where that is too small.
  const [only = ""] = said([user("t".repeat(300)), filler(9000)], 2400);
  assertEquals([only.length <= 200, only.startsWith("[The person said] ttt")], [true, true]);
  const fitting = `${"t".repeat(182)}`;
  assertEquals(said([user(fitting), filler(9000)], 2400), [line(fitting)]);
  // At most a quarter of what all messages took.
  assertEquals(said([user("task"), filler(40), user("one")], 9000).length, 1);
});

Deno.test("a message that stays is not said twice, nor is an empty one or one of the program", () => {
  const [task, newest] = [user("task"), user("now")];
  const ofProgram = userMessage([notePart("[The check failed]")]);
  const old = [task, filler(4000), user("  "), ofProgram, newest];
  assertEquals(transcript(ofProgram), "program: [The check failed]");
  assertEquals(said(old, 1200, [newest]), ["[The person said] task"]);
});

Deno.test("the files opened last go on, each once and as many as a 24th of the limit takes", () => {
  const files = (limit: number, ...paths: string[]) =>
    textsOf(carriedParts([reading(...paths)], [], builtinTools, limit, size), "files");
  const title = "[Files that were open]";
  assertEquals(files(9000, "a.ts", "b.ts", "a.ts"), [`${title}\nb.ts\na.ts`]);
  const length = `${title}\na.ts\nb.ts`.length;
  assertEquals(files(24 * length, "a.ts", "b.ts"), [`${title}\na.ts\nb.ts`]);
  assertEquals(files(24 * length - 1, "a.ts", "b.ts"), [`${title}\nb.ts`]);
  // One is always named.
  assertEquals(files(24, "a.ts", "b.ts"), [`${title}\nb.ts`]);
  const many = Array.from({ length: 41 }, (_, i) => `f${i}`);
  assertEquals(files(90_000, ...many), [[title, ...many.slice(1)].join("\n")]);
  // A list of an earlier summary goes before what was opened since.
  const [listed] = carriedParts([reading("a.ts")], [], builtinTools, 9000, size);
  const summary: Message = { ...user("sum"), standsFor: "summary", parts: [listed!] };
  const later = carriedParts([summary, reading("c.ts")], [], builtinTools, 9000, size);
  assertEquals(textsOf(later, "files"), [`${title}\na.ts\nc.ts`]);
});

Deno.test("the newest skills go on as far as a quarter of the limit takes them, but for those that stay", () => {
  const old = [skill("a", "old"), skill("b", "12345"), skill("a", "1234567")];
  const skills = (limit: number, kept: Message[] = []) =>
    carriedParts(old, kept, [], limit, size).flatMap((part) =>
      part.type === "resource" && part.kind === "skill" ? [part.text] : []
    );
  assertEquals(skills(48), ["1234567", "12345"]);
  assertEquals(skills(47), ["1234567"]);
  assertEquals(skills(48, [skill("a", "newer")]), ["12345"]);
});

Deno.test("plan mode goes on in a summary: its newest note", () => {
  const message = (text: string, name: string) =>
    userMessage([{ type: "text", text: "x" }, notePart(text, name)]);
  const old = [message("on", PLAN_NOTE), message("off", PLAN_NOTE), message("other", "")];
  assertEquals(carriedParts(old, old, [], Infinity, size), [notePart("off", PLAN_NOTE)]);
});

Deno.test("a summary lists files, by what the tools say of their calls", () => {
  const read: Tool = {
    ...readingTool("look", { at: TEXT }),
    subject: ({ at }) => {
      if (at === "wrong") throw new Error("no address");
      return { path: String(at).trim(), isFile: true };
    },
  };
  const old = calling(
    ["look", { at: "mine.ts" }],
    ["look", {}],
    ["look", { at: "wrong" }],
    ["list_directory", { path: "folder" }],
    ["grep_code", { path: "place", pattern: "a" }],
    ["edit_file", { file_path: "b.ts", old_string: "a", new_string: "b" }],
    ["gone", { file_path: "c.ts" }],
  );
  const parts = carriedParts([old], [], [...builtinTools, read], Infinity, size);
  assertEquals(textsOf(parts, "files"), ["[Files that were open]\nmine.ts\nb.ts"]);
});
