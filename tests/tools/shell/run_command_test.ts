import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { commandEnvironment } from "../../../src/tools/shell/command_environment.ts";
import type { ConfinedProgram } from "../../../src/types/confine.ts";
import type { NewestOutput, ToolContext } from "../../../src/types/tool.ts";
import { left, living, marker } from "../../helpers/processes.ts";
import { runBash as outcomeOf } from "../../../src/tools/shell/run_command.ts";
import { runBash } from "../text_results.ts";
import {
  linuxTest,
  posixTest as test,
  run,
  RUN_MODULE,
  type Workspace,
  workspace,
} from "../workspace.ts";

// The commands are for a POSIX shell.
const ignore = Deno.build.os === "windows";

function bash(
  ws: Workspace,
  command: string,
  timeout_seconds = 60,
  context: Partial<ToolContext> = {},
): Promise<string> {
  return runBash({ command, timeout_seconds }, { ...ws.context, ...context });
}

/** A program whose script has commands of `run`. */
function program(ws: Workspace, script: string, options: Deno.CommandOptions): Deno.Command {
  ws.put(
    "script.ts",
    `import { runBash } from "${import.meta.resolve("../../../src/tools/shell/run_command.ts")}";
    const signal = new AbortController().signal;
    const context = { workingDir: Deno.args[0], maxOutputChars: 1000, signal };
    const run = (command) => runBash({ command, timeout_seconds: 60 }, context);
    ${script}`,
  );
  const args = [...RUN_MODULE.slice(1), ws.at("script.ts"), ws.dir];
  return new Deno.Command(RUN_MODULE[0], { args, ...options });
}

// Commands in which NAP sleeps under a mark; none may be left of it. They run side by side: the
// deaf ones take the two seconds that SIGTERM is given, and no call may touch the others' processes.
const UNENDING = [
  ["a child", "sleep NAP; :"],
  ["a grandchild", "bash -c 'sleep NAP; :'; :"],
  ["a pipeline of five", "sleep NAP | sleep NAP | sleep NAP | sleep NAP | sleep NAP"],
  ["in the background", "sleep NAP & sleep NAP & wait"],
  ["a group of its own, by timeout(1)", "timeout 999 sleep NAP; :"],
  ["groups of their own, by job control", "set -m; sleep NAP & sleep NAP | sleep NAP & wait"],
  ["a session of its own", "setsid sleep NAP & wait"],
  ["a deaf session of its own", "setsid bash -c \"trap '' TERM; sleep NAP; :\" & wait"],
  ["stopped", "sleep NAP & kill -STOP $!; wait"],
  ["a deaf shell and child", "trap '' TERM INT HUP; sleep NAP; sleep NAP"],
  ["a deaf child", "(trap '' TERM; sleep NAP) & wait"],
  ["a shell that starts another to its end", "trap 'sleep NAP & sleep NAP' TERM; sleep NAP & wait"],
] as const;

test("PRC-01 at the time limit nothing is left", async (ws) => {
  const runs = UNENDING.map(([name, command]) => {
    const mark = marker();
    return { name, mark, result: bash(ws, command.replaceAll("NAP", mark), 0.3) };
  });
  for (const { name, mark, result } of runs) {
    assertEquals((await result).startsWith("exit code: 124\ntimed_out: true"), true, name);
    assertEquals(await living(mark), [], name);
  }
});

test("a command runs where the folder that Deno was started in was removed", async (ws) => {
  const folder = Deno.cwd();
  const removed = Deno.makeTempDirSync();
  Deno.chdir(removed);
  try {
    Deno.removeSync(removed);
    assertEquals(await bash(ws, "echo out"), "exit code: 0\nstdout:\nout");
  } finally {
    Deno.chdir(folder);
  }
});

test("PRC-01 the output so far is in the result", async (ws) => {
  const args = { command: "echo out; echo err >&2; sleep 100", timeout_seconds: 1 };
  const { content, exitCode, isTimedOut } = await outcomeOf(args, ws.context);
  assertEquals([exitCode, isTimedOut], [124, true]);
  assertStringIncludes(content, "timed_out: true");
  assertStringIncludes(content, "\nstdout:\nout\nstderr:\nerr");
});

