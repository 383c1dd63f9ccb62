/** git outside of the sandbox: what it asks for, and what it runs and writes with the user's credentials. */

import { findProgram, programFolders } from "../../src/find_program.ts";
import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { waitUntil } from "../helpers/wait_until.ts";
import { AT_X, repository, test } from "../helpers/git_repository.ts";

/** Sets a variable of this process for a while. */
function withVariable(name: string, value: string): Disposable {
  Deno.env.set(name, value);
  return { [Symbol.dispose]: () => Deno.env.delete(name) };
}

const MADE_BEFORE = /^asked: .* and a command may have made this repository$/;

test("R-21 push, fetch and signing ask, and name the hooks that they run", async () => {
  await using at = await repository();
  await at.outside("git remote add origin https://127.0.0.1:9/x");
  const leaves = "so it runs outside of the sandbox";
  const named = (names: string, what: string) =>
    `asked: may run programs that this repository names (${names}) and ${what}, ${leaves}`;
  assertEquals(
    await at.run("git push origin"),
    "asked: pushes to https://127.0.0.1:9/x with your credentials",
  );
  const git = findProgram("git", programFolders(), undefined)!;
  assertEquals(at.programs(), [git]);
  // A word of a wrapper may be a program; an address is none.
  await at.run("timeout 5 ./a http://127.0.0.1:9/x", { leave: "network" });
  assertEquals(at.programs()?.slice(1), [`${at.folder}/a`]);
  const signs =
    `asked: may run any program as you, by settings and hooks of repositories, and signs with your key, ${leaves}`;
  assertEquals(await at.run("git commit -S -m x"), signs);
  for (const yes of ["yes", "on", "1", "true"]) {
    await at.outside(`git config commit.gpgsign ${yes}`);
    assertEquals(await at.run("git commit -m x"), signs);
  }
  for (const option of ["-u origin/main", "--unset-upstream", "-m main new"]) {
    assertMatch(await at.run(`git branch ${option}`), /^asked: .* changes the settings/);
  }
  await at.outside("cp evil.sh .git/hooks/pre-push; chmod +x .git/hooks/*");
  assertEquals(await at.run("git commit -m x"), signs);
  await at.outside("git config core.sshCommand ./evil.sh");
  assertEquals(
    await at.run("git push origin"),
    named(
      "core.sshcommand=./evil.sh, hooks/pre-push",
      "pushes to https://127.0.0.1:9/x with your credentials",
    ),
  );
});

/** Lines that leave the sandbox with git in another form than the one that a rule covers. */
const OTHER_FORMS = [
  ...["git pull --ff-only", "git pull origin main", "git fetch https://example.com/x"],
  ...["git push --recurse-submodules=on-demand origin", "git push --recurse-sub=only origin"],
  ...["git push --exec=./evil.sh origin", "git fetch -j 4 origin"],
  ...[
    "git -c a.b=c push origin",
    "git --git-dir .git push origin",
    "git --work-tree . push origin",
  ],
  ...["git -C .. push https://h/x", "cd s* && git fetch origin", "cd sub && git fetch origin"],
  ...[
    "true; cd sub && git fetch",
    "pushd sub; git fetch origin",
    "git fetch origin; git push origin",
  ],
  ...[
    "GIT_DIR=x git push origin",
    "git push origin > log",
    "git push origin $(echo main)",
    "git push origin m*",
  ],
  ...["git commit -S -F x", "git commit -S -e", "git config a.b c", "git remote add b https://h/x"],
  ...["./git push origin", "git lfs push origin", "git submodule update"],
];

/** Lines that need not leave, and may run what submodules name. */
const LOCAL_FORMS = [
  ...["git log -p --submodule=diff -1", "git describe --always --dirty", "git status", "git diff"],
  ...["git show", "cd s* && git status", "env git log", "sh -c 'git log'", "ls | xargs git log"],
  "git fetch --upload-pack ./evil.sh origin",
  ...["git push ./up.git main", "git ls-remote ./up.git", "git ls-remote up", "$(echo git) log"],
];

