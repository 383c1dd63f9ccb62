/** The programs that make the sandbox have no limits: no variable, folder or mount of a command reaches them. */

import { assertEquals, assertMatch } from "@std/assert";
import { basename } from "@std/path/basename";
import { dirname } from "@std/path/dirname";
import { definitionsIn } from "../../../src/extensions/mcp/definition.ts";
import { startProgram } from "../../../src/extensions/mcp/stdio.ts";
import { PathTable } from "../../../src/safety/path_table.ts";
import { findSandbox } from "../../../src/safety/sandbox/probe.ts";
import { forgetMounts, mountLine, mountTable } from "../../../src/safety/sandbox/mounts.ts";
import { outerEnvironment, seatbeltCommand } from "../../../src/safety/sandbox/wrap.ts";
import { makeView } from "../../../src/safety/make_view.ts";
import type { View } from "../../../src/safety/view.ts";
import { openPermissions } from "../../../src/safety/permissions.ts";
import { makeTempFolder, removeTempFolder } from "../../../src/temp_folder.ts";
import { runBash } from "../../../src/tools/shell/run_command.ts";
import { startShell } from "../../../src/tools/shell/shell_process.ts";
import { withVariables } from "../../helpers/variables.ts";
import { testUnless } from "../../helpers/test_unless.ts";

const found = await findSandbox();
const sandbox = typeof found !== "string" && found.by === "bubblewrap" ? found : undefined;
const ignore = sandbox === undefined;
const test = testUnless(ignore);
const { signal } = new AbortController();

async function makePlaces() {
  const base = await Deno.realPath(await Deno.makeTempDir());
  const [folder, out] = [`${base}/work`, `${base}/out`];
  for (const at of [folder, out, `${base}/home`]) await Deno.mkdir(at);
  const permissions = openPermissions(
    { sandbox: "workspace-write" },
    (name) => name === "HOME" ? `${base}/home` : Deno.env.get(name),
  );
  return {
    ...{ base, folder, out, permissions },
    names: (path: string) =>
      [...Deno.readDirSync(`${base}/${path}`)].map(({ name }) => name).sort(),
    [Symbol.asyncDispose]: () => Deno.remove(base, { recursive: true }),
  };
}

/** Starts a program's words. */
async function start(words: readonly string[]) {
  const [program, ...args] = words;
  const { code, stdout, stderr } = await new Deno.Command(program!, { args }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, out: text(stdout), errors: text(stderr) };
}

/** Makes each program started with them write a file, as glibc's loader does, or run a script, as bash does. */
const evil = (out: string) => ({
  LD_DEBUG: "files",
  LD_DEBUG_OUTPUT: `${out}/loaded`,
  LD_LIBRARY_PATH: out,
  BASH_ENV: `${out}/run.sh`,
  ENV: `${out}/run.sh`,
  PS4: `$(touch ${out}/traced)`,
  SHELLOPTS: "xtrace",
});

test("R-22 variables of a server, a command and a hook run nothing outside of the sandbox", async () => {
  await using at = await makePlaces();
  const { folder, permissions } = at;
  const variables = evil(at.out);
  Deno.writeTextFileSync(`${at.out}/run.sh`, `touch ${at.out}/ran\n`);
  const show = (name: string) => `echo "$LD_LIBRARY_PATH $BASH_ENV" > '${folder}/${name}'`;

  const given = { command: "sh", args: ["-c", show("server")], env: variables };
  const [one] = definitionsIn({ mcpServers: { one: given } }, { scope: "user" });
  const carrier = await startProgram(
    one!,
    { onRequest: () => Promise.reject(), onNotification: () => {} } as never,
    { folder, env: [], confine: permissions.confineServers(() => folder, "one") },
  );
  await carrier.peer.closed;
  await carrier.end();

  const confine = permissions.confine(() => folder);
  const context = { workingDir: folder, maxOutputChars: 2000, signal, confine };
  const hook = await startShell(show("hook"), context, { variables });
  const { code, stderr } = await hook.child.output();
  hook.finish?.("");
  assertEquals([code, new TextDecoder().decode(stderr)], [0, ""]);

  const { LD_LIBRARY_PATH, BASH_ENV, PS4 } = variables;
  await withVariables({ LD_LIBRARY_PATH, BASH_ENV, PS4 }, async () => {
    const command = { command: show("command"), timeout_seconds: 30 };
    await runBash(command, { ...context, env: ["LD_*", "BASH_ENV", "PS4"] });
  });

  assertEquals(at.names("out"), ["run.sh"]);
  // The programs have them, though.
  for (const name of ["server", "hook", "command"]) {
    const seen = `${LD_LIBRARY_PATH} ${BASH_ENV}\n`;
    assertEquals(Deno.readTextFileSync(`${folder}/${name}`), seen, name);
  }
});

