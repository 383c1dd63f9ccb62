import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { examineSession } from "../../src/cli/doctor.ts";
import { localConfig } from "../../src/config.ts";
import { type CommandHome, CommandRunner } from "../../src/ui/terminal/session/command_runner.ts";
import { fakeSession } from "../helpers/fake_session.ts";
import { run } from "../helpers/program.ts";
import { type Step, strictServer, use } from "../helpers/strict_server.ts";
import { tempFolder } from "../helpers/temp_folder.ts";

const call = use("list_directory", { path: "." });
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
    const what = kind === "compat" ? "OpenAI-style server" : kind;
    assertMatch(stdout, new RegExp(`^copilot doctor: ${what}, 127`));
    assertMatch(stdout, /^ok +tools +called natively/m);
    assertMatch(stdout, /^ok +result /m);
    assertMatch(stdout, /^ok +cache /m);
    assertMatch(stdout, /^Ready: test$/m);
    assertEquals(server.requests.map(({ problem }) => problem), [undefined, undefined, undefined]);
  });
}

/** An answer to a prompt of which nothing came from the cache. */
const uncached: Step = {
  text: "I cannot.",
  usage: { inputTokens: 10, outputTokens: 1, cachedTokens: 0 },
};

const ROWS: [name: string, steps: Step[], status: string, code: number, kind?: "compat"][] = [
  ["calls in text", [{ text: "ready" }, written, { text: "A README." }], "note tools", 0],
  ["no calls", [{ text: "ready" }, { text: "I cannot." }, { text: "ready" }], "fail tools", 1],
  ["no calls, and no cache", [{ text: "ready" }, uncached, uncached], "note cache", 1, "compat"],
  ["no answer", [{ text: "" }], "fail answer", 1],
  [
    "an answer without end",
    [{ text: "And on it goes. ".repeat(500), hang: true }, call, { text: "A README." }],
    "note answer",
    0,
  ],
  ["a refusal", [{ error: { status: 400, message: "no memory" } }], "fail answer", 1],
  ["nothing after a result", [{ text: "ready" }, call, { text: "" }], "note result", 0],
];

for (const [name, steps, status, exitCode, kind = "local"] of ROWS) {
  Deno.test(`doctor --json: ${name}`, async () => {
    await using server = strictServer(steps);
    const args = ["doctor", ...flags(kind, server.url), "-m", "test", "--json"];
    const { code, stdout } = await run(args);
    assertEquals(code, exitCode);
    const report = JSON.parse(stdout);
    assertEquals(report.ok, code === 0);
    const found = report.checks.map((c: Record<string, string>) => `${c.status} ${c.name}`);
    assertEquals(found.includes(status), true, stdout);
  });
}

Deno.test("doctor: the models of roles are tested, each to its end", async () => {
  using home = tempFolder();
  await using other = strictServer([call], { models: ["big"] });
  await using server = strictServer([{ text: "ready" }, call, { text: "Yes." }, { text: "ready" }]);
  const roles = {
    plan: "http://127.0.0.1:9/v1#gone",
    explore: `${other.url}/v1#big`,
    summary: "test",
  };
  await Deno.mkdir(`${home.path}/copilot`);
  await Deno.writeTextFile(`${home.path}/copilot/config.json`, JSON.stringify({ roles }));
  const args = ["doctor", ...flags("compat", server.url), "-m", "test"];
  const { code, stdout } = await run(args, { env: { XDG_CONFIG_HOME: home.path } });
  assertEquals(code, 1);
  assertMatch(
    stdout,
    /^FAIL +plan +gone at 127\.0\.0\.1:9: Nothing answers at 127\.0\.0\.1:9\n +Start it/m,
  );
  assertMatch(stdout, /^ok +explore +big at \S+: called natively/m);
  assertMatch(stdout, /^ok +summary +test: after /m);
});

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
  assertMatch(missing.stdout, /FAIL +model +the server has no model test; it has: other/);
  assertMatch(
    missing.stdout,
    /^(ok +commands sandboxed with |note +commands not sandboxed: no sandbox)/m,
  );
  const nobody = await run([...at, "http://127.0.0.1:9", "--sandbox", "read-only"]);
  assertMatch(
    nobody.stdout,
    /commands (sandboxed with .*: read-only, without|refused, because no sandbox)/,
  );
  assertEquals(nobody.code, 1);
  assertMatch(nobody.stdout, /FAIL +server .*\n?.*ollama/);
  assertEquals((await run(["doctor", "--demo"])).code, 2);
  assertEquals((await run(["-p", "x", "--json", "--demo"])).code, 2);
});

Deno.test("/doctor examines the server of the session, with what a session can do about it", async () => {
  await using server = strictServer([{ text: "ready" }, call, { text: "A README." }]);
  const { signal } = new AbortController();
  const examined = async (host: string, model?: string, demoUrl?: string, columns = 100) => {
    await using fake = await fakeSession(host, {
      ...model && { config: { local: localConfig({ host, model }) } },
      demoUrl,
    });
    let text = "";
    const write = (piece: string) => void (text += piece);
    const home: Partial<CommandHome> = {
      doctor: (session, output) => examineSession(session, {}, output),
    };
    const runner = new CommandRunner(
      fake.session,
      { columns, wait() {}, screen: { print: (row: string) => write(`${row}\n`) } } as never,
      home as CommandHome,
      () => {},
    );
    await runner.run({ name: "doctor", argument: "", line: "/doctor" }, signal);
    assertEquals(fake.session.agent.state.messages, []);
    return text;
  };
  assertMatch(await examined(server.url), /^copilot doctor: local, [^]*\nReady: test\n$/);
  assertMatch(await examined("http://127.0.0.1:1"), /or use another with\s+\/model --local --host/);
  assertMatch(await examined("http://127.0.0.1:1", "demo"), /^copilot doctor: local/);
  assertEquals(
    await examined("http://127.0.0.1:1", "m", "http://127.0.0.1:1"),
    "The demo has no model server. Choose one with /setup.\n",
  );
  assertEquals(
    await examined("http://127.0.0.1:1", "m", "http://127.0.0.1:1", 40),
    "The demo has no model server. Choose one\nwith /setup.\n",
  );
});
