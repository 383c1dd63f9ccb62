/** What has more rights does not use what fewer rights wrote: the rows of the table in docs/architecture.md. */

import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { definitionsIn } from "../../src/extensions/mcp/definition.ts";
import { startProgram } from "../../src/extensions/mcp/stdio.ts";
import { homesIn, PathTable } from "../../src/safety/path_table.ts";
import { findSandbox } from "../../src/safety/sandbox/probe.ts";
import { FolderLooks } from "../../src/safety/folder_looks.ts";
import { PermissionsFile } from "../../src/safety/settings_file.ts";
import { settingsInForce } from "../../src/safety/settings_in_force.ts";
import { makeView } from "../../src/safety/make_view.ts";
import { listedFolders } from "../../src/find_program.ts";
import { namedReads } from "../../src/safety/readable_folders.ts";
import { accessAt } from "../../src/safety/view.ts";
import { openPermissions } from "../../src/safety/permissions.ts";
import { exchangeOne } from "../../src/session/undo.ts";
import { grantIn } from "../../src/tools/files/regular_file.ts";
import { stampOf } from "../../src/tools/files/seen_files.ts";
import { builtinTools } from "../../src/tools/mod.ts";
import type { Confine, Right } from "../../src/types/confine.ts";
import { join } from "../../src/text/std_path.ts";
import { fakeSession } from "../helpers/fake_session.ts";
import { strictServer } from "../helpers/strict_server.ts";
import { sharingSystem } from "../helpers/system_secrets.ts";
import { testUnless } from "../helpers/test_unless.ts";
import { waitUntil } from "../helpers/wait_until.ts";

const found = await findSandbox();
const ignore = typeof found === "string" || found.by !== "bubblewrap";
const test = testUnless(ignore);
const tool = builtinTools.find(({ name }) => name === "run_bash")!;
const { signal } = new AbortController();

async function places(env: Record<string, string> = {}) {
  const base = await Deno.realPath(await Deno.makeTempDir());
  const [home, folder] = [`${base}/home`, `${base}/work`];
  for (const at of [`${home}/.config`, folder]) await Deno.mkdir(at, { recursive: true });
  const variables: Record<string, string> = { HOME: home, PATH: Deno.env.get("PATH")!, ...env };
  const permissions = openPermissions(
    { approve: "auto", sandbox: "workspace-write" },
    (name) => variables[name],
  );
  sharingSystem(permissions.looks);
  const run = async (command: string, confine: Confine, right?: Right, workingDir = folder) => {
    const more = right && { right };
    const context = { workingDir, maxOutputChars: 4000, signal, confine, ...more };
    const ran = await tool.run({ command, timeout_seconds: 30 }, context);
    return typeof ran === "string" ? ran : ran.content;
  };
  return {
    ...{ base, home, folder, permissions, run, variables },
    has: (path: string) => Deno.lstat(`${base}/${path}`).then(() => true, () => false),
    [Symbol.asyncDispose]: () => Deno.remove(base, { recursive: true }),
  };
}

