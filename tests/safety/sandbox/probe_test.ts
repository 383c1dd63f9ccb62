import { assertEquals, assertMatch } from "@std/assert";
import { findSandbox, namespacesAdvice } from "../../../src/safety/sandbox/probe.ts";

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
  assertEquals(await findSandbox(undefined, undefined, "plan9"), "there is none for plan9");
});

Deno.test("SBX-05 a sandbox that works is remembered, for the person alone; a failure is not", {
  ignore: Deno.build.os === "windows",
}, async () => {
  const folder = await Deno.makeTempDir();
  try {
    const found = await findSandbox(undefined, `${folder}/a/b/sandbox`);
    const kept = ["a", "a/b", "a/b/sandbox"];
    if (typeof found === "string") assertEquals([...Deno.readDirSync(folder)], []);
    else {
      const modes = kept.map((name) => Deno.statSync(`${folder}/${name}`).mode! & 0o777);
      assertEquals(modes, [0o700, 0o700, 0o600]);
      assertEquals(typeof await findSandbox(undefined, `${folder}/a/b/sandbox`), "object");
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
