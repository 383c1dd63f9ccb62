import { assertEquals, assertThrows } from "@std/assert";
import { entryLine } from "../../src/records/format.ts";
import { repaired } from "../../src/records/repair.ts";
import {
  isOfPrint,
  listedSessions,
  removeSession,
  storedSession,
  wholeSession,
} from "../../src/records/store.ts";
import type { Message } from "../../src/types/message.ts";
import { recordsBelow, storedSessions } from "../helpers/records.ts";
import { result, says, TestRecorder, user, whole } from "./conversation.ts";
import { tempFolder } from "../helpers/temp_folder.ts";

const shape = (messages: Message[]) =>
  messages.map(({ role, toolCallId = "", isError }) =>
    `${role[0]}${toolCallId}${isError ? "!" : ""}`
  )
    .join(" ");

Deno.test("SES-02 repaired: a whole conversation stays as it is", () => {
  assertEquals(repaired(whole), whole);
});

const once = [user("hi"), says("", "1")];
const BROKEN: [name: string, messages: Message[], expected: string][] = [
  ["calls without results", whole.slice(0, 2), "u a t1! t2! a"],
  ["a call without its result", whole.slice(0, 3), "u a t1 t2! a"],
  ["results, and no answer", whole.slice(0, 4), "u a t1 t2 a"],
  ["a result of no call", [user("hi"), result("9"), says("x")], "u a"],
  ["two results of a call", [...once, result("1"), result("1", "b"), says("x")], "u a t1 a"],
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

/** A test with a folder of its own for sessions. */
function test(
  name: string,
  body: (root: string, record: (folder?: string) => TestRecorder) => Promise<void> | void,
  ignore = false,
) {
  Deno.test(name, { ignore }, async () => {
    using temp = tempFolder();
    const root = temp.path;
    await body(root, (folder = "/f") => new TestRecorder(root, folder));
  });
}

test("SES-03 sessions of one folder never share a file, and are for their owner alone", (root) => {
  const path = `${root}/deep/sessions`;
  const recorders = ["/f", "/f", "/other"].map((folder) => new TestRecorder(path, folder));
  const conversations: Message[][] = [[], [], []];
  for (let turn = 0; turn < 20; turn++) {
    recorders.forEach((recorder, i) => {
      conversations[i]!.push(user(`${i} ${turn}`));
      recorder.record(conversations[i]!);
    });
  }
  const mine = storedSessions(path, "/f");
  assertEquals(mine.length, 2);
  for (const { messages } of mine) {
    const [i] = messages[0]!.content.split(" ");
    assertEquals(messages, conversations[Number(i)]);
  }
  for (const file of recordsBelow(path)) assertEquals(Deno.statSync(file).mode! & 0o777, 0o600);
  assertEquals(Deno.statSync(path).mode! & 0o777, 0o700);
});

test(
  "SES-02 what is no session among them is passed over, and not waited for",
  async (root, record) => {
    record().record(whole);
    const home = recordsBelow(root)[0]!.replace(/\/[^/]+$/, "");
    await Deno.mkdir(`${home}/a.jsonl`);
    await Deno.symlink("b.jsonl", `${home}/b.jsonl`);
    await new Deno.Command("mkfifo", { args: [`${home}/c.jsonl`] }).output();
    const later = '{"version":3,"folder":"/f","started":"2026-01-02T03:04:05.000Z"}';
    for (const [name, head] of [["d", '{"version":1,"folder":"/f","started":5}'], ["e", later]]) {
      const line = entryLine({ message: user("hi") });
      await Deno.writeTextFile(`${home}/${name}.jsonl`, `${head}\n${line}`);
    }
    assertEquals(storedSessions(root, "/f").map(({ messages }) => messages), [whole]);
  },
  Deno.build.os === "windows",
);

test("a compacted or cleared conversation is recorded as it is now", (root, record) => {
  const recorder = record();
  const now = () => storedSessions(root, "/f")[0]?.messages;
  recorder.record([]);
  assertEquals(now(), undefined);
  recorder.record(whole);
  recorder.record(whole);
  assertEquals(now(), whole);
  const short = [user("summary"), whole.at(-1)!];
  recorder.record(short);
  assertEquals(now(), short);
  recorder.record([]);
  assertEquals(now(), undefined);
  recorder.record([user("anew")]);
  assertEquals(storedSessions(root, "/f").map(({ first }) => first), ["anew"]);
});

test("lines are only appended, and each message is written once", (root, record) => {
  const recorder = record();
  const text = () => Deno.readTextFileSync(recordsBelow(root)[0]!);
  const second = [user("and more"), says("more")];
  // As a session does it: one turn, another, /undo, /redo, /undo, another, a compaction.
  const summary = [user("summary"), says("I go on.")];
  const both = [...whole, ...second];
  const states = [whole, both, whole, both, whole, [...whole, user("instead"), says("fine")]];
  states.push([...summary, ...states.at(-1)!.slice(-2)]);
  let before = "";
  for (const state of states) {
    recorder.record(state);
    const now = text();
    assertEquals(now.slice(0, before.length), before);
    assertEquals(now.length > before.length, true);
    assertEquals(storedSessions(root, "/f")[0]!.messages, state);
    before = now;
  }
  const ids = new Set(states.flat().map(({ id }) => id!));
  for (const id of ids) assertEquals(before.split(`"id":"${id}"`).length, 2, id);
});

test("SES-02 a file over 256 MiB is named, a head over 16 KiB passed over", (root, record) => {
  record().record(whole);
  const path = recordsBelow(root)[0]!;
  const text = Deno.readTextFileSync(path);
  const isListed = () => storedSessions(root, "/f").length === 1;
  const titled = (chars: number) => text.replace("{", `{"title":"${"x".repeat(chars)}",`);
  Deno.writeTextFileSync(path, titled(15_000));
  assertEquals(isListed(), true);
  Deno.writeTextFileSync(path, titled(17_000));
  assertEquals(isListed(), false);
  Deno.writeTextFileSync(path, text);
  Deno.truncateSync(path, 256 * 1024 * 1024 + 1); // takes no room on the disk
  const said = `Cannot read ${path}: it has 257 MiB, and a session must have at most 256 MiB`;
  assertThrows(isListed, Error, said);
  const [listed] = listedSessions(root, "/f");
  assertEquals(listed!.first, "hi");
  assertThrows(() => wholeSession(listed!), Error, said);
});

/** Sessions are listed by the time at which they were last written, as coarse as the system has it. */
const writtenAt = (path: string, minute: number) => {
  const time = new Date(Date.UTC(2026, 0, 1, 0, minute));
  Deno.utimeSync(path, time, time);
};

test("a session that is gone on with is appended to, however often", (root, record) => {
  const list = () => storedSessions(root, "/f");
  {
    using recorder = record();
    recorder.record([...whole], { model: "m", server: "h:1" });
  }
  const [path, ...none] = recordsBelow(root);
  assertEquals(none, []);
  let before = Deno.readTextFileSync(path!);
  const messages = [...whole];
  for (let time = 0; time < 3; time++) {
    const [newest] = list();
    assertEquals(newest!.messages, messages);
    using recorder = record();
    recorder.given.used = newest!.used;
    recorder.continueFrom(newest!, "hi");
    assertEquals(recorder.name, newest!.name);
    recorder.record(newest!.messages, { model: "m", server: "h:1" });
    assertEquals(Deno.readTextFileSync(path!), before);
    messages.push(user(`more ${time}`), says("fine"));
    recorder.record([...newest!.messages, ...messages.slice(-2)], { model: "m", server: "h:1" });
    const now = Deno.readTextFileSync(path!);
    assertEquals(now.slice(0, before.length), before);
    assertEquals(now.slice(before.length).split("\n").length, 3);
    before = now;
  }
  assertEquals(recordsBelow(root), [path]);
});

test("what was cut off amid a line goes on behind that line, repaired", (root, record) => {
  {
    using recorder = record();
    recorder.record(whole.slice(0, 2));
    recorder.writePartial("never ");
  }
  const [path] = recordsBelow(root);
  Deno.writeTextFileSync(path!, '{"message":{"id":"x","ro', { append: true });
  const [stored] = storedSessions(root, "/f");
  assertEquals([shape(stored!.messages), stored!.lost], ["u a t1! t2! a", 1]);
  using recorder = record();
  recorder.continueFrom(stored!);
  const all = [...stored!.messages, user("go on")];
  recorder.record(all);
  const [again] = storedSessions(root, "/f");
  assertEquals([again!.messages, again!.lost], [all, 1]);
});

test("an answer on its way is on record, and gives way to the message", (root, record) => {
  using recorder = record();
  const now = () => storedSessions(root, "/f")[0]!.messages.slice(1).map(({ content }) => content);
  recorder.record([user("hi")]);
  recorder.writePartial("Hel");
  recorder.writePartial("lo");
  assertEquals(now(), ["Hello\n\n[Interrupted]"]);
  recorder.writePartial(null);
  assertEquals(now(), []);
  recorder.writePartial("Again");
  assertEquals(now(), ["Again\n\n[Interrupted]"]);
  recorder.record([user("hi"), says("Again.")].map((one, i) => ({ ...one, id: `${i}` })));
  assertEquals(now(), ["Again."]);
});

test("one that another program has open is repeated in a file of its own", (root, record) => {
  using first = record();
  first.record([...whole], { model: "m", server: "h:1" });
  const [stored] = storedSessions(root, "/f");
  using second = record();
  const started = stored!.head.started = "2026-01-01T00:00:00.000Z";
  second.continueFrom(stored!, "hi");
  const messages = [...stored!.messages, user("more")];
  second.record(messages);
  assertEquals(recordsBelow(root).length, 2);
  const newer = recordsBelow(root).find((path) => !path.endsWith(stored!.name))!;
  assertEquals(wholeSession({ name: "", path: newer })!.head.started, started);
  writtenAt(newer, 1);
  writtenAt(stored!.path, 0);
  const [own, old] = storedSessions(root, "/f");
  assertEquals([own!.messages, own!.head.title, own!.head.parent], [messages, "hi", stored!.name]);
  assertEquals([old!.messages, old!.head.title, old!.head.parent], [whole, undefined, undefined]);
  assertEquals(storedSession(root, stored!.name)?.messages, whole);
  assertEquals(removeSession(root, stored!.name), true);
  assertEquals(recordsBelow(root), [newer]);
  assertEquals(removeSession(root, stored!.name), false);
});

test("a list reads the two ends of a long session, and says the same of it", (root, record) => {
  const model = (model: string) => ({ model, server: "h" });
  using recorder = record();
  const messages = [user("first"), ...Array.from({ length: 20 }, () => says("x".repeat(50_000)))];
  recorder.record([...messages], model("m"));
  recorder.record([...messages, user("then")], model("n"));
  const [listed] = [...listedSessions(root)];
  assertEquals([listed!.first, listed!.used], ["first", model("n")]);
  assertEquals("2026" < listed!.updated, true);
  recorder.record([]);
  assertEquals([...listedSessions(root)], []);
});

test("a folder's sessions are bounded: first go the oldest, an open one never", (root, record) => {
  using open = record();
  open.record([user("open")]);
  using other = record("/other");
  other.record([user("other")]);
  const [home] = recordsBelow(root).filter((path) => path.endsWith(open.name));
  writtenAt(home!, 0);
  const at = (n: number) =>
    `${home!.slice(0, -open.name.length)}${String(n).padStart(3, "0")}.jsonl`;
  const text = Deno.readTextFileSync(home!);
  for (let n = 1; n < 200; n++) {
    Deno.writeTextFileSync(at(n), text);
    writtenAt(at(n), n);
  }
  Deno.writeTextFileSync(`${root}/notes.txt`, "mine");
  const begin = () => {
    using recorder = record();
    recorder.record([user("new")]);
  };
  const isThere = (path: string) => recordsBelow(root).includes(path);
  begin();
  assertEquals([isThere(home!), isThere(at(1)), isThere(at(2))], [true, false, true]);
  assertEquals(recordsBelow(root).length, 200 + 2);
});

test("sessions of -p have a bound of their own, without the user's", (root, record) => {
  using own = record();
  own.record([user("mine")]);
  const printed = () => {
    using recorder = new TestRecorder(root, "/f", true);
    recorder.record([user("new")]);
    return recorder.file!.path;
  };
  const path = printed();
  const text = Deno.readTextFileSync(path);
  for (let n = 1; n < 1050; n++) {
    Deno.writeTextFileSync(path.replace(/-[^-]*$/, `-${n}.jsonl`), text);
  }
  writtenAt(path, 0);
  assertEquals(recordsBelow(root).length, 1051);
  assertEquals([...listedSessions(root, "/f", (name) => !isOfPrint(name))].length, 1);
  printed();
  assertEquals(recordsBelow(root).length, 1001);
  const isThere = (one: string) => recordsBelow(root).includes(one);
  assertEquals([path, own.file!.path].map(isThere), [false, true]);
});

test("what the user continues of -p is a session of their own", (root, record) => {
  using printed = new TestRecorder(root, "/f", true);
  printed.record([...whole]);
  printed[Symbol.dispose]();
  using own = record();
  own.continueFrom(storedSession(root, printed.name)!);
  own.record([...whole, user("more")]);
  writtenAt(recordsBelow(root).find((path) => path.endsWith(printed.name))!, 0);
  assertEquals(isOfPrint(own.name), false);
  assertEquals([...listedSessions(root, "/f")].map(({ name }) => name), [own.name, printed.name]);
});