const BACKGROUND = [
  ["holding the pipe", "sleep NAP & echo done"],
  ["writing for ever", "(while :; do echo x; sleep .01; done; : NAP) & echo done"],
  ["without the pipe", "sleep NAP >/dev/null 2>&1 & echo done"],
  ["nohup", "nohup sleep NAP >/dev/null 2>&1 & echo done"],
  ["a group of its own", "timeout 999 sleep NAP >/dev/null 2>&1 & echo done"],
  ["disowned by job control", "set -m; sleep NAP >/dev/null 2>&1 & disown; echo done"],
  ["a failing shell", "sleep NAP & echo done; exit 3"],
] as const;

test("PRC-02 returns when the shell does, and ends what it left", async (ws) => {
  for (const [name, command] of BACKGROUND) {
    const mark = marker();
    const result = await bash(ws, command.replaceAll("NAP", mark));
    assert(result.startsWith(`exit code: ${command.includes("exit 3") ? 3 : 0}\n`), result);
    assertStringIncludes(result, "ended processes it left in the background", name);
    assert(/^done$/m.test(result), result);
    assertEquals(await living(mark), [], name);
  }
});

linuxTest("PRC-02 a process cannot by its name have another's process ended", async (ws) => {
  const other = new Deno.Command("sleep", { args: [marker()] }).spawn();
  try {
    for (const name of [`\n${other.pid}`, `\n${other.pid} (`, `)\n${other.pid} () S`]) {
      const mark = marker();
      // A script is known by its file's name.
      ws.put(name, `#!/bin/sh\ntouch started\nsleep ${mark}\n:\n`, 0o755);
      const command = `./$'${name}' & until [ -e started ]; do :; done; rm started; echo done`;
      const result = await bash(ws, command);
      assertStringIncludes(result, "ended processes it left in the background: 2 (");
      assertEquals(await living(mark), []);
      assertEquals((await living("sleep")).some((row) => parseInt(row) === other.pid), true, name);
    }
  } finally {
    other.kill("SIGKILL");
    await other.status;
  }
});

linuxTest("PRC-02 a process that leaves on purpose (setsid) escapes", async (ws) => {
  const mark = marker();
  await run("mkfifo", ws.at("gone"));
  const command = `setsid --fork sh -c ': > gone; exec sleep ${mark}'; : < gone; echo done`;
  const result = await bash(ws, command);
  assertEquals(result, "exit code: 0\nstdout:\ndone");
  // It also shows that the other tests would see one that is left.
  const left = await living(mark);
  assertEquals(left.length, 1);
  Deno.kill(parseInt(left[0]!), "SIGKILL");
});

test("an abort ends the command, and tells what it printed in the end", async (ws) => {
  await run("mkfifo", ws.at("started"));
  const cases = [
    "echo begun; sleep NAP & : > started; wait",
    "echo begun; : > started; yes; : NAP",
  ];
  for (const command of cases) {
    const mark = marker();
    const controller = new AbortController();
    const { signal } = controller;
    const running = bash(ws, command.replaceAll("NAP", mark), 60, { signal });
    // Opens once the command does.
    (await Deno.open(ws.at("started"))).close();
    assert((await living(mark)).length > 0);
    controller.abort(new Error("stopped by the user"));
    const error = await assertRejects(() => running, Error, "It printed so far:\nstdout:\nbegun");
    assertEquals((error.cause as Error).message, "stopped by the user");
    assertEquals(await living(mark), []);
  }
});

test("nothing is started once it is aborted", async (ws) => {
  const signal = AbortSignal.abort(new Error("too late"));
  await assertRejects(() => bash(ws, "touch made", 60, { signal }), Error, "too late");
  assertEquals(ws.names(), []);
});

