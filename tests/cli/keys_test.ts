import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { CopilotAgent } from "../../src/agent/agent.ts";
import { processTurn } from "../../src/agent/turn.ts";
import { parseArgs } from "../../src/cli/args.ts";
import { unsentKey } from "../../src/cli/keys.ts";
import { unsentKeyText } from "../../src/session/notices.ts";
import { modelFlags, optionsFromArgs, toConfig } from "../../src/cli/settings.ts";
import { BackendError, UsageError } from "../../src/errors.ts";
import { addressOf } from "../../src/models/model_server.ts";
import { listModels } from "../../src/models/ollama/model_list.ts";
import { targetOf } from "../../src/models/target.ts";
import { fakeSession } from "../helpers/fake_session.ts";
import { run } from "../helpers/program.ts";
import { json, respond, serve, sse } from "../helpers/server.ts";
import { strictServer } from "../helpers/strict_server.ts";
import { tempFolder } from "../helpers/temp_folder.ts";

const KEYS = { OPENAI_API_KEY: "env-compat", ANTHROPIC_API_KEY: "env-hosted" };
const HTTP = /^\w+_API_KEY is not sent over http$/;
const USERINFO = /^\w+_API_KEY is not sent: .* goes to (evil|gpu)(\.example)? instead$/;

/** The key that a command line leads to, and what is told of one that is left out. */
function resolved(line: string, more: Record<string, string>) {
  const env = { get: (name: string) => ({ ...KEYS, ...more })[name] };
  const config = toConfig(optionsFromArgs(parseArgs(line.split(" ").filter(Boolean))), env);
  const unsent = unsentKey(config, env);
  return { key: targetOf(config).apiKey, notice: unsent && unsentKeyText(unsent, "flags").text };
}

const ROWS: [line: string, env: Record<string, string>, key: string, notice?: RegExp][] = [
  // The default address, and https addresses that the person named.
  ["", {}, "env-compat"],
  ["--hosted", {}, "env-hosted"],
  ["--base-url https://gpu.example/v1", {}, "env-compat"],
  ["--base-url HTTPS://GPU.EXAMPLE:8443/v1/", {}, "env-compat"],
  ["--base-url https://api.openai.com./v1", {}, "env-compat"],
  ["--base-url https://127.0.0.1:8080/v1", {}, "env-compat"],
  ["--hosted --base-url https://proxy.example", {}, "env-hosted"],
  ["", { OPENAI_BASE_URL: "https://gpu.example/v1" }, "env-compat"],
  ["--hosted", { ANTHROPIC_BASE_URL: " https://gpu.example " }, "env-hosted"],
  ["", { OPENAI_BASE_URL: " " }, "env-compat"],
  ["--hosted", { OPENAI_BASE_URL: "http://gpu:8080/v1" }, "env-hosted"],
  // Never over http, however it is written.
  ["--base-url http://gpu.example/v1", {}, "", HTTP],
  ["--base-url http://localhost:8080/v1", {}, "", HTTP],
  ["--base-url http://127.0.0.1:8080/v1", {}, "", HTTP],
  ["--base-url http://[::1]:8080/v1", {}, "", HTTP],
  ["--base-url [::1]:8080", {}, "", HTTP],
  ["--base-url localhost:8080/v1", {}, "", HTTP],
  ["--base-url api.openai.com:443", {}, "", HTTP],
  ["--base-url http://api.openai.com/v1", {}, "", HTTP],
  ["--base-url HTTP://API.OPENAI.COM:443/v1", {}, "", HTTP],
  ["--base-url http://https://x/v1", {}, "", HTTP],
  ["--base-url http:\\\\evil\\v1", {}, "", HTTP],
  ["--hosted --base-url http://localhost:8080", {}, "", HTTP],
  ["", { OPENAI_BASE_URL: "http://gpu:8080/v1" }, "", HTTP],
  ["", { OPENAI_BASE_URL: "gpu:8080" }, "", HTTP],
  ["--hosted", { ANTHROPIC_BASE_URL: "http://localhost:1" }, "", HTTP],
  // What reads like one host and is a user name for another; a name and password go instead of a key.
  ["--base-url https://api.openai.com@evil.example/v1", {}, "", USERINFO],
  ["--base-url https://api.openai.com:443@evil.example/v1", {}, "", USERINFO],
  ["--base-url https://:secret@gpu.example/v1", {}, "", USERINFO],
  ["--hosted --base-url https://api.anthropic.com%2f@evil.example", {}, "", USERINFO],
  ["--base-url http://u:p@gpu/v1", {}, "", USERINFO],
  // A key that was given for this run goes where it is given for; a local server gets no other.
  ["--base-url http://gpu/v1 --api-key own", {}, "own"],
  ["--hosted --base-url http://gpu --api-key own", {}, "own"],
  ["--local --host https://gpu.example", {}, ""],
  ["--local --host http://gpu:1 --api-key own", {}, "own"],
  ["--base-url http://gpu/v1", { OPENAI_API_KEY: " " }, ""],
];

