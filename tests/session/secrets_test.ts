import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { run } from "../helpers/program.ts";
import { type Handler, json, ndjson, respond, serve, sse } from "../helpers/server.ts";

const KEY = "sk-canary'1234567890,abcdefghij;END-OF-KEY";
const LONG = "z".repeat(50_000);

/** Nothing of the key, no more than a few lines. */
function assertShown(out: { stdout: string; stderr: string }, wanted = "[redacted]"): void {
  const all = out.stdout + out.stderr;
  for (const piece of ["canary", "1234567890", "abcdefghij", "END-OF-KEY"]) {
    assert(!all.includes(piece), all.slice(0, 2_000));
  }
  assert(all.length < 3_000, `${all.length} characters`);
  assertStringIncludes(all, wanted);
}

const completion = (finish_reason: string) =>
  sse([{ choices: [{ index: 0, delta: { content: "Hi" }, finish_reason }] }, "[DONE]"]);

const rows: [name: string, handler: Handler][] = [
  ["a finish_reason", completion(`${KEY} ${LONG}`)],
  ["an error's type", json({ error: { type: `${KEY} ${LONG}` } }, 400)],
  [
    "an error's code",
    json({ error: { code: KEY, message: "" } }, 500, { "x-should-retry": "false" }),
  ],
  ["an error in the stream", sse([{ error: { code: 400, type: KEY, message: KEY + LONG } }])],
  ["a content type", respond(400, { "content-type": KEY.replaceAll(";", "") }, "x")],
  ["a page", respond(403, { "content-type": "text/html" }, `<title>${KEY}</title>`)],
  ["no JSON", sse([`{"${KEY}`, "[DONE]"])],
  ["the path of a redirect", respond(307, { location: `/${encodeURIComponent(KEY)}` })],
];

for (const [i, [name, handler]] of rows.entries()) {
  Deno.test(`SEC-02 the key is not shown when it comes back as ${name}`, async () => {
    await using server = serve(handler);
    const args = ["--base-url", `${server.url}/v1`, "--api-key", KEY, "-m", "test", "-p", "x"];
    const output = ["text", "json", "stream-json"][i % 3]!;
    assertShown(await run([...args, "--output", output]));
    assertEquals(server.requests[0]!.headers.get("authorization"), `Bearer ${KEY}`);
  });
}

Deno.test("SEC-02 the key is not shown when it comes back as the name of a model", async () => {
  await using server = serve(
    json({ error: "model 'qwen3' not found" }, 404), // what its context is, and whether it is loaded
    json({ error: "model 'qwen3' not found" }, 404),
    json({ error: "model 'qwen3' not found" }, 404),
    json({ models: [{ name: KEY }] }),
  );
  const args = ["--local", "--host", server.url, "--api-key", KEY];
  assertShown(await run([...args, "-m", "qwen3", "-p", "x"]));
});

Deno.test("a user name and password in the address go as Basic authorization, never shown", async () => {
  const answer = ndjson([{ message: { role: "assistant", content: "Hi" }, done: true }]);
  const echo: Handler = (request, peer) => json({ error: request.head }, 400)(request, peer);
  const unknown = json({ error: "model 'm' not found" }, 404);
  await using server = serve(unknown, unknown, answer, unknown, unknown, echo, unknown);
  const host = server.url.replace("//", "//m%C3%A9:canary1234567890@");
  for (const path of ["", "/v1/"]) {
    const args = ["--local", "--host", `${host}${path}`, "-m", "m", "-p", "x"];
    const { stdout, stderr } = await run(path === "" ? args : [...args, "--output", "json"]);
    if (path === "") assertEquals([stdout, stderr], ["Hi\n", ""]);
    else assertShown({ stdout, stderr });
  }
  assertShown(await run(["--local", "--host", host, "-m", "m", "-p", "x"]), "has no model");
  assertShown(
    await run(["--base-url", `http://a:canary@127.0.0.1:9/v1`, "-m", "m", "-p", "x"]),
    "Cannot reach http://127.0.0.1:9",
  );
  const basic = `Basic ${btoa("m\xc3\xa9:canary1234567890")}`;
  for (const { headers } of server.requests) assertEquals(headers.get("authorization"), basic);
});

Deno.test("an address that can not be used is not shown where it may hold a secret", async () => {
  for (
    const address of ["http://u:canary@ x", "u:canary@x", "http://x?k=canary", "ftp://canary@x"]
  ) {
    for (const flag of [["--base-url"], ["--local", "--host"]]) {
      const { code, stdout, stderr } = await run([...flag, address, "-p", "x"]);
      assertEquals(code, 2);
      assertShown({ stdout, stderr }, "current value is hidden");
    }
  }
});

Deno.test("SEC-02 a key in the environment that is no UTF-8 is not shown", {
  ignore: Deno.build.os === "windows",
}, async () => {
  for (const [name, ...flags] of [["OPENAI_API_KEY"], ["ANTHROPIC_API_KEY", "--hosted"]]) {
    // Only a shell can set such a variable.
    const script = `${name}="canary$(printf '\\377')" exec "$@"`;
    const { code, stdout, stderr } = await new Deno.Command("sh", {
      args: ["-c", script, "sh", Deno.execPath(), "run", "-A", "main.ts", ...flags, "-p", "x"],
      stdin: "null",
    }).output();
    const text = new TextDecoder();
    assertEquals(code, 2);
    assertShown(
      { stdout: text.decode(stdout), stderr: text.decode(stderr) },
      `Cannot use ${name} as it must be printable ASCII`,
    );
  }
});
