import { assertEquals, assertMatch } from "@std/assert";
import { openPermissions } from "../../../src/session/permissions.ts";
import { surveyExtensions } from "../../../src/extensions/skills/survey.ts";

Deno.test("the doctor is told of a file of hooks that cannot be read, and of slips in one", async () => {
  const home = await Deno.makeTempDir();
  try {
    await Deno.mkdir(`${home}/.config/copilot`, { recursive: true });
    const path = `${home}/.config/copilot/hooks.json`;
    const permissions = openPermissions({}, (name) => name === "HOME" ? home : undefined);
    await Deno.writeTextFile(path, '{"PreToolUse": [],}');
    const broken = surveyExtensions(home, permissions);
    assertEquals(broken.problems.map((one) => one.path), [path]);
    assertMatch(broken.problems[0]!.why, /line 1, column 19/);
    await Deno.writeTextFile(path, '{"PreToolUs": []}');
    const { problems } = surveyExtensions(home, permissions);
    assertMatch(problems[0]!.why, /did you mean PreToolUse/);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
});
