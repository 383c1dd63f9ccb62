/** git in the sandbox: what it writes there unasked, and what it runs of a folder that a command prepared. */

import { findProgram, programFolders } from "../../src/find_program.ts";
import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { PathTable } from "../../src/safety/path_table.ts";
import { findSandbox } from "../../src/safety/sandbox/probe.ts";
import { noticeLines } from "../../src/session/notices.ts";
import type { SessionEvent } from "../../src/session/frontend.ts";
import { openPermissions } from "../../src/safety/permissions.ts";
import type { SandboxMode } from "../../src/safety/settings.ts";
import type { Right } from "../../src/types/confine.ts";
import { waitUntil } from "../helpers/wait_until.ts";
import { builtinTools } from "../../src/tools/mod.ts";
import { runInBackground } from "../../src/tools/shell/background.ts";
import { jobStore } from "../../src/tools/shell/jobs.ts";

const found = await findSandbox(new PathTable({ home: Deno.env.get("HOME")! }));
const ignore = typeof found === "string" || found.by !== "bubblewrap";
const tool = builtinTools.find(({ name }) => name === "run_bash")!;

/** Sets a variable of this process for a while. */
function withVariable(name: string, value: string): Disposable {
  Deno.env.set(name, value);
  return { [Symbol.dispose]: () => Deno.env.delete(name) };
}

/** A folder with a repository; commands run there as in a session in mode `auto`. */
async function repository(sandbox: SandboxMode = "workspace-write") {
  const base = await Deno.realPath(await Deno.makeTempDir());
  const folder = `${base}/work`;
  const own = `${base}/home/.config/copilot`;
  for (const at of [own, folder, `${base}/listed`]) await Deno.mkdir(at, { recursive: true });
  const listed = JSON.stringify({ sandboxWrite: [`${base}/listed`] });
  await Deno.writeTextFile(`${own}/permissions.json`, listed);
  await Deno.writeTextFile(`${base}/home/.gitconfig`, "[user]\nname = Ann\nemail = a@b.c\n");
  const outside = async (line: string) => {
    const { stdout } = await new Deno.Command("sh", {
      ...{ args: ["-c", line], cwd: folder, clearEnv: true },
      env: { HOME: `${base}/home`, PATH: Deno.env.get("PATH")! },
      // git waits at a pipe without end.
      signal: AbortSignal.timeout(20_000),
    }).output();
    return new TextDecoder().decode(stdout);
  };
  await outside("git init -qb main . && echo a > a && git add a && git commit -qm one");
  await Deno.writeTextFile(
    `${folder}/evil.sh`,
    `touch '${folder}/ran'; touch '${base}/pwned'; cat >/dev/null; exit 0\n`,
  );
  const env: Record<string, string> = { HOME: `${base}/home`, PATH: Deno.env.get("PATH")! };
  const permissions = openPermissions(
    { approve: "auto", sandbox },
    (name) => env[name],
  );
  const { signal } = new AbortController();
  let programs: readonly string[] | undefined;
  const notices: string[] = [];
  const onEvent = (event: SessionEvent) => {
    if (event.type === "session_notice") notices.push(...noticeLines(event.notice, "flags"));
  };
  const refuse = () => Promise.resolve({ choice: "refuse", reason: "" } as const);
  permissions.frontend = { approve: refuse, onEvent };
  /** The reason of the question, or what the command printed. */
  const run = async (
    command: string,
    {
      folder: workingDir = folder,
      inBackground = false,
      isDecided = false,
      right,
      leave,
      beforeYes,
    }: {
      folder?: string;
      isDecided?: boolean;
      beforeYes?: () => Promise<unknown>;
      inBackground?: boolean;
      right?: Right;
      leave?: "network" | "sandbox";
    } = {},
  ) => {
    workingDir = await Deno.realPath(workingDir);
    let asked: string | undefined;
    const policy = permissions.policy(async ({ reason, programs: named }) => {
      asked = reason;
      programs = named;
      await beforeYes?.();
      return beforeYes ? { choice: "once" } : { choice: "refuse", reason: "" };
    });
    const confine = permissions.confine(() => workingDir);
    const env = ["GIT_SSH_COMMAND", "GIT_CONFIG_GLOBAL"];
    const context = { workingDir, maxOutputChars: 4000, signal, confine, env };
    const decision = await policy.decide(
      tool,
      { command, ...leave && { leave, reason: "x" } },
      context,
    );
    if (!decision.allow && !isDecided) return beforeYes ? decision.reason : `asked: ${asked}`;
    right ??= decision.allow ? decision.right : undefined;
    await using jobs = jobStore();
    const given = { ...context, jobs, ...right && { right } };
    const ran = inBackground
      ? await runInBackground({ command }, given, 30_000)
      : await tool.run({ command, timeout_seconds: 60 }, given);
    return typeof ran === "string" ? ran : ran.content;
  };
  return {
    ...{ base, folder, outside, run, permissions, notices },
    programs: () => programs,
    allow: (rule: string) => permissions.allow({ rule }, folder),
    has: (path: string) => {
      try {
        return Deno.lstatSync(`${base}/${path}`) !== undefined;
      } catch {
        return false;
      }
    },
    [Symbol.asyncDispose]: () => Deno.remove(base, { recursive: true }),
  };
}

Deno.test({
  name:
    "R-21 git commits, merges, rebases and stashes in the sandbox unasked, in the person's name",
  ignore,
  async fn() {
    await using at = await repository();
    const lines = [
      "echo b > b; git add -A && git commit -qm two",
      "git checkout -qb side; echo c > c; git add c; git commit -qm three; git checkout -q main",
      "git merge -q --no-ff -m four side; git tag v1; git branch -d side",
      "echo d >> a; git stash -q; git stash pop -q; git commit -qam five; git rebase -q HEAD~1",
      "echo e >> a; echo u > u; git stash -qu && git stash pop -q && git checkout -q a && rm u",
    ];
    for (const line of lines) assertMatch(await at.run(line), /^exit code: 0/, line);
    assertEquals(
      await at.outside("git log --first-parent --format='%an %ae %s'"),
      [
        ...["Ann a@b.c five", "Ann a@b.c four", "Ann a@b.c two", "Ann a@b.c one", ""],
      ].join("\n"),
    );
    assertEquals(
      await at.outside("git tag; git status --short"),
      "v1\n?? evil.sh\n".replace(/.*evil.*\n/, ""),
    );
    // What was missing was there for as long as the commands ran.
    for (const name of ["commondir", "config.worktree", "modules", "worktrees"]) {
      assertEquals(at.has(`work/.git/${name}`), false, name);
    }
  },
});

Deno.test({
  name: "R-21 git commits in a linked work tree, in the folder and as the folder",
  ignore,
  async fn() {
    await using at = await repository();
    await at.outside("git worktree add -q in; git worktree add -q ../out; rm -r .git/hooks");
    const state = "find .git -type d -not -path '.git/objects/??' | sort";
    const before = await at.outside(state);
    assertMatch(await at.run("cd in && git commit -q --allow-empty -m in"), /^exit code: 0/);
    const folder = `${at.base}/out`;
    assertMatch(await at.run("git commit -q --allow-empty -m out", { folder }), /^exit code: 0/);
    assertEquals(
      await at.outside("git log -1 --format=%s in --; git log -1 --format=%s out --"),
      "in\nout\n",
    );
    assertEquals(await at.outside(state), before);
  },
});

Deno.test({
  name: "R-21 a command beside git changes nothing that makes git run programs",
  ignore,
  async fn() {
    await using at = await repository();
    const names =
      "config config.worktree commondir hooks info modules worktrees objects/info/alternates";
    await Deno.writeTextFile(
      `${at.folder}/s.sh`,
      `cd .git; echo > HEAD2; for f in ${names}; do
        rm -rf $f; mv $f moved; ln -sfn /tmp $f; echo evil > $f; mkdir $f; cp ../evil.sh $f/pre-commit
      done
      mv objects/info objects/info2; mv objects objects2; cd ..; mv .git git2; cat .git/commondir; ls -A .git/modules`,
    );
    const state =
      "cd .git && find . -not -name '*.sample' -printf '%p %y %l\\n' | sort && cat config";
    const before = await at.outside(state);
    const printed = await at.run("git tag one; sh s.sh 2>/dev/null");
    assertEquals(printed, "exit code: 0\nstdout:\n.");
    // Positive control: what git reads as no more than data can be written.
    assertEquals(at.has("work/.git/HEAD2"), true);
    await at.outside("rm -rf .git/HEAD2 .git/moved .git/refs/tags/one");
    assertEquals(await at.outside(state), before);
  },
});

