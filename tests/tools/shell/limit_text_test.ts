import { assertEquals, assertMatch } from "@std/assert";
import { limitAdvice, sandboxLimitText } from "../../../src/tools/shell/limit_text.ts";
import { LIMIT_KINDS } from "../../../src/types/confine.ts";

Deno.test("a limit names the setting that grants it, and a question only if one can be asked", () => {
  assertEquals(sandboxLimitText({ kind: "network" }), "no network in the sandbox: --network");
  assertEquals(
    sandboxLimitText({ kind: "network", mayAsk: true }),
    "no network in the sandbox: say yes if the model asks, or use --network",
  );
  assertEquals(
    sandboxLimitText({ kind: "outside", path: "/a$&\n" }),
    '/a$& is read-only in the sandbox: "sandboxWrite" in permissions.json',
  );
  assertEquals(
    sandboxLimitText({ kind: "plan", mayAsk: true }),
    "the folder is read-only in plan mode",
  );
  assertEquals(
    limitAdvice({ kind: "network", mayAsk: true }),
    'Cause: no network in the sandbox. Call again with leave "network" and a reason: the user decides. --network grants it for good.',
  );
  assertEquals(
    limitAdvice({ kind: "network" }),
    "Cause: no network in the sandbox. The user can grant it with --network.",
  );
  for (const kind of LIMIT_KINDS) {
    assertMatch(sandboxLimitText({ kind, path: "/a" }), /^[^A-Z]/);
    assertEquals(/call again/i.test(limitAdvice({ kind, path: "/a" })), false, kind);
  }
});
