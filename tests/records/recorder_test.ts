import { assertEquals, assertThrows } from "@std/assert";
import { Recorder } from "../../src/records/recorder.ts";
import { storedSession } from "../../src/records/store.ts";
import type { Message } from "../../src/types/message.ts";
import { recordsBelow } from "../helpers/records.ts";
import { result, says, user } from "./conversation.ts";

/** A test with a recorder; `lines` reads what of its file was not read yet, without the head. */
function test(
  name: string,
  body: (recorder: Recorder, lines: () => unknown[], root: string) => void,
): void {
  Deno.test(name, async () => {
    const root = await Deno.makeTempDir();
    using recorder = new Recorder(root, () => "/f");
    let read = 1;
    const lines = () => {
      if (!recorder.file) return [];
      const all = Deno.readTextFileSync(recorder.file.path).split("\n").slice(0, -1);
      return all.splice(read, read = all.length).map((line) => JSON.parse(line));
    };
    try {
      body(recorder, lines, root);
    } finally {
      recorder[Symbol.dispose]();
      await Deno.remove(root, { recursive: true });
    }
  });
}
/** Runs `run` while a write puts `room` bytes into its file, and the next one calls `full` and fails. */
function failing(room: number, error: string, run: () => void, full = () => {}): void {
  const { writeSync } = Deno.FsFile.prototype;
  Deno.FsFile.prototype.writeSync = function (bytes) {
    if (room > 0) return writeSync.call(this, bytes.subarray(0, room)) + (room = 0);
    full();
    throw new Error(error);
  };
  try {
    run();
  } finally {
    Deno.FsFile.prototype.writeSync = writeSync;
  }
}

const line = (message: Message) => ({ message });
const ids = (...messages: Message[]) => messages.map(({ id }) => id!);

test("a conversation that grows has a line for each message, and no other", (recorder, lines) => {
  const [a, b, c] = [user("a"), says("b"), user("c")] as const;
  recorder.sync([]);
  assertEquals(recorder.file, undefined);
  recorder.sync([a]);
  assertEquals(lines(), [line(a)]);
  recorder.sync([a]);
  assertEquals(lines(), []);
  recorder.sync([a, b, c]);
  assertEquals(lines(), [line(b), line(c)]);
});

test("one that changed has a line of its messages, with those that are new", (recorder, lines) => {
  const [a, b, c, d] = [user("a"), says("b"), user("c"), user("d")] as const;
  recorder.sync([a, b, c]);
  lines();
  recorder.sync([a, b]);
  assertEquals(lines(), [{ conversation: ids(a, b) }]);
  recorder.sync([a, b, c]);
  assertEquals(lines(), [{ conversation: ids(a, b, c) }]);
  recorder.sync([d, c]);
  assertEquals(lines(), [{ conversation: ids(d, c), added: [line(d)] }]);
  recorder.sync([d, c, b, user("e")].slice(0, 3));
  assertEquals(lines(), [{ conversation: ids(d, c, b) }]);
});

test("the mode and the model are written where they changed", (recorder, lines) => {
  const [a, b] = [user("a"), says("b")] as const;
  const used = { model: "m", server: "s" };
  recorder.sync([], used, undefined, "ask");
  assertEquals(recorder.file, undefined);
  recorder.sync([a], used, undefined, "ask");
  assertEquals(lines(), [{ ...line(a), used, mode: "ask" }]);
  recorder.sync([a], used, undefined, "auto");
  assertEquals(lines(), [{ conversation: ids(a), mode: "auto" }]);
  recorder.sync([a], used, undefined, "auto");
  assertEquals(lines(), []);
  recorder.sync([a, b], { ...used, model: "n" }, undefined, "auto");
  assertEquals(lines(), [{ ...line(b), used: { ...used, model: "n" } }]);
  recorder.sync([a, b], used);
  assertEquals(lines(), [{ conversation: ids(a, b), used, mode: "" }]);
});

test("how a call ended stands beside its result", (recorder, lines) => {
  const all = [user("a"), says("", "1"), result("1")] as const;
  const execution = { outcome: "done", durationMs: 1 } as const;
  recorder.sync([...all], undefined, new Map([["1", execution]]));
  assertEquals(lines(), [line(all[0]), line(all[1]), { ...line(all[2]), execution }]);
});

test("pieces are written behind what is recorded, and only there", (recorder, lines) => {
  const partial = "So";
  recorder.writePartial(partial);
  assertEquals(recorder.file, undefined);
  const a = user("a");
  recorder.sync([a]);
  recorder.writePartial(partial);
  recorder.writePartial(null);
  assertEquals(lines(), [line(a), { partial }, { partial: null }]);
});

test("a recorder that was left writes, and others have the file", (recorder, lines, root) => {
  const [a, b, c] = [user("a"), says("b"), user("c")] as const;
  recorder.sync([a]);
  const { path } = recorder.file!;
  const name = recorder.name;
  using other = new Recorder(root, () => "/f");
  const session = () => storedSession(root, name)!;
  other.continueFrom(session());
  assertEquals(other.file, undefined);
  recorder[Symbol.dispose]();
  recorder[Symbol.dispose]();
  recorder.sync([a, b]);
  assertEquals(lines(), [line(a), line(b)]);
  other.continueFrom(session());
  assertEquals(other.file?.path, path);
  other.sync([...session().messages, c]);
  assertEquals(lines(), [line(c)]);
});

test("messages put between those of the file are recorded", (recorder, lines, root) => {
  const [a, put, b] = [user("a"), says("put"), user("b")] as const;
  recorder.sync([a, b]);
  lines();
  const name = recorder.name;
  recorder[Symbol.dispose]();
  const session = storedSession(root, name)!;
  recorder.continueFrom({ ...session, messages: [a, put, b] });
  recorder.sync([a, put, b]);
  assertEquals(lines(), []);
  recorder.sync([a, put, b, user("c")].slice(0, 3), undefined, undefined, "ask");
  assertEquals(lines(), [{ conversation: ids(a, put, b), added: [line(put)], mode: "ask" }]);
});

test("of a write that fails in its middle nothing stays in the file", (recorder, lines) => {
  const [a, b] = [user("a"), says("b")] as const;
  recorder.sync([a]);
  lines();
  for (const [room, error] of [[3, "full"], [0, "still full"]] as const) {
    failing(room, error, () => assertThrows(() => recorder.sync([a, b]), Error, error));
  }
  recorder.sync([a, b]);
  assertEquals(lines(), [line(b)]);
});

test("of a write that fails in a file that was left, another program's line stays", (recorder) => {
  const [a, b] = [user("a"), says("b")] as const;
  recorder.sync([a]);
  const { path } = recorder.file!;
  recorder[Symbol.dispose]();
  const full = () => Deno.writeTextFileSync(path, "\nits own\n", { append: true });
  failing(3, "full", () => assertThrows(() => recorder.sync([a, b]), Error, "full"), full);
  assertEquals(Deno.readTextFileSync(path).endsWith("\nits own\n"), true);
});

test("a session that another program added to goes on elsewhere", (recorder, lines, root) => {
  const [a, b, c] = [user("a"), says("b"), user("c")] as const;
  recorder.sync([a]);
  const { path } = recorder.file!;
  const read = storedSession(root, recorder.name)!;
  recorder.sync([a, b]);
  recorder[Symbol.dispose]();
  using other = new Recorder(root, () => "/f");
  other.continueFrom(read);
  other.sync([...read.messages, c]);
  assertEquals([other.file?.path === path, lines()], [false, [line(a), line(b)]]);
  assertEquals(recordsBelow(root).length, 2);
});
