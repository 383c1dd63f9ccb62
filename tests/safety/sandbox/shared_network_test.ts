/** Servers of background jobs, which other sandboxed commands with the same rights reach. */

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { findSandbox } from "../../../src/safety/sandbox/probe.ts";
import { canShare } from "../../../src/safety/sandbox/shared_networks.ts";
import { openPermissions } from "../../../src/safety/permissions.ts";
import { runInBackground } from "../../../src/tools/shell/background.ts";
import { jobStore } from "../../../src/tools/shell/jobs.ts";
import { runBash } from "../../../src/tools/shell/run_command.ts";
import type { Right } from "../../../src/types/confine.ts";
import { waitUntil } from "../../helpers/wait_until.ts";

const found = await findSandbox();
const ignore = typeof found === "string" || found.by !== "bubblewrap" || !canShare();

/** Greets each client, and writes its port and its network into a file. */
const SERVER = `exec perl -MIO::Socket::INET -e '
  $s = IO::Socket::INET->new(LocalAddr => "127.0.0.1:0", Listen => 5) or die;
  open F, ">new"; print F $s->sockport, " ", readlink "/proc/self/ns/net"; close F; rename "new", "up";
  while ($c = $s->accept) { print $c "hello\\n"; close $c }'`;

const exists = (path: string) => Deno.lstat(path).then(() => true, () => false);

async function sh(script: string): Promise<string> {
  const { stdout } = await new Deno.Command("bash", { args: ["-c", script] }).output();
  return new TextDecoder().decode(stdout);
}

Deno.test({
  name:
    "SBX-04 a command reaches the server of a job with the same rights, and no other program does",
  ignore,
  async fn() {
    const base = await Deno.realPath(await Deno.makeTempDir());
    for (const name of ["home", "work/sub"]) {
      await Deno.mkdir(`${base}/${name}`, { recursive: true });
    }
    const folder = `${base}/work`;
    const permissions = openPermissions(
      { sandbox: "workspace-write", approve: "auto" },
      (name) =>
        name === "HOME" ? `${base}/home` : name === "PATH" ? Deno.env.get("PATH") : undefined,
    );
    const { signal } = new AbortController();
    const jobs = jobStore();
    const contextOf = (workingDir: string, right?: Right) => {
      const confine = permissions.confine(() => workingDir);
      return { workingDir, maxOutputChars: 4000, signal, confine, jobs, ...right && { right } };
    };
    await runInBackground({ command: SERVER }, contextOf(folder));
    await waitUntil(() => exists(`${folder}/up`));
    const [port, network = ""] = (await Deno.readTextFile(`${folder}/up`)).split(" ");
    const client = `exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3; readlink /proc/self/ns/net`;
    const run = async (workingDir = folder, right?: Right, command = client) =>
      (await runBash({ command, timeout_seconds: 60 }, contextOf(workingDir, right))).content;
    assertEquals(await run(), `exit code: 0\nstdout:\nhello\n${network}`);
    // Its users have no right there that they lack elsewhere.
    const capabilities = await run(
      folder,
      undefined,
      "grep -c 'Cap.*0000$' /proc/self/status; ip link add d type dummy",
    );
    assertMatch(capabilities, /stdout:\n5\nstderr:/);
    const own = await sh(client);
    assertEquals(own.includes("hello") || own.includes(network), false);
    const rights: Right[] = [
      ...[{ kind: "git" }, { kind: "network" }] as const,
      ...(["write", "git"] as const).map((kind) => ({ kind, folder: `${base}/home` })),
    ];
    for (const right of rights) {
      assertEquals((await run(folder, right)).includes(network), false, right.kind);
    }
    const inOther = await run(`${folder}/sub`);
    assertStringIncludes(inOther, "refused");
    permissions.setApprove("plan");
    const inPlan = await run();
    permissions.setApprove("auto");
    assertEquals([inOther, inPlan].filter((said) => said.includes(network)), []);
    // A program that did not listen is no server outside of the sandbox.
    assertMatch(
      await run(folder, undefined, "echo > /dev/tcp/127.0.0.1/9"),
      /has only servers that run in it/,
    );
    assertMatch(
      await run(folder, { kind: "git" }, "echo > /dev/tcp/127.0.0.1/9"),
      /the command's own servers/,
    );
    await jobs[Symbol.asyncDispose]();
    const inside = "ls -l /proc/[0-9]*/ns/net 2>/dev/null";
    await waitUntil(async () => !(await sh(inside)).includes(network));
    // The kernel may give the number to the next network.
    assertEquals((await run()).includes("hello"), false);
    await Deno.remove(base, { recursive: true });
  },
});
