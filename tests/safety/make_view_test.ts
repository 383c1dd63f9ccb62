import { assert, assertEquals } from "@std/assert";
import { PathTable } from "../../src/safety/path_table.ts";
import { findSandbox } from "../../src/safety/sandbox/probe.ts";
import { FolderLooks, type PathAccess } from "../../src/safety/folder_looks.ts";
import { join } from "../../src/text/std_path.ts";
import { makeView } from "../../src/safety/make_view.ts";
import { accessAt, type View } from "../../src/safety/view.ts";
import { isThere, PATH_KINDS, pathsOf, type ViewTree, viewTree } from "../helpers/view_tree.ts";
import { sharingSystem } from "../helpers/system_secrets.ts";
import { waitUntil } from "../helpers/wait_until.ts";
import { testUnless } from "../helpers/test_unless.ts";

const sandbox = await findSandbox();
const why = typeof sandbox === "string" ? sandbox : "";
const test = testUnless(why !== "");
const skipped = why && ` (skipped: ${why})`;

const words = (text: string) => text.trim().split(/\s+/);
const sh = async (folder: string, script: string) => {
  const { success, stderr } = await new Deno.Command("bash", {
    args: ["-ec", script],
    cwd: folder,
  }).output();
  assert(success, new TextDecoder().decode(stderr));
};

/** Runs a script confined to a view; what it printed. */
async function confined(view: View, script: string, args: readonly string[] = []): Promise<string> {
  if (typeof sandbox === "string") return "";
  const own = await Deno.makeTempDir();
  const [program, ...rest] = sandbox.command(view, own);
  const { stdout, stderr } = await new Deno.Command(program!, {
    args: [...rest, "bash", "-c", script, "bash", ...args],
    stdin: "null",
  }).output();
  await Deno.remove(own, { recursive: true });
  return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
}

/** The access that a confined command really has to each of some paths. */
async function tried(view: View, paths: readonly string[]): Promise<Map<string, PathAccess>> {
  const output = await confined(
    view,
    `for path; do
      access=hidden
      if [ -d "$path" ]; then
        [ -n "$(ls -A -- "$path" 2>/dev/null)" ] && access=read
        if : 2>/dev/null > "$path/.tried"; then access=write; rm -f -- "$path/.tried"; fi
      else
        [ -s "$path" ] && head -c 1 -- "$path" >/dev/null 2>&1 && access=read
        # Appending nothing opens for writing and changes nothing.
        [ "$access" = read ] && : 2>/dev/null >> "$path" && access=write
      fi
      echo "$access $path"
    done`,
    paths,
  );
  return new Map(
    output.trim().split("\n").map((line) => {
      const [, access, path] = /^(hidden|read|write) (.*)$/.exec(line) ?? [];
      assert(path !== undefined, output.slice(0, 2000));
      return [path, access as PathAccess];
    }),
  );
}

function isReadable(path: string): boolean {
  try {
    if (Deno.statSync(path).isFile) Deno.openSync(path).close();
    return true;
  } catch {
    return false;
  }
}

async function tree(): Promise<ViewTree & { view: View }> {
  const made = await viewTree();
  return { ...made, view: viewFor(made.folder, made.home) };
}

/** A home folder with a working folder and nothing else. */
async function plainTree(): Promise<ViewTree> {
  const base = await Deno.realPath(await Deno.makeTempDir());
  const [home, folder] = [`${base}/home`, `${base}/home/work`];
  await Deno.mkdir(folder, { recursive: true });
  return { base, home, folder };
}

test(`R-19 the view says of each path what a confined command really can${skipped}`, async () => {
  const { base, home, folder, view } = await tree();
  const paths = pathsOf(PATH_KINDS, { home, folder }).map(({ path }) => path);
  const real = await tried(view, paths);
  const wrong: string[] = [];
  for (const path of paths) {
    const is = real.get(path);
    const access = accessAt(view, Deno.realPathSync(path));
    // Below an own folder of commands nothing of the machine's is seen; the system's own rights hold, too.
    const said = access === "own" || !isReadable(path) ? "hidden" : access;
    if (is !== said) wrong.push(`${path}: the view says ${said}, a command can ${is}`);
  }
  assertEquals(wrong, []);
  assert(paths.length > 200, `${paths.length}`);
  await Deno.remove(base, { recursive: true });
});

