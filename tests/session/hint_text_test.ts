import { assertEquals } from "@std/assert";
import { hintText } from "../../src/session/hint_text.ts";
import type { Hint } from "../../src/session/hints.ts";

const SETUP = "; /setup lists the servers of this machine";
const START = "start the server with more context: OLLAMA_CONTEXT_LENGTH=32768 ollama serve, " +
  "llama-server -c 32768";
const NEXT = 'put it under "keys" in config.json for the next session';

/** A hint, its words for flags, and those in a session; `setup`: a terminal names that, too. */
const ROWS: [hint: Hint, flags: string, session: string, setup?: string][] = [
  [
    { type: "address", kind: "compat" },
    "Check the address: --base-url URL, up to and including /v1",
    "Check the address: /model --base-url URL, up to and including /v1",
    SETUP,
  ],
  [
    { type: "address", kind: "local" },
    "Check the address: --local --host URL",
    "Check the address: /model --local --host URL",
    SETUP,
  ],
  [
    { type: "network" },
    "Check the network, or name another server: --hosted --base-url URL, without /v1",
    "Check the network, or name another server: /model --hosted --base-url URL, without /v1",
  ],
  [
    { type: "server" },
    "Start a server with `ollama serve`, name another with --local --host URL, or try the demo with --demo",
    "Start a server with `ollama serve`, or name another with /model --local --host URL",
    SETUP,
  ],
  [
    { type: "server", isOther: true },
    "Start the server, name another with --local --host URL, or try the demo with --demo",
    "Start the server, or name another with /model --local --host URL",
    SETUP,
  ],
  [
    { type: "model", kind: "local" },
    "Name a model that this server has with --model",
    "Name a model that this server has with /model",
  ],
  [
    { type: "model", kind: "local", has: "none" },
    ...Array<string>(2).fill("Load a model there first") as [string, string],
  ],
  [
    { type: "model", kind: "local", pull: "m", has: "none" },
    ...Array<string>(2).fill("Get it with ollama pull m") as [string, string],
  ],
  [
    { type: "model", kind: "local", has: "some" },
    "Name one of them with --model",
    "Name one of them with /model",
  ],
  [
    { type: "model", kind: "local", pull: "m" },
    "Get it with ollama pull m, or name another with --model",
    "Get it with ollama pull m, or name another with /model",
  ],
  [
    { type: "model", kind: "compat" },
    "Name a model that this server has with --model, and check the address: --base-url URL, up to and including /v1",
    "Name a model that this server has with /model, and check the address: /model --base-url URL, up to and including /v1",
  ],
  [
    { type: "context", from: "request" },
    "Give the model more with --context-length 32768",
    'Make room with /compact, or give the model more with "context-length": 32768 in config.json',
  ],
  [
    { type: "context", from: "server" },
    `S${START.slice(1)}`,
    `Make room with /compact, or ${START}`,
  ],
  [
    { type: "context", from: "model" },
    "Use a model with a longer context: --model",
    "Make room with /compact, or use a model with a longer context: /model",
  ],
  [
    { type: "compatible_endpoint" },
    "If it is not Ollama, use its OpenAI-compatible endpoint: --local --host URL --use-compat",
    "If it is not Ollama, use its OpenAI-compatible endpoint: /model --local --host URL --use-compat",
  ],
  [
    { type: "key", variable: "A", isUnsent: false },
    "Check the key: set A or pass --api-key",
    `Check the key: ${NEXT}`,
  ],
  [
    { type: "key", variable: "A", isUnsent: true },
    'Check the key: give it with --api-key, or under "keys" in config.json (A is not sent over http)',
    `Check the key: ${NEXT} (A is not sent over http)`,
  ],
  [
    { type: "proxy_key" },
    "Check the key or the password of the proxy in front of the server: --api-key, or http://USER:PASSWORD@HOST",
    `Check the key or the password of the proxy in front of the server: ${NEXT}`,
  ],
  [
    { type: "userinfo" },
    ...Array<string>(2).fill("Check the user name and password in the address") as [string, string],
  ],
];

for (const [hint, flags, session, setup = ""] of ROWS) {
  Deno.test(`a hint names what can be done where it is read: ${JSON.stringify(hint)}`, () => {
    assertEquals(hintText(hint, "flags"), flags);
    assertEquals(hintText(hint, "editor"), session);
    assertEquals(hintText(hint, "terminal"), session + setup);
  });
}