test("PRC-03 much output takes little memory, and what is left out is counted", async (ws) => {
  const rows: [command: string, total: number][] = [
    ["head -c 150M /dev/zero | tr '\\0' x", 150 * 2 ** 20],
    ["seq 1000000 3999999", 24_000_000],
  ];
  for (const [command, total] of rows) {
    // A first run, as the first use of anything takes memory.
    await bash(ws, "yes | head -c 1M");
    const before = Deno.memoryUsage().rss;
    const result = await bash(ws, command);
    const grown = Deno.memoryUsage().rss - before;
    assert(grown < 50e6, `${command}: ${grown} bytes more`);
    assert(result.length <= 100_000, `${result.length} characters`);
    const parts = /^exit code: 0\nstdout:\n([^[]*)\n\[(\d+) bytes omitted: [^\]]*\]\n([^]*)$/;
    const [, head, omitted, tail] = parts.exec(result) ?? [];
    // The line breaks at the end of either part were trimmed.
    const trimmed = command.startsWith("head") ? 0 : 2;
    assertEquals(head!.length + Number(omitted) + tail!.length + trimmed, total, command);
    assert(head!.length > 49_000 && tail!.length > 49_000);
    if (command.startsWith("seq")) {
      assert(head!.startsWith("1000000\n") && tail!.endsWith("\n3999999"));
    }
  }
});

test("stdout and stderr share the room: one leaves to the other what it does not need", async (ws) => {
  const limit = { maxOutputChars: 10_000 };
  const both = await bash(ws, "seq 100000; seq 200000 300000 >&2", 60, limit);
  assert(both.length <= 10_000 && both.length > 9000, `${both.length} characters`);
  const [out, err] = both.split("\nstderr:\n") as [string, string];
  const parts = [[out, "1\n2\n", "100000"], [err, "200000\n", "300000"]] as const;
  for (const [part, first, last] of parts) {
    assertStringIncludes(part, first);
    assert(part.endsWith(last));
    assertStringIncludes(part, "bytes omitted");
    assert(part.length > 4000);
  }
  const one = await bash(ws, "seq 1000 2500; echo oops >&2", 60, limit);
  assert(!one.includes("omitted"));
  assert(one.endsWith("2500\nstderr:\noops"));
});

test("no limit on results is no limit on memory", async (ws) => {
  const context = { maxOutputChars: Number.MAX_SAFE_INTEGER };
  const result = await bash(ws, "yes | head -c 20M; echo end", 60, context);
  assert(result.length < 9e6 && result.endsWith("\nend"), `${result.length} characters`);
});

test("PRC-04 no input, no terminal, and nothing that would ask", async (ws) => {
  const rows = [
    ["cat; read x || echo eof", "eof"],
    ["(: < /dev/tty) 2>/dev/null || echo none; test -t 0 || test -t 1 || echo no", "none\nno"],
    ["echo $GIT_TERMINAL_PROMPT $PAGER $GIT_PAGER $EDITOR $GIT_EDITOR", "0 cat cat true true"],
    ['echo "$TERM|$GPG_TTY|"', "dumb||"],
  ] as const;
  for (const [command, said] of rows) {
    assertEquals(await bash(ws, command), `exit code: 0\nstdout:\n${said}`);
  }
  const ask = "git init -q . && git add -A && git commit --allow-empty 2>&1; :";
  const commit = await bash(ws, ask, 30);
  assert(!commit.includes("timed_out"), commit);
});

test("PRC-04 what is typed to the program never reaches a command", async (ws) => {
  const script = `console.log((await run("cat")).content);
    console.log(await new Response(Deno.stdin.readable).text());`;
  const child = program(ws, script, { stdin: "piped", stdout: "piped" }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode("typed"));
  await writer.close();
  const { stdout } = await child.output();
  assertEquals(new TextDecoder().decode(stdout), "exit code: 0\nno output\ntyped\n");
});

test("PRC-07 a program that crashes takes its command along", async (ws) => {
  for (const crash of ["throw new Error('oops')", "Deno.exit(3)"]) {
    const mark = marker();
    // The second one is of another group, as with `timeout`.
    const command = `trap '' TERM; sleep ${mark} & set -m; sleep ${mark} & : > begun; wait`;
    const script = `run(${JSON.stringify(command)});
      const look = () => {
        try { Deno.statSync(Deno.args[0] + "/begun"); } catch { return setTimeout(look, 5); }
        ${crash};
      };
      look();`;
    const child = program(ws, script, { stderr: "null" });
    assert((await child.output()).code > 0);
    assertEquals(await left(mark), [], crash);
    Deno.removeSync(ws.at("begun"));
  }
});

linuxTest("PRC-04 the shell leads a session of its own, so no terminal controls it", async (ws) => {
  // The fields after the name: state, parent, group, session, terminal.
  const script = "read -r p c s pp g sid tty _ < /proc/$$/stat; echo $((p - g)) $((p - sid)) $tty";
  assertEquals(await bash(ws, script), "exit code: 0\nstdout:\n0 0 0");
});

