import { assertEquals, assertMatch } from "@std/assert";
import { PathTable } from "../../../src/safety/path_table.ts";
import { findSandbox, namespacesAdvice } from "../../../src/safety/sandbox/probe.ts";
import { outerEnvironment } from "../../../src/safety/sandbox/wrap.ts";
import { makeView } from "../../../src/safety/make_view.ts";
import { tempFolder } from "../../helpers/temp_folder.ts";

const APPARMOR = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";
const DEBIAN = "/proc/sys/kernel/unprivileged_userns_clone";
const MOST = "/proc/sys/user/max_user_namespaces";

/** The files of a kernel, with what its settings hold. */
const ROWS: [name: string, files: Record<string, string>, command: string | undefined][] = [
  [
    "Ubuntu since 23.10",
    { [APPARMOR]: "1\n", [DEBIAN]: "1\n", [MOST]: "63000\n" },
    "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
  ],
  [
    "an older Debian",
    { [DEBIAN]: "0\n", [MOST]: "63000\n" },
    "sudo sysctl -w kernel.unprivileged_userns_clone=1",
  ],
  ["no namespaces at all", { [MOST]: "0\n" }, "sudo sysctl -w user.max_user_namespaces=15000"],
  [
    "a kernel that closes nothing",
    { [APPARMOR]: "0\n", [DEBIAN]: "1\n", [MOST]: "9\n" },
    undefined,
  ],
  ["a system without these settings", {}, undefined],
];
for (const [name, files, command] of ROWS) {
  Deno.test(`SBX-05 doctor names the setting that closes namespaces: ${name}`, () => {
    const advice = namespacesAdvice((path) => files[path]);
    assertEquals(advice?.split(": ").at(-1), command);
    if (command !== undefined) {
      assertMatch(advice!, /no user namespaces here, as [\w.]+ is [01]\. /);
    }
  });
}

Deno.test("SBX-05 a system without a sandbox says so", async () => {
  assertEquals(
    await findSandbox(undefined, undefined, "plan9"),
    "no sandbox is supported on plan9",
  );
});

const release = Deno.osRelease().split(".").map(Number);
const hasMaximum = Deno.uid() === 0 && release[0]! * 1000 + release[1]! >= 6014;
const found = await findSandbox();
const isBubblewrap = typeof found !== "string" && found.by === "bubblewrap";

Deno.test("R-14 the processes of a command have a maximum, also if root starts them", {
  ignore: !isBubblewrap || Deno.uid() === 0 && !hasMaximum,
}, async () => {
  if (typeof found === "string") return;
  const folder = await Deno.realPath(await Deno.makeTempDir());
  await Deno.mkdir(`${folder}/own`);
  const paths = new PathTable({});
  const view = makeView({ folder, isWritable: true, network: false, paths });
  const [program, ...args] = found.command(view, `${folder}/own`);
  const file = "/proc/sys/kernel/pid_max";
  const before = await Deno.readTextFile(file);
  const script = `echo 9999 2>/dev/null >${file}; cat ${file}; ulimit -u`;
  const { stdout } = await new Deno.Command(program!, {
    args: [...args, "/bin/bash", "-c", script],
    env: outerEnvironment({}),
    clearEnv: true,
  }).output();
  const [own, limit] = new TextDecoder().decode(stdout).split("\n");
  assertEquals([own, limit], [hasMaximum ? "4096" : before.trim(), "4096"]);
  assertEquals(await Deno.readTextFile(file), before);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("SBX-05 a sandbox that works is remembered, for the person alone; a failure is not", {
  ignore: Deno.build.os === "windows",
}, async () => {
  using temp = tempFolder();
  const folder = temp.path;
  const found = await findSandbox(undefined, `${folder}/a/b/sandbox`);
  const kept = ["a", "a/b", "a/b/sandbox"];
  if (typeof found === "string") assertEquals([...Deno.readDirSync(folder)], []);
  else {
    const modes = kept.map((name) => Deno.statSync(`${folder}/${name}`).mode! & 0o777);
    assertEquals(modes, [0o700, 0o700, 0o600]);
    assertEquals(typeof await findSandbox(undefined, `${folder}/a/b/sandbox`), "object");
  }
});
