import { assertEquals } from "@std/assert";
import { BackendError } from "../../../../src/errors.ts";
import { Setup, type SetupHome } from "../../../../src/ui/terminal/session/setup.ts";
import type { FoundServer } from "../../../../src/models/servers.ts";
import type { ChoiceList, LineQuestion } from "../../../../src/ui/terminal/screen/screen.ts";

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
  models: [{ name: "/models/q 3.gguf", server: "llama.cpp", contextLength: 8192 }],
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
  ...{ url: "http://gpu:11434", state: "skipped", isNative: true, models: [] },
};

interface Scene {
  finds: readonly (readonly FoundServer[])[];
  /** The label of the row that is picked from each list, or null for Esc. */
  picks: readonly (string | null)[];
  keys?: readonly (string | null)[];
  typed?: readonly (string | null)[];
  answers?: readonly (FoundServer | BackendError)[];
  isFirst?: boolean;
  current?: { url: string; model: string };
  keyIn?: string;
  /** The reason why nothing can be kept. */
  fails?: string;
}

/** Plays a scene; the rows of each list, the lines that were printed, what was kept, the choice. */
async function play(scene: Scene) {
  const { finds, picks, keys = [], typed = [], answers = [], isFirst = true, keyIn, fails } = scene;
  const { current } = scene;
  const left = {
    ...{ finds: [...finds], picks: [...picks], keys: [...keys], typed: [...typed] },
    answers: [...answers],
  };
  const lists: [string, string][][] = [];
  const titles: string[] = [];
  const starts: unknown[] = [];
  const printed: string[] = [];
  const kept: unknown[] = [];
  const limits: number[] = [];
  const asked: string[] = [];
  const prompts: string[] = [];
  const home: SetupHome = {
    find(limitMs) {
      limits.push(limitMs);
      return Promise.resolve(left.finds.shift()!);
    },
    own: () => [],
    keyIn: (address) => address.includes("known") ? "A_KEY" : undefined,
    ask(address, { key, limitMs }) {
      asked.push(`${address} ${key ?? "that kept for it"}`);
      limits.push(limitMs);
      const answer = left.answers.shift();
      return answer instanceof BackendError ? Promise.reject(answer) : Promise.resolve(answer!);
    },
    hosted: () => [{
      name: "Hosted",
      address: "https://api.example",
      settings: { hosted: true },
      keyIn,
    }],
    tryKey({ name }, { key, limitMs }) {
      asked.push(`${name} ${key}`);
      limits.push(limitMs);
      const answer = left.answers.shift();
      return answer instanceof BackendError ? Promise.reject(answer) : Promise.resolve();
    },
    objection: (key) => key === "" || /^\S+$/.test(key) ? undefined : "no key",
    keep(...choice) {
      if (fails !== undefined) return Promise.reject(new Error(fails));
      kept.push(choice);
      return Promise.resolve();
    },
  };
  const screen = {
    print: (text: string) => void (text === HOW_TO_TYPE ? prompts : printed).push(text),
    choose<T>({ title, items, chosen }: ChoiceList<T>): Promise<T | null> {
      starts.push(chosen);
      titles.push(title);
      lists.push(items.map(({ label, detail = "" }) => [label, detail]));
      const pick = left.picks.shift();
      return Promise.resolve(items.find(({ label }) => label === pick)?.value ?? null);
    },
    ask(
      prompt: string,
      objection: (line: string) => string | undefined,
      _signal: AbortSignal,
      { text: before = "", isHidden, waits }: LineQuestion = {},
    ) {
      assertEquals(waits, false, "what is typed ahead is for it");
      if (isHidden) {
        prompts.push(prompt);
        const key = left.keys.shift() ?? null;
        assertEquals(key === null ? undefined : objection(key), undefined);
        return Promise.resolve(key);
      }
      prompts.push(`${prompt}${before}`);
      const line = left.typed.shift() ?? null;
      const why = line === null ? undefined : objection(line);
      if (why !== undefined) printed.push(why);
      return Promise.resolve(why === undefined ? line : null);
    },
  };
  const { signal } = new AbortController();
  const looks: boolean[] = [];
  const chosen = await new Setup(screen, home, {
    ...{ isFirst, current, columns: 80, signal, onLook: (is: boolean) => void looks.push(is) },
  }).run();
  assertEquals(left, { finds: [], picks: [], keys: [], typed: [], answers: [] });
  assertEquals(looks, limits.flatMap(() => [true, false]));
  return { lists, titles, starts, printed, kept, limits, asked, prompts, chosen };
}

