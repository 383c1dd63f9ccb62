import { assertEquals, assertRejects } from "@std/assert";
import { parseArgs } from "../../src/cli/args.ts";
import { withDefaults } from "../../src/cli/defaults.ts";
import { isServerOpen, optionsFromArgs, toConfig } from "../../src/cli/settings.ts";
import { setupHome } from "../../src/cli/setup.ts";
import { strictServer } from "../helpers/strict_server.ts";
import { tempFolder } from "../helpers/temp_folder.ts";

const environment = (variables: Record<string, string>) => ({
  get: (name: string) => variables[name],
});

/** A folder of settings, with the text of its config.json. */
async function inFolder(
  text: string | undefined,
  body: (folder: string, env: { get(name: string): string | undefined }) => Promise<void>,
  variables: Record<string, string> = {},
): Promise<void> {
  using temp = tempFolder();
  const base = temp.path;
  const folder = `${base}/copilot`;
  if (text !== undefined) {
    await Deno.mkdir(folder);
    await Deno.writeTextFile(`${folder}/config.json`, text, { mode: 0o644 });
  }
  await body(folder, environment({ XDG_CONFIG_HOME: base, ...variables }));
}

const OPEN: [
  words: string[],
  variables: Record<string, string>,
  config: string,
  isOpen: boolean,
][] = [
  [[], {}, "{}", true],
  [["fix it"], {}, '{"approve": "ask"}', true],
  [[], { ANTHROPIC_API_KEY: "a" }, "{}", true],
  [[], { OLLAMA_HOST: "gpu" }, "{}", true],
  [[], { OPENAI_API_KEY: "a" }, "{}", false],
  [[], { OPENAI_BASE_URL: "http://localhost:1/v1" }, "{}", false],
  [[], {}, '{"keys": {"https://api.openai.com/v1": "a"}}', false],
  [[], {}, '{"keys": {"https://api.anthropic.com": "a"}}', true],
  [[], {}, '{"local": true}', false],
  [["--local"], {}, "{}", false],
  [["--hosted"], {}, "{}", false],
  [["--model", "x"], {}, "{}", false],
  [["--demo"], {}, "{}", false],
];
for (const [words, variables, config, isOpen] of OPEN) {
  const given = [...words, ...Object.keys(variables), config].join(" ");
  Deno.test(`the server is ${isOpen ? "open" : "said"} with ${given}`, async () => {
    await inFolder(config, (_, env) => {
      const args = withDefaults(parseArgs(words), (name) => env.get(name));
      assertEquals(isServerOpen(args, env), isOpen);
      return Promise.resolve();
    }, variables);
  });
}

Deno.test("the addresses are those of this machine and of OLLAMA_HOST, each once", async () => {
  await using server = strictServer([], { models: ["a"] });
  const port = Number(new URL(server.url).port);
  const { signal } = new AbortController();
  for (const named of [server.url, `127.0.0.1:${port}`, `localhost:${port}`, `0.0.0.0:${port}`]) {
    const home = setupHome(environment({ OLLAMA_HOST: named }), [port, 1]);
    const found = await home.find(20_000, signal);
    assertEquals(found.map(({ url }) => url), [server.url], named);
  }
  const none = setupHome(environment({ OLLAMA_HOST: "http://gpu.example" }), [port]);
  assertEquals((await none.find(20_000, signal)).map(({ url, state }) => [url, state]), [
    ["http://gpu.example:11434", "skipped"],
    [server.url, "answers"],
  ]);
  const own = setupHome(environment({}), [1]);
  const chosen = await own.find(20_000, signal, [server.url, "https://web.example"]);
  assertEquals(chosen.map(({ url, state }) => [url, state]), [
    [server.url, "answers"],
    ["https://web.example", "skipped"],
  ]);
});

Deno.test("a server is asked with its key: the given one, else the one that is there for it", async () => {
  const keys: (string | null)[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    keys.push(request.headers.get("authorization"));
    return Response.json({ data: [{ id: "q" }] });
  });
  const address = `http://127.0.0.1:${server.addr.port}/v1`;
  await inFolder(JSON.stringify({ keys: { [address]: "kept" } }), async (_, env) => {
    const home = setupHome(env, [1]);
    assertEquals(home.own(), ["http://127.0.0.1:1"]);
    const { signal } = new AbortController();
    for (const key of ["", "given"]) await home.ask(address, { key, limitMs: 20_000, signal });
    assertEquals([...new Set(keys)], ["Bearer kept", "Bearer given"]);
    const places = [address, "https://x.example", "http://x.example"].map(home.keyIn);
    assertEquals(places, ["config.json", "OPENAI_API_KEY", undefined]);
  }, { OPENAI_API_KEY: "env", OLLAMA_HOST: "http://gpu.example" });
  await server.shutdown();
});

