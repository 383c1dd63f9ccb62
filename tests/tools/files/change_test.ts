import { assertEquals } from "@std/assert";
import { comparedWhole } from "../../../src/tools/files/change.ts";
import { prepareEdit } from "../../../src/tools/edit_file.ts";
import { workspace } from "../workspace.ts";

/** The change of an edit in `text`; its lines as in a patch, with their numbers. */
async function changed(text: string, old_string: string, new_string: string, replace_all = true) {
  using ws = workspace();
  ws.put("f", text);
  const args = { file_path: "f", old_string, new_string, replace_all };
  const { change: { lines, morePlaces, lineEnd } } = await prepareEdit(args, ws.context);
  const shown = lines!.map(({ kind, text, line }) => `${kind}${line ?? ""} ${text}`);
  return { shown, morePlaces, lineEnd };
}

/** Lines `1`, `2` and so on, with `x` in the place of some. */
const numbered = (count: number, ...marked: number[]) =>
  Array.from({ length: count }, (_, i) => `${marked.includes(i + 1) ? "x" : i + 1}\n`).join("");

// Each row: the lines that are changed, of nine, and those that are shown.
Deno.test.each([
  [[5], " 3 3| 4 4|-5 x|+5 y| 6 6| 7 7"],
  [[1], "-1 x|+1 y| 2 2| 3 3"],
  [[2], " 1 1|-2 x|+2 y| 3 3| 4 4"],
  [[9], " 7 7| 8 8|-9 x|+9 y"],
  [[1, 9], "-1 x|+1 y| 2 2| 3 3| 7 7| 8 8|-9 x|+9 y"],
  [[3, 4], " 1 1| 2 2|-3 x|-4 x|+3 y|+4 y| 5 5| 6 6"],
  [[3, 5], " 1 1| 2 2|-3 x|+3 y| 4 4|-5 x|+5 y| 6 6| 7 7"],
  [[2, 5], " 1 1|-2 x|+2 y| 3 3| 4 4|-5 x|+5 y| 6 6| 7 7"],
  [[2, 6], " 1 1|-2 x|+2 y| 3 3| 4 4| 5 5|-6 x|+6 y| 7 7| 8 8"],
])("the lines around changed lines %j", async (marked, expected) => {
  for (const ending of ["\n", "\r\n", "\r"]) {
    const text = numbered(9, ...marked).replaceAll("\n", ending);
    const { shown, morePlaces } = await changed(text, "x", "y");
    assertEquals([shown.join("|"), morePlaces], [expected, 0]);
  }
});

Deno.test("lines that come or go shift the numbers of those behind them", async () => {
  const more = await changed(numbered(9, 1, 9), "x", "y\nz");
  assertEquals(more.shown.join("|"), "-1 x|+1 y|+2 z| 3 2| 4 3| 8 7| 9 8|-9 x|+10 y|+11 z");
  const less = await changed(numbered(9, 1, 9), "x\n", "");
  assertEquals(less.shown.join("|"), "-1 x| 1 2| 2 3| 6 7| 7 8|-9 x");
});

Deno.test("more than 1000 lines, or lines of over 4000 characters, are not shown in the file", async () => {
  const most = "a".repeat(3998);
  assertEquals((await changed(`x${most}b\n`, "x", "y")).shown, [`-1 x${most}b`, `+1 y${most}b`]);
  const [long, many] = [`x${most}bb\nx\n`, "x\n".repeat(501)];
  assertEquals((await changed("x\n".repeat(500), "x", "y")).shown.length, 1000);
  for (const [text, places] of [[long, 2], [many, 501]] as const) {
    const apart = await changed(text, "x", "y");
    assertEquals([apart.shown, apart.morePlaces], [["- x", "+ y"], places - 1]);
  }
});

Deno.test("a line break at the end that comes or goes is told", async () => {
  assertEquals((await changed("a\nb", "b", "b\n", false)).lineEnd, "adds");
  assertEquals((await changed("a\nb\n", "b\n", "b", false)).lineEnd, "removes");
  assertEquals((await changed("a\nb\n", "b", "c", false)).lineEnd, undefined);
  assertEquals((await changed("a\n", "a\n", "", false)).lineEnd, undefined);
  const whole = (before: string, after: string) => {
    const [was, is] = [before, after].map((text) => new TextEncoder().encode(text));
    return comparedWhole(was!, is!)?.lineEnd;
  };
  const ends = [whole("a", "a\n"), whole("a\n", "a"), whole("", "a\n")];
  assertEquals(ends, ["adds", "removes", undefined]);
});

Deno.test("line endings and a BOM are no part of the lines, where they are alike", async () => {
  const rows: [text: string, expected: string][] = [
    ["\ufeffx\nb\n", "-1 x|+1 y| 2 b"],
    ["\nx\n", " 1 |-2 x|+2 y"],
    ["x\r\nb\r\n", "-1 x|+1 y| 2 b"],
    ["x\r\nb\nc\r\n", "-1 x\r|+1 y\r| 2 b| 3 c\r"],
    ["x\rb\r", "-1 x|+1 y| 2 b"],
  ];
  for (const [text, expected] of rows) {
    assertEquals((await changed(text, "x", "y")).shown.join("|"), expected);
  }
  const whole = (...sides: string[]) => {
    const [was, is] = sides.map((text) => new TextEncoder().encode(text));
    return comparedWhole(was!, is!)!.lines.map(({ kind, text }) => kind + text).join("|");
  };
  assertEquals(whole("\ufeffa\n", "a\n"), "-\ufeffa|+a");
  assertEquals(whole("a\n", "\ufeffa\n"), "-a|+\ufeffa");
  assertEquals(whole("\ufeffa\n", "\ufeffb\n"), "-a|+b");
  assertEquals(whole("a\r\nb\r\n", "a\r\nc\n"), " a\r|-b\r|+c");
  assertEquals(whole("a\r\nb\r\nc\n", "a\r\nb\r\n"), " a\r| b\r|-c");
});

Deno.test("files of up to 1 MiB are compared, if they are text", () => {
  const lines = [{ kind: "-", text: "a", line: 1 }, { kind: "+", text: "b", line: 1 }] as const;
  const [a, b] = [Uint8Array.of(97, 10), Uint8Array.of(98, 10)];
  assertEquals(comparedWhole(a, b), { lines: [...lines], morePlaces: 0 });
  const long = (length: number) => new Uint8Array(length).fill(97);
  const most = 1024 * 1024;
  for (const sides of [[a, long(most)], [long(most), b]] as const) {
    assertEquals(comparedWhole(...sides)?.morePlaces, 0);
  }
  const latin1 = Uint8Array.of(0xe9, 10);
  const more = long(most + 1);
  const rows = [[a, more], [more, b], [a, latin1], [latin1, b]] as const;
  for (const sides of rows) assertEquals(comparedWhole(...sides), undefined);
});
