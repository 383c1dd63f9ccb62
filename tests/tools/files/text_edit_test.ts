import { assertEquals } from "@std/assert/equals";
import { assertThrows } from "@std/assert/throws";
import { editText } from "../../../src/tools/files/text_edit.ts";

const refuse = (reason: string, Kind: ErrorConstructor = Error) => new Kind(reason);
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

function edit(
  text: string,
  oldText: string,
  newText: string,
  { all = false, maxLength = 1000, mayQuote = true } = {},
) {
  return editText(text, { oldText, newText, all, maxLength, mayQuote }, refuse);
}

Deno.test("an edit says what it replaced, and where", () => {
  const { bytes, replacements, ...facts } = edit("é\none\ntwo\n", "one", "ore");
  assertEquals(textOf(bytes), "é\nore\ntwo\n");
  assertEquals(replacements, [{ start: 2, end: 5, from: 3, to: 4 }]);
  assertEquals(facts, {
    ...{ before: "one", after: "ore", count: 1, insert: "r", ending: "\n" },
    ...{ firstLine: 2, firstByte: 3, where: "line 2", isReindented: false },
  });
  // Half of a character is no part that is alike.
  const { replacements: [other] } = edit("a😀b", "😀", "😁");
  assertEquals(other, { start: 1, end: 3, from: 1, to: 3 });
  assertEquals(edit("a\nb\na\n", "a", "c", { all: true }).where, "lines 1, 3");
});

Deno.test("twenty places are named, and a thousand are returned", () => {
  const places = (count: number) =>
    edit("a\n".repeat(count), "a", "b", { all: true, maxLength: 1e5 });
  const lines = Array.from({ length: 20 }, (_, i) => i + 1).join(", ");
  assertEquals([places(20).where, places(21).where], [`lines ${lines}`, `lines ${lines}, ...`]);
  const counted = [20, 21, 22, 1000, 1001].map((count) => {
    const { count: found, replacements, bytes } = places(count);
    return [found, replacements.length, textOf(bytes) === "b\n".repeat(count)];
  });
  assertEquals(counted, [
    ...[[20, 20, true], [21, 21, true], [22, 22, true], [1000, 1000, true], [1001, 1000, true]],
  ]);
});

Deno.test("line ends stay as the file has them", () => {
  const rows: [text: string, before: string, after: string, result: string][] = [
    ["a\r\nb\r\nc\r\n", "a\nb", "x\ny", "x\r\ny\r\nc\r\n"],
    ["a\rb\rc", "a\nb", "x\ny", "x\ry\rc"],
    ["a\r\nb\nc\r\n", "b\nc", "x\ny", "a\r\nx\r\ny\r\n"],
    ["a\nb\n", "a\r\nb", "x\r\ny", "x\ny\n"],
    ["a\nb\n", "b", "x\r", "a\nx\r\n"],
  ];
  for (const [text, before, after, result] of rows) {
    assertEquals(textOf(edit(text, before, after).bytes), result, JSON.stringify(text));
  }
});

Deno.test("an edit that is none, or that is not sure, says what to do", () => {
  const rows: [args: Parameters<typeof edit>, why: string][] = [
    [["a\nb\n", "a\r\n", "a\n"], "differ in line endings alone"],
    [["a a a", "a", "b"], "old_string appears 3 times (lines 1, 1, 1): add lines around it"],
    [["aaa", "aa", "b"], "old_string appears 2 times"],
    [["a", "b", "c", { mayQuote: false }], "old_string was not found"],
    [["x\nc\n", "b", "c"], "new_string is there already (line 2): was this edit made before?"],
    [["x\nc\n", "b", " "], "old_string was not found.\n"],
    // Made before: an addition is there.
    [["one\n- two\n", "one\n", "one\n- two\n"], "new_string is there already (line 1)"],
    // The line behind, and the one before.
    [["a;\nb;\nreturn c;\n", "b;\n", "x;\nreturn c;\n"], '"return c;" of new_string'],
    [["return c;\nb;\n", "b;\n", "return c;\nx;\n"], '"return c;" of new_string'],
    // Lines that lost their indentation.
    [["{\n  a: 1,\n}\n", "a: 1,\n", "a: 1,\nb: 2,\n"], "the further lines of new_string have"],
  ];
  for (const [args, why] of rows) assertThrows(() => edit(...args), Error, why);
  // Short additions may be made twice, and other lines may be alike.
  const made: [args: Parameters<typeof edit>, result: string][] = [
    [["a\n\nb\n", "a\n", "a\n\n"], "a\n\n\nb\n"],
    [["a;\n}\n", "a;\n", "b;\n}\n"], "b;\n}\n}\n"],
    [["x\n  a\n", "a\n", "a\n  b\n"], "x\n  a\n  b\n"],
  ];
  for (const [args, result] of made) assertEquals(textOf(edit(...args).bytes), result);
  const { message } = assertThrows(() => edit("a", "b", "c", { mayQuote: false }), Error);
  assertEquals(message, "old_string was not found");
  // As long as the limit, or as the file is.
  assertEquals(edit("abc", "b", "bbb", { maxLength: 5 }).count, 1);
  assertEquals(edit("abc", "b", "d", { maxLength: 1 }).count, 1);
  assertThrows(
    () => edit("abc", "b", "bbb", { maxLength: 4 }),
    RangeError,
    "the result must have at most 4 characters: it would have 5",
  );
  assertEquals(textOf(edit("aaaa", "aa", "b", { all: true }).bytes), "bb");
});
