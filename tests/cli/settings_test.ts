import { assertEquals, assertThrows } from "@std/assert";
import { type Args, FLAGS, parseArgs } from "../../src/cli/args.ts";
import { modelFlags, optionsFromArgs, sessionOptions, toConfig } from "../../src/cli/settings.ts";
import { UsageError } from "../../src/errors.ts";
import { openPermissions } from "../../src/safety/permissions.ts";
import { run } from "../helpers/program.ts";
import { modelArgument } from "../../src/ui/server_settings.ts";
import { strictServer } from "../helpers/strict_server.ts";

const env = (values: Record<string, string>) => ({ get: (name: string) => values[name] });
const config = (words: string[], values: Record<string, string> = {}) =>
  toConfig(optionsFromArgs(parseArgs(words)), env(values));

const refused: [words: string[], env: Record<string, string>, message: string][] = [
  [[], {}, "No API key: set OPENAI_API_KEY"],
  [[], { OPENAI_API_KEY: "" }, "No API key: set OPENAI_API_KEY"],
  [[], { OPENAI_API_KEY: "  " }, "No API key: set OPENAI_API_KEY"],
  [["--hosted"], { OPENAI_API_KEY: "x" }, "No API key: set ANTHROPIC_API_KEY"],
  [["--api-key", ""], { OPENAI_API_KEY: "x" }, "--api-key is empty"],
  [["--local", "--hosted"], {}, "--local and --hosted exclude each other"],
  [["--local", "--base-url", "http://x:1"], {}, "--local takes --host"],
  [["--host", "http://x:1"], {}, "--host needs --local"],
  [["--base-url", "https://api.openai.com/v1"], {}, "No API key: set OPENAI_API_KEY"],
  [
    ["--hosted", "--base-url", "https://api.anthropic.com"],
    {},
    "No API key: set ANTHROPIC_API_KEY",
  ],
  [["--use-compat"], {}, "--use-compat needs --local"],
  [["--hosted", "--use-compat"], {}, "--use-compat needs --local"],
  [["--keep-alive", "1m"], {}, "--keep-alive needs --local"],
  [["--local", "--temperature", "Infinity"], {}, "--temperature must be a number"],
  [["--local", "--temperature", " "], {}, "--temperature must be a number"],
  [[], { OPENAI_API_KEY: "two words" }, "Cannot use OPENAI_API_KEY as it must be printable ASCII"],
  [[], { OPENAI_API_KEY: "schlüssel" }, "Cannot use OPENAI_API_KEY as it must be printable ASCII"],
  [["--local", "--max-tokens", "many"], {}, '--max-tokens must be a number: it is "many"'],
  [["--local", "--idle-timeout", ""], {}, '--idle-timeout must be a number: it is ""'],
];

Deno.test("settings that contradict each other are refused; those of config.json are for other servers", () => {
  for (const [words, values, message] of refused) {
    assertThrows(() => config(words, values), UsageError, message, words.join(" "));
  }
  const ofFile = { "keep-alive": "1h", "min-p": "0.1", "repeat-penalty": "1.1" };
  const left = (words: string[], args: Args) => {
    const given = parseArgs(words);
    const options = optionsFromArgs({ ...args, ...given, given });
    return Object.entries({ keepAlive: 0, minP: 0, repeatPenalty: 0, textTools: 0, ...options })
      .flatMap(([name, value]) => value && /keep|min|penalty|tools/i.test(name) ? [name] : []);
  };
  const all: Args = { ...ofFile, "text-tools": true };
  assertEquals(left(["--local"], all), ["keepAlive", "minP", "repeatPenalty", "textTools"]);
  assertEquals(left(["--base-url", "u"], all), ["minP", "repeatPenalty", "textTools"]);
  assertEquals(left(["--hosted", "--min-p", "0.2"], all), ["minP"]);
});

