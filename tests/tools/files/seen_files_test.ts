import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { prepareEdit } from "../../../src/tools/edit_file.ts";
import { prepareWrite } from "../../../src/tools/write_file.ts";
import { editFile, readFile, writeFile } from "../text_results.ts";
import { posixTest, type Workspace } from "../workspace.ts";

const read = { file_path: "f", offset: 1, limit: 2000 };
const edit = { file_path: "f", old_string: "one", new_string: "1", replace_all: false };
const write = { file_path: "f", content: "all new\n" };

/** Registers a test with a file that was read. */
const test = (name: string, check: (made: Workspace, path: string) => Promise<void>) =>
  posixTest(name, async (made) => {
    made.context.seenFiles = new Map();
    const path = made.put("f", "one\ntwo\n", 0o600);
    await readFile(read, made.context);
    await check(made, path);
  });

const CHANGES: [name: string, change: (path: string) => void][] = [
  ["another line", (path) => Deno.writeTextFileSync(path, "one\ntwo\nTHREE\n")],
  ["the same size", (path) => {
    Deno.writeTextFileSync(path, "one\ntwO\n");
    Deno.utimeSync(path, 1, 1);
  }],
  ["the same size and time", (path) => {
    const { atime, mtime } = Deno.statSync(path);
    Deno.writeTextFileSync(path, "one\ntwO\n");
    Deno.utimeSync(path, atime!, mtime!);
  }],
  ["replaced by a rename", (path) => {
    Deno.writeTextFileSync(`${path}~`, "one\ntwO\n");
    Deno.renameSync(`${path}~`, path);
  }],
];

for (const [name, change] of CHANGES) {
  const rows = [
    ["edit_file", prepareEdit, editFile, edit],
    ["write_file", prepareWrite, writeFile, write],
  ] as const;
  for (const [tool, check, run, args] of rows) {
    test(`EDT-08 ${tool} of a file that changed since it was read: ${name}`, async (made, path) => {
      change(path);
      const now = made.text("f");
      const before = made.context.seenFiles!.get(path)!;
      for (const attempt of [check, run]) {
        made.context.seenFiles!.set(path, before);
        const { message } = await assertRejects(
          async () => void await attempt(args, made.context),
          Error,
          `Cannot ${tool.slice(0, -5)} f as it changed since you read it. It now contains:\n1\t`,
        );
        assertStringIncludes(message, "one\n2\ttw");
        assertEquals(made.text("f"), now);
      }
      // What it holds was in the refusal: now it is known.
      await run(args, made.context);
    });
  }
}

test("EDT-08 other rights and times are no other content", async (made, path) => {
  Deno.chmodSync(path, 0o700);
  Deno.utimeSync(path, 1, 1);
  await editFile(edit, made.context);
  assertEquals(made.text("f"), "1\ntwo\n");
});

test("EDT-08 what was removed meanwhile is not brought back unasked", async (made, path) => {
  Deno.removeSync(path);
  await assertRejects(() => writeFile(write, made.context), Error, "was removed since");
  assertEquals(made.names(), []);
  await writeFile(write, made.context);
  assertEquals(made.text("f"), "all new\n");
});

test("EDT-08 writes of one's own in sequence, through a link too", async (made, path) => {
  Deno.renameSync(path, made.at("real"));
  Deno.symlinkSync("real", path);
  await readFile(read, made.context);
  await editFile(edit, made.context);
  await editFile({ ...edit, file_path: "real", old_string: "1", new_string: "2" }, made.context);
  await writeFile(write, made.context);
  made.put("empty", "");
  await writeFile({ file_path: "empty", content: "x" }, made.context);
  await writeFile({ file_path: "new", content: "x" }, made.context);
  await writeFile({ file_path: "new", content: "y" }, made.context);
  assertEquals([made.text("real"), made.text("empty"), made.text("new")], ["all new\n", "x", "y"]);
});