test(`R-03 nothing of git's can be written, moved away, or made to look elsewhere${skipped}`, async () => {
  const { base, folder, view } = await tree();
  const output = await confined(
    view,
    `cd '${folder}'
       for path in .git .git/hooks nested nested/.git bare my-hooks extra.gitconfig; do
         mv "$path" gone && echo "moved $path"; rm -rf "$path" && echo "removed $path"
         ln -sfnT /tmp "$path" && echo "replaced $path"
       done 2>/dev/null
       ln .git/config linked 2>/dev/null && echo "linked"
       cp -r nested copy && mv copy/.git copy/x && echo "copied"
       git status --short >/dev/null && git log --oneline | wc -l`,
  );
  // A copy is a new repository, and none of git's own files changed.
  assertEquals(output.trim().split("\n"), ["copied", "1"]);
  await Deno.remove(base, { recursive: true });
});

test(`R-04 a protected folder stays so when its files are replaced from outside meanwhile${skipped}`, async () => {
  const { base, folder, view } = await tree();
  const running = confined(
    view,
    `cd '${folder}'; : > begun; until [ -e go ]; do sleep 0.01; done
       echo evil >> .git/config; echo evil >> .git/hooks/pre-commit; cat ~/.ssh/id_rsa`,
  );
  await waitUntil(() => isThere(`${folder}/begun`));
  await sh(folder, "cp .git/config c && mv c .git/config && git config user.name other && : > go");
  assertEquals((await running).includes("Read-only file system"), true);
  assertEquals(Deno.readTextFileSync(`${folder}/.git/config`).includes("evil"), false);
  assertEquals(isThere(`${folder}/.git/hooks/pre-commit`), false);
  await Deno.remove(base, { recursive: true });
});

test(`R-02 a folder that becomes a link while the sandbox is made leads nowhere${skipped}`, async () => {
  const { base, home, folder, view } = await tree();
  const own = await Deno.makeTempDir();
  if (typeof sandbox === "string") return;
  const script = `cat '${home}'/.ssh/* '${home}'/Documents/*; echo evil > '${home}'/new; echo ran`;
  const tried = async ([program, ...args]: string[]) => {
    const { code, stdout } = await new Deno.Command(program!, {
      args: [...args, "bash", "-c", script],
      stderr: "null",
    }).output();
    assertEquals([new TextDecoder().decode(stdout), isThere(`${home}/new`)], ["", false]);
    return code;
  };
  // The last one stands between, and is mounted so that it cannot be moved: writable.
  for (
    const [path, target] of [[".vscode", "../.ssh"], ["my-hooks", "../.."], ["src", "../Documents"]]
  ) {
    const command = sandbox.command(view, own);
    await Deno.rename(`${folder}/${path}`, `${folder}/aside`);
    await Deno.symlink(target!, `${folder}/${path}`);
    assert(await tried(command) !== 0, path);
    await Deno.remove(`${folder}/${path}`);
    await Deno.rename(`${folder}/aside`, `${folder}/${path}`);
  }
  // The link was there only while the kernel looked up what to mount.
  for (const path of [".vscode", ".yarn/releases"]) {
    const swapped = sandbox.command(view, own).map((word, i, words) =>
      word === `${folder}/${path}` && /^--(ro-)?bind-try$/.test(words[i - 1]!)
        ? `${home}/.ssh`
        : word
    );
    assertEquals(await tried(swapped), 126, path);
  }
  // Positive control: with nothing replaced it runs, and names with signs are no obstacle.
  await Deno.mkdir(`${folder}/a b\\c [x] *`);
  await Deno.writeTextFile(`${folder}/a b\\c [x] */AGENTS.md`, "x");
  const paths = new PathTable({ home });
  const again = makeView({ folder, isWritable: true, network: false, paths });
  assertEquals(await confined(again, "echo ran"), "ran\n");
  await Promise.all([base, own].map((path) => Deno.remove(path, { recursive: true })));
});

test(`R-02 nor does one in another folder that commands write, nor one that is mounted twice${skipped}`, async () => {
  const base = await Deno.realPath(await Deno.makeTempDir());
  const [home, folder, data] = ["home", "home/work", "data"].map((name) => `${base}/${name}`);
  for (const path of [`${home}/.ssh`, folder!, `${data}/.vscode`]) {
    await Deno.mkdir(path, { recursive: true });
  }
  await Deno.writeTextFile(`${home}/.ssh/id`, "key");
  const own = await Deno.makeTempDir();
  if (typeof sandbox === "string") return;
  const view = makeView({
    ...{ folder: folder!, isWritable: true, network: false, write: [data!] },
    paths: new PathTable({ home: home! }),
  });
  const run = async ([program, ...args]: string[], script: string) => {
    const { code, stdout } = await new Deno.Command(program!, {
      args: [...args, "bash", "-c", script],
      stderr: "null",
    }).output();
    return [code, new TextDecoder().decode(stdout)];
  };
  const command = sandbox.command(view, own);
  const read = `cat '${home}'/.ssh/id '${data}/.vscode/id'; echo ran`;
  assertEquals(await run(command, read), [0, "ran\n"]);
  // The link was there only while the kernel looked up what to mount.
  const at = command.findIndex((word, i) =>
    word === `${data}/.vscode` && /^--ro-bind/.test(command[i - 1]!)
  );
  const swapped = command.with(at, `${home}/.ssh`);
  assertEquals(await run(swapped, read), [126, ""]);
  const twice = command.toSpliced(at + 2, 0, "--ro-bind", `${home}/.ssh`, `${data}/.vscode`);
  assertEquals(await run(twice, read), [126, ""]);
  await Promise.all([base, own].map((path) => Deno.remove(path, { recursive: true })));
});