Deno.test("keys come from the flag, else the environment; a server of one's own needs none", () => {
  assertEquals(config([], { OPENAI_API_KEY: " k \n" }).compat?.apiKey, "k");
  assertEquals(config(["--api-key", "f"], { OPENAI_API_KEY: "k" }).compat?.apiKey, "f");
  assertEquals(config(["--hosted"], { ANTHROPIC_API_KEY: "h" }).hosted?.apiKey, "h");
  assertEquals(config(["--base-url", "http://localhost:8080/v1"]).compat?.apiKey, "");
  assertEquals(config(["--local"], { OPENAI_API_KEY: "k" }).local?.apiKey, "");
});

Deno.test("flags reach the configuration", () => {
  const { local } = config([
    ..."--local --host http://h:1/ -m m --use-compat --max-tokens 9".split(" "),
    ..."--temperature 1.5 --first-token-timeout 3 --idle-timeout 0.5".split(" "),
  ]);
  assertEquals(local, {
    model: "m",
    host: "http://h:1",
    useCompat: true,
    maxTokens: 9,
    temperature: 1.5,
    firstTokenTimeoutMs: 3000,
    idleTimeoutMs: 500,
    connectTimeoutMs: 10_000,
    sampling: "auto",
    maxRetries: 4,
    apiKey: "",
  });
});

Deno.test("more flags reach the configuration", () => {
  for (
    const [word, think] of [["on", true], ["off", false], ["low", "low"], ["high", "high"]] as const
  ) {
    assertEquals(config(["--local", "--think", word]).local?.think, think);
  }
  const { promptTier, local } = config([
    ..."--local --prompt-tier lean --keep-alive 5m --connect-timeout 2".split(" "),
  ]);
  assertEquals([promptTier, local?.keepAlive, local?.connectTimeoutMs], ["lean", "5m", 2000]);
  assertEquals("promptTier" in config(["--local"]), false);
});

Deno.test("a variable that cannot be read is told of without its value; other errors stay", () => {
  const failing = (error: Error) => () =>
    toConfig({}, {
      get: (name) => {
        if (name.endsWith("_API_KEY")) throw error;
        return undefined;
      },
    });
  const told = assertThrows(failing(new Deno.errors.InvalidData("secret")), UsageError);
  assertEquals(/OPENAI_API_KEY.*printable/.test(told.message), true, told.message);
  assertEquals(told.message.includes("secret"), false);
  const denied = new Deno.errors.NotCapable("no access to the environment");
  assertThrows(failing(denied), Deno.errors.NotCapable);
});

const permissions = openPermissions({}, () => undefined);
/** Words, and the options of a session that differ from those without any. */
const SESSIONS: [words: string[], options: Record<string, unknown>][] = [
  [["-m", "m"], { isChosen: true }],
  [["-C", "/f"], { folder: "/f" }],
  [["--yes"], { keepsMode: false }],
  [["--trust"], { trust: true }],
  [["--demo"], {
    readsFolder: false,
    isRecorded: false,
    asksAtStart: false,
    demoUrl: "http://localhost:11434",
  }],
  [["--no-session"], { isRecorded: false }],
  [["--continue"], { resumesNewest: true }],
];

Deno.test("what flags mean for a session", () => {
  const settings = config(["--local"]);
  const of = (words: string[]) => {
    const args = parseArgs(words);
    const { extensions: _, ...options } = sessionOptions(
      settings,
      optionsFromArgs(args),
      args,
      permissions,
    );
    return options;
  };
  const plain = {
    config: settings,
    isChosen: false,
    folder: undefined,
    permissions,
    trust: undefined,
    systemPrompt: undefined,
    appendedPrompt: undefined,
    notice: undefined,
  };
  const common = { ...plain, readsFolder: true, isRecorded: true };
  const none = {
    ...common,
    resumesNewest: false,
    canUndo: true,
    keepsMode: true,
    asksAtStart: true,
    modelFlags,
  };
  assertEquals<Record<string, unknown>>({ ...of([]) }, none);
  for (const [words, options] of SESSIONS) {
    assertEquals<Record<string, unknown>>({ ...of(words) }, { ...none, ...options });
  }
});

