import { assertEquals } from "@std/assert";
import {
  gitFoldersOf,
  headName,
  isInsideGit,
  isRepository,
  smallFile,
  withoutCredentials,
} from "../../src/safety/git_files.ts";
import { gitFindings, sshFindings, variableFindings } from "../../src/safety/named_files.ts";
import { branchOf } from "../../src/safety/repositories.ts";
import { cpuTime } from "../helpers/cpu_time.ts";
import { posixTest as test } from "../helpers/test_unless.ts";

/** A folder with these files, and `work`, which is a repository. */
function folder(files: Record<string, string>) {
  const path = Deno.realPathSync(Deno.makeTempDirSync());
  const plain = { "work/.git/HEAD": "", "work/.git/objects/x": "", "work/.git/config": "" };
  for (const [name, text] of Object.entries({ ...plain, ...files })) {
    Deno.mkdirSync(`${path}/${name}`.replace(/[/][^/]*$/, ""), { recursive: true });
    Deno.writeTextFileSync(`${path}/${name}`, text);
  }
  return {
    path,
    within: (paths: readonly string[]) => paths.map((one) => one.slice(path.length + 1)),
    [Symbol.dispose]: () => Deno.removeSync(path, { recursive: true }),
  };
}

test("R-03 the folders behind a .git that is a file: only where git has tied them to it", () => {
  const tree = "work/.git/worktrees/w";
  const pointer = { "other/.git": "gitdir: ../work/.git/worktrees/w\n" };
  const tied = { ...pointer, [`${tree}/commondir`]: "../..\n", [`${tree}/HEAD`]: "" };
  const back = { [`${tree}/gitdir`]: "../../../../other/.git\n" };
  const sub = "work/.git/modules/s";
  const rows: [files: Record<string, string>, folders: string[]][] = [
    [{ ...tied, ...back }, [tree, "work/.git"]],
    // git has not written there whose it is, or has written another's.
    [tied, []],
    [{ ...tied, [`${tree}/gitdir`]: "../../../../none/.git\n" }, []],
    // The repository is the one that the folder lies in, or none.
    [{ ...tied, ...back, [`${tree}/commondir`]: "../../..\n" }, [tree]],
    [{ ...pointer, ...back }, [tree]],
    [{ "other/.git": "gitdir: ../none\n" }, []],
    [{ "other/.git": "x" }, []],
    [
      {
        "other/.git": `gitdir: ../${sub}`,
        [`${sub}/config`]: "\tworktree = ../../../../other\n",
      },
      [sub],
    ],
    [
      { "other/.git": `gitdir: ../${sub}`, [`${sub}/config`]: "worktree = ../../../../none\n" },
      [],
    ],
    // Takes no longer than a short one.
    [{ "other/.git": `gitdir: x${"\n".repeat(900_000)}\0` }, []],
    [{ "other/.git": `gitdir: ../${sub}`, [`${sub}/config`]: "a = b\n" }, []],
    [{ "other/.git": `gitdir: ../${sub}`, [`${sub}/config`]: "\n".repeat(999_000) }, []],
  ];
  for (const [files, folders] of rows) {
    using at = folder(files);
    assertEquals(at.within(gitFoldersOf(`${at.path}/other/.git`)), folders);
  }
  using at = folder({});
  assertEquals(gitFoldersOf(`${at.path}/other/.git`), []);
});

test("R-21 HEAD names a branch in characters that a prompt shows as they are, or a commit", () => {
  const rows: [text: string, name: string | undefined][] = [
    ["ref: refs/heads/main\n", "main"],
    ["ref: refs/heads/a/\u00e9-\u65e5\u672c\n", "a/\u00e9-\u65e5\u672c"],
    ["ref: refs/heads/\u{1f468}\u200d\u{1f469}\n", "\u{1f468}\u200d\u{1f469}"],
    [`${"0123456789".repeat(4)}\n`, "0123456"],
    ["ref: refs/heads/a\x1b]0;x\x07\n", undefined],
    ["ref: refs/heads/a\u202eb\n", undefined],
    [`ref: refs/heads/${"a".repeat(5000)}\n`, undefined],
    // Takes no longer than a short one.
    [`ref: refs/heads/${" ".repeat(990_000)}\rx\n`, undefined],
  ];
  for (const [text, name] of rows) {
    using at = folder({ "work/.git/HEAD": text });
    assertEquals(headName(`${at.path}/work/.git`), name);
    assertEquals(branchOf(`${at.path}/work`) === undefined, name === undefined);
  }
});

