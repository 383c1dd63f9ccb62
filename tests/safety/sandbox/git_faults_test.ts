/** What counts as a fault of a new repository. */

import { assertEquals } from "@std/assert";
import { newFaults } from "../../../src/safety/sandbox/git_faults.ts";

/** Makes three repositories with a script, and returns the names of the faults and of those that git was asked about. */
async function faultsAfter(script: string, answer: () => boolean) {
  const root = await Deno.realPath(await Deno.makeTempDir());
  const names = ["a", "b", "c"];
  const line = `mkdir $n $n/objects $n/refs; cd $n; echo ref: refs/heads/x > HEAD; ${script}`;
  const args = ["-c", `for n in ${names.join(" ")}; do (${line}); done`];
  await new Deno.Command("sh", { args, cwd: root }).output();
  const asked: string[] = [];
  const indexMayLeadAway = (at: string) => {
    asked.push(at.slice(root.length + 1));
    return answer();
  };
  const git = { harmlessText: () => undefined, indexMayLeadAway };
  const faults = newFaults(names.map((name) => `${root}/${name}`), root, git);
  await Deno.remove(root, { recursive: true });
  return { asked, faults: faults.map(([path]) => path.slice(root.length + 1)) };
}

const ignore = Deno.build.os === "windows";
const INDEXES = ["a/index", "b/index", "c/index"];

Deno.test({
  name: "R-23 git is not asked about an index in a folder with a pipe, which is a fault",
  ignore,
  async fn() {
    for (const pipe of ["index", "config", "sharedindex.1", "config.worktree", "commondir"]) {
      const { asked, faults } = await faultsAfter(
        `: > index; rm -f ${pipe}; mkfifo ${pipe}`,
        () => false,
      );
      const indexes = faults.filter((name) => name.endsWith("/index"));
      assertEquals([asked, indexes], [[], INDEXES], pipe);
    }
    // Positive control, with a socket of git's daemon, for which git does not wait.
    const socket =
      `: > index; perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0); bind(S, pack_sockaddr_un("s"))'`;
    assertEquals(await faultsAfter(socket, () => false), { asked: ["a", "b", "c"], faults: [] });
  },
});

Deno.test({
  name: "R-23 after one long answer of git, the indexes of further new repositories are faults",
  ignore,
  async fn() {
    const wait = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3100) === "ok";
    assertEquals(await faultsAfter(": > index", wait), { asked: ["a"], faults: INDEXES.slice(1) });
  },
});
