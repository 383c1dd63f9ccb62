import { assertEquals, assertThrows } from "@std/assert";
import { parseSession, recordOf } from "../../src/records/format.ts";
import { cutOf, repaired } from "../../src/records/repair.ts";
import { openRecorder, storedSessions } from "../../src/records/store.ts";
import type { Message } from "../../src/types/message.ts";

const user = (content: string): Message => ({ role: "user", content });
const says = (content: string, ...ids: string[]): Message => ({
  role: "assistant",
  content,
  ...(ids.length > 0 && { toolCalls: ids.map((id) => ({ id, name: "read_file", arguments: {} })) }),
});
const result = (toolCallId: string, content = "it"): Message => ({
  role: "tool",
  toolName: "read_file",
  toolCallId,
  content,
});
const shape = (messages: Message[]) =>
  messages.map(({ role, toolCallId = "", isError }) =>
    `${role[0]}${toolCallId}${isError ? "!" : ""}`
  )
    .join(" ");

const whole = [user("hi"), says("", "1", "2"), result("1"), result("2"), says("done")];

Deno.test("SES-02 repaired: a whole conversation stays as it is", () => {
  assertEquals(repaired(whole), whole);
});

const BROKEN: [name: string, messages: Message[], expected: string][] = [
  ["calls without results", whole.slice(0, 2), "u a t1! t2! a"],
  ["a call without its result", whole.slice(0, 3), "u a t1 t2! a"],
  ["results, and no answer", whole.slice(0, 4), "u a t1 t2 a"],
  [
    "results in another order",
    [whole[0]!, whole[1]!, result("2"), result("1"), says("x")],
    "u a t1 t2 a",
  ],
  ["a result of no call", [user("hi"), result("9"), says("x")], "u a"],
  [
    "two results of one call",
    [user("hi"), says("", "1"), result("1"), result("1", "b"), says("x")],
    "u a t1 a",
  ],
  ["an answer first", [says("x"), user("hi")], "u"],
  ["a system message", [{ role: "system", content: "x" }, user("hi")], "u"],
  ["nothing", [], ""],
];
for (const [name, messages, expected] of BROKEN) {
  Deno.test(`SES-02 repaired: ${name}`, () => assertEquals(shape(repaired(messages)), expected));
}

const head = { version: 1, folder: "/f", started: "2026-01-02T03:04:05.000Z" } as const;

Deno.test("SES-02 a session is read up to wherever writing was cut off", () => {
  const text = recordOf(head) + whole.map((message) => recordOf({ message })).join("");
  for (let end = recordOf(head).length; end <= text.length; end++) {
    const { messages, lost } = parseSession(text.slice(0, end));
    assertEquals(messages, whole.slice(0, messages.length));
    const isCut = text[end - 1] !== "\n" && text[end] !== "\n" && end < text.length;
    assertEquals(lost, isCut ? 1 : 0, `at ${end}`);
  }
});

Deno.test("a record of all messages takes the place of those before", () => {
  const text = recordOf(head) + recordOf({ message: user("a") }) +
    recordOf({ messages: [user("b")] }) + recordOf({ message: says("c") });
  assertEquals(parseSession(text).messages, [user("b"), says("c")]);
});

Deno.test("what is no session is refused, and what is no message passed over", () => {
  for (const text of ["", "x", "[]\n", '{"version":2,"folder":"/"}\n', '{"version":1}\n']) {
    assertThrows(() => parseSession(text), SyntaxError);
  }
  const bad = ['{"message":{"role":"user"}}', '{"message":{"role":"x","content":""}}', "null"];
  const { messages, lost } = parseSession(`${recordOf(head)}${bad.join("\n")}\n`);
  assertEquals([messages, lost], [[], 3]);
});

