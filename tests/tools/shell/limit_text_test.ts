import { assertEquals, assertMatch } from "@std/assert";
import { limitAdvice, sandboxLimitText } from "../../../src/tools/shell/limit_text.ts";
import { LIMIT_KINDS, type SandboxLimit } from "../../../src/types/confine.ts";

Deno.test("a limit names the setting that grants it, and a question only if one can be asked", () => {
  const none = "no network in the sandbox";
  const mayAsk = true;
  const texts: [limit: SandboxLimit, text: string][] = [
    [{ kind: "network" }, `${none}: --network`],
    [{ kind: "network", mayAsk }, `${none}: say yes if the model asks, or use --network`],
    [
      { kind: "outside", path: "/a$&\n" },
      '/a$& is read-only in the sandbox: "sandboxWrite" in permissions.json',
    ],
    [{ kind: "plan", mayAsk }, "the folder is read-only in plan mode"],
  ];
  for (const [limit, text] of texts) assertEquals(sandboxLimitText(limit), text);
  const again = 'Call again with leave "network" and a reason: the user decides.';
  assertEquals(
    [limitAdvice({ kind: "network", mayAsk }), limitAdvice({ kind: "network" })],
    [
      `Cause: ${none}. ${again} --network grants it for good.`,
      `Cause: ${none}. The user can grant it with --network.`,
    ],
  );
  for (const kind of LIMIT_KINDS) {
    assertMatch(sandboxLimitText({ kind, path: "/a" }), /^[^A-Z]/);
    assertEquals(/call again/i.test(limitAdvice({ kind, path: "/a" })), false, kind);
  }
});
