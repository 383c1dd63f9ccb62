import { assert, assertEquals } from "@std/assert";
import { CopilotAgent } from "../../src/agent/agent.ts";
import { processTurn } from "../../src/agent/turn.ts";
import { compatConfig } from "../../src/config.ts";
import { TASKS } from "../../src/tools/tasks.ts";
import type { TurnEvent } from "../../src/types/event.ts";
import type { Tool } from "../../src/types/tool.ts";
import { readingTool, TEXT } from "../helpers/tool.ts";

const ROUNDS = 100;
const TASK = "Rename compute in src. RULE: never touch src/mod7.ts.";
const PLAN = "- [x] look\n- [ ] rename all\n- [ ] test";
/** Characters for a token, as the server counts. */
const PER_TOKEN = 3;

/** Has the files that the model names: no others of such names are looked for. */
const folder = Deno.makeTempDirSync();
Deno.mkdirSync(`${folder}/src`);
for (let i = 0; i < 40; i++) Deno.writeTextFileSync(`${folder}/src/mod${i}.ts`, "");
Deno.test.afterAll(() => Deno.remove(folder, { recursive: true }));

const CODE = Array.from({ length: 4000 }, (_, i) => `const v${i} = compute(${i});\n`).join("");

const read: Tool = {
  ...readingTool("read_file", { file_path: TEXT, chars: { type: "integer" } }),
  subject: ({ file_path }) => ({ path: String(file_path), isFile: true }),
  run: ({ chars }) => CODE.slice(0, Number(chars)),
};

const tasks = readingTool(TASKS, { list: TEXT }, () => "noted");

interface Sent {
  tokens: number;
  isSummary: boolean;
  text: string;
}

/** A model that reads files, one or three in a round, small and large, and a server with a small window. */
function model(window: number, roundsInTurn: number, summary: string) {
  const sent: Sent[] = [];
  let round = 0;
  /** Numbers that are the same in every run. */
  let seed = 7;
  const chance = () => (seed = seed * 1103515245 + 12345 & 0x7fffffff) / 0x7fffffff;
  const call = (name: string, args: unknown, i: number) => (
    { id: `c${round}-${i}`, type: "function", function: { name, arguments: JSON.stringify(args) } }
  );
  const reading = (i: number) => {
    const file_path = `src/mod${Math.floor(chance() * 40)}.ts`;
    return call("read_file", { file_path, chars: Math.floor(chance() ** 3 * 60_000) }, i);
  };
  const answer = () => {
    if (++round % roundsInTurn === 0) return { content: `Part ${round} is done.` };
    if (round === 3) return { content: "", tool_calls: [call(TASKS, { list: PLAN }, 0)] };
    const calls = chance() < 0.2 ? [0, 1, 2] : [0];
    return { content: "I look at it.", tool_calls: calls.map(reading) };
  };
  const serve = (_: unknown, init?: RequestInit): Promise<Response> => {
    const { messages, tools = [] } = JSON.parse(String(init?.body));
    const text = JSON.stringify(messages);
    const tokens = Math.ceil((text.length + JSON.stringify(tools).length) / PER_TOKEN);
    const isSummary = text.includes("You write summaries");
    sent.push({ tokens, isSummary, text });
    if (tokens > window) {
      return Promise.resolve(Response.json({ error: { message: "too long" } }, { status: 400 }));
    }
    const message = { role: "assistant", ...isSummary ? { content: summary } : answer() };
    const finish_reason = "tool_calls" in message ? "tool_calls" : "stop";
    const usage = { prompt_tokens: tokens, completion_tokens: 9 };
    return Promise.resolve(Response.json({ choices: [{ finish_reason, message }], usage }));
  };
  return { sent, serve: serve as typeof fetch };
}

/** The window, the rounds of a turn, what the model says in place of summaries, and the most that it is asked for. */
const SESSIONS: [window: number, roundsInTurn: number, summary: string, mostSummaries: number][] = [
  [8192, ROUNDS, "Task: rename. Next: go on.", 15],
  [8192, 8, "I am a helpful assistant.", 12],
  [16_384, ROUNDS, "", 8],
  [16_384, 8, "<conversation> I say it all again.", 8],
];

for (const [window, roundsInTurn, summary, mostSummaries] of SESSIONS) {
  const name =
    `${ROUNDS} rounds in ${window} tokens, ${roundsInTurn} a turn, summed up as "${summary}"`;
  Deno.test(`SES-04 ${name}: one compaction a step at most; task, rules, steps and files go on`, async () => {
    const { sent, serve } = model(window, roundsInTurn, summary);
    const settings = { baseUrl: "http://server/v1", contextLength: window, maxRetries: 0 };
    const compat = compatConfig({ ...settings, fetch: serve });
    const agent = new CopilotAgent({ compat, maxToolRounds: ROUNDS + 1 }, folder, {
      tools: [read, tasks],
      systemPrompt: "You are a copilot.",
    });
    const before: number[] = [];
    const compacted = new Set<number>();
    const onEvent = ({ type }: TurnEvent) => {
      if (type === "thinking") before.push(0);
      if (type !== "compaction") return;
      before.push((before.pop() ?? 0) + 1);
      compacted.add(sent.length);
    };
    for (let turn = 0; turn * roundsInTurn < ROUNDS; turn++) {
      await processTurn(agent, turn === 0 ? TASK : `Go on with part ${turn}.`, { onEvent });
    }
    assertEquals(sent.filter(({ tokens }) => tokens > window), []);
    assert(before.every((count) => count <= 1), before.join());
    const summaries = sent.filter(({ isSummary }) => isSummary);
    assert(summaries.length > 0 && summaries.length <= mostSummaries, `${summaries.length}`);
    // No two summaries in a row, nor with hardly a round between them.
    const at = sent.flatMap(({ isSummary }, i) => isSummary ? [i] : []);
    assert(at.every((one, i) => i === 0 || one - at[i - 1]! > 3), at.join());
    for (const [i, { text }] of sent.entries()) {
      if (i === 0 || compacted.has(i) || sent[i - 1]!.isSummary || sent[i]!.isSummary) continue;
      assert(text.startsWith(sent[i - 1]!.text.slice(0, -1)), `request ${i + 1}`);
    }
    const asked = sent.filter(({ isSummary }) => !isSummary).slice(4);
    for (const { text } of asked) {
      assert(text.includes("RULE: never touch src/mod7.ts."), "the rule is gone");
      assert(text.includes("rename all"), "the steps are gone");
      assert((text.match(/src\/mod\d+\.ts/g) ?? []).length > 1, "the files are gone");
    }
  });
}
