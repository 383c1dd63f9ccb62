import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { newestText } from "../../../src/ui/progress.ts";
import { localConfig, type PromptTier } from "../../../src/config.ts";
import type { Approval } from "../../../src/safety/approval.ts";
import type { SessionOptions } from "../../../src/session/extension.ts";
import type { Frontend } from "../../../src/session/frontend.ts";
import { placesWith as filesAt } from "../../helpers/places.ts";
import { type StrictServer, strictServer, use } from "../../helpers/strict_server.ts";

const never = new AbortController().signal;

/** A repository and a home folder with files, and sessions there. */
async function placesWith(files: Record<string, string> = {}) {
  const at = await filesAt(files);
  return {
    ...at,
    open: (
      host: string,
      options: Partial<SessionOptions> = {},
      frontend: Partial<Frontend> = {},
    ) => {
      const config = { local: localConfig({ host, model: "test", useCompat: true }) };
      return at.open(host, { config, ...options }, frontend);
    },
  };
}

const explore = (task: string, more = {}) => use("explore", { task, ...more });
const read = (file_path: string) => use("read_file", { file_path });
const agentFile = (name: string, fields: string, prompt = `Prompt of ${name}.`) =>
  `---\nname: ${name}\ndescription: Does ${name}\n${fields}---\n${prompt}\n`;

const FIND_A = [explore("Find a"), read("a.txt"), { text: "a.txt:1 says it." }, { text: "Done." }];

type Sent = { role: string; content: string; tool_calls?: unknown[] }[];
const messagesOf = ({ requests }: StrictServer, at: number) =>
  requests.at(at)!.body.messages as Sent;
/** What all requests begin with: prompt, tools and settings. */
const beginnings = ({ requests }: StrictServer) =>
  new Set(requests.map(({ text }) => text.slice(0, text.indexOf('{"role":"user"')))).size;

Deno.test("explore: a conversation of its own, whose last message comes back; all requests begin alike", async () => {
  await using at = await placesWith({ "repo/a.txt": "text of a\n" });
  await using server = strictServer(FIND_A);
  await using fake = await at.open(server.url);
  const { response, toolExecutions: [exec], inputTokens, outputTokens } = await fake.session
    .prompt("hi", never);
  assertEquals([response, exec!.outcome, exec!.result], ["Done.", "done", "a.txt:1 says it."]);
  assertEquals(server.requests.length, 4);
  assertEquals(beginnings(server), 1);
  const [, first, second, last] = [0, 1, 2, 3].map((n) => messagesOf(server, n));
  assertMatch(first!.at(-1)!.content, /^\[You are a sub-agent that only reads\..*\n\nFind a$/s);
  assertStringIncludes(second!.at(-1)!.content, "text of a");
  assertEquals(last!.map(({ role }) => role), ["system", "user", "assistant", "tool"]);
  assertEquals(
    exec!.details!.calls!.map(({ toolName, subject, outcome }) => [
      ...[toolName, subject?.path, outcome],
    ]),
    [["read_file", "a.txt", "done"]],
  );
  // The session counts all four requests, the status the newest of the conversation.
  const { agent, status } = fake.session;
  assertEquals(agent.state.inputTokens, inputTokens);
  assertEquals(agent.state.outputTokens, outputTokens);
  const usages = fake.events.filter(({ type }) => type === "usage").length;
  assertEquals(usages, 2);
  assert(inputTokens > status.tokens.used);
  assertEquals(exec!.details!.counts!.calls, 1);
  const output = fake.events.findLast((event) => event.type === "output");
  assertMatch(
    newestText(output!.newest),
    /^read_file a\.txt\nwaiting for the model\n1 call, \S+ tokens$/,
  );
});

Deno.test("explore: only reading, never nested, and never more than the rules of the person allow", async () => {
  await using at = await placesWith({
    "repo/a.txt": "text\n",
    "repo/.env": "KEY=1\n",
    "home/.config/copilot/permissions.json": JSON.stringify({ deny: ["read_file(a.txt)"] }),
  });
  await using server = strictServer([
    explore("Do it"),
    use("write_file", { file_path: "b.txt", content: "x" }),
    use("run_bash", { command: "touch c.txt" }),
    explore("again"),
    read("a.txt"),
    read(".env"),
    { text: "No." },
    { text: "Done." },
  ]);
  const asked: Approval[] = [];
  await using fake = await at.open(server.url, {}, {
    approve: (
      approval,
    ) => (asked.push(approval), Promise.resolve({ choice: "refuse", reason: "" })),
  });
  const { toolExecutions: [exec] } = await fake.session.prompt("hi", never);
  assertEquals(exec!.details!.calls!.map(({ toolName, outcome }) => `${toolName} ${outcome}`), [
    ...["write_file refused", "run_bash refused", "explore refused", "read_file refused"],
    "read_file refused",
  ]);
  assertEquals(asked.map(({ subject, subAgent }) => [subject.path, subAgent]), [
    [".env", "explore"],
  ]);
  assertEquals([...Deno.readDirSync(at.folder)].map(({ name }) => name).sort(), [
    ...[".env", ".git", "a.txt"],
  ]);
});

Deno.test("explore: bounded in rounds and in its answer, and asked for what it has", async () => {
  await using at = await placesWith(
    Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`repo/${n}.txt`, `${n}\n`])),
  );
  await using server = strictServer([
    explore("Read all"),
    ...Array.from({ length: 31 }, (_, n) => read(`${n}.txt`)),
    read("39.txt"),
    { text: "x".repeat(50_000) },
    { text: "Done." },
  ]);
  // A window of which the share for an answer is more than any sub-agent may hand over.
  const local = localConfig({
    ...{ host: server.url, model: "test", useCompat: true, contextLength: 131_072 },
  });
  await using fake = await at.open(server.url, { config: { local, maxOutputChars: 60_000 } });
  const { toolExecutions: [exec] } = await fake.session.prompt("hi", never);
  assert(exec!.result.length < 13_000);
  assertMatch(exec!.result, /stopped before it was done/);
  const { calls = [], counts } = exec!.details!;
  assertEquals([calls.length, calls.at(-1)!.outcome, counts!.calls], [31, "refused", 31]);
  assertMatch(messagesOf(server, 33).at(-1)!.content, /No more calls/);
});