test("R-21 git leaves the sandbox by a rule in one form only", async () => {
  await using at = await repository();
  await at.outside(
    "git remote add origin https://127.0.0.1:9/x; git config branch.main.remote origin; mkdir sub; " +
      "ln -s $(which git) git; git config user.signingkey x",
  );
  at.allow("run_bash");
  assertMatch(await at.run("git pull; make"), /^asked: may run any program as you, by settings/);
  at.permissions.allow({ rule: "run_bash", confined: false }, at.folder);
  assertMatch(await at.run("git pull"), /127.0.0.1/);
  at.permissions.disallow("run_bash", at.folder);
  for (const words of ["*", "-C sub *", "-c a.b=c *", "--git-dir .git *", "--work-tree . *"]) {
    at.allow(`run_bash(git ${words})`);
  }
  for (const rule of ["cd *", "env git *", "./git *", "ls *", "xargs git log", "sh -c 'git log'"]) {
    at.allow(`run_bash(${rule})`);
  }
  for (const line of [...OTHER_FORMS, "git -C sub fetch"]) {
    assertMatch(await at.run(line), /^asked: may run any program as you, by settings/, line);
  }
  for (const line of [...OTHER_FORMS, ...LOCAL_FORMS]) {
    const said = await at.run(line, { leave: "sandbox" });
    assertMatch(said, /^asked: may run any program as you, by settings/, line);
  }
  for (const line of ["git push -u origin main", "git fetch 2>&1 | tail -5"]) {
    assertMatch(await at.run(line), /127.0.0.1/, line);
  }
  // The user's remote may have another name. Without it, no path is used instead.
  await at.outside(
    "git remote rename origin up; git checkout -qb two; echo gitdir: $PWD/.git > origin",
  );
  assertMatch(await at.run("git push"), /^exit code: 128/);
  await at.outside("git checkout -q main; git remote rename up origin");
  assertMatch(await at.run("git ls-remote -h origin"), /only git.s folders can be written/);
});

/** Returns a repository, and a function that gives it its first state again: a new one takes four times as long. */
async function resettable() {
  const at = await repository();
  await at.outside(
    "rm -rf .git/hooks .git/branches; git remote add origin https://127.0.0.1:9/x; cp -a . ../first",
  );
  return { at, reset: () => at.outside("chmod -R u+rwX .; rm -rf .git *; cp -a ../first/. .") };
}

/** Serves the repositories of a folder over http, with git's own program for that. */
function serve(folder: string) {
  const answer = async (request: Request) => {
    const { pathname, search } = new URL(request.url);
    const of = (name: string) => request.headers.get(name) ?? "";
    const backend = new Deno.Command("git", {
      args: ["http-backend"],
      ...{ stdin: "piped", stdout: "piped", clearEnv: true },
      env: {
        ...{ PATH: Deno.env.get("PATH")!, GIT_PROJECT_ROOT: folder, GIT_HTTP_EXPORT_ALL: "1" },
        ...{ REMOTE_USER: "ann", REQUEST_METHOD: request.method, PATH_INFO: pathname },
        ...{ QUERY_STRING: search.slice(1), CONTENT_TYPE: of("content-type") },
        ...{ HTTP_CONTENT_ENCODING: of("content-encoding"), GIT_PROTOCOL: of("git-protocol") },
      },
    }).spawn();
    const sent = new Response(await request.arrayBuffer()).body!.pipeTo(backend.stdin);
    const { stdout } = await backend.output();
    await sent.catch(() => {});
    const text = new TextDecoder("latin1").decode(stdout);
    const end = text.indexOf("\r\n\r\n");
    const lines = text.slice(0, end).split("\r\n").map((line) => line.split(": "));
    const status = lines.find(([name]) => name === "Status")?.[1] ?? "200";
    const headers = lines.filter(([name]) => name !== "Status") as [string, string][];
    return new Response(stdout.slice(end + 4), { status: Number.parseInt(status), headers });
  };
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, answer);
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

