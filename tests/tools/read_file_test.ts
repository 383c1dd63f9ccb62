import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { readFile } from "./text_results.ts";
import { posixTest, run, test, type Workspace, workspace } from "./workspace.ts";

function read(ws: Workspace, file_path: string, offset = 1, limit = 2000): Promise<string> {
  return readFile({ file_path, offset, limit }, ws.context);
}

const INVALID = "not valid UTF-8: \ufffd marks bytes that cannot be shown";
const LONGER = "longer lines are cut at 2000 characters: " +
  "run_bash with sed -n 1p FILE | cut -c2001- shows the rest]";

// Each row: the file's bytes or text, and the whole result.
Deno.test.each([
  ["two lines", "a\nb\n", "1\ta\n2\tb\n[2 lines]"],
  ["no newline at the end", "a\nb", "1\ta\n2\tb\n[2 lines; no newline at the end]"],
  ["one newline", "\n", "1\t\n[1 line]"],
  ["blank lines at the end", "a\n\n \n", "1\ta\n2\t\n3\t \n[3 lines]"],
  ["empty", "", "[the file is empty]"],
  ["only a BOM", "\ufeff", "[the file is empty but for a BOM]"],
  ["EDT-04 BOM", "\ufeffa\nb\n", "1\ta\n2\tb\n[2 lines; starts with a BOM]"],
  ["CRLF", "a\r\nb\r\n", "1\ta\n2\tb\n[2 lines; line endings are CRLF]"],
  ["mixed", "a\r\nb\nc\r\n", "1\ta\n2\tb\n3\tc\n[3 lines; line endings are CRLF on 2, LF on 1]"],
  ["CR", "a\rb\r", "1\ta\n2\tb\n[2 lines; line endings are CR]"],
  ["CR within a line", "a\rb\nc\n", "1\ta\rb\n2\tc\n[2 lines]"],
  ["CR at the end is no CRLF", "a\nb\r", "1\ta\n2\tb\r\n[2 lines; no newline at the end]"],
  ["wide characters", "héllo\n日本\n😀\n", "1\théllo\n2\t日本\n3\t😀\n[3 lines]"],
  ["a real U+FFFD", "a\ufffd\n", "1\ta\ufffd\n[1 line]"],
  [
    "EDT-05 Latin-1",
    [0x63, 0x61, 0x66, 0xe9, 10, 0x62, 10],
    `1\tcaf\ufffd\n2\tb\n[2 lines; ${INVALID}]`,
  ],
  ["a BOM that begins a later line", "a\n\ufeffb\n", "1\ta\n2\t\ufeffb\n[2 lines]"],
])("reads a file: %s", async (_name, content, expected) => {
  using ws = workspace();
  ws.put("f", content as string);
  assertEquals(await read(ws, "f"), expected);
});

test("bytes that only look like a mark at the beginning are none", async (ws) => {
  for (const char of ["\uff0b", "\ufec0", "\u0bff"]) { // each with two of the bytes of a BOM
    ws.put("f", `${char}a\n`);
    assertEquals(await read(ws, "f"), `1\t${char}a\n[1 line]`);
  }
  const marks = [[0xff, 0x61], [0xfe, 0x61], [0x61, 0xff, 0xfe], [0x61, 0xfe, 0xff]];
  for (const bytes of [...marks, [0x61, 10, 0xef, 0xbb, 0xbf, 0xff]]) {
    ws.put("f", [...bytes, 10]);
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(bytes));
    const lines = text.split("\n").map((line, i) => `${i + 1}\t${line}\n`);
    const footer = `[${lines.length === 1 ? "1 line" : `${lines.length} lines`}; ${INVALID}]`;
    assertEquals(await read(ws, "f"), lines.join("") + footer);
  }
});

test("shows the window asked for and where to go on", async (ws) => {
  ws.put("f", Array.from({ length: 10 }, (_, i) => `line ${i + 1}\n`).join(""));
  const window = "4\tline 4\n5\tline 5\n[lines 4-5 of 10; continue with offset 6]";
  assertEquals(await read(ws, "f", 4, 2), window);
  assertEquals(await read(ws, "f", 10, 5), "10\tline 10\n[lines 10-10 of 10]");
  await assertRejects(() => read(ws, "f", 11), RangeError, "has 10 lines");
  ws.put("empty", "");
  assertEquals(await read(ws, "empty", 5), "[the file is empty]");
});