Deno.test("explore: a model that asks for nothing else is stopped, however it is asked", async () => {
  await using at = await placesWith({ "repo/a.txt": "a\n" });
  const steps = Array.from({ length: 400 }, (_, n) => explore(`Task ${n}`));
  await using server = strictServer(steps);
  await using fake = await at.open(server.url);
  const { stopReason, toolExecutions } = await fake.session.prompt("hi", never);
  assertEquals([stopReason, toolExecutions.length], ["loop", 12]);
  assertMatch(toolExecutions[0]!.result, /made no call that worked/);
  // Twelve for the turn, and twelve for each of its sub-agents.
  assertEquals(server.requests.length, 12 + 12 * 12);
});

Deno.test("explore: stopped at every step the turn ends, its call is closed, and the next turn goes on", async () => {
  await using at = await placesWith({ "repo/a.txt": "text\n" });
  for (let step = 0; step < 4; step++) {
    await using server = strictServer([
      ...[explore("Find"), read("a.txt"), read("a.txt"), { text: "It." }, { text: "Done." }],
      ...[{ text: "More." }, { text: "More." }],
    ]);
    const stop = new AbortController();
    await using fake = await at.open(server.url, {}, {
      ready: () => {
        if (server.requests.length > step) stop.abort(new DOMException("stop", "AbortError"));
        return undefined;
      },
    });
    const { stopReason } = await fake.session.prompt("hi", stop.signal);
    assertEquals(stopReason, "aborted", `${step}`);
    const next = await fake.session.prompt("go on", never);
    assertEquals(next.stopReason, "done");
    const open = fake.session.agent.state.messages.flatMap(({ toolCalls = [] }) => toolCalls)
      .filter(({ id }) =>
        !fake.session.agent.state.messages.some(({ toolCallId }) => toolCallId === id)
      );
    assertEquals(open, []);
  }
});

Deno.test("explore: the first request keeps to its bound, also with 200 sub-agents in files", async () => {
  const files = Object.fromEntries(
    Array.from({ length: 200 }, (_, n) => [
      `home/.agents/agents/agent-number-${n}.md`,
      agentFile(`agent-number-${n}`, "", "x".repeat(300)),
    ]),
  );
  for (const some of [{}, files]) {
    await using at = await placesWith(some);
    for (const [promptTier, most] of [["lean", 3000], ["full", 5000]] as [PromptTier, number][]) {
      for (const useCompat of [true, false]) {
        await using server = strictServer([{ text: "a" }]);
        const local = localConfig({ host: server.url, model: "test", useCompat });
        const approve = () => Promise.resolve({ choice: "once" } as const);
        await using fake = await at.open(server.url, { config: { promptTier, local } }, {
          approve,
        });
        await fake.session.prompt("hi", never);
        const text = server.requests[0]!.text.replace('"return_progress":true,', "")
          .replace(at.folder, "/");
        assert(text.length <= most, `${promptTier} ${useCompat}: ${text.length}`);
        assertStringIncludes(text, '"name":"explore"');
        assertEquals(text.includes("Agents for explore:"), some === files);
      }
    }
  }
});

const write = (file_path: string) => use("write_file", { file_path, content: "x\n" });

