import { assertEquals } from "@std/assert";
import { type Hint, hintFor } from "../../src/session/hints.ts";
import { compatConfig, type CopilotConfig, hostedConfig, localConfig } from "../../src/config.ts";
import { BackendError } from "../../src/errors.ts";

const compatAt = (baseUrl: string) => ({
  compat: compatConfig({ apiKey: "k", model: "m", baseUrl }),
});
const compat = compatAt("https://x/v1");
const hosted = { hosted: hostedConfig({ apiKey: "k", model: "m" }) };
const local = { local: localConfig({ model: "m" }) };
const chat = { local: localConfig({ model: "m", useCompat: true }) };
const key = (variable: string, isUnsent: boolean): Hint => ({ type: "key", variable, isUnsent });

const ROWS: [
  config: CopilotConfig,
  details: ConstructorParameters<typeof BackendError>[1],
  hint: Hint | undefined,
][] = [
  [compat, { kind: "auth" }, key("OPENAI_API_KEY", false)],
  [compatAt("http://x/v1"), { kind: "auth" }, key("OPENAI_API_KEY", true)],
  [compatAt("https://u:p@x/v1"), { kind: "auth" }, { type: "userinfo" }],
  [compat, { kind: "connection" }, { type: "address", kind: "compat" }],
  [compat, { kind: "protocol", status: 200 }, { type: "address", kind: "compat" }],
  [compat, { kind: "protocol", cause: new TypeError("it does not answer in HTTP") }, {
    ...{ type: "address", kind: "compat" },
  }],
  // The model's own answer is of no use: the address is right.
  [compat, { kind: "protocol" }, undefined],
  [compat, { kind: "model_not_found" }, { type: "model", kind: "compat" }],
  [compat, { kind: "context_too_long" }, { type: "context", from: "model" }],
  [hosted, { kind: "auth" }, key("ANTHROPIC_API_KEY", false)],
  [hosted, { kind: "connection" }, { type: "network" }],
  [hosted, { kind: "request", status: 404 }, { type: "address", kind: "hosted" }],
  [hosted, { kind: "context_too_long" }, undefined],
  [local, { kind: "connection" }, { type: "server" }],
  [{ local: { ...local.local, useCompat: true } }, { kind: "connection" }, {
    ...{ type: "server", isOther: true },
  }],
  [local, { kind: "model_not_found" }, { type: "model", kind: "local", pull: "m" }],
  [local, { kind: "model_not_found", models: [] }, {
    ...{ type: "model", kind: "local", pull: "m" },
    has: "none",
  }],
  [chat, { kind: "model_not_found", models: ["a"] }, { type: "model", kind: "local", has: "some" }],
  [local, { kind: "protocol", status: 404 }, { type: "compatible_endpoint" }],
  [local, { kind: "protocol", status: 200 }, { type: "address", kind: "local" }],
  [chat, { kind: "protocol", status: 404 }, { type: "address", kind: "local" }],
  [compat, { kind: "redirect", status: 302 }, { type: "address", kind: "compat" }],
  [local, { kind: "auth" }, { type: "proxy_key" }],
  [local, { kind: "request", status: 404 }, { type: "compatible_endpoint" }],
  [local, { kind: "context_too_long" }, { type: "context", from: "request" }],
  [chat, { kind: "context_too_long" }, { type: "context", from: "server" }],
  [chat, { kind: "request", status: 404 }, undefined],
  [local, { kind: "request", status: 400 }, undefined],
  [local, { kind: "server", status: 500 }, undefined],
];

for (const [at, [config, details, hint]] of ROWS.entries()) {
  const [backend] = Object.keys(config);
  Deno.test(`${at} ${backend}: what would help after ${details.kind} ${details.status ?? ""}`, () => {
    assertEquals(hintFor(new BackendError("It failed", details), config), hint);
  });
}
