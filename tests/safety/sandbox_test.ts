import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { findSandbox } from "../../src/safety/sandbox/probe.ts";
import { left, living, marker } from "../helpers/processes.ts";
import { command, ENTRY } from "../helpers/program.ts";
import { bash, strictServer, use } from "../helpers/strict_server.ts";
import { programTurn, turn } from "../helpers/turn.ts";
import { testUnless } from "../helpers/test_unless.ts";

const sandbox = await findSandbox();
const none = typeof sandbox === "string" ? sandbox : "";
const ignore = none !== "";
const test = testUnless(ignore);
const skipped = ignore ? ` (skipped: ${none})` : "";
/** Of Linux alone. */
const isBubblewrap = typeof sandbox !== "string" && sandbox.by === "bubblewrap";
const notHere = isBubblewrap ? "" : " (skipped: bubblewrap does not work here)";

const CONFINED = ["--yes", "--sandbox", "workspace-write"];
const sh = (script: string) => new Deno.Command("sh", { args: ["-c", script] }).output();
const text = (path: string) => Deno.readTextFileSync(path);
const existsAt = (path: string) => {
  try {
    return Deno.lstatSync(path) !== undefined;
  } catch {
    return false;
  }
};

Deno.test({
  name: `SBX-02 what is protected cannot be written, moved away or replaced${skipped}`,
  ignore,
  fn: () =>
    programTurn(
      [
        bash("mv .git g && cp -r g .git; echo evil >> .git/config; rm -rf .vscode; mv .vscode v"),
        bash("ln .git/config c; mv .git/config d; rm -f .git/config; : > .git/hooks/pre-commit"),
        bash("echo x > .npmrc; echo x > linked/a; : > .mcp.json; : > sub/.gitfile"),
        bash("sh -c 'git add a.txt; git commit -qm two --allow-empty; git log --oneline | wc -l'"),
        bash("echo evil > .git/config.worktree; echo evil > .git/worktrees/tree/commondir"),
      ],
      CONFINED,
      {
        prepare: async (folder) => {
          const script = `cd '${folder}' && git init -q . && git config user.email a@b &&
            git config user.name a && git commit -q --allow-empty -m one && mkdir .vscode sub real &&
            echo {} > .vscode/tasks.json && echo own > .npmrc && echo {} > .mcp.json &&
            git worktree add -q ../tree && echo own > .git/config.worktree &&
            ln -s real .idea && ln -s .idea linked && ln -s /nowhere .envrc && ln -s .yarnrc .yarnrc`;
          assert((await sh(script)).success);
        },
      },
      ({ results, folder }) => {
        assertEquals(text(`${folder}/.git/config`).includes("evil"), false);
        assertEquals(text(`${folder}/.git/config.worktree`), "own\n");
        // It says where git finds what it obeys in a folder elsewhere.
        assertEquals(text(`${folder}/.git/worktrees/tree/commondir`), "../..\n");
        assertEquals(text(`${folder}/.vscode/tasks.json`), "{}\n");
        assertEquals(
          [...Deno.readDirSync(`${folder}/.git/hooks`)].some(({ name }) => name === "pre-commit"),
          false,
        );
        assertEquals([text(`${folder}/.npmrc`), text(`${folder}/.mcp.json`)], ["own\n", "{}\n"]);
        assertEquals([...Deno.readDirSync(`${folder}/real`)], []);
        assertEquals(text(`${folder}/sub/.gitfile`), "");
        // git reads its files, and writes none of them.
        assertStringIncludes(results[3]!, "stdout:\n1");
        assertStringIncludes(results[3]!, "Read-only file system");
      },
    ),
});

Deno.test({
  name: `SBX-02 a .git that is a file stays what it is${skipped}`,
  ignore,
  fn: () =>
    turn([bash("echo gitdir: evil > .git; rm -f .git; mv .git x; cat .git")], CONFINED, {
      prepare: (folder) => Deno.writeTextFile(`${folder}/.git`, "gitdir: there\n"),
    }, ({ results }) => assertStringIncludes(results[0]!, "gitdir: there")),
});

