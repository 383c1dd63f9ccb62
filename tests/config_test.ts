import { assertEquals, assertThrows } from "@std/assert";
import {
  compatConfig,
  type CopilotConfig,
  copilotConfig,
  hostedConfig,
  localConfig,
  VERSION,
} from "../src/config.ts";

Deno.test("the defaults are the specification's", () => {
  const connection = {
    maxRetries: 4,
    connectTimeoutMs: 10_000,
    firstTokenTimeoutMs: 600_000,
    idleTimeoutMs: 120_000,
  };
  assertEquals(localConfig({ model: "m" }), {
    model: "m",
    host: "http://localhost:11434",
    maxTokens: 32768,
    temperature: 0.1,
    repeatPenalty: 1.2,
    frequencyPenalty: 0,
    useCompat: false,
    apiKey: "",
    ...connection,
  });
  assertEquals(hostedConfig({ apiKey: "k" }), {
    apiKey: "k",
    model: "claude-sonnet-4-20250514",
    baseUrl: "https://api.anthropic.com",
    maxTokens: 8192,
    temperature: 0.1,
    apiVersion: "2023-06-01",
    ...connection,
  });
  assertEquals(compatConfig(), {
    apiKey: "",
    model: "gpt-4o",
    baseUrl: "https://api.openai.com/v1",
    ...connection,
  });
});

const hosts: [given: string, host: string | null][] = [
  ["http://localhost:11434", "http://localhost:11434"],
  ["http://localhost:11434/", "http://localhost:11434"],
  ["localhost", "http://localhost"],
  ["localhost:8080/v1/", "http://localhost:8080"],
  ["192.168.0.2:11434", "http://192.168.0.2:11434"],
  ["[::1]:11434", "http://[::1]:11434"],
  [" https://gpu.example/ollama ", "https://gpu.example/ollama"],
  // The path of an endpoint, as it stands in many examples.
  ["http://gpu:8080/v1/chat/completions", "http://gpu:8080"],
  ["gpu:8080/v1/models/", "http://gpu:8080"],
  ["http://gpu:11434/api/chat", "http://gpu:11434"],
  ["http://gpu:11434/api/tags", "http://gpu:11434"],
  ["http://gpu:11434/api/", "http://gpu:11434"],
  ["https://gpu.example/models", "https://gpu.example/models"],
  ["https://gpu.example/api/chats", "https://gpu.example/api/chats"],
  ["", null],
  ["not a url", null],
  ["nonsense", null],
  ["http//x", null],
  ["http://", null],
  ["ftp://x", null],
  ["file:///etc/passwd", null],
  ["javascript:alert(1)", null],
  ["http://x?key=1", null],
  ["http://x#y", null],
  ["http://user:secret@x/", "http://user:secret@x"],
  ["http://user:secret@not a host", null],
  ["http://user:secret/@x", null],
  ["user:secret@x", null],
  ["http://x?key=secret", null],
  ["http://x/#secret", null],
  ["ftp://secret@x", null],
  ["http://x:99999", null],
];

Deno.test("complete settings that were changed are checked, and another object is returned", () => {
  const whole = compatConfig({ model: "m", apiKey: "k" });
  assertEquals(compatConfig(whole), whole);
  assertEquals(compatConfig(whole) === whole, false);
  whole.temperature = 99;
  assertThrows(() => compatConfig(whole), RangeError, "temperature");
});

Deno.test("addresses", () => {
  const given = "https://x.example/v1/";
  assertEquals(hostedConfig({ apiKey: "k", baseUrl: given }).baseUrl, "https://x.example");
  assertEquals(compatConfig({ baseUrl: given }).baseUrl, "https://x.example/v1");
  for (
    const [given, baseUrl] of [
      ["https://x.example/api/v1/chat/completions", "https://x.example/api/v1"],
      ["https://x.example/api/chat/completions/", "https://x.example/api"],
      ["https://x.example/v1/models", "https://x.example/v1"],
      ["https://x.example/models", "https://x.example/models"],
      ["x.example:11434/api/generate", "http://x.example:11434/v1"],
    ]
  ) assertEquals(compatConfig({ baseUrl: given! }).baseUrl, baseUrl);
  const messages = "https://x.example/api/v1/messages";
  assertEquals(hostedConfig({ apiKey: "k", baseUrl: messages }).baseUrl, "https://x.example/api");
  for (const [given, host] of hosts) {
    if (host !== null) assertEquals(localConfig({ host: given }).host, host, given);
    else {
      const error = assertThrows(
        () => localConfig({ host: given }),
        TypeError,
        "local.host",
        given,
      );
      assertEquals(error.message.includes("secret"), false);
    }
  }
});