test("R-21 a push or fetch with the user's credentials runs nothing of submodules or later hooks", async () => {
  await using at = await repository();
  await using server = serve(at.base);
  await at.outside(
    `printf 'shift; eval "$*"' > ~/ssh; git clone -q --bare . ../listed/up.git; ` +
      `git remote add origin ${server.url}/listed/up.git; git init -qb main m; ` +
      " git -C m commit -q --allow-empty -m x; " +
      "git -C m update-ref refs/remotes/origin/main HEAD; git -C m commit -q --allow-empty -m y; " +
      "git config --global fetch.recurseSubmodules true; git config --global push.recurseSubmodules on-demand; " +
      "git add m; git commit -qm m; git rm -q --cached m; git -C m remote add origin far:/none; " +
      'for one in uploadpack receivepack; do git -C m config remote.origin.$one "touch $PWD/../pwned; false"; done',
  );
  // The user's own ssh. What it reaches is on this machine.
  using _ = withVariable("GIT_SSH_COMMAND", `sh ${at.base}/home/ssh`);
  using __ = withVariable("GIT_CONFIG_GLOBAL", `${at.base}/home/.gitconfig`);
  for (const rule of ["git push *", "git fetch *"]) at.allow(`run_bash(${rule})`);
  assertMatch(await at.run("git push origin main"), /^exit code: 0/);
  await at.outside("git -C m commit -q --allow-empty -m z; git add m; git commit -qm n");
  assertMatch(await at.run("git push && git fetch"), /^asked: may run any/);
  assertMatch(await at.run("git fetch origin"), /^exit code: 0/);
  for (const rule of ["git push *", "git fetch *"]) {
    at.permissions.disallow(`run_bash(${rule})`, at.folder);
  }
  const said = await at.run("git push origin main", {
    beforeYes: () => at.outside("git remote set-url origin far:/other"),
  });
  assertMatch(said, /^Refused: the repository's settings changed meanwhile/);
  assertEquals(at.has("pwned"), false);
  // Positive control.
  await at.outside(
    "export GIT_SSH_COMMAND='sh ~/ssh'; git remote set-url origin far:$(realpath ../listed/up.git); git push origin main; git fetch origin",
  );
  assertEquals(at.has("pwned"), true);
});

/** What came with a folder by which git may run programs, and what the question names of it. */
const CAME: [prepare: string, command: string, named: string][] = [
  ["git config protocol.ext.allow always", "git push", "protocol.ext.allow=always"],
  [
    "git config remote.origin.pushurl 'ext::sh evil.sh'",
    "git fetch",
    "remote.origin.pushurl=ext::sh evil.sh",
  ],
  [
    "git config 'url.ext::sh evil.sh.pushInsteadOf' https:",
    "git fetch",
    "url.ext::sh evil.sh.pushinsteadof=https:",
  ],
  ["git config credential.helper '!sh evil.sh'", "git push", "credential.helper=!sh evil.sh"],
  [
    "git config extensions.worktreeConfig true; git config --worktree credential.https://x.y.helper ./evil.sh",
    "git fetch",
    "credential.https://x.y.helper=./evil.sh",
  ],
  ["git config core.askPass $PWD/evil.sh", "git fetch", "core.askpass="],
  ["git config http.extraHeader 'Authorization: key'", "git fetch", "http.extraheader=…"],
  ["git config http.proxy 'http://a:my key@h'", "git fetch", "http.proxy=http://***@h"],
  ["git config filter.x.clean 'curl -u a:key h'", "git fetch", "filter.x.clean=…"],
  ["git config new.kind.ofSetting x", "git fetch", "new.kind.ofsetting=x"],
  ["mkdir -p .git/remotes; echo URL: x > .git/remotes/origin", "git push", "remotes/origin"],
  ["mkdir -p .git/branches; echo x > .git/branches/origin", "git fetch", "branches/origin"],
];

test("R-21 the question about push, fetch and pull says where to or from, if that is certain", async () => {
  await using at = await repository();
  await at.outside(
    "git remote add origin https://me:key@x.y/a; git remote add b git@x.y:b; git config remote.b.pushurl ssh://x.y/c",
  );
  const rows: [command: string, addressed: string][] = [
    ["git push -qu origin main", "pushes to https://***@x.y/a"],
    ["timeout 9 git push b", "pushes to ssh://x.y/c"],
    ["git push", "pushes to https://***@x.y/a"],
    ["git fetch b", "fetches from git@x.y:b"],
    ["git fetch --all", "fetches from https://***@x.y/a or git@x.y:b"],
  ];
  for (const [command, addressed] of rows) {
    const asked = await at.run(command);
    assertEquals(asked, `asked: ${addressed} with your credentials`);
  }
  const cases = [
    "git push https://x.y/d",
    "./prepare.sh; git push b",
    "GIT_DIR=c git push b",
  ];
  for (const command of cases) {
    assertMatch(await at.run(command), /^asked: may run any.* pushes with your credentials/);
  }
  for (const leave of ["network", "sandbox"] as const) {
    const asked = await at.run("git fetch b", { leave });
    assertEquals(asked, "asked: fetches from git@x.y:b with your credentials");
  }
  assertEquals(
    await at.run("git ls-remote b", { leave: "sandbox" }),
    "asked: reads from git@x.y:b with your credentials",
  );
});

test("R-21 push, fetch and pull stay in the sandbox for a repository that commands can write", async () => {
  await using at = await repository();
  for (const up of [`${at.base}/listed/up.git`, `file://${at.folder}/up.git`]) {
    await at.outside(`git init -q --bare ${up.replace("file://", "")}; git remote add up ${up}`);
    assertMatch(await at.run(`git push -q ${up} main`), /^exit code: 0/);
    assertMatch(await at.run("git fetch -q up && git pull -q up main"), /^exit code: 0/);
    await at.outside("git remote remove up");
  }
  // A path leads no further than the view, whatever is there now or later.
  await at.outside(
    "rm -rf up.git; git clone -q --bare . ../up.git; ln -s ../up.git up; echo gitdir: $(realpath ../up.git) > file; " +
      "d=$(printf 'q\\377'); git init -q --bare $d; printf 'gitdir: '$d > odd; echo gitdir: $(realpath ../up.git) > origin; " +
      `printf '#!/bin/sh\nsh "$OLDPWD/../evil.sh"; touch ${at.base}/pwned' | tee ../up.git/hooks/post-receive > $d/hooks/post-receive; ` +
      "chmod +x ../up.git/hooks/* $d/hooks/*; git config remote.far.url ../up.git; git commit -q --allow-empty -m two",
  );
  for (const rule of ["git push *", "git fetch *"]) at.allow(`run_bash(${rule})`);
  for (
    const up of ["../up.git", `file://${at.base}/up.git`, "up", "file", "origin", "far", "5"]
  ) {
    assertMatch(await at.run(`git fetch ${up}`), /^exit code: [1-9]/, up);
    assertMatch(await at.run(`git push ${up} main`), /^exit code: [1-9]/, up);
  }
  await at.run("git push odd main");
  await at.run("git push");
  assertEquals(at.has("pwned"), false);
  // Positive control. As the folder is new, the commands put aside what git reads in it.
  await at.outside(
    "d=$(printf 'q\\377'); rm -rf $d; git init -q --bare $d; cp ../up.git/hooks/post-receive $d/hooks; git push odd main",
  );
  assertEquals(at.has("pwned"), true);
});

test("R-21 a rule for push or fetch covers nothing that came with the folder", async () => {
  const { at, reset } = await resettable();
  await using _ = at;
  for (const rule of ["git push *", "git fetch *"]) at.allow(`run_bash(${rule})`);
  for (const [prepare, command, named] of CAME) {
    await reset();
    await at.outside(prepare);
    const said = await at.run(command);
    assertStringIncludes(said, `may run programs that this repository names (${named}`);
  }
});

test("R-21 a rule for push or fetch covers a repository with ordinary settings", async () => {
  await using at = await repository();
  for (const rule of ["git push *", "git fetch *"]) at.allow(`run_bash(${rule})`);
  await at.outside(
    "git remote add -t main -m main origin https://a:b@127.0.0.1:9/x; git config branch.main.remote origin; " +
      "git config branch.main.merge refs/heads/main; git config user.name b; git config core.fsmonitor false; " +
      "git init -q up; git -C up -c user.name=a -c user.email=b commit -q --allow-empty -m x; " +
      "git -c protocol.file.allow=always submodule add -q ./up sub; git config pull.rebase true; git config remote.origin.tagopt --no-tags",
  );
  assertMatch(await at.run("git fetch"), /^exit code: 128/);
  assertMatch(await at.run("git push origin main"), /^exit code: 128/);
});

test("R-21 a rule for push covers no remote of a repository that a command made", async () => {
  await using at = await repository();
  at.allow("run_bash(git push *)");
  await at.outside(
    "rm -rf .git; echo 'git init -q; git remote add origin https://127.0.0.1:9/x' > make",
  );
  assertMatch(await at.run("sh make"), /^exit code: 0/);
  assertMatch(await at.run("git push origin main"), MADE_BEFORE);
});

test("R-21 git with the user's credentials writes git's folders and nothing else", async () => {
  await using at = await repository();
  await using server = serve(at.base);
  await at.outside(
    `rm -rf .git/hooks; git init -q --bare ../up.git; git push -q ../up.git main; ` +
      `git remote add origin ${server.url}/up.git`,
  );
  at.allow("run_bash(git fetch *)");
  assertMatch(await at.run("git fetch origin"), /^exit code: 0/);
  assertEquals(
    await at.outside("git rev-parse -q origin/main"),
    await at.outside("git rev-parse HEAD"),
  );
  // A command that was killed may leave links.
  const victim = `${at.base}/home/.bashrc`;
  await Deno.writeTextFile(victim, "mine\n");
  await at.outside(`rm -f .git/FETCH_HEAD; ln -s ${victim} .git/FETCH_HEAD`);
  await at.run("git fetch origin");
  await at.outside(`rm -rf .git/refs/remotes; ln -s ${at.base}/home .git/refs/remotes`);
  await at.run("git fetch origin");
  assertEquals(await Deno.readTextFile(victim), "mine\n");
  assertEquals(at.has("home/origin"), false);
  // The user's own link stays.
  await at.outside("ln -s ../../listed .git/lfs");
  await at.run("git tag v1");
  assertEquals(at.has("work/.git/lfs"), true);
  // In other layouts, too.
  await at.outside("rm .git/refs/remotes; git worktree add -q tree; git clone -q --bare . .bare");
  const fetch = "git fetch -q origin main";
  const beforeYes = () => Promise.resolve();
  assertMatch(await at.run(fetch, { folder: `${at.folder}/tree`, beforeYes }), /^exit code: 0/);
  await at.outside(
    `mkdir b; mv .bare b; echo gitdir: ./.bare > b/.git; cd b; git remote set-url origin ${server.url}/up.git`,
  );
  assertMatch(await at.run(fetch, { folder: `${at.folder}/b`, beforeYes }), /^exit code: 0/);
  await at.outside("rm -rf .git/branches; ln -s x .git/branches");
  assertMatch(await at.run(fetch), /^asked: may run any program/);
});

test("R-21 git with the user's credentials writes no folders that commands may write", async () => {
  await using at = await repository();
  await at.outside("rm -rf .git/hooks; git remote add origin far:/none");
  using _ = withVariable("GIT_SSH_COMMAND", `echo | tee ${at.base}/listed/no; false`);
  at.allow("run_bash(git fetch *)");
  assertMatch(await at.run("git fetch origin"), /listed.no: Read-only file system/);
});

/** What makes git use other files, addresses or branches than a question says; `where` if the question says it. */
const ELSEWHERE: [prepare: string, command: string, where?: string][] = [
  ["ln -s ~/.netrc .git/packed-refs", "git push origin main"],
  ["mkdir -p .git/info; ln -s ~/.netrc .git/info/grafts", "git push origin main"],
  ["echo ~/x > .git/info/grafts", "git fetch"],
  ["rm -r .git/refs/heads; ln -s ~ .git/refs/heads", "git fetch"],
  ["echo ~/private/.git/objects > .git/objects/info/alternates", "git push"],
  ["git remote set-url origin https://127.0.0.1:9/x@github.com/a/b.git", "git push"],
  ["git remote set-url origin 'https://127.0.0.1:9?@github.com/a/b.git'", "git push"],
  ["git remote set-url origin evil.example:foo@github.com:a/b.git", "git push"],
  ["git config remote../up.git.url https://127.0.0.1:9/x", "git push ./up.git main"],
  ["git config remote.origin.mirror true", "git push"],
  ["git config remote.origin.fetch +refs/heads/*:refs/heads/*", "git fetch"],
  ["git init -q --bare sub; git -C sub remote add origin https://127.0.0.1:9/x", "git -C sub push"],
  ["mkdir sub", "git -C sub push"],
  ["git config remote.origin.fetch +refs/*:refs/*", "git fetch"],
  ["git config remote.origin.fetch +main:precious", "git fetch origin"],
  [":", "git fetch origin main:refs/replace/1"],
  [":", "git fetch -f origin main:side"],
  [":", "git fetch origin +main"],
  ["git remote set-url origin https://ann:token@127.0.0.1:9/x", "git ls-remote"],
  ["mkdir -p .git/objects/ab; chmod 311 .git/objects/ab", "git push"],
  [
    "(head -c 1100000 /dev/zero | tr '\\0' '#'; echo; echo ~/x) > .git/objects/info/alternates",
    "git push",
  ],
  ["mkfifo .git/refs/heads/x", "git push"],
  ["for i in 1 2 3; do git remote add r$i https://127.0.0.1:9/$i; done", "git fetch --all"],
  ["git config remote.https://127.0.0.1:9/y.fetch a", "git fetch --all"],
  ["git config 'remote.--upload-pack=cat.url' https://127.0.0.1:9/x", "git fetch --all"],
  ["git config 'remote.--recurse-submodules=yes.url' https://127.0.0.1:9/x", "git fetch --all"],
  ["git config branch.main.remote --upload-pack=cat", "git fetch"],
  [`git remote set-url origin ssh://github.com.${"x".repeat(190)}@127.0.0.1/x`, "git push"],
  ["git remote set-url origin pass=git@127.0.0.1:x", "git push"],
  ["git remote set-url origin https://evil.example\u2215github.com/x", "git push"],
  [
    "git config core.repositoryformatversion 1; git config extensions.partialclone https://127.0.0.1:9/y",
    "git push origin main",
    "https://127.0.0.1:9/x or https://127.0.0.1:9/y",
  ],
  [
    "git config remote.origin.pushurl https://127.0.0.1:9/y; git config remote.origin.promisor true",
    "git push origin main",
    "https://127.0.0.1:9/y or https://127.0.0.1:9/x",
  ],
  [
    "git remote add lazy https://127.0.0.1:9/y; git config remote.lazy.partialclonefilter blob:none",
    "git push origin main",
    "https://127.0.0.1:9/x or https://127.0.0.1:9/y",
  ],
  [
    "git remote add lazy https://127.0.0.1:9/y; git config remote.lazy.promisor true",
    "git push origin main",
    "https://127.0.0.1:9/x or https://127.0.0.1:9/y",
  ],
];

test("R-21 git uses nothing that its question does not say", async () => {
  const { at, reset } = await resettable();
  await using _ = at;
  for (const [prepare, command, where] of ELSEWHERE) {
    await reset();
    await at.outside(prepare);
    if (where === undefined) at.allow("run_bash(git *)");
    const isReading = command.startsWith("git ls-remote");
    const asked = await at.run(command, isReading ? { leave: "sandbox" } : {});
    if (where === undefined) assertMatch(asked, /^asked: may run any program/, prepare);
    else assertStringIncludes(asked, where);
    at.permissions.disallow("run_bash(git *)", at.folder);
  }
});

test("R-21 git with the user's credentials is the user's git, and alone in the repository", async () => {
  await using at = await repository();
  await at.outside("rm -rf .git/hooks; git remote add origin https://127.0.0.1:9/x");
  at.allow("run_bash(git fetch *)");
  const plant = "printf '#!/bin/sh\\necho planted' > .venv/bin/git; chmod +x .venv/bin/git";
  assertMatch(await at.run(`mkdir -p .venv/bin; ${plant}`), /^exit code: 0/);
  assertMatch(await at.run("git fetch origin"), /^exit code: 128/);
  using other = Deno.openSync(`${at.folder}/.git/.`);
  other.lockSync(false);
  await assertRejects(() => at.run("git fetch origin"), Error, "another command changes it");
});

test("R-21 git with the user's credentials has only settings that run nothing, all of the user's", async () => {
  await using at = await repository();
  await at.outside(
    "rm -rf .git/hooks; git remote add origin ssh://127.0.0.1/x; " +
      `git config --global core.sshCommand "echo mine \\$(cat ${at.base}/home/.netrc)>&2; false"`,
  );
  await Deno.writeTextFile(`${at.base}/home/.netrc`, "secret");
  using _ = withVariable("GIT_CONFIG_GLOBAL", `${at.base}/home/.gitconfig`);
  const right = { kind: "credentials", gitFolder: `${at.folder}/.git` } as const;
  // A program changes the settings after the decision.
  await at.outside(`git config core.sshCommand "sh ${at.folder}/evil.sh"`);
  const result = await at.run("git fetch origin", { right, isDecided: true });
  assertStringIncludes(result, "mine secret");
  assertEquals([at.has("pwned"), at.has("work/ran")], [false, false]);
});

test("R-21 a push that sets the upstream does so, as commands cannot change the settings", async () => {
  await using at = await repository();
  await using server = serve(at.base);
  await at.outside(
    "rm -rf .git/hooks; git init -q --bare ../listed/up.git; " +
      `git remote add origin ${server.url}/listed/up.git; git switch -qc topic`,
  );
  const beforeYes = () => Promise.resolve();
  const result = await at.run("git push -u origin HEAD", { beforeYes });
  assertStringIncludes(result, "topic tracks topic of origin");
  assertEquals(await at.outside("git rev-parse --abbrev-ref @{u}"), "origin/topic\n");
});

test("R-21 in a repository that a command made, each push and fetch asks", async () => {
  await using at = await repository();
  await Deno.writeTextFile(
    `${at.folder}/make`,
    "git init -q new; git -C new remote add origin https://127.0.0.1:9/x; rm -r new/.git/hooks",
  );
  assertMatch(await at.run("sh make"), /^exit code: 0/);
  // No command can change that, the user can.
  await at.run(
    "cd new; git config --unset copilot.made; sed -i /made/d .git/config; rm .git/config",
  );
  const folder = `${at.folder}/new`;
  at.permissions.allow({ rule: "run_bash(git fetch *)" }, folder);
  assertMatch(await at.run("git fetch origin", { folder }), MADE_BEFORE);
  await at.run("git fetch origin", { folder, beforeYes: () => Promise.resolve() });
  assertMatch(await at.run("git fetch origin", { folder }), MADE_BEFORE);
  await at.outside("git -C new config --unset copilot.made");
  assertMatch(await at.run("git fetch origin", { folder }), /^exit code: 128/);
});

test("R-21 git runs outside of the sandbox what the question showed, and while a job can change that, no rule covers it", async () => {
  await using at = await repository();
  await Deno.writeTextFile(
    `${at.folder}/p.sh`,
    `mkfifo go; ${AT_X}; git -C x remote add origin https://127.0.0.1:9/x; touch made; cat go; exit 0`,
  );
  const job = at.run("sh p.sh", { inBackground: true });
  await waitUntil(() => at.has("work/made"));
  const changed = /^Refused: the repository's settings changed meanwhile. Try again[.]$/;
  const set = (value: string, repository = "y") =>
    at.outside(`git -C ${repository} config core.gitProxy '${value}'`);
  const [x, y] = ["x", "y"].map((name) => `${at.folder}/${name}`);
  const rule = "run_bash(git fetch *)";
  for (const folder of [x!, y!]) at.permissions.allow({ rule }, folder);
  const fetch = (folder = y!, beforeYes?: () => Promise<unknown>) =>
    at.run("git fetch origin", { folder, ...beforeYes && { beforeYes } });
  const asked =
    `asked: may run programs that this repository names (${at.folder}/x/.git, which a running command can write) and fetches from https://127.0.0.1:9/x with your credentials, so it runs outside of the sandbox`;
  assertEquals(await fetch(x), asked);
  assertMatch(await fetch(x, () => set("./evil.sh", "x")), changed);
  await at.outside("git -C x config --unset core.gitProxy; echo > go");
  await job;
  assertMatch(await fetch(x), MADE_BEFORE);
  await at.outside("git init -q y; git -C y remote add origin https://127.0.0.1:9/x");
  assertMatch(await fetch(), /^exit code: 128/);
  at.permissions.disallow(rule, y!);
  assertMatch(await fetch(y, () => set("./evil.sh")), changed);
  // Also in what the question cuts.
  const long = `: ${"x".repeat(120)}; `;
  await set(`${long}false`);
  assertMatch(await fetch(y, () => set(`${long}true`)), changed);
  assertMatch(await fetch(y, () => Promise.resolve()), /^exit code: 128/);
});

test("R-21 what git runs outside of the sandbox has not changed since the question", async () => {
  await using at = await repository();
  await at.outside(
    "git init -q --bare ../up.git; git remote add origin far:$(realpath ../up.git); printf 'shift; eval \"$*\"' > ~/ssh; printf '#!/bin/sh\\nexit 0\\n' > .git/hooks/pre-push; " +
      "chmod +x .git/hooks/pre-push; cp .git/hooks/pre-push tool; git config core.fsmonitor ./tool; mkdir -p .git/remotes; echo URL: far:/none > .git/remotes/two",
  );
  using _ = withVariable("GIT_SSH_COMMAND", `sh ${at.base}/home/ssh`);
  const changes: [path: string, command: string][] = [
    [".git/hooks/pre-push", "git push origin main"],
    [".git/remotes/two", "git push two main"],
    ["tool", "git push origin main"],
  ];
  for (const [path, command] of changes) {
    // It has the same size, time and number.
    const change = "cp -p $f old; tr 0xU xyV < old > new; cat new > $f; touch -r old $f";
    const said = await at.run(command, { beforeYes: () => at.outside(`f=${path}; ${change}`) });
    assertMatch(said, /^Refused: the repository's settings changed meanwhile/, path);
    await at.outside(`cat old > ${path}`);
  }
  // Positive control.
  const read = () => at.outside("cat .git/hooks/pre-push tool .git/remotes/two");
  const said = await at.run("git push origin main", { beforeYes: read });
  assertMatch(said, /^exit code: 0/);
});
