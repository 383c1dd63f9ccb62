import { assertEquals } from "@std/assert";
import { PrintFrontend } from "../../../src/frontends/print/print.ts";
import { output } from "../../../src/terminal/stdio.ts";
import type { SessionEvent } from "../../../src/session/frontend.ts";
import { run } from "../../helpers/program.ts";
import { strictServer } from "../../helpers/strict_server.ts";

/** Streams that keep what is written. */
function streams(): { stdout: string[]; stderr: string[]; frontend: PrintFrontend } {
  const written = { stdout: [] as string[], stderr: [] as string[] };
  const to = (list: string[]) =>
    output({
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
    columns: undefined,
    signal: new AbortController().signal,
    stopCode: () => 130,
  });
  return { ...written, frontend };
}

Deno.test("that a call was recovered is said once, that the model loads once in a row", async () => {
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
    "· it broke; attempt 2 of 5 in 10 ms",
    "· the server is loading m",
    "",
  ]);
});

Deno.test("a model that gave no answer is an error, in each format", async () => {
  for (const format of ["text", "json", "stream-json"]) {
    await using server = strictServer([{ text: "" }, { text: "" }]);
    const args = ["--local", "--host", server.url, "-m", "test", "--output", format, "-p", "hi"];
    const { code, stdout, stderr } = await run(args);
    assertEquals(code, 1, stdout);
    assertEquals(stderr.endsWith("copilot: the model gave no answer\n"), true, stderr);
    if (format === "text") continue;
    const { exitCode, isError, error, response } = JSON.parse(stdout.trim().split("\n").at(-1)!);
    assertEquals([exitCode, isError, error, response], [1, true, "the model gave no answer", ""]);
  }
});

Deno.test("-p --continue --no-session goes on, and records nothing", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await using server = strictServer([{ text: "One." }, { text: "Two." }, { text: "Three." }]);
    const ask = (...args: string[]) =>
      run(["--local", "--host", server.url, "-m", "test", "--continue", ...args], {
        cwd: folder,
        env: { XDG_STATE_HOME: folder },
      });
    const files = () => [...Deno.readDirSync(`${folder}/copilot/sessions`)].length;
    await ask("-p", "one");
    assertEquals(files(), 1);
    const { stderr } = await ask("--no-session", "-p", "two");
    assertEquals(stderr.includes("2 messages"), true, stderr);
    assertEquals((server.requests[1]!.body.messages as unknown[]).length, 4);
    assertEquals(files(), 1);
    await ask("-p", "three");
    assertEquals([(server.requests[2]!.body.messages as unknown[]).length, files()], [4, 2]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