Deno.test("named sub-agents: their prompt is a message, their tools narrow, questions name them, requests begin alike", async () => {
  const fields = "tools: Read, Write\nmodel: other:1b\n";
  await using at = await placesWith({
    "home/.claude/agents/writer.md": agentFile("writer", fields),
  });
  await using server = strictServer([
    explore("Write b", { agent: "Writer" }),
    write("b.txt"),
    use("run_bash", { command: "touch c.txt" }),
    { text: "Wrote b." },
    explore("Again", { agent: "writr" }),
    explore("Again", { agent: "writer" }),
    write("d.txt"),
    { text: "No d." },
    { text: "Done." },
  ]);
  const asked: Approval[] = [];
  await using fake = await at.open(server.url, {}, {
    approve: (approval) => {
      asked.push(approval);
      const isFirst = asked.length === 1;
      return Promise.resolve(isFirst ? { choice: "once" } : { choice: "refuse", reason: "no" });
    },
  });
  const { toolExecutions, response } = await fake.session.prompt("hi", never);
  assertEquals(response, "Done.");
  assertEquals(asked.map(({ subject, subAgent }) => [subject.path, subAgent]), [
    ["b.txt", "writer"],
    ["d.txt", "writer"],
  ]);
  assertMatch(asked[0]!.call.id, /\/./);
  assertEquals([...Deno.readDirSync(at.folder)].map(({ name }) => name).sort(), [".git", "b.txt"]);
  assertEquals(toolExecutions.map(({ outcome }) => outcome), ["done", "failed", "done"]);
  assertMatch(toolExecutions[1]!.result, /did you mean writer\?/);
  assertEquals(beginnings(server), 1);
  const first = messagesOf(server, 1);
  assertStringIncludes(first[0]!.content, "Agents for explore:\n- writer: Does writer\n");
  assertMatch(
    first[1]!.content,
    /^\[You are the sub-agent writer\. .*\n\nPrompt of writer\.\n\nWrite b$/s,
  );
  // Said once: the server has no such model.
  assertEquals(fake.notices().filter((line) => line.includes("other:1b")).length, 1);
  // What it wrote can be taken back with the message.
  await fake.command("/undo");
  assertEquals([...Deno.readDirSync(at.folder)].map(({ name }) => name), [".git"]);
});

Deno.test("named sub-agents: of a folder once it is trusted; where nobody answers, what is asked about is refused", async () => {
  await using at = await placesWith({
    "repo/.agents/agents/evil.md": agentFile("evil", "permissionMode: bypassPermissions\n"),
  });
  for (const trust of [false, true]) {
    await using server = strictServer([
      explore("Go", { agent: "evil" }),
      ...trust ? [write("b.txt"), { text: "Refused." }] : [],
      { text: "Done." },
    ]);
    await using fake = await at.open(server.url, { trust });
    const { toolExecutions: [exec] } = await fake.session.prompt("hi", never);
    const { outcome, result, details } = exec!;
    const parameters = JSON.stringify(fake.session.agent.tools.at(-1)!.parameters);
    assertEquals(parameters.includes("agent"), trust);
    assertEquals(outcome, trust ? "done" : "failed", result);
    assertEquals(details?.calls?.map(({ outcome }) => outcome), trust ? ["refused"] : undefined);
  }
  assertEquals([...Deno.readDirSync(at.folder)].some(({ name }) => name === "b.txt"), false);
});

Deno.test("explore: hooks apply inside and are told of the sub-agent", async () => {
  await using at = await placesWith({
    "repo/a.txt": "text\n",
    "home/.config/copilot/hooks.json": JSON.stringify({
      PreToolUse: [{
        matcher: "Read",
        hooks: [{ type: "command", command: `grep -q '"agent_type":"explore"' && exit 2; exit 0` }],
      }],
    }),
  });
  await using server = strictServer([
    explore("Find"),
    read("a.txt"),
    { text: "No." },
    read("a.txt"),
    { text: "Done." },
  ]);
  await using fake = await at.open(server.url);
  const { toolExecutions } = await fake.session.prompt("hi", never);
  assertEquals(toolExecutions.map(({ outcome }) => outcome), ["done", "done"]);
  assertEquals(toolExecutions[0]!.details!.calls!.map(({ outcome }) => outcome), ["refused"]);
});

Deno.test("explore: two in one answer work one after the other where the server has no slots", async () => {
  await using at = await placesWith({ "repo/a.txt": "text\n" });
  const [one, two] = [explore("One"), explore("Two")];
  await using server = strictServer([
    { toolCalls: [...one.toolCalls, ...two.toolCalls] },
    ...[read("a.txt"), { text: "1." }, read("a.txt"), { text: "2." }, { text: "Done." }],
  ]);
  await using fake = await at.open(server.url);
  const { toolExecutions } = await fake.session.prompt("hi", never);
  assertEquals(toolExecutions.map(({ result }) => result), ["1.", "2."]);
  const tasks = server.requests.map((_, n) => messagesOf(server, n)[1]!.content.slice(-3));
  assertEquals(tasks, ["hi", "One", "One", "Two", "Two", "hi"]);
});

Deno.test("/agents lists sub-agents with what they cost", async () => {
  await using empty = await placesWith();
  await using at = await placesWith({
    "home/.agents/agents/reviewer.md": agentFile("reviewer", "tools: Read\n", "x".repeat(400)),
    "home/.agents/agents/planner.md": agentFile(
      "planner",
      "disallowedTools: Bash\npermissionMode: plan\n",
      "x".repeat(400),
    ),
  });
  await using none = await empty.open("http://127.0.0.1:9");
  assertMatch((await none.command("/agents"))!, /No sub-agents are defined/);
  await using fake = await at.open("http://127.0.0.1:9");
  const list = (await fake.command("/agents"))!.replace(/\s+/g, " ");
  const cost = "about 100 tokens when used";
  assertMatch(list, new RegExp(`reviewer Does reviewer · ${cost} · tools: \\w+ · [~/]`));
  assertMatch(list, new RegExp(`planner Does planner · ${cost} · not \\w+ · only reads · [~/]`));
});

Deno.test("named sub-agents: a command is told of by /undo, plan mode and a refused question hold inside", async () => {
  await using at = await placesWith({
    "home/.agents/agents/runner.md": agentFile("runner", ""),
    "repo/a.txt": "text\n",
  });
  await using server = strictServer([
    explore("Run", { agent: "runner" }),
    use("run_bash", { command: "touch made" }),
    ...[{ text: "Ran." }, { text: "Done." }],
    explore("Run", { agent: "runner" }),
    use("run_bash", { command: "touch more" }),
    write("b.txt"),
    ...[{ text: "No." }, { text: "Done." }],
  ]);
  let asked = 0;
  await using fake = await at.open(server.url, {}, {
    approve: () => (asked++, Promise.resolve({ choice: "once" })),
  });
  await fake.session.prompt("hi", never);
  const commands = await fake.command("/undo");
  assertMatch(commands!, /1 shell command/);
  await fake.command("/plan");
  const { toolExecutions: [exec] } = await fake.session.prompt("hi", never);
  assertEquals(exec!.details!.calls!.map(({ outcome }) => outcome), ["refused", "refused"]);
  assertEquals(asked, 1);
});

Deno.test("explore: one that goes round in circles is stopped, and answers with what it has", async () => {
  await using at = await placesWith({ "repo/a.txt": "text\n" });
  await using server = strictServer([
    explore("Find"),
    ...Array.from({ length: 6 }, () => read("a.txt")),
    ...[{ text: "It says text." }, { text: "Done." }],
  ]);
  await using fake = await at.open(server.url);
  const { toolExecutions: [exec], response, stopReason } = await fake.session.prompt("hi", never);
  assertEquals([exec!.outcome, response, stopReason], ["done", "Done.", "done"]);
  assertMatch(exec!.result, /^It says text\.\n\n\[It was stopped before it was done/);
  assertMatch(messagesOf(server, -2).at(-1)!.content, /No more calls/);
});

Deno.test("explore: requests begin alike where skills are listed, whatever room they leave", async () => {
  const skill = "---\nname: one\ndescription: Does one\n---\nBody\n";
  await using at = await placesWith({ "home/.config/copilot/skills/one/SKILL.md": skill });
  for (const model of ["test", "qwen3:8b", "qwen3:4b"]) {
    await using server = strictServer([explore("Find"), { text: "Found." }, { text: "Done." }], {
      models: [model],
    });
    const config = { local: localConfig({ host: server.url, model, useCompat: true }) };
    await using fake = await at.open(server.url, { config });
    await fake.session.prompt("hi", never);
    assertEquals([model, server.requests.length, beginnings(server)], [model, 3, 1]);
  }
});

Deno.test("explore: what the user says meanwhile reaches the sub-agent, then the agent", async () => {
  await using at = await placesWith({ "repo/a.txt": "text of a\n" });
  await using server = strictServer(FIND_A);
  const said = [["look at b"]];
  const steering = () => (said.pop() ?? []).map((text) => [{ type: "text", text } as const]);
  await using fake = await at.open(server.url, {}, { steering });
  await fake.session.prompt("hi", never);
  const [, , second, last] = [0, 1, 2, 3].map((n) => messagesOf(server, n));
  assertMatch(second!.at(-1)!.content, /^\[The user wrote this meanwhile.*\n\nlook at b$/s);
  assertEquals(last!.at(-1), { role: "user", content: "look at b" });
});
