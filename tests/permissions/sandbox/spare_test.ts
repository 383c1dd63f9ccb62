import { assert, assertEquals } from "@std/assert";
import { PathTable } from "../../../src/permissions/path_table.ts";
import { findSandbox } from "../../../src/permissions/sandbox/probe.ts";
import { SpareSandbox } from "../../../src/permissions/sandbox/spare.ts";
import { makeView } from "../../../src/permissions/view.ts";

const found = await findSandbox(new PathTable({ home: Deno.env.get("HOME")! }));
const ignore = typeof found === "string" || found.by !== "bubblewrap";
const suffix = ignore ? ` (skipped: ${typeof found === "string" ? found : "not bubblewrap"})` : "";

/** A folder with a protected one in it, and what starts sandboxes for it. */
async function scene() {
  const base = await Deno.realPath(await Deno.makeTempDir());
  const [home, folder, own] = ["home", "home/work", "own"].map((name) => `${base}/${name}`);
  for (const path of [`${folder}/.vscode`, own!]) await Deno.mkdir(path, { recursive: true });
  const paths = new PathTable({ home: home! });
  const words = () => {
    const view = makeView({ folder: folder!, isWritable: true, network: false, paths });
    return typeof found === "string" ? [] : found.command(view, own!);
  };
  const how = { cwd: folder!, env: { PATH: "/usr/bin:/bin", ONE: "1" } };
  const spare = new SpareSandbox();
  return {
    folder: folder!,
    words,
    how,
    spare,
    async [Symbol.asyncDispose]() {
      spare.end();
      await Deno.remove(base, { recursive: true });
    },
  };
}

async function outputOf(child: Deno.ChildProcess): Promise<string> {
  const { stdout, stderr } = await child.output();
  return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
}

const isAlive = (pid: number) => {
  try {
    Deno.kill(pid, "SIGCONT");
    return true;
  } catch {
    return false;
  }
};

Deno.test({
  name: `SBX-01 a sandbox that waited confines as any other, and has no input left${suffix}`,
  ignore,
  async fn() {
    await using at = await scene();
    const { words, how, spare } = at;
    spare.start(words(), how);
    const script = `printf '<%s>' "$@" "$ONE"; readlink /proc/self/fd/0; ls /proc/self/fd | wc -l
      touch in .vscode/out ../out; ls -A . ..`;
    const rest = ["/bin/bash", "-c", script, "bash", "two words", "", "'\n\"$", "é"];
    const child = spare.take(words(), rest, how);
    assert(child !== undefined);
    assertEquals(
      await outputOf(child),
      // `ls` opens the folder that it lists.
      "<two words><><'\n\"$><é><1>/dev/null\n4\n.:\n.vscode\nin\n\n..:\n.cache\n.npm\nwork\n" +
        "touch: cannot touch '.vscode/out': Read-only file system\n" +
        "touch: cannot touch '../out': Read-only file system\n",
    );
    // It served one program.
    assertEquals(spare.take(words(), rest, how), undefined);
  },
});

Deno.test({
  name: `SBX-01 a sandbox that waited is not used where one made now would be another${suffix}`,
  ignore,
  async fn() {
    const changes: ((at: { folder: string }) => void)[] = [
      // Another folder at the same path.
      ({ folder }) => {
        Deno.renameSync(folder, `${folder}.old`);
        Deno.mkdirSync(`${folder}/.vscode`, { recursive: true });
      },
      ({ folder }) => {
        Deno.renameSync(`${folder}/.vscode`, `${folder}/old`);
        Deno.mkdirSync(`${folder}/.vscode`);
      },
      // What is protected by now.
      ({ folder }) => Deno.mkdirSync(`${folder}/.idea`),
    ];
    for (const change of changes) {
      await using at = await scene();
      at.spare.start(at.words(), at.how);
      change(at);
      assertEquals(at.spare.take(at.words(), ["/bin/true"], at.how), undefined);
    }
    await using at = await scene();
    at.spare.start(at.words(), at.how);
    const others = [{ ...at.how, cwd: "/" }, { ...at.how, env: { ...at.how.env, ONE: "2" } }];
    for (const how of others) {
      assertEquals(at.spare.take(at.words(), ["/bin/true"], how), undefined);
    }
    // The order of variables is no difference.
    const how = { ...at.how, env: { ONE: "1", PATH: "/usr/bin:/bin" } };
    assertEquals(await outputOf(at.spare.take(at.words(), ["/bin/echo", "ran"], how)!), "ran\n");
  },
});

Deno.test({
  name:
    `R-04 nothing runs in a sandbox that waited where its folders were moved meanwhile${suffix}`,
  ignore,
  async fn() {
    await using at = await scene();
    const words = at.words();
    at.spare.start(words, at.how);
    // The first program says that all is mounted.
    const child = at.spare.take(words, ["/bin/echo", "ran"], at.how)!;
    assertEquals(await outputOf(child), "ran\n");
    at.spare.start(words, at.how);
    // Whether it was mounted by now or not: it is not the folder at that name.
    Deno.renameSync(`${at.folder}/.vscode`, `${at.folder}/old`);
    Deno.symlinkSync("old", `${at.folder}/.vscode`);
    const moved = await outputOf(at.spare.take(words, ["/bin/echo", "ran"], at.how)!);
    assert(moved.startsWith("copilot: not run, as files were replaced"), moved);
  },
});

Deno.test({
  name: `PRC-07 a sandbox that waits ends when it is to, and with the program${suffix}`,
  ignore,
  async fn() {
    await using at = await scene();
    const started: Deno.ChildProcess[] = [];
    const { Command } = Deno;
    Deno.Command = class extends Command {
      override spawn() {
        const child = super.spawn();
        started.push(child);
        return child;
      }
    };
    try {
      at.spare.start(at.words(), at.how);
      // The same again: it goes on waiting.
      at.spare.start(at.words(), at.how);
      assertEquals(started.length, 1);
      at.spare.end();
      started[0]!.ref();
      assertEquals((await started[0]!.status).signal, "SIGKILL");
      // The kernel ends what is in a sandbox after its first process.
      while (isAlive(-started[0]!.pid)) await new Promise((resolve) => setTimeout(resolve, 5));
      // The end of this program closes the pipe, too, whatever ends it.
      at.spare.start(at.words(), at.how);
      started[1]!.ref();
      await started[1]!.stdin.close();
      assertEquals((await started[1]!.status).code, 0);
      assertEquals(at.spare.take(at.words(), ["/bin/true"], at.how), undefined);
    } finally {
      Deno.Command = Command;
    }
  },
});