const HOW_TO_TYPE = "· Type the server's address, such as http://gpu:8080 (empty to go back)";
const HOSTED_ROW = ["Hosted", "paste a key · api.example"];
const ADDRESS_ROW = ["Another server", "type its address"];
const DEMO_ROW = ["Demo", "a tour of one minute, without a model"];

Deno.test("servers are listed with their models, then hosted APIs; what is picked is kept", async () => {
  const { lists, titles, printed, kept, chosen } = await play({
    finds: [[ollama, llama, studio, slow, remote]],
    picks: ["qwen3:8b"],
  });
  assertEquals(titles, ["Which model should copilot use?"]);
  assertEquals(lists as unknown, [[
    ["qwen3:8b", "127.0.0.1:11434 · Ollama · 8.2B Q4_K_M · loaded"],
    ["two words", "127.0.0.1:11434 · Ollama"],
    ["a␛", "127.0.0.1:11434 · Ollama · 4k context · tools · vision"],
    ["/models/q 3.gguf", "127.0.0.1:8080 · llama.cpp · 8k context"],
    ["q", "127.0.0.1:1234"],
    ["r", "127.0.0.1:1234"],
    ["127.0.0.1:8000", "did not answer in time"],
    ["gpu:11434", "from OLLAMA_HOST; not checked yet"],
    HOSTED_ROW,
    ADDRESS_ROW,
    DEMO_ROW,
  ]]);
  const settings = { local: true, host: ollama.url, model: "qwen3:8b" };
  assertEquals<unknown>([chosen, kept], [settings, [[settings, undefined]]]);
  assertEquals(printed, [
    "· qwen3:8b at 127.0.0.1:11434. Saved to config.json. Run /setup to change it.",
  ]);
});

Deno.test("the session's server and model are marked, and chosen at first", async () => {
  const currents = [
    [studio.url, "r", "127.0.0.1:1234 · current", 1],
    [remote.url, "r", "current; not checked yet", 2],
    ["https://api.example", "h", "paste a key · api.example · current", 3],
  ] as const;
  for (const [url, model, detail, at] of currents) {
    const { lists, starts } = await play({
      ...{ finds: [[studio, remote]], picks: [null], isFirst: false, current: { url, model } },
    });
    const marked = lists[0]!.filter(([, detail]) => detail.includes("current"));
    assertEquals([starts, marked.map(([, detail]) => detail)], [[at], [detail]]);
  }
});

const PICKED: [found: FoundServer, pick: string, settings: object][] = [
  [studio, "r", { "base-url": "http://127.0.0.1:1234/v1", model: "r" }],
  // The next model that a server is started with is not refused for its name.
  [llama, "/models/q 3.gguf", { "base-url": "http://127.0.0.1:8080/v1" }],
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
  assertEquals(first.printed, ["· 127.0.0.1:8080. Saved to config.json. Run /setup to change it."]);
  for (const found of [[ollama], [llama, slow], [remote], [empty], [slow]]) {
    const asked = await play({ finds: [found], picks: [null] });
    assertEquals([asked.lists.length, asked.chosen], [1, undefined]);
  }
  const later = await play({ finds: [[llama]], picks: [null], isFirst: false });
  assertEquals([later.lists[0]!.at(-1), later.chosen] as unknown, [ADDRESS_ROW, undefined]);
});