test(`R-03 a .git file opens no folder that git did not tie to it, a worktree's own it does${skipped}`, async () => {
  const { base, home, folder } = await tree();
  const viewOf = (at: string) => viewFor(at, home);
  const plain = `${home}/plain`;
  await Deno.mkdir(`${plain}/fake`, { recursive: true });
  await Deno.writeTextFile(`${plain}/fake/gitdir`, `${plain}/.git\n`);
  const seen = () => {
    const view = viewOf(plain);
    return ["Documents/letter.txt", "work/.git/config", "notes.txt"]
      .filter((name) => accessAt(view, `${home}/${name}`) !== "hidden");
  };
  for (const target of [home, "/", `${folder}/.git`, `${home}/Documents`, ".."]) {
    await Deno.writeTextFile(`${plain}/.git`, `gitdir: ${target}\n`);
    assertEquals(seen(), [], target);
    // Made up as well: what the named folder says of the repository.
    await Deno.writeTextFile(`${plain}/.git`, "gitdir: fake\n");
    await Deno.writeTextFile(`${plain}/fake/commondir`, `${target}\n`);
    assertEquals(seen(), [], `commondir ${target}`);
  }
  const tied = viewOf(`${home}/tree`);
  assertEquals(accessAt(tied, `${folder}/.git/objects`), "read");
  assertEquals(await confined(tied, `cd '${home}/tree' && git log --oneline | wc -l`), "1\n");
  await Deno.remove(base, { recursive: true });
});

/** The view of a folder in which a confined command writes. */
const viewFor = (
  folder: string,
  home: string,
  more: Partial<Parameters<typeof makeView>[0]> = {},
) => {
  const paths = new PathTable({ home });
  const looks = sharingSystem(new FolderLooks(paths));
  return makeView({ folder, isWritable: true, network: false, paths, looks, ...more });
};

Deno.test({
  name: `SBX-01 the kernel's settings are not written, by root neither${skipped}`,
  ignore: why !== "" || Deno.build.os !== "linux",
  async fn() {
    const { base, view } = await tree();
    // Appending nothing opens for writing and changes nothing.
    const script = `find /proc/sys -type f 2>/dev/null | head -n 2000 |
      while read -r at; do { : >>"$at"; } 2>/dev/null && echo "$at"; done
      ls /proc/sys/kernel/core_pattern`;
    assertEquals(await confined(view, script), "/proc/sys/kernel/core_pattern\n");
    await Deno.remove(base, { recursive: true });
  },
});

const ofMounts = new Deno.Command("unshare", { args: ["-m", "true"] });
const mayMount = Deno.build.os === "linux" && Deno.uid() === 0 && (await ofMounts.output()).success;

Deno.test({
  name:
    "R-19 of the system's folders, root's view shows at any depth only what other users may read",
  ignore: !mayMount,
  async fn() {
    const make = `mount -t tmpfs none /opt; mount -t tmpfs none /usr/local
      mkdir -p /opt/1/2/3/4/5 /opt/closed/in /opt/work /usr/local/etc
      (cd /opt; for at in 1/2/3/4/5/root 1/theirs 1/open closed/in/open work/own ../usr/local/etc/root; do echo x > $at; done
      chmod 600 1/2/3/4/5/root 1/theirs work/own ../usr/local/etc/root; chmod 700 closed
      chown 101:101 1/theirs closed); exec "$@"`;
    const rows: [path: string, access: PathAccess][] = [
      ["/opt/1/open", "read"],
      ["/opt/1/theirs", "hidden"],
      ["/opt/1/2/3/4/5/root", "hidden"],
      ["/opt/closed/in/open", "hidden"],
      ["/usr/local/etc/root", "hidden"],
      ["/opt/work/own", "write"],
    ];
    const [making, view, table] = ["make_view", "view", "path_table"].map((name) =>
      JSON.stringify(import.meta.resolve(`../../src/safety/${name}.ts`))
    );
    const look = `const { makeView } = await import(${making});
      const { accessAt } = await import(${view});
      const { PathTable } = await import(${table});
      const paths = new PathTable({ home: "/home/me" });
      const sources = { folder: "/opt/work", isWritable: true, network: false, paths };
      const view = makeView(sources);
      console.log(Deno.args.map((path) => accessAt(view, path)).join());`;
    const { stdout, stderr } = await new Deno.Command("unshare", {
      args: [
        "-m",
        "sh",
        "-ec",
        make,
        "sh",
        Deno.execPath(),
        "eval",
        look,
        ...rows.map(([at]) => at),
      ],
    }).output();
    const [output, errors] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
    assertEquals(output!.trim(), rows.map(([, access]) => access).join(), errors);
  },
});