for (const [line, env, key, notice] of ROWS) {
  const name = `${line} ${Object.entries(env).map((one) => one.join("=")).join(" ")}`.trim();
  Deno.test(`R-12 the key in the environment with: ${name || "no flag"}`, () => {
    const found = resolved(line, env);
    assertEquals(found.key, key);
    if (notice === undefined) assertEquals(found.notice, undefined);
    else assertMatch(found.notice!, notice);
  });
}

Deno.test("R-12 a bad address in the environment is named, and not quoted where it may hold a secret", () => {
  for (const [address, shown] of [["ftp://x", '"ftp://x"'], ["http://u:canary@ x", "hidden"]]) {
    const error = assertThrows(() => resolved("", { OPENAI_BASE_URL: address! }), UsageError);
    assertMatch(error.message, /^Cannot use OPENAI_BASE_URL as it must /);
    assert(error.message.endsWith(shown!) && !error.message.includes("canary"), error.message);
  }
});

/** Calls `use` with a folder of settings whose `config.json` is `text`. */
async function withConfig(text: string, use: (folder: string) => Promise<void> | void) {
  using temp = tempFolder();
  const folder = temp.path;
  await Deno.mkdir(`${folder}/copilot`);
  await Deno.writeTextFile(`${folder}/copilot/config.json`, text);
  await use(folder);
}

const SAVED = {
  "http://gpu:8080/v1": "for-gpu",
  "https://Proxy.Example/team": "for-team",
  "localhost:1": "for-1",
  "https://api.anthropic.com": "for-hosted",
};

for (
  const [line, key] of [
    ["--base-url http://gpu:8080/v1", "for-gpu"],
    ["--base-url HTTP://GPU:8080/", "for-gpu"],
    ["--local --host http://gpu:8080", "for-gpu"],
    ["--base-url http://u:p@gpu:8080/v1", "for-gpu"],
    ["--base-url http://gpu:8080/v1 --api-key own", "own"],
    ["--hosted --base-url http://localhost:1", "for-1"],
    ["--hosted", "for-hosted"],
    ["--base-url https://proxy.example/team/v1", "for-team"],
    // Another server, port, scheme or path is not the address that the key is for.
    ["--base-url https://proxy.example/other/v1", "env-compat"],
    ["--base-url https://proxy.example/team2", "env-compat"],
    ["--base-url https://gpu:8080/v1", "env-compat"],
    ["--base-url http://gpu:8081/v1", ""],
    ["--base-url http://gpu/v1", ""],
    ["--base-url http://gpu.:8080/v1", ""],
    ["--base-url http://gpu:8080@evil/v1", ""],
    ["--base-url http://gpu.evil:8080/v1", ""],
    ["--base-url http://127.0.0.1:1", ""],
    ["--local --host http://gpu:8081", ""],
  ] as const
) {
  Deno.test(`R-12 the key that config.json has for an address, with: ${line}`, () =>
    withConfig(JSON.stringify({ keys: SAVED }), (folder) => {
      assertEquals(resolved(line, { XDG_CONFIG_HOME: folder, APPDATA: folder }).key, key);
    }));
}