Deno.test("while no server runs, they are looked for again, and the list is that of the first one", async () => {
  const finds = [[], [], [studio]];
  const titles: string[] = [];
  const lists: string[][] = [];
  const screen = {
    print() {},
    ask: () => Promise.resolve(null),
    choose<T>({ title, items }: ChoiceList<T>, signal: AbortSignal): Promise<T | null> {
      titles.push(title.split("\n")[0]!);
      lists.push(items.map(({ label }) => label));
      if (lists.length > 1) return Promise.resolve(null);
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve(null)));
    },
  };
  const home = {
    find: () => Promise.resolve(finds.shift()!),
    hosted: () => [],
  } as unknown as SetupHome;
  const { signal } = new AbortController();
  const options = { isFirst: true, columns: 80, signal, onLook() {}, pollMs: 1 };
  assertEquals(await new Setup(screen, home, options).run(), undefined);
  assertEquals(titles, [
    "No model server found on this machine. Start one, and it is listed here:",
    "Which model should copilot use?",
  ]);
  assertEquals(lists[1], ["q", "r", "Another server", "Demo"]);
  assertEquals(finds, []);
});

Deno.test("without a server it says what to install; a place without a model is asked again", async () => {
  const { titles, lists, limits, printed, asked, chosen } = await play({
    finds: [[], [empty, slow], [slow]],
    picks: ["Another server", "127.0.0.1:11434", null, "127.0.0.1:8000"],
    typed: [null],
    answers: [empty, llama],
  });
  assertEquals(printed, [
    "· 127.0.0.1:11434 has no models: ollama pull qwen3:8b gets one",
    "· 127.0.0.1:8000. Saved to config.json. Run /setup to change it.",
  ]);
  assertEquals(titles[0]!.split("\n").length, 5);
  for (const line of titles[0]!.split("\n")) assertEquals(line.length < 80, true, line);
  assertEquals<unknown>(lists[0], [HOSTED_ROW, ADDRESS_ROW, DEMO_ROW]);
  assertEquals(lists[1]!.slice(0, 2), [
    ["127.0.0.1:11434", "Ollama without models: ollama pull qwen3:8b"],
    ["127.0.0.1:8000", "did not answer in time"],
  ]);
  assertEquals(asked.map((one) => one.split(" ")[0]), [empty.url, slow.url]);
  assertEquals(limits, [300, 5000, 5000, 5000, 5000]);
  assertEquals<unknown>(chosen, { "base-url": `${slow.url}/v1` });
});

Deno.test("a hosted API asks for its key, and none leads back to the list", async () => {
  const found = [llama, slow];
  const asked = await play({
    finds: [found, found, found],
    picks: ["Hosted", "Hosted", "Hosted"],
    keys: [null, "", " key "],
  });
  assertEquals(asked.kept, [[{ hosted: true }, { address: "https://api.example", key: "key" }]]);
  assertEquals(asked.printed, ["· Hosted. Saved to config.json. Run /setup to change it."]);
  const known = await play({ finds: [found], picks: ["Hosted"], keyIn: "A_KEY" });
  assertEquals(known.lists[0]!.at(-3), ["Hosted", "with the key in A_KEY · api.example"]);
  assertEquals(known.kept, [[{ hosted: true }, undefined]]);
});

Deno.test("SEC-02 a key is tried before it is kept; one that is not taken, where the person says so", async () => {
  const wrong = new BackendError("api.example refused the key\x1b", { kind: "auth", status: 401 });
  const away = new BackendError("Cannot reach api.example", { kind: "connection" });
  const scene = { finds: [[llama, slow]], answers: [wrong, away, wrong] };
  const { printed, asked, titles, lists, limits, kept } = await play({
    ...{ ...scene, keys: ["one", "two"] },
    picks: ["Hosted", "Enter another key", "Retry", "Save it anyway"],
  });
  assertEquals(printed, [
    "· api.example refused the key␛",
    "· Cannot reach api.example",
    "· api.example refused the key␛",
    "· Hosted. Saved to config.json. Run /setup to change it.",
  ]);
  assertEquals(asked, ["Hosted one", "Hosted two", "Hosted two"]);
  assertEquals(titles[1], "What about api.example?");
  assertEquals(lists[1]!.map(([label]) => label), ["Enter another key", "Retry", "Save it anyway"]);
  assertEquals(limits, [300, 5000, 5000, 5000]);
  assertEquals(kept, [[{ hosted: true }, { address: "https://api.example", key: "two" }]]);
  const left = await play({
    ...{ finds: [[llama, slow], [llama, slow], [llama, slow]], answers: [wrong, wrong] },
    ...{ keys: ["one", "one", ""], picks: ["Hosted", null, "Hosted", "Enter another key", null] },
  });
  assertEquals([left.kept, left.chosen], [[], undefined]);
});

