import { assertEquals } from "@std/assert";
import { showsUtf8 } from "../../../src/ui/terminal/locale.ts";

Deno.test("a terminal shows UTF-8 where its locale says so", () => {
  const rows: [env: Record<string, string>, os: string, isShown: boolean][] = [
    [{}, "linux", false],
    [{}, "windows", true],
    [{ LANG: "de_DE.UTF-8" }, "linux", true],
    [{ LANG: "de_DE.utf8", LC_CTYPE: "C" }, "linux", false],
    [{ LANG: "C", LC_CTYPE: "C", LC_ALL: "C.UTF-8" }, "linux", true],
  ];
  for (const [env, os, isShown] of rows) {
    assertEquals(showsUtf8(new Map(Object.entries(env)), os), isShown);
  }
});
