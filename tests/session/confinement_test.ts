import { assertEquals, assertStringIncludes } from "@std/assert";
import { PathTable } from "../../src/safety/path_table.ts";
import { findSandbox } from "../../src/safety/sandbox/probe.ts";
import { openPermissions } from "../../src/session/permissions.ts";
import { runBash } from "../../src/tools/shell/run_bash.ts";

const found = await findSandbox(new PathTable({ home: Deno.env.get("HOME")! }));
const ignore = typeof found === "string" || found.by !== "bubblewrap";

Deno.test({
  name: "R-03 a .git that is a link is restored if a command replaced it, and the result says so",
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
    const permissions = openPermissions(
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
