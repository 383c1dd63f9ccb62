import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { servedModel } from "../../src/backends/local/connection.ts";
import {
  answerCheck,
  cacheCheck,
  checkRows,
  confinementCheck,
  toolsCheck,
} from "../../src/cli/doctor.ts";
import { compatConfig } from "../../src/config.ts";
import { targetOf } from "../../src/model_target.ts";
import type { Message } from "../../src/types/message.ts";
import { run } from "../helpers/program.ts";
import { type Step, strictServer } from "../helpers/strict_server.ts";

const call = { toolCalls: [{ name: "list_directory", arguments: { path: "." } }] };
const written = {
  text: '<tool_call>\n{"name": "list_directory", "arguments": {"path": "."}}\n</tool_call>',
};

const flags = (kind: "local" | "compat" | "hosted", url: string) => ({
  local: ["--local", "--host", url],
  compat: ["--base-url", `${url}/v1`, "--api-key", "k"],
  hosted: ["--hosted", "--base-url", url, "--api-key", "k"],
}[kind]);

for (const kind of ["local", "compat", "hosted"] as const) {
  Deno.test(`doctor: all is well with ${kind}`, async () => {
    await using server = strictServer([{ text: "ready" }, call, { text: "A README." }]);
    const args = ["doctor", ...flags(kind, server.url), "-m", "test"];
    const { code, stdout, stderr } = await run(args);
    assertEquals([code, stderr], [0, ""]);
    assertMatch(stdout, /^copilot doctor: /);
    assertMatch(stdout, /^ok +tools +called natively/m);
    assertMatch(stdout, /^ok +result /m);
    assertMatch(stdout, /^ok +cache /m);
    assertMatch(stdout, /^Ready: test$/m);
    assertEquals(server.requests.map(({ problem }) => problem), [undefined, undefined, undefined]);
  });
}

const ROWS: [name: string, steps: Step[], status: string, code: number][] = [
  ["calls in text", [{ text: "ready" }, written, { text: "A README." }], "note tools", 0],
  ["no calls", [{ text: "ready" }, { text: "I cannot." }], "fail tools", 1],
  ["no answer", [{ text: "" }], "fail answer", 1],
  [
    "an answer without end",
    [
      { text: "And on it goes. ".repeat(500), hang: true },
      call,
      { text: "A README." },
    ],
    "note answer",
    0,
  ],
  ["a refusal", [{ error: { status: 400, message: "no memory" } }], "fail answer", 1],
  ["nothing after a result", [{ text: "ready" }, call, { text: "" }], "note result", 0],
];

for (const [name, steps, status, exitCode] of ROWS) {
  Deno.test(`doctor --json: ${name}`, async () => {
    await using server = strictServer(steps);
    const args = ["doctor", "--local", "--host", server.url, "-m", "test", "--json"];
    const { code, stdout } = await run(args);
    assertEquals(code, exitCode);
    const report = JSON.parse(stdout);
    assertEquals(report.ok, code === 0);
    const found = report.checks.map((c: Record<string, string>) => `${c.status} ${c.name}`);
    assertEquals(found.includes(status), true, stdout);
  });
}

Deno.test("doctor: the default model is not there, another is", async () => {
  await using server = strictServer([{ text: "ready" }, call, { text: "Yes." }], {
    models: ["other"],
  });
  const { code, stdout } = await run(["doctor", "--local", "--host", server.url]);
  assertEquals(code, 0);
  assertStringIncludes(stdout, "Ready: other");
});

Deno.test("doctor: a model that is not there, a server that is not there, wrong usage", async () => {
  await using server = strictServer([], { models: ["other"] });
  const at = ["doctor", "--local", "--host"];
  const missing = await run([...at, server.url, "-m", "test"]);
  assertEquals(missing.code, 1);
  assertMatch(missing.stdout, /FAIL +model +test is not there; there are: other/);
  assertMatch(
    missing.stdout,
    /^(ok +commands not confined; |note +commands not confined, and cannot)/m,
  );
  const nobody = await run([...at, "http://127.0.0.1:9", "--sandbox", "read-only"]);
  assertMatch(nobody.stdout, /commands (confined by .*: read-only, without|refused, as nothing)/);
  assertEquals(nobody.code, 1);
  assertMatch(nobody.stdout, /FAIL +server .*\n?.*ollama/);
  assertEquals((await run(["doctor", "--demo"])).code, 2);
  assertEquals((await run(["-p", "x", "--json", "--demo"])).code, 2);
});

for (
  const [name, answers, expected] of [
    ["vLLM", { "/v1/models": { data: [{ id: "test", max_model_len: 12_000 }] } }, 12_000],
    ["OpenRouter", {
      "/v1/models": {
        data: [{ id: "other", context_length: 1 }, { id: "test", context_length: 9 }],
      },
    }, undefined],
    ["llama.cpp", {
      "/v1/models": { data: [{ id: "a.gguf" }] },
      "/props": { default_generation_settings: { n_ctx: 8192 } },
    }, 8192],
    ["llama.cpp's router", {
      "/v1/models": {
        data: [{ id: "test", context_length: 32_768, status: { value: "unloaded" } }, { id: "b" }],
      },
      "/props": { role: "router", default_generation_settings: { n_ctx: 0 } },
      "/props?model=test": { default_generation_settings: { n_ctx: 8192 } },
    }, 8192],
    ["a server that says nothing", {}, undefined],
    ["nonsense", { "/v1/models": { data: "x" }, "/props": [] }, undefined],
  ] as const
) {
  Deno.test(`the context that ${name} gives`, async () => {
    await using server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      (request) => {
        const { pathname, search } = new URL(request.url);
        const answer = (answers as Record<string, unknown>)[pathname + search];
        return answer === undefined ? new Response("", { status: 404 }) : Response.json(answer);
      },
    );
    const host = `http://127.0.0.1:${server.addr.port}`;
    assertEquals((await servedModel("test", { host })).contextLength, expected);
  });
}