test("R-22 what leaves the sandbox finds no program of the folder, and the question names what it finds", async () => {
  await using at = await places();
  const own = `${at.folder}/.venv/bin`;
  await Deno.mkdir(own, { recursive: true });
  for (const name of ["uname", "curl"]) {
    await Deno.writeTextFile(`${own}/${name}`, "#!/bin/sh\necho planted\n", { mode: 0o755 });
  }
  const before = Deno.env.get("PATH")!;
  await Deno.mkdir(`${at.base}/linked`);
  await Deno.symlink(`${own}/uname`, `${at.base}/linked/linked`);
  at.variables.PATH = `${own}:${before}:${at.base}/linked`;
  Deno.env.set("PATH", at.variables.PATH);
  try {
    const confine = at.permissions.confine(() => at.folder);
    assertMatch(await at.run("uname", confine), /^planted$/m);
    assertEquals((await at.run("uname", confine, { kind: "sandbox" })).includes("planted"), false);
    const asked: (readonly string[] | undefined)[] = [];
    const policy = at.permissions.policy(({ programs }) => {
      asked.push(programs);
      return Promise.resolve({ choice: "refuse", reason: "" });
    });
    const context = { workingDir: at.folder, maxOutputChars: 4000, signal };
    for (const command of ["uname", "linked", "PATH=.:$PATH uname"]) {
      await policy.decide(tool, { command, leave: "sandbox", reason: "x" }, context);
    }
    await policy.decide(tool, { command: "curl h", leave: "network", reason: "x" }, context);
    assertMatch(asked[0]!.join(), /^\/[^ ]*\/uname$/);
    assertEquals(asked[0]!.join().includes(own), false);
    assertEquals(asked.slice(1), [
      ...[[`${own}/uname`], ["it (it chooses its programs itself: PATH=.:$PATH)"]],
      // With the network alone, it is the program that other commands find.
      [`${own}/curl`],
    ]);
  } finally {
    Deno.env.set("PATH", before);
  }
});

for (const sandbox of [undefined, "off"]) {
  test(`R-22 a person's own hooks are sandboxed, unless they say otherwise (${sandbox})`, async () => {
    await using at = await places();
    await using server = strictServer([]);
    const own = `${at.home}/.config/copilot`;
    await Deno.mkdir(own);
    await Deno.writeTextFile(`${own}/hook.sh`, `touch '${at.base}/out'; touch in\n`);
    const hooks = [{ type: "command", command: `sh ${own}/hook.sh`, sandbox }];
    await Deno.writeTextFile(
      `${own}/hooks.json`,
      JSON.stringify({ SessionStart: [{ hooks }] }),
    );
    const { folder } = at;
    // Commands write this folder of PATH.
    const listed = `${at.base}/listed`;
    await Deno.mkdir(listed);
    await Deno.writeTextFile(`${listed}/touch`, "#!/bin/sh\n", { mode: 0o755 });
    const permissions = openPermissions({
      ...{ approve: "auto", sandbox: "workspace-write" },
      level: { allow: [], deny: [], sandboxWrite: [listed] },
    }, (name) => at.variables[name]);
    sharingSystem(permissions.looks);
    await permissions.mode(folder);
    const before = Deno.env.get("PATH")!;
    Deno.env.set("PATH", `${listed}:${before}`);
    try {
      await using _ = await fakeSession(server.url, {
        ...{ folder, permissions, readsFolder: true },
      });
    } finally {
      Deno.env.set("PATH", before);
    }
    assertEquals([await at.has("work/in"), await at.has("out")], [true, sandbox === "off"]);
  });
}

test("R-22 servers of the user or an editor start in an empty folder; with cwd in that", async () => {
  await using at = await places();
  await Deno.mkdir(`${at.folder}/node_modules`);
  const confine = at.permissions.confineServers(() => at.folder, "one");
  for (const scope of ["user", "given"] as const) {
    const isConfined = scope === "user";
    for (const cwd of [undefined, at.folder]) {
      const args = ["-c", `{ pwd; ls -A; } > '${at.folder}/seen'`];
      const given = { command: "sh", args, ...cwd && { cwd } };
      const [one] = definitionsIn({ mcpServers: { one: given } }, { scope });
      const carrier = await startProgram(
        one!,
        { onRequest: () => Promise.reject(), onNotification: () => {} } as never,
        { folder: at.folder, env: [], ...isConfined && { confine } },
      );
      await carrier.peer.closed;
      await carrier.end();
      const [place, ...names] = (await Deno.readTextFile(`${at.folder}/seen`)).split("\n");
      assertEquals(place === at.folder, cwd !== undefined);
      assertEquals(names.includes("node_modules"), cwd !== undefined);
      // Nothing of it stays.
      if (cwd === undefined) await assertRejects(() => Deno.lstat(place!), Deno.errors.NotFound);
    }
  }
});

