import { assertEquals } from "@std/assert";
import { compatConfig, type CopilotConfig, hostedConfig, localConfig } from "../../src/config.ts";
import { BackendError } from "../../src/errors.ts";
import { failureText, hintFor, type UiKind } from "../../src/session/hint_text.ts";

const compatAt = (baseUrl: string) => ({
  compat: compatConfig({ apiKey: "k", model: "m", baseUrl }),
});
const compat = compatAt("https://x/v1");
const hosted = { hosted: hostedConfig({ apiKey: "k", model: "m" }) };
const local = { local: localConfig({ model: "m" }) };
const chat = { local: localConfig({ model: "m", useCompat: true }) };

const NEXT = 'put it under "keys" in config.json for the next session';
const UNSENT = "(OPENAI_API_KEY is not sent over http)";
const MORE = "start the server with more context: OLLAMA_CONTEXT_LENGTH=32768 ollama serve, " +
  "llama-server -c 32768";
const FORM = "--base-url URL, up to and including /v1";
const COMPATIBLE = "If it is not Ollama, use its OpenAI-compatible endpoint: ";

/** The hint for flags and for a session. `isSetup`: a terminal names /setup, too. */
interface Hinted {
  flags: string;
  session: string;
  isSetup?: true;
}
const both = (text: string): Hinted => ({ flags: text, session: text });
const ADDRESS: Hinted = {
  flags: `Check the address: ${FORM}`,
  session: `Check the address: /model ${FORM}`,
  isSetup: true,
};
const ENDPOINT: Hinted = {
  flags: `${COMPATIBLE}--local --host URL --use-compat`,
  session: `${COMPATIBLE}/model --local --host URL --use-compat`,
};