/** A reply as the checks get it. */
const probe = (
  message: Partial<Message>,
  { first = 0, total = 0, tokens = 0, ranAway = false, prompt = 0, cachedTokens = 0 } = {},
) => ({
  ...{ first, total, ranAway, finish: "stop", finishDetail: "" } as const,
  message: { role: "assistant", content: "", ...message } as Message,
  usage: { inputTokens: prompt, outputTokens: tokens, ...(cachedTokens && { cachedTokens }) },
});
const said = { content: "ready" };

const ANSWERS: [what: string, probe: ReturnType<typeof probe>, says: string][] = [
  [
    "with its speed",
    probe(said, { first: 500, total: 2500, tokens: 100 }),
    "ok after 500 ms, 50 tokens/s",
  ],
  ["of few tokens", probe(said, { total: 2000, tokens: 5 }), "ok after 0 ms"],
  ["of six tokens", probe(said, { total: 2000, tokens: 6 }), "ok after 0 ms, 3 tokens/s"],
  ["at once", probe(said, { first: 50, total: 100, tokens: 99 }), "ok after 50 ms"],
  [
    "nearly at once",
    probe(said, { first: 49, total: 100, tokens: 51 }),
    "ok after 49 ms, 1000 tokens/s",
  ],
  ["with reasoning", probe({ ...said, reasoning: "hm" }), "ok after 0 ms; it thinks first"],
  ["of reasoning alone", probe({ reasoning: "hm" }), "ok after 0 ms; it thinks first"],
  ["of white space", probe({ content: " \n" }), "fail the model said nothing"],
  ["without end", probe(said, { ranAway: true }), "note it repeated itself, and was stopped"],
];

for (const [what, given, says] of ANSWERS) {
  Deno.test(`doctor: an answer ${what}`, () => {
    const { name, status, text } = answerCheck(given);
    assertEquals([name, `${status} ${text}`], ["answer", says]);
  });
}

Deno.test("doctor: whether the prompt is held, by the server's word or by the time", () => {
  const same = "the same prompt took as long again: ";
  for (
    const [before, after, held, says] of [
      [1000, 10, 7, "ok 7 tokens of the prompt were held"],
      [299, 299, 0, "ok too fast to tell: 299 ms, then 299 ms"],
      [300, 149, 0, "ok works: 300 ms, then 149 ms"],
      [300, 150, 0, `note ${same}300 ms, then 150 ms`],
    ] as const
  ) {
    const later = probe(said, { first: after, cachedTokens: held });
    const { name, status, text } = cacheCheck(probe(said, { first: before }), later);
    assertEquals([name, `${status} ${text}`], ["cache", says]);
  }
});

Deno.test("doctor: what confines commands", () => {
  const name = "commands";
  const [network, why] = [false, "no bwrap"];
  for (
    const [given, status, text] of [
      [{ mode: "off", network, why }, "note", "not confined, and cannot be: no bwrap"],
      [{ mode: "read-only", network, why }, "note", "refused, as nothing confines them: no bwrap"],
      [{ mode: "off", network, by: "x" }, "ok", "not confined; x works: --sandbox workspace-write"],
      [{ mode: "read-only", network, by: "x" }, "ok", "confined by x: read-only, without network"],
      [
        { mode: "read-only", network: true, by: "x" },
        "ok",
        "confined by x: read-only, with network",
      ],
    ] as const
  ) assertEquals(confinementCheck(given), { name, status, text });
});

Deno.test("doctor: how tools are called", async () => {
  const call = { id: "1", name: "list_directory", arguments: {} };
  const calls = (more: object) => probe({ toolCalls: [{ ...call, ...more }] });
  const timed = probe({ toolCalls: [call] }, { prompt: 1, first: 20 });
  const target = targetOf({ compat: compatConfig({ apiKey: "k" }) });
  const understood = "called in the answer's text, and understood";
  for (
    const [given, textTools, says] of [
      [calls({}), undefined, "ok called natively"],
      [timed, undefined, "ok called natively (1 token of prompt, 20 ms)"],
      [calls({ recovered: true }), undefined, `note ${understood}: do so`],
      [calls({ recovered: true }), true, `ok ${understood}`],
      [calls({ invalid: { text: "", reason: "a\nb" } }), undefined, "note it called, wrongly: a b"],
      [
        probe({ content: "x".repeat(130) }),
        undefined,
        `fail it called none, and said: ${
          "x".repeat(120)
        }: Use a model that was trained to call tools`,
      ],
    ] as const
  ) {
    const about = { ...target, ...(textTools && { textTools }) };
    const check = await toolsCheck(given, about, () => Promise.resolve("do so"));
    const advice = check.advice === undefined ? "" : `: ${check.advice}`;
    assertEquals([check.name, `${check.status} ${check.text}${advice}`], ["tools", says]);
  }
});

Deno.test("doctor: a check is a row of columns, its advice below", () => {
  const check = { name: "tools", status: "fail", text: "none ".repeat(20).trim() } as const;
  const space = " ".repeat(15);
  assertEquals(
    checkRows({ ...check, advice: "Do so." }, 80),
    `FAIL  tools    ${"none ".repeat(13).trim()}\n${space}${
      "none ".repeat(7).trim()
    }\n${space}Do so.\n`,
  );
  assertEquals(checkRows({ ...check, status: "ok", text: "fine" }, 80), "ok    tools    fine\n");
  const narrow = checkRows(check, 10).split("\n").slice(0, -1).map((row) => row.slice(15));
  assertEquals(narrow, Array(5).fill("none ".repeat(4).trim()));
});
