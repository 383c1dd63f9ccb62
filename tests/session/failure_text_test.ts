import { assertEquals } from "@std/assert";
import { localConfig } from "../../src/config.ts";
import { BackendError } from "../../src/errors.ts";
import { failureText } from "../../src/session/hint_text.ts";

const config = { local: localConfig({ model: "m" }) };
const failed = (message: string, kind: "model_not_found" | "server") =>
  failureText(new BackendError(message, { kind }), config, "editor");

Deno.test("a failure is told in one line, with what would help as a sentence of its own", () => {
  assertEquals(
    failed("It failed", "model_not_found"),
    "It failed. Get it with ollama pull m, or choose another with /model",
  );
  assertEquals(
    failed("It failed!", "model_not_found"),
    "It failed! Get it with ollama pull m, or choose another with /model",
  );
  assertEquals(failed("It failed", "server"), "It failed");
  assertEquals(failureText(new Error("a\nb\x1b[2J"), config, "flags"), "a b␛[2J");
});
