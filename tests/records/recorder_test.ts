import { assertEquals, assertThrows } from "@std/assert";
import { storedSession } from "../../src/records/store.ts";
import type { Message } from "../../src/types/message.ts";
import { recordsBelow } from "../helpers/records.ts";
import { result, says, TestRecorder, user } from "./conversation.ts";

/** A test with a recorder; `lines` reads what of its file was not read yet, without the head. */
function test(
  name: string,
  body: (recorder: TestRecorder, lines: () => unknown[], root: string) => void,
): void {
  Deno.test(name, async () => {
    const root = await Deno.makeTempDir();
    using recorder = new TestRecorder(root);
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

test("the mode and the model are written where they changed", (recorder, lines) => {
  const [a, b] = [user("a"), says("b")] as const;
  const used = { model: "m", server: "s" };
  recorder.record([], used, undefined, "ask");
  assertEquals(recorder.file, undefined);
  recorder.record([a], used, undefined, "ask");
  assertEquals(lines(), [{ ...line(a), used, mode: "ask" }]);
  recorder.record([a], used, undefined, "auto");
  assertEquals(lines(), [{ conversation: ids(a), mode: "auto" }]);
  recorder.record([a], used, undefined, "auto");
  assertEquals(lines(), []);
  recorder.record([a, b], { ...used, model: "n" }, undefined, "auto");
  assertEquals(lines(), [{ ...line(b), used: { ...used, model: "n" } }]);
  recorder.record([a, b], used);
  assertEquals(lines(), [{ conversation: ids(a, b), used, mode: "" }]);
});

test("how a call ended stands beside its result", (recorder, lines) => {
  const all = [user("a"), says("", "1"), result("1")] as const;
  const execution = { outcome: "done", durationMs: 1 } as const;
  recorder.record([...all], undefined, new Map([["1", execution]]));
  assertEquals(lines(), [line(all[0]), line(all[1]), { ...line(all[2]), execution }]);
});

test("a recorder that was left writes, and others have the file", (recorder, lines, root) => {
  const [a, b, c] = [user("a"), says("b"), user("c")] as const;
  recorder.record([a]);
  const { path } = recorder.file!;
  const name = recorder.name;
  using other = new TestRecorder(root);
  const session = () => storedSession(root, name)!;
  other.continueFrom(session());
  assertEquals(other.file, undefined);
  recorder[Symbol.dispose]();
  recorder[Symbol.dispose]();
  recorder.record([a, b]);
  assertEquals(lines(), [line(a), line(b)]);
  other.continueFrom(session());
  assertEquals(other.file?.path, path);
  other.record([...session().messages, c]);
  assertEquals(lines(), [line(c)]);
});

test("messages put between those of the file are recorded", (recorder, lines, root) => {
  const [a, put, b] = [user("a"), says("put"), user("b")] as const;
  recorder.record([a, b]);
  lines();
  const name = recorder.name;
  recorder[Symbol.dispose]();
  const session = storedSession(root, name)!;
  recorder.continueFrom({ ...session, messages: [a, put, b] });
  recorder.record([a, put, b]);
  assertEquals(lines(), []);
  recorder.record([a, put, b, user("c")].slice(0, 3), undefined, undefined, "ask");
  assertEquals(lines(), [{ conversation: ids(a, put, b), added: [line(put)], mode: "ask" }]);
});

test("of a write that fails in its middle nothing stays in the file", (recorder, lines) => {
  const [a, b] = [user("a"), says("b")] as const;
  recorder.record([a]);
  lines();
  for (const room of [3, 0]) {
    failing(room, "full", () => assertThrows(() => recorder.record([a, b]), Error, "full"));
  }
  recorder.record([a, b]);
  assertEquals(lines(), [line(b)]);
});

test("of a write that fails in a file that was left, another program's line stays", (recorder) => {
  const [a, b] = [user("a"), says("b")] as const;
  recorder.record([a]);
  const { path } = recorder.file!;
  recorder[Symbol.dispose]();
  const full = () => Deno.writeTextFileSync(path, "\nits own\n", { append: true });
  failing(3, "full", () => assertThrows(() => recorder.record([a, b]), Error, "full"), full);
  assertEquals(Deno.readTextFileSync(path).endsWith("\nits own\n"), true);
});

test("a session that another program added to goes on elsewhere", (recorder, lines, root) => {
  const [a, b, c] = [user("a"), says("b"), user("c")] as const;
  recorder.record([a]);
  const { path } = recorder.file!;
  const read = storedSession(root, recorder.name)!;
  recorder.record([a, b]);
  recorder[Symbol.dispose]();
  using other = new TestRecorder(root);
  other.continueFrom(read);
  other.record([...read.messages, c]);
  assertEquals([other.file?.path === path, lines()], [false, [line(a), line(b)]]);
  assertEquals(recordsBelow(root).length, 2);
});