test("R-03 of a file of settings, the first 2000 words are looked for as files", () => {
  const found = (before: number) => {
    using at = folder({
      "work/run.sh": "",
      "work/.git/config": `[core]\n\teditor = ${"x ".repeat(before)}./run.sh\n`,
    });
    return gitFindings(`${at.path}/work/.git`, `${at.path}/work`)
      .some(({ path }) => path.endsWith("/run.sh"));
  };
  assertEquals([found(1999), found(2000)], [true, false]);
});

test("R-03 programs in settings and variables: after variables, and after what only the shell knows", () => {
  const names = ["pager", "ed", "filter", "alias", "ssh", "used", "monitor", "open"];
  names.push("a (b)/c=d", "a b", "e f", "hook", "server", "vim");
  using at = folder({
    "work/.git/config":
      '[core] pager = $HOME/bin/pager\n[core] editor = "\\"${HOME}\\"/bin/ed -w"\n' +
      "[filter] clean = $(git rev-parse --show-toplevel)/bin/filter\n" +
      '[alias] a = "!\\"${GIT_PREFIX:-.}\\"/bin/alias; ${NONE-./bin/used}"\n' +
      "b = !'$HOME/bin/a (b)/c=d' -u\n",
    ...Object.fromEntries(names.map((name) => [`work/bin/${name}`, ""])),
    "work/vim": "",
    "work/own": "[core] fsmonitor = bin/monitor\n",
    "cfg/hooks.json":
      '{"hooks":{"Stop":[{"hooks":[{"sandbox":"off","command":"sh ~/bin/hook"}]}]}}',
    "cfg/mcp.json": '{"a":{"args":["bin/server"],"sandbox":"off"},"b":{"args":["~/bin/vim"]}}',
  });
  const work = `${at.path}/work`;
  const variables = {
    GIT_SSH_COMMAND: "vim ~/bin/ssh -x",
    GIT_CONFIG_GLOBAL: `${work}/own`,
    BROWSER: `${work}/bin/open:firefox`,
    GIT_SSH: `${work}/bin/a b`,
    EDITOR: "bin/e\\ f --wait",
  };
  for (const [name, value] of Object.entries(variables)) Deno.env.set(name, value);
  const found = [
    ...gitFindings(`${work}/.git`, work, { home: work }),
    ...variableFindings(work, { home: work, own: [`${at.path}/cfg`] }),
  ];
  for (const name of Object.keys(variables)) Deno.env.delete(name);
  const programs = found.filter(({ named }) => named).map(({ path }) =>
    path.replace(/^.*\/work\//, "")
  );
  const wanted = ["own", ...names.slice(0, -1).map((name) => `bin/${name}`)];
  assertEquals([...new Set(programs)].sort(), wanted.sort());
});

test("R-23 what the user's own settings name in a new work tree: hooks and programs, but no branch", () => {
  using at = folder({
    "home/.gitconfig": '[core] hooksPath = .githooks\n[filter "f"] clean = ./tools/clean\n' +
      '[filter "g"] clean = python3 -u g.py\n[alias] co = checkout main\n[filter "lfs"] clean = git-lfs clean\n',
    ...Object.fromEntries(
      ["tools/clean", "g.py", "main", "clean", ".git/config"].map((name) => [`work/${name}`, ""]),
    ),
    "work/.git/config": "[core] editor = ./tools/own\n",
    "work/tools/own": "",
  });
  const found = gitFindings(undefined, `${at.path}/work`, { home: `${at.path}/home` })
    .filter(({ named }) => named).map(({ path }) => path.slice(at.path.length + 1));
  assertEquals([...new Set(found)].sort(), ["work/.githooks", "work/g.py", "work/tools/clean"]);
});

test("R-03 git's files, and what its settings name: further settings, and folders of hooks", () => {
  using at = folder({
    "work/.git/config": '[core] hooksPath = "a b" ; x\n[include]\n\tPath = more # y\npathx = no\n' +
      "path = /abs\n" +
      // As git reads it, though it does not write so.
      '[a "]"][include] path = "x"y\\\nz\\"\\\\ ; x\n' + "\n".repeat(80_000),
    "work/.git/config.worktree": "[core]\nhookspath=/hooks\nhookspath=hk/../in\n",
    "work/.git/more": "path = ../deep/even\n",
    "work/deep/even": "hooksPath = deep\n",
    "work/home/.gitconfig": "[core] hooksPath = own\n[include] path = ~/by-home\n",
    "work/commondir": "",
    "work/config/git/config": "hooksPath = ~/hooks-by-home\n",
  });
  const found = gitFindings(`${at.path}/work/.git`, `${at.path}/work`, {
    ...{ home: `${at.path}/work/home`, own: [`${at.path}/work/config/copilot`] },
  });
  assertEquals(found.map(({ access }) => access).every((access) => access === "read"), true);
  const paths = found.map(({ path }) => path.replace(`${at.path}/work/`, ""))
    .filter((path) => path !== "/etc/gitconfig");
  const wanted = [
    ...[".git", ".git/config", ".git/config.worktree", ".git/more", "/abs"],
    ...["/hooks", "a b", "commondir", "config/git/config", "deep", "deep/even", "hk/../in"],
    ...["home/.gitconfig", "home/by-home", "home/hooks-by-home", "own", '.git/xyz"\\'],
  ];
  assertEquals(paths.sort(), wanted.sort());
});

test("R-21 what ssh's settings include and run: files, and folders in which patterns look", () => {
  using at = folder({
    "work/.ssh/config":
      'include ~/own ~/dot/*.conf\nInclude="~/a b"\nProxyCommand ~/bin/proxy %h\n',
    "work/dot/a.conf": " Include ~/dot2/[a-z]/c\nMatch exec ~/bin/none\n",
    "work/a b": "Match exec 'test -x ~/bin/match'\n",
    ...Object.fromEntries(["proxy", "match"].map((name) => [`work/bin/${name}`, ""])),
  });
  const found = sshFindings(`${at.path}/work`)
    .map(({ path, named }) => `${named} ${path.slice(at.path.length + 6)}`);
  const wanted = ["file own", "hooks dot", "hooks dot2", "file a b", "file bin/proxy"];
  wanted.push("file bin/match", "file .ssh/config", "file dot/a.conf");
  assertEquals([...new Set(found)].sort(), wanted.sort());
});

test("R-03 settings are followed until there are more than 100", () => {
  const chain = (length: number) => {
    using at = folder({
      "work/.git/config": "path = f0\n",
      ...Object.fromEntries(
        Array.from({ length }, (_, i) => [
          `work/.git/f${i}`,
          i === length - 1 ? "hooksPath = /found\n" : `path = f${i + 1}\n`,
        ]),
      ),
    });
    const found = gitFindings(`${at.path}/work/.git`, `${at.path}/work`);
    return found.some(({ path }) => path === "/found");
  };
  assertEquals([chain(100), chain(101)], [true, false]);
});

test("what git takes for a repository, and the folders in one", () => {
  using at = folder({ "bare/HEAD": "", "bare/config": "", "half/HEAD": "", "half/config": "" });
  Deno.mkdirSync(`${at.path}/bare/objects/deep`, { recursive: true });
  const rows: [name: string, isRepo: boolean, isInside: boolean][] = [
    ["bare", true, true],
    ["bare/objects/deep", false, true],
    ["half", false, false],
    ["work", false, false],
    ["work/.git", true, true],
    [".", false, false],
  ];
  for (const [name, isRepo, isInside] of rows) {
    const path = `${at.path}/${name}`;
    assertEquals([isRepository(path), isInsideGit(path)], [isRepo, isInside], name);
  }
});

test("small files of git's are read up to 1000000 bytes; submodules lie in their work tree", () => {
  using at = folder({
    "full": "x".repeat(1_000_000),
    "large": "x".repeat(1_000_001),
    "work/.gitmodules":
      '[submodule "a"]\n\tpath = vendor/a  \n\turl = x\n  path=b\n path = ../out\n',
  });
  const lengths = ["full", "large", "none", "."].map((name) =>
    smallFile(`${at.path}/${name}`).length
  );
  assertEquals(lengths, [1_000_000, 0, 0, 0]);
});

test("R-23 a pipe that a program puts in the place of a file is not waited for", async () => {
  using at = folder({ a: "text" });
  // Between a look at the file and its opening, the program has some microseconds.
  const swap =
    'mkfifo b; exec perl -e \'for (;;) { link("a", "x"); rename("x", "f"); link("b", "x"); rename("x", "f") }\'';
  const swapping = new Deno.Command("sh", { args: ["-c", swap], cwd: at.path }).spawn();
  const module = JSON.stringify(import.meta.resolve("../../src/safety/git_files.ts"));
  const read =
    `const { expectPipes, textWithin, smallFile } = await import(${module}); await expectPipes();
    const texts = Array.from({ length: 100_000 }, () => smallFile("${at.path}/f"));
    const isRight = new Set(texts).size === 2 && texts.includes("text") && textWithin("${at.path}/a") === "text";
    Deno.exit(isRight ? 0 : 1);`;
  const { code } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", read],
    signal: AbortSignal.timeout(30_000),
  }).output();
  swapping.kill("SIGKILL");
  await swapping.status;
  assertEquals(code, 0);
});