Deno.test("a choice is kept in config.json, for its owner alone to read; what else is there stays", async () => {
  const before = {
    ...{ approve: "ask", "base-url": "http://old/v1", model: "old", "keep-alive": "1h" },
    keys: { "http://old/v1": "old-key" },
  };
  await inFolder(JSON.stringify(before), async (folder, env) => {
    const path = `${folder}/config.json`;
    const home = setupHome(env);
    const read = async () => JSON.parse(await Deno.readTextFile(path));
    await home.keep({ local: true, host: "http://127.0.0.1:1", model: "a" });
    const local = { local: true, host: "http://127.0.0.1:1", model: "a" };
    const { approve, keys } = before;
    assertEquals(await read(), { approve, "keep-alive": "1h", keys, ...local });
    if (Deno.build.os !== "windows") assertEquals((await Deno.stat(path)).mode! & 0o777, 0o600);
    const [anthropic, openai] = home.hosted();
    assertEquals([anthropic!.keyIn, openai!.keyIn], [undefined, undefined]);
    await home.keep(anthropic!.settings, { address: anthropic!.address, key: "secret" });
    const hosted = { hosted: true, "base-url": "https://api.anthropic.com" };
    const both = { ...keys, "https://api.anthropic.com": "secret" };
    assertEquals(await read(), { approve, "keep-alive": "1h", keys: both, ...hosted });
    // The next start takes it: a setting for a local server is for others.
    const args = withDefaults({}, (name) => env.get(name));
    assertEquals(toConfig(optionsFromArgs(args), env).hosted!.apiKey, "secret");
    assertEquals(home.hosted().map(({ keyIn }) => keyIn), ["config.json", undefined]);
  });
});

Deno.test("a key in the environment is named and not copied", async () => {
  await inFolder(undefined, async (folder, env) => {
    const home = setupHome(env);
    assertEquals(home.hosted().map(({ keyIn }) => keyIn), ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"]);
    await home.keep(home.hosted()[1]!.settings);
    assertEquals(JSON.parse(await Deno.readTextFile(`${folder}/config.json`)), {
      "base-url": "https://api.openai.com/v1",
    });
    const args = withDefaults({}, (name) => env.get(name));
    assertEquals(toConfig(optionsFromArgs(args), env).compat!.apiKey, "two");
  }, { ANTHROPIC_API_KEY: "one", OPENAI_API_KEY: "two" });
});

Deno.test("a link to the file stays one; without a home folder it says so", async () => {
  await inFolder("{}", async (folder, env) => {
    await Deno.rename(`${folder}/config.json`, `${folder}/dotfile`);
    await Deno.symlink("dotfile", `${folder}/config.json`);
    await setupHome(env).keep({ local: true });
    assertEquals(await Deno.readLink(`${folder}/config.json`), "dotfile");
    assertEquals(JSON.parse(await Deno.readTextFile(`${folder}/dotfile`)), { local: true });
    assertEquals([...Deno.readDirSync(folder)].map(({ name }) => name).sort(), [
      "config.json",
      "dotfile",
    ]);
  });
  const homeless = setupHome(environment({}));
  await assertRejects(() => homeless.keep({ local: true }), Error, "there is no home folder");
});

Deno.test("what is no key is objected to, without a word of it", () => {
  const { objection } = setupHome(environment({}));
  assertEquals([objection("sk-1"), objection("")], [undefined, undefined]);
  assertEquals(objection("se cret"), "A key is printable ASCII without spaces");
  assertEquals(objection("schlüssel"), "A key is printable ASCII without spaces");
});

Deno.test("SEC-02 a variable's key goes to no address that was not typed", async () => {
  const { fetch } = globalThis;
  const keys: (string | null)[] = [];
  globalThis.fetch = (_, init) => {
    keys.push(new Headers(init?.headers).get("authorization"));
    return Promise.resolve(Response.json({ data: [{ id: "q" }] }));
  };
  try {
    await inFolder("{}", async (_, env) => {
      const { signal } = new AbortController();
      for (const key of [undefined, ""]) {
        keys.length = 0;
        await setupHome(env, [1]).ask("https://x.example", { key, limitMs: 20_000, signal });
        assertEquals([...new Set(keys)], [key === undefined ? null : "Bearer env"]);
      }
    }, { OPENAI_API_KEY: "env" });
  } finally {
    globalThis.fetch = fetch;
  }
});