Deno.test.each(
  [
    ["colours", "printf '\\033[1;31mred\\033[0m\\n'", "red"],
    ["invalid UTF-8", "printf 'a\\377b\\n'", "a\ufffdb"],
    ["a character in two writes", "printf '\\346'; printf '\\227\\245\\n'", "日"],
  ] as const,
)("PRC-05 output as text: %s", { ignore }, async (_name, command, expected) => {
  using ws = workspace();
  const result = await bash(ws, command);
  assertEquals(result, `exit code: 0\nstdout:\n${expected}`);
  assert(result.isWellFormed());
});

Deno.test.each(
  [
    ["true", "0\nno output"],
    ["exit 1", "1\nno output"],
    ["exit 130", "130 (128 + 2: SIGINT)\nno output"],
    ["exit 255", "255\nno output"],
    ["kill -9 $$", "137 (the shell was ended by SIGKILL)\nno output"],
    ["kill -SEGV $$", "139 (the shell was ended by SIGSEGV)\nno output"],
    ["sh -c 'kill -PIPE $$' 2>/dev/null; exit $?", "141 (128 + 13: SIGPIPE)\nno output"],
    ["echo $0 $#", "0\nstdout:\nbash 0"],
    ["echo out; echo err >&2", "0\nstdout:\nout\nstderr:\nerr"],
    ["printf 'a\\n\\n'", "0\nstdout:\na\n"],
  ] as const,
)("PRC-08 the exit code is told as it is: %s", { ignore }, async (command, expected) => {
  using ws = workspace();
  const result = await bash(ws, command);
  // `$0` is the shell's path.
  assertEquals(result.replace(/\/\S*\/(?=bash 0)/, ""), `exit code: ${expected}`);
});

test("PRC-08 an unknown command, and one that begins with a dash", async (ws) => {
  assertStringIncludes(await bash(ws, "no-such-command"), "exit code: 127\nstderr:\n");
  assertStringIncludes(await bash(ws, "-l"), "exit code: 127\nstderr:\n");
});

test("a command that fails tells the limits of what confines it", async (ws) => {
  const confined = (limits: Partial<ConfinedProgram>): Partial<ToolContext> => ({
    confine: (program, args) => Promise.resolve({ program, args: [...args], ...limits }),
  });
  const limits = "no network";
  const said = await bash(ws, "exit 1", 60, confined({ limits }));
  assertEquals(said, "exit code: 1\nno network\nno output");
  assertEquals(await bash(ws, "true", 60, confined({ limits })), "exit code: 0\nno output");
  assertEquals(await bash(ws, "exit 1", 60, confined({})), "exit code: 1\nno output");
  const told: unknown[] = [];
  const limited = confined({
    limits: "all limits",
    limitOf: (end) => {
      told.push(end);
      return end.stderr === "no network" ? { kind: "network", mayAsk: true } : undefined;
    },
  });
  const command = "echo no network >&2; exit 6";
  const context = { ...ws.context, ...limited };
  const outcome = await outcomeOf({ command, timeout_seconds: 60 }, context);
  assertEquals(outcome.content.split("\n").slice(0, 2), [
    "exit code: 6",
    'Cause: no network in the sandbox. Call again with leave "network" and a reason: the user decides. --network grants it for good.',
  ]);
  assertEquals(outcome.limit, { kind: "network", mayAsk: true });
  assertEquals(told, [{ command, code: 6, stderr: "no network" }]);
  assertEquals(await bash(ws, "exit 1", 60, limited), "exit code: 1\nall limits\nno output");
});

test("runs in the working directory", async (ws) => {
  assertEquals(await bash(ws, "pwd; echo $PWD"), `exit code: 0\nstdout:\n${ws.dir}\n${ws.dir}`);
});

test("PRC-08 a command of 128 KiB runs, a longer one is refused", async (ws) => {
  const most = 128 * 1024 - 1;
  const command = (bytes: number) => `: ${"x".repeat(bytes - 2)}`;
  assertEquals(await bash(ws, command(most)), "exit code: 0\nno output");
  await assertRejects(
    () => bash(ws, command(most + 1)),
    RangeError,
    `at most ${most} bytes: it has ${most + 1}. Write it to a file and run that`,
  );
});