Deno.test("the context length is the flag's, else what the model was made for, up to 32768", async () => {
  const chat = { text: "Hello." };
  for (
    const [flags, expected] of [[[], 32_768], [["--context-length", "5000"], 5000], [
      ["--use-compat"],
      undefined,
    ]] as const
  ) {
    await using server = strictServer([chat], { models: ["test"] });
    const ran = await run(["--local", "--host", server.url, "-m", "test", "-p", "hi", ...flags]);
    assertEquals(ran.code, 0, ran.stderr);
    const { options } = server.requests[0]!.body as { options?: { num_ctx?: number } };
    assertEquals(options?.num_ctx, expected, `${flags}`);
  }
});

Deno.test("/model takes the flags of a model, and no others", () => {
  const here = toConfig({ baseUrl: "http://gpu:8080/v1", model: "own", temperature: 0.5 });
  const parse = (words: string) => modelFlags.parse(words.split(" "), here);
  const { config: named, isChosen } = parse("--local -m other --think on");
  assertEquals([named.local?.model, named.local?.think, isChosen], ["other", true, true]);
  assertEquals(parse("--local").isChosen, false);
  // Without a server, it is the same one: never the default, which is somebody else's.
  assertEquals(parse("--think off").config, { compat: { ...here.compat!, think: false } });
  assertEquals(parse("-m other").config, { compat: { ...here.compat!, model: "other" } });
  assertThrows(() => parse("--keep-alive 5m"), UsageError, "--keep-alive needs --local");
  // What /setup selects, also a file whose name has a space.
  const [at, host] = ["http://other:8080/v1", "http://other:11434"];
  for (const name of ["m", "my model.gguf"]) {
    const spec = modelArgument({ "base-url": at, model: name });
    const { compat } = spec.startsWith("-") ? parse(spec).config : modelFlags.at(spec, here);
    assertEquals([compat?.baseUrl, compat?.model], [at, name]);
  }
  assertEquals(parse(modelArgument({ local: true, host })).config.local?.host, host);
  assertThrows(
    () => parse("--base-url x"),
    UsageError,
    "Cannot use --base-url as it must be a URL",
  );
  assertThrows(
    () => toConfig({ hosted: true }, { get: () => undefined }, true),
    UsageError,
    'No API key: put it under "keys" in config.json. For a model of your own use --local or --base-url',
  );
  for (const { name, ...flag } of FLAGS) {
    const value = "values" in flag && Array.isArray(flag.values) ? flag.values[0] : "1";
    const words = "value" in flag ? [`--${name}`, value] : [`--${name}`];
    if ([...modelFlags.names, "--api-key"].includes(`--${name}`)) continue;
    assertThrows(() => modelFlags.parse(words, here), UsageError, `/model does not take --${name}`);
  }
});

Deno.test("sampling flags reach the configuration", () => {
  const flags = "--local --top-p 0.8 --top-k 20 --min-p 0 --repeat-penalty 1.05 --sampling server";
  const { topP, topK, minP, repeatPenalty, temperature, sampling } = config(flags.split(" "))
    .local!;
  assertEquals([topP, topK, minP, repeatPenalty, temperature, sampling], [
    ...[0.8, 20, 0, 1.05, undefined, "server"],
  ]);
  assertEquals(config(["--hosted", "--api-key", "k"]).hosted!.temperature, 0.1);
  const rows = [
    ["--local --top-p 2", "topP as it must be a number from 0 to 1"],
    ["--local --top-k 1.5", "topK as it must be a whole number"],
    ["--hosted --api-key k --min-p 0.1", "need a server of your own"],
  ] as const;
  for (const [words, message] of rows) {
    assertThrows(() => config(words.split(" ")), Error, message);
  }
});