Deno.test("lines that fit exactly are shown, and what is not shown is not told of", async () => {
  using ws = workspace({ maxOutputChars: 500 });
  // Of the 500 characters 400 are for the last line; with its number and end each line has 10.
  const lines = [...Array(9).fill("x".repeat(7)), "x".repeat(6)];
  const shown = lines.map((line, i) => `${i + 1}\t${line}\n`).join("");
  ws.put("f", `${lines.join("\n")}\n`);
  assertEquals(await read(ws, "f"), `${shown}[10 lines]`);
  const bytes = new TextEncoder().encode(`${lines.join("\n")}\n`);
  ws.put("f", [...bytes, 0xff, 10]);
  assertEquals(await read(ws, "f"), `${shown}[lines 1-10 of 11; continue with offset 11]`);
  ws.put("f", `${lines.join("\n")}x\n`);
  const nine = shown.slice(0, 90);
  assertEquals(await read(ws, "f"), `${nine}[lines 1-9 of 10; continue with offset 10]`);
});

Deno.test("stays within maxOutputChars, and offsets given lead through the whole file", async () => {
  using ws = workspace({ maxOutputChars: 1000 });
  const lines = Array.from({ length: 300 }, (_, i) => `${i} ${"x".repeat(i % 70)}`);
  ws.put("f", lines.join("\r\n"));
  const seen: string[] = [];
  for (let offset = 1; offset <= 300;) {
    const result = await read(ws, "f", offset);
    assert(result.length <= 1000, `${result.length} characters`);
    const rows = result.split("\n").slice(0, -1);
    assert(rows.length > 0);
    seen.push(...rows.map((row) => row.slice(row.indexOf("\t") + 1)));
    offset += rows.length;
    if (offset <= 300) assertStringIncludes(result, `continue with offset ${offset}`);
  }
  assertEquals(seen, lines);
});

test("cuts long lines between characters, also the first when it alone is too long", async (ws) => {
  ws.put("f", `${"a".repeat(1999)}😀😀\nb\n${"ü".repeat(2001)}\n${"ü".repeat(2000)}\n`);
  const [first, second, third, fourth, footer] = (await read(ws, "f")).split("\n");
  assertEquals(first, `1\t${"a".repeat(1999)}[cut: 2007 bytes]`);
  assertEquals(second, "2\tb");
  assertEquals(third, `3\t${"ü".repeat(2000)}[cut: 4002 bytes]`);
  assertEquals(fourth, `4\t${"ü".repeat(2000)}`);
  assertEquals(footer, `[4 lines; ${LONGER}`);

  // What is kept of it ends within a character.
  ws.put("wide", "日".repeat(3000) + "\n");
  const cut = `1\t${"日".repeat(2000)}[cut: 9000 bytes]\n[1 line; ${LONGER}`;
  assertEquals(await read(ws, "wide"), cut);
  const context = { ...ws.context, maxOutputChars: 400 };
  const small = await readFile({ file_path: "f", offset: 1, limit: 1 }, context);
  assert(small.length <= 400 && small.startsWith("1\taaaa"));
  assertStringIncludes(small, "continue with offset 2");
});

test("CR counts as a line ending only where there is no LF, however late that comes", async (ws) => {
  const long = "x\r".repeat(200_000);
  ws.put("f", `${long}\nsecond\r\n`);
  const result = await read(ws, "f");
  assert(result.startsWith("1\tx\rx\r"), result.slice(0, 20));
  assert(result.includes("\n2\tsecond\n[2 lines; "), result.slice(-200));
  ws.put("f", long);
  const footer = "[lines 2-2 of 200000; continue with offset 3; line endings are CR]";
  assertEquals(await read(ws, "f", 2, 1), `2\tx\n${footer}`);
});

