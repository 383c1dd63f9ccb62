import { assertEquals } from "@std/assert";
import {
  ago,
  clockTime,
  count,
  dollars,
  duration,
  thousands,
  windowText,
} from "../../src/text/count.ts";

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

Deno.test("a number in short has its thousands from a thousand on", () => {
  assertEquals([0, 999, 1000, 2840].map(thousands), ["0", "999", "1.0k", "2.8k"]);
  assertEquals([999, 1000, 1024, 200_000].map(windowText), ["999", "1k", "1k", "200k"]);
});

Deno.test("a clock's time is in minutes and seconds", () => {
  assertEquals([0, 59_999, 60_000, 3_605_000].map(clockTime), ["0:00", "0:59", "1:00", "60:05"]);
});

Deno.test("an age has its largest unit alone", () => {
  const minute = 60_000;
  const rows: [ms: number, text: string][] = [
    [-5, "just now"],
    [minute - 1, "just now"],
    [minute, "1 minute ago"],
    [60 * minute - 1, "59 minutes ago"],
    [60 * minute, "1 hour ago"],
    [47 * 60 * minute, "1 day ago"],
  ];
  for (const [ms, text] of rows) assertEquals(ago(1e12 - ms, 1e12), text);
});

Deno.test("dollars", () => {
  assertEquals([dollars(0.00421), dollars(1.2)], ["$0.0042", "$1.20"]);
  assertEquals([dollars(0.0999), dollars(0.1)], ["$0.0999", "$0.10"]);
});