Deno.test("a choice that cannot be kept counts this time, but not without its key", async () => {
  const found = [llama, slow];
  const once = await play({ finds: [found], picks: ["/models/q 3.gguf"], fails: "disk\x1b full" });
  assertEquals<unknown>(once.chosen, { "base-url": "http://127.0.0.1:8080/v1" });
  assertEquals(once.printed, ["· 127.0.0.1:8080: cannot be saved: disk␛ full"]);
  const keyless = await play({
    ...{ finds: [found, found], picks: ["Hosted", null], keys: ["key"], fails: "full" },
  });
  assertEquals(keyless.chosen, undefined);
});

const gpu: FoundServer = { ...studio, url: "http://gpu:8080" };
const LIST = [llama, slow];
const refused = new BackendError("Cannot reach http://gpu:8080: nothing listens there", {
  kind: "connection",
});
const locked = new BackendError("gpu:8080 refused the key\x1b", { kind: "auth", status: 401 });

Deno.test("an address is typed, and its server asked which models it has; an empty one leads back", async () => {
  const asked = await play({
    ...{
      finds: [LIST, LIST, LIST, LIST, LIST],
      typed: [null, " ", "gpu", "gpu:1", " gpu:8080/v1/"],
    },
    picks: [...Array(4).fill("Another server"), null, "Another server", "r"],
    answers: [gpu, gpu],
  });
  assertEquals(asked.printed, [
    "That is not a server address. Example: http://gpu:8080, without ? and #",
    "· r at gpu:8080. Saved to config.json. Run /setup to change it.",
  ]);
  assertEquals(asked.asked, ["http://gpu:1 ", "http://gpu:8080/v1 "]);
  assertEquals([asked.titles.at(-1), asked.lists.at(-1)], [
    "Which model of gpu:8080?",
    [["q", ""], ["r", ""]],
  ]);
  const settings = { "base-url": "http://gpu:8080/v1", model: "r" };
  assertEquals<unknown>(asked.kept, [[settings, undefined]]);
});

const NAMED: [address: string, answer: FoundServer, settings: object][] = [
  ["http://gpu:1/v1/chat/completions", llama, {
    ...{ "base-url": "http://gpu:1/v1", model: "/models/q 3.gguf" },
  }],
  ["gpu:1", { ...llama, isNative: true }, {
    ...{ local: true, host: "http://gpu:1", model: "/models/q 3.gguf" },
  }],
  ["https://gpu", llama, { "base-url": "https://gpu/v1", model: "/models/q 3.gguf" }],
  ["https://gpu/v1", { ...llama, isNative: true }, {
    ...{ local: true, host: "https://gpu", model: "/models/q 3.gguf" },
  }],
];
for (const [address, answer, settings] of NAMED) {
  const kind = answer.isNative ? "Ollama" : "another server";
  Deno.test(`the settings for ${kind} with one model at ${address}`, async () => {
    const keys = address.startsWith("https") ? [""] : [];
    const { kept, printed } = await play({
      ...{ finds: [LIST], picks: ["Another server"], typed: [address], answers: [answer], keys },
    });
    assertEquals<unknown>(kept, [[settings, undefined]]);
    const { host } = new URL(address.replace(/^gpu/, "http://gpu"));
    const model = "model" in settings ? `${settings.model} at ` : "";
    assertEquals(printed, [`· ${model}${host}. Saved to config.json. Run /setup to change it.`]);
  });
}