posixTest("an endless file is read in bounded time and memory", async (ws) => {
  // Sparse, but for its first lines.
  ws.put("f", "a\n".repeat(131_072));
  await Deno.truncate(ws.at("f"), 1e12);
  const before = Deno.memoryUsage().rss;
  const last = await read(ws, "f", 131_072);
  assert(last.startsWith("131072\ta\n131073\t\0"));
  assertStringIncludes(last, "[lines 131072-131073 of at least 131073; longer lines are cut");
  assert(!last.includes("no newline"), last);
  const says = "Cannot read f from line 200000 as its first 64 MiB have only 131072 lines: use run";
  await assertRejects(() => read(ws, "f", 200_000), RangeError, says);
  const grown = Deno.memoryUsage().rss - before;
  assert(grown < 200e6, `${grown} bytes more`);
});

Deno.test.each([
  ["NUL in text", "abc\0def", "binary data, 7 bytes"],
  ["UTF-16", [0xff, 0xfe, 0x61, 0, 10, 0], "UTF-16"],
  ["UTF-16, the high bytes first", [0xfe, 0xff, 0, 0x61, 0, 10], "UTF-16"],
])("refuses what is no text: %s", async (_name, content, expected) => {
  using ws = workspace();
  ws.put("f", content as string);
  await assertRejects(() => read(ws, "f"), Error, expected);
});

test("a missing file is told with what is like it", async (ws) => {
  ws.put("config.ts", "");
  ws.put("other.md", "");
  await assertRejects(() => read(ws, "confg.ts"), Error, "did you mean config.ts?");
  await assertRejects(() => read(ws, "zzzzzz"), Error, "list_directory");
  // As list_directory shows it, and as one would type it.
  ws.put("at 1\u202fPM\u200e", "");
  for (const name of ["at 1\\u{202f}PM\\u{200e}", "at 1\\u{202f}PM", "at 1 PM"]) {
    await assertRejects(() => read(ws, name), Error, "did you mean at 1\u202fPM\u200e?", name);
  }
  await assertRejects(() => read(ws, "no/such/f"), Error, "there is no folder no/such");
  await assertRejects(() => read(ws, "config.ts/f"), Error, "Cannot read config.ts/f");
});

posixTest("PTH-05 special files are refused at once, and nothing of them is read", async (ws) => {
  await run("mkfifo", ws.at("fifo"));
  using _socket = Deno.listen({ transport: "unix", path: ws.at("socket") });
  ws.put("f.txt/");
  await Deno.symlink("/dev/zero", ws.at("zero"));
  await Deno.symlink("fifo", ws.at("to-fifo"));
  const names = ["fifo", "socket", "f.txt", "zero", "to-fifo"];
  if (Deno.build.os === "linux") {
    await Deno.symlink("/proc/self/environ", ws.at("environ"));
    await Deno.symlink("/proc/self", ws.at("self"));
    names.push("environ", "self/environ", "/proc/self/environ", "/proc/self/../self/environ");
  }
  for (const name of names) {
    await assertRejects(() => read(ws, name), Error, "not a regular file", name);
  }
  await assertRejects(() => read(ws, "f.txt"), Error, "list_directory");
  const kinds = { fifo: "FIFO", "to-fifo": "FIFO", socket: "socket", zero: "device" };
  for (const [name, kind] of Object.entries(kinds)) {
    await assertRejects(() => read(ws, name), Error, `not a regular file but a ${kind}`);
  }
  await Deno.symlink("loop", ws.at("loop"));
  await assertRejects(() => read(ws, "loop"), Error, "Cannot read loop");
});

posixTest("PTH-05 a FIFO in the place of a file before it is opened is given up", async (ws) => {
  const path = ws.put("f", "text\n");
  const { open } = Deno;
  Deno.open = (...args) => {
    Deno.open = open;
    Deno.removeSync(path);
    new Deno.Command("mkfifo", { args: [path] }).outputSync();
    return open(...args);
  };
  try {
    const reading = readFile({ file_path: "f", offset: 1, limit: 10 }, ws.context);
    await assertRejects(() => reading, Error, "Cannot read f: it did not open within 5 s");
  } finally {
    Deno.open = open;
    // A writer ends the wait, which went on.
    Deno.openSync(path, { read: true, write: true }).close();
  }
});
