import { assertEquals, assertThrows } from "@std/assert";
import { newFilePath, toolPath } from "../../src/tools/paths.ts";

const context = { workingDir: "/ws" };

Deno.test("paths that stay as they are written", { ignore: Deno.build.os === "windows" }, () => {
  const rows: [string, string][] = [
    ["a/b.ts", "/ws/a/b.ts"],
    ["/etc/x", "/etc/x"],
    ["a b", "/ws/a b"],
    ["100%.txt", "/ws/100%.txt"],
    ["a%20b", "/ws/a%20b"],
    ["a%2ets", "/ws/a%2ets"],
    ["~backup", "/ws/~backup"],
    ["./~/x", "/ws/~/x"],
    ["c:x", "/ws/c:x"],
    ["日本/é", "/ws/日本/é"],
  ];
  for (const [path, expected] of rows) assertEquals(toolPath(context, path), expected);
});

Deno.test.each([
  ["", "empty"],
  ["  ", "empty"],
  ["a\0b", "control characters"],
  ["a\nb", "control characters"],
  ["a\x1b[31mb", "control characters"],
  ["x".repeat(5000), "at most 4096 bytes"],
  ["é".repeat(3000), "it has 6000"],
  ["file:///etc/passwd", "it is a URL"],
  ["file:x", "it is a URL"],
  ["https://example.com/a", "it is a URL"],
  ["~/x", "~ is not expanded here"],
  ["~", "~ is not expanded here"],
  ["%2e%2e/x", "percent codes"],
  ["a/.%2E/x", "percent codes"],
  ["..%2fx", "percent codes"],
])("PTH-07 a path that is refused: %j", (path, expected) => {
  assertThrows(() => toolPath(context, path), RangeError, expected);
});

Deno.test("the longest path, and how a refused one is shown", () => {
  const longest = `/${"x".repeat(4095)}`;
  if (Deno.build.os !== "windows") assertEquals(toolPath(context, longest), longest);
  assertThrows(() => toolPath(context, `${longest}y`), RangeError, "it has 4097");
  const refused = (path: string) => assertThrows(() => toolPath(context, path), RangeError).message;
  const path = `~/${"x".repeat(98)}`;
  assertEquals(refused(path).split(" as ")[0], `Cannot use the path "${path}"`);
  assertEquals(refused(`${path}y`).split(" as ")[0], `Cannot use the path "${path}..."`);
});

Deno.test("a backslash at the end is a part of a file's name where it separates nothing", {
  ignore: Deno.build.os === "windows",
}, () => assertEquals(newFilePath(context, "a\\"), "/ws/a\\"));
