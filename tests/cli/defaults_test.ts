import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import type { Args } from "../../src/cli/args.ts";
import { UsageError } from "../../src/errors.ts";
import { modelFlags, toConfig } from "../../src/cli/settings.ts";
import { withDefaults as withGiven } from "../../src/cli/defaults.ts";
import { run } from "../helpers/program.ts";
import { strictServer } from "../helpers/strict_server.ts";
import { tempFolder } from "../helpers/temp_folder.ts";

/** Calls `use` with an environment whose `config.json` holds `text`. */
async function withFile(
  text: string,
  use: (env: (name: string) => string | undefined, folder: string) => Promise<void> | void,
): Promise<void> {
  using temp = tempFolder();
  const folder = temp.path;
  await Deno.mkdir(`${folder}/copilot`);
  await Deno.writeTextFile(`${folder}/copilot/config.json`, text);
  await use((name) => /XDG_CONFIG_HOME|APPDATA/.test(name) ? folder : undefined, folder);
}

function withDefaults(given: Args, env: (name: string) => string | undefined): Args {
  const { given: kept, ...read } = withGiven(given, env);
  assertEquals(kept, given);
  return read;
}

const OWN = { local: true, model: "qwen3:8b", "context-length": "9000" } as const;
const FILE = '{"local": true, "model": "qwen3:8b", "context-length": 9000, "no-notify": false}';
const SERVER = '{"base-url": "http://x:1/v1", "model": "m", "think": "on"}';
const READ: [text: string, given: Args, read: Args][] = [
  [FILE, {}, OWN],
  [FILE, { model: "m" }, { ...OWN, model: "m" }],
  [FILE, { hosted: true }, { hosted: true, "context-length": "9000" }],
  // Numbers and a list of names are texts, false is as if it was not there.
  [
    '{"temperature": 0.5, "env": ["A", "B_*"], "local": false, "network": true}',
    {},
    { temperature: "0.5", env: "A,B_*", usual: { network: true } },
  ],
  ['{"checks": false}', {}, { checks: false }],
  ['{"status": ["model", "folder"]}', {}, { status: ["model", "folder"] }],
  // A server on the command line, or the demo, leaves out the file's own.
  [SERVER, { demo: true }, { demo: true, think: "on" }],
  [SERVER, { host: "h" }, { host: "h", think: "on" }],
  [SERVER, { "base-url": "u" }, { "base-url": "u", think: "on" }],
  [SERVER, { "api-key": "k" }, {
    ...{ "base-url": "http://x:1/v1", model: "m", think: "on", "api-key": "k" },
  }],
];

Deno.test("config.json gives the flags that the command line does not", async () => {
  for (const [text, given, read] of READ) {
    await withFile(text, (env) => assertEquals(withDefaults(given, env), read));
  }
  assertEquals(withDefaults({}, () => undefined), {});
});