test("R-22 caches and /tmp of a server are its own: neither commands nor other servers write there", async () => {
  await using at = await places();
  const folder = () => at.folder;
  const [commands, one, other] = [
    at.permissions.confine(folder),
    at.permissions.confineServers(folder, "one"),
    at.permissions.confineServers(folder, "other"),
  ];
  const plant = `cd '${at.home}' && mkdir -p .cache/npm/_npx && touch /tmp/a .cache/npm/_npx/a`;
  const look = `cd '${at.home}' && find /tmp/a .cache -name a 2>/dev/null | wc -l`;
  await at.run(plant, commands);
  assertMatch(await at.run(look, commands), /^2$/m);
  for (const confine of [one, other]) assertMatch(await at.run(look, confine), /^0$/m);
  await at.run(plant, one);
  assertMatch(await at.run(look, one), /^2$/m);
  assertMatch(await at.run(look, other), /^0$/m);
});

test("R-22 a link that a job puts in place of what a copy shares leads its commands nowhere", async () => {
  await using at = await places();
  const [packages, copy, own] = [`${at.folder}/node_modules`, `${at.base}/copy`, `${at.base}/own`];
  for (const path of [packages, copy, own, `${at.home}/private`]) await Deno.mkdir(path);
  for (const path of [packages, `${at.home}/private`]) await Deno.writeTextFile(`${path}/x`, path);
  const shared = { at: copy, of: at.folder, reads: new Map([[packages, "read" as const]]) };
  const { confine } = at.permissions.addCopy(shared, own);
  const look = async () =>
    await at.run(`cat ${packages}/x || cat ${at.home}/private/x`, confine, undefined, copy);
  assertMatch(await look(), /node_modules\n*$/);
  await Deno.rename(packages, `${packages}x`);
  await Deno.symlink(`${at.home}/private`, packages);
  assertMatch(await look(), /private\/x: No such file/);
});

test("R-22 a job neither changes nor reads a protected file that an approved call writes meanwhile", async () => {
  await using at = await places();
  const edit = builtinTools.find(({ name }) => name === "edit_file")!;
  const files = ["AGENTS.md", ".env"];
  for (const name of files) await Deno.writeTextFile(`${at.folder}/${name}`, "old\n");
  let job: Promise<string> | undefined;
  const start = () =>
    at.run(
      `touch ready; until [ -e go ]; do sleep 0.05; done; for f in ${files.join(" ")}; do
      echo EVIL >>$f; cat $f; done; cat .copilot-*`,
      at.permissions.confine(() => at.folder),
    );
  const context = { workingDir: at.folder, maxOutputChars: 4000, signal };
  const policy = at.permissions.policy(async () => {
    job ??= start();
    await waitUntil(() => at.has("work/ready"));
    return { choice: "once" };
  });
  for (const file_path of files) {
    const args = { file_path, old_string: "old", new_string: "new" };
    const decision = await policy.decide(edit, args, context);
    await edit.run(args, { ...context, ...decision.allow && { grant: decision.grant! } });
    // So does /undo.
    const path = `${at.folder}/${file_path}`;
    const bytes = new TextEncoder().encode("undone\n");
    await exchangeOne(grantIn(at.folder, path), { bytes, stamp: await stampOf(path) });
  }
  await Deno.writeTextFile(`${at.folder}/go`, "");
  const said = await job!;
  for (const name of files) {
    assertEquals(await Deno.readTextFile(`${at.folder}/${name}`), "undone\n", said);
  }
  assertEquals(said.match(/^undone$/gm)?.length, 1, said);
});

