import { assertEquals } from "@std/assert";
import { setUp, type SetupHome } from "../../../src/frontends/terminal/setup.ts";
import type { FoundServer } from "../../../src/session/servers.ts";
import type { ChoiceList } from "../../../src/terminal/screen/screen.ts";

const ollama: FoundServer = {
  ...{ url: "http://127.0.0.1:11434", state: "answers", isNative: true },
  models: [
    { name: "qwen3:8b", size: "8.2B", quantization: "Q4_K_M", isLoaded: true },
    { name: "two words" },
    { name: "a\x1b", contextLength: 4096, abilities: ["completion", "tools", "vision"] },
  ],
};
const llama: FoundServer = {
  ...{ url: "http://127.0.0.1:8080", state: "answers", isNative: false },
  models: [{ name: "/models/q 3.gguf", contextLength: 8192 }],
};
const studio: FoundServer = {
  ...{ url: "http://127.0.0.1:1234", state: "answers", isNative: false },
  models: [{ name: "q" }, { name: "r" }],
};
const slow: FoundServer = {
  ...{ url: "http://127.0.0.1:8000", state: "slow", isNative: false, models: [] },
};
const empty: FoundServer = { ...ollama, models: [] };
const remote: FoundServer = {
  ...{ url: "http://gpu:11434", state: "unasked", isNative: true, models: [] },
};

interface Scene {
  /** The servers at each look. */
  finds: readonly (readonly FoundServer[])[];
  /** The label of the row that is picked from each list, or null for Esc. */
  picks: readonly (string | null)[];
  keys?: readonly (string | null)[];
  /** The addresses that are typed. */
  typed?: readonly (string | null)[];
  isFirst?: boolean;
  keyIn?: string;
  /** The reason why nothing can be kept. */
  fails?: string;
}

/** Plays a scene; the rows of each list, the lines that were printed, what was kept, the choice. */
async function play(scene: Scene) {
  const { finds, picks, keys = [], typed = [], isFirst = true, keyIn, fails } = scene;
  const left = { finds: [...finds], picks: [...picks], keys: [...keys], typed: [...typed] };
  const lists: [string, string][][] = [];
  const titles: string[] = [];
  const printed: string[] = [];
  const kept: unknown[] = [];
  const limits: number[] = [];
  const home: SetupHome = {
    find(limitMs) {
      limits.push(limitMs);
      return Promise.resolve(left.finds.shift()!);
    },
    hosted: () => [{
      name: "Hosted",
      address: "https://api.example",
      settings: { hosted: true },
      keyIn,
    }],
    objection: (key) => key === "" || /^\S+$/.test(key) ? undefined : "no key",
    keep(...choice) {
      if (fails !== undefined) return Promise.reject(new Error(fails));
      kept.push(choice);
      return Promise.resolve();
    },
  };
  const screen = {
    print: (text: string) => void printed.push(text),
    choose<T>({ title, items }: ChoiceList<T>): Promise<T | null> {
      titles.push(title);
      lists.push(items.map(({ label, detail = "" }) => [label, detail]));
      const pick = left.picks.shift();
      return Promise.resolve(items.find(({ label }) => label === pick)?.value ?? null);
    },
    ask(_prompt: string, objection: (line: string) => string | undefined) {
      const line = left.typed.shift() ?? null;
      const why = line === null ? undefined : objection(line);
      if (why !== undefined) printed.push(why);
      return Promise.resolve(why === undefined ? line : null);
    },
    askHidden(_prompt: string, objection: (line: string) => string | undefined) {
      const key = left.keys.shift() ?? null;
      assertEquals(key === null ? undefined : objection(key), undefined);
      return Promise.resolve(key);
    },
  };
  const { signal } = new AbortController();
  const looks: boolean[] = [];
  const chosen = await setUp(screen, home, {
    ...{ isFirst, columns: 80, signal, onLook: (is: boolean) => void looks.push(is) },
  });
  assertEquals(left, { finds: [], picks: [], keys: [], typed: [] });
  assertEquals(looks, limits.flatMap(() => [true, false]));
  return { lists, titles, printed, kept, limits, chosen };
}

const HOSTED_ROW = ["Hosted", "paste a key · api.example"];
const ADDRESS_ROW = ["Another server", "type its address"];
const DEMO_ROW = ["Demo", "fixed rules, no model; this time only"];

Deno.test("servers are listed with their models, then hosted APIs; what is picked is kept", async () => {
  const { lists, titles, printed, kept, chosen } = await play({
    finds: [[ollama, llama, studio, slow, remote]],
    picks: ["qwen3:8b"],
  });
  assertEquals(titles, ["Which model?"]);
  assertEquals(lists as unknown, [[
    ["qwen3:8b", "8.2B Q4_K_M · loaded · Ollama, 127.0.0.1:11434"],
    ["a␛", "4k context · tools · vision · Ollama, 127.0.0.1:11434"],
    ["/models/q 3.gguf", "8k context · 127.0.0.1:8080"],
    ["q", "127.0.0.1:1234"],
    ["r", "127.0.0.1:1234"],
    ["127.0.0.1:8000", "did not answer in time: look again"],
    ["gpu:11434", "from OLLAMA_HOST; not asked yet"],
    HOSTED_ROW,
    ADDRESS_ROW,
    DEMO_ROW,
  ]]);
  const settings = { local: true, host: ollama.url, model: "qwen3:8b" };
  assertEquals<unknown>([chosen, kept], [settings, [[settings, undefined]]]);
  assertEquals(printed, [
    "· qwen3:8b at 127.0.0.1:11434: kept in config.json; /setup changes it",
  ]);
});

