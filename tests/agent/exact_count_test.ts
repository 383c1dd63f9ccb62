import { assertEquals } from "@std/assert";
import { CopilotAgent } from "../../src/agent/agent.ts";
import { isOverLimit, requestTokens } from "../../src/agent/tokens.ts";
import { localConfig } from "../../src/config.ts";

const { signal } = new AbortController();

/** An agent whose next request has about `tokens`, of 8000 that a prompt may have; and what its server is asked. */
function agentNear(tokens: number, answer: (path: string) => Response, isNative = false) {
  const asked: { path: string; body: Record<string, unknown> }[] = [];
  const serve = (url: unknown, init?: RequestInit): Promise<Response> => {
    const path = new URL(String(url)).pathname;
    asked.push({ path, body: JSON.parse(String(init?.body)) });
    return Promise.resolve(answer(path));
  };
  const local = localConfig({
    ...{ host: "http://server", useCompat: !isNative, contextLength: 9000, maxTokens: 1000 },
    fetch: serve as typeof fetch,
  });
  const agent = new CopilotAgent({ local }, Deno.cwd(), { tools: [], systemPrompt: "x" });
  agent.state.messages.push({ role: "user", content: "x1".repeat(tokens * 2) });
  return { agent, asked };
}

Deno.test("near the limit a server that counts is asked, and its count is learnt", async () => {
  const { agent, asked } = agentNear(7900, () => Response.json({ input_tokens: 9100 }));
  assertEquals(await isOverLimit(agent, signal), true);
  assertEquals(requestTokens(agent), 9100);
  assertEquals(asked.map(({ path }) => path), ["/v1/chat/completions/input_tokens"]);
  assertEquals((asked[0]!.body.messages as unknown[]).length, 2);
  const over = agentNear(8300, () => Response.json({ input_tokens: 7000 }));
  assertEquals(await isOverLimit(over.agent, signal), false);
});

Deno.test("far from the limit, and on the native endpoint, nothing is asked", async () => {
  const rows = [[6000, false, false], [9900, false, true], [8300, true, true]] as const;
  for (const [tokens, isNative, isOver] of rows) {
    const { agent, asked } = agentNear(tokens, () => Response.json({ input_tokens: 1 }), isNative);
    assertEquals([await isOverLimit(agent, signal), asked.length], [isOver, 0]);
  }
});

Deno.test("a server that does not count is asked once, and one that counts nonsense is not believed", async () => {
  const none = agentNear(8300, () => new Response("no", { status: 404 }));
  assertEquals(await isOverLimit(none.agent, signal), true);
  assertEquals(await isOverLimit(none.agent, signal), true);
  const paths = ["/v1/chat/completions/input_tokens", "/tokenize"];
  assertEquals(none.asked.map(({ path }) => path), paths);
  const counted = { count: 7000, max_model_len: 9000, tokens: [1] };
  const answer = (path: string) =>
    path === "/tokenize" ? Response.json(counted) : new Response("no", { status: 404 });
  const vllm = agentNear(8300, answer);
  assertEquals(await isOverLimit(vllm.agent, signal), false);
  const nonsense = agentNear(8300, () => Response.json({ input_tokens: 3 }));
  assertEquals(await isOverLimit(nonsense.agent, signal), true);
});
