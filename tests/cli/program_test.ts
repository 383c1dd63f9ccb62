import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { json, serve } from "../helpers/server.ts";
import { left, living, marker } from "../helpers/processes.ts";
import { command, ENTRY, run } from "../helpers/program.ts";
import { type Step, type StrictServer, strictServer, use } from "../helpers/strict_server.ts";

const local = (url: string, ...args: string[]) => ["--local", "--host", url, "-m", "test", ...args];

async function tempDir(files: Record<string, string> = {}) {
  const path = await Deno.makeTempDir();
  for (const [name, text] of Object.entries(files)) {
    await Deno.writeTextFile(`${path}/${name}`, text);
  }
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

/** The newest message of the first request. */
const lastText = ({ requests }: StrictServer) =>
  (requests[0]!.body.messages as { content: string }[]).at(-1)!.content;

/** Text in which nothing repeats. */
const numbers = (count: number) => Array.from({ length: count }, (_, i) => `${i * 7919} `).join("");

Deno.test("TTY-09 an answer goes to stdout, progress to stderr, exit code 0", async () => {
  await using dir = await tempDir({ "a.txt": "alpha\n" });
  await using server = strictServer([
    use("read_file", { file_path: "a.txt" }),
    { text: "It says alpha." },
  ]);
  const { code, stdout, stderr } = await run(local(server.url, "-p", "what?"), { cwd: dir.path });
  assertEquals([code, stdout], [0, "It says alpha.\n"]);
  assertMatch(stderr, /^· Read a\.txt · 1 line\n$/);
  assertStringIncludes(server.requests[1]!.text, "alpha");
});

Deno.test("an answer and progress in one file keep their order and their lines", async () => {
  await using dir = await tempDir();
  await using server = strictServer([
    { text: "Looking.", ...use("list_directory", { path: "." }) },
    { text: "Done." },
  ]);
  const { success } = await new Deno.Command("sh", {
    args: ["-c", 'exec "$@" >log 2>&1', "sh", Deno.execPath(), "run", "-A", ENTRY]
      .concat(local(server.url, "--no-session", "-p", "x")),
    cwd: dir.path,
    env: { XDG_CONFIG_HOME: "/nowhere", DENO_NO_UPDATE_CHECK: "1" },
  }).output();
  assertEquals(success, true);
  const log = await Deno.readTextFile(`${dir.path}/log`);
  assertMatch(log, /^Looking\.\n· Listed .*\nDone\.\n$/);
});

Deno.test("R-06 piped text is the prompt, or goes along as context; an @ in it attaches nothing", async () => {
  await using dir = await tempDir({ "b.txt": "beta\n" });
  await using server = strictServer([{ text: "a" }, { text: "b" }, { text: "c" }]);
  const pipe = { stdin: "see @b.txt", cwd: dir.path };
  assertEquals((await run(local(server.url), pipe)).stdout, "a\n");
  assertEquals((await run(local(server.url, "-p"), pipe)).stdout, "b\n");
  await run(local(server.url, "-p", "explain"), { stdin: "an error log" });
  const sent = server.requests.map((r) =>
    (r.body.messages as { content: string }[]).at(-1)!.content
  );
  assertEquals(sent, [
    "see @b.txt",
    "see @b.txt",
    "explain\n\n<stdin>\nan error log\n</stdin>",
  ]);
});

Deno.test("CMD-07 files that -p names go along, as far as nobody has to be asked; none of piped text", async () => {
  await using dir = await tempDir({ "a.txt": "alpha\n", "b.txt": "beta\n", ".env": "gamma\n" });
  await using server = strictServer([{ text: "a" }, { text: "b" }]);
  const ask = (...args: string[]) =>
    run(local(server.url, "-p", "see @a.txt, @.env and @no.txt", ...args), {
      cwd: dir.path,
      stdin: "not @b.txt",
    });
  const { code, stderr } = await ask();
  assertEquals([code, stderr], [
    3,
    "· 1 file attached\n" +
    "· @.env is not attached: read_file needs an approval, which cannot be asked " +
    "for here: it may contain variables of the environment; --yes --sandbox off allows it.\n" +
    "· @no.txt is not a file here: only the name is sent\n",
  ]);
  await ask("--yes", "--sandbox", "off");
  const sent = server.requests.map(({ body }) =>
    (body.messages as { content: string }[]).at(-1)!.content
  );
  assertMatch(
    sent[0]!,
    /^see @a\.txt, .*no\.txt\n\n<file path="a\.txt">\n[^]*alpha\n[^]*<\/file>\n\n<stdin>\nnot @b\.txt\n<\/stdin>$/,
  );
  assertEquals(sent.map((text) => ["beta", "gamma"].map((word) => text.includes(word))), [
    [false, false],
    [false, true],
  ]);
});

Deno.test("a pipe that nobody writes to or closes does not hold -p", async () => {
  await using server = strictServer([{ text: "fine" }]);
  const child = command(local(server.url, "-p", "hi"), { stdin: "" }).spawn();
  const { code, stdout, stderr } = await child.output();
  await child.stdin.close().catch(() => {});
  assertEquals([code, new TextDecoder().decode(stdout)], [0, "fine\n"]);
  assertStringIncludes(new TextDecoder().decode(stderr), "going on without it");
});

Deno.test("CMD-07 a word after -p gives no rights, like a flag as it may look: nothing is written", async () => {
  await using dir = await tempDir();
  const touch = use("write_file", { file_path: "ran.txt", content: "" });
  for (const words of [["-p=--yes"], ["--print", "--yse"], ["--", "--yes"]]) {
    await using server = strictServer([touch, { text: "I could not." }]);
    const args = [...local(server.url), ...words];
    const { code, stderr } = await run(args, { cwd: dir.path, stdin: "piped" });
    assertEquals(code, 3, words.join(" "));
    const prompt = words.at(-1)!.replace(/^-p=/, "");
    const note = `· the prompt is "${prompt}": flags go before -p\n`;
    assertEquals(stderr.includes(note), true, stderr);
    assertEquals(lastText(server), `${prompt}\n\n<stdin>\npiped\n</stdin>`);
    assertEquals([...Deno.readDirSync(dir.path)], []);
  }
});

Deno.test("PTH-07 CMD-07 arguments of every shape are answered, and the turn goes on", async () => {
  await using dir = await tempDir({ "a.txt": "alpha\n" });
  const paths = ["a\0b", "a\nb", "a\x1bb", "x".repeat(5000), "", 5, null, ["a.txt", "b"], {}, true]
    .concat("file:///etc/passwd", "%2e%2e/x", "~/x");
  const bad = [
    ...paths.flatMap((file_path) => [{ file_path }, { file_path, content: "x" }, {
      file_path,
      old_string: "",
      new_string: "x",
    }]).map((args, i) => ({
      name: ["read_file", "write_file", "edit_file"][i % 3]!,
      arguments: args,
    })),
    { name: "read_file", arguments: {} },
    { name: "run_bash", arguments: { command: "echo a\0b" } },
    { name: "run_bash", arguments: { command: ["ls"] } },
    { name: "grep_code", arguments: { path: 1, pattern: null } },
    { name: "no_such_tool", arguments: {} },
    { name: "__proto__", arguments: {} },
  ] as NonNullable<Step["toolCalls"]>;
  const good = { name: "read_file", arguments: { file_path: "a.txt" } };
  await using server = strictServer([
    { toolCalls: bad },
    { toolCalls: [good] },
    { toolCalls: [{ ...good, arguments: { file_path: "a.txt", unknown: 1 } }] },
    { text: "Done." },
  ]);
  const args = local(server.url, "-p", "x", "--output", "json", "--approve", "edits");
  const { stdout } = await run(args, { cwd: dir.path });
  const { toolExecutions, response } = JSON.parse(stdout);
  const done = toolExecutions as { isError: boolean; result: string; arguments: unknown }[];
  assertEquals([done.length, response], [bad.length + 2, "Done."]);
  const told = JSON.stringify(done.slice(0, bad.length).filter(({ isError }) => !isError));
  // A name may be odd: these are made in the folder, and nowhere else.
  const made = [...Deno.readDirSync(dir.path)].map(({ name }) => name).sort();
  assertEquals(made, ["%2e%2e", "a.txt", "file:", "~"].filter((name) => made.includes(name)), told);
  assertStringIncludes(done.at(-2)!.result, "alpha");
});

Deno.test("the settings' mistakes are one line and exit code 2", async () => {
  await using dir = await tempDir({ "file": "" });
  const rows: [args: string[], message: string][] = [
    [["--lokal"], "did you mean --local?"],
    [["-p", "x"], "set OPENAI_API_KEY"],
    [["--local", "--temperature", "9", "-p", "x"], "--temperature"],
    [["--local", "-p", "  \n"], "The prompt is empty"],
    [["--local", "-p", "x", "-C", `${dir.path}/none`], "does not exist"],
    [["--local", "-p", "x", "-C", `${dir.path}/file`], "is not a folder"],
    [["--port", "1", "-p", "x"], "--port is for another command (with serve: "],
    [["replay", "x", "--output", "text"], "copilot replay has no use for --output"],
    [["replay", "x", "--json"], "copilot replay has no use for --json"],
    [["--demo", "--local", "-p", "x"], "--demo and --local exclude each other"],
    [["--demo", "--continue", "-p", "x"], "--demo and --continue exclude each other"],
  ];
  for (const [args, message] of rows) {
    const { code, stdout, stderr } = await run(args);
    assertEquals([code, stdout], [2, ""], `${args.join(" ")}: ${stderr}`);
    assertStringIncludes(stderr, message);
    assertMatch(stderr, /^copilot: [^\n]+\n$/);
  }
});

Deno.test("the server's troubles are one line that says what to do, and exit code 1", async () => {
  await using strict = strictServer([{ error: { status: 400, message: "bad thing" } }], {
    models: ["small:1b", "test"],
  });
  const closed = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const nobody = `http://127.0.0.1:${closed.addr.port}`;
  closed.close();
  const rows: [args: string[], messages: string[]][] = [
    [["--local", "--host", nobody, "-p", "x"], [nobody, "--demo"]],
    [["--base-url", `${nobody}/v1`, "-p", "x"], [nobody.slice(7)]],
    [["--local", "--host", strict.url, "-m", "nope", "-p", "x"], ["nope", "small:1b"]],
    [local(strict.url, "-p", "x"), ["bad thing"]],
    [["--base-url", `${strict.url}/wrong`, "-m", "test", "-p", "x"], ["404"]],
  ];
  for (const [args, messages] of rows) {
    const { code, stdout, stderr } = await run(args);
    assertEquals([code, stdout], [1, ""], `${args.join(" ")}: ${stderr}`);
    for (const message of messages) assertStringIncludes(stderr, message);
    assertMatch(stderr, /copilot: [^\n]+\n$/);
    assert(!stderr.includes("    at "), stderr);
  }
});

Deno.test("a server that hangs is given up after the limit", async () => {
  await using server = serve(async (_, peer) => await peer.left());
  const [turn, doctor] = await Promise.all([
    run([...local(server.url, "-p", "x"), "--first-token-timeout", "0.2"]),
    run(["doctor", "--local", "--host", server.url]),
  ]);
  assertEquals(turn.code, 1, turn.stderr);
  // It is there, so that nobody is told to start one.
  assertEquals(doctor.code, 1);
  assertMatch(doctor.stdout, /FAIL +server +127\.0\.0\.1:\d+ does not answer within 5/);
});

Deno.test("a prompt of 10 MB goes through whole", async () => {
  await using server = strictServer([{ text: "long" }]);
  const { code, stdout } = await run(local(server.url), { stdin: "word ".repeat(2 * 2 ** 20) });
  assertEquals([code, stdout], [0, "long\n"]);
  assert(server.requests[0]!.text.length > 10 * 2 ** 20);
});

Deno.test("invalid UTF-8 on stdin is replaced, and said", async () => {
  await using server = strictServer([{ text: "ok" }]);
  const bytes = new Uint8Array([...new TextEncoder().encode("caf "), 0xe9, 0x20, 0xff]);
  const { code, stderr } = await run(local(server.url), { stdin: bytes });
  assertEquals(code, 0);
  assertStringIncludes(stderr, "U+FFFD where it was not UTF-8");
});

Deno.test("TTY-06 a reader that goes away ends the program with 141", async () => {
  await using server = strictServer([{ text: numbers(100_000), hang: true }]);
  const child = command(local(server.url, "-p", "x")).spawn();
  const reader = child.stdout.getReader();
  await reader.read();
  await reader.cancel();
  const { code } = await child.status;
  await child.stderr.cancel();
  assertEquals(code, 141);
});

Deno.test("TTY-06 a full disk under stdout is said, with exit code 1", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  await using server = strictServer([{ text: "some words" }]);
  const { code, stderr } = await new Deno.Command("sh", {
    args: [
      "-c",
      `exec "$@" >/dev/full`,
      "sh",
      Deno.execPath(),
      "run",
      "-A",
      "main.ts",
      ...local(server.url, "-p", "x"),
      "--no-session",
    ],
    stdin: "null",
    stderr: "piped",
  }).output();
  assertEquals(code, 1);
  assertStringIncludes(new TextDecoder().decode(stderr), "cannot write to stdout");
});

