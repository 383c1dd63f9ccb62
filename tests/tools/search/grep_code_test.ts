import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { grepCode as grepOutcome } from "../../../src/tools/grep_code.ts";
import { grepCode } from "../text_results.ts";
import { linuxTest, posixTest, run, test, testUnless, type Workspace } from "../workspace.ts";

const posix = Deno.build.os !== "windows";

function grep(
  ws: Workspace,
  pattern: string,
  args: { path?: string; glob?: string; context_lines?: number } = {},
  maxOutputChars = 100_000,
): Promise<string> {
  const all = { pattern, path: ".", glob: "", context_lines: 0, ...args };
  return grepCode(all, { ...ws.context, maxOutputChars });
}

const bytes = (text: string) => [...text].map((char) => char.charCodeAt(0));

test("shows lines as file:line:text, sorted by path", async (ws) => {
  ws.putAll({
    "b.ts": "x\nhit 1\r\n\r\nhit 2",
    "a/z.ts": "hit\n",
    "a.ts": "\ufeffhit\n",
    "B.ts": "  hit  \n",
    "none.ts": "nothing\n",
    "empty.ts": "",
  });
  const all = "B.ts:1:  hit  \na.ts:1:hit\na/z.ts:1:hit\nb.ts:2:hit 1\nb.ts:4:hit 2";
  assertEquals(await grep(ws, "hit"), all);
  assertEquals(await grep(ws, "^hit", { path: "a" }), "a/z.ts:1:hit");
  assertEquals(await grep(ws, "hit", { path: "a/z.ts" }), "a/z.ts:1:hit");
  assertEquals(await grep(ws, "hit", { path: ws.at("a.ts") }), "a.ts:1:hit");
  const around = "a.ts:1:hit\n--\na/z.ts:1:hit\n--\nb.ts-1-x\nb.ts:2:hit 1\nb.ts-3-";
  assertEquals(await grep(ws, "hit 1|^hit$", { context_lines: 1 }), around);
});

test("context, and groups that touch", async (ws) => {
  const text = (_: unknown, i: number) => `${[0, 2, 9].includes(i) ? "hit" : "no"}${i + 1}`;
  ws.put("f", Array.from({ length: 12 }, text).join("\r\n"));
  const show = async (context_lines: number) =>
    (await grep(ws, "hit", { context_lines })).replaceAll("\n", " ");
  assertEquals(await show(0), "f:1:hit1 f:3:hit3 f:10:hit10");
  assertEquals(await show(1), "f:1:hit1 f-2-no2 f:3:hit3 f-4-no4 -- f-9-no9 f:10:hit10 f-11-no11");
  assertEquals((await show(3)).split(" ").length, 12);
  ws.put("f", "\ufeffhit\r\r\n\r\n\ufeffhit\rx\n");
  assertEquals(await grep(ws, "hit", { context_lines: 1 }), "f:1:hit\r\nf-2-\nf:3:\ufeffhit\rx");
});

const NAMES = [
  ...["a.ts", "src/b.ts", "src/b.js", "src/deep/c.ts", ".env", ".github/ci.yml", "x.log"],
  ...["node_modules/p/i.ts", "dist/o.ts"],
];
const NEEDLES = Object.fromEntries(NAMES.map((name) => [name, "needle"]));
const TREE = { ...NEEDLES, ".gitignore": "dist/\n*.log\n", "bin": "\0needle" };