test(`R-03 what included settings name, and submodules in generated folders, are git's, too${skipped}`, async () => {
  const { base, home, folder } = await tree();
  await sh(
    folder,
    `git config include.path ../a.cfg; mkdir hooks-a hooks-b
       printf '[include] path = b.cfg # two\\n[core]\\n\\thooksPath = hooks-a\\n' > a.cfg
       printf '[core] hooksPath = "hooks-b"\\n' > b.cfg
       git -c protocol.file.allow=always submodule --quiet add "$PWD/../origin" vendor/deep/sub
       # A circle, which git refuses, holds nothing up.
       printf '[include]\\npath = a.cfg\\n' >> b.cfg`,
  );
  const output = await confined(
    viewFor(folder, home),
    `cd '${folder}'
       for at in a.cfg b.cfg hooks-a/pre-commit hooks-b/pre-commit vendor/deep/sub/.git; do
         echo evil >> $at && echo "wrote $at"
       done
       rm vendor/deep/sub/.git && echo removed; mv vendor/deep vendor/x && echo moved
       echo own > vendor/deep/sub/file && echo done`,
  );
  assertEquals(output.match(/^(wrote .*|removed|moved|done)$/gm), ["done"], output);
  await Deno.remove(base, { recursive: true });
});

test(`R-03 nothing new is made where the folder itself is git's, or what others run${skipped}`, async () => {
  const { base, home, folder } = await tree();
  await Deno.mkdir(`${home}/.config/fish`, { recursive: true });
  await Deno.mkdir(`${folder}/.hg`);
  const folders = [`${folder}/bare`, `${folder}/bare/hooks`, `${folder}/.git/hooks`]
    .concat(`${home}/.config/fish`, `${folder}/.vscode`, `${folder}/.hg`);
  for (const at of folders) {
    const output = await confined(viewFor(at, home), `cd '${at}' && : > new && echo wrote`);
    assertEquals([at, output.includes("wrote")], [at, false], output);
  }
  const output = await confined(viewFor(folder, home), `: > '${folder}/.hg/hgrc' || echo kept`);
  assert(output.includes("kept"), output);
  await Deno.remove(base, { recursive: true });
});

test(`R-19 secrets are hidden in all that is opened beside the folder${skipped}`, async () => {
  const { base, home } = await tree();
  const made = `for at in mono listed other; do
        mkdir -p $at/deep/in && echo SECRET > $at/.env && echo SECRET > $at/deep/a.pem
        echo plain > $at/deep/plain && git init -q $at
      done; mkdir $PWD/keys; echo named > keys/a.pem; echo ruled > listed/ruled`;
  await sh(home, made);
  const view = viewFor(`${home}/mono/deep/in`, home, {
    read: [`${home}/listed`, `${home}/keys/a.pem`],
    write: [`${home}/other`],
    ruled: (path) => path === `${home}/listed/ruled` ? "hidden" : undefined,
    ruledPlaces: [`${home}/listed/ruled`],
  });
  const output = await confined(
    view,
    `cd '${home}'; cat mono/deep/a.pem {mono,listed,other}/{.env,deep/plain} listed/ruled keys/a.pem
       echo new > other/new && cat other/new; echo evil > other/.git/hooks/pre-commit && echo wrote`,
  );
  const shown = output.match(/^(SECRET|plain|named|ruled|new|wrote)$/gm);
  assertEquals(shown, ["plain", "plain", "plain", "named", "new"], output);
  await Deno.remove(base, { recursive: true });
});

