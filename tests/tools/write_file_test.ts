import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { prepareWrite } from "../../src/tools/write_file.ts";
import { writeFile } from "./text_results.ts";
import { hasNobody, posixTest, runAsNobody, test, testUnless, workspace } from "./workspace.ts";

const posix = Deno.build.os !== "windows";
const root = posix && Deno.uid() === 0;
const mode = (path: string) => Deno.statSync(path).mode! & 0o7777;

test("EDT-06 a new file holds exactly the bytes given, and folders are made", async (ws) => {
  for (const content of ["", "a", "a\n", "\n", "a  \n\n\n", "a\r\nb", "\ufeffa", "日本😀", "\0"]) {
    assertStringIncludes(await ws.write("x/y/f", content), "Created x/y/f: wrote");
    assertEquals(ws.text("x/y/f"), content);
    assertEquals(ws.names("x/y"), ["f"]);
    await Deno.remove(ws.at("x"), { recursive: true });
  }
  assertEquals(await ws.write("f", "日本"), "Created f: wrote 6 bytes");
  assertEquals(await ws.write("f", "x"), "Replaced f: wrote 1 byte");
});

// Each row: old bytes, content given, new bytes, what the result says.
Deno.test.each([
  ["LF", "a\nb\n", "c\nd\n", "c\nd\n", ""],
  ["EDT-03 CRLF", "a\r\nb\r\n", "c\nd\n", "c\r\nd\r\n", "CRLF line endings were kept"],
  ["EDT-03 mostly CRLF", "a\r\nb\r\nc\n", "c\nd\n", "c\r\nd\r\n", "CRLF"],
  ["EDT-03 CRLF given as such", "a\r\nb\r\n", "c\r\nd\r\n", "c\r\nd\r\n", ""],
  ["EDT-03 mixed as given", "a\r\nb\r\n", "c\r\nd\ne\n", "c\r\nd\ne\n", ""],
  ["EDT-03 CR", "a\rb\r", "c\nd\n", "c\rd\r", "CR line endings were kept"],
  ["EDT-03 a single line in a CRLF file", "a\r\nb\r\n", "c", "c", ""],
  ["EDT-04 BOM kept", "\ufeffa\n", "b\n", "\ufeffb\n", "BOM was kept"],
  ["EDT-04 BOM not doubled", "\ufeffa\n", "\ufeffb\n", "\ufeffb\n", ""],
  ["EDT-04 no BOM added", "a\n", "b\n", "b\n", ""],
  ["EDT-04 BOM and CRLF", "\ufeffa\r\n", "b\n", "\ufeffb\r\n", "BOM was kept"],
  ["EDT-06 nothing trimmed", "a\n", "b  \n\n", "b  \n\n", ""],
])("overwrites a file: %s", async (_name, old, content, expected, note) => {
  using ws = workspace();
  ws.put("f", old);
  const result = await ws.write("f", content);
  assertEquals(ws.text("f"), expected);
  assertStringIncludes(result, `wrote ${ws.bytes("f").length} byte`);
  if (note === "") assert(!result.includes("kept"), result);
  else assertStringIncludes(result, note);
});

test("EDT-05 a UTF-16 file does not become UTF-8 unasked", async (ws) => {
  for (const bytes of [[0xff, 0xfe, 0x61, 0], [0xfe, 0xff, 0, 0x61], [0xff, 0xfe]]) {
    ws.put("f", bytes);
    await assertRejects(() => ws.write("f", "b\n"), Error, "Cannot write f as it is UTF-16 text");
    assertEquals([...ws.bytes("f")], bytes);
  }
});

test("EDT-05 bytes that a model read as \ufffd are not replaced by it", async (ws) => {
  const bytes = [0x63, 0xe9, 0x0a];
  ws.put("f", bytes);
  const says = "Cannot write f as it is not valid UTF-8, and content has \ufffd in place";
  await assertRejects(() => ws.write("f", "k\ufffd\n"), Error, says);
  assertEquals([...ws.bytes("f")], bytes);
  await ws.write("f", "ké\n");
  await ws.write("f", "k\ufffd\n");
  assertEquals(ws.text("f"), "k\ufffd\n");
});

posixTest("EDT-01 mode bits stay, a new file gets 0666 & ~umask", async (ws) => {
  for (const bits of [0o755, 0o640, 0o600, 0o4755, 0o666]) {
    ws.put("f", "old", bits);
    await ws.write("f", "new");
    assertEquals([ws.text("f"), mode(ws.at("f"))], ["new", bits]);
  }
  await ws.write("new", "x");
  assertEquals(mode(ws.at("new")), 0o666 & ~Deno.umask());
  assertEquals(ws.names(), ["f", "new"]);
});

posixTest("EDT-01 a read-only file is refused, also for root", async (ws) => {
  ws.put("f", "old", 0o444);
  await assertRejects(() => ws.write("f", "new"), Error, "read-only (mode 0444)");
  assertEquals([ws.text("f"), mode(ws.at("f")), ws.names()], ["old", 0o444, ["f"]]);
});

testUnless(!root)("EDT-01 the owner stays (needs root)", async (ws) => {
  ws.put("f", "old", 0o4640);
  await Deno.chown(ws.at("f"), 12345, 23456);
  await Deno.chmod(ws.at("f"), 0o4640);
  await ws.write("f", "new");
  const { uid, gid } = await Deno.stat(ws.at("f"));
  assertEquals([uid, gid, mode(ws.at("f")), ws.text("f")], [12345, 23456, 0o4640, "new"]);
});

