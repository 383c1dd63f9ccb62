import { assertEquals } from "@std/assert";
import { endingWith } from "../../src/wire/wait.ts";

Deno.test("a controller ends with another signal until it is disposed of, and by itself", () => {
  const outer = new AbortController();
  const own = endingWith(outer.signal);
  const late = endingWith(outer.signal);
  late[Symbol.dispose]();
  const alone = endingWith(outer.signal);
  alone.abort("its own");
  outer.abort("all");
  assertEquals([own.signal.reason, late.signal.aborted], ["all", false]);
  assertEquals(alone.signal.reason, "its own");
});