/** How a file of the folder comes to be run or read by others, and what a command then tries to write. */
const LED_TO: readonly [setup: string, attack: string][] = [
  ["ln -s ../../scripts/pc.sh .git/hooks/pre-commit", "echo evil >> scripts/pc.sh"],
  ["ln -s ../../scripts/new.sh .git/hooks/pre-commit", "echo evil > scripts/new.sh"],
  ["rm -r .git/hooks; mkdir hk; ln -s ../hk .git/hooks", "echo evil > hk/post-commit"],
  ["mkdir hk; ln -s ../scripts/pc.sh hk/a; git config core.hooksPath hk", "echo > scripts/pc.sh"],
  ["mkdir .husky; ln -s ../scripts/pc.sh .husky/pre-commit", "echo evil >> scripts/pc.sh"],
  [
    "mkdir sh; : > inc; ln -s ../inc sh/mid; ln -s sh/mid cfg; git config include.path ../cfg",
    "ln -sfn other sh/mid",
  ],
  [
    "mkdir sh hk; ln -s ../hk sh/mid; ln -s sh/mid h; git config core.hooksPath h",
    "ln -sfn other sh/mid",
  ],
  ["mkdir sh; : > AG; ln -s ../AG sh/mid; ln -s sh/mid CLAUDE.md", "ln -sfn other sh/mid"],
  ["echo SECRET > .env; ln -s ../../.env .git/hooks/x; ln -s .env CLAUDE.md", "cat .env; false"],
  ["git config core.fsmonitor scripts/pc.sh", "echo evil >> scripts/pc.sh"],
  ["git config filter.x.clean 'python3 tool.py %f'", "echo evil >> tool.py"],
  ["git config diff.x.textconv './tool.py -x'", "mv tool.py other"],
  ["git config credential.helper '!f() { sh scripts/pc.sh; }; f'", "rm scripts/pc.sh"],
  ["git config core.sshCommand 'A=1 sh \"scripts/pc.sh\"'", "mv scripts other"],
  ["git config alias.x '!sh scripts/pc.sh'", "echo evil >> scripts/pc.sh"],
  ["git config interactive.diffFilter scripts/new", "echo evil > scripts/new"],
  ["git config trailer.x.cmd ./scripts/new", "echo evil > scripts/new"],
];

test(`R-03 what git runs and reads in the folder is not written, behind links neither${skipped}`, async () => {
  const base = await Deno.realPath(await Deno.makeTempDir());
  const failed: string[] = [];
  for (const [setup, attack] of LED_TO) {
    const folder = await Deno.makeTempDir({ dir: base });
    const make = "git init -q .; mkdir scripts; for at in scripts/pc.sh tool.py; do : > $at; done";
    await sh(folder, `${make}\n${setup}`);
    const output = await confined(
      viewFor(folder, `${base}/home`),
      `cd '${folder}'; echo own > file && cat file; echo > scripts/other; ${attack} && echo wrote`,
    );
    if (!output.includes("own") || /SECRET|wrote/.test(output)) {
      failed.push(`${setup}: ${output}`);
    }
  }
  assertEquals(failed, []);
  await Deno.remove(base, { recursive: true });
});

test("R-03 what the user's git, hooks and servers name in a folder without a repository is read-only", async () => {
  const base = await Deno.realPath(await Deno.makeTempDir());
  const [folder, home] = [`${base}/work`, `${base}/home`];
  const own = `${home}/.config/copilot`;
  await sh(
    base,
    "mkdir -p work/{hooks,templates,in} home/.config/copilot; touch work/in/{a.py,b.sh,c.py,d.py}",
  );
  await Deno.writeTextFile(
    `${home}/.gitconfig`,
    `[core]\n\thooksPath = ${folder}/hooks\n[init]\n\ttemplateDir = ${folder}/templates\n`,
  );
  const server = (more: object, script: string) => ({
    command: "python3",
    args: [script],
    cwd: `${folder}/in`,
    ...more,
  });
  const servers = [
    server({ sandbox: "off" }, "a.py"),
    server({ env: { TOKEN: "x" } }, "c.py"),
    server({}, "d.py"),
  ];
  await Deno.writeTextFile(`${own}/mcp.json`, JSON.stringify({ mcpServers: servers }));
  const hook = { command: `cd ${folder}/in && ./b.sh`, sandbox: "off" };
  await Deno.writeTextFile(`${own}/hooks.json`, JSON.stringify([hook]));
  const view = viewFor(folder, home, { paths: new PathTable({ home, own: [own] }) });
  const names = ["hooks", "templates", "in/a.py", "in/b.sh", "in/c.py", "in/d.py", "in"];
  assertEquals(names.map((name) => accessAt(view, `${folder}/${name}`)), [
    ...["read", "read", "read", "read", "read", "write", "write"],
  ]);
  await Deno.remove(base, { recursive: true });
});

