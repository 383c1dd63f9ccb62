import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { findSandbox } from "../../src/safety/sandbox/probe.ts";
import { withFewPaths } from "../../src/safety/sandbox/mounts.ts";
import type { Right } from "../../src/types/confine.ts";
import { accessAt, type View } from "../../src/safety/view.ts";
import { openPermissions } from "../../src/safety/permissions.ts";
import { runBash } from "../../src/tools/shell/run_command.ts";
import { join, relative } from "../../src/text/std_path.ts";
import { testUnless } from "../helpers/test_unless.ts";

const found = await findSandbox();
const ignore = typeof found === "string" || found.by !== "bubblewrap";
const test = testUnless(ignore);

test("R-03 a .git that is a link is restored if a command replaced it, and the result says so", async () => {
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
  const [aside] = [...Deno.readDirSync(workingDir)].filter(({ name }) => name.includes("replaced"));
  assertEquals(Deno.readTextFileSync(`${workingDir}/${aside!.name}/config`), "evil\n");
  // Below, the folder may be another one by now, as a job can see to: nothing is written there.
  const moved = "mv sub old; mkdir sub; ls -A sub";
  assertEquals(await run(moved), "exit code: 0\nno output");
  assertEquals([...Deno.readDirSync(`${workingDir}/sub`)], []);
  await Deno.remove(base, { recursive: true });
});

/** A folder with files, and what runs commands in it. */
async function folderWith(names: Iterable<string>) {
  const base = await Deno.realPath(await Deno.makeTempDir());
  const workingDir = `${base}/work`;
  await Deno.mkdir(`${base}/home`);
  for (const name of names) {
    const path = `${workingDir}/${name}`;
    await Deno.mkdir(path.replace(/\/[^/]*$/, ""), { recursive: true });
    await Deno.writeTextFile(path, "SECRET\n");
  }
  const permissions = openPermissions(
    { sandbox: "workspace-write" },
    (name) => name === "HOME" ? `${base}/home` : undefined,
  );
  const { signal } = new AbortController();
  const context = {
    ...{ workingDir, maxOutputChars: 2000, signal },
    confine: permissions.confine(() => workingDir),
  };
  return {
    workingDir,
    run: async (command: string, right?: Right) =>
      (await runBash({ command, timeout_seconds: 60 }, { ...context, ...right && { right } }))
        .content,
    [Symbol.asyncDispose]: () => Deno.remove(base, { recursive: true }),
  };
}
const numbered = <T>(count: number, make: (n: number) => T) =>
  Array.from({ length: count }, (_, n) => make(n));

test("SBX-01 of many secrets and protected files, the folders that contain them are closed", async () => {
  const names = [
    ...numbered(200, (n) => `keys/.env.${n}`),
    ...numbered(300, (n) => `packages/p${n}/a.code-workspace`),
    ...["src/.env", "src/plain", "keys/plain"],
  ];
  await using at = await folderWith(names);
  const said = await at.run(
    "cat keys/* keys/.env.1 src/.env; touch packages/p1/x; touch src/x packages/../x && ls src; exit 1",
  );
  assertEquals(said.includes("SECRET"), false, said);
  assertStringIncludes(said, "stdout:\nplain\nx\n");
  assertStringIncludes(said, "packages/p1/x': Read-only file system");
  assertStringIncludes(
    said,
    `. Of too many protected files, ${at.workingDir}/keys is hidden, ` +
      `${at.workingDir}/packages is read-only`,
  );
});

test("SBX-01 git does not take the files of a hidden folder for deleted", async () => {
  await using at = await folderWith([
    ...numbered(200, (n) => `keys/.env.${n}`),
    ...["src/plain", ".aws/config"],
  ]);
  const script = "git init -q . && git config user.name a && git config user.email a@b && " +
    "git add -A && git commit -qm one";
  const args = ["-c", script];
  await new Deno.Command("sh", { args, cwd: at.workingDir }).output();
  const said = await at.run("echo x >> src/plain; git commit -qam two", { kind: "git" });
  assertEquals(/Permission denied/.test(said), true, said);
  const { stdout } = await new Deno.Command("git", {
    args: ["diff", "--name-only", "HEAD^", "HEAD"],
    cwd: at.workingDir,
  }).output();
  assertEquals(new TextDecoder().decode(stdout), "src/plain\n");
});

