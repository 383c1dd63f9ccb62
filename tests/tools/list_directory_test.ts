import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { listDirectory } from "./text_results.ts";
import { linuxTest, posixTest, run, test, type Workspace } from "./workspace.ts";

function list(ws: Workspace, path = "."): Promise<string> {
  return listDirectory({ path }, ws.context);
}

test("lists folders, files with sizes, and links with their targets, sorted", async (ws) => {
  ws.put("src/");
  ws.put("a.txt", "");
  ws.put("Z", "x".repeat(1023));
  ws.put("b c", "x".repeat(2150));
  ws.put(".hidden", "x".repeat(3 * 1024 * 1024));
  await Deno.symlink("a.txt", ws.at("link"));
  await Deno.symlink("src", ws.at("linkdir"));
  await Deno.symlink("nowhere", ws.at("dangling"));
  assertEquals((await list(ws)).split("\n"), [
    ...[".hidden  3.0 MB", "Z  1023 B", "a.txt  0 B", "b c  2.1 KB"],
    ...["dangling -> nowhere  [broken link]", "link -> a.txt", "linkdir -> src/", "src/"],
    "[8 entries]",
  ]);
  assertEquals(await list(ws, "src"), "[the folder is empty]");
  assertEquals(await list(ws, "linkdir"), "[the folder is empty]");
});

posixTest("PTH-05 special files are named, and names cannot hide anything", async (ws) => {
  await run("mkfifo", ws.at("fifo"));
  using _socket = Deno.listen({ transport: "unix", path: ws.at("socket") });
  await Deno.symlink("/dev/zero", ws.at("zero"));
  ws.put("new\nline\ttab\x1b[31m", "");
  ws.put("right\u202eleft", "");
  assertEquals((await list(ws)).split("\n"), [
    ...["fifo  [FIFO]", "new␊line␉tab␛[31m  0 B", "right\\u{202e}left  0 B"],
    ...["socket  [socket]", "zero -> /dev/zero", "[5 entries]"],
  ]);
});

linuxTest("a name that is no UTF-8 does not hide the others", async (ws) => {
  ws.put("a", "");
  await run("bash", "-c", `touch "$0"/$'x\\xe9'`, ws.dir);
  assertEquals(await list(ws), "a  0 B\nx\ufffd  [unreadable]\n[2 entries]");
});

test("is bounded, and says how many are left", async (ws) => {
  for (let i = 0; i < 1100; i++) ws.put(`f${String(i).padStart(4, "0")}`, "");
  const lines = (await list(ws)).split("\n");
  assertEquals([lines.length, lines[0], lines[999]], [1001, "f0000  0 B", "f0999  0 B"]);
  assertStringIncludes(lines[1000]!, "[1100 entries; 100 more are not shown: find them with ls -A");
  const context = { ...ws.context, maxOutputChars: 500 };
  const short = await listDirectory({ path: "." }, context);
  assert(short.length <= 500, `${short.length} characters`);
  assertStringIncludes(short, "[1100 entries; 10");
});

test("what fits is shown whole, and a first line also where it does not fit", async (ws) => {
  for (const name of ["a", "b", "c"]) ws.put(name, "");
  const footer = "find them with ls -A in run_bash]";
  const shown = async (room: number) => {
    // The last line has 150 characters.
    const context = { ...ws.context, maxOutputChars: 150 + room };
    return await listDirectory({ path: "." }, context);
  };
  // Each line has 6 characters and its end.
  assertEquals(await shown(21), "a  0 B\nb  0 B\nc  0 B\n[3 entries]");
  const two = `a  0 B\nb  0 B\n[3 entries; 1 more are not shown: ${footer}`;
  for (const room of [14, 20]) assertEquals(await shown(room), two);
  assertEquals(await shown(0), `a  0 B\n[3 entries; 2 more are not shown: ${footer}`);
});

test("what is no folder is refused", async (ws) => {
  ws.put("file", "");
  await assertRejects(() => list(ws, "file"), Error, "use read_file");
  await assertRejects(() => list(ws, "fil"), Error, "did you mean file?");
  await assertRejects(() => list(ws, "a/b"), Error, "there is no folder a");
});

test("a working folder that was removed is said, without the names beside it", async (ws) => {
  const folder = ws.at("project");
  const call = listDirectory({ path: "." }, { ...ws.context, workingDir: folder });
  await assertRejects(() => call, Error, "Cannot list the folder as it was removed or renamed");
});