Deno.test("SEC-01 settings are shown without passwords and tokens, and with what only looks so", () => {
  const secret = [
    "url = https://s3cr3t@h/x",
    "url = https://u:s3cr3t@h/x",
    "url = https://u:a/s3cr3t@h/x",
    "url = https://u:s3cr3t@x@h/x",
    "url = u:s3cr3t@h:x",
    'insteadOf = "u:s3cr3t@h:"',
    '[url "u:s3cr3t@h:"]\n\tinsteadOf = x:',
    "url = https://h/x?private_token=s3cr3t&a=b",
    "url = https://h/x?a=b&access-key=s3cr3t",
    "sshCommand = sshpass -p s3cr3t ssh",
    "sshCommand = SSHPASS=s3cr3t sshpass -e ssh",
    "helper = !curl -H 'PRIVATE-TOKEN: s3cr3t' h",
    "helper = !f() { echo password=s3cr3t; }; f",
    "helper = !x --token s3cr3t",
    "x = Bearer s3cr3t",
    "helper = !curl -u ann:s3cr3t h",
    "helper = !curl -uann:s3cr3t h",
    "helper = !curl --user='ann:s3cr3t' h",
    "helper = !curl --proxy-user ann:s3cr3t h",
    "helper = !svn --proxy-auth ann:s3cr3t",
    'url = "https://u:my s3cr3t@h/x"',
    "url = https://u:it's s3cr3t@h/x",
  ];
  for (const text of secret) assertEquals(withoutCredentials(text).includes("s3cr3t"), false, text);
  assertEquals(
    withoutCredentials("url = https://h/x?private_token=s3cr3t&a=b"),
    "url = https://h/x?private_token=***&a=b",
  );
  const plain = [
    "url = git@h:owner/x.git",
    "url = ssh://git@h:22/x",
    "url = https://h:8443/x",
    "url = https://h/a@b/c",
    "email = a@b.c",
    "fetch = +refs/heads/*:refs/remotes/origin/*",
    "co = checkout",
    "lg = log --format='%h: %an <a@b>'",
    "helper = store",
    "st = status -sb",
    "url = h:a@b",
    "helper = !docker run -u 0:0 -v a:b x; git -u origin a:b",
    "x = https://h:80/x, a@b.c",
  ];
  for (const text of plain) assertEquals(withoutCredentials(text), text);
});

test("what git's settings name is found in linear time", () => {
  using at = folder({});
  const start = cpuTime();
  for (const part of ["a", "x-", "$(", "${a", "'", "\\\\", "/.."]) {
    const value = `\${a-${part.repeat(150_000)}`;
    Deno.writeTextFileSync(`${at.path}/work/.git/config`, `[core]\neditor = ${value}\n`);
    gitFindings(`${at.path}/work/.git`, `${at.path}/work`);
  }
  // Quadratic would be minutes.
  assertEquals(cpuTime() - start < 5000, true);
});
