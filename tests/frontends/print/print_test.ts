import { assertEquals } from "@std/assert";
import { PrintFrontend } from "../../../src/frontends/print/print.ts";
import { Output } from "../../../src/terminal/stdio.ts";
import type { SessionEvent } from "../../../src/session/frontend.ts";

/** Streams that keep what is written. */
function streams(): { stdout: string[]; stderr: string[]; frontend: PrintFrontend } {
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
