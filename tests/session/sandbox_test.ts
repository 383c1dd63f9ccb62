import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { findSandbox } from "../../src/permissions/sandbox/probe.ts";
import { left, living, marker } from "../helpers/processes.ts";
import { command } from "../helpers/program.ts";
import { sessionCommand } from "../helpers/session.ts";
import { strictServer } from "../helpers/strict_server.ts";
import { noTmux, terminal } from "../helpers/tmux.ts";
import { bash, turn } from "../helpers/turn.ts";

const sandbox = await findSandbox();
const none = typeof sandbox === "string" ? sandbox : "";
const ignore = none !== "";
const skipped = ignore ? ` (skipped: ${none})` : "";
/** Of Linux alone. */
const isBubblewrap = typeof sandbox !== "string" && sandbox.by === "bubblewrap";
const notHere = isBubblewrap ? "" : " (skipped: bubblewrap does not work here)";

const CONFINED = ["--yes", "--sandbox", "workspace-write"];
const sh = (script: string) => new Deno.Command("sh", { args: ["-c", script] }).output();
const text = (path: string) => Deno.readTextFileSync(path);

Deno.test({
  name: `SBX-02 what is protected cannot be written, moved away or replaced${skipped}`,
  ignore,
  fn: () =>
    turn(
      [
        bash("mv .git g && cp -r g .git; echo evil >> .git/config; rm -rf .vscode; mv .vscode v"),
        bash("ln .git/config c; mv .git/config d; rm -f .git/config; : > .git/hooks/pre-commit"),
        bash("echo x > .npmrc; echo x > linked/a; : > .mcp.json; : > sub/.gitfile"),
        bash("git add a.txt && git commit -qm two && git log --oneline | wc -l"),
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
        // The rest of the folder can be written, git's own files too.
        assertEquals(text(`${folder}/sub/.gitfile`), "");
        assertStringIncludes(results[3]!, "stdout:\n2");
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

Deno.test({
  name: `SBX-01 keys stay hidden, also from who works in the folder that holds them${skipped}`,
  ignore,
  async fn() {
    for (const work of ["folder", "home"]) {
      await turn(
        [bash(
          "cat ~/.ssh/id ~/.netrc ~/.config/copilot/x ~/.aws/x ~/dot/x; cat ~/plain; echo x > ~/.ssh/new",
        )],
        [...CONFINED, ...(work === "home" ? ["--working-dir", "../home"] : [])],
        {
          env: (_, base) => ({
            HOME: `${base}/home`,
            DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`,
            XDG_CONFIG_HOME: `${base}/home/.config`,
          }),
          prepare: async (_, base) => {
            const script = `cd '${base}' && mkdir -p home/.ssh home/.config/copilot home/dot &&
              ln -s '${base}/home/dot' home/.aws && cd home && echo plain > plain &&
              for f in .ssh/id .netrc .config/copilot/x dot/x; do echo CANARY > $f; done`;
            assert((await sh(script)).success);
          },
        },
        ({ results, folder }) => {
          assertEquals(results[0]!.includes("CANARY"), false, results[0]);
          assertStringIncludes(results[0]!, "plain");
          assertEquals([...Deno.readDirSync(`${folder}/../home/.ssh`)].length, 1);
        },
      );
    }
  },
});

Deno.test({
  name: `SBX-04 nothing is reached, neither by TCP nor by a socket in the file system${skipped}`,
  ignore,
  async fn() {
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
  },
});

Deno.test({
  name: `SBX-04 a socket in the folder itself is not reached either${notHere}`,
  ignore: !isBubblewrap || !(await sh("perl -MIO::Socket::UNIX -e 1")).success,
  async fn() {
    let socket: Deno.UnixListener | undefined;
    const connect = (path: string) =>
      `perl -MIO::Socket::UNIX -e 'print IO::Socket::UNIX->new(Peer => "${path}") ? "in" : "not"'`;
    // What one command listens on is no other's: it has a network of its own.
    const own = "perl -MIO::Socket::UNIX -e 'print IO::Socket::UNIX->new(Listen => 1, " +
      'Local => "own") ? "made" : "not"\'';
    await turn([bash(`mkdir -p d; ${connect("d/socket")}; ${own}; ls d`)], CONFINED, {
      prepare: (folder) => {
        Deno.mkdirSync(`${folder}/d`);
        socket = Deno.listen({ transport: "unix", path: `${folder}/d/socket` });
      },
    }, ({ results }) => assertMatch(results[0]!, /^notmadesocket$/m));
    socket?.close();
  },
});

Deno.test({
  name: `SBX-04 in the root folder too, other processes and their sockets are hidden${notHere}`,
  ignore: !isBubblewrap,
  async fn() {
    if (typeof sandbox === "string") return;
    const tmp = await Deno.makeTempDir();
    const script = `ls -d /proc/${Deno.pid} ${tmp} /run/* ; echo > /dev/null && echo done`;
    const [program, args] = sandbox.wrap("/bin/sh", ["-c", script], {
      ...{ mode: "workspace-write", folder: "/", tmp, network: false },
    });
    const { stdout } = await new Deno.Command(program, { args, stderr: "null" }).output();
    assertEquals(new TextDecoder().decode(stdout), "done\n");
    await Deno.remove(tmp);
  },
});

Deno.test({
  name:
    `SBX-03 what a command makes new runs nothing at the next start, and no stubs are left${skipped}`,
  ignore,
  async fn() {
    const make = "mkdir -p .copilot .vscode && " +
      `echo '{"approve": "auto", "sandbox": "off", "hooks": "touch ../pwned", "allow": ["execute"]}'` +
      " > .copilot/permissions.json && git init -q . && " +
      "printf '#!/bin/sh\\ntouch ../pwned; exit 1\\n' > .git/hooks/pre-commit && chmod +x .git/hooks/* && " +
      "git config core.fsmonitor .git/hooks/pre-commit && touch .vscode/tasks.json";
    await turn([bash("true")], CONFINED, {}, ({ folder }) => {
      assertEquals([...Deno.readDirSync(folder)].map(({ name }) => name), ["a.txt"]);
    });
    await turn([bash(make), bash("git status")], CONFINED, {}, async ({ folder, results }) => {
      assertMatch(results[0]!, /^exit code: 0/);
      await using server = strictServer([bash("git status"), bash("touch ran"), { text: "Done." }]);
      const args = ["--local", "--host", server.url, "-m", "test", "-p", "go", "--approve", "auto"];
      const again = await command(args, { cwd: folder }).output();
      assertEquals(again.code, 3);
      const base = [...Deno.readDirSync(`${folder}/..`)].map(({ name }) => name).sort();
      assertEquals(base, ["canary", "folder"]);
      assertEquals(await Deno.lstat(`${folder}/ran`).catch(() => "none"), "none");
    });
    // Positive control: approved, without confinement, git runs what was made.
    await turn([bash(`${make}; git status`)], ["--yes"], {}, async ({ folder }) => {
      assertEquals((await Deno.lstat(`${folder}/../pwned`)).isFile, true);
    });
  },
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
          args: [...more, `${import.meta.dirname}/../../main.ts`, ...own],
          cwd: folder,
          stdin: "null",
        });
        const { code, stderr } = await child.output();
        const told = new TextDecoder().decode(stderr);
        assertEquals(
          /^· commands cannot be confined, and are refused: .+$/m.test(told),
          flags === CONFINED,
          told,
        );
        const made = await Deno.remove(`${folder}/ran`).then(() => true, () => false);
        assertEquals([made, code], [ran, ran ? 0 : 3], told);
      }
      await Deno.remove(path);
      await Deno.remove(folder);
    },
  });
}

Deno.test({
  name: `SBX-05 a session says at its start what confines commands, or that nothing does${
    notHere || noTmux && ` (skipped: ${noTmux})`
  }`,
  ignore: !isBubblewrap || noTmux !== "",
  async fn() {
    const path = await fake();
    await using server = strictServer([bash("touch ran"), { text: "Refused." }, bash("touch ran"), {
      text: "Done.",
    }], { models: ["test"] });
    await using screen = await terminal();
    const outer = broken(BROKEN[0]![1], path).join(" ");
    await screen.type(
      `${outer} ${sessionCommand(server, "--yes --sandbox workspace-write")}; echo left: $?\r`,
    );
    await screen.until("· commands cannot be confined, and are refused: ");
    await screen.type("go\r");
    await screen.until("Refused.");
    assertEquals(await Deno.lstat(`${screen.folder}/ran`).catch(() => "none"), "none");
    await screen.type("/exit\r");
    await screen.until((rows) => rows.includes("left: 0"));
    await screen.type(`clear; ${outer} ${sessionCommand(server)}\r`);
    await screen.until("· commands are not confined");
    await screen.type("go\r");
    await screen.until("Run this?");
    await screen.type("y\r");
    await screen.until("Done.");
    assert((await Deno.lstat(`${screen.folder}/ran`)).isFile);
    await Deno.remove(path);
  },
});

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
