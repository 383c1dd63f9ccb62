import { assertEquals, assertStringIncludes } from "@std/assert";
import { PathTable } from "../../src/permissions/path_table.ts";
import { findSandbox } from "../../src/permissions/sandbox/probe.ts";
import { openPermissions } from "../../src/session/permissions.ts";
import { commandEnvironment } from "../../src/tools/shell/command_environment.ts";
import { runBash } from "../../src/tools/shell/run_bash.ts";
import type { ConfinedProgram } from "../../src/types/confine.ts";

const found = await findSandbox(new PathTable({ home: Deno.env.get("HOME")! }));
const ignore = typeof found === "string" || found.by !== "bubblewrap";

Deno.test({
  name: "SBX-01 the next command's sandbox is made ready, and none is used that protects less",
  ignore,
  // What waits ends with the program.
  sanitizeResources: false,
  sanitizeOps: false,
  async fn() {
    const base = await Deno.realPath(await Deno.makeTempDir());
    const folder = `${base}/work`;
    await Deno.mkdir(folder);
    const env: Record<string, string> = { HOME: base, XDG_STATE_HOME: `${base}/state` };
    const permissions = await openPermissions(
      { sandbox: "workspace-write", keepsSpare: true },
      (name) => env[name],
    );
    let workingDir = folder;
    const confine = permissions.confine(() => workingDir);
    let taken = 0;
    const run = async (command: string, leave?: "network") => {
      const { signal } = new AbortController();
      const { content } = await runBash({ command, timeout_seconds: 60 }, {
        ...{ workingDir, maxOutputChars: 1000, signal, ...leave && { leave } },
        confine: async (program, args, leave): Promise<ConfinedProgram> => {
          const confined = await confine(program, args, leave);
          const { spare } = confined;
          if (spare === undefined) return confined;
          const take: typeof spare.take = (how) => {
            const child = spare.take(how);
            if (child) taken++;
            return child;
          };
          return { ...confined, spare: { ...spare, take } };
        },
      });
      return content;
    };
    const untilTaken = async (command: string) => {
      const before = taken;
      let content = "";
      while (taken === before) {
        content = await run(command);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      return content;
    };
    assertEquals(await run("echo one; touch a"), "exit code: 0\nstdout:\none");
    assertEquals(taken, 0);
    assertEquals(await untilTaken("cat; echo two"), "exit code: 0\nstdout:\ntwo");
    // Something to protect came meanwhile.
    Deno.mkdirSync(`${folder}/.vscode`);
    const before = taken;
    const write = "touch .vscode/a 2>/dev/null; ls .vscode";
    assertEquals(await run(write), "exit code: 0\nno output");
    assertEquals(taken, before);
    assertEquals(await untilTaken(write), "exit code: 0\nno output");
    // Another network, another folder: another sandbox.
    const now = taken;
    await run("true", "network");
    workingDir = await Deno.realPath(await Deno.makeTempDir());
    assertEquals(await run("pwd"), `exit code: 0\nstdout:\n${workingDir}`);
    assertEquals(taken, now);
    await Deno.remove(workingDir, { recursive: true });
    dispatchEvent(new Event("unload"));
    await Deno.remove(base, { recursive: true });
  },
});

Deno.test({
  name: "R-03 a .git that is a link is put back where a command replaced it, and the model is told",
  ignore,
  async fn() {
    const base = await Deno.realPath(await Deno.makeTempDir());
    const workingDir = `${base}/work`;
    for (const path of ["work", "repo/.git/objects", "home"]) {
      await Deno.mkdir(`${base}/${path}`, { recursive: true });
    }
    await Deno.symlink("../repo/.git", `${workingDir}/.git`);
    await Deno.symlink("nowhere", `${workingDir}/.envrc`);
    await Deno.mkdir(`${workingDir}/sub`);
    await Deno.symlink("away", `${workingDir}/sub/.envrc`);
    const permissions = await openPermissions(
      { sandbox: "workspace-write" },
      (name) => name === "HOME" ? `${base}/home` : undefined,
    );
    const { signal } = new AbortController();
    const run = async (command: string) => {
      const confine = permissions.confine(() => workingDir);
      const context = { workingDir, maxOutputChars: 2000, signal, confine };
      return (await runBash({ command, timeout_seconds: 60 }, context)).content;
    };
    assertEquals(await run("ls -A"), "exit code: 0\nstdout:\n.envrc\n.git\nsub");
    const said = await run("rm .git .envrc; mkdir .git; echo evil > .git/config");
    for (const name of [".git", ".envrc"]) {
      assertStringIncludes(said, `${workingDir}/${name} is a link that commands may not replace`);
    }
    assertEquals(Deno.readLinkSync(`${workingDir}/.git`), "../repo/.git");
    assertEquals(Deno.readLinkSync(`${workingDir}/.envrc`), "nowhere");
    // What it made can be looked at, and is no repository of that name.
    const [aside] = [...Deno.readDirSync(workingDir)].filter(({ name }) =>
      name.includes("replaced")
    );
    assertEquals(Deno.readTextFileSync(`${workingDir}/${aside!.name}/config`), "evil\n");
    // Below, the folder may be another one by now, as a job can see to: nothing is written there.
    const moved = "mv sub old; mkdir sub; ls -A sub";
    assertEquals(await run(moved), "exit code: 0\nno output");
    assertEquals([...Deno.readDirSync(`${workingDir}/sub`)], []);
    await Deno.remove(base, { recursive: true });
  },
});

Deno.test({
  name:
    "SBX-01 the first command's sandbox is made ready once, where commands are confined by default",
  ignore,
  sanitizeResources: false,
  sanitizeOps: false,
  async fn() {
    const base = await Deno.realPath(await Deno.makeTempDir());
    const folder = `${base}/work`;
    await Deno.mkdir(folder);
    const env: Record<string, string> = { HOME: base, XDG_STATE_HOME: `${base}/state` };
    const open = (choice: Parameters<typeof openPermissions>[0]) =>
      openPermissions({ keepsSpare: true, ...choice }, (name) => env[name]);
    const take = async (permissions: Awaited<ReturnType<typeof open>>) => {
      const confined = await permissions.confine(() => folder)("sh", ["-c", "echo first"]);
      return confined.spare?.take({ cwd: folder, env: commandEnvironment() });
    };
    const permissions = await open({ prefersAuto: true });
    permissions.makeFirstReady(() => folder);
    let child = await take(permissions);
    while (child === undefined) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      child = await take(permissions);
    }
    const { stdout } = await child.output();
    assertEquals(new TextDecoder().decode(stdout), "first\n");
    // A second message makes none; nor does -p, whose commands are asked about.
    permissions.makeFirstReady(() => folder);
    const other = await open({ sandbox: "workspace-write" });
    other.makeFirstReady(() => folder);
    await new Promise((resolve) => setTimeout(resolve, 300));
    assertEquals([await take(permissions), await take(other)], [undefined, undefined]);
    dispatchEvent(new Event("unload"));
    await Deno.remove(base, { recursive: true });
  },
});