test("EDT-02 links stay links, and the file they lead to is written", async (ws) => {
  const target = ws.put("docs/real", "old");
  await Deno.symlink("docs/real", ws.at("relative"));
  await Deno.symlink(target, ws.at("absolute"));
  await Deno.symlink("relative", ws.at("chain"));
  for (const name of ["relative", "absolute", "chain"]) {
    const result = await ws.write(name, `by ${name}`);
    assertStringIncludes(result, target);
    assertEquals(ws.text("docs/real"), `by ${name}`);
    assert((await Deno.lstat(ws.at(name))).isSymlink);
  }
  Deno.linkSync(target, ws.at("other"));
  assertStringIncludes(await ws.write("other", "shared"), "2 hard links");
  assertEquals([ws.text("docs/real"), Deno.statSync(target).nlink], ["shared", 2]);
  assertEquals(ws.names(), ["absolute", "chain", "docs", "other", "relative"]);
  assertEquals(ws.names("docs"), ["real"]);
});

test("PTH-04 a dangling link is followed and its target created", async (ws) => {
  ws.put("deep/real/");
  await Deno.symlink("deep/real", ws.at("linked"));
  // Where `..` leads depends on what `linked` is a link to.
  await Deno.symlink("linked/../made/f", ws.at("dangling"));
  await Deno.symlink("dangling", ws.at("chain"));
  assertStringIncludes(await ws.write("chain", "x"), "Created chain");
  assertEquals(ws.text("deep/made/f"), "x");
  assert((await Deno.lstat(ws.at("dangling"))).isSymlink);
  assert((await Deno.lstat(ws.at("chain"))).isSymlink);
});

test("a loop of links is an error", async (ws) => {
  await Deno.symlink("b", ws.at("a"));
  await Deno.symlink("a", ws.at("b"));
  await assertRejects(() => ws.write("a", "x"), Error, "Cannot write a");
  assertEquals(ws.names(), ["a", "b"]);
});

test("an abort before the rename leaves the old file and no temporary one", async (ws) => {
  ws.put("f", "old");
  const controller = new AbortController();
  const context = { ...ws.context, signal: controller.signal };
  const writing = writeFile({ file_path: "f", content: "n".repeat(1e6) }, context);
  controller.abort(new Error("stopped"));
  await assertRejects(() => writing, Error, "stopped");
  assertEquals([ws.text("f"), ws.names()], ["old", ["f"]]);
});

testUnless(!await hasNobody())(
  "EDT-01 a file of another user is never replaced by renaming over it (needs root and open folders)",
  async (ws) => {
    ws.put("theirs", "old", 0o644);
    ws.put("shared", "old", 0o666);
    ws.put("own", "old", 0o464);
    await Deno.chown(ws.at("own"), 65534, 65534);
    ws.put("closed/f", "old", 0o666);
    ws.put("setuid", "old", 0o4666);
    ws.put("grouped", "old");
    await Deno.chown(ws.at("grouped"), 65534, 23456);
    await Deno.chmod(ws.at("grouped"), 0o2775);
    ws.put("mine", "old");
    await Deno.link(ws.at("mine"), ws.at("linked"));
    await Deno.chown(ws.at("mine"), 65534, 65534);
    await Deno.chmod(ws.at("mine"), 0o6755);
    await Deno.chmod(ws.dir, 0o777);
    const module = import.meta.resolve("../../src/tools/write_file.ts");
    const output = await runAsNobody(
      ws.dir,
      `import { writeFile } from "${module}";
      const signal = new AbortController().signal;
      const context = { workingDir: Deno.cwd(), maxOutputChars: 1000, signal };
      for (const file_path of ["theirs", "shared", "own", "closed/f", "setuid", "grouped", "mine"]) {
        console.log(await writeFile({ file_path, content: "new" }, context)
          .then(({ content }) => content, (e) => e.message));
      }`,
    );
    assertStringIncludes(output, "Cannot write theirs: Permission denied");
    assertStringIncludes(output, "Cannot write own: Permission denied");
    assertStringIncludes(output, "Replaced shared: wrote 3 bytes; written in place as its owner");
    assertStringIncludes(
      output,
      "Replaced closed/f: wrote 3 bytes; written in place as its folder",
    );
    assertEquals([ws.text("theirs"), ws.text("shared"), ws.text("closed/f")], [
      "old",
      "new",
      "new",
    ]);
    assertStringIncludes(output, "otherwise; its mode 4666 became 0666\n");
    assertStringIncludes(output, "otherwise; its mode 2775 became 0775\n");
    assertStringIncludes(output, "as it has 2 hard links; its mode 6755 became 0755\n");
    assertEquals([mode(ws.at("setuid")), mode(ws.at("mine"))], [0o666, 0o755]);
    assertEquals(Deno.statSync(ws.at("shared")).uid, 0);
    assertEquals(ws.names("closed"), ["f"]);
    assert(!ws.names().some((name) => name.endsWith(".tmp")));
  },
);

test("a path that names a folder is refused, not taken for a file", async (ws) => {
  for (const path of ["a/b/c/", "a/.", `${ws.dir}/new/`, `${ws.dir}/new/.`]) {
    const file_path = path;
    const attempts = [
      () => ws.write(file_path, "x"),
      () => prepareWrite({ file_path, content: "x" }, ws.context),
      () => ws.edit(file_path, "", "x"),
    ];
    for (const attempt of attempts) await assertRejects(attempt, RangeError, "names a folder");
  }
  assertEquals(ws.names(), []);
});

test("a placeholder is no text of a file", async (ws) => {
  const rows = [
    "[original content here]",
    "...",
    "{{content}}",
    "your code here",
    "Content of a.py",
  ];
  for (const content of rows) {
    await assertRejects(() => ws.write("f", content), Error, "is a placeholder");
  }
  await ws.write("f", "{{ item.name }}\n");
});