const PICKED: [found: FoundServer, pick: string, settings: object][] = [
  [studio, "r", { "base-url": "http://127.0.0.1:1234/v1", model: "r" }],
  // The next model that a server is started with is not refused for its name.
  [llama, "/models/q 3.gguf", { "base-url": "http://127.0.0.1:8080/v1" }],
  [remote, "gpu:11434", { local: true, host: "http://gpu:11434" }],
  [slow, "Demo", { demo: true }],
];
for (const [found, pick, settings] of PICKED) {
  Deno.test(`the settings for ${pick}`, async () => {
    const { chosen, kept } = await play({ finds: [[found, slow]], picks: [pick] });
    assertEquals<unknown>(chosen, settings);
    assertEquals(kept.length, pick === "Demo" ? 0 : 1);
  });
}

Deno.test("one server with one model is taken without a question, at the start alone", async () => {
  const first = await play({ finds: [[llama]], picks: [] });
  assertEquals<unknown>(first.chosen, { "base-url": "http://127.0.0.1:8080/v1" });
  assertEquals(first.printed, [
    "· /models/q 3.gguf at 127.0.0.1:8080: kept in config.json; /setup changes it",
  ]);
  for (const found of [[ollama], [llama, slow], [remote], [empty], [slow]]) {
    const asked = await play({ finds: [found], picks: [null] });
    assertEquals([asked.lists.length, asked.chosen], [1, undefined]);
  }
  const later = await play({ finds: [[llama]], picks: [null], isFirst: false });
  assertEquals([later.lists[0]!.at(-1), later.chosen] as unknown, [ADDRESS_ROW, undefined]);
});

Deno.test("without a server it says what to install; a second look has more time", async () => {
  const { titles, lists, limits, chosen } = await play({
    finds: [[], [empty], [slow], [llama, slow]],
    picks: ["Look again", "127.0.0.1:11434", "127.0.0.1:8000", null],
  });
  assertEquals(titles[0]!.split("\n").length, 5);
  for (const line of titles[0]!.split("\n")) assertEquals(line.length < 80, true, line);
  assertEquals(lists[0] as unknown, [
    ...[HOSTED_ROW, ADDRESS_ROW, ["Look again", "once a server runs"], DEMO_ROW],
  ]);
  assertEquals(lists[1]![0], [
    "127.0.0.1:11434",
    "Ollama without models: ollama pull qwen3:8b; look again",
  ]);
  assertEquals(limits, [300, 5000, 5000, 5000]);
  assertEquals(chosen, undefined);
});

Deno.test("a hosted API asks for its key, and none leads back to the list", async () => {
  const found = [llama, slow];
  const asked = await play({
    finds: [found, found, found],
    picks: ["Hosted", "Hosted", "Hosted"],
    keys: [null, "", " key "],
  });
  assertEquals(asked.kept, [[{ hosted: true }, { address: "https://api.example", key: "key" }]]);
  assertEquals(asked.printed, ["· Hosted: kept in config.json; /setup changes it"]);
  const known = await play({ finds: [found], picks: ["Hosted"], keyIn: "A_KEY" });
  assertEquals(known.lists[0]!.at(-3), ["Hosted", "with the key in A_KEY · api.example"]);
  assertEquals(known.kept, [[{ hosted: true }, undefined]]);
});

Deno.test("a choice that cannot be kept counts this time, but not without its key", async () => {
  const found = [llama, slow];
  const once = await play({ finds: [found], picks: ["/models/q 3.gguf"], fails: "disk\x1b full" });
  assertEquals<unknown>(once.chosen, { "base-url": "http://127.0.0.1:8080/v1" });
  assertEquals(once.printed, [
    "· /models/q 3.gguf at 127.0.0.1:8080: cannot be kept: disk␛ full",
  ]);
  const keyless = await play({
    ...{ finds: [found, found], picks: ["Hosted", null], keys: ["key"], fails: "full" },
  });
  assertEquals(keyless.chosen, undefined);
});

Deno.test("a server's address may be typed, over https with a key; an empty one leads back", async () => {
  const finds = [[llama, slow], [llama, slow], [llama, slow], [llama, slow]];
  const picks = Array(4).fill("Another server");
  const asked = await play({ finds, picks, typed: [null, " ", "gpu", " gpu:8080/v1/ "] });
  assertEquals(asked.printed, [
    'Cannot use it as it must be a URL such as http://localhost:11434: current value is "gpu"',
    "· gpu:8080: kept in config.json; /setup changes it",
  ]);
  assertEquals<unknown>(asked.kept, [[{ local: true, host: "http://gpu:8080" }, undefined]]);
  const typed = ["https://api.example/v1"];
  const settings = { "base-url": "https://api.example/v1" };
  for (const [key, given] of [["k", { address: typed[0]!, key: "k" }], ["", undefined]] as const) {
    const hosted = await play({
      ...{ finds: [[llama, slow]], picks: ["Another server"], typed, keys: [key] },
    });
    assertEquals<unknown>(hosted.kept, [[settings, given]]);
    assertEquals<unknown>(hosted.chosen, settings);
  }
});
