import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { jsonLine } from "../../../src/ui/print/json_output.ts";
import { command, type Ran, run, type RunOptions } from "../../helpers/program.ts";
import { ndjson, serve } from "../../helpers/server.ts";
import { strictServer } from "../../helpers/strict_server.ts";
import { testUnless } from "../../helpers/test_unless.ts";

const unix = Deno.build.os !== "windows";
const test = testUnless(!unix);
const local = (url: string) => ["--local", "--host", url, "-m", "test"];

Deno.test("TTY-01 a line of JSON has no character that a terminal acts on or hides", () => {
  const codes = [...Array(0x20).keys(), 0x7f, 0x61c, 0x200e, 0x200f, 0x2028, 0x2029, 0xfeff];
  for (let code = 0x80; code < 0xa0; code++) codes.push(code);
  for (let code = 0x202a; code <= 0x202e; code++) codes.push(code);
  for (let code = 0x2066; code <= 0x2069; code++) codes.push(code);
  const value = { text: String.fromCharCode(...codes), good: "é 日本 👨‍👩‍👧 \\u0080" };
  const line = jsonLine(value);
  assertEquals(JSON.parse(line), value);
  assertMatch(line, /^[ -~é日本👨‍👩‍👧]+\n$/u);
});

Deno.test("TTY-01 --output json and stream-json of a hostile answer", async () => {
  const text = "a\x9b31m\u202eb\u2066c\x1b[2J";
  await using server = strictServer([{ text }, { text }]);
  for (const format of ["json", "stream-json"]) {
    const { stdout } = await run([...local(server.url), "-p", "x", "--output", format]);
    assertMatch(stdout, /^[ -~\n]+$/);
    assertEquals(JSON.parse(stdout.trimEnd().split("\n").at(-1)!).response, text);
  }
});

/** The one object on stdout, without what differs from run to run. */
function result({ stdout }: Ran): Record<string, unknown> {
  const { durationMs, session_id: _, ...rest } = JSON.parse(stdout);
  assertEquals(typeof durationMs, "number");
  return rest;
}

const EMPTY = { toolExecutions: [], usage: { inputTokens: 0, outputTokens: 0 }, response: "" };

const failures: [args: string[], options: RunOptions, exitCode: number, error: string][] = [
  [["-p", "x"], {}, 2, "set OPENAI_API_KEY"],
  [["--local", "-p", ""], {}, 2, "The prompt is empty"],
  [["--local", "-p", "x", "-C", "/does/not/exist"], {}, 2, "does not exist"],
  [["--local", "--max-tokens", "x", "-p", "x"], {}, 2, "--max-tokens must be a number"],
  [["--local", "--host", "http://127.0.0.1:9", "-p", "x"], {}, 1, "Cannot reach"],
];

for (const [args, options, exitCode, error] of failures) {
  Deno.test(`--output json gives one object with the error: ${error}`, async () => {
    for (const format of ["json", "stream-json"]) {
      const ran = await run([...args, "--output", format], options);
      if (format === "stream-json") {
        ran.stdout = ran.stdout.replace(/^\{"type":"(session|thinking)".*\n/gm, "");
      }
      const { error: said, ...rest } = result(ran);
      assertEquals(rest, { type: "result", isError: true, exitCode, ...EMPTY });
      assertStringIncludes(said as string, error);
      assertEquals(ran.code, exitCode);
      assertStringIncludes(ran.stderr, `copilot: ${said}`);
    }
  });
}

test("--output json gives one object when stdin is a folder", async () => {
  const { code, stdout } = await new Deno.Command("sh", {
    args: [
      "-c",
      'exec "$@" < .',
      "sh",
      Deno.execPath(),
      ..."run -A main.ts --local --no-session -p x --output json".split(" "),
    ],
  }).output();
  const { error, ...rest } = result({ code, stdout: new TextDecoder().decode(stdout), stderr: "" });
  assertEquals([code, rest], [1, { type: "result", isError: true, exitCode: 1, ...EMPTY }]);
  assertMatch(error as string, /directory/i);
});

const signals = [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]] as const;
for (const [signal, exitCode] of signals) {
  const aborted = { type: "result", isError: true, exitCode, stopReason: "aborted", ...EMPTY };

  test(`--output json gives one object at ${signal} while stdin is read`, async () => {
    await using server = strictServer([]);
    // It says when it has begun to wait: it asks for more than the first byte.
    const child = command([...local(server.url), "--output", "json"], { stdin: "" }).spawn();
    const stdin = child.stdin.getWriter();
    // More than a pipe holds: when all is taken, the program reads.
    await stdin.write(new Uint8Array(2 ** 20).fill(0x61));
    child.kill(signal);
    const { code, stdout, stderr } = await child.output();
    const text = new TextDecoder();
    const ran = { code, stdout: text.decode(stdout), stderr: text.decode(stderr) };
    assertEquals([code, result(ran), ran.stderr], [exitCode, aborted, ""]);
    await stdin.close().catch(() => {});
  });
}

test("a signal ends the program though nobody reads its stdout", async () => {
  await Promise.all(signals.map(async ([signal, exitCode]) => {
    const taken = Promise.withResolvers<void>();
    await using server = serve(async (request, peer) => {
      const content = Array.from({ length: 100_000 }, (_, i) => `${i * 7919} `).join("");
      await ndjson([{ message: { role: "assistant", content }, done: false }], {
        "content-length": "99999999",
      })(request, peer);
      taken.resolve();
      await peer.left();
    });
    const child = command([...local(server.url), "-p", "x"]).spawn();
    const reader = child.stdout.getReader();
    await reader.read();
    await taken.promise;
    child.kill(signal);
    assertEquals((await child.status).code, exitCode, signal);
    reader.releaseLock();
    await Promise.all([child.stdout.cancel(), child.stderr.cancel()]);
  }));
});
