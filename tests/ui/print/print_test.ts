import { assertEquals, assertMatch } from "@std/assert";
import { localConfig } from "../../../src/config.ts";
import { PrintFrontend } from "../../../src/ui/print/print.ts";
import type { SessionEvent } from "../../../src/session/frontend.ts";
import { openPermissions } from "../../../src/safety/permissions.ts";
import { Session } from "../../../src/session/session.ts";
import { Output } from "../../../src/ui/terminal/stdio.ts";
import type { Job } from "../../../src/types/tool.ts";
import { type Step, strictServer } from "../../helpers/strict_server.ts";
import { tempFolder } from "../../helpers/temp_folder.ts";

type PrintOptions = ConstructorParameters<typeof PrintFrontend>[0];

function streams(options: Partial<PrintOptions> = {}): {
  stdout: string[];
  stderr: string[];
  frontend: PrintFrontend;
} {
  const written = { stdout: [] as string[], stderr: [] as string[] };
  const to = (list: string[]) =>
    new Output({
      write(bytes) {
        list.push(new TextDecoder().decode(bytes));
        return Promise.resolve(bytes.length);
      },
    }, () => {});
  const frontend = new PrintFrontend({
    format: "text",
    stdout: to(written.stdout),
    stderr: to(written.stderr),
    isTerminal: false,
    signal: new AbortController().signal,
    stopCode: () => 130,
    ...options,
  });
  return { ...written, frontend };
}

Deno.test("that a call was recovered is said once, that the model loads, too", async () => {
  const { stderr, frontend } = streams();
  const recovered: SessionEvent = { type: "tool_call_recovered", name: "run_bash", id: "1" };
  const loading: SessionEvent = { type: "loading", model: "m" };
  const retry: SessionEvent = {
    ...{ type: "retry", attempt: 1, maxAttempts: 5, delayMs: 10, reason: "it broke" },
  };
  for (const event of [recovered, recovered, loading, loading, retry, loading, recovered]) {
    frontend.onEvent(event);
    await Promise.resolve();
  }
  await new Promise((resolve) => queueMicrotask(() => resolve(undefined)));
  assertEquals(stderr.join("").split("\n"), [
    "· the call of run_bash was recovered from the answer's text",
    "· the server is loading m",
    "· it broke · next try in 1 s (2 of 5)",
    "",
  ]);
});

async function printed(
  steps: Step[],
  options: Partial<PrintOptions> = {},
  yes = false,
  prompt = "go",
): Promise<{ code: number; stdout: string; stderr: string }> {
  await using server = strictServer(steps);
  const { stdout, stderr, frontend } = streams(options);
  using temp = tempFolder();
  const folder = temp.path;
  await Deno.writeTextFile(`${folder}/.env`, "KEY=1\n");
  await using session = new Session({
    config: { local: localConfig({ host: server.url, model: "test", maxRetries: 0 }) },
    isChosen: true,
    folder,
    permissions: openPermissions({ yes }, () => undefined),
    readsFolder: false,
  }, frontend);
  const code = await frontend.run(session, prompt);
  // What is queued is written in the next turns of the event loop.
  await new Promise((resolve) => setTimeout(resolve));
  return { code, stdout: stdout.join(""), stderr: stderr.join("") };
}

const bash = { toolCalls: [{ name: "run_bash", arguments: { command: "true" } }] };
const LOST = "[The answer broke off:";