test("searches what is not hidden, ignored or binary, and what is named", async (ws) => {
  ws.putAll(TREE);
  const rows: [args: { path?: string; glob?: string }, found: string][] = [
    [{}, "a.ts src/b.js src/b.ts src/deep/c.ts"],
    [{ glob: "*.ts" }, "a.ts src/b.ts src/deep/c.ts"],
    [{ glob: "**/*.ts" }, "a.ts src/b.ts src/deep/c.ts"],
    [{ glob: "*.{ts,js}", path: "src" }, "src/b.js src/b.ts src/deep/c.ts"],
    [{ glob: "!*.ts" }, "src/b.js"],
    [{ glob: "!src/**" }, "a.ts"],
    [{ glob: "src/*.ts" }, "src/b.ts"],
    [{ glob: "./*.ts" }, "a.ts"],
    [{ glob: "src/*.ts", path: "src" }, "src/b.ts"],
    [{ glob: "src/" }, "src/b.js src/b.ts src/deep/c.ts"],
    [{ glob: "deep/*", path: "src" }, "src/deep/c.ts"],
    [{ glob: ".env" }, ".env"],
    [{ glob: ".github/*" }, ".github/ci.yml"],
    [{ path: ".github" }, ".github/ci.yml"],
    [{ path: ".env" }, ".env"],
    [{ path: "x.log" }, "x.log"],
    [{ path: "dist" }, "dist/o.ts"],
    [{ path: "node_modules" }, "node_modules/p/i.ts"],
    [{ path: "a.ts", glob: "*.js" }, "a.ts"],
  ];
  for (const [args, found] of rows) {
    const lines = (await grep(ws, "needle", args)).replace(/\n\[.*/, "").split("\n");
    assertEquals(lines.map((line) => line.split(":")[0]).join(" "), found, JSON.stringify(args));
  }
});

test("nothing found says where it looked, what it left out, and what to try", async (ws) => {
  ws.putAll(TREE);
  const left = "Skipped: 1 binary, 6 ignored or hidden (name one as path to search it).";
  assertEquals(await grep(ws, "none"), `No matches in 4 files. ${left}`);
  const none = "No files to search. Skipped: 5 files of other names, 6 i";
  assertStringIncludes(await grep(ws, "needle", { glob: "*.py" }), none);
  assertEquals(await grep(ws, "needle\\(", { path: "a.ts" }), "No matches in 1 file.");
  for (const sign of "|({+?") {
    const found = await grep(ws, `needle\\${sign}2\\)`, { path: "src/b.ts" });
    const said = `No matches in 1 file. \\${sign} is a literal ${sign}, without \\ it is not.`;
    assertEquals(found, said);
  }
});

test("EDT-05 files in other encodings are searched", async (ws) => {
  ws.putAll({
    "latin1": bytes("caf\xe9 ascii\n"),
    "gbk": bytes("\xc4\xe3 ascii\n"),
    "stray": [...new TextEncoder().encode("größe ascii "), 0xe9, 10],
    "utf16le": [0xff, 0xfe, ...bytes("a\0s\0c\0i\0i\0 \0\xfc\0")],
    "utf16be": [0xfe, 0xff, ...bytes("\0a\0s\0c\0i\0i\0 \0\xfc")],
    "half": [0xff, 0xfe, ...bytes("a\0s\0c\0i\0i\0\x3d\xd8")],
    "utf8": "größe ascii 😀\n",
  });
  const found = await grep(ws, "ascii");
  assert(found.isWellFormed());
  assertEquals(
    found,
    "gbk:1:\ufffd\ufffd ascii\nhalf:1:ascii\ufffd\nlatin1:1:caf\ufffd ascii\n" +
      "stray:1:größe ascii \ufffd\nutf16be:1:ascii ü\nutf16le:1:ascii ü\nutf8:1:größe ascii 😀",
  );
  assertEquals((await grep(ws, "GRÖSSE|(?:gr.ße)")).split("\n").length, 2);
});

posixTest("PTH-05 special files are neither opened nor searched", async (ws) => {
  ws.put("a", "needle");
  ws.put("f.txt/");
  await run("mkfifo", ws.at("fifo"));
  using _socket = Deno.listen({ transport: "unix", path: ws.at("socket") });
  await Deno.symlink("/dev/zero", ws.at("zero"));
  await Deno.symlink("/proc/self/environ", ws.at("environ"));
  assertEquals(await grep(ws, "needle|PATH="), "a:1:needle\n[skipped: 2 links]");
  for (const path of ["fifo", "socket"]) {
    await assertRejects(() => grep(ws, "x", { path }), Error, "not a regular file");
  }
  for (const path of ["zero", "environ"]) {
    await assertRejects(() => grep(ws, "x", { path }), Error, "leads out of the working directory");
  }
  if (Deno.build.os !== "linux") return;
  for (const path of ["/proc/self/environ", "/proc", "/dev/zero"]) {
    await assertRejects(() => grep(ws, "PATH", { path }), Error, "not a regular file");
  }
});

test("binary and unreadable files", async (ws) => {
  ws.putAll({ "early": "\0 needle", "late": `needle${"x".repeat(10_000)}\0`, "text": "needle" });
  assertEquals(await grep(ws, "needle"), "text:1:needle\n[skipped: 2 binary]");
  assertEquals(await grep(ws, "none"), "No matches in 2 files. Skipped: 1 binary.");
  for (const path of ["early", "late"]) {
    await assertRejects(() => grep(ws, "needle", { path }), Error, "as it is binary");
  }
});

linuxTest("names that are not UTF-8 are counted", async (ws) => {
  ws.put("a", "needle");
  ws.put("\ufffd", "needle"); // a name like any other
  const script = `cd '${ws.dir}'; echo needle >"$(printf 'x\\377')"; mkdir "$(printf 'd\\377')"`;
  await run("sh", "-c", script);
  const skipped = "[skipped: 2 with a name that is not UTF-8]";
  assertEquals(await grep(ws, "needle"), `a:1:needle\n\ufffd:1:needle\n${skipped}`);
});

testUnless(!posix || Deno.uid() === 0)("files that cannot be read are counted", async (ws) => {
  ws.put("a", "needle");
  ws.put("b", "needle", 0);
  assertEquals(await grep(ws, "needle"), "a:1:needle\n[skipped: 1 unreadable]");
});

test("files over 64 MiB are named, not read whole", async (ws) => {
  ws.put("a", "needle");
  using file = Deno.openSync(ws.at("large"), { write: true, create: true });
  file.truncateSync(64 * 1024 * 1024 + 1);
  assertEquals(await grep(ws, "needle"), "a:1:needle\n[skipped: 1 over 64 MiB]");
  await assertRejects(() => grep(ws, "x", { path: "large" }), Error, "use run_bash with grep");
});

test("the result keeps within its limit exactly, and counts the rest", async (ws) => {
  for (let i = 0; i < 50; i++) ws.put(`f${i + 10}`, "hit a\nhit b\nmiss\nhit c\n");
  const whole = await grep(ws, "hit");
  assertEquals(whole.split("\n").length, 150);
  assertEquals(await grep(ws, "hit", {}, whole.length), whole);
  for (let limit = 200; limit < whole.length; limit += 13) {
    const lines = (await grep(ws, "hit", {}, limit)).split("\n");
    const last = lines.pop()!;
    assertEquals(lines.join("\n"), whole.slice(0, lines.join("\n").length), "the first by path");
    const length = lines.join("\n").length + 1 + last.length;
    assert(length <= limit && length > limit - 20, `${length} of ${limit}`);
    const [, shown, more] = /^\[(\d+) matching lines? shown, at least (\d+) more/.exec(last)!;
    assertEquals(Number(shown), lines.length);
    const files = new Set(lines.map((line) => line.split(":", 1)[0])).size;
    const unseen = / (\d+) files? of them not shown at all/.exec(last)?.[1] ?? "0";
    assertEquals(Number(unseen), 50 - files, last);
    // A file that is not shown at all may count for one.
    const hidden = Math.floor((150 - lines.length) / 3);
    assert(Number(more) >= hidden && Number(more) <= 150 - lines.length, last);
  }
  assert((await grep(ws, "hit", {}, 20)).length <= 20);
});

test("bad arguments are refused with the next move", async (ws) => {
  ws.putAll(TREE);
  const rows: [pattern: string, args: { path?: string; glob?: string }, message: string][] = [
    ["", {}, "empty pattern"],
    ["foo(", {}, "write \\( or \\)"],
    ["x", { path: "nope" }, "does not exist"],
    ["x", { path: "scr" }, "did you mean src?"],
    ["x", { glob: "../*" }, "give the folder as path"],
    ["x", { glob: "!../*" }, "give the folder as path"],
    ["x", { glob: "/etc/*" }, "give the folder as path"],
    ["x", { glob: "nope/*.ts" }, "Cannot search nope as it does not exist"],
  ];
  for (const [pattern, args, message] of rows) {
    const error = await assertRejects(() => grep(ws, pattern, args), Error);
    assert(error.message.startsWith("Cannot "), error.message);
    assertStringIncludes(error.message, message);
  }
});

test("a file with a NUL byte among its first 8192 is binary", async (ws) => {
  ws.putAll({ "binary": bytes(`${"x".repeat(8191)}\0`), "text": bytes(`${"x".repeat(8192)}\0`) });
  await assertRejects(() => grep(ws, "none", { path: "binary" }), Error, "is binary");
  assertEquals(await grep(ws, "none", { path: "text" }), "No matches in 1 file.");
});

test("matching lines are counted without those around them", async (ws) => {
  const x = "x".repeat(99);
  for (const name of ["a", "b", "c"]) ws.put(name, `${x}\nhit\nhit\n`);
  const linesOf = (name: string) => [`${name}-1-${x}`, `${name}:2:hit`, `${name}:3:hit`];
  const all = [...linesOf("a"), "--", ...linesOf("b"), "--", ...linesOf("c")];
  assertEquals(await grep(ws, "hit", { context_lines: 1 }), all.join("\n"));
  // A file that was not gone through counts as one line.
  const rows: [shown: number, note: string][] = [
    [2, "1 matching line shown, at least 4 more, 2 files of them not shown at all"],
    [4, "2 matching lines shown, at least 4 more, 2 files of them not shown at all"],
    [5, "2 matching lines shown, at least 4 more, 1 file of them not shown at all"],
  ];
  for (const [shown, note] of rows) {
    const text = `${all.slice(0, shown).join("\n")}\n` +
      `[${note}: narrow it down with path, glob or a longer pattern]`;
    assertEquals(await grep(ws, "hit", { context_lines: 1 }, text.length), text);
  }
  const args = { path: ".", glob: "", context_lines: 0 };
  const counts = async (pattern: string, path = ".") =>
    (await grepOutcome({ ...args, pattern, path }, ws.context)).counts;
  assertEquals(await counts("hit"), { matches: 6, files: 3 });
  assertEquals(await counts("x", "a"), { matches: 1, files: 1 });
  assertEquals(await counts("none"), { matches: 0, files: 0 });
});