/** What is there already, and a command of git that would run `evil.sh` with it. */
const PLANTED: [name: string, prepare: string, command: string][] = [
  [
    "fsmonitor of a repository of its own",
    "git init -q vendor; git -C vendor config core.fsmonitor 'sh ../evil.sh; false'",
    "git -C vendor add .",
  ],
  [
    "a filter that looks harmless",
    "git init -q vendor; cd vendor; git config filter.lfs.clean 'git-lfs clean; sh ../evil.sh'; echo '* filter=lfs' > .gitattributes; echo 1 > f",
    "cd vendor && git add .",
  ],
  [
    "a folder of hooks behind a comment",
    "git init -q vendor; mkdir 'vendor/evil # x'; (echo '#!/bin/sh'; cat evil.sh) > 'vendor/evil # x/pre-commit'; chmod +x 'vendor/evil # x/pre-commit'; git -C vendor config core.hooksPath 'evil # x'",
    "git -C vendor -c user.name=a -c user.email=b commit -qm x --allow-empty",
  ],
  [
    "another repository behind commondir",
    "git init -q vendor; git init -q other; git -C other config core.fsmonitor 'sh ../evil.sh; false'; echo ../../other/.git > vendor/.git/commondir",
    "git -C vendor add .",
  ],
  [
    "the hooks of a repository that is pushed to",
    "git init -q --bare up.git; (echo '#!/bin/sh'; cat evil.sh) > up.git/hooks/pre-receive; chmod +x up.git/hooks/pre-receive",
    "git push -q ./up.git main",
  ],
];

for (const [name, prepare, command] of PLANTED) {
  Deno.test({
    name: `R-21 git runs in the sandbox what a repository names: ${name}`,
    ignore,
    async fn() {
      await using at = await repository();
      await Deno.writeTextFile(`${at.folder}/prepare.sh`, prepare);
      await at.outside("sh prepare.sh");
      await at.run(command);
      assertEquals([at.has("work/ran"), at.has("pwned")], [true, false]);
      // Positive control, with something new to add or to push.
      const fresh = "echo x >> vendor/f; echo x > x; git add x; git commit -qm x";
      await at.outside(`(${fresh}); ${command}`);
      assertEquals(at.has("pwned"), true);
    },
  });
}

Deno.test({
  name: "R-21 push, fetch and signing ask, and name the hooks that they run",
  ignore,
  async fn() {
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
  },
});

