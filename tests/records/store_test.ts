import { assertEquals } from "@std/assert";
import { entryLine } from "../../src/records/format.ts";
import { openCallsAtCut, repaired } from "../../src/records/repair.ts";
import { Recorder, storedSessions } from "../../src/records/store.ts";
import type { Message } from "../../src/types/message.ts";
import { result, says, user, whole } from "./conversation.ts";

const shape = (messages: Message[]) =>
  messages.map(({ role, toolCallId = "", isError }) =>
    `${role[0]}${toolCallId}${isError ? "!" : ""}`
  )
    .join(" ");

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
  Deno.test(`SES-02 repaired: ${name}`, () => {
    const messagesNow = repaired(messages);
    assertEquals(shape(messagesNow), expected);
    assertEquals(repaired(messagesNow), messagesNow);
  });
}

Deno.test("SES-02 repaired: each call has an id of its own, and its result the same", () => {
  const broken = [
    user("hi"),
    says("", "1", "1", ""),
    ...[result("1", "a"), result("1", "b"), result("", "c"), result("1", "of no call")],
    says("", "1"),
    { ...result("1", "d"), toolName: "another" },
    says("done"),
  ];
  const messages = repaired(broken);
  const calls = messages.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id));
  assertEquals(calls[0], "1");
  assertEquals(new Set([...calls, ""]).size, 5);
  const results = messages.filter(({ role }) => role === "tool");
  assertEquals(results.map(({ toolCallId }) => toolCallId), calls);
  assertEquals(results.map(({ content }) => content), ["a", "b", "c", "d"]);
  assertEquals(new Set(results.map(({ toolName }) => toolName)), new Set(["read_file"]));
  assertEquals(repaired(messages), messages);
});

/** A message with very many calls: they do not fit on the stack as arguments. */
const calling = (ids: string[]): Message => ({
  ...says(""),
  toolCalls: ids.map((id) => ({ id, name: "read_file", arguments: {} })),
});
// With a search among the open calls for each result, this would take many minutes.
Deno.test("SES-02 repaired: a message of very many calls", () => {
  const ids = Array.from({ length: 200_000 }, (_, i) => `${i}`);
  for (const some of [ids, ids.map(() => "1")]) {
    const results = some.map((id) => result(id)).reverse();
    const messages = repaired([user("hi"), calling(some), ...results, says("done")]);
    assertEquals([messages.length, messages.some(({ isError }) => isError)], [200_003, false]);
  }
});

const CUTS: [messages: Message[], openCalls: number | undefined][] = [
  [whole, undefined],
  [[user("hi")], 0],
  [whole.slice(0, 4), 0],
  [whole.slice(0, 3), 1],
  [whole.slice(0, 2), 2],
];
for (const [messages, openCalls] of CUTS) {
  Deno.test(`SES-02 cut off: ${openCalls} open calls (${shape(messages)})`, () =>
    assertEquals(openCallsAtCut(repaired(messages)), openCalls));
}

/** A test with a folder of its own for sessions. */
function storeTest(
  name: string,
  body: (root: string, record: (folder?: string) => Recorder) => Promise<void> | void,
  ignore = false,
) {
  Deno.test({
    name,
    ignore,
    async fn() {
      const root = await Deno.makeTempDir();
      try {
        await body(root, (folder = "/f") => new Recorder(root, () => folder));
      } finally {
        await Deno.remove(root, { recursive: true });
      }
    },
  });
}

storeTest(
  "SES-03 sessions of one folder never share a file, and are for their owner alone",
  (root) => {
    const path = `${root}/deep/sessions`;
    const recorders = ["/f", "/f", "/other"].map((folder) => new Recorder(path, () => folder));
    const conversations: Message[][] = [[], [], []];
    for (let turn = 0; turn < 20; turn++) {
      recorders.forEach((recorder, i) => {
        conversations[i]!.push(user(`${i} ${turn}`));
        recorder.sync(conversations[i]!);
      });
    }
    const mine = [...storedSessions(path, "/f")];
    assertEquals(mine.length, 2);
    for (const { messages } of mine) {
      const [i] = messages[0]!.content.split(" ");
      assertEquals(messages, conversations[Number(i)]);
    }
    for (const { name } of Deno.readDirSync(path)) {
      assertEquals(Deno.statSync(`${path}/${name}`).mode! & 0o777, 0o600);
    }
    assertEquals(Deno.statSync(path).mode! & 0o777, 0o700);
  },
);

storeTest(
  "SES-02 what is no session among them is passed over, and not waited for",
  async (root, record) => {
    record().sync(whole);
    await Deno.mkdir(`${root}/a.jsonl`);
    await Deno.symlink("b.jsonl", `${root}/b.jsonl`);
    await new Deno.Command("mkfifo", { args: [`${root}/c.jsonl`] }).output();
    const later = '{"version":3,"folder":"/f","started":"2026-01-02T03:04:05.000Z"}';
    for (const [name, head] of [["d", '{"version":1,"folder":"/f","started":5}'], ["e", later]]) {
      const line = entryLine({ message: user("hi"), parent: null });
      await Deno.writeTextFile(`${root}/${name}.jsonl`, `${head}\n${line}`);
    }
    assertEquals([...storedSessions(root, "/f")].map(({ messages }) => messages), [whole]);
  },
  Deno.build.os === "windows",
);