Deno.test("SIGINT stops the turn and leaves with 130, what was said is on stdout", {
  ignore: Deno.build.os === "windows",
}, async () => {
  await using server = strictServer([{ text: "Some words", hang: true }]);
  const child = command(local(server.url, "-p", "x")).spawn();
  const reader = child.stdout.getReader();
  const first = new TextDecoder().decode((await reader.read()).value);
  child.kill("SIGINT");
  assertEquals((await child.status).code, 130);
  reader.releaseLock();
  await Promise.all([child.stdout.cancel(), child.stderr.cancel()]);
  assertStringIncludes(first, "Some");
  await server.requests[0]!.closed;
});

Deno.test("SIGTERM ends a run whose image is a FIFO without an end", {
  ignore: Deno.build.os === "windows",
}, async () => {
  await using dir = await tempDir();
  const fifo = `${dir.path}/shot.png`;
  await new Deno.Command("mkfifo", { args: [fifo] }).output();
  const child = command(local("http://127.0.0.1:1", "-p", "x", "--image", fifo)).spawn();
  // Returns once the program has opened it.
  using _writer = await Deno.open(fifo, { write: true });
  child.kill("SIGTERM");
  assertEquals((await child.output()).code, 143);
});

for (const [signal, code] of [["SIGTERM", 143], ["SIGHUP", 129]] as const) {
  Deno.test(`PRC-07 ${signal} ends the command that runs, and the program with ${code}`, {
    ignore: Deno.build.os === "windows",
  }, async () => {
    await using dir = await tempDir();
    const mark = marker();
    const run = { command: `sleep ${mark} & wait` };
    await using server = strictServer([use("run_bash", run)]);
    const words = ["-p", "x", "--yes", "--sandbox", "off", "--output", "json"];
    const args = local(server.url, ...words);
    const child = command(args, { cwd: dir.path }).spawn();
    assertEquals((await living(mark, (count) => count === 2)).length, 2);
    child.kill(signal);
    const ended = await child.output();
    assertEquals(ended.code, code);
    assertEquals(JSON.parse(new TextDecoder().decode(ended.stdout)).exitCode, code);
    assertEquals(await left(mark), []);
  });
}