for (
  const keys of [
    `"canary"`,
    `{"http://gpu": 7}`,
    `{"http://gpu": "canary key"}`,
    `{"canary": "x"}`,
    `{"http://u:canary@ gpu": "x"}`,
    `{"http://gpu": "canary"`,
  ]
) {
  Deno.test(`R-12 SEC-02 keys in config.json that are none are wrong usage, not quoted: ${keys}`, () =>
    withConfig(`{"keys": ${keys}}`, async (folder) => {
      const args = ["--base-url", "http://127.0.0.1:1/v1", "-p", "x"];
      const ran = await run(args, { env: { XDG_CONFIG_HOME: folder, APPDATA: folder } });
      assertEquals([ran.code, ran.stdout], [2, ""], ran.stderr);
      assertMatch(ran.stderr, /^copilot: Cannot (use "keys" in|read) .*config\.json.*\n$/);
      assertEquals(ran.stderr.includes("canary"), false, ran.stderr);
    }));
}

const answer = sse([
  { choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: "stop" }] },
  "[DONE]",
]);

Deno.test("R-12 over http a server gets no key but its own; one line says what to set", async () => {
  await using server = serve(answer);
  const at = `${server.url}/v1`;
  const told =
    `· OPENAI_API_KEY is not sent over http. If ${at} needs a key, pass it with --api-key, or put it under "keys" in config.json\n`;
  const sent = () => server.requests.map(({ headers }) => headers.get("authorization"));
  await withConfig(JSON.stringify({ keys: { [at]: "saved" } }), async (folder) => {
    const own = { XDG_CONFIG_HOME: folder, APPDATA: folder };
    const args = ["-m", "test", "-p", "x"];
    const ways: [args: string[], env: Record<string, string>, key: string | null][] = [
      [["--base-url", at], {}, null],
      [[], { OPENAI_BASE_URL: at }, null],
      [["--base-url", at, "--api-key", "own"], {}, "Bearer own"],
      [["--base-url", at], own, "Bearer saved"],
    ];
    for (const [words, env, key] of ways) {
      server.requests.length = 0;
      const ran = await run([...words, ...args], { env: { ...KEYS, ...env } });
      assertEquals([ran.code, ran.stdout], [0, "Hi\n"], ran.stderr);
      assertEquals(ran.stderr, key === null ? told : "", `${words}`);
      assertEquals([...new Set(sent())], [key], `${words}`);
    }
  });
});

Deno.test("R-12 doctor says that the key is left out, and that it is not where it is given", async () => {
  const call = { toolCalls: [{ name: "list_directory", arguments: { path: "." } }] };
  const steps = [{ text: "ready" }, call, { text: "A README." }];
  await using server = strictServer([...steps, ...steps]);
  for (const own of [[], ["--api-key", "own"]]) {
    const args = ["doctor", "--base-url", `${server.url}/v1`, "-m", "test", "--json", ...own];
    const { code, stdout } = await run(args, { env: KEYS });
    const checks: { name: string; status: string; text: string }[] = JSON.parse(stdout).checks;
    const row = checks.find(({ name }) => name === "key");
    assertEquals([code, row?.status], [0, own.length > 0 ? undefined : "note"], stdout);
  }
  const key = (at: number) => server.requests[at]!.headers.get("authorization");
  assertEquals([0, 3].map(key), [null, "Bearer own"]);
});

Deno.test("R-12 /model leaves the key out over http, and says so", async () => {
  await using server = strictServer([{ text: "Hi" }], { models: ["test"] });
  const before = Deno.env.get("OPENAI_API_KEY");
  Deno.env.set("OPENAI_API_KEY", "sk-env");
  try {
    await using fake = await fakeSession("http://127.0.0.1:1", { modelFlags });
    await fake.command(`/model --base-url ${server.url}/v1 -m test`);
    assertMatch(fake.notices().at(-1)!, /^OPENAI_API_KEY is not sent over http\. If http/);
    assertEquals(targetOf(fake.session.agent.config).apiKey, "");
    await fake.session.prompt([{ type: "text", text: "x" }], new AbortController().signal);
    assertEquals(server.requests[0]!.headers.get("authorization"), null);
  } finally {
    if (before === undefined) Deno.env.delete("OPENAI_API_KEY");
    else Deno.env.set("OPENAI_API_KEY", before);
  }
});

/** The configuration of a command line, with the settings in `folder` and the variable `SECRET`. */
function configOf(line: string, folder: string) {
  const env: Record<string, string> = { XDG_CONFIG_HOME: folder, APPDATA: folder };
  const get = (name: string) => ({ ...env, SECRET: "canary-42" })[name];
  return { env: get, config: toConfig(optionsFromArgs(parseArgs(line.split(" "))), { get }) };
}

