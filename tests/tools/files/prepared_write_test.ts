import { assertEquals, assertRejects } from "@std/assert";
import { editFile, prepareEdit } from "../../../src/tools/edit_file.ts";
import { prepareWrite, writeFile } from "../../../src/tools/write_file.ts";
import type { ToolContext } from "../../../src/types/tool.ts";
import { test, workspace } from "../workspace.ts";

const edit = (old_string: string, new_string: string, replace_all = false) => (
  { file_path: "f", old_string, new_string, replace_all }
);
const write = (content: string) => ({ file_path: "f", content });

test("R-20 what was prepared is written, and nothing that another call prepared", async (ws) => {
  ws.put("f", "one\n");
  const prepared = await prepareEdit(edit("one", "two"), ws.context);
  await editFile(edit("one", "three"), ws.context, prepared);
  assertEquals(ws.text("f"), "three\n");
  const right = await prepareEdit(edit("three", "four"), ws.context);
  assertEquals((await editFile(edit("three", "four"), ws.context, right)).change, right.change);
  assertEquals(ws.text("f"), "four\n");
  // Whatever else a policy hands on is nothing that was prepared.
  await editFile(edit("four", "five"), ws.context, { change: prepared.change });
  assertEquals(ws.text("f"), "five\n");
});

const CHANGED: [name: string, tracked: boolean, expected: string][] = [
  ["that the model has read", true, "changed since you read it"],
  ["that it has not read", false, "changed on disk since it was read"],
];
for (const [name, isTracked, expected] of CHANGED) {
  Deno.test(`EDT-08 a file ${name} changes while a person is asked: it stays`, async () => {
    const rows = [
      [prepareEdit, editFile, edit("one", "two")],
      [prepareWrite, writeFile, write("two\n")],
    ] as const;
    for (const [prepare, run, args] of rows) {
      using ws = workspace(isTracked ? { seenFiles: new Map() } : {});
      ws.put("f", "");
      if (isTracked) await writeFile(write("one\n"), ws.context);
      else ws.put("f", "one\n");
      const prepared = await prepare(args as never, ws.context);
      ws.put("f", "one\nmine\n");
      const running = () => run(args as never, ws.context, prepared);
      await assertRejects(running, Error, expected);
      assertEquals(ws.text("f"), "one\nmine\n");
    }
  });
}

test("a new file that somebody else makes meanwhile stays", async (ws) => {
  const prepared = await prepareWrite(write("mine\n"), ws.context);
  assertEquals(prepared.change.isNew, true);
  ws.put("f", "theirs\n");
  await assertRejects(() => writeFile(write("mine\n"), ws.context, prepared), Error, "changed");
  assertEquals(ws.text("f"), "theirs\n");
});

test("a change of many places, or of a huge file, takes little time and memory", async (ws) => {
  const line = `${"x".repeat(99)}\n`;
  ws.put("f", `${line.repeat(150_000)}the end\n`);
  const end = await prepareEdit(edit("the end", "The end"), ws.context);
  assertEquals(end.change.lines!.at(-1), { kind: "+", text: "The end" });
  const all = await prepareEdit(edit("x".repeat(99), "y", true), ws.context);
  assertEquals([all.change.lines!.length, all.change.morePlaces], [2, 149_999]);
  const whole = await prepareWrite(write("short\n"), ws.context);
  const { lines, replacedBytes } = whole.change;
  assertEquals([lines, replacedBytes], [undefined, 15_000_008]);
});

Deno.test("who is told of a write gets the bytes from before, up to 16 MiB of them", async () => {
  const written: Parameters<NonNullable<ToolContext["onWritten"]>>[0][] = [];
  using ws = workspace({ onWritten: (one) => void written.push(one) });
  for (const args of [write("one\n"), edit("one", "two"), write("three\n")]) {
    await ("content" in args ? writeFile : editFile)(args, ws.context);
  }
  assertEquals(written.map(({ path }) => path), Array(3).fill(ws.at("f")));
  const texts = written.map(({ before }) => before && new TextDecoder().decode(before.bytes));
  assertEquals(texts, [undefined, "one\n", "two\n"]);
  for (const [size, isSaved] of [[2 ** 20 + 1, true], [2 ** 24, true], [2 ** 24 + 1, false]]) {
    Deno.truncateSync(ws.put("f", "head"), size as number);
    await writeFile(write("short\n"), ws.context);
    const { before } = written.at(-1)!;
    assertEquals(before!.bytes?.length, isSaved ? size : undefined);
  }
});

Deno.test("EDT-08 a prepared write needs a file that is known, a prepared edit does not", async () => {
  using ws = workspace({ seenFiles: new Map() });
  ws.put("f", "one\n");
  const prepared = await prepareEdit(edit("one", "two"), ws.context);
  await editFile(edit("one", "two"), ws.context, prepared);
  const all = await prepareWrite(write("three\n"), ws.context);
  Deno.removeSync(ws.at("f"));
  const writing = () => writeFile(write("three\n"), ws.context, all);
  await assertRejects(writing, Error, "it was removed since you read it");
});

test("a change that is not shown line by line says how many bytes it replaces", async (ws) => {
  const changeOf = async (content: string, context: Partial<ToolContext> = {}) =>
    (await prepareWrite(write(content), { ...ws.context, ...context })).change;
  const [short, long] = ["a\n", "a".repeat(2 ** 20 + 1)];
  const unseen = { path: "f", isNew: false, morePlaces: 0 };
  assertEquals(await changeOf(long), { path: "f", isNew: true, morePlaces: 0 });
  const lines = [{ kind: "+", text: "a", line: 1 }] as const;
  assertEquals(await changeOf(short), { path: "f", isNew: true, morePlaces: 0, lines });
  ws.put("f", "");
  assertEquals(await changeOf(short), { ...unseen, lines });
  assertEquals(await changeOf(long), { ...unseen, replacedBytes: 0 });
  const most = await changeOf(long.slice(1));
  assertEquals(most.lines?.length, 1);
  ws.put("f", [0xe9, 10]);
  assertEquals(await changeOf(short), { ...unseen, replacedBytes: 2 });
  ws.put("f", "b\n");
  const grant = { realPath: ws.at("f"), withheld: { folder: "/", paths: [] }, isSecret: true };
  assertEquals(await changeOf(short, { grant }), { ...unseen, replacedBytes: 2 });
  const isNew = { grant: { ...grant, realPath: ws.at("new") } };
  const made = await prepareWrite({ ...write(short), file_path: "new" }, {
    ...ws.context,
    ...isNew,
  });
  assertEquals(made.change.lines, lines);
});