test("PRC-08 what cannot run says why", async (ws) => {
  await assertRejects(() => bash(ws, " \n "), RangeError, "empty");
  await assertRejects(() => bash(ws, "echo a\0b"), RangeError, "NUL");
  await Deno.mkdir(ws.at("gone"));
  const context = { workingDir: ws.at("gone") };
  await Deno.remove(ws.at("gone"));
  await assertRejects(() => bash(ws, "true", 1, context), Error, "does not exist");
  const path = Deno.env.get("PATH")!;
  Deno.env.set("PATH", ws.dir);
  try {
    await assertRejects(() => bash(ws, "true"), Error, "neither bash nor sh is on PATH");
  } finally {
    Deno.env.set("PATH", path);
  }
});

Deno.test("SEC-01 what is a credential by its name or by its value, and what is not", () => {
  const long = "0123456789abcdefghijABCDEFGHIJ";
  const names =
    "CARGO_REGISTRY_TOKEN CONDA_PASSWORD HOMEBREW_GITHUB_PAT NPM_CONFIG__AUTH PIP_PASS " +
    "npm_config__authToken POETRY_CREDS YARN_NPM_AUTH_IDENT PIP_PWD DENO_AUTH_TOKENS";
  const secret = Object.fromEntries(names.split(" ").map((name) => [name, "x"]));
  const left = commandEnvironment([], secret);
  for (const name of Object.keys(secret)) assertEquals(left[name], undefined, name);
  const values = [
    ...[`sk-ant-${long}`, `ghp_${long}`, "AKIAIOSFODNN7EXAMPLE", `glpat-${long}`, `AIza${long}`],
    ...["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc", "postgres://u:pass@h/db", "redis://:pass@h:1"],
    "-----BEGIN RSA PRIVATE KEY-----\nabc",
    `{"type":"service_account","private_key":"-----BEGIN PRIVATE KEY-----\\nabc"}`,
    // Proxies may be written without a scheme; some take a key for a user name.
    ...["u:pass@h:1", "https://token@h/v1", "-Djavax.net.ssl.keyStorePassword=x", "A=b;Pwd=c"],
    ...["DefaultEndpointsProtocol=https;AccountKey=x", "https://h/x?api_key=y"],
  ];
  for (const value of values) {
    const { CFLAGS, https_proxy } = commandEnvironment([], { CFLAGS: value, https_proxy: value });
    assertEquals([CFLAGS, https_proxy], [undefined, undefined], value);
  }
  const open = {
    ...{ HOME: "/home/a", LANG: "C", OLDPWD: "/x", GOPRIVATE: "h/x", COMPOSER_HOME: "/x" },
    ...{ CFLAGS: "-O2 -DX=1", https_proxy: "http://h:1", GOPROXY: "https://h:8080/a@b" },
    ...{ PIP_INDEX_URL: "ssh://git@host/a", CC: "sk-short", VIRTUAL_ENV: "git@host:a/b@c" },
  };
  const passed = commandEnvironment([], open);
  for (const [name, value] of Object.entries(open)) assertEquals(passed[name], value, name);
  const url = "postgres://u:pass@h/db";
  const kept = commandEnvironment(["npm_token", "F", "PIP_*"], { npm_token: "x", F: url, G: url });
  assertEquals([kept.npm_token, kept.F, kept.G], ["x", url, undefined]);
});

Deno.test("R-11 R-15 variables that are not on the list reach commands only by name", () => {
  const names =
    "BASH_ENV ENV GIT_DIR GIT_CONFIG_COUNT GIT_SSH_COMMAND RIPGREP_CONFIG_PATH LD_PRELOAD " +
    "LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES APP_CONNECTION_STRING DB_PW SLACK_WEBHOOK_URL SERVICE_JSON " +
    "XAUTHORITY SSH_AUTH_SOCK XDG_RUNTIME_DIR DBUS_SESSION_BUS_ADDRESS DOCKER_HOST KUBECONFIG DISPLAY " +
    "WSL_INTEROP NODE_OPTIONS PYTHONSTARTUP PERL5OPT RUBYOPT PROMPT_COMMAND IFS NIX_CONFIG WHATEVER";
  const ours = Object.fromEntries(names.split(" ").map((name) => [name, "x"]));
  const left = commandEnvironment([], ours);
  assertEquals(Object.keys(ours).filter((name) => name in left), []);
  const named = commandEnvironment(["SSH_AUTH_SOCK", "GIT_*"], ours);
  const passed = ["GIT_CONFIG_COUNT", "GIT_DIR", "GIT_SSH_COMMAND", "SSH_AUTH_SOCK"];
  assertEquals(Object.keys(ours).filter((name) => name in named).sort(), passed);
});