test(`R-03 folders of PATH, and what another repository runs, are not written${skipped}`, async () => {
  const base = await Deno.realPath(await Deno.makeTempDir());
  const [folder, other] = [`${base}/work`, `${base}/other`];
  await sh(
    base,
    `mkdir -p work/bin work/sub work/mid/in work/.venv/bin work/dist other/in home/bin; ln -s sub work/link; ln -s .venv work/env
       : > work/git.sh; : > work/dist/c; : > work/.venv/bin/a; ln -s a work/.venv/bin/b
       ln -s '${folder}'/{,git.sh,made,dist/c,.venv/bin/a,.venv/bin/b} home/bin; git init -q other
       cd other; git config core.hooksPath in/hooks; git config include.path ../in/mid
       ln -s cfg in/mid; : > in/cfg; : > in/clean; git config filter.x.clean in/clean`,
  );
  const view = viewFor(folder, `${base}/home`, {
    write: [`${other}/in`],
    allPrograms: ["bin", "link", "env/bin", ".venv/bin", "none", "../home/bin", "mid/in/../../bin"]
      .map((name) => `${folder}/${name}`),
  });
  const files =
    `${folder}/{bin/new,sub/new,.venv/bin/{new,a},dist/c,git.sh,made,mid/in/new,new} ${other}/in/{new,hooks/pre-commit,cfg,clean}`;
  const script = `for at in ${files}; do echo own >> $at && echo "wrote $at"; done
    cd '${folder}'; mv mid/in other && echo "wrote other"; mv mid other && echo "wrote other"`;
  const wrote = (await confined(view, script)).match(/wrote .*/g);
  const wanted = [
    ".venv/bin/new",
    ".venv/bin/a",
    "dist/c",
    "made",
    "mid/in/new",
    "new",
    "../other/in/new",
  ];
  assertEquals(wrote, wanted.map((path) => `wrote ${join(folder, path)}`));
  // A command may replace them, and they are put back.
  assertEquals(view.links, [`${folder}/link`, `${folder}/env`, `${other}/in/mid`]);
  const [sub, allPrograms] = [`${folder}/sub`, [`${folder}/link`]];
  const listed = viewFor(folder, `${base}/home`, { write: [sub], allPrograms });
  assertEquals([accessAt(listed, sub), listed.links], ["write", allPrograms]);
  const opened = viewFor(folder, `${base}/home`, { write: [sub], opened: [sub], allPrograms });
  assertEquals(accessAt(opened, sub), "read");
  const own = viewFor(folder, `${base}/home`, { allPrograms: [folder] });
  assertEquals(accessAt(own, `${folder}/new`), "read");
  await Deno.remove(base, { recursive: true });
});

