import { assertEquals } from "@std/assert";
import {
  answerCheck,
  cacheCheck,
  checkRows,
  confinementCheck,
  toolsCheck,
} from "../../src/cli/doctor.ts";
import { compatConfig } from "../../src/config.ts";
import { targetOf } from "../../src/models/target.ts";
import type { Message } from "../../src/types/message.ts";

/** A reply as the checks get it. */
const probe = (
  message: Partial<Message>,
  { first = 0, total = 0, tokens = 0, prompt = 0, cachedTokens = 0, stopReason = "done" } = {},
) => ({
  ...{ first, total, stopReason: stopReason as "done" | "loop" },
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
  ["of nothing", probe({ standsFor: "empty_answer" }), "fail the model said nothing"],
  ["without end", probe(said, { stopReason: "loop" }), "note it repeated itself, and was stopped"],
];

for (const [what, given, says] of ANSWERS) {
  Deno.test(`doctor: an answer ${what}`, () => {
    const { name, status, text } = answerCheck(given);
    assertEquals([name, `${status} ${text}`], ["answer", says]);
  });
}

Deno.test("doctor: the share of a second prompt that came from the cache, or else the times", () => {
  const share = "of a second prompt came from the cache";
  const uncounted = "the server reports no cached tokens; a prompt with the same start took";
  const again = "Each turn processes the whole prompt again.";
  const rows: [times: [number, number], cached: number | undefined, kind: string, says: string][] =
    [
      [[10, 10], 900, "vllm", `ok 90 % ${share} (900 of 1000 tokens)`],
      [[10, 10], 500, "vllm", `ok 50 % ${share} (500 of 1000 tokens)`],
      [
        [9, 1],
        499,
        "vllm",
        `note 50 % ${share} (499 of 1000 tokens): ${again} vllm serve --enable-prefix-caching`,
      ],
      [
        [9, 1],
        0,
        "vllm",
        `note 0 % ${share} (0 of 1000 tokens): ${again} vllm serve --enable-prefix-caching`,
      ],
      [[299, 299], undefined, "vllm", `ok ${uncounted} 299 ms, then 299 ms`],
      [[300, 149], undefined, "vllm", `ok ${uncounted} 300 ms, then 149 ms`],
      [
        [300, 150],
        undefined,
        "vllm",
        `note ${uncounted} 300 ms, then 150 ms: ${again} vllm serve --enable-prefix-caching`,
      ],
      [
        [300, 150],
        undefined,
        "",
        `note ${uncounted} 300 ms, then 150 ms: ${again} Turn on the server's prompt cache, and see which other programs use the server`,
      ],
    ];
  for (const [[before, after], cachedTokens, kind, says] of rows) {
    const later = probe(said, { first: after, prompt: 1000 });
    if (cachedTokens !== undefined) Object.assign(later.usage, { cachedTokens });
    const { name, status, text, advice } = cacheCheck(probe(said, { first: before }), later, kind);
    const told = advice === undefined ? "" : `: ${advice}`;
    assertEquals([name, `${status} ${text}${told}`], ["cache", says]);
  }
});

Deno.test("doctor: what confines commands", () => {
  const name = "commands";
  const [network, why] = [false, "no bwrap"];
  for (
    const [given, status, text] of [
      [{ mode: "off", network, why }, "note", "not sandboxed: no sandbox works: no bwrap"],
      [{ mode: "read-only", network, why }, "note", "refused, because no sandbox works: no bwrap"],
      [{ mode: "off", network, by: "x" }, "note", "not sandboxed: the sandbox is off"],
      [
        { mode: "read-only", network, by: "x" },
        "ok",
        "sandboxed with x: read-only, without network",
      ],
      [
        { mode: "read-only", network: true, by: "x" },
        "ok",
        "sandboxed with x: read-only, with network",
      ],
    ] as const
  ) assertEquals(confinementCheck(given), { name, status, text });
  const advice = "sudo sysctl -w x=0";
  assertEquals(confinementCheck({ mode: "off", network, why, advice }).advice, advice);
});

Deno.test("doctor: how tools are called", () => {
  const call = { id: "1", name: "list_directory", arguments: {} };
  const calls = (more: object) => probe({ toolCalls: [{ ...call, ...more }] });
  const timed = probe({ toolCalls: [call] }, { prompt: 1, first: 20 });
  const target = targetOf({ compat: compatConfig({ apiKey: "k" }) });
  const understood = "called in the answer's text, which was parsed";
  const cases = [
    [calls({}), undefined, "ok called natively"],
    [timed, undefined, "ok called natively (1 token of prompt, 20 ms)"],
    [
      probe({ toolCalls: [call] }, { prompt: 1000, cachedTokens: 200, first: 4000 }),
      undefined,
      "ok called natively (1000 tokens of prompt, 4.0 s, 200 tokens/s)",
    ],
    [
      calls({ recovered: true }),
      undefined,
      `note ${understood}: llama-server --jinja reads such calls itself`,
    ],
    [calls({ recovered: true }), true, `ok ${understood}`],
    [
      calls({ invalid: { text: "", reason: "a\nb" } }),
      undefined,
      "note it called a tool, but wrongly: a b",
    ],
    [
      probe({ content: "x".repeat(130) }),
      undefined,
      `fail it called no tool, and said: ${
        "x".repeat(120)
      }: Use a model that was trained to call tools`,
    ],
  ] as const;
  for (const [given, textTools, says] of cases) {
    const about = { ...target, ...(textTools && { textTools }) };
    const check = toolsCheck(given, about, "llamacpp");
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
