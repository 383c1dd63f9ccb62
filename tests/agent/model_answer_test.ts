import { assertEquals } from "@std/assert";
import { askAgainAfter } from "../../src/agent/model_answer.ts";
import { BackendError, type BackendErrorKind } from "../../src/errors.ts";

Deno.test("an answer goes on after a failure that may pass, if it has text and no call", () => {
  const rows: [kind: BackendErrorKind, retryable: boolean, text: string, hasCall: boolean][] = [
    ["incomplete", true, "half", false],
    ["server", true, "half", false],
    ["server", false, "half", false],
    ["timeout", true, "half", false],
    ["server", true, " ", false],
    ["server", true, "half", true],
  ];
  const goesOn = rows.map(([kind, retryable, text, hasCall]) => {
    const error = new BackendError("It failed", { kind, retryable });
    return askAgainAfter(error, text, new Set(hasCall ? ["tool_call"] : [])) !== undefined;
  });
  assertEquals(goesOn, [true, true, false, false, false, false]);
});