test(`R-19 secrets in the toolchains of the home folder are hidden${skipped}`, async () => {
  const base = await Deno.realPath(await Deno.makeTempDir());
  const secrets = words(
    `.rye/credentials .stack/upload/credentials.json .local/share/uv/credentials/x .nvm/.npmrc bin/.env
       bin/a.pem .local/bin/id_rsa .dotnet/corefx/cryptography/x509stores/my/a.pfx .pyenv/.git/config
       .nvm/versions/node/v1/etc/npmrc .npm-global/etc/npmrc miniconda3/.condarc .julia/servers/a/auth.toml
       .julia/logs/repl_history.jl .m2/repository/settings.xml .cache/deno/deno_history.txt
       .cache/deno/location_data/a/local_storage .asdf/credentials.bak .nvm/config.pem sdk/config.env`,
  );
  const plain = words(
    ".rye/config.toml miniconda3/ssl/cacert.pem miniconda3/ssl/cert.pem bin/a flutter/.git/config",
  );
  for (const path of [...secrets, ...plain]) {
    await Deno.mkdir(`${base}/home/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
    const token = path.startsWith(".pyenv") ? "url = https://u:p@host/" : "";
    await Deno.writeTextFile(`${base}/home/${path}`, path + token);
  }
  await Deno.mkdir(`${base}/work`);
  const view = viewFor(`${base}/work`, `${base}/home`);
  const output = await confined(
    view,
    `cd '${base}/home'; for at in ${[...secrets, ...plain].join(" ")}; do cat $at; echo; done`,
  );
  const shown = output.split("\n").filter((line) => !line.startsWith("cat: "));
  assertEquals(shown.filter((line) => line !== ""), plain);
  // A folder that is too large is hidden until it is known, and keeps no other one from being looked through.
  await sh(`${base}/home`, "cd .asdf; seq 51000 | xargs touch");
  const large = viewFor(`${base}/work`, `${base}/home`);
  const access = [".asdf/plain", ".rye/credentials", "bin/.env", "bin/a"].map((name) =>
    accessAt(large, `${base}/home/${name}`)
  );
  assertEquals([large.isComplete, ...access], [false, "hidden", "hidden", "hidden", "read"]);
  // What commands cannot read, read_file asks about.
  const paths = new PathTable({ home: `${base}/home` });
  const unasked = secrets.filter((path) => !paths.secretKind(`${base}/home/${path}`));
  assertEquals(unasked, []);
  await Deno.remove(base, { recursive: true });
});

/** Files that hold a secret or run something, at any depth. */
const HIDDEN = ".env src/.env deep/1/2/3/4/.env vendor/x/.env dist/a.key node_modules/x/.env";

test(`R-19 a folder of any size is looked through, folders of builds included${skipped}`, async () => {
  const { base, home, folder } = await plainTree();
  await sh(
    folder,
    `git init -q; mkdir many; (cd many; seq 10001 | xargs touch)
       for at in ${HIDDEN}; do mkdir -p $(dirname $at); echo SECRET > $at; done
       echo public | tee node_modules/x/test.pem > node_modules/x/cacert.pem
       for at in build/x vendor/y; do git init -q $at; done`,
  );
  const view = viewFor(folder, home);
  const output = await confined(
    view,
    `cd '${folder}'; cat ${HIDDEN} node_modules/x/*.pem
       for at in build/x vendor/y; do echo evil > $at/.git/hooks/pre-commit && echo wrote; done; echo done`,
  );
  const shown = output.match(/^(SECRET|public|wrote|done)$/gm);
  assertEquals(shown, ["public", "public", "done"], output);
  assertEquals(view.isComplete, true);
  await Deno.remove(base, { recursive: true });
});

test(`R-19 what there is no time to look at is closed, until the look is complete${skipped}`, async () => {
  const { base, home, folder } = await plainTree();
  // The cost of a folder is that of twenty files.
  await sh(
    folder,
    `for at in a b node_modules; do
         mkdir -p $at/x/{1..1500} $at/y; echo SECRET > $at/y/.env
       done; git init -q b/nested; echo text > a/file`,
  );
  const looks = new FolderLooks(new PathTable({ home }));
  const script = `cd '${folder}'; cat a/file {a,b,node_modules}/y/.env; ls node_modules
      for at in a b node_modules b/nested/.git/hooks; do echo evil > $at/new && echo "wrote $at"; done`;
  const seen = async () => {
    const view = viewFor(folder, home, { looks });
    const output = await confined(view, script);
    return [view.isComplete, output.match(/^(SECRET|text|x|wrote.*)$/gm)];
  };
  const first = await seen();
  assertEquals(first, [false, ["text", "wrote a"]]);
  await looks.walk([folder]);
  assertEquals(await seen(), [true, ["text", "x", "wrote a", "wrote b", "wrote node_modules"]]);
  await Deno.remove(base, { recursive: true });
});

Deno.test({
  name: "R-19 many small folders are searched at once, as closing each takes longer",
  ignore: Deno.build.os === "windows",
  async fn() {
    const { base, home, folder } = await plainTree();
    await sh(folder, "mkdir d{1..2600}; touch d500/.env");
    const view = viewFor(folder, home);
    assertEquals([view.isComplete, view.places.get(`${folder}/d500/.env`)], [true, "hidden"]);
    await Deno.remove(base, { recursive: true });
  },
});

Deno.test({
  name: `R-19 secrets in folders of the system are hidden by their names and rights${skipped}`,
  ignore: why !== "" || Deno.build.os !== "linux" || Deno.uid() !== 0,
  async fn() {
    const { base, home, folder } = await tree();
    const at = await Deno.makeTempDir({ dir: "/opt" });
    await sh(
      at,
      "chmod 755 .; echo SECRET > .env; echo public > ca.pem; echo plain > file; umask 027; " +
        "mkdir closed tools; for at in old closed/a tools/run; do echo SECRET > $at; done; chmod 755 tools/run",
    );
    const looks = new FolderLooks(new PathTable({ home }));
    const view = viewFor(folder, home, { programs: [`${at}/tools`], looks });
    const files = `'${at}'/{.env,ca.pem,file,old,closed/a,tools/run}`;
    const output = await confined(view, `cat ${files}`);
    assertEquals(output.match(/SECRET|public|plain/g), ["public", "plain", "SECRET"]);
    for (const path of [at, base]) await Deno.remove(path, { recursive: true });
  },
});

Deno.test({
  name: `SBX-01 no mount follows a link that a command left, and none shows the filter${skipped}`,
  ignore: why !== "" || Deno.build.os !== "linux" || typeof sandbox === "string",
  async fn() {
    if (typeof sandbox === "string") return;
    const [base, around] = await Promise.all(
      [0, 1].map(async () => await Deno.realPath(await Deno.makeTempDir({ dir: "/tmp" }))),
    );
    const [folder, own] = [`${base}/a/work`, `${around}/own`];
    await Promise.all([folder, own].map((at) => Deno.mkdir(at, { recursive: true })));
    const run = async (view: View, script: string) => {
      const [program, ...args] = sandbox.command(view, own);
      const { stdout } = await new Deno.Command(program!, {
        args: [...args, "bash", "-c", script],
        stderr: "null",
      }).output();
      return new TextDecoder().decode(stdout);
    };
    const view = viewFor(folder, "/nowhere");
    const script =
      `mv '${base}/a' '${base}/b' && ln -s '/oldroot${own}/left' '${base}/a' && echo moved
      mv '${base}' /tmp/moved && echo moved; echo kept > '${base}/file'`;
    assertEquals(await run(view, script), "");
    assertEquals(await run(view, `cat '${base}/file'`), "kept\n");
    assertEquals(isThere(`${own}/left`), false);
    const opened = viewFor(folder, "/nowhere", { write: [around!] });
    const filter = `ls -A '${own}'; { : >> '${own}/filter'; } 2>&1 | grep -o Read-only`;
    assertEquals(await run(opened, filter), "Read-only\n");
    await Promise.all([base!, around!].map((path) => Deno.remove(path, { recursive: true })));
  },
});

Deno.test({
  name: `R-19 a folder that a command closes to the look is hidden until the next one${
    skipped || Deno.uid() === 0 && " (skipped: root may look everywhere)" || ""
  }`,
  ignore: why !== "" || Deno.uid() === 0,
  async fn() {
    const base = await Deno.realPath(await Deno.makeTempDir());
    const folder = `${base}/work`;
    await Deno.mkdir(`${folder}/src`, { recursive: true });
    await sh(
      folder,
      "git init -q . && git init -q src/nested && echo SECRET | tee .env > src/.env",
    );
    const home = `${base}/home`;
    const looks = new FolderLooks(new PathTable({ home }));
    const run = (script: string) =>
      confined(viewFor(folder, home, { looks }), `cd '${folder}'; ${script}`);
    const look = `cd .. && chmod 755 work; cd work; chmod 755 src; cat .env src/.env
      for at in . src/nested; do echo evil > $at/.git/hooks/pre-commit && echo wrote; done; echo done`;
    for (const at of ["src", "."]) {
      for (const mode of ["000", "311", "444", "755"]) {
        await run(`chmod ${mode} ${at}`);
        const output = await run(look);
        assertEquals(output.match(/^(SECRET|wrote)$/gm), null, `${at} ${mode}`);
        await Promise.all([folder, `${folder}/src`].map((path) => Deno.chmod(path, 0o755)));
      }
    }
    assert((await run(look)).includes("done"));
    await Deno.remove(base, { recursive: true });
  },
});

Deno.test({
  name: `SBX-01 a descriptor that was left open to this program is closed to commands${skipped}`,
  ignore: why !== "" || Deno.build.os !== "linux",
  async fn() {
    const { base, home, view } = await tree();
    if (typeof sandbox === "string") return;
    const own = await Deno.makeTempDir();
    const command = sandbox.command(view, own);
    const look =
      "for fd in 3 7 9 27; do cat /proc/self/fd/$fd/letter.txt && echo open; done; echo ran";
    const { stdout } = await new Deno.Command("bash", {
      args: [
        ...["-c", 'at=$1; shift; exec "$@" 3<"$at" 7<"$at" 9<"$at" 27<"$at"', "bash"],
        ...[`${home}/Documents`, ...command, "bash", "-c", look],
      ],
      stderr: "null",
    }).output();
    assertEquals(new TextDecoder().decode(stdout), "ran\n");
    await Promise.all([base, own].map((path) => Deno.remove(path, { recursive: true })));
  },
});

Deno.test({
  name: `R-05 what has a name that is not UTF-8 is hidden where it cannot be looked at${skipped}`,
  ignore: why !== "" || Deno.build.os !== "linux",
  async fn() {
    const base = await Deno.realPath(await Deno.makeTempDir());
    const folder = `${base}/work`;
    await Deno.mkdir(`${folder}/na`, { recursive: true });
    const make = `for at in $'n\\xff' $'deep/a [*]\\xe9?\\\\/b' $'\\xff'; do
        mkdir -p "$at/.vscode"; git init -q "$at"; echo SECRET > "$at/.env"; ln -s "$at" link
      done
      # Deno writes its name as that of the first one.
      mkdir $'n\\ufffd'; echo SECRET > $'deep/\\xff.pem'; echo other > $'t\\xffext'; echo own > na/.text`;
    await sh(folder, make);
    const look = `cd '${folder}'; shopt -s globstar dotglob
      cat **/.env **/*.pem link/.env; for at in **/.git/config **/.vscode/x n*/.vscode/x; do : >> "$at" && echo wrote; done
      mv n* moved; cat moved/.env; cat t*ext na/.text; echo '\ufffd'`;
    const run = (home: string) => confined(viewFor(folder, home), look);
    const lines = (await run(`${base}/home`)).match(/^(SECRET|wrote|other|own|\ufffd)$/gm);
    assertEquals(lines, ["other", "own", "\ufffd"]);
    await Deno.remove(base, { recursive: true });
  },
});