Deno.test("SES-03 sessions of one folder never share a file, and are for their owner alone", async () => {
  const root = await Deno.makeTempDir();
  try {
    const path = `${root}/deep/sessions`;
    const recorders = ["/f", "/f", "/other"].map((folder) => openRecorder(path, () => folder));
    for (let turn = 0; turn < 20; turn++) {
      recorders.forEach((recorder, i) =>
        recorder.sync(Array.from({ length: turn + 1 }, (_, n) => kept[i]![n] ??= user(`${i} ${n}`)))
      );
    }
    const mine = [...storedSessions(path, "/f")];
    assertEquals(mine.length, 2);
    for (const { messages } of mine) {
      const [i] = messages[0]!.content.split(" ");
      assertEquals(messages, kept[Number(i)]);
    }
    for (const { name } of Deno.readDirSync(path)) {
      assertEquals(Deno.statSync(`${path}/${name}`).mode! & 0o777, 0o600);
    }
    assertEquals(Deno.statSync(path).mode! & 0o777, 0o700);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
const kept: Message[][] = [[], [], []];

Deno.test({
  name: "SES-02 what is no session among them is passed over, and not waited for",
  ignore: Deno.build.os === "windows",
  async fn() {
    const root = await Deno.makeTempDir();
    openRecorder(root, () => "/f").sync(whole);
    await Deno.mkdir(`${root}/a.jsonl`);
    await Deno.symlink("b.jsonl", `${root}/b.jsonl`);
    await new Deno.Command("mkfifo", { args: [`${root}/c.jsonl`] }).output();
    const head = '{"version":1,"folder":"/f","started":5}';
    await Deno.writeTextFile(`${root}/d.jsonl`, `${head}\n${recordOf({ message: user("hi") })}`);
    assertEquals([...storedSessions(root, "/f")].map(({ messages }) => messages), [whole]);
    await Deno.remove(root, { recursive: true });
  },
});

Deno.test("a conversation that was compacted or cleared is recorded as it is now", async () => {
  const root = await Deno.makeTempDir();
  try {
    const recorder = openRecorder(root, () => "/f");
    const now = () => [...storedSessions(root, "/f")][0]?.messages;
    recorder.sync([]);
    assertEquals(now(), undefined);
    recorder.sync(whole);
    recorder.sync(whole);
    assertEquals(now(), whole);
    const short = [user("summary"), whole.at(-1)!];
    recorder.sync(short);
    assertEquals(now(), short);
    recorder.sync([]);
    assertEquals(now(), undefined);
    recorder.sync([user("anew")]);
    assertEquals([...storedSessions(root, "/f")].map(({ first }) => first), ["anew"]);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("one that goes on from another takes its place, and keeps its name and model", async () => {
  const root = await Deno.makeTempDir();
  const list = () => [...storedSessions(root, "/f")];
  // Files are named by the millisecond.
  const tick = () => {
    const now = Date.now();
    while (Date.now() === now);
  };
  try {
    openRecorder(root, () => "/f").sync(whole, { model: "m", server: "h:1" });
    const [first] = list();
    assertEquals(first!.used, { model: "m", server: "h:1" });
    let newest = first!;
    for (const word of ["more", "and more"]) {
      tick();
      const recorder = openRecorder(root, () => "/f");
      recorder.sync([user("something else")]);
      tick();
      recorder.goesOn(newest.messages, { continues: newest.name, title: "hi" });
      recorder.sync(newest.messages);
      assertEquals(list().find(({ name }) => name === newest.name)?.messages, newest.messages);
      const all = [user("summary"), user(word)];
      recorder.sync(all, { model: "n", server: "h:1" });
      [newest] = list() as [typeof newest];
      assertEquals(newest.messages, all);
      assertEquals([newest.head.title, newest.used?.model], ["hi", "n"]);
    }
    assertEquals(list().map(({ head, first }) => head.title ?? first), [
      "hi",
      "something else",
      "something else",
    ]);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("what a session began with is known after a compaction, and odd records are passed over", () => {
  const { first, used } = parseSession(
    recordOf(head) + recordOf({ message: user("a"), used: { model: "m", server: "h" } }) +
      recordOf({ messages: [user("b")] }) + '{"message":{"role":"user","content":"c"},"used":7}\n',
  );
  assertEquals([first, used], ["a", { model: "m", server: "h" }]);
  const odd = JSON.stringify({ ...head, continues: 1, title: [] });
  assertEquals(parseSession(`${odd}\n`).head, head);
});

const CUTS: [messages: Message[], expected: string | undefined][] = [
  [whole, undefined],
  [[user("hi")], "before the answer"],
  [whole.slice(0, 4), "before the answer"],
  [whole.slice(0, 3), "its open call is answered as interrupted"],
  [whole.slice(0, 2), "its open calls are answered as interrupted"],
];
for (const [messages, expected] of CUTS) {
  Deno.test(`SES-02 cut off: ${expected} (${shape(messages)})`, () =>
    assertEquals(cutOf(repaired(messages)), expected));
}