storeTest(
  "a conversation that was compacted or cleared is recorded as it is now",
  (root, record) => {
    const recorder = record();
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
  },
);

storeTest("lines are only appended, and each message is written once", (root, record) => {
  const recorder = record();
  const text = () => {
    const [{ name }] = [...Deno.readDirSync(root)] as [Deno.DirEntry];
    return Deno.readTextFileSync(`${root}/${name}`);
  };
  const second = [user("and more"), says("more")];
  // As a session does it: one turn, another, /undo, /redo, /undo, another, a compaction.
  const summary = [user("summary"), says("I go on.")];
  const states = [
    whole,
    [...whole, ...second],
    whole,
    [...whole, ...second],
    whole,
    [...whole, user("instead"), says("fine")],
  ];
  states.push([...summary, ...states.at(-1)!.slice(-2)]);
  let before = "";
  for (const state of states) {
    recorder.sync(state);
    const now = text();
    assertEquals(now.slice(0, before.length), before);
    assertEquals(now.length > before.length, true);
    assertEquals([...storedSessions(root, "/f")][0]!.messages, state);
    before = now;
  }
  const ids = new Set(states.flat().map(({ id }) => id!));
  for (const id of ids) assertEquals(before.split(`"id":"${id}"`).length, 2, id);
});

storeTest("the model is written where it is another than before", (root, record) => {
  const recorder = record();
  const messages: Message[] = [];
  const models = ["m", undefined, "m", "m", "n", "n"];
  for (const model of models) {
    messages.push(user("hi"));
    recorder.sync(messages, model === undefined ? undefined : { model, server: "h" });
  }
  const [{ name }] = [...Deno.readDirSync(root)] as [Deno.DirEntry];
  const lines = Deno.readTextFileSync(`${root}/${name}`).trimEnd().split("\n").slice(1);
  assertEquals(lines.map((line) => JSON.parse(line).used?.model), [
    ...["m", undefined, "m", undefined],
    ...["n", undefined],
  ]);
});

storeTest(
  "what goes on from another session and is cleared at once leaves no file",
  (root, record) => {
    const recorder = record();
    recorder.continueFrom([...whole], { continues: "a.jsonl" });
    recorder.sync([]);
    assertEquals([...Deno.readDirSync(root)], []);
  },
);

storeTest(
  "a file of over 256 MiB, or with a head of over 16 KiB, is no session",
  (root, record) => {
    record().sync(whole);
    const [{ name }] = [...Deno.readDirSync(root)] as [Deno.DirEntry];
    const path = `${root}/${name}`;
    const text = Deno.readTextFileSync(path);
    const isListed = () => [...storedSessions(root, "/f")].length === 1;
    const titled = (chars: number) => text.replace("{", `{"title":"${"x".repeat(chars)}",`);
    Deno.writeTextFileSync(path, titled(15_000));
    assertEquals(isListed(), true);
    Deno.writeTextFileSync(path, titled(17_000));
    assertEquals(isListed(), false);
    Deno.writeTextFileSync(path, text);
    Deno.truncateSync(path, 256 * 1024 * 1024 + 1); // takes no room on the disk
    assertEquals(isListed(), false);
  },
);

storeTest("messages without ids are recorded, and have one then", (root, record) => {
  const messages: Message[] = [{ role: "user", content: "hi" }];
  record().sync(messages);
  assertEquals([...storedSessions(root, "/f")][0]!.messages, messages);
  assertEquals(typeof messages[0]!.id, "string");
});

storeTest(
  "one that goes on from another takes its place, and keeps its name and model",
  (root, record) => {
    const list = () => [...storedSessions(root, "/f")];
    // Files are named by the millisecond.
    const tick = () => {
      const now = Date.now();
      while (Date.now() === now);
    };
    record().sync(whole, { model: "m", server: "h:1" });
    const [first] = list();
    assertEquals(first!.used, { model: "m", server: "h:1" });
    let newest = first!;
    for (const word of ["more", "and more"]) {
      tick();
      const recorder = record();
      recorder.sync([user("something else")]);
      tick();
      recorder.continueFrom(newest.messages, { continues: newest.name, title: "hi" });
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
  },
);

storeTest(
  "no more sessions are stored than the bound: the oldest go, and nothing else",
  (root, record) => {
    const name = (n: number) => `2026-01-01T00-00-00-${String(n).padStart(3, "0")}Z-x.jsonl`;
    for (let n = 0; n < 200 + 3; n++) Deno.writeTextFileSync(`${root}/${name(n)}`, "{}");
    Deno.writeTextFileSync(`${root}/notes.txt`, "mine");
    const recorder = record();
    recorder.sync([user("a")]);
    const now = () => [...Deno.readDirSync(root)].map((entry) => entry.name).sort();
    assertEquals(now().length, 200 + 1);
    assertEquals(now()[0], name(4));
    assertEquals(now().includes("notes.txt"), true);
    recorder.sync([user("a"), user("b")]);
    assertEquals(now().length, 200 + 1);
  },
);