const RUNS: [name: string, steps: Step[], code: number, stdout: RegExp, stderr: RegExp][] = [
  ["an answer", [{ text: "a" }], 0, /^a\n$/, /^$/],
  ["an answer that ends its line", [{ text: "a\n" }], 0, /^a\n$/, /^$/],
  ["no answer", Array(4).fill({ text: "" }), 1, /^$/, /no answer\n$/],
  ["a call that is refused", [bash, { text: "b" }], 3, /^b\n$/, /^· Run true · refused/],
  [
    "a call between two texts",
    [{ text: "a", ...bash }, { text: "b" }],
    3,
    /^a\nb\n$/,
    /^· Run true · refused/,
  ],
  ["a failure", [{ error: { status: 400, message: "x" } }], 1, /^$/, /^copilot: .*x.*\n$/],
  ["a limit", [{ text: "a", finish: "length" }], 4, /^a/, /^/],
  ["calls without an end", Array(6).fill(bash), 4, /^$/, /· Stopped: /],
  [
    "an answer that breaks off twice",
    [{ text: "half", cut: "finish" }, { text: " of it", cut: "finish" }],
    1,
    /^half\n of it/,
    /^· .*asked again[^]*copilot: /,
  ],
  [
    "an answer that goes on where it broke off",
    [{ text: "half", cut: "finish" }, { text: " and half" }],
    0,
    /^half\n and half\n$/,
    /^· .*asked again/,
  ],
];
for (const [name, steps, code, stdout, stderr] of RUNS) {
  Deno.test(`one prompt: ${name} is exit code ${code}`, async () => {
    const ran = await printed(steps);
    assertMatch(ran.stdout, stdout);
    assertMatch(ran.stderr, stderr);
    assertEquals([ran.code, ran.stdout.includes(LOST)], [code, false]);
  });

  Deno.test(`one prompt as JSON: ${name}`, async () => {
    const ran = await printed(steps, { format: "json" });
    const result = JSON.parse(ran.stdout);
    const isError = code === 1;
    assertEquals([ran.code, result.exitCode, result.isError], [code, code, isError]);
    assertEquals(["error" in result, "stopReason" in result], [isError, !isError]);
    assertEquals(result.toolExecutions.length, ran.stderr.match(/^· R[ua]n /gm)?.length ?? 0);
    assertEquals(result.durationMs < 60_000, true);
  });
}

Deno.test("one prompt: a file that it names and that is refused is exit code 3", async () => {
  const { code, stderr } = await printed([{ text: "a" }], {}, false, "see @.env");
  assertEquals(code, 3);
  assertMatch(stderr, /^· @\.env is not attached: /);
});

Deno.test("one prompt: the name of no skill or command is sent, and a line says so", async () => {
  const { code, stderr } = await printed([{ text: "a" }], {}, false, "/nope x");
  assertEquals([code, stderr], [
    0,
    "· No skill or command /nope is in use: the prompt is sent as it is\n",
  ]);
});

Deno.test("one prompt: a signal's exit code comes before all others", async () => {
  const stopped = await printed([{ text: "a" }], { signal: AbortSignal.abort() });
  assertEquals(stopped.code, 130);
});

Deno.test("an answer that a terminal shows does not drive it", async () => {
  for (const [isTerminal, shown] of [[true, "a␛[2J\n"], [false, "a\x1b[2J\n"]] as const) {
    assertEquals((await printed([{ text: "a\x1b[2J" }], { isTerminal })).stdout, shown);
  }
});

Deno.test("a stream of events is one object a line, the result last, and no output twice", async () => {
  const steps = [
    { toolCalls: [{ name: "run_bash", arguments: { command: "echo a" } }] },
    { text: "Done." },
  ];
  const ran = await printed(steps, { format: "stream-json" }, true);
  const lines = ran.stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  assertEquals(lines.at(-1).response, "Done.");
  const { exec } = lines.find(({ type }) => type === "tool_done");
  assertEquals(exec.details, { exitCode: 0 });
  assertEquals(lines.at(-1).toolExecutions, [exec]);
  assertEquals(lines.filter(({ type }) => type === "text_delta").length > 0, true);
  assertEquals(ran.stderr, "");
});

Deno.test("what is of no use to a reader of a stream is not printed; what is, on stderr", async () => {
  const { stdout, stderr, frontend } = streams();
  const events: SessionEvent[] = [
    { type: "output", newest: () => "a" },
    { type: "command_progress", tokens: 1 },
    { type: "rule_added", rule: "x", words: "x" },
    { type: "session_notice", notice: { code: "record", why: "so\x1b" } },
    { type: "resumed", resumed: undefined },
    { type: "instructions", instructions: { files: [], refused: [], isLoaded: true } },
    { type: "job_ended", job: { number: 1, exitCode: 0, command: "ls" } as Job },
  ];
  for (const event of events) frontend.onEvent(event);
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals(stdout, []);
  assertEquals(stderr.join("").split("\n"), [
    "· the session cannot be saved for now: so␛",
    "There is no earlier session in this folder, so the conversation starts here.",
    "· Job 1 done: ls",
    "",
  ]);
});

Deno.test("notices of the turn are a part of the stream of events", async () => {
  const ran = await printed([{ text: "a" }], { format: "stream-json" }, false, "see @.env");
  const events = ran.stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  const { code, message } = events.find(({ type }) => type === "notice");
  assertEquals([code, message.startsWith("@.env is not attached")], ["attached", true]);
  assertEquals(ran.stderr, "");
});