test("R-22 no command makes the settings of this program, wherever their folder lies", async () => {
  await using at = await places();
  const config = `${at.home}/.config`;
  // The folder of settings may be a link to one that is worked in.
  await Deno.remove(config);
  await Deno.mkdir(`${at.base}/dotfiles`);
  await Deno.symlink(`${at.base}/dotfiles`, config);
  const line = "mkdir -p copilot; echo '{}' > copilot/permissions.json; ls -A copilot; echo done";
  for (const folder of [`${at.base}/dotfiles`]) {
    const output = await at.run(line, at.permissions.confine(() => folder), undefined, folder);
    assertMatch(output, /^done$/m);
    assertEquals(await at.has("dotfiles/copilot/permissions.json"), false);
    assertEquals((await Deno.stat(`${folder}/copilot`)).mode! & 0o777, 0o700);
  }
});

Deno.test("R-22 this program's own clone is not written where it is worked in", async () => {
  const folder = await Deno.realPath(new URL("../..", import.meta.url).pathname.replace(/\/$/, ""));
  const paths = new PathTable({ home: "/nowhere" });
  const above = { folder: folder.slice(0, folder.lastIndexOf("/")) };
  for (const given of [{ folder }, { folder: "/usr/src", write: [folder] }, above]) {
    const view = makeView({ ...given, isWritable: true, network: false, paths });
    // What there is no time to look through beside this clone is hidden.
    const access = (name: string) =>
      accessAt(view, `${folder}/${name}`).replace(view.isComplete ? /$^/ : "hidden", "read");
    const found = ["scripts/copilot", "vendor/x", ".deno/cache", "src/mod.ts"].map(access);
    assertEquals(found, ["read", "read", "read", given === above ? "read" : "write"]);
  }
});

Deno.test("R-22 settings and records in the repository that is worked in are refused", async () => {
  for (const name of ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"]) {
    for (const sandbox of ["off", "read-only", "workspace-write"] as const) {
      await using at = await places();
      await Deno.mkdir(`${at.folder}/.git`);
      await Deno.mkdir(`${at.folder}/sub`);
      at.variables[name] = `${at.folder}/.direnv/x`;
      const permissions = openPermissions({ sandbox }, (one) => at.variables[one]);
      await assertRejects(
        () => permissions.prepare(`${at.folder}/sub`, true),
        Error,
        `Cannot use ${name}=${at.folder}/.direnv/x as it leads into the folder that is worked in`,
      );
      await permissions.prepare("/", false);
      if (name === "HOME") {
        // The system lists this user with another home folder.
        at.variables.HOME = at.folder;
        const row = new RegExp(`^[^:]*:[^:]*:${Deno.uid()}:`, "m");
        if (row.test(await Deno.readTextFile("/etc/passwd").catch(() => ""))) {
          await assertRejects(
            () => permissions.prepare(`${at.folder}/sub`, true),
            Error,
            `Cannot use HOME=${at.folder} as it leads into the folder that is worked in`,
          );
        }
      }
      // At home they are where they belong.
      at.variables[name] = name === "HOME" ? at.home : `${at.home}/.config`;
      await permissions.prepare(at.home, false);
      await permissions.prepare(at.folder, false);
    }
  }
});

