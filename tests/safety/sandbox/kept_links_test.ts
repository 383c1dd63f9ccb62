import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { keepLinks, restoreLinks } from "../../../src/safety/sandbox/kept_links.ts";
import { findSandbox } from "../../../src/safety/sandbox/probe.ts";
import { ANY_HOME } from "../../../src/safety/path_table.ts";
import { linksOn } from "../../../src/safety/places.ts";
import { openPermissions } from "../../../src/safety/permissions.ts";
import { waitUntil } from "../../helpers/wait_until.ts";
import { posixTest as test } from "../../helpers/test_unless.ts";

const source = (name: string) => fromFileUrl(new URL(`../../../src/${name}`, import.meta.url));
const module = source("safety/sandbox/kept_links.ts");
const sandbox = await findSandbox();

/** A folder with a link, and the state folder of its table. */
async function scene() {
  const base = await Deno.realPath(await Deno.makeTempDir());
  const [folder, state] = [`${base}/work`, `${base}/home/.local/state/copilot`];
  const link = `${folder}/.git`;
  for (const at of [folder, state]) await Deno.mkdir(at, { recursive: true });
  await Deno.symlink("../repo/.git", link);
  return {
    ...{ base, folder, state, link, view: { folder, links: [link] } },
    restore: () => restoreLinks(folder, state),
    target: () => {
      try {
        return Deno.readLinkSync(link);
      } catch {
        return undefined;
      }
    },
    replace: () => {
      Deno.removeSync(link);
      Deno.mkdirSync(link);
    },
    asides: () =>
      [...Deno.readDirSync(folder)].filter(({ name }) => name.includes(".replaced")).length,
    [Symbol.asyncDispose]: () => Deno.remove(base, { recursive: true }),
  };
}

test("R-03 a link that a command replaces is restored while it runs, each time", async () => {
  await using at = await scene();
  const end = keepLinks(at.view, at.state);
  for (let times = 1; times <= 2; times++) {
    at.replace();
    await waitUntil(() => at.target() === "../repo/.git");
    assertEquals(at.asides(), times);
  }
  Deno.removeSync(at.link);
  // A replacement is no link of the user, whatever its name.
  Deno.symlinkSync("x", at.link);
  await waitUntil(() => at.target() === "../repo/.git");
  const { name } = [...Deno.readDirSync(at.folder)].find(({ isSymlink, name }) =>
    isSymlink && name !== ".git"
  )!;
  const aside = `${at.folder}/${name}`;
  const endAside = keepLinks({ ...at.view, links: [aside] });
  Deno.removeSync(aside);
  assertEquals(endAside(), []);
  const said = end();
  assertEquals([said.length, at.target(), at.asides()], [3, "../repo/.git", 2]);
  assertStringIncludes(said[2]!, `${at.link} is a link that commands may not replace: it was`);
});

test("R-03 the next start restores a link that a command of a killed run replaced", async () => {
  await using at = await scene();
  const code = `import { keepLinks } from ${JSON.stringify(module)};
      keepLinks(${JSON.stringify(at.view)}, ${JSON.stringify(at.state)});
      Deno.kill(Deno.pid, "SIGKILL");`;
  await new Deno.Command(Deno.execPath(), { args: ["eval", code] }).output();
  at.replace();
  const variables: Record<string, string> = { HOME: `${at.base}/home`, PATH: "/usr/bin:/bin" };
  const permissions = openPermissions({ sandbox: "off" }, (name) => variables[name]);
  const notices = await permissions.prepare(at.folder, true);
  assertEquals([at.target(), notices.some(({ code }) => code === "mended")], [
    "../repo/.git",
    true,
  ]);
  // Nothing runs any more: the user may replace it.
  at.replace();
  await permissions.prepare(at.folder, true);
  assertEquals(at.target(), undefined);
});

test("R-03 a start and an end restore the links of other running commands, and do not forget them", async () => {
  await using at = await scene();
  const first = keepLinks(at.view, at.state);
  const second = keepLinks(at.view, at.state);
  at.replace();
  assertEquals(at.restore().length, 1);
  assertEquals(second(), []);
  at.replace();
  assertEquals(at.restore().length, 1);
  assertEquals(first(), []);
  at.replace();
  assertEquals([at.restore(), at.target()], [[], undefined]);
});

test("R-03 a folder that is now a link has no link restored, and the next start tries again", async () => {
  await using at = await scene();
  const end = keepLinks(at.view, at.state);
  await Deno.rename(at.folder, `${at.base}/moved`);
  await Deno.mkdir(`${at.base}/other`);
  await Deno.symlink("other", at.folder);
  const said = end();
  assertStringIncludes(said[0]!, "could not be restored");
  assertStringIncludes(said[0]!, "do not use git there or open the folder");
  assertEquals([...Deno.readDirSync(`${at.base}/other`)], []);
  await Deno.remove(at.folder);
  await Deno.rename(`${at.base}/moved`, at.folder);
  at.replace();
  assertEquals([at.restore().length, at.target()], [1, "../repo/.git"]);
});

test("R-03 a closed folder has its links restored", async () => {
  await using at = await scene();
  for (const [mode, isReplaced] of [[0o555, true], [0o000, true], [0o000, false]] as const) {
    const end = keepLinks(at.view, at.state);
    if (isReplaced) at.replace();
    Deno.chmodSync(at.folder, mode);
    assertEquals([end().length, at.target()], [+isReplaced, "../repo/.git"]);
  }
});