const bad: [make: () => unknown, error: typeof TypeError | typeof RangeError, message: string][] = [
  [
    () => localConfig({ temperature: NaN }),
    RangeError,
    "Cannot use local.temperature as it must be a number from 0 to 2: current value is NaN",
  ],
  [
    () => compatConfig({ maxTokens: -1 }),
    RangeError,
    "Cannot use compat.maxTokens as it must be a whole number of at least 1: current value is -1",
  ],
  [() => compatConfig({ maxTokens: 1.5 }), RangeError, "current value is 1.5"],
  [() => compatConfig({ maxTokens: Infinity }), RangeError, "current value is Infinity"],
  [() => compatConfig({ maxRetries: 1.5 }), RangeError, "a whole number from 0 to 100"],
  [() => compatConfig({ contextLength: 4096.5 }), RangeError, "a whole number"],
  [() => copilotConfig({ local: localConfig(), maxToolRounds: 1.5 }), RangeError, "a whole number"],
  [() => copilotConfig({ local: localConfig(), maxOutputChars: 999.5 }), RangeError, "a whole"],
  [() => localConfig({ temperature: 2.1 }), RangeError, "from 0 to 2"],
  [() => hostedConfig({ apiKey: "k", temperature: 1.1 }), RangeError, "from 0 to 1"],
  [() => localConfig({ temperature: "0.1" as unknown as number }), TypeError, "must be a number"],
  [
    () => localConfig({ model: " " }),
    RangeError,
    'Cannot use local.model as it must not be empty: current value is " "',
  ],
  [() => localConfig({ model: null as unknown as string }), TypeError, "must be a string"],
  [() => localConfig({ useCompat: 1 as unknown as boolean }), TypeError, "must be a boolean"],
  [() => localConfig({ frequencyPenalty: 3 }), RangeError, "from -2 to 2"],
  [() => localConfig({ idleTimeoutMs: 0 }), RangeError, "of at least 1"],
  [() => localConfig({ nope: 1 } as unknown as { model: string }), TypeError, "no such setting"],
  [() => hostedConfig({ apiKey: "" }), RangeError, "ANTHROPIC_API_KEY"],
  [() => compatConfig({ apiKey: "a\nb" }), RangeError, "printable ASCII"],
  [() => copilotConfig({} as CopilotConfig), TypeError, "exactly one"],
  [
    () =>
      copilotConfig({ local: localConfig(), compat: compatConfig() } as unknown as CopilotConfig),
    TypeError,
    "2 are",
  ],
  [() => copilotConfig({ local: localConfig(), maxToolRounds: 0 }), RangeError, "maxToolRounds"],
  [
    () => copilotConfig({ local: localConfig(), promptTier: "big" as "full" }),
    RangeError,
    'Cannot use config.promptTier as it must be one of auto, lean, full: current value is "big"',
  ],
  // 80 characters of a value are shown, quotes included, and of more the first ones.
  ...([[78, `"${"x".repeat(78)}"`], [79, `"${"x".repeat(76)}...`]] as const).map((
    [length, shown],
  ): typeof bad[number] => [
    () => localConfig({ temperature: "x".repeat(length) as unknown as number }),
    TypeError,
    `it must be a number: current value is ${shown}`,
  ]),
  [() => localConfig({ keepAlive: "soon" }), RangeError, "30m"],
  [() => localConfig({ think: "much" as "high" }), TypeError, "think"],
];

Deno.test("bad values are refused by name", () => {
  for (const [make, error, message] of bad) assertThrows(make, error, message);
});

Deno.test("what is no count may be a fraction; each end of a range is in it", () => {
  const ends: [setting: string, min: number, max: number, step?: number][] = [
    ["maxTokens", 1, Number.MAX_SAFE_INTEGER, 1],
    ["temperature", 0, 2],
    ["repeatPenalty", 0, 10],
    ["contextLength", 256, 2 ** 31 - 1, 1],
    ["frequencyPenalty", -2, 2],
    ["maxRetries", 0, 100, 1],
    ["connectTimeoutMs", 1, 2 ** 31 - 1],
    ["firstTokenTimeoutMs", 1, 2 ** 31 - 1],
    ["idleTimeoutMs", 1, 2 ** 31 - 1],
  ];
  for (const [setting, min, max, step = 0.1] of ends) {
    for (const value of [min, max]) {
      assertEquals({ ...localConfig({ [setting]: value }) }[setting], value);
    }
    for (const value of [min - step, max + step]) {
      assertThrows(() => localConfig({ [setting]: value }), RangeError, `local.${setting}`);
    }
    if (step === 1) assertThrows(() => localConfig({ [setting]: min + 0.5 }), RangeError);
  }
  for (const value of [-0.1, 1.1]) {
    assertThrows(() => hostedConfig({ apiKey: "k", temperature: value }), RangeError);
  }
  assertEquals(hostedConfig({ apiKey: "k", temperature: 1 }).temperature, 1);
  const settings = { maxRetries: 0, temperature: 2, frequencyPenalty: -2, contextLength: 256 };
  const config = localConfig({ ...settings, idleTimeoutMs: 1.5 });
  assertEquals(config, { ...localConfig(), ...settings, idleTimeoutMs: 1.5 });
  assertEquals(localConfig({ maxRetries: 100 }).maxRetries, 100);
  const { maxToolRounds, maxOutputChars } = copilotConfig({
    local: localConfig(),
    maxToolRounds: 1,
    maxOutputChars: 200,
  });
  assertEquals([maxToolRounds, maxOutputChars], [1, 200]);
});

Deno.test("a setting that is undefined has its default, and an agent's settings those of its backend", () => {
  const unset = { model: undefined, maxTokens: undefined, contextLength: undefined };
  assertEquals(localConfig(unset as unknown as Record<string, never>), localConfig());
  const agent = { maxToolRounds: 50, maxOutputChars: 100_000, promptTier: "auto" as const };
  const given = { ...compatConfig(), baseUrl: "https://x.example/v1/" };
  assertEquals(copilotConfig({ compat: given }), {
    ...agent,
    compat: compatConfig({ baseUrl: "https://x.example/v1" }),
  });
  const hosted = hostedConfig({ apiKey: "k" });
  assertEquals(copilotConfig({ hosted }), { ...agent, hosted });
});

Deno.test("a key is never shown in an error", () => {
  const error = assertThrows(() => compatConfig({ apiKey: "sk-CANARY\u00e9" }), RangeError);
  assertEquals(error.message.includes("CANARY"), false);
});

Deno.test("the version is deno.json's", async () => {
  const file = new URL("../deno.json", import.meta.url);
  assertEquals(VERSION, JSON.parse(await Deno.readTextFile(file)).version);
});