Deno.test({
  name:
    "R-16 in folders of settings, the home folder among them, no new setting is written unasked",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using at = await places();
    await Deno.mkdir(`${at.home}/.config/nvim`);
    await Deno.symlink("home", `${at.base}/link`);
    const write = builtinTools.find(({ name }) => name === "write_file")!;
    const permissions = openPermissions(
      { approve: "auto" },
      (name) => name === "HOME" ? `${at.base}/link` : at.variables[name],
    );
    const cases = [
      ["", "notes.txt", true],
      ["", "src/.hidden", true],
      ["", ".newshrc", false],
      ["", ".new/settings", false],
      ["", "bin/ls", false],
      ["", "Library/LaunchAgents/a.plist", false],
      [".config", "new/settings", false],
      [".config/nvim", "init.lua", true],
      ["/etc", "ld.so.preload", false],
      ["/usr/src", "x", true],
      ["/usr/local/src", "x", true],
      ["/usr/share", "gdb/auto-load/x", Deno.uid() !== 0],
      ["/usr/local/share", "x", Deno.uid() !== 0],
      ["/var/lib", "dpkg/info/x.postinst", false],
      ["/", "var/cache/x", Deno.uid() !== 0],
      ["/", "run/udev/rules.d/x.rules", false],
    ] as const;
    for (const [folder, path, allow] of cases) {
      const workingDir = folder.startsWith("/") ? folder : join(at.home, folder);
      const context = { workingDir, signal };
      const args = { file_path: path, content: "x" };
      const decision = await permissions.policy().decide(write, args, {
        ...context,
        maxOutputChars: 100,
      });
      assertEquals(decision.allow, allow, `${folder} ${path}`);
    }
    if (ignore) return;
    // The home folder is one under each of its names: nothing of it is sandboxed, or read as a repository.
    const { isSandboxed } = await permissions.mode(at.home);
    assertEquals(isSandboxed, false);
    const view = (folder: string) =>
      makeView({
        ...{ folder, isWritable: true, network: false },
        paths: new PathTable({ home: `${at.base}/link` }),
      });
    for (const name of ["project", ".git"]) await Deno.mkdir(`${at.home}/${name}`);
    assertEquals(accessAt(view(`${at.home}/project`), `${at.home}/plain`), "hidden");
    const system = Deno.uid() === 0 ? ["/usr/share", "/var/lib/dpkg"] : [];
    for (const folder of [`${at.home}/.config`, "/etc", ...system]) {
      assertEquals(accessAt(view(folder), `${folder}/new`), "read");
    }
  },
});

Deno.test({
  name: "R-16 to root, the home folders of others are like its own",
  ignore: Deno.build.os === "windows",
  async fn() {
    const passwd = "root:x:0:0::/root:/bin/sh\nman:x:6:12::/var/cache/man:/bin/sh\n" +
      "app:x:1001:1001::/app:/bin/sh\nnobody:x:65534:65534::/no/body:/bin/sh\nbad line\n";
    await using at = await places();
    const other = `${at.base}/other`;
    for (const name of [".gemini", "project", ".git"]) {
      await Deno.mkdir(`${other}/${name}`, { recursive: true });
    }
    const others = homesIn(`${passwd}a:x:1000:1000:A, b:${other}:/bin/sh\n`);
    assertEquals(others, [other]);
    const paths = new PathTable({ home: at.home, others });
    assertEquals(paths.secretKind(`${other}/.gemini/oauth_creds.json`), "credentials of an agent");
    assertEquals(paths.protectedKind(`${other}/.local/bin`), "a folder of settings");
    for (const name of [".config/nvim/init.lua", ".cargo/bin/x", "bin/x", ".forward"]) {
      for (const root of [other, at.base]) {
        const kind = paths.configuredKind(root, `${other}/${name}`);
        assertEquals(kind, "a setting or a program of yours");
      }
    }
    assertEquals(paths.configuredKind(other, `${other}/project/.x`), undefined);
    const folder = `${other}/project`;
    const view = makeView({ folder, isWritable: true, network: false, paths });
    // The repository around the folder is not shown: a private /tmp hides it.
    assertEquals(accessAt(view, `${other}/plain`), "own");
    const hasSandbox = () => Promise.resolve(true);
    const sources = {
      choice: { prefersAuto: "workspace-write" as const },
      toolNames: [],
      added: [],
    };
    const modes = [other, folder].map((folder) =>
      settingsInForce(folder, {
        ...{ ...sources, hasSandbox, path: "", looks: new FolderLooks(paths) },
        file: new PermissionsFile(undefined, []),
      })
    );
    const isConfined = (await Promise.all(modes)).map(({ view }) => view !== undefined);
    assertEquals(isConfined, [false, true]);
  },
});