test("R-03 a replacement is secret unless it is a link, as the user may have written it", async () => {
  await using at = await scene();
  const kinds = [
    () => Deno.mkdirSync(at.link),
    () => Deno.writeTextFileSync(at.link, "key"),
    () => Deno.symlinkSync("other", at.link),
  ].map((make) => {
    const end = keepLinks(at.view, at.state);
    Deno.removeSync(at.link);
    make();
    const [, name] = /replacement is now (.*)$/.exec(end()[0]!)!;
    Deno.lstatSync(`${at.folder}/${name}`);
    const file = `${at.folder}/${name!.replace(".git", "x")}`;
    return [file, `${file}/in`].map((path) => ANY_HOME.secretKind(path) !== undefined);
  });
  assertEquals(kinds, [[true, true], [true, true], [false, false]]);
});

test("R-03 the bytes of a link's target count, also those that are not UTF-8", async () => {
  await using at = await scene();
  const sh = async (script: string) => {
    const how = { args: ["-c", script], cwd: at.folder };
    const { stdout } = await new Deno.Command("/bin/sh", how).output();
    return [...stdout].map((byte) => String.fromCharCode(byte)).join("");
  };
  const link = (octal: string) => `rm -f .git; ln -s "$(printf 't\\${octal}/%%b')" .git`;
  await sh(link("377"));
  assertEquals(linksOn(at.folder, `${at.link}/hooks`), [at.link]);
  const end = keepLinks(at.view, at.state);
  at.restore();
  await sh(link("375"));
  assertEquals(end().length, 1);
  assertEquals(await sh("readlink -n .git"), "t\xff/%b");
});

test("R-03 processes stop before this program is stopped, links are restored, and all continue", async () => {
  await using at = await scene();
  const job = "sh -c 'rm .git; mkdir .git; echo $$ >job; until [ -e go ]; do sleep 0.1; done'; :";
  const code = `import { keepLinks } from ${JSON.stringify(module)};
      import { startLeader } from ${JSON.stringify(source("start_program.ts"))};
      import { stopWithProgram } from ${JSON.stringify(source("tools/shell/process_group.ts"))};
      const end = keepLinks(${JSON.stringify(at.view)}, ${JSON.stringify(at.state)});
      const how = { cwd: ${JSON.stringify(at.folder)}, env: { PATH: "/usr/bin:/bin" } };
      const child = startLeader({ program: "/bin/sh", args: ["-c", ${JSON.stringify(job)}] }, how);
      stopWithProgram(child);
      const { code } = await child.status;
      console.log(code, end().length);`;
  // A process group is stopped only if a shell can continue it.
  const script = `set -m; "$0" eval "$1" & pid=$!; cd "$2" || exit
      until_ok() { for i in $(seq 200); do if eval "$1"; then return; fi; sleep 0.1; done; echo "not $1"; }
      until_ok '[ -s job ]'; kill -TSTP $pid
      until_ok 'ps -o stat= -p $pid | grep -q T'
      # One that is starting another is in state D until that one, which is stopped, has begun.
      until_ok 'ps -o stat= -p $(cat job) | grep [TD]'; readlink .git
      : >go; kill -CONT $pid; until_ok '! kill -0 $pid 2>/dev/null'`;
  const args = ["-c", script, Deno.execPath(), code, at.folder];
  const ran = await new Deno.Command("bash", { args, stderr: "inherit" })
    .output();
  assertMatch(new TextDecoder().decode(ran.stdout), /^[TD]\S*\n[.][.]\/repo\/.git\n0 1\n$/);
});

Deno.test({
  name: "R-03 no sandboxed process outruns the stop of this program",
  ignore: typeof sandbox === "string" || sandbox.by !== "bubblewrap",
  async fn() {
    const count = await Deno.makeTempFile();
    const chain =
      `use POSIX; $SIG{CHLD} = "IGNORE"; my $end = time + 90; if (fork) { sleep 90; exit }
      print "begun\\n"; close STDOUT;
      while (time < $end) { my $pid = fork; exit if $pid; setsid if defined $pid;
        open my $file, ">>", "${count}"; print $file "x" }`;
    const args = "--unshare-user --unshare-pid --die-with-parent --bind / / --dev /dev --proc /proc"
      .split(" ");
    const code = `import { startLeader } from ${JSON.stringify(source("start_program.ts"))};
      import { stopWithProgram } from ${JSON.stringify(source("tools/shell/process_group.ts"))};
      const args = ${JSON.stringify([...args, "perl", "-e", chain])};
      const how = { cwd: "/", env: { PATH: "/usr/bin:/bin" } };
      const child = startLeader({ program: "bwrap", args }, how);
      stopWithProgram(child);
      await child.stdout.getReader().read();
      Deno.kill(Deno.pid, "SIGTSTP");
      await child.status;`;
    // A process group is stopped only if a shell can continue it.
    const script = `set -m; "$0" eval "$1" & pid=$! count=$2
      until_ok() { for i in $(seq 100); do if eval "$1"; then return; fi; sleep 0.1; done; echo "not $1"; }
      until_ok 'ps -o stat= -p $pid | grep -q T'
      until_ok 'before=$(stat -c %s "$count"); sleep 0.3; [ $before = $(stat -c %s "$count") ]'
      kill -KILL $pid`;
    const ran = await new Deno.Command("bash", {
      args: ["-c", script, Deno.execPath(), code, count],
      stderr: "inherit",
    }).output();
    assertEquals(new TextDecoder().decode(ran.stdout), "");
    await Deno.remove(count);
  },
});