Deno.test("R-09 commands start with a locale of UTF-8 or C", () => {
  const utf8 = Deno.build.os === "darwin" ? "en_US.UTF-8" : "C.UTF-8";
  for (const name of ["LANG", "LC_ALL", "LC_CTYPE"]) {
    for (const value of ["zh_CN.GBK", "zh_CN.gb18030", "zh_TW.Big5", "ja_JP.SJIS", "zh_CN", "x"]) {
      assertEquals(commandEnvironment([], { [name]: value })[name], utf8, value);
      assertEquals(commandEnvironment(["L*"], { [name]: value })[name], utf8, value);
    }
    for (const value of ["C", "POSIX", "", "de_DE.UTF-8", "de_DE.utf8@euro"]) {
      assertEquals(commandEnvironment([], { [name]: value })[name], value);
    }
  }
  assertEquals(commandEnvironment([], { LC_TERMINAL: "iTerm2" }).LC_TERMINAL, "iTerm2");
});

test("SEC-01 a command sees the environment without its credentials", async (ws) => {
  const secret = ["OPENAI_API_KEY", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "MY_PASSWORD"];
  const open = ["JAVA_HOME", "GOFLAGS", "VIRTUAL_ENV"];
  const same = "CFLAGS";
  const before = Deno.env.toObject();
  for (const name of [...secret, ...open]) Deno.env.set(name, "canary");
  try {
    const named = { ...ws.context, env: ["GITHUB_TOKEN", "AWS_*", "OPENAI_API_KEY", "*", same] };
    const given = await runBash({ command: "env", timeout_seconds: 10 }, named);
    for (const name of ["GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", ...open]) {
      assertStringIncludes(given, `${name}=canary`);
    }
    assertEquals(given.includes("OPENAI_API_KEY"), false);
    for (const name of ["OPENAI_API_KEY", same]) Deno.env.set(name, "canary-of-16-or-more");
    const result = await bash(ws, "env");
    assertEquals(result.includes(same), false);
    for (const name of secret) assertEquals(result.includes(name), false, name);
    for (const name of open) assertStringIncludes(result, `${name}=canary`);
    assertStringIncludes(result, "PATH=");
  } finally {
    for (const name of [...secret, ...open, same]) {
      if (before[name] === undefined) Deno.env.delete(name);
      else Deno.env.set(name, before[name]);
    }
  }
});

test("the sandbox is none of the processes that a command left", async (ws) => {
  const confine = (name: string): Partial<ToolContext> => ({
    confine: (program, args) => {
      const script =
        `ln -s "$(command -v sleep)" ${name}; ./${name} 99 >/dev/null 2>&1 & exec "$@"`;
      return Promise.resolve({ program: "sh", args: ["-c", script, "sh", program, ...args] });
    },
  });
  assertStringIncludes(await bash(ws, "true", 60, confine("other")), "ended processes it left");
  assertEquals(await bash(ws, "true", 60, confine("bwrap")), "exit code: 0\nno output");
});

test("a person who waits sees the newest lines of a stream, or the ends of both", async (ws) => {
  let newest: NewestOutput | undefined;
  const onOutput = (given: NewestOutput) => void (newest = given);
  await bash(ws, "printf '1\n2\n3\n4\n\n'; printf 'x\n' >&2", 60, { onOutput });
  // Both printed since the first look: errors count first.
  assertEquals([newest!(), newest!(), newest!(4)], ["x", "x", "\n4\n\n\nx\n"]);
  await bash(ws, "printf '1\n2\n3\n4\n5\n6\n\n'", 60, { onOutput });
  assertEquals([newest!(), newest!(4)], ["1\n2\n3\n4\n5\n6", "\n6\n\n"]);
  await bash(ws, "printf '%01001d' 7", 60, { onOutput });
  assertEquals(newest!(), "0".repeat(999) + "7");
});
