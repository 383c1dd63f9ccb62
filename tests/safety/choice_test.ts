import { assertEquals, assertThrows } from "@std/assert";
import { UsageError } from "../../src/errors.ts";
import { parsePermissionChoice } from "../../src/safety/choice.ts";

Deno.test("choices for a run come from flags; those that are not given are left out", () => {
  assertEquals(parsePermissionChoice({}), {});
  assertEquals(
    parsePermissionChoice({
      approve: "edits",
      sandbox: "read-only",
      network: true,
      env: "GH_TOKEN, AWS_*  A",
      yes: true,
    }),
    {
      approve: "auto",
      sandbox: "read-only",
      network: true,
      env: ["GH_TOKEN", "AWS_*", "A"],
      yes: true,
    },
  );
  assertEquals(parsePermissionChoice({ env: "" }), { env: [] });
});

const ROWS = [
  [{ approve: "" }, "Cannot use --approve as it must be one of plan, never, ask, auto"],
  [{ approve: "EDITS" }, "Cannot use --approve as"],
  [
    { sandbox: "toString" },
    "Cannot use --sandbox as it must be one of read-only, workspace-write, off",
  ],
  [{ env: "*" }, 'Cannot use --env "*" as it must be the name of a variable, or a prefix and'],
  [{ env: "A B-C" }, 'Cannot use --env "B-C"'],
  [{ env: `A,${"=".repeat(100)}` }, `Cannot use --env "${"=".repeat(60)}" as`],
] as const;
for (const [flags, says] of ROWS) {
  Deno.test(`a choice that makes no sense is wrong usage: ${JSON.stringify(flags).slice(0, 40)}`, () => {
    assertThrows(() => parsePermissionChoice(flags), UsageError, says);
  });
}