Deno.test("a default model that is not installed: an installed one is taken, and said", async () => {
  await using server = strictServer([{ text: "fine" }], { models: ["small:1b"] });
  const args = ["--local", "--host", server.url, "-p", "x"];
  const { code, stdout, stderr } = await run(args);
  assertEquals([code, stdout], [0, "fine\n"]);
  assertEquals(stderr, "· model: small:1b (the server's model; --model selects another)\n");
  assertEquals((await run([...args, "-m", "qwen3"])).code, 1);
});

Deno.test("--version and --help need nothing", async () => {
  assertMatch((await run(["--version"])).stdout, /^copilot \d+\.\d+\.\d+ /);
  assertStringIncludes((await run(["--help"])).stdout, "--local");
});

Deno.test("a proxy of the environment is not asked for servers on this machine", async () => {
  await using proxy = serve(json({ error: "this is the proxy" }, 400));
  const names = ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];
  for (const [i, name] of names.entries()) {
    await using server = strictServer([use("glob_files", { pattern: "x" }), { text: "direct" }]);
    const { port } = new URL(server.url);
    const host = ["127.0.0.1", "localhost", "0.0.0.0", "127.0.0.1"][i];
    const { stdout, stderr } = await run(local(`http://${host}:${port}`, "-p", "x"), {
      env: { [name]: proxy.url },
    });
    assertEquals(stdout, "direct\n", stderr);
  }
  assertEquals(proxy.requests, []);
  // Positive control: for another machine it is.
  const { stderr } = await run(local("http://192.0.2.1:8080", "-p", "x"), {
    env: { HTTP_PROXY: proxy.url },
  });
  assertStringIncludes(stderr, "this is the proxy");
});

Deno.test("no telemetry: the program connects to the model server and to nothing else", async () => {
  await using dir = await tempDir({ "a.txt": "alpha\n" });
  await using server = strictServer([
    use("read_file", { file_path: "a.txt" }),
    { text: "It says alpha." },
  ]);
  const audit = `${dir.path}/audit`;
  const { code } = await run(local(server.url, "-p", "what?"), {
    cwd: dir.path,
    env: { DENO_AUDIT_PERMISSIONS: audit },
  });
  assertEquals(code, 0);
  // Deno writes each permission that the program uses into this file, a line of JSON each.
  const used = (await Deno.readTextFile(audit)).trimEnd().split("\n").map((line) =>
    JSON.parse(line) as { permission: string; value: string }
  ).filter(({ permission }) => permission === "net");
  assert(used.length > 0);
  assertEquals(used.filter(({ value }) => !value.includes(new URL(server.url).host)), []);
});