Deno.test({
  name:
    "R-22 variables reach the sandboxed program as they are, and the shell before it has no other",
  ignore: Deno.build.os === "windows",
  async fn() {
    const variables = {
      PATH: "/usr/bin:/bin:/x",
      A: `a'"$(false)\`\n \\ü`,
      IFS: "x",
      at: "1",
      COPILOT_ENV_1: "2",
      UID: "5",
      OPTIND: "abc",
      "BASH_FUNC_exec%%": "() { echo evil; }",
      LD_PRELOAD: "",
      LAST: "z",
    };
    const env = outerEnvironment(variables);
    assertEquals(Object.keys(env).filter((name) => !/^COPILOT_ENV(_\d+)?$/.test(name)), ["PATH"]);
    assertEquals(env.PATH, "/usr/bin:/bin");
    // The rule for macOS is the same; its shells run here, too.
    const view: View = { folder: "/w", places: new Map(), network: true, isComplete: true };
    const [, , , , ...restore] = seatbeltCommand("/usr/bin/sandbox-exec", view);
    const shells = ["/bin/sh", "/bin/bash"].filter((path) => {
      try {
        return Deno.statSync(path).isFile;
      } catch {
        return false;
      }
    });
    for (const shell of shells) {
      const { stdout, stderr } = await new Deno.Command(shell, {
        args: [...restore, "/usr/bin/env", "-0"],
        clearEnv: true,
        env,
      }).output();
      const text = new TextDecoder().decode(stdout);
      const got = Object.fromEntries(
        text.split("\0").map((one) => one.split(/=(.*)/s).slice(0, 2)),
      );
      const { PATH, A, at, LAST, LD_PRELOAD } = got;
      assertEquals(
        { PATH, A, at, LAST, LD_PRELOAD },
        { ...{ PATH: variables.PATH, A: variables.A }, at: "1", LAST: "z", LD_PRELOAD: "" },
        shell,
      );
      assertEquals(Object.keys(got).filter((name) => /COPILOT|%/.test(name)), []);
      assertEquals(new TextDecoder().decode(stderr), "");
    }
  },
});

const viewOf = (folder: string) =>
  makeView({ folder, isWritable: true, network: false, paths: new PathTable({}) });

test("R-22 no command sees the private folders of other sessions, whatever it may write", async () => {
  await using at = await makePlaces();
  const [state, own] = [`${at.out}/state`, `${at.out}/own`];
  Deno.mkdirSync(own);
  const place = `${state}/copilot-tmp`;
  const paths = new PathTable({ temporary: place });
  const words = (folder: string) =>
    sandbox!.command(
      makeView({ folder, isWritable: true, network: false, paths, write: [at.out] }),
      own,
    );
  const command = words(at.folder);
  const other = makeTempFolder("copilot-test-", (name) => name === "HOME" ? undefined : state);
  assertEquals(dirname(other), place);
  const swap = 'ls -A "$0"; mv "$0" "$0-2"; touch "$0/a" "$1/a"; touch seen';
  await start([...command, "/bin/sh", "-c", swap, place, other]);
  assertEquals([at.names("work"), [...Deno.readDirSync(other)]], [["seen"], []]);
  // A copy of a folder is in it.
  const { out } = await start([...words(other), "/bin/sh", "-c", "ls -A ..; touch a; ls -A"]);
  assertEquals(out, `${basename(other)}\na\n`);
  removeTempFolder(other);
  assertEquals([...Deno.readDirSync(place)], []);
});