for (
  const [name, text, says] of [
    [
      "nothing like a flag",
      '{"zzzzzzzz": 1}',
      /"zzzzzzzz" in .*config\.json: there is no such setting/,
    ],
    ["a slip", '{"temprature": 1}', /"temprature".*did you mean "temperature"\?$/],
    [
      "no JSON",
      '{\n"model": "secret",\n}',
      /config\.json, line 3, column 1: it is not JSON: correct or remove it$/,
    ],
    [
      "another value",
      '{"keys": {"approve": "x"},\n"approve": "atuo"}',
      /"approve" in .* as it must be one of .*: did you mean "auto"\?$/,
    ],
    ["no object", "[]", /must be a JSON object/],
    ["a flag for once", '{"yes": true}', /"yes".*for one run: give --yes on the command line$/],
    ["a key for no address", '{"api-key": "x"}', /"api-key".*for one address: "keys": \{"http/],
    ["a value for a switch", '{"local": "yes"}', /local.*true or false/],
    [
      "checks of another form",
      '{"checks": {"tsc": true}}',
      /"checks" in .* must be false, or like \{"tsc": false, "codespell".*: correct or remove "tsc"$/,
    ],
    [
      "a search of another form",
      '{"search": "localhost"}',
      /"search" in .* an address of SearXNG$/,
    ],
    [
      "a part that is none",
      '{"status": ["model", "clock"]}',
      /"status" in .* a list of model, mode.*: correct or remove "clock"$/,
    ],
    ["a number that is none", '{"temperature": "hot"}', /"temperature" in .*a number/],
    ["a number as a name", '{"model": 5}', /"model" in .* must be text/],
    [
      "roles in a list",
      '{"roles": ["x"]}',
      /"roles" in .* like \{"plan": "http:.*, for plan, explore, summary$/,
    ],
    ["a role that is none", '{"roles": {"plan": "x", "act": "x"}}', /"roles" in .* remove "act"$/],
    ["a role without a text", '{"roles": {"plan": 1}}', /"roles" in .* like/],
    ["a server that is none", '{"roles": {"plan": "gpu#m"}}', /"roles" in .* like/],
  ] as const
) {
  Deno.test(`config.json with ${name} is wrong usage`, () =>
    withFile(text, (env) => {
      assertMatch(assertThrows(() => withDefaults({}, env), UsageError).message, says);
    }));
}

Deno.test("TRU-02 config.json counts from the person's folder only", async () => {
  await using server = strictServer([{ text: "Hello." }], { models: ["test"] });
  const own = JSON.stringify({ local: true, host: server.url, model: "test" });
  await withFile(own, async (_, folder) => {
    const cwd = await Deno.makeTempDir();
    await Deno.writeTextFile(`${cwd}/config.json`, '{"host": "http://127.0.0.1:9"}');
    const ran = await run(["-p", "hi"], { cwd, env: { XDG_CONFIG_HOME: folder } });
    await Deno.remove(cwd, { recursive: true });
    assertEquals([ran.code, ran.stdout], [0, "Hello.\n"], ran.stderr);
    // What only a session refuses is of the file, too.
    await Deno.writeTextFile(`${folder}/copilot/config.json`, '{"local": true, "max-turns": 0}');
    const { stderr } = await run(["-p", "hi"], { env: { XDG_CONFIG_HOME: folder } });
    assertMatch(stderr, /^copilot: Cannot use "max-turns" in config\.json as it must be a whole/);
  });
});

for (
  const [given, host] of [
    ["127.0.0.1:9999", "http://127.0.0.1:9999"],
    ["0.0.0.0", "http://127.0.0.1:11434"],
    ["gpu", "http://gpu:11434"],
    ["https://gpu.example", "https://gpu.example"],
    ["http://gpu/", "http://gpu:11434"],
    ["gpu:8080/", "http://gpu:8080"],
    ["gpu:8080/v1", "http://gpu:8080"],
    ["http://gpu:8080/api", "http://gpu:8080"],
    [":8080", "http://127.0.0.1:8080"],
    ["[::]:8080", "http://127.0.0.1:8080"],
    [" gpu ", "http://gpu:11434"],
    [" ", "http://localhost:11434"],
    ["", "http://localhost:11434"],
  ] as const
) {
  Deno.test(`OLLAMA_HOST=${given}`, () => {
    const env = { get: (name: string) => name === "OLLAMA_HOST" ? given : undefined };
    assertEquals(toConfig({ local: true }, env).local!.host, host);
    assertEquals(toConfig({ local: true, host: "http://x:1" }, env).local!.host, "http://x:1");
  });
}

Deno.test("OLLAMA_HOST that is no address is wrong usage", () => {
  const env = { get: () => "http://" };
  assertThrows(() => toConfig({ local: true }, env), UsageError, "OLLAMA_HOST is not an address");
});

Deno.test("config.json: settings of a model count for that model, over those for all", () =>
  withFile(
    '{"temperature": 0.2, "models": {"qwen3:8b": {"temperature": 0.6, "top-k": 20}, "a:latest": {"think": "on"}}}',
    (env) => {
      assertEquals(withDefaults({ model: "qwen3:8b" }, env), {
        ...{ model: "qwen3:8b", temperature: "0.6", "top-k": "20" },
      });
      assertEquals(withDefaults({ model: "qwen3:8b", temperature: "1" }, env).temperature, "1");
      assertEquals(withDefaults({ model: "a" }, env), {
        model: "a",
        temperature: "0.2",
        think: "on",
      });
      assertEquals(withDefaults({ model: "b" }, env), { model: "b", temperature: "0.2" });
      assertEquals(withDefaults({}, env), { temperature: "0.2" });
    },
  ));

Deno.test("config.json: /model NAME takes up the settings of that model, and drops those of the one before", () =>
  withFile(
    '{"temperature": 0.2, "models": {"a": {"temperature": 0.6, "top-k": 20, "sampling": "server"}, "b": {"prompt-tier": "lean"}}}',
    (env) => {
      const first = toConfig({ local: true, model: "x", temperature: 0.2, topP: 0.5 });
      const a = modelFlags.at("a", first, env);
      const { model, temperature, topK, topP, sampling } = a.local!;
      assertEquals([model, temperature, topK, topP, sampling], ["a", 0.6, 20, 0.5, "server"]);
      const b = modelFlags.at("b", a, env);
      assertEquals([b.local!.temperature, b.local!.topK, b.local!.topP], [0.2, undefined, 0.5]);
      assertEquals([b.local!.sampling, b.promptTier], ["auto", "lean"]);
      assertEquals(modelFlags.at("c", b, env).promptTier, "auto");
      // What was set meanwhile stays.
      const set = { local: { ...a.local!, topK: 7 } };
      assertEquals(modelFlags.at("c", set, env).local!.topK, 7);
    },
  ));

Deno.test("config.json: settings of a model that are none are refused", async () => {
  for (
    const [models, message] of [
      ['["m"]', "models"],
      ['{"m": 1}', "models"],
      ['{"m": {"host": "h"}}', "with no settings but temperature, top-p, "],
      ['{"m": {"top-k": {}}}', "top-k"],
    ] as const
  ) {
    await withFile(`{"models": ${models}}`, (env) => {
      assertThrows(() => withDefaults({ model: "m" }, env), UsageError, message);
    });
  }
});
