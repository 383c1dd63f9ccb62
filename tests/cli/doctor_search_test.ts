import { assertEquals, assertMatch } from "@std/assert";
import { searchServers } from "../../src/cli/doctor_search.ts";
import { setupHome } from "../../src/cli/setup.ts";
import { strictServer } from "../helpers/strict_server.ts";

const { signal } = new AbortController();

async function search(ports: readonly number[], variables: Record<string, string> = {}) {
  let text = "";
  const home = setupHome({ get: (name) => variables[name] }, ports);
  const write = (piece: string) => void (text += piece);
  const result = await searchServers(home, { json: false, columns: 120, write, signal });
  return { result, text };
}

Deno.test("doctor without a server takes the only one with one model, as a session does", async () => {
  await using server = strictServer([], { models: ["a"] });
  const { result, text } = await search([Number(new URL(server.url).port), 1]);
  assertEquals([result, text], [{ local: true, host: server.url, model: "a" }, ""]);
});

Deno.test("doctor without a server names what it found, and what to do", async () => {
  await using server = strictServer([], { models: ["a", "b"] });
  const { host, port } = new URL(server.url);
  const variables = { OLLAMA_HOST: "http://gpu.example", ANTHROPIC_API_KEY: "k" };
  const { result, text } = await search([Number(port)], variables);
  assertEquals(result, 1);
  assertEquals(
    text,
    `copilot doctor: no model is chosen yet; this is what there is
note  server   gpu.example:11434 is in OLLAMA_HOST; it is another machine, so nothing was sent to it
               copilot doctor --local examines it
ok    server   Ollama at ${host} has a, b
               copilot doctor --local --host ${server.url} --model NAME examines one
ok    key      ANTHROPIC_API_KEY has a key for Anthropic
               copilot doctor --hosted examines it
Not ready: run copilot to choose a model, or examine one with the flags of its server
`,
  );
});

Deno.test("doctor on a machine without a server says how to start one", async () => {
  const { result, text } = await search([1]);
  assertEquals(result, 1);
  assertMatch(text, /^FAIL {2}server {3}no model server answers on this machine$/m);
  assertMatch(text, /Start one:\n +Ollama \(ollama\.com\): ollama serve, then ollama pull/);
});