const ROWS: [
  config: CopilotConfig,
  details: ConstructorParameters<typeof BackendError>[1],
  hinted: Hinted | undefined,
][] = [
  [compat, { kind: "auth" }, {
    flags: "Check the key: set OPENAI_API_KEY or pass --api-key",
    session: `Check the key: ${NEXT}`,
  }],
  [compatAt("http://x/v1"), { kind: "auth" }, {
    flags: `Check the key: pass it with --api-key, or put it under "keys" in config.json ${UNSENT}`,
    session: `Check the key: ${NEXT} ${UNSENT}`,
  }],
  [
    compatAt("https://u:p@x/v1"),
    { kind: "auth" },
    both("Check the user name and password in the address"),
  ],
  [compat, { kind: "connection" }, ADDRESS],
  [compatAt("http://10.1.2.3:8080/v1"), { kind: "connection" }, {
    flags: `Start the server, use another with ${FORM}, or try the demo with --demo`,
    session: `Start the server, or use another with /model ${FORM}`,
    isSetup: true,
  }],
  [compat, { kind: "protocol", status: 200 }, ADDRESS],
  [compat, { kind: "protocol", cause: new TypeError("it does not answer in HTTP") }, ADDRESS],
  // The address is right, but the model's answer is invalid.
  [compat, { kind: "protocol" }, undefined],
  [compat, { kind: "request", status: 404 }, ADDRESS],
  [compatAt("http://x:1"), { kind: "request", status: 404 }, {
    flags: "Try --base-url http://x:1/v1",
    session: "Try /model --base-url http://x:1/v1",
  }],
  [compat, { kind: "redirect", status: 302 }, ADDRESS],
  [compat, { kind: "model_not_found" }, {
    flags: `Choose a model of this server with --model, and check the address: ${FORM}`,
    session: `Choose a model of this server with /model, and check the address: ${FORM}`,
  }],
  [compat, { kind: "context_too_long" }, {
    flags: "Use a model with a longer context: --model",
    session: "Make room with /compact, or use a model with a longer context: /model",
  }],
  [hosted, { kind: "auth" }, {
    flags: "Check the key: set ANTHROPIC_API_KEY or pass --api-key",
    session: `Check the key: ${NEXT}`,
  }],
  [hosted, { kind: "connection" }, {
    flags: "Check the network, or use another server: --hosted --base-url URL, without /v1",
    session:
      "Check the network, or use another server: /model --hosted --base-url URL, without /v1",
  }],
  [hosted, { kind: "request", status: 404 }, {
    flags: "Check the address: --hosted --base-url URL, without /v1",
    session: "Check the address: /model --hosted --base-url URL, without /v1",
    isSetup: true,
  }],
  [hosted, { kind: "context_too_long" }, undefined],
  [local, { kind: "connection" }, {
    flags:
      "Start a server with `ollama serve`, use another with --local --host URL, or try the demo with --demo",
    session: "Start a server with `ollama serve`, or use another with /model --local --host URL",
    isSetup: true,
  }],
  [chat, { kind: "connection" }, {
    flags: "Start the server, use another with --local --host URL, or try the demo with --demo",
    session: "Start the server, or use another with /model --local --host URL",
    isSetup: true,
  }],
  ...([
    ["http://127.0.0.1:9555", "Start a server with `OLLAMA_HOST=127.0.0.1:9555 ollama serve`"],
    ["http://gpu:8080", "Start the server"],
  ] as const).map(([host, start]): typeof ROWS[number] => [
    { local: localConfig({ model: "m", host }) },
    { kind: "connection" },
    {
      flags: `${start}, use another with --local --host URL, or try the demo with --demo`,
      session: `${start}, or use another with /model --local --host URL`,
      isSetup: true,
    },
  ]),
  [local, { kind: "model_not_found" }, {
    flags: "Get it with ollama pull m, or choose another with --model",
    session: "Get it with ollama pull m, or choose another with /model",
  }],
  [local, { kind: "model_not_found", models: [] }, both("Get it with ollama pull m")],
  [chat, { kind: "model_not_found", models: [] }, both("Load a model there first")],
  [chat, { kind: "model_not_found", models: ["a"] }, {
    flags: "Choose one of them with --model",
    session: "Choose one of them with /model",
  }],
  [chat, { kind: "model_not_found" }, {
    flags: "Choose a model of this server with --model",
    session: "Choose a model of this server with /model",
  }],
  [local, { kind: "protocol", status: 404 }, ENDPOINT],
  [local, { kind: "request", status: 404 }, ENDPOINT],
  [local, { kind: "protocol", status: 200 }, {
    flags: "Check the address: --local --host URL",
    session: "Check the address: /model --local --host URL",
    isSetup: true,
  }],
  [chat, { kind: "protocol", status: 404 }, {
    flags: "Check the address: --local --host URL",
    session: "Check the address: /model --local --host URL",
    isSetup: true,
  }],
  [local, { kind: "auth" }, {
    flags:
      "Check the key or the password of the proxy in front of the server: --api-key, or http://USER:PASSWORD@HOST",
    session: `Check the key or the password of the proxy in front of the server: ${NEXT}`,
  }],
  [local, { kind: "context_too_long" }, {
    flags: "Give the model more with --context-length 32768",
    session:
      'Make room with /compact, or give the model more with "context-length": 32768 in config.json',
  }],
  [chat, { kind: "context_too_long" }, {
    flags: `S${MORE.slice(1)}`,
    session: `Make room with /compact, or ${MORE}`,
  }],
  [chat, { kind: "request", status: 404 }, undefined],
  [local, { kind: "request", status: 400 }, undefined],
  [local, { kind: "server", status: 500 }, undefined],
];

for (const [at, [config, details, hinted]] of ROWS.entries()) {
  const [backend] = Object.keys(config);
  Deno.test(`${at} ${backend}: the hint after ${details.kind} ${details.status ?? ""}`, () => {
    const hint = (ui: UiKind) => hintFor(new BackendError("It failed", details), config, ui);
    const setup = hinted?.isSetup ? "; /setup lists the servers of this machine" : "";
    assertEquals(hint("flags"), hinted?.flags);
    assertEquals(hint("editor"), hinted?.session);
    assertEquals(hint("terminal"), hinted && hinted.session + setup);
  });
}

Deno.test("a failure is one line, and its hint a sentence of its own", () => {
  const failed = (message: string) =>
    failureText(
      new BackendError(message, { kind: "model_not_found", models: [] }),
      local,
      "editor",
    );
  assertEquals(failed("It failed"), "It failed. Get it with ollama pull m");
  assertEquals(failed("It failed!"), "It failed! Get it with ollama pull m");
  assertEquals(failureText(new Error("a\nb\x1b[2J"), local, "flags"), "a b␛[2J");
});