Deno.test({
  name: "R-02 a listed path is opened, unless it is behind a link that a command may have made",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using at = await places();
    const { base, home, folder } = at;
    const [lib, tools, other] = [`${base}/lib`, `${folder}/tools`, `${base}/other`];
    for (const one of [`${home}/.ssh`, `${home}/.config`, `${lib}/sub`, tools, other]) {
      await Deno.mkdir(one, { recursive: true });
    }
    await Deno.symlink(`${home}/.ssh`, `${folder}/out`);
    await Deno.symlink(`${home}/.ssh`, `${lib}/sub/out`);
    await Deno.symlink(`${folder}/out`, `${home}/round`);
    await Deno.symlink(tools, `${folder}/built`);
    await Deno.symlink(lib, `${home}/lib`);
    await Deno.symlink(lib, `${home}/.config/lib`);
    await Deno.symlink(`${home}/.ssh`, `${other}/dist`);
    const rows: [listed: string[], path: string, access: string][] = [
      [[`${folder}/out`], `${home}/.ssh`, "hidden"],
      [[`${home}/round`], `${home}/.ssh`, "hidden"],
      [[lib, `${lib}/sub/out`], `${home}/.ssh`, "hidden"],
      [[`${home}/lib`, `${home}/lib/sub/out`], `${home}/.ssh`, "hidden"],
      [[`${folder}/built`], tools, "read"],
      [[`${home}/lib`], `${lib}/sub`, "write"],
      [[`${home}/.config/lib`], `${lib}/sub`, "write"],
      // A session in that folder may have made it.
      [[`${other}/dist`], `${home}/.ssh`, "hidden"],
    ];
    for (const [write, path, access] of rows) {
      const paths = new PathTable({ home });
      const given = { folder, network: false, paths, allPrograms: [tools] };
      const view = makeView({ ...given, isWritable: true, write });
      assertEquals(accessAt(view, path), access, `${write}`);
      // In plan mode, what commands wrote before is only read.
      const planned = makeView({ ...given, isWritable: false, read: write, written: [lib] });
      const isOpen = access === "write";
      if (path !== tools) assertEquals(accessAt(planned, path), isOpen ? "read" : "hidden");
    }
    // Nor does a word of the user's own server or hook open what such a link leads to.
    assertEquals(namedReads([`${lib}/sub/out`], folder, home), [`${home}/.ssh`]);
    assertEquals(namedReads([`${home}/round`], folder, home), []);
    for (const named of [lib, `${home}/lib`]) {
      listedFolders.add(named);
      assertEquals(namedReads([`${lib}/sub/out`], folder, home), [], named);
      listedFolders.delete(named);
    }
  },
});

test("R-14 a command that is edited into one that needs another right is asked about again", async () => {
  await using at = await places();
  const asked: [unknown, unknown][] = [];
  const policy = at.permissions.policy(({ right, call }) => {
    asked.push([call.arguments.command, right?.kind]);
    return Promise.resolve(
      asked.length === 1 ? { choice: "edit", command: "git push https://h/x" } : { choice: "once" },
    );
  });
  const context = { workingDir: at.folder, maxOutputChars: 4000, signal };
  await new Deno.Command("git", { args: ["init", "-q"], cwd: at.folder }).output();
  const decision = await policy.decide(tool, { command: "rm -rf ." }, context);
  assertEquals(asked, [["rm -rf .", undefined], ["git push https://h/x", "sandbox"]]);
  assertEquals(decision.allow && [decision.right?.kind, decision.args?.command], [
    "sandbox",
    "git push https://h/x",
  ]);
});