/** A home folder with keys, beside the folder that is worked in. */
const withHome = {
  env: (_: string, base: string) => ({
    HOME: `${base}/home`,
    DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`,
    XDG_CONFIG_HOME: `${base}/home/.config`,
  }),
  prepare: async (_: string, base: string) => {
    const script =
      `cd '${base}' && mkdir -p home/.ssh home/.config/copilot home/dot home/.cargo/bin &&
      ln -s '${base}/home/dot' home/.aws && cd home && echo tool > .cargo/bin/tool &&
      for f in .ssh/id .netrc .config/copilot/x dot/x plain; do echo CANARY > $f; done`;
    assert((await sh(script)).success);
  },
};

Deno.test({
  name:
    `SBX-01 of the home folder only the folders of tools are there, and nothing of it is written${skipped}`,
  ignore,
  fn: () =>
    programTurn(
      [bash(
        "cat ~/.ssh/id ~/.netrc ~/.config/copilot/x ~/.aws/x ~/dot/x ~/plain ~/.cargo/bin/tool; echo x > ~/.ssh/new; echo x > ~/new; ls -A ~",
      )],
      CONFINED,
      withHome,
      ({ results, folder }) => {
        assertEquals(results[0]!.includes("CANARY"), false, results[0]);
        assertMatch(results[0]!, /stdout:\ntool\n\.cache\n\.cargo\nstderr:/);
        assertEquals([...Deno.readDirSync(`${folder}/../home/.ssh`)].length, 1);
      },
    ),
});

for (const where of ["../home", ".."]) {
  Deno.test({
    name: `R-16 in the home folder, or above it (${where}), no command runs confined${skipped}`,
    ignore,
    fn: () =>
      programTurn(
        [bash("touch ran; echo x >> .bashrc")],
        [...CONFINED, "--working-dir", where],
        withHome,
        ({ results, folder, stderr }) => {
          const isAbove = where === "..";
          assertMatch(
            isAbove ? stderr : results[0]!,
            isAbove ? /^copilot: Cannot use HOME=/m : /^Refused: .* contains the home folder/,
          );
          assertEquals(existsAt(`${folder}/${where}/ran`), false);
        },
      ),
  });
}

test(`SBX-04 nothing is reached, neither by TCP nor by a socket in the file system${skipped}`, async () => {
  const base = await Deno.makeTempDir();
  const tcp = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const unix = Deno.listen({ transport: "unix", path: `${base}/socket` });
  let reached = 0;
  const counting = [tcp, unix].map(async (listener) => {
    for await (const connection of listener) {
      reached++;
      connection.close();
    }
  });
  const { port } = tcp.addr as Deno.NetAddr;
  // perl is where git is.
  const perl = (await sh("perl -MIO::Socket::UNIX -e 1")).success;
  const command = `(echo > /dev/tcp/127.0.0.1/${port}) 2>/dev/null && echo through
      ${perl ? "perl" : ":"} -MIO::Socket::UNIX -e 'print "through\n" if
        IO::Socket::UNIX->new(Peer => "${base}/socket")'
      echo done`;
  const through = (result: string) => result.match(/^through$/gm)?.length ?? 0;
  await turn([bash(command)], CONFINED, {}, ({ results }) => {
    assertEquals([through(results[0]!), reached], [0, 0], results[0]);
    assertMatch(results[0]!, /^done$/m);
  });
  await turn([bash(command)], ["--yes"], {}, ({ results }) => {
    const all = perl ? 2 : 1;
    assertEquals([through(results[0]!), reached], [all, all], results[0]);
  });
  tcp.close();
  unix.close();
  await Promise.allSettled(counting);
  await Deno.remove(base, { recursive: true });
});

Deno.test({
  name: `SBX-04 R-10 a socket in the folder itself is not reached either${notHere}`,
  ignore: !isBubblewrap || !(await sh("perl -MIO::Socket::UNIX -e 1")).success,
  async fn() {
    let socket: Deno.UnixListener | undefined;
    const connect = (path: string) =>
      `perl -MIO::Socket::UNIX -e 'print IO::Socket::UNIX->new(Peer => "${path}") ? "in" : "not"'`;
    // Nor does a command make one.
    const own = "perl -MIO::Socket::UNIX -e 'print IO::Socket::UNIX->new(Listen => 1, " +
      'Local => "own") ? "made" : "not"\'';
    await turn([bash(`mkdir -p d; ${connect("d/socket")}; ${own}; ls d`)], CONFINED, {
      prepare: (folder) => {
        Deno.mkdirSync(`${folder}/d`);
        socket = Deno.listen({ transport: "unix", path: `${folder}/d/socket` });
      },
    }, ({ results }) => assertMatch(results[0]!, /^notnotsocket$/m));
    socket?.close();
  },
});

test(`SBX-03 what a command makes new runs nothing at the next start, and no stubs are left${skipped}`, async () => {
  const make = "mkdir -p .copilot .vscode && " +
    `echo '{"approve": "auto", "sandbox": "off", "hooks": "touch ../pwned", "allow": ["execute"]}'` +
    " > .copilot/permissions.json && git init -q . && " +
    "printf '#!/bin/sh\\ntouch ../pwned; exit 1\\n' > .git/hooks/pre-commit && chmod +x .git/hooks/* && " +
    "git config core.fsmonitor .git/hooks/pre-commit && touch .vscode/tasks.json";
  await turn([bash("true")], CONFINED, {}, ({ folder }) => {
    assertEquals([...Deno.readDirSync(folder)].map(({ name }) => name), ["a.txt"]);
  });
  const words = `sh -c '${make.replaceAll("'", "'\\''")}'`;
  await turn([bash(words), bash("git status")], CONFINED, {}, async ({ folder, results }) => {
    assertMatch(results[0]!, /^exit code: 0/);
    await using server = strictServer([bash("git status"), bash("touch ran"), { text: "Done." }]);
    const args = ["--local", "--host", server.url, "-m", "test", "-p", "go", "--approve", "auto"];
    const again = await command(args, { cwd: folder }).output();
    // The hooks that it made run, too, confined as the command was.
    assertEquals(again.code, 0);
    const base = [...Deno.readDirSync(`${folder}/..`)].map(({ name }) => name).sort();
    assertEquals(base, ["canary", "folder"]);
  });
  // Positive control: approved, without confinement, git runs what was made.
  await turn([bash(`${make}; git status`)], ["--yes"], {}, async ({ folder }) => {
    assertEquals((await Deno.lstat(`${folder}/../pwned`)).isFile, true);
  });
});

/** The program where bubblewrap is not what it should be: it is started in another one that works. */
const BROKEN: [name: string, args: string[]][] = [
  ["is no program", ["--ro-bind", "/dev/null", "/usr/bin/bwrap"]],
  ["may make no namespaces", ["--unshare-user", "--disable-userns"]],
  ["confines nothing", ["--ro-bind", "FAKE", "/usr/bin/bwrap"]],
];
const FAKE =
  '#!/bin/bash\nuntil [ "$1" = -- ]; do [ "$1" = --chdir ] && cd "$2"; shift; done\nshift\nexec "$@"\n';

async function fake(): Promise<string> {
  const path = await Deno.makeTempFile();
  await Deno.writeTextFile(path, FAKE);
  await Deno.chmod(path, 0o755);
  return path;
}
const broken = (args: string[], path: string) =>
  ["/usr/bin/bwrap", "--bind", "/", "/", "--dev-bind", "/dev", "/dev", "--proc", "/proc"]
    .concat(args.map((arg) => arg === "FAKE" ? path : arg), "--");

for (const [i, [name, args]] of BROKEN.entries()) {
  Deno.test({
    name: `SBX-05 where bubblewrap ${name}, commands are refused and it is told${notHere}`,
    ignore: !isBubblewrap,
    async fn() {
      const path = await fake();
      const folder = await Deno.makeTempDir();
      const rows: [flags: string[], ran: boolean][] = [
        [CONFINED, false],
        [["--yes"], true],
        [["--yes", "--sandbox", "off"], true],
        [["--sandbox", "off"], false],
        [[], false],
      ];
      // Without a sandbox that is wanted, it does not matter what is wrong with it.
      for (const [flags, ran] of i === 0 ? rows : rows.slice(0, 1)) {
        await using server = strictServer([bash("touch ran"), { text: "Done." }]);
        const own = ["--local", "--host", server.url, "-m", "test", "-p", "go", ...flags];
        const [outer, ...more] = [...broken(args, path), Deno.execPath(), "run", "-A"];
        const child = new Deno.Command(outer!, {
          args: [...more, ENTRY, ...own],
          cwd: folder,
          stdin: "null",
        });
        const { code, stderr } = await child.output();
        const told = new TextDecoder().decode(stderr);
        assertEquals(
          /^· no sandbox available, so commands are refused: .+$/m.test(told),
          flags === CONFINED,
          told,
        );
        const isOff = /^· no sandbox: commands can .+, and run without asking \(.+\)$/m.test(told);
        assertEquals(isOff, `${flags}` === "--yes", told);
        const made = await Deno.remove(`${folder}/ran`).then(() => true, () => false);
        assertEquals([made, code], [ran, ran ? 0 : 3], told);
      }
      await Deno.remove(path);
      await Deno.remove(folder);
    },
  });
}

Deno.test({
  name: `PRC-07 confined, nothing outlives a program that is killed${notHere}`,
  ignore: !isBubblewrap,
  async fn() {
    const folder = await Deno.makeTempDir();
    const mark = marker();
    const tree = `for i in {1..20}; do setsid sleep ${mark} & done; : > begun; wait`;
    await using server = strictServer([bash(tree)]);
    const args = ["--local", "--host", server.url, "-m", "test", "-p", "x", ...CONFINED];
    const child = command(args, { cwd: folder }).spawn();
    assert((await living(mark, (count) => count >= 20)).length >= 20);
    child.kill("SIGKILL");
    await child.output();
    assertEquals(await left(mark), []);
    await Deno.remove(folder, { recursive: true });
  },
});

const AUTO = ["--approve", "auto"];
const unreachable = { ignore, sanitizeResources: false };

Deno.test({
  ...unreachable,
  name:
    `R-14 auto runs commands unasked where they are confined; what lies beyond is refused${skipped}`,
  fn: () =>
    turn(
      [
        bash("echo new > made && cat made"),
        bash("git init -q repo && git -C repo status --short"),
        bash("git -C repo commit -qm x --allow-empty"),
        bash("cat .env"),
        bash("echo > /dev/tcp/127.0.0.1/9"),
        use("run_bash", {
          command: "echo > /dev/tcp/127.0.0.1/9",
          leave: "network",
          reason: "why",
        }),
        use("write_file", { file_path: "b.txt", content: "b" }),
        use("read_file", { file_path: "/usr/share/common-licenses/GPL-3", limit: 1 }),
        use("write_file", { file_path: "../c.txt", content: "c" }),
      ],
      AUTO,
      { prepare: (folder) => Deno.writeTextFile(`${folder}/.env`, "KEY=CANARY\n") },
      ({ results, folder }) => {
        const ran = results.map((result) => !result.startsWith("Refused"));
        assertEquals(
          ran,
          [true, true, true, false, true, false, true, true, false],
          results.join("\n"),
        );
        assertStringIncludes(results[0]!, "new");
        // A failure that the sandbox caused names the setting; nobody can be asked here.
        assertStringIncludes(results[4]!, "The user can grant it with --network.");
        assertMatch(results[5]!, /asks for the network, which the sandbox blocks/);
        assertEquals(text(`${folder}/b.txt`), "b");
        assertEquals(existsAt(`${folder}/../c.txt`), false);
      },
    ),
});

Deno.test({
  ...unreachable,
  name: `R-01 confined, --yes grants what the view does and nothing else${skipped}`,
  fn: () =>
    turn(
      [
        bash("touch ran"),
        use("write_file", { file_path: "~/.bashrc", content: "x" }),
        use("write_file", { file_path: "../outside.txt", content: "x" }),
        use("read_file", { file_path: ".env" }),
        use("write_file", { file_path: ".git/hooks/pre-commit", content: "x" }),
        use("write_file", { file_path: "in.txt", content: "x" }),
        use("run_bash", { command: "touch ../left", leave: "sandbox", reason: "why" }),
      ],
      CONFINED,
      {
        prepare: async (folder) => {
          await sh(`cd '${folder}' && git init -q .`);
          await Deno.writeTextFile(`${folder}/.env`, "KEY=CANARY\n");
        },
      },
      ({ results, folder }) => {
        const ran = results.map((result) => !/^Refused/m.test(result));
        assertEquals(ran, [true, false, false, false, false, true, false], results.join("\n"));
        assertEquals(
          ["../outside.txt", ".git/hooks/pre-commit", "../left"].filter((path) =>
            existsAt(`${folder}/${path}`)
          ),
          [],
        );
      },
    ),
});

Deno.test({
  ...unreachable,
  name: `R-01 confined, --yes commits in the sandbox, and refuses a push${skipped}`,
  async fn() {
    const prepare = async (folder: string) => {
      await sh(
        `cd '${folder}' && git init -q . && git config user.email a@b && git config user.name a`,
      );
    };
    const commit = bash("git add a.txt && git commit -qm one");
    const calls = [commit, bash("git log --oneline"), bash("git push https://h/x")];
    for (const flags of [CONFINED, ["--approve", "auto", ...CONFINED]]) {
      await turn(calls, flags, { prepare }, ({ results, stderr, code }) => {
        assertMatch(results[0]!, /^exit code: 0/);
        assertMatch(results[1]!, /^exit code: 0[^]* one$/m);
        assertMatch(results[2]!, /^Refused: .* pushes with your credentials, so it runs outside/);
        assertStringIncludes(results[2]!, "--sandbox off allows it");
        assertStringIncludes(stderr, "--sandbox off allows it");
        assertEquals(code, 3);
      });
    }
  },
});

Deno.test({
  ...unreachable,
  name: `R-05 what rules refuse is hidden from confined commands however they name it${skipped}`,
  fn: () =>
    turn(
      [
        bash(
          "cat s*/a; cat [s]ecret/a; cat $(echo secret/a); sh -c 'cat s?cret/a'; find . -name a -exec cat {} +",
        ),
        bash("x=(a); cd secret && cat *"),
        bash(
          "ln -s secret/a l; cat l; mv secret moved; cat moved/a; cp -r secret copy; cat copy/a",
        ),
      ],
      AUTO,
      {
        own: { deny: ["read_file(secret/**)"] },
        prepare: async (folder) => {
          await Deno.mkdir(`${folder}/secret`);
          await Deno.writeTextFile(`${folder}/secret/a`, "CANARY\n");
        },
      },
      ({ results }) =>
        assertEquals(results.join("\n").includes("CANARY"), false, results.join("\n")),
    ),
});

Deno.test({
  ...unreachable,
  name: `TRU-03 a folder whose rules ask lets nothing out that --yes refuses${skipped}`,
  fn: () =>
    turn(
      [
        use("read_file", { file_path: "../outside.txt" }),
        use("write_file", { file_path: "../outside.txt", content: "x" }),
        use("read_file", { file_path: "in.txt" }),
      ],
      CONFINED,
      {
        project: { ask: ["*(/**)", "*(**)"] },
        prepare: (folder) => {
          Deno.writeTextFileSync(`${folder}/../outside.txt`, "CANARY\n");
          Deno.writeTextFileSync(`${folder}/in.txt`, "in\n");
        },
      },
      ({ results, folder }) => {
        const ran = results.map((result) => !result.startsWith("Refused"));
        assertEquals(ran, [false, false, true], results.join("\n"));
        assertEquals(text(`${folder}/../outside.txt`), "CANARY\n");
      },
    ),
});

for (const approve of ["ask", "never"]) {
  Deno.test({
    ...unreachable,
    name:
      `TRU-03 a folder that says ${approve} lets nothing run that was asked about, confined or not${skipped}`,
    fn: () =>
      turn(
        [bash("touch ran"), use("write_file", { file_path: "b.txt", content: "b" })],
        ["--approve", "ask", "--sandbox", "workspace-write"],
        { project: { approve } },
        ({ results, folder }) => {
          assertEquals(results.map((result) => result.startsWith("Refused")), [true, true]);
          assertEquals([existsAt(`${folder}/ran`), existsAt(`${folder}/b.txt`)], [false, false]);
        },
      ),
  });
}

Deno.test({
  name: `R-05 a file outside that a rule refuses is hidden from confined commands${skipped}`,
  ignore,
  fn: () =>
    turn([bash("sh show.sh")], CONFINED, {
      prepare: async (folder, base) => {
        await Deno.writeTextFile(`${base}/open`, "open\n");
        await Deno.writeTextFile(`${folder}/show.sh`, "cat ../canary; cat ../open");
        await Deno.mkdir(`${base}/config/copilot`, { recursive: true });
        const rules = { sandboxRead: [base], deny: [`read_file(${base}/can*)`] };
        await Deno.writeTextFile(
          `${base}/config/copilot/permissions.json`,
          JSON.stringify(rules),
        );
      },
    }, ({ results }) => assertMatch(results[0]!, /stdout:\nopen\nstderr:/)),
});

Deno.test({
  name: `R-01 R-19 --yes searches no secrets in the sandbox, as commands see none${skipped}`,
  ignore,
  fn: () =>
    turn(
      [
        use("grep_code", { pattern: "CANARY", path: "." }),
        use("grep_code", { pattern: "CANARY", path: ".", glob: ".env" }),
        bash("cat .e* k*"),
      ],
      CONFINED,
      {
        prepare: (folder) => {
          for (const name of [".env", "key.pem", "plain"]) {
            Deno.writeTextFileSync(`${folder}/${name}`, "CANARY\n");
          }
        },
      },
      ({ results }) => {
        const seen = results.map((result) => result.match(/^.*CANARY.*$/gm));
        assertEquals(seen, [["plain:1:CANARY"], null, null]);
      },
    ),
});

Deno.test({
  name:
    `SBX-06 -p runs what the sandbox holds with the folder read-only, and says what grants more${skipped}`,
  ignore,
  fn: async () => {
    const calls = [
      bash("git status --short; cat a.txt; echo x > /tmp/t && cat /tmp/t"),
      bash("echo x > b.txt"),
      bash("git commit -qm one --allow-empty"),
      use("write_file", { file_path: "c.txt", content: "x" }),
      bash("echo x > /usr/out"),
    ];
    const user = "git config user.name a && git config user.email a@example.org";
    const git = (folder: string) => sh(`cd '${folder}' && git init -q . && ${user}`).then(() => {});
    await programTurn(calls, [], { prepare: git }, ({ code, results, stderr, folder }) => {
      assertEquals(code, 3);
      assertMatch(results[0]!, /^exit code: 0\n.*\?\? a\.txt\none\nx$/s);
      assertMatch(results[1]!, /Read-only file system/);
      for (const said of results.slice(1, 4)) {
        assertStringIncludes(said, "--sandbox workspace-write");
      }
      assertStringIncludes(
        stderr,
        "git commit -qm one --allow-empty · refused · it writes, and the folder is read-only; --sandbox workspace-write allows it",
      );
      for (const name of ["b.txt", "c.txt"]) assertEquals(existsAt(`${folder}/${name}`), false);
    });
    const more = ["--sandbox", "workspace-write"];
    await programTurn(calls, more, { prepare: git }, ({ results, folder }) => {
      for (const name of ["b.txt", "c.txt"]) assertEquals(existsAt(`${folder}/${name}`), true);
      assertMatch(results[2]!, /^exit code: 0/);
      assertStringIncludes(results[4]!, '"sandboxWrite" in permissions.json');
    });
  },
});

Deno.test({
  name: `SBX-06 ~ is the home folder in paths and settings, and a missing path is named${skipped}`,
  ignore,
  fn: () =>
    programTurn(
      [
        bash("echo x > ~/out/a && cat ~/note"),
        ...["note", ".ssh/id"].map((name) => use("read_file", { file_path: `~/${name}` })),
        use("write_file", { file_path: "~/new", content: "x" }),
      ],
      ["--sandbox", "workspace-write"],
      {
        own: { sandboxWrite: ["~/out", "~/none"], sandboxRead: ["~/note"] },
        env: (_, base) => ({ HOME: `${base}/home` }),
        prepare: async (_, base) => {
          for (const name of ["out", ".ssh"]) {
            await Deno.mkdir(`${base}/home/${name}`, { recursive: true });
          }
          for (const name of ["note", ".ssh/id"]) {
            await Deno.writeTextFile(`${base}/home/${name}`, "CANARY\n");
          }
        },
      },
      ({ results, stderr, folder }) => {
        const home = folder.replace(/[^/]*$/, "home");
        assertMatch(results[0]!, /^exit code: 0\n.*CANARY/s);
        assertStringIncludes(results[1]!, "CANARY");
        for (const result of results.slice(2)) {
          assertMatch(result, /^Refused: .*needs an approval/m);
        }
        assertEquals(existsAt(`${home}/new`), false);
        const missing = stderr.match(/^.*which is missing$/gm);
        assertEquals(missing, [
          `· "sandboxWrite" in permissions.json names ${home}/none, which is missing`,
        ]);
      },
    ),
});