const OWN = { "X-Team": "red", Authorization: "Custom ${SECRET}", "User-Agent": "own/1" };
const own = (headers: Headers) =>
  ["x-team", "authorization", "user-agent"].map((name) => headers.get(name));

for (const way of ["--local --host URL", "--base-url URL/v1", "--hosted --base-url URL"]) {
  Deno.test(`the headers of config.json go to their server alone, with: ${way}`, async () => {
    await using server = strictServer([{ text: "Hi" }]);
    await using other = strictServer([{ text: "Hi" }]);
    await withConfig(JSON.stringify({ headers: { [server.url]: OWN } }), async (folder) => {
      const line = (url: string) => `${way.replace("URL", url)} --api-key key -m test`;
      const { config, env } = configOf(line(server.url), folder);
      await processTurn(new CopilotAgent(config, folder), "x");
      assertEquals(own(server.requests[0]!.headers), ["red", "Custom canary-42", "own/1"]);
      const elsewhere = configOf(line(other.url), folder).config;
      await processTurn(new CopilotAgent(elsewhere, folder), "x");
      assertEquals(own(other.requests[0]!.headers)[0], null);
      // Another model, server or role in a session.
      const { at } = modelFlags;
      const configs = [
        at("new", config, env),
        at(`${server.url}/v1#a`, elsewhere, env),
        at("b", elsewhere, env),
      ];
      const teams = configs.map((one) => targetOf(one).headers?.["x-team"]);
      assertEquals(teams, ["red", "red", undefined]);
    });
  });
}

Deno.test("SEC-03 no header goes with a redirect, and no error shows its value", async () => {
  await using other = serve(answer);
  const list = json({ data: [{ id: "test" }] });
  const answers = [
    respond(307, { location: `${other.url}/v1/chat/completions` }),
    json({ error: { message: "no access for canary-42" } }, 400),
  ];
  await using server = serve((request, peer) =>
    (request.method === "GET" ? list : answers.shift()!)(request, peer)
  );
  await withConfig(JSON.stringify({ headers: { [`${server.url}/v1`]: OWN } }), async (folder) => {
    const { config } = configOf(`--base-url ${server.url}/v1 -m test`, folder);
    assertEquals((await listModels(false, addressOf(targetOf(config)), false)).length, 1);
    for (let times = 0; times < 2; times++) {
      const turn = () => processTurn(new CopilotAgent(config, folder), "x");
      const { message } = await assertRejects(turn, BackendError);
      assertEquals(message.includes("canary"), false, message);
    }
    const heads = server.requests.map(({ head }) => head);
    assertEquals(heads.every((head) => head.includes("\r\nx-team: red\r\n")), true, heads.join());
    assertEquals(other.requests.length, 0);
  });
});

const WRONG_HEADERS: [headers: string, told: string][] = [
  [`"canary"`, "it must be like {"],
  [`{"canary": {}}`, "it must be like {"],
  [`{"http://u:canary@gpu": "canary"}`, "it must be like {"],
  [`{"http://u:canary@gpu": {"X-A": 7}}`, '"X-A" of http://gpu must be text without'],
  [`{"http://gpu/v1": {"X-A": "canary\\n"}}`, '"X-A" of http://gpu must be text without'],
  [`{"http://gpu": {"X A": ""}}`, '"X A" of http://gpu must be the name of a header'],
  [`{"http://gpu": {"Host": "canary"}}`, '"Host" of http://gpu must be the name of a header'],
  [`{"http://gpu": {"content-length": "1"}}`, '"content-length" of http://gpu must be the name'],
  [
    `{"http://gpu": {"X-A": "\${GONE}"}}`,
    '"X-A" of http://gpu must use variables that are set: GONE is not set',
  ],
];
for (const [headers, told] of WRONG_HEADERS) {
  Deno.test(`SEC-02 headers in config.json that cannot be sent are named, not quoted: ${headers}`, () =>
    withConfig(`{"headers": ${headers}}`, (folder) => {
      const made = () => configOf("--local", folder);
      const { message } = assertThrows(made, UsageError, `config.json as ${told}`);
      assertEquals([message.includes("canary"), message.includes("\n")], [false, false]);
    }));
}