test("R-14 servers and hooks have the sandbox that the settings state for the folder", async () => {
  await using at = await places();
  const settings = `${at.home}/.config/copilot/permissions.json`;
  const write = (own: unknown) => Deno.writeTextFile(settings, JSON.stringify(own));
  await Deno.mkdir(`${at.home}/.config/copilot`);
  const rows = [
    [{ sandbox: "off", folders: { [at.folder]: { sandbox: "workspace-write" } } }, true],
    [{ sandbox: "workspace-write", folders: { [at.folder]: { sandbox: "off" } } }, false],
    [{ sandbox: "off", folders: { [at.base]: { sandbox: "workspace-write" } } }, true],
    [{ sandbox: "off" }, false],
    [{}, true],
  ] as const;
  for (const [own, isSandboxed] of rows) {
    await write(own);
    const permissions = openPermissions({}, (name) => at.variables[name]);
    const { program } = await permissions.confineServers(() => at.folder, "a")("true", []);
    assertEquals(program !== "true", isSandboxed, JSON.stringify(own));
    // The question about a plug-in promised the sandbox.
    const off = { sandbox: "off" } as const;
    for (const choice of [{}, off, { ...off, yes: true }, { network: true }]) {
      const plugin = openPermissions(choice, (name) => at.variables[name])
        .confineServers(() => at.folder, "b", "plugin");
      const { limits } = await plugin("true", []);
      assertMatch(limits ?? "", /only this folder .* can be written, and there is no network/);
    }
  }
  const reading = openPermissions({ prefersAuto: "read-only" }, (name) => at.variables[name])
    .confineServers(() => at.folder, "b", "plugin");
  assertMatch((await reading("true", [])).limits ?? "", /only a private \/tmp can be written/);
});

test("R-14 a command that lacked one folder gets that folder, once, and no more of the machine", async () => {
  await using at = await places();
  const other = `${at.home}/other`;
  const tools = `${at.home}/tools`;
  for (const path of [other, tools, `${at.home}/.ssh`]) await Deno.mkdir(path);
  at.variables.PATH += `:${tools}`;
  for (const path of ["plain", ".ssh/id", "other/.env"]) {
    await Deno.writeTextFile(`${at.home}/${path}`, "SECRET\n");
  }
  const confine = at.permissions.confine(() => at.folder);
  const asked: unknown[] = [];
  const policy = at.permissions.policy(({ right }) => {
    asked.push(right?.kind);
    return Promise.resolve(
      asked.length === 1 ? { choice: "edit", command: "sh  job.sh" } : { choice: "once" },
    );
  });
  const context = { workingDir: at.folder, maxOutputChars: 4000, signal };
  const ask = (command: string) =>
    policy.decide(tool, { command, leave: "sandbox", reason: "x" }, context);
  // Paths in the words of a command are asked about by themselves.
  await Deno.writeTextFile(
    `${at.folder}/job.sh`,
    `cd '${at.home}'; echo new > "$PWD/other/a"; cat other/.env plain .ssh/id 2>/dev/null; true\n`,
  );
  const command = "sh job.sh";
  assertMatch(await at.run(command, confine), /other\/a: /);
  const right = { kind: "write", folder: other } as const;
  const decision = await ask(command);
  assertEquals(decision.allow && decision.right, right);
  assertEquals((await at.run(command, confine, right)).includes("SECRET"), false);
  assertEquals(await Deno.readTextFile(`${other}/a`), "new\n");
  // What asks again needs more. A secret's folder, and the home folder, are not given.
  await at.run("sh  job.sh", confine);
  await ask("sh  job.sh");
  const system = Deno.uid() === 0 ? ["/usr/share/doc/x", "/var/lib/dpkg/x"] : [];
  const refused = [".ssh/new", "new", ".config/x/y", "tools/git"].map((one) => `${at.home}/${one}`);
  for (const path of [...refused, ...system]) {
    await Deno.writeTextFile(`${at.folder}/job.sh`, `echo x > '${path}'\n`);
    const next = `sh job.sh ${asked.length}`;
    assertMatch(await at.run(next, confine), /No such file|nonexistent|Read-only/);
    await ask(next);
  }
  assertEquals(asked, ["write", ...Array(5 + system.length).fill("sandbox")]);
});

