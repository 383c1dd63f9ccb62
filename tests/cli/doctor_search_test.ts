import { assertEquals, assertStringIncludes } from "@std/assert";
import { noServerText, searchServers } from "../../src/cli/doctor_search.ts";
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
  const variables = { OLLAMA_HOST: "http://gpu.example", ANTHROPIC_API_KEY: "k" };
  const { result, text } = await search([Number(new URL(server.url).port)], variables);
  assertEquals(result, 1);
  const flags = "--local --host http://gpu.example:11434, or --local --host " + server.url +
    ", or --hosted (with the key in ANTHROPIC_API_KEY)";
  assertStringIncludes(
    text.replace(/\n +/g, " "),
    `FAIL  server   No model configured. Add ${flags}.`,
  );
});

Deno.test("doctor on a machine without a server says how to start one", async () => {
  const { result, text } = await search([1]);
  assertEquals(result, 1);
  assertStringIncludes(
    text,
    "No model server found on the usual ports of this machine (127.0.0.1:1)",
  );
});

Deno.test("a run without a server and a key is told the flags of the person's own servers", async () => {
  await using server = strictServer([], { models: ["a", "b"] });
  const other = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    (request) =>
      request.url.endsWith("/v1/models")
        ? Response.json({ data: [] })
        : new Response("no", { status: 404 }),
  );
  const port = Number(new URL(server.url).port);
  const told = (ports: number[], OLLAMA_HOST = "", ANTHROPIC_API_KEY = "") => {
    const variables: Record<string, string> = { OLLAMA_HOST, ANTHROPIC_API_KEY };
    return noServerText(setupHome({ get: (name) => variables[name] }, ports));
  };
  const choosing = "Run `copilot` in a terminal to choose one";
  const chosen = (flags: string) =>
    `No model configured. Add ${flags}. Or set OPENAI_API_KEY, or try --demo. ${choosing}`;
  assertEquals(
    await told([1, 2]),
    "No model server found on the usual ports of this machine (127.0.0.1:1, :2), and no key. " +
      "Start a server, such as `ollama serve` or llama-server, pass --base-url URL, " +
      "or set OPENAI_API_KEY, or ANTHROPIC_API_KEY with --hosted, or try --demo. " +
      choosing,
  );
  assertEquals(await told([1], "gpu"), chosen("--local --host http://gpu:11434"));
  const hidden = "--local (OLLAMA_HOST names gpu:11434)";
  assertEquals(await told([1], "http://u:secret@gpu"), chosen(hidden));
  assertEquals(await told([1], server.url), chosen(`--local --host ${server.url}`));
  assertEquals(
    await told([1], "gpu", "k"),
    chosen(
      "--local --host http://gpu:11434, or --hosted (with the key in ANTHROPIC_API_KEY)",
    ),
  );
  const also = `--base-url http://127.0.0.1:${other.addr.port}/v1`;
  assertEquals(
    await told([port, other.addr.port]),
    chosen(`--local --host ${server.url}, or ${also}`),
  );
  await other.shutdown();
});