Deno.test("an address where nothing answers is not kept: it is changed, asked again or left", async () => {
  const { printed, titles, lists, prompts, kept, limits, chosen } = await play({
    ...{
      finds: [LIST, LIST],
      typed: ["gpu:8080", "gpu:8081"],
      answers: [refused, refused, refused],
    },
    picks: ["Another server", "Retry", "Change the address", null, null],
  });
  assertEquals(printed, Array(3).fill(`· ${refused.message}`));
  assertEquals(titles.slice(1, 4), [
    "What about gpu:8080?",
    "What about gpu:8080?",
    "What about gpu:8081?",
  ]);
  assertEquals(lists[1]!.map(([label]) => label), [
    "Change the address",
    "Retry",
    "Save it anyway",
  ]);
  assertEquals(prompts, [HOW_TO_TYPE, "Address: ", "Address: http://gpu:8080"]);
  assertEquals(limits, [300, 5000, 5000, 5000, 5000]);
  assertEquals([kept, chosen], [[], undefined]);
});

Deno.test("an address is kept without an answer where the person says so, also that in OLLAMA_HOST", async () => {
  const rows: [pick: string, typed: string[], answer: FoundServer | BackendError, said: string][] =
    [
      ["gpu:11434", [], refused, refused.message],
      [
        "Another server",
        ["gpu:11434"],
        { ...empty },
        "gpu:11434 has no models: ollama pull qwen3:8b gets one",
      ],
      ["Another server", ["gpu:11434"], { ...empty, isNative: false }, "gpu:11434 has no models"],
    ];
  for (const [pick, typed, answer, said] of rows) {
    const { printed, kept, asked } = await play({
      ...{ finds: [[remote]], picks: [pick, "Save it anyway"], typed, answers: [answer] },
    });
    assertEquals(printed, [
      `· ${said}`,
      "· gpu:11434. Saved to config.json. Run /setup to change it.",
    ]);
    assertEquals<unknown>(kept, [[{ local: true, host: "http://gpu:11434" }, undefined]]);
    // A variable's key is for an address that was typed.
    assertEquals(asked, [`http://gpu:11434 ${typed.length === 0 ? "that kept for it" : ""}`]);
  }
  const hosted = await play({
    ...{ finds: [LIST], picks: ["Another server", "Save it anyway"], answers: [refused] },
    ...{ typed: ["https://x.example/models"], keys: ["k"] },
  });
  const address = "https://x.example/models";
  assertEquals<unknown>(hosted.kept, [[{ "base-url": address }, { address, key: "k" }]]);
});

Deno.test("SEC-02 over https a key is asked for first, over http where the server wants one", async () => {
  const typed = ["https://known.example/v1"];
  const scene = { finds: [LIST], picks: ["Another server"], typed };
  const settings = { "base-url": typed[0]!, model: "/models/q 3.gguf" };
  for (const [key, given] of [["k", { address: typed[0]!, key: "k" }], ["", undefined]] as const) {
    const hosted = await play({ ...scene, keys: [key], answers: [llama] });
    assertEquals<unknown>(hosted.kept, [[settings, given]]);
    assertEquals(hosted.asked, [`${typed[0]} ${key}`]);
    const prompt = "The key for known.example (hidden; Enter alone for the one in A_KEY): ";
    assertEquals(hosted.prompts[2], prompt);
  }
  const left = await play({
    ...scene,
    finds: [LIST, LIST],
    keys: [null],
    picks: ["Another server", null],
  });
  assertEquals([left.kept, left.asked], [[], []]);
  const http = await play({
    ...{ finds: [LIST], typed: ["gpu:8080"], answers: [locked, llama], keys: [" k "] },
    picks: ["Another server", "Enter a key"],
  });
  assertEquals(http.printed[0], "· gpu:8080 refused the key␛");
  assertEquals(http.asked, ["http://gpu:8080 ", "http://gpu:8080 k"]);
  const key = { address: "http://gpu:8080", key: "k" };
  const kept = { "base-url": "http://gpu:8080/v1", model: "/models/q 3.gguf" };
  assertEquals<unknown>(http.kept, [[kept, key]]);
  assertEquals(http.prompts[2], "The key for gpu:8080 (hidden; Enter alone for none): ");
});