test("a plug-in's hook changes the state of plug-ins in .claude, and nothing else there", async () => {
  await using at = await places();
  const folder = `${at.folder}/.claude`;
  const confined = at.permissions.confineServers(() => at.folder, "plugin-loop", "plugin");
  const hook: Confine = (program, args, right, more) =>
    confined(program, args, right, { ...more, changesState: true });
  const command = at.permissions.confine(() => at.folder);
  // An empty folder is like a missing one.
  await Deno.mkdir(folder);
  await at.run("echo 1 > .claude/loop.local.md", command);
  await Deno.mkdir(`${folder}/commands`);
  for (const name of ["settings.json", "commands/a.md", ".env"]) {
    await Deno.writeTextFile(`${folder}/${name}`, "1\n");
  }
  const line = "for f in .claude/*.* .claude/*/* .claude/.env; do echo 2 > $f.new; mv $f.new $f; " +
    "echo 2 > $f; done; cat .claude/.env; mv .claude moved; true";
  const texts = () =>
    ["loop.local.md", "settings.json", "commands/a.md", ".env"]
      .map((name) => Deno.readTextFileSync(`${folder}/${name}`).trim()).join("");
  await at.run(line, command);
  assertEquals(texts(), "1111");
  await Deno.symlink("../linked", `${folder}/linked.json`);
  await Deno.symlink("../linked", `${folder}/linked.local.md`);
  const names = () => [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
  const before = names();
  const more =
    "cd .claude; for f in a.json b/c linked.json linked.local.md d.local.md/e; do mkdir -p " +
    "$(dirname $f); rm -f $f; echo 2 > $f; done; ln -s /etc/passwd p.local.md; echo 3 > n.local.md; " +
    "head -c 1000001 /dev/zero > large.local.md";
  const told = await at.run(`${line}; ${more}`, hook);
  assertMatch(
    told,
    /a plug-in's \S+large\.local\.md is not saved: it must be a file of at most 1 MB/,
  );
  assertEquals(texts(), "2111");
  assertEquals(names(), [...before, "n.local.md"].sort());
  assertEquals(await Deno.readLink(`${folder}/linked.local.md`), "../linked");
  // As a published loop does it: a file of its own replaces the state, which its end removes.
  const loop = ".claude/loop.local.md";
  await at.run(
    `sed s/2/4/ ${loop} > ${loop}.tmp.$$ && mv ${loop}.tmp.$$ ${loop}; rm .claude/n*`,
    hook,
  );
  assertEquals([texts(), names()], ["4111", before]);
});

test("commands and hooks read the plug-ins and never write them", async () => {
  await using at = await places();
  const data = `${at.home}/.local/share`;
  const one = `${data}/copilot/plugins/tools-1`;
  await Deno.mkdir(one, { recursive: true });
  await Deno.writeTextFile(`${one}/run.sh`, "echo ran\n");
  // From the working folder, from the folder of data, and from that of the plug-ins themselves.
  for (const folder of [at.folder, data, `${data}/copilot`, one]) {
    const confines = [
      at.permissions.confine(() => folder),
      at.permissions.confineServers(() => folder, "plugin-tools", "plugin"),
    ];
    for (const confine of confines) {
      const line =
        `sh ${one}/run.sh; echo x >> ${one}/run.sh; touch ${one}/more; mv ${one} ${one}x`;
      assertMatch(
        await at.run(line, confine, undefined, folder),
        /(?:^|\n)ran\n[^]*(?:Read-only file system|busy)/,
      );
      assertEquals(await Deno.readTextFile(`${one}/run.sh`), "echo ran\n", folder);
      assertEquals([...Deno.readDirSync(one)].length, 1);
    }
  }
  const looks = [`cat ${at.home}/.config/copilot/plugins.json`, `ls ${at.home}/.config/copilot`];
  await Deno.mkdir(`${at.home}/.config/copilot`);
  await Deno.writeTextFile(`${at.home}/.config/copilot/plugins.json`, '{"seen": 1}');
  for (const look of looks) {
    const shown = await at.run(look, at.permissions.confine(() => at.folder));
    assertEquals(
      /seen|plugins.json\n/.test(shown.replace(/^.*No such file.*$/m, "")),
      false,
      shown,
    );
  }
});
