import { assertEquals, assertStringIncludes } from "@std/assert";
import { withHint } from "../../src/session/hints.ts";
import { compatConfig, type CopilotConfig, hostedConfig, localConfig } from "../../src/config.ts";
import { BackendError } from "../../src/errors.ts";

const compatAt = (baseUrl: string) => ({
  compat: compatConfig({ apiKey: "k", model: "m", baseUrl }),
});
const compat = compatAt("https://x/v1");
const hosted = { hosted: hostedConfig({ apiKey: "k", model: "m" }) };
const local = { local: localConfig({ model: "m" }) };
const chat = { local: localConfig({ model: "m", useCompat: true }) };

const ROWS: [
  config: CopilotConfig,
  details: ConstructorParameters<typeof BackendError>[1],
  hint: string,
][] = [
  [compat, { kind: "auth" }, "OPENAI_API_KEY or pass --api-key"],
  [compatAt("http://x/v1"), { kind: "auth" }, 'with --api-key, or under "keys" in config.json'],
  [compatAt("https://u:p@x/v1"), { kind: "auth" }, "Check the user name and password"],
  [compat, { kind: "connection" }, "--base-url"],
  [compat, { kind: "protocol", status: 200 }, "--base-url"],
  [compat, { kind: "model_not_found" }, "--model"],
  [compat, { kind: "context_too_long" }, "/compact"],
  [hosted, { kind: "auth" }, "ANTHROPIC_API_KEY or pass --api-key"],
  [hosted, { kind: "connection" }, "without /v1"],
  [local, { kind: "connection" }, "`ollama serve`, name another with --host"],
  [local, { kind: "auth" }, "USER:PASSWORD@"],
  [local, { kind: "request", status: 404 }, "--use-compat"],
  [chat, { kind: "request", status: 404 }, ""],
  [local, { kind: "server", status: 500 }, ""],
];

for (const [at, [config, details, hint]] of ROWS.entries()) {
  const [backend] = Object.keys(config);
  Deno.test(`${at} ${backend}: what to do about ${details.kind} ${details.status ?? ""}`, () => {
    const text = withHint(new BackendError("It failed", details), config);
    if (hint === "") assertEquals(text, "It failed");
    else assertStringIncludes(text, `It failed. `);
    assertStringIncludes(text, hint);
  });
}

Deno.test("an error that is no backend's is told as it is, in one line", () => {
  assertEquals(withHint(new Error("a\nb\x1b[2J"), local), "a b␛[2J");
});
