import { assertEquals, assertThrows } from "@std/assert";
import { FLAGS, parseArgs } from "../../src/cli/args.ts";
import { modelFlags } from "../../src/cli/settings.ts";
import { UsageError } from "../../src/errors.ts";
import { optionsFromArgs, toConfig } from "../../src/cli/settings.ts";
import { run } from "../helpers/program.ts";
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
  [["--use-compat"], {}, "--use-compat needs --local"],
  [["--local", "--max-tokens", "many"], {}, '--max-tokens must be a number: it is "many"'],
  [["--local", "--idle-timeout", ""], {}, '--idle-timeout must be a number: it is ""'],
];

Deno.test("settings that contradict each other are refused", () => {
  for (const [words, values, message] of refused) {
    assertThrows(() => config(words, values), UsageError, message, words.join(" "));
  }
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
    repeatPenalty: 1.2,
    frequencyPenalty: 0,
    maxRetries: 4,
    apiKey: "",
  });
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
  const { config: named, isChosen } = modelFlags.parse(["--local", "-m", "other", "--think", "on"]);
  assertEquals([named.local?.model, named.local?.think, isChosen], ["other", true, true]);
  assertEquals(modelFlags.parse(["--local"]).isChosen, false);
  for (const { name, ...flag } of FLAGS) {
    const words = "value" in flag ? [`--${name}`, "x"] : [`--${name}`];
    if ([...modelFlags.names, "--api-key"].includes(`--${name}`)) continue;
    assertThrows(() => modelFlags.parse(words), UsageError, `/model does not take --${name}`);
  }
});
