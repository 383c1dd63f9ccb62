import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import {
  builtinTools,
  callCompat,
  callHosted,
  callLocal,
  type CompatConfig,
  CopilotAgent,
  fetchTool,
  type HostedConfig,
  jobStore,
  type LocalConfig,
  localConfig,
  type Message,
  processTurn,
  type Tool,
} from "../src/mod.ts";
import { strictServer, use } from "./helpers/strict_server.ts";
import { contentOf } from "./tools/text_results.ts";
import { workspace } from "./tools/workspace.ts";

Deno.test("the README's library example: a tool of one's own, onEvent, a loop over turns", async () => {
  await using server = strictServer([
    use("today", {}),
    { text: "It is today." },
    { text: "A test." },
  ]);
  const today: Tool = {
    name: "today",
    description: "Today's date",
    parameters: { type: "object", properties: {} },
    access: "read",
    run: () => new Date(0).toISOString(),
  };
  const config = { local: localConfig({ model: "test", host: server.url }) };
  const agent = new CopilotAgent(config, Deno.cwd(), { tools: [...builtinTools, today] });
  const started: string[] = [];
  const responses: string[] = [];
  for (const question of ["What day is it?", "What does this project do?"]) {
    const { response } = await processTurn(agent, question, {
      onEvent: (event) => event.type === "tool_start" && started.push(event.name),
    });
    responses.push(response);
  }
  assertEquals(responses, ["It is today.", "A test."]);
  assertEquals(started, ["today"]);
});

Deno.test("a built-in tool can be called by hand: what is left out has its default", async () => {
  using ws = workspace();
  ws.put("a.txt", "one\n");
  await using jobs = jobStore();
  const config = { local: localConfig() };
  const { tools } = new CopilotAgent(config, ws.dir, { jobs });
  for (const offered of [builtinTools, tools]) {
    const run = async (name: string, args: Record<string, unknown>) =>
      contentOf(await offered.find((tool) => tool.name === name)!.run(args, ws.context));
    assertEquals(await run("read_file", { file_path: "a.txt" }), "1\tone\n[1 line]");
    assertStringIncludes(await run("run_bash", { command: "true" }), "exit code: 0");
    assertStringIncludes(await run("glob_files", { pattern: "*.txt" }), "a.txt");
    assertStringIncludes(await run("grep_code", { pattern: "one" }), "a.txt:1:one");
    assertStringIncludes(await run("list_directory", {}), "a.txt");
    await assertRejects(() => run("read_file", {}), TypeError, "file_path is required");
  }
});

Deno.test("the tool for pages refuses, without any policy, what is not public", async () => {
  using ws = workspace();
  const run = async (url: unknown) => await fetchTool.run({ url }, ws.context);
  await assertRejects(
    () => run("http://0x7f.1:8000/"),
    Error,
    "of this machine or of a local network",
  );
  await assertRejects(() => run("file:///etc/passwd"), Error, "only addresses with http");
  await assertRejects(() => run(undefined), TypeError, "url");
});

Deno.test("a backend is called with the defaults of what its configuration leaves out", async () => {
  await using server = strictServer([{ text: "a" }, { text: "b" }, { text: "c" }, { text: "d" }]);
  const { url } = server;
  const hi: Message[] = [{ role: "user", content: "hi" }];
  const local = { model: "test", host: url };
  await callLocal(local as LocalConfig, hi);
  await callLocal({ ...local, useCompat: true } as LocalConfig, hi);
  await callCompat({ model: "test", baseUrl: `${url}/v1` } as CompatConfig, hi);
  await callHosted({ apiKey: "key", baseUrl: url } as HostedConfig, hi);
  const { options, ...rest } = server.requests[0]!.body;
  assertEquals(options, { num_predict: 32_768, temperature: 0.1, repeat_penalty: 1.2 });
  const limits = [rest, ...server.requests.slice(1).map(({ body }) => body)].map((b) =>
    b.max_tokens
  );
  assertEquals(limits, [undefined, 32_768, undefined, 8192]);
  assertEquals(server.requests[3]!.headers.get("anthropic-version"), "2023-06-01");
  await assertRejects(() => callLocal({ ...local, maxTokens: 0 } as LocalConfig, hi), RangeError);
  await assertRejects(() => callHosted({ apiKey: "" } as HostedConfig, hi), RangeError);
});