/** Lines that leave the sandbox with git in another form than the one that a rule covers. */
const OTHER_FORMS = [
  ...["git pull --ff-only", "git pull origin main", "git fetch https://example.com/x"],
  ...["git push --recurse-submodules=on-demand origin", "git push --recurse-sub=only origin"],
  ...[
    "git push --exec=./evil.sh origin",
    "git fetch -j 4 origin",
  ],
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

Deno.test({
  name: "R-21 git leaves the sandbox by a rule in one form only",
  ignore,
  async fn() {
    await using at = await repository();
    await at.outside(
      "git remote add origin https://127.0.0.1:9/x; git config branch.main.remote origin; mkdir sub; " +
        "ln -s $(which git) git; git config user.signingkey x",
    );
    at.allow("run_bash");
    assertMatch(await at.run("git pull"), /127.0.0.1/);
    at.permissions.disallow("run_bash", at.folder);
    for (const words of ["*", "-C sub *", "-c a.b=c *", "--git-dir .git *", "--work-tree . *"]) {
      at.allow(`run_bash(git ${words})`);
    }
    for (
      const rule of ["cd *", "env git *", "./git *", "ls *", "xargs git log", "sh -c 'git log'"]
    ) {
      at.allow(`run_bash(${rule})`);
    }
    for (const line of OTHER_FORMS) {
      assertMatch(await at.run(line), /^asked: may run any program as you, by settings/, line);
    }
    for (const line of [...OTHER_FORMS, ...LOCAL_FORMS]) {
      const said = await at.run(line, { leave: "sandbox" });
      assertMatch(said, /^asked: may run any program as you, by settings/, line);
    }
    for (const line of ["git push -u origin main", "git -C sub fetch 2>&1 | tail -5"]) {
      assertMatch(await at.run(line), /127.0.0.1/, line);
    }
    // The user's remote may have another name. Without it, no path is used instead.
    await at.outside(
      "git remote rename origin up; git checkout -qb two; echo gitdir: $PWD/.git > origin",
    );
    assertMatch(await at.run("git push"), /^exit code: 128/);
    await at.outside("git checkout -q main; git remote rename up origin");
    assertMatch(await at.run("git ls-remote -h origin", { leave: "sandbox" }), /127.0.0.1/);
  },
});

Deno.test({
  name:
    "R-21 a push or fetch with the user's credentials runs nothing of submodules or later hooks",
  ignore,
  async fn() {
    await using at = await repository();
    await at.outside(
      `printf 'shift; eval "$*"' > ~/ssh; git clone -q --bare . ../listed/up.git; ` +
        "git remote add origin far:$(realpath ../listed/up.git); git init -qb main m; git -C m commit -q --allow-empty -m x; " +
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
  },
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

Deno.test({
  name: "R-21 the question about push, fetch and pull says where to or from, if that is certain",
  ignore,
  async fn() {
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
    for (
      const command of [
        "git push https://x.y/d",
        "./prepare.sh; git push b",
        "GIT_DIR=c git push b",
      ]
    ) {
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
  },
});

Deno.test({
  name: "R-21 push, fetch and pull stay in the sandbox for a repository that commands can write",
  ignore,
  async fn() {
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
    // Positive control.
    await at.outside("git push odd main");
    assertEquals(at.has("pwned"), true);
  },
});

Deno.test({
  name: "R-21 a new branch without its upstream, and a bare repository in the work tree",
  ignore,
  async fn() {
    await using at = await repository();
    await at.outside(
      "git init -q --bare up.git; git add -f up.git; git update-ref refs/remotes/o/x main; git config remote.o.fetch '+refs/heads/*:refs/remotes/o/*'; git config remote.o.url x",
    );
    assertMatch(await at.run("git checkout -b x o/x"), /Call again with leave "sandbox"/);
    // What is created in its folder for the command is not added.
    assertMatch(await at.run("git add -A && git commit -qm two"), /^exit code: 0/);
    const names = await at.outside("git ls-files up.git; git branch --show-current");
    assertMatch(names, /up.git\/HEAD\n[^]*\nx\n$/);
    assertEquals(/commondir|alternates|worktree/.test(names), false);
  },
});

Deno.test({
  name: "R-21 git ignores what the user ignores and what is hidden, and knows the user's aliases",
  ignore,
  async fn() {
    for (const own of [".config/git/ignore", ".ignored"]) {
      await using at = await repository();
      await at.outside(
        `git config --global alias.ci 'commit -q'; git config --global alias.sh '!echo ran'; ` +
          `git config --global alias.gp '-c http.extraHeader="X: s3cr3t" push'; ` +
          `git config --global alias.gq 'push https://ann:s3cr3t/x@h/x?private_token=s3cr3t'; ` +
          `mkdir -p ~/.config/git; echo '*.log' > ~/${own}; mkdir sub; echo KEY > .env; ` +
          "echo x | tee x.log sub/b; git init -q inner; echo KEY | tee sub/.env inner/.env 'sub/.env.[*]? '",
      );
      if (own === ".ignored") {
        await at.outside("git config --global core.excludesFile '~/.ignored'");
      }
      const lines =
        "git add -A . ':!inner' && git ci -m two && cd inner && git add -A && git ci -m three";
      const said = await at.run(lines);
      assertMatch(said, /^exit code: 1/);
      assertStringIncludes(said, "nothing to commit");
      assertEquals(
        await at.outside("git log --format=%s --name-only -1"),
        "two\n\nevil.sh\nsub/b\n",
      );
      assertMatch(await at.run("git sh"), /'sh' is not a git command/);
      const variables = await at.run("git tag four; env");
      assertMatch(variables, /=commit -q/);
      assertEquals(variables.includes("s3cr3t"), false);
      // No link of a command, and no setting of the repository, shows a file that is hidden.
      await at.outside(`git config core.excludesFile ${at.base}/home/.gitconfig`);
      assertEquals((await at.run("git tag one; cat /dev/gitignore")).includes("Ann"), false);
      await at.outside(
        `git config --unset core.excludesFile; git config --global core.excludesFile '${at.folder}/ig'`,
      );
      assertEquals(
        (await at.run(`ln -s ${at.base}/home/.gitconfig ig; git tag two`)).includes("Ann"),
        false,
      );
      assertEquals((await at.run("git tag three; cat /dev/gitignore")).includes("Ann"), false);
    }
  },
});

Deno.test({
  name: "R-21 of a hidden file that git tracks, commands see what the index has",
  ignore,
  async fn() {
    await using at = await repository();
    const names = ".env sub/.env.local";
    // A clone just made: git compares the contents of files that are as young as its index.
    await at.outside(`mkdir sub; echo PLACE | tee ${names}; git add -A; git commit -qm env`);
    const plain = await at.run(
      "echo x > new; git status --short; git diff; cat .e*; git -C sub diff",
    );
    assertMatch(plain, /^exit code: 0\nstdout:\n\?\? new\nPLACE$/);
    // Changes are neither shown nor added.
    await at.outside("echo SECRET > .env");
    const said = await at.run(
      "git add -A && git commit -qam two && git stash; git diff HEAD~1; cat .e*",
    );
    assertEquals(said.includes("SECRET"), false);
    assertEquals(await at.outside("git show --format= --name-only; cat .env"), "new\nSECRET\n");
    assertEquals(await at.outside("git status --short"), " M .env\n");
  },
});

Deno.test({
  name:
    "R-21 a change of branches that would replace a closed file asks, and is not done by halves",
  ignore,
  async fn() {
    await using at = await repository();
    await at.outside(
      "git checkout -qb one; echo a > AGENTS.md; git add -A; git commit -qm a; git checkout -qb two; " +
        "echo b > AGENTS.md; git commit -qam b; git checkout -q one; git branch same; echo x > AGENTS.md; git stash -q",
    );
    for (
      const command of ["checkout two", "switch two", "merge two", "reset --keep two", "rebase two"]
    ) {
      const said = await at.run(`git ${command}`);
      assertEquals(
        said,
        "asked: may run any program as you, by settings and hooks of repositories, and replaces AGENTS.md, which no command may write, so it runs outside of the sandbox",
      );
    }
    for (const command of ["cherry-pick two", "stash pop"]) {
      assertMatch(await at.run(`git ${command}`), /^asked: .* replaces AGENTS.md/);
    }
    assertMatch(
      await at.run("git checkout -q same && git checkout -qb new"),
      /^exit code: 0/,
    );
  },
});

Deno.test({
  name: "R-21 a rule for push or fetch covers nothing that came with the folder",
  ignore,
  async fn() {
    for (const [prepare, command, named] of CAME) {
      await using at = await repository();
      await at.outside(
        "rm -rf .git/hooks .git/branches; git remote add origin https://127.0.0.1:9/x",
      );
      for (const rule of ["git push *", "git fetch *"]) at.allow(`run_bash(${rule})`);
      await at.outside(prepare);
      const said = await at.run(command);
      assertStringIncludes(said, `may run programs that this repository names (${named}`);
    }
  },
});

Deno.test({
  name: "R-21 a rule for push or fetch covers a repository with ordinary settings",
  ignore,
  async fn() {
    await using at = await repository();
    for (const rule of ["git push *", "git fetch *"]) at.allow(`run_bash(${rule})`);
    await at.outside(
      "git remote add -t main -m main origin https://a:b@127.0.0.1:9/x; git config branch.main.remote origin; " +
        "git config branch.main.merge refs/heads/main; git config user.name b; git config core.fsmonitor false; " +
        "git init -q up; git -C up -c user.name=a -c user.email=b commit -q --allow-empty -m x; " +
        "git -c protocol.file.allow=always submodule add -q ./up sub; git config pull.rebase true",
    );
    assertMatch(await at.run("git fetch"), /^exit code: 128/);
    assertMatch(await at.run("git push origin main"), /^exit code: 128/);
  },
});

Deno.test({
  name: "R-21 a rule for push covers no remote of a repository that a command made",
  ignore,
  async fn() {
    await using at = await repository();
    at.allow("run_bash(git push *)");
    await at.outside(
      "rm -rf .git; echo 'git init -q; git remote add origin https://127.0.0.1:9/x' > make",
    );
    assertMatch(await at.run("sh make"), /^exit code: 0/);
    assertMatch(await at.run("git push origin main"), MADE_BEFORE);
  },
});

/** Serves a folder, as git's simple protocol over http reads a repository. */
function serve(folder: string) {
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    const file = await Deno.readFile(folder + new URL(request.url).pathname).catch(() => null);
    return new Response(file, { status: file === null ? 404 : 200 });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

Deno.test({
  name: "R-21 git with the user's credentials writes git's folders and nothing else",
  ignore,
  async fn() {
    await using at = await repository();
    await using server = serve(at.base);
    await at.outside(
      `rm -rf .git/hooks; git init -q --bare ../up.git; git push -q ../up.git main; ` +
        `git -C ../up.git update-server-info; git remote add origin ${server.url}/up.git`,
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
    await assertRejects(() => at.run(fetch), Error, ".git cannot be opened in the sandbox");
  },
});

Deno.test({
  name:
    "R-21 git with the user's credentials has only settings that run nothing, all of the user's",
  ignore,
  async fn() {
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
  },
});

Deno.test({
  name: "R-21 a push that sets the upstream does so, as commands cannot change the settings",
  ignore,
  async fn() {
    await using at = await repository();
    await at.outside(
      "rm -rf .git/hooks; git init -q --bare ../listed/up.git; " +
        "git remote add origin ../listed/up.git; git switch -qc topic",
    );
    const gitFolder = `${at.folder}/.git`;
    const right = { kind: "credentials", gitFolder, tracks: ["origin", "HEAD"] } as const;
    const result = await at.run("git push -u origin HEAD", { right });
    assertStringIncludes(result, "topic tracks topic of origin");
    assertEquals(await at.outside("git rev-parse --abbrev-ref @{u}"), "origin/topic\n");
  },
});

Deno.test({
  name: "R-21 a repository that a command made is the user's once they push or fetch there",
  ignore,
  async fn() {
    await using at = await repository();
    at.allow("run_bash(git fetch *)");
    await Deno.writeTextFile(
      `${at.folder}/make`,
      "git init -q new; git -C new remote add origin https://127.0.0.1:9/x; rm -r new/.git/hooks",
    );
    assertMatch(await at.run("sh make"), /^exit code: 0/);
    const table = `${at.base}/home/.local/state/copilot/made_repositories`;
    assertStringIncludes(await Deno.readTextFile(table), `${at.folder}/new/.git`);
    const folder = `${at.folder}/new`;
    assertMatch(await at.run("git fetch origin", { folder }), MADE_BEFORE);
    await at.run("git fetch origin", { folder, beforeYes: () => Promise.resolve() });
    assertEquals(await Deno.readTextFile(table), "");
    assertEquals(
      await at.run("git fetch origin", { folder }),
      "asked: fetches from https://127.0.0.1:9/x with your credentials",
    );
  },
});

const MADE_BEFORE = /^asked: .* and a command may have made this repository$/;
const COMMIT = "git commit -q --allow-empty -m x";
/** The beginning of a second repository in the folder itself, which git would take the folder for. */
const BARE =
  "git init -q --bare up.git; cp -r up.git/HEAD up.git/objects up.git/refs .; printf '[core]\\nrepositoryformatversion=0\\nbare=false\\nworktree=.\\nfsmonitor=sh ./evil.sh; false\\n' > config";
const AT_BREAK =
  "git commit -q --allow-empty -m two; GIT_SEQUENCE_EDITOR='echo break >' git rebase -q -i HEAD~1";

/** What a command that may write git's folders leaves there, and what a person does with git afterwards. */
const LEFT: [name: string, prepare: string, command: string][] = [
  ["the log is a link", "ln -sf $HOME/.bashrc .git/logs/HEAD", "git checkout -q -b x"],
  [
    "the log is a link in a folder that cannot be listed",
    "ln -sf $HOME/.bashrc .git/logs/HEAD; chmod 111 .git/logs",
    "git checkout -q -b x",
  ],
  [
    "the log is a link in a folder that is closed to writing",
    "ln -sf $HOME/.bashrc .git/logs/HEAD; chmod 500 .git/logs",
    "git checkout -q -b x",
  ],
  [
    "links beside one that cannot be removed",
    'for at in .git .git/logs .git/refs/heads; do ln -s x "$at/$(printf "\\377")"; done; ' +
    "for at in COMMIT_EDITMSG logs/HEAD logs/refs/heads/main; do ln -sf $HOME/.bashrc .git/$at; done",
    COMMIT,
  ],
  [
    "a branch whose log cannot be looked at",
    'b=$(printf "\\377"); git checkout -q -b "$b"; ln -sf $HOME/.bashrc ".git/logs/refs/heads/$b"',
    COMMIT,
  ],
  [
    "a folder whose name is not UTF-8",
    `mkdir ".git/$(printf '\\377')0"; ln -sf $HOME/.bashrc .git/logs/HEAD; ${AT_BREAK}; echo 'exec sh ./evil.sh' >> .git/rebase-merge/git-rebase-todo`,
    "git rebase --continue; git checkout -q -b x",
  ],
  [
    "a branch with the name of git's folder of objects",
    "git checkout -q -b objects/ab/x; ln -sf $HOME/.bashrc .git/logs/refs/heads/objects/ab/x",
    COMMIT,
  ],
  ["the message is a link", "ln -sf $HOME/.bashrc .git/COMMIT_EDITMSG", COMMIT],
  [
    "refs are links",
    "mkdir .git/refs/x; ln -s $HOME .git/refs/x/y",
    "git update-ref refs/x/y/f main",
  ],
  ["a folder that is none", `rm .git/HEAD; ${BARE}`, "git status"],
  ["a folder that is closed", `chmod 0 .git/HEAD; ${BARE}`, "git status"],
  ["a folder without refs", `mv .git/refs .git/r; ${BARE}`, "git status"],
  ["a pipe", `rm .git/HEAD; mkfifo .git/HEAD; ${BARE}`, "git status"],
  [
    "a rebase that goes on with a program",
    `${AT_BREAK}; echo 'exec sh ./evil.sh' >> .git/rebase-merge/git-rebase-todo`,
    "git rebase --continue",
  ],
  [
    "a list of what a rebase does that is closed to writing",
    `${AT_BREAK}; echo 'exec sh ./evil.sh' >> .git/rebase-merge/git-rebase-todo; chmod 400 .git/rebase-merge/git-rebase-todo`,
    "git rebase --continue",
  ],
  [
    "a long list of what a rebase does",
    `${AT_BREAK}; printf '# %120000s\\n' x >> .git/rebase-merge/git-rebase-todo; echo 'x sh ./evil.sh' >> .git/rebase-merge/git-rebase-todo`,
    "git rebase --continue",
  ],
  [
    "a list of what a rebase does with a sign that no argument can have",
    `${AT_BREAK}; printf 'exec sh ./evil.sh\\n#\\000\\n' >> .git/rebase-merge/git-rebase-todo`,
    "git rebase --continue",
  ],
  [
    "a list of what a rebase does that is too long for arguments",
    `${AT_BREAK}; printf 'exec sh ./evil.sh\\n#%3000000s\\n' x >> .git/rebase-merge/git-rebase-todo`,
    "git rebase --continue",
  ],
  [
    "a list of what a rebase does that is too large to search",
    `${AT_BREAK}; { echo exec sh ./evil.sh; head -c 11000000 /dev/zero | tr '\\0' '\\n'; } >> .git/rebase-merge/git-rebase-todo`,
    "git rebase --continue",
  ],
  [
    "a remote that no settings name",
    "mkdir -p .git/remotes .git/branches; git init -q --bare up.git; (echo '#!/bin/sh'; cat evil.sh) > up.git/hooks/pre-receive; " +
    "chmod +x up.git/hooks/*; echo 'URL: ./up.git' > .git/remotes/one; echo ./up.git > .git/branches/two",
    "git push one main; git push two main",
  ],
  [
    "conflicts that were resolved before, elsewhere",
    "id=1111111111111111111111111111111111111111; mkdir -p .git/rr-cache/$id; : > .git/rr-cache/$id/preimage; " +
    "echo evil > .git/rr-cache/$id/postimage; echo '* merge=union' > .gitattributes; " +
    "{ printf $id.-1; printf '\\t../home/.profile\\000'; printf $id | tr 1 2; printf '\\t%120000s\\000' x; } > .git/MERGE_RR",
    `${COMMIT}; grep -q evil ../home/.profile && touch ../home/.bashrc`,
  ],
  [
    "an index with a hook",
    // As git adds none of its own files to an index, one byte is changed in an index of version 2.
    "mkdir -p xgit/hooks; (echo '#!/bin/sh'; cat evil.sh) > xgit/hooks/post-checkout; chmod +x xgit/hooks/*; git add -f xgit; " +
    "perl -MDigest::SHA=sha1 -0777 -pi -e 's/xgit\\/hooks/.git\\/hooks/; substr($_, -20) = sha1(substr($_, 0, -20))' .git/index",
    "git checkout-index -a -f; git checkout -q -b y",
  ],
  ...["../home", "a/../../home", "$HOME"].map((to): [string, string, string] => [
    `an index with a file elsewhere: ${to}`,
    // The names of folders in it are exchanged by others of that length.
    `export to=${to} from=$(printf %s "${to}" | tr -c / x | sed s,^/,x,); ` +
    'mkdir -p "$from"; echo evil > "$from/.bashrc"; git add -f "$from"; ' +
    "perl -MDigest::SHA=sha1 -0777 -pi -e 's/\\Q$ENV{from}/$ENV{to}/; substr($_, -20) = sha1(substr($_, 0, -20))' .git/index",
    "git restore .",
  ]),
];

for (const [name, prepare, command] of LEFT) {
  Deno.test({
    name: `R-21 what a command leaves in git's folders leads a person's git nowhere: ${name}`,
    ignore,
    async fn() {
      await using at = await repository();
      const home = `${at.base}/home`;
      await Deno.writeTextFile(`${home}/.profile`, "own\n");
      await Deno.writeTextFile(`${at.folder}/p.sh`, prepare.replaceAll("$HOME", home));
      await at.run("git tag one; sh p.sh");
      await at.outside(command);
      const isWritten = at.has("home/.bashrc") || at.has("home/f");
      assertEquals([isWritten, at.has("pwned")], [false, false]);
      assertMatch(await at.outside("git rev-parse --git-dir"), /^\.git$/m);
    },
  });
}

for (const [name, prepare, command] of LEFT) {
  if (!/log is a link$|is none|goes on|elsewhere|with a hook/.test(name)) continue;
  Deno.test({
    name:
      `R-21 the next command undoes what a command of git left as the program was killed: ${name}`,
    ignore,
    async fn() {
      await using at = await repository();
      const home = `${at.base}/home`;
      await Deno.writeTextFile(`${home}/.profile`, "own\n");
      const module = new URL("../../src/safety/sandbox/git_folders.ts", import.meta.url);
      const view = { folder: at.folder, repositories: [`${at.folder}/.git`], network: false };
      const { signal } = await new Deno.Command(Deno.execPath(), {
        args: [
          "eval",
          `import { openGitFolders } from ${JSON.stringify(module.href)};
           await openGitFolders({ ...${JSON.stringify(view)}, places: new Map([[${
            JSON.stringify(at.folder)
          }, "write"]]), isComplete: true }, {});
           Deno.kill(Deno.pid, "SIGKILL");`,
        ],
      }).output();
      assertEquals([signal, at.has("work/commondir")], ["SIGKILL", true]);
      await at.outside(prepare.replaceAll("$HOME", home));
      assertMatch(await at.run("true"), /was (moved to|removed)/);
      await at.outside(command);
      const isWritten = at.has("home/.bashrc") || at.has("home/f");
      assertEquals([isWritten, at.has("pwned"), at.has("work/commondir")], [false, false, false]);
      assertMatch(await at.outside("git rev-parse --git-dir"), /^\.git$/m);
      assertEquals(await at.run("true"), "exit code: 0\nno output");
    },
  });
}

const HOOK = "printf '#!/bin/sh\\nsh ../work/evil.sh\\n' > $1/pre-commit; chmod +x $1/pre-commit";
/** Settings that name what is in the folder and may be missing; what a command makes of it. */
const NAMED: [settings: string, folder: string, plant: string][] = [
  [
    "core.fsmonitor scripts/fsm.sh",
    ".",
    "mkdir -p scripts; cp evil.sh scripts/fsm.sh; chmod +x scripts/fsm.sh",
  ],
  [
    "--global filter.fmt.clean 'sh fmt.sh %f'; echo '* filter=fmt' > .gitattributes; touch a",
    ".",
    "cp evil.sh fmt.sh",
  ],
  ["--global core.hooksPath own", ".", "mkdir own; set own; HOOK"],
  ["core.hooksPath deep/own", ".", "mkdir -p deep/own; set deep/own; HOOK"],
  ["core.hooksPath sub/own", "sub", "mkdir own; set own; HOOK"],
  [
    "core.hooksPath link/deep/own; mkdir -p real/deep; ln -s real link",
    ".",
    "rm link; mkdir -p link/deep/own real/deep/own; set link/deep/own; HOOK",
  ],
  [
    "core.hookspath sub/link/own; mkdir sub/real; ln -s real sub/link",
    ".",
    "rm sub/link; mkdir -p sub/link/own sub/real/own; set sub/link/own; HOOK",
  ],
  ["include.path ../more", ".", "printf '[core]\\nfsmonitor=sh ./evil.sh; false\\n' > more"],
  [
    "--global include.path $PWD/sub/more",
    "sub",
    "printf '[core]\\nfsmonitor=sh ./evil.sh; false\\n' > more",
  ],
];

for (const [settings, folder, plant] of NAMED) {
  Deno.test({
    name: `R-03 no command makes what git's settings name: git config ${settings}`,
    ignore,
    async fn() {
      const line = plant.replace("HOOK", HOOK);
      for (const isReal of [true, false]) {
        await using at = await repository();
        await Deno.mkdir(`${at.folder}/sub`);
        await at.outside(`git config ${settings}`);
        if (isReal) await at.outside(`cd ${folder}; ${line}`);
        else {
          const said = await at.run(`${line}; :`, { folder: `${at.folder}/${folder}` });
          assertMatch(said, /^exit code: 0/);
          const stash = "echo b >> a; git stash -qu && git stash pop -q";
          if (settings.includes("hooksPath")) assertMatch(await at.run(stash), /^exit code: 0/);
        }
        await at.outside(`git status; ${COMMIT}; cd sub; git status; ${COMMIT}`);
        assertEquals(at.has("pwned"), isReal);
      }
    },
  });
}

Deno.test({
  name:
    "R-03 no command makes a repository in a submodule without files, which git status looks into",
  ignore,
  async fn() {
    const evil = "git init -q m; git -C m config core.fsmonitor 'sh ../evil.sh; false'; " +
      "git -C m -c user.name=a -c user.email=b commit -q --allow-empty -m y";
    for (const [remove, isReal] of [["", true], ["", false], ["; rmdir m", false]] as const) {
      await using at = await repository();
      await at.outside(
        "git init -q ../m; git -C ../m commit -q --allow-empty -m x; " +
          "git -c protocol.file.allow=always submodule --quiet add ../m m; git commit -qm m; " +
          `git submodule --quiet deinit -f m; rm -r .git/modules; ls -d m${remove}`,
      );
      await Deno.writeTextFile(`${at.folder}/p.sh`, evil);
      await (isReal ? at.outside(evil) : at.run("sh p.sh"));
      await at.outside("git status");
      assertEquals(at.has("pwned"), isReal);
    }
  },
});

Deno.test({
  name: "R-21 while a command of git runs, and after it was killed, no other repository is found",
  ignore,
  async fn() {
    await using at = await repository();
    await Deno.writeTextFile(
      `${at.folder}/p.sh`,
      `rm -rf commondir .git/HEAD; ${BARE}; echo x > commondir; mkfifo go; cat go`,
    );
    const running = at.run("git tag one; sh p.sh");
    await waitUntil(() => at.has("work/go"));
    const status = "git status 2>&1; git branch x 2>&1; cd up.git && git status 2>&1";
    assertMatch(await at.outside(status), /^(fatal: .*commondir: Is a directory\n){2}/);
    assertEquals(at.has("pwned"), false);
    // As it stays where this program is killed now: the next commands change nothing of it.
    const killed = await at.run("rm -rf commondir; git tag two; git status");
    assertMatch(killed, /commondir: Is a directory/);
    await at.outside("echo > go");
    await running;
    assertMatch(await at.outside("git status"), /^On branch main/);
    assertEquals([at.has("pwned"), at.has("work/commondir")], [false, false]);
  },
});

Deno.test({
  name: "R-21 an index that is shared is looked at, too",
  ignore,
  async fn() {
    await using at = await repository();
    const split =
      "mkdir -p xgit/hooks; (echo '#!/bin/sh'; cat evil.sh) > xgit/hooks/post-checkout; " +
      "chmod +x xgit/hooks/*; git add -f xgit; git update-index --split-index";
    assertMatch(await at.run(split), /^exit code: 0/);
    // The sum at its end, by which git knows it, stays.
    await at.run("git tag one; perl -pi -e 's/xgit\\/hooks/.git\\/hooks/' .git/sharedindex.*");
    await at.outside("git checkout -q -- .; git checkout-index -a -f; git checkout -q -b y");
    assertEquals(at.has("pwned"), false);
    // One that git cannot list here, as it takes too long, may name them, too.
    assertMatch(await at.run("git tag two; echo >> .git/index"), /was moved to index[.]untrusted/);
    assertEquals(await at.outside("git reset -q; git status --short a"), "");
  },
});

Deno.test({
  name: "R-21 a job does not write git's folders, as the person may use git while it runs",
  ignore,
  async fn() {
    await using at = await repository();
    assertMatch(
      await at.run("touch .git/x; git tag one", { inBackground: true }),
      /Read-only file system/,
    );
    assertEquals(at.has("work/.git/x"), false);
    // A single git command with the network, too.
    const line = 'git rebase -q --exec "touch .git/x" --root';
    const right = { kind: "network" } as const;
    await at.run(line, { inBackground: true, right });
    assertEquals(at.has("work/.git/x"), false);
    assertMatch(await at.run(line, { right }), /^exit code: 0/);
    assertEquals(at.has("work/.git/x"), true);
  },
});

Deno.test({
  name: "R-21 of many submodules, a command of git writes the git folders of those that it names",
  ignore,
  async fn() {
    await using at = await repository();
    await at.outside(
      "git init -q ../m; git -C ../m commit -q --allow-empty -m x; " +
        "for n in 1 2 3 4 5 6; do git -c protocol.file.allow=always submodule --quiet add ../m m$n; done",
    );
    const touch = "for at in .git/modules/*; do touch $at/x; done";
    assertMatch(await at.run(`git -C m3 commit -q --allow-empty -m y; ${touch}`), /Read-only/);
    assertEquals(await at.outside("ls .git/modules/*/x"), ".git/modules/m3/x\n");
    assertEquals(await at.outside("git -C m3 log --format=%s"), "y\nx\n");
    assertMatch(await at.run("git commit -qm all"), /^exit code: 0/);
  },
});

Deno.test({
  name: "R-21 a line of git with a folder beside writes both, and another line only the folder",
  ignore,
  async fn() {
    await using at = await repository();
    const other = `${at.base}/other`;
    await Deno.mkdir(other);
    const line = `echo b > b && git add b && cp b ${other}`;
    assertMatch(await at.run(line, { right: { kind: "git", folder: other } }), /^exit code: 0/);
    assertEquals([at.has("other/b"), await at.outside("git diff --cached --name-only")], [
      true,
      "b\n",
    ]);
    const said = await at.run(`touch ${other}/c .git/c`, {
      right: { kind: "write", folder: other },
    });
    assertMatch(said, /Read-only file system/);
    assertEquals([at.has("other/c"), at.has("work/.git/c")], [true, false]);
  },
});

Deno.test({
  name: "R-21 commands see git's settings without credentials, which stay where they are",
  ignore,
  async fn() {
    await using at = await repository();
    await at.outside(
      "git init -q ../m; git -C ../m commit -q --allow-empty -m x; mkdir sub; " +
        "git -c protocol.file.allow=always submodule --quiet add ../m m; git worktree add -q ../out; " +
        "git remote add origin https://ann:s3cr3t@127.0.0.1:9/x; git remote add two git@127.0.0.1:x; " +
        "git config http.https://x.y.extraHeader 'Authorization: s3cr3t'; git config include.path ../more; " +
        "printf '[url \"https://s3cr3t@x.y/\"]\\ninsteadOf = x:\\n[sendemail] smtpPass = s3cr3t\\n' > more; " +
        "git -C m remote set-url origin https://s3cr3t@127.0.0.1:9/m",
    );
    const state = "cat .git/config .git/modules/m/config more";
    const before = await at.outside(state);
    assertEquals(before.match(/s3cr3t/g)?.length, 5);
    const line =
      "git remote -v; git config -l; git -C m remote -v; grep -rs s3cr3t . $(git rev-parse --git-common-dir); true";
    for (const folder of [at.folder, `${at.folder}/sub`, `${at.base}/out`]) {
      for (const start of ["", "git tag -f one; "]) {
        const said = await at.run(start + line, { folder });
        assertMatch(said, /^exit code: 0/);
        assertStringIncludes(said, "https://***@127.0.0.1:9/x");
        assertStringIncludes(said, "git@127.0.0.1:x");
        assertEquals(said.includes("s3cr3t"), false, said);
      }
    }
    assertEquals(await at.outside(state), before);
    await at.outside("git submodule --quiet deinit -f m");
    assertEquals((await at.run(line)).includes("s3cr3t"), false);
  },
});

Deno.test({
  name: "R-21 the network does not open git's folders to programs other than git",
  ignore,
  async fn() {
    await using at = await repository();
    for (const line of ["touch .git/x", "git tag one; touch .git/x"]) {
      assertMatch(
        await at.run(line, { right: { kind: "network" } }),
        /Read-only file system/,
        line,
      );
    }
    assertEquals(at.has("work/.git/x"), false);
    // Positive control: what git itself fetches arrives.
    await at.outside("git clone -q --bare . up.git; git -C up.git tag two main");
    const fetched = await at.run("git fetch -q --tags ./up.git", { right: { kind: "network" } });
    assertMatch(fetched, /^exit code: 0/);
    assertEquals(await at.outside("git tag"), "two\n");
  },
});

const EVIL = "core.fsmonitor 'sh ../evil.sh; false'";
const AT_X = "git init -q x; git -C x -c user.name=a -c user.email=b commit -q --allow-empty -m y";
const EVIL_BARE =
  "printf '[core]\\nrepositoryformatversion=0\\nbare=false\\nworktree=.\\nfsmonitor=sh ../evil.sh; false\\n' > config";
/** Moves git's folder of `x`, with settings that run a program, and leads git to it. */
const leadTo = (to: string) =>
  `mv x/.git ${to}; git config -f ${to}/config ${EVIL}; echo $PWD/x/.git > ${to}/gitdir; echo gitdir: $(realpath ${to}) > x/.git`;
const ENTRIES = "mkdir objects refs; echo 'ref: refs/heads/main' > HEAD";

/** Repositories that commands make, each separated by `;;`, and the user's command afterwards. */
const MADE: [name: string, prepare: string, command: string][] = [
  ["one in the index", `${AT_X}; git -C x config ${EVIL};; git add x`, "git status"],
  [
    "its hooks",
    `${AT_X}; mkdir -p x/.git/hooks; cp evil.sh x/.git/hooks/pre-commit; chmod +x x/.git/hooks/pre-commit`,
    `cd x && ${COMMIT}`,
  ],
  [
    "hooks behind a link, which come later",
    `mkdir h; ${AT_X}; rm -rf x/.git/hooks; ln -s ../../h x/.git/hooks;; (echo '#!/bin/sh'; cat evil.sh) > h/pre-commit; chmod +x h/pre-commit`,
    `cd x && ${COMMIT}`,
  ],
  [
    "hooks in a folder that cannot be listed",
    `${AT_X}; mkdir -p x/.git/hooks; (echo '#!/bin/sh'; cat evil.sh) > x/.git/hooks/pre-commit; chmod +x x/.git/hooks/*; chmod 311 x/.git/hooks x/.git x`,
    `cd x && ${COMMIT}`,
  ],
  [
    "an included file",
    `${AT_X}; git config -f more ${EVIL}; git -C x config include.path ../../more`,
    "cd x; git status",
  ],
  [
    "a link in the place of settings",
    `${AT_X}; mv x/.git/config more; ln -s ../../more x/.git/config;; git config -f more ${EVIL}`,
    "cd x; git status",
  ],
  ["a bare one", `mkdir x; cd x; ${ENTRIES}; ${EVIL_BARE}`, "cd x; git status"],
  [
    "a bare one in a folder whose name ends in a line break",
    `n=$(printf 'x\\n.'); mkdir "\${n%.}"; cd "\${n%.}"; ${ENTRIES}; ${EVIL_BARE}`,
    "cd x*; git status",
  ],
  ...[". ", " .", "\\357\\273\\277."].map((named): [string, string, string] => [
    `commondir leads to a folder whose name looks like ".": ${named}`,
    `mkdir -p x/.git; cd x/.git; ${ENTRIES}; printf '${named}' > commondir; d=$(cat commondir); mkdir "$d"; mv objects refs "$d"; git config -f "./$d/config" ${EVIL}`,
    "cd x; git status",
  ]),
  [
    'commondir leads to a folder whose name looks like "../.."',
    `${AT_X}; mkdir y; cd x/.git; mkdir -p worktrees/g; cd worktrees/g; echo ref: refs/heads/x > HEAD; printf '../.. ' > commondir; mkdir -p '../.. /objects' '../.. /refs'; git config -f '../.. /config' ${EVIL}; echo gitdir: ../x/.git/worktrees/g > ../../../../y/.git`,
    "cd y; git status",
  ],
  ["the folder itself", `mkdir -p $NEW; cd $NEW; ${ENTRIES}; ${EVIL_BARE}`, "cd $NEW; git status"],
  [
    "one in two steps",
    `mkdir x; cd x; ${ENTRIES}; rmdir refs; ${EVIL_BARE};; mkdir x/refs`,
    "cd x; git status",
  ],
  [
    "one that is renamed",
    `mkdir -p y/g; cd y/g; ${ENTRIES}; rm HEAD; git config -f config ${EVIL};; mkdir x; mv y/g x/.git; echo ref: refs/heads/x > x/.git/HEAD`,
    "cd x; git status",
  ],
  [
    "a file leads to it",
    `mkdir x y; cd y; ${ENTRIES}; ${EVIL_BARE}; echo 'gitdir: ../y' > ../x/.git`,
    "cd x; git status",
  ],
  [
    "a long file leads to one of two",
    `git init -q --separate-git-dir=y x; git -C x config ${EVIL}; printf '%0120000d' | tr 0 '\\n' >> x/.git`,
    "cd x; git status",
  ],
  [
    "a link leads to it",
    `mkdir x y; cd y; ${ENTRIES}; ${EVIL_BARE}; ln -s ../y ../x/.git`,
    "cd x; git status",
  ],
  [
    "commondir leads to its settings",
    `mkdir -p x/.git y; cd y; ${ENTRIES}; git config -f config ${EVIL}; mv HEAD ../x/.git; echo ../../y > ../x/.git/commondir`,
    "cd x; git status",
  ],
  [
    "one in a bare one",
    `git init -q --bare y; cd y; ${AT_X}; git -C x config core.fsmonitor 'sh ../../evil.sh; false'`,
    "cd y/x; git status",
  ],
  [
    "one in git's folder of a new one",
    `${AT_X}; mkdir -p x/.git/modules; cd x/.git/modules; git init -q --bare y; mkdir ../../m; git config -f y/config core.bare false; git config -f y/config core.worktree ../../../m; git config -f y/config core.fsmonitor 'sh ../../evil.sh; false'; echo 'gitdir: ../.git/modules/y' > ../../m/.git`,
    "cd x/m; git status",
  ],
  [
    "a file leads to it in objects of another one",
    `git init -q --bare y; ${AT_X}; ${leadTo("y/objects/g")};; git add x`,
    "git status",
  ],
  [
    "a file leads to it in a folder of objects, and it names the work tree",
    `git init -q --bare y; ${AT_X}; ${
      leadTo("y/objects/ab")
    }; rm y/objects/ab/gitdir; git config -f y/objects/ab/config core.worktree $PWD/x;; git add x`,
    "git status",
  ],
  [
    "a file leads to it in git's folder of a known one",
    `cat > q.sh <<'E'\n${AT_X}; ${leadTo(".git/y")}\nE\n;; git add a; sh q.sh;; git add x`,
    "git status",
  ],
  [
    "a file leads to it in git's folder of a known one, where it looks like one of its work trees",
    `cat > q.sh <<'E'\n${AT_X}; mkdir -p .git/y/worktrees; cp -r .git/HEAD .git/refs .git/objects .git/y; ${
      leadTo(".git/y/worktrees/x")
    }\nE\n;; git add a; sh q.sh;; git add x`,
    "git status",
  ],
  [
    "a file leads to it in the saved caches",
    `mkdir -p $HOME/.cache; ${AT_X}; at=$(awk '$5 == "$HOME/.cache" { print $4 }' /proc/self/mountinfo); ${
      leadTo("$HOME/.cache/y")
    }; echo "gitdir: \${at:-$HOME/.cache}/y" > x/.git;; git add x`,
    "git status",
  ],
  [
    "a file leads to it in the saved caches behind a link",
    `mkdir -p $HOME/.cache; ${AT_X}; at=$(awk '$5 == "$HOME/.cache" { print $4 }' /proc/self/mountinfo); ${
      leadTo("$HOME/.cache/y")
    }; mkdir $HOME/.cache/z; ln -s "\${at:-$HOME/.cache}/z" l; git init -q --bare y; echo "gitdir: ../l/../y" > x/.git`,
    "cd x; git status",
  ],
  [
    "one among the objects of the folder itself",
    `${ENTRIES}; git init -q objects/ab/y; git -C objects/ab/y config core.fsmonitor 'sh ../../../evil.sh; false'`,
    "cd objects/ab/y; git status",
  ],
  [
    "its log is a link",
    `${AT_X}; ln -sf $HOME/.bashrc x/.git/logs/HEAD`,
    "cd x; git checkout -q -b z",
  ],
  [
    "settings that cannot be read",
    `${AT_X}; git -C x config ${EVIL}; chmod 0 x/.git/config; chmod 500 x/.git`,
    "cd x; chmod 600 .git/config; git status",
  ],
];

for (const [name, prepare, command] of MADE) {
  Deno.test({
    name: `R-23 a repository that a command makes runs nothing in the user's git: ${name}`,
    ignore,
    async fn() {
      for (const isReal of [true, false]) {
        await using at = await repository();
        const home = `${at.base}/home`;
        for (
          const line of prepare.replaceAll("$HOME", home).replaceAll("$NEW", "new").split(";; ")
        ) {
          await Deno.writeTextFile(`${at.folder}/p.sh`, line);
          await (isReal
            ? at.outside("sh p.sh")
            : at.run(line.startsWith("git add") ? line : "sh p.sh"));
        }
        await at.outside(command.replaceAll("$NEW", "new"));
        assertEquals(at.has("pwned") || at.has("home/.bashrc"), isReal);
        await at.outside("chmod -R u+rwx .");
      }
    },
  });
}

Deno.test({
  name: "R-23 repositories that run nothing stay as commands make them",
  ignore,
  async fn() {
    await using at = await repository();
    const made = [
      "git init -q x; git -C x config user.name a; git -C x config core.fsmonitor false",
      "git clone -q . clone; git clone -q --bare . bare; git clone -q --depth 1 file://$PWD shallow; git init -q --separate-git-dir=gd sd",
      "git init -q y; cd y; git config user.name a; git config user.email b; git commit -q --allow-empty -m y; git worktree add -q ../tree; " +
      "git -c protocol.file.allow=always submodule --quiet add ../clone sub; git -C sub sparse-checkout set --skip-checks a",
    ];
    const state =
      "find . -path ./.git -prune -o -type f -name '*config*' -print -exec cat {} + ; find . -name '.git' | sort; ls */.git/hooks";
    for (const line of made) {
      await Deno.writeTextFile(`${at.folder}/p.sh`, line);
      const said = await at.run("sh p.sh");
      assertEquals(said.includes("untrusted"), false, said);
      assertMatch(said, /^exit code: 0/);
    }
    assertEquals((await at.outside(state)).includes("untrusted"), false);
  },
});

Deno.test({
  name: "R-23 in a further folder, too, no repository that a command makes or finds runs anything",
  ignore,
  async fn() {
    for (const isReal of [true, false]) {
      await using at = await repository();
      const other = `${at.base}/other`;
      const init = "git init -q";
      await at.outside(`${init} ${other}/a/b/c; ${init} --bare ${other}/a/bare`);
      const evil = `core.fsmonitor 'sh ${at.folder}/evil.sh; false'`;
      await Deno.writeTextFile(
        `${at.folder}/p.sh`,
        `cd ${other}; git -C a/b/c config ${evil}; git init -q d/e; git -C d/e config ${evil}; ` +
          `git -C a/bare config ${evil}; git -C a/bare config core.bare false`,
      );
      if (isReal) await at.outside("sh p.sh");
      else {assertMatch(
          await at.run("sh p.sh", { right: { kind: "write", folder: other } }),
          /d\/e.*untrusted/,
        );}
      for (const name of ["a/b/c", "d/e", "a/bare"]) {
        await at.outside(`rm ../pwned; cd ${other}/${name} && git --work-tree . status`);
        assertEquals(at.has("pwned"), isReal, name);
      }
      // Inside of git's folder, nothing is opened.
      const bare = `${other}/a/bare`;
      await at.run(`touch ${bare}/hooks/x`, { right: { kind: "write", folder: bare } });
      assertEquals(at.has("other/a/bare/hooks/x"), false);
    }
  },
});

Deno.test({
  name: "R-23 what a job makes of a new repository is put aside after the next command",
  ignore,
  async fn() {
    await using at = await repository();
    await Deno.writeTextFile(
      `${at.folder}/p.sh`,
      `mkfifo go; cat go; git -C x config ${EVIL}; touch done; cat go`,
    );
    const job = at.run("sh p.sh", { inBackground: true });
    await waitUntil(() => at.has("work/go"));
    await Deno.writeTextFile(`${at.folder}/made.sh`, AT_X);
    assertEquals((await at.run("sh made.sh")).includes("untrusted"), false);
    await at.outside("echo > go");
    await waitUntil(() => at.has("work/done"));
    assertMatch(await at.run("true"), /x\/[.]git\/config was moved to config[.]untrusted/);
    await at.outside("git -C x status; echo > go");
    await job;
    assertEquals(at.has("pwned"), false);
  },
});

Deno.test({
  name: "R-23 what a job makes of settings that it mapped, which no time shows, is put aside",
  ignore: ignore || !/^(x86_64|aarch64)$/.test(Deno.build.arch),
  async fn() {
    await using at = await repository();
    const [mmap, read] = Deno.build.arch === "x86_64" ? [9, 0] : [222, 63];
    await Deno.writeTextFile(
      `${at.folder}/map.pl`,
      `open F, '+<', 'x/.git/config'; my $at = syscall(${mmap}, 0, 4096, 3, 1, fileno F, 0);
       for ('good', 'bad') {
         open G, '<', $_; syscall(${read}, fileno G, $at, 4096);
         open T, '>', "$_.done"; open P, '<', 'go'; <P>;
       }`,
    );
    await Deno.writeTextFile(
      `${at.folder}/p.sh`,
      `${AT_X}; mkfifo go; cd x; cp .git/config ../good; git config ${EVIL}; cp .git/config ../bad; cd ..
       for f in good bad; do printf '#%4095s' ' ' | tr ' ' x >> $f; head -c 4096 $f > x/.git/config; cp x/.git/config $f; done
       cat good > x/.git/config; exec perl map.pl`,
    );
    const job = at.run("sh p.sh", { inBackground: true });
    await waitUntil(() => at.has("work/good.done"));
    const changed = () => Deno.statSync(`${at.folder}/x/.git/config`).ctime!.getTime();
    await waitUntil(() => Date.now() - changed() > 3000);
    assertEquals((await at.run("true")).includes("untrusted"), false);
    const time = changed();
    await at.outside("echo > go");
    await waitUntil(() => at.has("work/bad.done"));
    assertEquals(changed(), time);
    assertMatch(await at.run("true"), /x\/[.]git\/config was moved to config[.]untrusted/);
    await at.outside("git -C x status; echo > go");
    await job;
    assertEquals(at.has("pwned"), false);
  },
});

Deno.test({
  name: "R-23 pipes that a command puts into git's folders, for which git would wait, are removed",
  ignore,
  async fn() {
    await using at = await repository();
    const names = "HEAD config index commondir objects/pack/pack-aa.idx objects/ab/cd refs/heads/p";
    await Deno.writeTextFile(
      `${at.folder}/p.sh`,
      `for g in .git x/.git; do mkdir -p $g/objects/ab $g/objects/pack; for n in ${names}; do rm -f $g/$n; mkfifo $g/$n; done; done`,
    );
    const said = await at.run(`${AT_X}; git tag one; sh p.sh`);
    assertMatch(said, /x\/[.]git\/config, a pipe or device, was removed as git would wait for it/);
    assertEquals(await at.outside("find . -type p; git log --format=%s"), "one\n");
  },
});

const SECRET = "git init -q ../secret; cd ../secret; echo key > k; git add k; git commit -qm k";
/** Ways in which a new repository leads git to the objects of another one, from `x`. */
const ALTERNATES: [name: string, lead: string][] = [
  ["a path in quotes", `printf '"%s"\n' $(echo $AT | sed 's,/,\\\\057,g')`],
  [
    "a folder that leads on",
    "mkdir -p ../store/info; echo $AT > ../store/info/alternates; echo ../../../store",
  ],
];

for (const [name, lead] of ALTERNATES) {
  Deno.test({
    name: `R-23 a repository that a command makes leads to no objects elsewhere: ${name}`,
    ignore,
    async fn() {
      await using at = await repository();
      await at.outside(SECRET);
      const id = (await at.outside("git -C ../secret rev-parse HEAD:k")).trim();
      const line = lead.replaceAll("$AT", `${at.base}/secret/.git/objects`);
      await Deno.writeTextFile(
        `${at.folder}/p.sh`,
        `git init -q x; cd x; (${line}) > ../to; cd .git/objects; mkdir -p "$(head -1 ../../../to)"; cp ../../../to info/alternates`,
      );
      const read = `git -C x cat-file -p ${id}`;
      await at.outside("sh p.sh");
      assertEquals(await at.outside(read), "key\n");
      await at.outside("rm -rf x store to");
      assertMatch(await at.run("sh p.sh"), /alternates was moved to alternates[.]untrusted/);
      assertEquals(await at.outside(read), "");
      // Positive control.
      assertEquals((await at.run("git clone -qs . near")).includes("untrusted"), false);
    },
  });
}

Deno.test({
  name: "R-23 no hidden file shows an object that a running command leads git to",
  ignore,
  async fn() {
    await using at = await repository();
    await at.outside(SECRET);
    const id = (await at.outside("git -C ../secret rev-parse HEAD:k")).trim();
    await Deno.writeTextFile(
      `${at.folder}/p.sh`,
      `git init -q x; cd x; echo ${at.base}/secret/.git/objects > .git/objects/info/alternates; echo a > .env
       git update-index --add --cacheinfo 100644,${id},.env; mkfifo go; touch ready; cat go`,
    );
    const job = at.run("sh p.sh", { inBackground: true });
    await waitUntil(() => at.has("work/x/ready"));
    await Deno.writeTextFile(`${at.folder}/cat.sh`, "cat x/.env");
    assertEquals((await at.run("sh cat.sh")).includes("key"), false);
    await at.outside("echo > x/go");
    await job;
  },
});

/** The place of a repository that `sub/.git` is a link to, and what a command puts in the place of the link. */
const LINKED: [target: string, plant: string][] = [
  ["real.git", `git init -q sub; git -C sub config ${EVIL}`],
  ["../real.git", `git init -q sub; git -C sub config ${EVIL}`],
  [
    "real.git",
    `mkdir -p $HOME/.cache; cd $HOME/.cache; git init -q --bare z; git -C z config ${EVIL}; git -C z config core.bare false; cd -; at=$(awk '$5 == "$HOME/.cache" { print $4 }' /proc/self/mountinfo); ln -s "\${at:-$HOME/.cache}/z" sub/.git`,
  ],
  [
    "../real.git",
    "git init -q sub; mkdir sub/.git/modules; git init -q --bare sub/.git/modules/m; cd sub/.git/modules/m; git config core.fsmonitor 'sh ../../evil.sh; false'; git config core.bare false; git config core.worktree ../../../m",
  ],
];

for (const [target, plant] of LINKED) {
  Deno.test({
    name: `R-23 what a command puts in the place of a link to ${target} runs nothing: ${plant}`,
    ignore,
    async fn() {
      for (const isReal of [true, false]) {
        await using at = await repository();
        await at.outside(
          `git init -q sub; mkdir sub/m; mv sub/.git ${target}; ln -s $(realpath ${target}) sub/.git; echo gitdir: ../.git/modules/m > sub/m/.git`,
        );
        const line = `rm sub/.git; ${plant}`.replaceAll("$HOME", `${at.base}/home`);
        await Deno.writeTextFile(`${at.folder}/p.sh`, line);
        await (isReal ? at.outside("sh p.sh") : at.run("sh p.sh"));
        // Nothing of it counts as known afterwards.
        if (!isReal) await at.run("true");
        await at.outside("cd sub; git status; cd m; git status");
        assertEquals(at.has("pwned"), isReal);
      }
    },
  });
}

Deno.test({
  name: "R-23 a link to a repository stays, and what it leads to",
  ignore,
  async fn() {
    await using at = await repository();
    await at.outside(
      `git init -q sub; mv sub/.git ../real.git; ln -s ../../real.git sub/.git; git -C sub config ${EVIL}`,
    );
    assertEquals(await at.run("echo x > sub/x"), "exit code: 0\nno output");
    assertEquals(
      await at.outside("readlink sub/.git; git -C sub config core.fsmonitor"),
      "../../real.git\nsh ../evil.sh; false\n",
    );
  },
});

Deno.test({
  name: "R-23 work trees and submodules that the user adds while a job runs stay",
  ignore,
  async fn() {
    await using at = await repository();
    const folder = `${at.base}/out`;
    await at.outside(
      "git init -q ../m; git -C ../m commit -q --allow-empty -m x; git worktree add -q ../out",
    );
    for (const tree of [at.folder, folder]) {
      await at.outside(`cd ${tree}; mkfifo go`);
      const job = at.run("touch ready; cat go", { inBackground: true, folder: tree });
      await waitUntil(() => at.has(`${tree.slice(at.base.length + 1)}/ready`));
      await at.outside(
        `cd ${tree}; git worktree add -q in; git -c protocol.file.allow=always submodule --quiet add ../m lib/m`,
      );
      assertEquals(await at.run("true", { folder: tree }), "exit code: 0\nno output");
      await at.outside(`cd ${tree}; echo > go`);
      await job;
      const state = "ls -d in/.git lib/m/.git; git -C in worktree remove .";
      assertEquals(await at.outside(`cd ${tree}; ${state}`), "in/.git\nlib/m/.git\n");
    }
  },
});

Deno.test({
  name: "R-23 what a server makes as a new repository is put aside after the next command",
  ignore,
  async fn() {
    await using at = await repository();
    const confine = at.permissions.confineServers(() => at.folder, "one");
    const line = `${AT_X}; git -C x config ${EVIL}; ln -s ../../a x/.git/link`;
    const { program, args } = await confine("/bin/sh", ["-c", line]);
    const { success } = await new Deno.Command(program, { args, cwd: at.folder }).output();
    assertEquals(success, true);
    const said = await at.run("true");
    assertMatch(
      said,
      /x\/[.]git\/link, a link to [^ ]*, was removed .*x\/[.]git\/config was moved to config[.]untr/,
    );
    assertEquals(at.notices, [said.split("\n")[1]]);
    // The settings that git runs nothing for stay.
    assertEquals(await at.outside("git -C x config core.bare; git -C x status -s"), "false\n");
    assertEquals([at.has("pwned"), await at.run("true")], [false, "exit code: 0\nno output"]);
  },
});

Deno.test({
  name: "R-23 what a server leaves is reported at its end",
  ignore,
  async fn() {
    await using at = await repository();
    const confine = at.permissions.confineServers(() => at.folder, "one");
    const line = `${AT_X}; git -C x config ${EVIL}`;
    const { program, args, mend } = await confine("/bin/sh", ["-c", line]);
    const { success } = await new Deno.Command(program, { args, cwd: at.folder }).output();
    assertEquals(success, true);
    const said = mend?.("");
    assertMatch(said ?? "", /x\/[.]git\/config was moved to config[.]untr/);
    assertStringIncludes(at.notices.join("\n"), said!);
  },
});

Deno.test({
  name: "R-21 what a job puts in the place of a repository is not mended",
  ignore,
  async fn() {
    await using at = await repository();
    const victim = `${at.base}/victim`;
    await at.outside(
      `mkdir -p ${victim}/lib/a; ln -s x ${victim}/lib/a/link; chmod 500 ${victim}/lib/a`,
    );
    const state = `find ${victim} -printf '%p %y %m %T@ %l\\n' | sort`;
    const before = await at.outside(state);
    await Deno.writeTextFile(
      `${at.folder}/p.sh`,
      `mkdir sub sub/lib; cd sub/lib; ${ENTRIES}; cd ../..; mkfifo go swapped end; cat go; ` +
        `mv sub sub2; ln -s ${victim} sub; echo > swapped; cat end`,
    );
    const job = at.run("sh p.sh", { inBackground: true });
    await waitUntil(() => at.has("work/end"));
    await Deno.writeTextFile(`${at.folder}/q.sh`, "echo > go; cat swapped");
    const said = await at.run("git tag one; sh q.sh");
    assertEquals(await at.outside(state), before);
    assertMatch(said, /sub\/lib could not be looked through.*: do not use git there/);
    await at.outside("echo > end");
    await job;
    assertEquals(await at.outside(state), before);
    await at.outside(`chmod 700 ${victim}/lib/a`);
  },
});

Deno.test({
  name:
    "R-21 git runs outside of the sandbox what the question showed, and while a job can change that, no rule covers it",
  ignore,
  async fn() {
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
    for (const name of "xy") at.allow(`run_bash(git -C ${name} *)`);
    const made = "git -C x fetch origin";
    const asked =
      `asked: may run programs that this repository names (${at.folder}/x/.git, which a running command can write) and fetches from https://127.0.0.1:9/x with your credentials, so it runs outside of the sandbox`;
    assertEquals(await at.run(made), asked);
    assertMatch(await at.run(made, { beforeYes: () => set("./evil.sh", "x") }), changed);
    await at.outside("git -C x config --unset core.gitProxy; echo > go");
    await job;
    assertMatch(await at.run(made), MADE_BEFORE);
    await at.outside("git init -q y; git -C y remote add origin https://127.0.0.1:9/x");
    const fetched = "git -C y fetch origin";
    assertMatch(await at.run(fetched), /^exit code: 128/);
    at.permissions.disallow("run_bash(git -C y *)", at.folder);
    assertMatch(await at.run(fetched, { beforeYes: () => set("./evil.sh") }), changed);
    // Also in what the question cuts.
    const long = `: ${"x".repeat(120)}; `;
    await set(`${long}false`);
    assertMatch(await at.run(fetched, { beforeYes: () => set(`${long}true`) }), changed);
    assertMatch(await at.run(fetched, { beforeYes: () => Promise.resolve() }), /^exit code: 128/);
  },
});

Deno.test({
  name: "R-21 what git runs outside of the sandbox has not changed since the question",
  ignore,
  async fn() {
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
  },
});

Deno.test({
  name: "R-21 in a read-only folder, aliases that only read run, and a refusal names what helps",
  ignore,
  async fn() {
    await using at = await repository("read-only");
    await at.outside(
      "git config --global alias.st 'status -sb'; git config --global alias.s st; git config --global alias.ci commit; " +
        "git config --global alias.lg \"log --format='%h %s' --graph\"; git config --global alias.commit status; " +
        "git config --global alias.loop loop; git config --global alias.up push; git remote add origin https://h/x",
    );
    assertMatch(await at.run("git s"), /^exit code: 0\n[^]*## main/);
    assertMatch(await at.run("git lg -1"), /^exit code: 0\n[^]*one/);
    for (const name of ["ci", "commit", "loop"]) {
      assertMatch(await at.run(`git ${name}`), /^asked: .*writes to the repository/, name);
    }
    assertMatch(await at.run("git up"), /^asked: pushes to https:\/\/h\/x with your credentials/);
    const { signal } = new AbortController();
    const context = { workingDir: at.folder, maxOutputChars: 4000, signal };
    for (const command of ["git push --force", "rm -rf /opt/none", "rm -rf ~/x"]) {
      const decision = await at.permissions.policy().decide(tool, { command }, context);
      const { summary = "" } = decision as { summary?: string };
      assertMatch(summary, /; --yes --sandbox off allows it$/, command);
    }
  },
});