test("SBX-01 a folder with too many secrets directly in it is hidden as a whole", async () => {
  await using at = await folderWith(numbered(500, (n) => `.env.${n}`));
  const said = await at.run("ls -A; touch x; cat .env.7; exit 1");
  assertEquals(said.includes("SECRET"), false, said);
  assertStringIncludes(said, `${at.workingDir} is hidden`);
  // A command that succeeds says so, too, once.
  const names = numbered(300, (n) => `d${n}/.env`);
  await using other = await folderWith(names);
  const first = await other.run("touch x");
  assertMatch(first, /^exit code: 0\nOf too many protected files, .*d100 is hidden.* 145 more/);
  assertEquals((await other.run("cat x")).includes("too many"), false);
  assertEquals([...Deno.readDirSync(at.workingDir)].length, 500);
});

Deno.test("SBX-01 of too many paths, git's folders stay", () => {
  const git = ["config", "commondir", "hooks", "modules"].map((name) => `.git/${name}`);
  const paths = [...git, ...numbered(151, (n) => `a/${n}`), ...numbered(140, (n) => `b${n}/c`)];
  const view: View = {
    ...{ folder: "/w", network: false, isComplete: true, repositories: ["/w/.git"] },
    texts: new Map([["/w/.git/config", ""]]),
    places: new Map([
      ["/w", "write"],
      ["/w/.git", "read"],
      ...paths.map((path) => [`/w/${path}`, path.startsWith(".git") ? "write" : "hidden"] as const),
    ]),
  };
  const few = withFewPaths(view);
  assertEquals(few.closed!.includes("/w/a"), true);
  assertEquals(few.closed!.includes("/w/.git"), false);
  assertEquals(accessAt(few, "/w/.git/config"), "write");
});

Deno.test("SBX-01 a view has few paths, and none of them is opened", () => {
  const rows: [paths: [string, "hidden" | "read" | "write"][], closed: string[]][] = [
    [numbered(150, (n) => `a${n}`).map((path) => [path, "hidden"]), []],
    [numbered(151, (n) => `a/${n}`).map((path) => [path, "read"]), ["a read"]],
    // What is writable or readable in a closed folder does not stay so.
    [
      [
        ...numbered(151, (n): [string, "hidden"] => [`a/b/${n}`, "hidden"]),
        ["a/b/c", "write"],
        ["a/b/c/d", "read"],
      ],
      ["a/b hidden"],
    ],
    [numbered(200, (n) => `a/b/${n}/c`).map((path) => [path, "hidden"]), ["a/b hidden"]],
    // Only those over the limit are closed.
    [
      numbered(400, (n) => `a${n}/b`).map((path) => [path, "hidden"]),
      [...numbered(300, (n) => `a${n + 100} hidden`), ...numbered(50, (n) => `a${n + 10} hidden`)]
        .sort(),
    ],
    [numbered(500, (n) => `a${n}/b`).map((path) => [path, "hidden"]), [" hidden"]],
    [numbered(451, (n) => `a${n}`).map((path) => [path, "read"]), [" read"]],
    // A long path counts as several.
    [numbered(50, (n) => `a/${"b".repeat(500)}${n}`).map((path) => [path, "read"]), ["a read"]],
    // All folders that programs write count, also with the folder in one, and the fullest is closed.
    [
      [
        ["../o", "write"],
        ["a", "read"],
        ...numbered(151, (n) => `../o/a/${n}`)
          .map((path): [string, "hidden"] => [path, "hidden"]),
      ],
      ["../o/a hidden"],
    ],
    [
      [
        ["..", "write"],
        ["a", "read"],
        ...numbered(500, (n) => `../a${n}`)
          .map((path): [string, "read"] => [path, "read"]),
      ],
      [".. read"],
    ],
  ];
  for (const [paths, wanted] of rows) {
    const view: View = {
      ...{ folder: "/v/w", network: false, isComplete: true },
      places: new Map([
        ["/v/w", "write"],
        ...paths.map(([path, access]) => [join("/v/w", path), access] as const),
      ]),
    };
    const few = withFewPaths(view);
    assertEquals(
      few.closed!.map((at) => `${relative("/v/w", at)} ${accessAt(few, at)}`),
      wanted,
    );
    for (const at of view.places.keys()) {
      const rank = ["hidden", "read", "own", "write"];
      const [before, after] = [view, few].map((one) => rank.indexOf(accessAt(one, at)));
      assertEquals(after! <= before!, true, at);
    }
    assertEquals(few.places.size <= 451, true);
  }
});
