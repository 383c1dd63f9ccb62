import { assertEquals } from "@std/assert";
import { count, duration } from "../../src/text/count.ts";

Deno.test("count gives a number its noun", () => {
  assertEquals(count(0, "file"), "0 files");
  assertEquals(count(1, "file"), "1 file");
  assertEquals(count(2, "file"), "2 files");
  assertEquals(count(1, "match", "matches"), "1 match");
  assertEquals(count(3, "match", "matches"), "3 matches");
});

Deno.test("duration is in milliseconds below a second", () => {
  assertEquals(duration(0), "0 ms");
  assertEquals(duration(999), "999 ms");
  assertEquals(duration(2.6), "3 ms");
  assertEquals(duration(1000), "1.0 s");
  assertEquals(duration(12_340), "12.3 s");
});