test("R-22 if the private folders are in a folder that commands write, no command moves them", async () => {
  await using at = await makePlaces();
  const own = `${at.folder}/a/tmp/own`;
  Deno.mkdirSync(own, { recursive: true });
  const words = sandbox!.command(viewOf(at.folder), own);
  const script = "mv a b; mv a/tmp a/b; ls -A . a a/tmp";
  const { out } = await start([...words, "/bin/sh", "-c", script]);
  assertEquals(out, ".:\na\n\na:\ntmp\n\na/tmp:\nown\n");
  // Nor in the folder of a server, which has other rights, if there is no better place for it.
  await withVariables({ TMPDIR: `${at.folder}/a/tmp` }, async () => {
    const other = makeTempFolder("copilot-test-", () => undefined);
    const command = sandbox!.command(viewOf(at.folder), own);
    await start([
      ...command,
      "/bin/sh",
      "-c",
      `touch a/a a/tmp/a '${other}/a'; rmdir '${other}'`,
    ]);
    assertEquals([at.names("work"), at.names("work/a")], [["a"], ["a", "tmp"]]);
    assertEquals([...Deno.readDirSync(other)], []);
  });
  // A job of another folder or session may: the folder that is mounted is compared.
  const over = words.toSpliced(words.indexOf("--remount-ro"), 0, "--bind", at.out, "/var/tmp");
  const others = [`${own}/-tmp`, at.folder].map((path) => words.with(words.indexOf(path), at.out));
  for (const wrong of [...others, over]) {
    const { code, errors } = await start([...wrong, "/bin/sh", "-c", "touch /tmp/evil evil"]);
    assertEquals([code, at.names("out").includes("evil")], [126, false]);
    assertMatch(errors, /files were replaced/);
  }
});

Deno.test({
  name: "R-03 the mounts of another disk in the folder are compared by device and folder",
  // Only root mounts one without a program that stays.
  ignore: ignore || Deno.uid() !== 0,
  async fn() {
    await using at = await makePlaces();
    const ram = `${at.folder}/ram`;
    Deno.mkdirSync(ram);
    const mount = ["mount", "-t", "tmpfs", "tmpfs", ram];
    if ((await start(mount)).code !== 0) return;
    try {
      // A mount may hide another, as of an automounter.
      await start(mount);
      forgetMounts();
      for (const path of [`${ram}/sub`, `${ram}/other`, at.out]) {
        Deno.mkdirSync(`${path}/.vscode`, { recursive: true });
      }
      const words = sandbox!.command(viewOf(at.folder), `${at.base}/home`);
      const run = ["/bin/sh", "-c", "touch ram/sub/file"];
      assertEquals((await start([...words, ...run])).code, 0);
      assertEquals([...Deno.readDirSync(`${ram}/sub`)].length, 2);
      const source = words.findIndex((word, i) =>
        word === `${ram}/sub` && words[i + 1] === `${ram}/sub`
      );
      // As if a link was there for the moment of this mount alone.
      for (const victim of [at.out, `${ram}/other`]) {
        const { code, errors } = await start([...words.with(source, victim), ...run]);
        assertEquals([code, [...Deno.readDirSync(victim)].length], [126, 1]);
        assertMatch(errors, /files were replaced/);
      }
    } finally {
      for (const _ of "12") await start(["umount", ram]);
    }
  },
});

Deno.test("R-03 a path's mount is found as the kernel finds it", () => {
  const table = mountTable(`1 1 0:1 / / rw - rootfs rootfs rw
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
23 22 0:40 / /w/a\\040b rw - autofs systemd-1 rw
24 23 0:41 / /w/a\\040b rw - nfs4 host:/export rw
25 22 8:1 /@home /home ro,relatime - btrfs /dev/sda rw
26 25 8:2 / /home/u/old rw - ext4 /dev/sdb rw
27 25 8:3 /x /home/u rw - ext4 /dev/sdc rw
`);
  const rows: [path: string, line: string][] = [
    ["/w", "254:0 /w /w rw,"],
    ["/w/a b", "0:41 / /w/a\\040b rw,"],
    // The kernel shows no folder of NFS.
    ["/w/a b/c", "0:41 / /w/a\\040b/c rw,"],
    ["/w/a", "254:0 /w/a /w/a rw,"],
    ["/home/v/w", "8:1 /@home/v/w /home/v/w ro,"],
    ["/home/u", "8:3 /x /home/u rw,"],
    // A mount at a folder above hides it.
    ["/home/u/old/w", "8:3 /x/old/w /home/u/old/w rw,"],
  ];
  for (const [real, line] of rows) assertEquals(mountLine(table, { real }), line);
  const own = { real: "/w/-tmp", at: "/tmp" };
  assertEquals(mountLine(table, own), "254:0 /w/-tmp /tmp rw,");
  assertEquals(mountLine(table, { ...own, isReadOnly: true }), "254:0 /w/-tmp /tmp ro,");
  assertEquals(mountLine([], { real: "/w" }), "? /w rw,");
});
