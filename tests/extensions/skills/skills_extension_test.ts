import { assertEquals } from "@std/assert";
import { problemLines } from "../../../src/extensions/skills/skills_extension.ts";

Deno.test("of many files that are ignored, three are named", () => {
  for (const length of [1, 3, 4, 5]) {
    const more = length - 3;
    assertEquals(problemLines(Array(length).fill({ path: "a", why: "so" })), [
      ...Array(Math.min(3, length)).fill("a is ignored: so"),
      ...more > 0
        ? [`${more} more file${more > 1 ? "s" : ""} ignored: copilot doctor lists them`]
        : [],
    ]);
  }
});
